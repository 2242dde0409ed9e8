"""The names of the APIs of an adapter of several.

An API's name is one word: it begins the variables that hold its credentials, and no such beginning is that of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.table.identity import candidates

__all__ = ["api_names", "is_api_name", "split_name", "stem"]

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
