"""Names for what other files bring: short where that is unique, made longer by the words around it where it is not.

A name depends on the set of names, never on an order: two of the same short name are both made longer, and what the
root document names itself is never renamed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final, TypeVar

from aqlgen.document.positions import split

_FORBIDDEN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_EMPTY_STEMS: Final = frozenset({"index", "_index"})
_HOLDERS: Final = frozenset(
    "components schemas definitions $defs parameters responses requestBodies headers examples links callbacks "
    "securitySchemes properties patternProperties mediaTypes".split()
)
_PLACES: Final = frozenset(
    "items additionalProperties allOf anyOf oneOf prefixItems not if then else contains schema content".split()
)

Key = TypeVar("Key")


def words_of(address: str, pointer: str, main: str) -> tuple[str, ...]:
    """Give the words for a place, the outermost first: folders from the root document's on, the file's stem, its path.

    The last is the short name: of a whole file its stem, else the last part of the pointer that says something.
    """
    path = os.path.relpath(address, os.path.dirname(main) or ".").replace("\\", "/")
    folders = [part for part in path.split("/")[:-1] if part not in ("..", ".")]
    stem = path.rpartition("/")[2].rsplit(".", 1)[0]
    around = folders if stem.lower() in _EMPTY_STEMS and folders else [*folders, stem]
    parts = [part for part in split(pointer) if part not in _HOLDERS]
    inner: list[str] = []
    for part in reversed(parts):
        inner.insert(0, part)
        if not part.isdecimal() and part not in _PLACES:
            break
    else:
        inner = [*around[-1:], *inner]
        around = around[:-1]
    outer = [*around, *parts[: len(parts) - len(inner)]]
    return *map(_clean, outer), _clean("_".join(inner))


def assign(wanted: Mapping[Key, Sequence[str]], taken: Iterable[str]) -> dict[Key, str]:
    """Give each key a name of its own from its words, none of them `taken`."""
    taken = set(taken)
    found: dict[Key, str] = {}
    groups: dict[str, list[Key]] = defaultdict(list)
    for key, words in wanted.items():
        groups[words[-1] or "part"].append(key)
    for name, keys in groups.items():
        if len(keys) == 1 and name not in taken:
            found[keys[0]] = name
    used = taken | set(found.values())
    for name in sorted(groups):
        rest = [key for key in groups[name] if key not in found]
        for key, longer in zip(rest, _longer([wanted[key] for key in rest], used), strict=True):
            found[key] = longer
            used.add(longer)
    return found


def _longer(group: list[Sequence[str]], used: set[str]) -> list[str]:
    """Take as many words as it needs to tell all of a group apart; where words do not suffice, a hash of them all."""
    for count in range(2, max((len(words) for words in group), default=0) + 1):
        names = ["_".join(filter(None, words[-count:])) for words in group]
        if len(set(names)) == len(names) and not used & set(names):
            return names
    return [
        f"{words[-1]}_{sha256(repr((at, tuple(words))).encode()).hexdigest()[:8]}" for at, words in enumerate(group)
    ]


def _clean(word: str) -> str:
    return _FORBIDDEN.sub("_", word).strip("_.")[:80]
