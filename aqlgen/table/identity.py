"""The identity of an adapter: its name, its package and the prefix of its environment variables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os.path import abspath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Document
from aqlgen.words import split

if TYPE_CHECKING:
    from aqlgen.document.element.model import Stated

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_LENGTH = 40
_ENDING = "-adapter"
GENERIC = frozenset(
    "api apis rest restful http openapi swagger spec specification definition definitions schema document documentation"
    " reference the a an of for and public official full server service odata namespace".split()
)
"""Words of a title that say nothing about which API it is."""

GENERIC_LABELS = frozenset({"api", "www", "com", "org", "net", "io", "gov", "dev", "co", "app", "rest", "localhost"})


@dataclass(frozen=True, slots=True)
class Identity:
    """The adapter's name (`petstore`); everything else follows from it."""

    name: str

    def of_api(self, api: str) -> Identity:
        """Return what the variables of one of several APIs are named after; itself for ""."""
        return Identity(f"{self.name}-{api}") if api else self

    @property
    def package(self) -> str:
        """The Python package."""
        return f"{self.name.replace('-', '_')}_adapter"

    @property
    def project(self) -> str:
        """The project's folder, distribution and command."""
        return f"{self.name}{_ENDING}"

    @property
    def prefix(self) -> str:
        """The prefix of its environment variables, without the underscore."""
        return self.name.replace("-", "_").upper()


def identify(document: Document, chosen: str | None, source_stem: str) -> Identity:
    """Return the chosen name, else one after the title, the host, the file, the rest of the title, in this order.

    Raises OptionError for a name that cannot be used.
    """
    if chosen is not None:
        if not NAME.fullmatch(chosen) or len(chosen) > MAX_LENGTH:
            suggestion = _kebab(split(chosen)) or "my-api"
            raise OptionError.of(
                "bad-option",
                f"--name {chosen!r} cannot be used",
                help=f"Use up to {MAX_LENGTH} lower-case letters, digits and hyphens, such as {suggestion!r}.",
            )
        return Identity(chosen)
    named = candidates(document.title, [server.url for server in document.servers], source_stem)
    return Identity(next(named, "api"))


def named_by(folder: Path | None) -> str | None:
    """Return the name in the folder of a project, `shop` of `shop-adapter`; None for a folder called otherwise."""
    name, ending, rest = Path(abspath(folder)).name.rpartition(_ENDING) if folder is not None else ("", "", "")
    return name if ending and not rest and NAME.fullmatch(name) and len(name) <= MAX_LENGTH else None


def candidates(title: str, urls: Iterable[str], source_stem: str) -> Iterator[str]:
    """Yield the names that an API could have: after the title, the host, the file, the rest of the title."""
    specific, words = _title(title)
    yield from filter(None, (specific, _host(urls), _kebab(split(source_stem)), words))


def stated_name(stated: Stated) -> str:
    """Return the name that an adapter element gives, as adapters are called."""
    return _kebab(split(stated.name)) or "api"


def _kebab(words: Iterable[str]) -> str:
    """Join words while they fit; a name begins with a letter."""
    name = ""
    for word in words:
        plain = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode().lower()
        plain = re.sub(r"[^a-z0-9]", "", plain)
        if not plain or (not name and not plain[0].isalpha()):
            continue
        longer = f"{name}-{plain}" if name else plain[:MAX_LENGTH]
        if len(longer) > MAX_LENGTH:
            break
        name = longer
    return name.removesuffix(_ENDING)


def _title(title: str) -> tuple[str, str]:
    """Return a name from the specific words of the title, and one from all its words."""
    head = re.sub(r"['’]s\b", "", re.split(r"\s(?:[-–—|:+&]|with|from|by)\s|[(:,;\n]", title.strip())[0])
    words = [word for word in re.findall(r"[^\W_]+", head) if not re.fullmatch(r"v*\d+", word.lower())]
    specific = [word for word in words if word.lower() not in GENERIC]
    return _kebab(specific), _kebab(words)


def _host(urls: Iterable[str]) -> str:
    for url in urls:
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:  # no URL at all, such as http://[
            continue
        labels = [label for label in host.split(".") if label.isascii() and label not in GENERIC_LABELS]
        labels = [label for label in labels if "{" not in label and not label.isdigit()]
        if labels:
            return _kebab([labels[-1]])
    return ""
