"""Names that agents know: those of an earlier table stay, and none of them comes to mean another operation (R-NAME-3).

What is kept is a name by `METHOD /path`. An operation that moved is still the same one where the names of its
parameters, its version or its spelling is all that changed of its path, or where its operationId tells it from others;
and one that is called by another method, under the same operationId.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from aqlgen.words import singular, split

from .naming import Names
from .spelling import RESERVED, is_valid
from .unique import settle

__all__ = ["Settled", "followed", "settle_keeping", "unused"]

Sign: TypeAlias = Callable[[str], str]

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_PARAMETER: Final = re.compile(r"\{[^{}]*\}")
_RESIDUE: Final = re.compile(r"(v?\d+([._-]\d+)*((alpha|beta|rc|preview)\d*)?|apis?|rest)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settled:
    """The names by key, beside those that there would be with nothing kept.

    `pinned` has the names that must be kept for the same names to come out again.
    """

    names: Mapping[str, str]
    fresh: Mapping[str, str]
    pinned: Mapping[str, str]


def settle_keeping(
    wanted: Mapping[str, Names],
    given: Mapping[str, str],
    kept: Mapping[str, str],
    aliases: Mapping[str, str],
    ids: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    retired: Mapping[str, str] = _NONE,
) -> Settled:
    """Choose a name for each key: the user's (`given`), else the kept one, else one that nobody knows yet.

    A kept name that the user gives to another operation moves on. The names of operations that are gone, or that the
    user has renamed, are taken by none; nor are `aliases`, each with the key of its operation. `ids` are operationIds
    by key, those of then and those of today. `retired` are names that have stood for nothing since earlier, each with
    the key that it stood for.
    """
    fresh = settle(wanted, given, aliases)
    kept = _usable(kept)
    known = followed(kept, wanted, *ids)
    taken = frozenset(given.values())
    standing = {key: name for key, name in known.items() if key not in given and name not in taken}
    if not kept and not retired:
        return Settled(fresh, fresh, {})
    fixed = {**standing, **given}
    if fixed.keys() == wanted.keys():
        names = fixed
    else:
        names = settle(wanted, fixed, {**retired, **dict.fromkeys(kept.values(), ""), **aliases})
    reserved = {**unused(kept, retired, names.values()), **aliases}
    return Settled(names, fresh, _pins(wanted, given, names, reserved))


def unused(kept: Mapping[str, str], retired: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Give the names that agents may know and that stand for nothing any more, each with the key that it stood for."""
    every, used = {**retired, **{name: key for key, name in kept.items()}}, frozenset(names)
    return {name: every[name] for name in sorted(every) if name not in used}


def _usable(kept: Mapping[str, str]) -> dict[str, str]:
    """Leave out what can be no name (any more), as in a record that was edited by hand, and what two would have."""
    count = Counter(kept.values())
    return {key: name for key, name in kept.items() if count[name] == 1 and is_valid(name) and name not in RESERVED}


def _pins(
    wanted: Mapping[str, Names],
    given: Mapping[str, str],
    names: Mapping[str, str],
    reserved: Mapping[str, str],
) -> dict[str, str]:
    """Find the fewest names that, kept, give all of them again."""
    pinned: dict[str, str] = {}
    again = settle(wanted, given, reserved)
    while differing := {key: name for key, name in names.items() if again[key] != name}:
        pinned |= differing
        again = settle(wanted, {**pinned, **given}, reserved)
    return pinned


def followed(
    kept: Mapping[str, str], keys: Iterable[str], before: Mapping[str, str], today: Mapping[str, str]
) -> dict[str, str]:
    """Give the kept names by the keys of today; `before` and `today` are the operationIds of then and now."""
    new = {key for key in keys if key not in kept}
    present = {key: kept[key] for key in keys if key in kept}
    gone = {key for key in kept if key not in present}
    signs = (
        (_but_parameters, _but_parameters),
        (_by_id(before), _by_id(today)),
        (_but_method(before), _but_method(today)),
        (_but_spelling, _but_spelling),
    )
    for sign in signs:
        for old, key in _pairs((gone, new), sign):
            present[key] = kept[old]
            gone.remove(old)
            new.remove(key)
    return present


def _pairs(sides: tuple[set[str], set[str]], signs: tuple[Sign, Sign]) -> list[tuple[str, str]]:
    """Pair what has the same sign and is alone in that; "" is no sign."""
    groups: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate(sides):
        for key in keys:
            groups[signs[side](key)][side].append(key)
    groups.pop("", None)
    return [(ours[0], theirs[0]) for ours, theirs in groups.values() if len(ours) == len(theirs) == 1]


def _by_id(ids: Mapping[str, str]) -> Sign:
    """Tell operations by method and operationId, where no other has that operationId."""
    count = Counter(ids.values())
    return lambda key: f"{key.partition(' ')[0]} {ids[key]}" if count[ids.get(key, "")] == 1 else ""


def _but_method(ids: Mapping[str, str]) -> Sign:
    """Tell operations by path and operationId: one that is asked for by another method now is the same."""
    return lambda key: f"{key.partition(' ')[2]} {ids[key]}" if ids.get(key) else ""


def _but_parameters(key: str) -> str:
    return _PARAMETER.sub("{}", key)


def _but_spelling(key: str) -> str:
    """Leave out versions, how words are joined and cased, and before others their number: `/users` is not `/user`."""
    method, _, path = _but_parameters(key).partition(" ")
    parts = [part for part in path.split("/") if part and not _RESIDUE.fullmatch(part)]
    words = [(part,) if part == "{}" else split(part) for part in parts]
    return "/".join((method, *(" ".join(map(singular, one)) for one in words[:-1]), *map(" ".join, words[-1:])))
