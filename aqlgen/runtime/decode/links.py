# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The links of a Link header (RFC 8288, 3), read in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Link", "read_links"]

_PARAMETERS = re.compile(r'(?:[^,"]++|"[^"]*+")*+')
_RELATION = re.compile(r';\s*+rel\s*+=\s*+(?:"([^"]*+)"|([^;,\s]++))', re.IGNORECASE)


class Link(NamedTuple):
    """A link: its target, its relation types in lower case, and its parameters as they stand."""

    target: str
    relations: tuple[str, ...]
    parameters: str


def read_links(value: str) -> Iterator[Link]:
    """Yield the links of a header; what is no link is passed over."""
    position = 0
    while (start := value.find("<", position)) >= 0 and (end := value.find(">", start)) >= 0:
        match = _PARAMETERS.match(value, end + 1)
        parameters = match[0] if match is not None else ""
        relations = (quoted or bare for quoted, bare in _RELATION.findall(parameters))
        yield Link(value[start + 1 : end], tuple(" ".join(relations).lower().split()), parameters)
        position = end + 1 + len(parameters)
