"""Changes to a tree without mutation: containers on the way to a target are copied, all others are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from aqlgen.document.origins import Origins
from aqlgen.document.overlay.query import Budget, Path
from aqlgen.document.positions import escape
from aqlgen.ir import MISSING, Json, Origin

_Branch: TypeAlias = dict[str | int | None, Any]
"""A tree of the keys that lead to targets; the key None marks a target."""


class MisfitError(Exception):
    """A change does not fit its target; `pointer` leads to the misfit from the value of the change."""

    def __init__(self, message: str, pointer: str) -> None:
        super().__init__(message)
        self.pointer = pointer


@dataclass(frozen=True, slots=True)
class Change:
    """A value to merge into targets; `origin` returns the origin of a part by its pointer within the value."""

    value: Json
    origin: Callable[[str], Origin]


def apply(
    root: dict[str, Json], targets: Iterable[Path], change: Change, origins: Origins, budget: Budget
) -> dict[str, Json]:
    """Merge a change into each target. Raises MisfitError, or SpentError if there are too many changes."""
    changed: dict[str, Json] = _Merger(change, origins, budget).along(root, _branches(targets))
    return changed


def remove(root: dict[str, Json], targets: Iterable[Path], origins: Origins) -> dict[str, Json]:
    """Remove the targets, none of which is the root, from their objects and lists."""
    changed: dict[str, Json] = _without(root, _branches(targets), lambda inner: origins.find(root, inner), "", origins)
    return changed


def _branches(targets: Iterable[Path]) -> _Branch:
    tree: _Branch = {}
    for path in targets:
        node = tree
        for key in path:
            node = node.setdefault(key, {})
        node[None] = True
    return tree


class _Merger:
    """One change being merged along the paths to its targets, an outer target before one within it."""

    def __init__(self, change: Change, origins: Origins, budget: Budget) -> None:
        self._change, self._origins, self._budget = change, origins, budget

    def along(self, node: Json, branch: _Branch) -> Json:
        new = self._joined(node, self._change.value, "", append=True) if None in branch else self._copied(node)
        for key, inner in branch.items():
            if key is not None:
                before = new[key]
                new[key] = self.along(before, inner)
                if None in inner and not isinstance(before, (dict, list)):
                    self._note(new, key, "")
        return new

    def _joined(self, target: Json, value: Json, pointer: str, *, append: bool = False) -> Json:
        """Return the merged value (Overlay 1.1.0, 4.4.3); `append` adds any value to a list as its last item."""
        if isinstance(target, dict) and isinstance(value, dict):
            return self._merged(target, value, pointer)
        if isinstance(target, list) and isinstance(value, list):
            return self._longer(target, [(item, f"{pointer}/{index}") for index, item in enumerate(value)])
        if isinstance(target, list) and append:
            return self._longer(target, [(value, pointer)])
        if isinstance(target, (dict, list)) or isinstance(value, (dict, list)):
            raise MisfitError(f"{_kind(value)} cannot be merged into {_kind(target)}", pointer)
        return value

    def _merged(self, target: dict[str, Json], value: dict[str, Json], pointer: str) -> dict[str, Json]:
        new: dict[str, Json] = self._copied(target)
        for key, item in value.items():
            inner = f"{pointer}/{escape(key)}"
            before = target.get(key, MISSING)
            new[key] = item if before is MISSING else self._joined(before, item, inner)
            if before is MISSING or not isinstance(before, (dict, list)):
                self._note(new, key, inner)
        return new

    def _longer(self, target: list[Json], items: list[tuple[Json, str]]) -> list[Json]:
        new: list[Json] = self._copied(target)
        for item, pointer in items:
            self._note(new, len(new), pointer)
            new.append(item)
        return new

    def _note(self, container: Json, key: str | int, pointer: str) -> None:
        self._budget.change()
        self._origins.note(container, key, self._change.origin(pointer))

    def _copied(self, node: Json) -> Json:
        new = node.copy()
        self._origins.carry(node, new)
        return new


def _without(node: Json, branch: _Branch, origin: Callable[[str], Origin], pointer: str, origins: Origins) -> Json:
    members = node.items() if isinstance(node, dict) else enumerate(node)
    kept: dict[str | int, Json] = {}
    for key, value in members:
        inner = branch.get(key)
        if inner is None:
            kept[key] = value
        elif None not in inner:
            kept[key] = _without(value, inner, origin, f"{pointer}/{escape(str(key))}", origins)
    new: Json = kept if isinstance(node, dict) else list(kept.values())
    origins.carry(node, new)
    if isinstance(new, list):
        for index, key in enumerate(kept):
            if index != key:  # items after a removed one move up
                origins.note(new, index, origin(f"{pointer}/{key}"))
    return new


def _kind(value: Json) -> str:
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"
