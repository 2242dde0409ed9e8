"""One name for each operation, whatever their order: names that meet move on, but for the best claim to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from .naming import Names

__all__ = ["settle"]


def settle(wanted: Mapping[str, Names], taken: Iterable[str]) -> dict[str, str]:
    """Choose a name for each key; `taken` names are given already.

    Where several want one name, the one with the single best claim keeps it (it is nearest to its first candidate,
    leaves out least of its path, has the usual method), and all others take their next candidate; with no single best,
    all do. A round looks at all operations at once, so that their order never matters.
    """
    fixed = frozenset(taken)
    level = dict.fromkeys(wanted, 0)
    chosen = {key: names.best for key, names in wanted.items()}
    while moving := _moving(wanted, chosen, level, fixed):
        for key in moving:
            level[key] += 1
            chosen[key] = wanted[key].candidates[level[key]]
    return chosen


def _moving(
    wanted: Mapping[str, Names], chosen: Mapping[str, str], level: Mapping[str, int], fixed: frozenset[str]
) -> list[str]:
    """Find the operations that must take their next candidate, and have one."""
    groups: dict[str, list[str]] = defaultdict(list)
    for key, name in chosen.items():
        groups[name].append(key)
    moving: list[str] = []
    for name, keys in groups.items():
        if name in fixed:
            moving += keys
        elif len(keys) > 1:
            claims = sorted(((-level[key], wanted[key].rank, key) for key in keys), reverse=True)
            owned = claims[0][:2] != claims[1][:2]
            moving += [key for _, _, key in claims[1 if owned else 0 :]]
    return [key for key in moving if level[key] + 1 < len(wanted[key].candidates)]
