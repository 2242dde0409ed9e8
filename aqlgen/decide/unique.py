"""One name for each operation, whatever their order: names that meet move on together, but for the best claim to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from .naming import Names

__all__ = ["settle"]


def settle(wanted: Mapping[str, Names], taken: Sequence[str]) -> dict[str, str]:
    """Choose a name for each key. `taken` names are given already.

    Where several want one name, the one with the single best claim keeps it (it is nearest to its first candidate, leaves
    out least of its path, has the usual method), and all others take their next candidate; with no single best, all do.
    """
    level = dict.fromkeys(wanted, 0)
    fixed = frozenset(taken)
    while True:
        groups: dict[str, list[str]] = defaultdict(list)
        for key, names in wanted.items():
            groups[names.candidates[level[key]]].append(key)
        moving: list[str] = []
        for name, keys in groups.items():
            if name in fixed:
                moving += keys
            elif len(keys) > 1:
                claims = sorted(((-level[key], wanted[key].rank, key) for key in keys), reverse=True)
                single = claims[0][:2] != claims[1][:2]
                moving += [key for _, _, key in claims[1 if single else 0 :]]
        stuck = [key for key in moving if level[key] + 1 >= len(wanted[key].candidates)]
        if not moving or len(stuck) == len(moving):
            return {key: names.candidates[level[key]] for key, names in wanted.items()}
        for key in moving:
            level[key] = min(level[key] + 1, len(wanted[key].candidates) - 1)
