"""One name for each operation, whatever their order: where two want one name, the better claim keeps it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from aqlgen.decide.naming.candidates import Names

__all__ = ["settle"]

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def settle(
    wanted: Mapping[str, Names], fixed: Mapping[str, str], reserved: Mapping[str, str] = _NONE
) -> dict[str, str]:
    """Choose a name for each key; `fixed` names are chosen already, each `reserved` name is for its key alone.

    Where several want one name, the one with the single best claim keeps it (it is nearest to its first candidate,
    leaves out least of its path, has the usual method), and all others take their next candidate; with no single best,
    all do. A round looks at all operations at once, so that their order never matters. Operations with a fixed name
    keep their claim to the one that they would have, so that fixing a name renames no other but one that has it.
    """
    owners = {**reserved, **{name: key for key, name in fixed.items()}}
    level = dict.fromkeys(wanted, 0)
    chosen = {key: names.best for key, names in wanted.items()}
    versioned = _versioned(wanted)
    while moving := _moving(wanted, chosen, level, owners):
        stuck = True
        for key in moving:
            candidates = wanted[key].candidates(versioned=key in versioned)
            if level[key] + 1 < len(candidates):
                level[key], stuck = level[key] + 1, False
                chosen[key] = candidates[level[key]]
        if stuck:
            break
    return chosen | dict(fixed)


def _versioned(wanted: Mapping[str, Names]) -> frozenset[str]:
    """Return the operations that another version of the API has too."""
    twins: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for key, names in wanted.items():
        if names.version:
            twins[names.twin].append(key)
    return frozenset(key for keys in twins.values() if len(keys) > 1 for key in keys)


def _moving(
    wanted: Mapping[str, Names], chosen: Mapping[str, str], level: Mapping[str, int], owners: Mapping[str, str]
) -> list[str]:
    """Return the operations that must take their next candidate."""
    groups: dict[str, list[str]] = defaultdict(list)
    for key, name in chosen.items():
        groups[name].append(key)
    moving: list[str] = []
    for name, keys in groups.items():
        if name in owners:
            moving += [key for key in keys if key != owners[name]]
        elif len(keys) > 1:
            claims = sorted(((-level[key], wanted[key].rank, key) for key in keys), reverse=True)
            owned = claims[0][:2] != claims[1][:2]
            moving += [key for _, _, key in claims[1 if owned else 0 :]]
    return moving
