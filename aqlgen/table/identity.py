"""The identity of an adapter: its name, package and prefix of environment variables, and the names of its APIs.

An API's name is one word: it begins the variables that hold its credentials, and no such beginning is that of
another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import abspath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.ir import Document, Json
from aqlgen.words import split

if TYPE_CHECKING:
    from aqlgen.document.element import Stated

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
        """Return the identity that names the variables of one of several APIs; itself for ""."""
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


_NAME: Final = re.compile(r"[a-z][a-z0-9]{0,23}")
_NAMED: Final = re.compile(r"([A-Za-z][\w.-]{0,60})=(.+)", re.DOTALL)
_RESERVED: Final = frozenset({"api", "operation", "path", "rule", "tag", "workflows"})
"""Words that stand before a colon in selectors, and the folder that a name would hide."""


def is_api_name(name: str) -> bool:
    """Return True if an API can be called so."""
    return _NAME.fullmatch(name) is not None and name not in _RESERVED


def split_name(written: str) -> tuple[str, str]:
    """Split `NAME=SPEC`; the name is "" where none is written. Raises OptionError for one that cannot be used.

    A file whose name has an equals sign is that file.
    """
    match = _NAMED.fullmatch(written)
    if match is None or Path(written).exists():
        return "", written
    if not is_api_name(match[1]):
        why = "has another meaning in overrides.yaml" if match[1] in _RESERVED else "is not the name of an API"
        example = f"{_word(match[1]) or 'crm'}={match[2]}"
        raise OptionError.of(
            "bad-option",
            f"{match[1]!r} {why}",
            help=f"Use a word of up to 24 lower-case letters and digits, such as {example}.",
        )
    return match[1], match[2]


def api_names(requests: Sequence[Request], roots: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return a name for each API: the given one, else after title, host or file of its document.

    Raises OptionError for two APIs that would have the same.
    """
    names: list[str] = []
    taken = [api.name for api in requests if api.name]
    for api, root in zip(requests, roots, strict=True):
        name = api.name or next((word for word in _words(api, root) if word not in taken), "")
        if not name or taken.count(name) > 1:
            called = f"two documents are called {name!r}" if name else f"{api.spec} has a name of another API"
            way = f"Name it: {'crm' if 'crm' not in taken else 'other'}={api.spec}"
            raise OptionError.of("bad-option", called, help=way)
        names.append(name)
        if not api.name:
            taken.append(name)
    return names


def _words(api: Request, root: Mapping[str, Json]) -> list[str]:
    info, servers = root.get("info"), root.get("servers")
    title = info.get("title") if isinstance(info, dict) else ""
    urls = [server.get("url") for server in (servers if isinstance(servers, list) else ()) if isinstance(server, dict)]
    named = candidates(str(title or ""), [url for url in urls if isinstance(url, str)], stem(api.spec))
    words = [_word(candidate) for candidate in named]
    return [word for word in words if is_api_name(word)]


def _word(text: str) -> str:
    """Return a text as one word; what is cut off are whole words, as far as that leaves one."""
    word = ""
    for part in re.findall(r"[a-z0-9]+", text.lower()):
        if len(word) + len(part) > 24 and word:
            break
        word += part
    return word.lstrip("0123456789")[:24]


def stem(spec: str) -> str:
    """Return a word for the document from its file or URL, for an adapter whose title is of no use."""
    if spec == "-":
        return ""
    path = urlsplit(spec).path if "://" in spec else Path(spec).as_posix()
    name = PurePosixPath(path).name.split(".")[0]
    return "" if name.lower() in ("openapi", "swagger", "index", "api", "spec") else name
