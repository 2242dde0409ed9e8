"""The actions of an overlay, checked and applied one after the other (Overlay 1.1.0, 4.4).

They mutate nothing: containers on the way to a target are copied, all others are shared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.overlay.query import Budget, Path, Query, QueryError, SpentError
from aqlgen.document.positions import Origins, escape, join
from aqlgen.document.read import Limits, Source
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
            raise MisfitError(f"{_value_kind(value)} cannot be merged into {_value_kind(target)}", pointer)
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


def _value_kind(value: Json) -> str:
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"


_VERSION: Final = re.compile(r"1\.[01](?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Action:
    """One change: `remove`, or else `copy` (a JSONPath), or else `update`; `pointer` leads to it in the overlay."""

    pointer: str
    target: str
    update: Json
    copy: str | None
    remove: bool


def read_actions(source: Source) -> list[Action]:
    """Return the actions of an overlay of 1.0 or 1.1. Raises DocumentError if it is not valid."""
    root = source.root
    version = root.get("overlay", MISSING)
    if version is MISSING:
        kind = "an OpenAPI document" if {"openapi", "swagger"} & set(root) else "not an OpenAPI Overlay"
        advice = "An overlay begins with overlay: 1.0.0 or 1.1.0; see https://spec.openapis.org/overlay/latest.html"
        raise refusal(source, "", f"this is {kind}: it has no key overlay", help=advice)
    if not _VERSION.fullmatch(str(version).strip()):
        message = f"Overlay {str(version)[:40]} is not supported"
        raise refusal(source, "/overlay", message, "overlay-version", "aqlgen applies overlays of 1.0 and 1.1.")
    actions = root.get("actions")
    if not isinstance(actions, list) or not actions:
        message = "an overlay has actions, a list of at least one"
        raise refusal(source, "/actions" if "actions" in root else "", message)
    return [_action(source, action, f"/actions/{number}") for number, action in enumerate(actions)]


def _action(source: Source, action: Json, pointer: str) -> Action:
    if not isinstance(action, dict):
        raise refusal(source, pointer, "an action is an object with a target")
    target = action.get("target")
    if not isinstance(target, str):
        place = f"{pointer}/target" if "target" in action else pointer
        raise refusal(source, place, "an action needs a target, a JSONPath")
    remove, copy, update = action.get("remove", False), action.get("copy"), action.get("update", MISSING)
    if not isinstance(remove, bool):
        raise refusal(source, f"{pointer}/remove", "remove is true or false")
    if copy is not None and not isinstance(copy, str):
        raise refusal(source, f"{pointer}/copy", "copy must be the JSONPath of its source")
    if update is not MISSING and copy is not None and not remove:
        raise refusal(source, f"{pointer}/copy", "an action has update or copy, not both")
    if not remove and copy is None and update is MISSING:
        raise refusal(source, pointer, "this action changes nothing: it has no update, no copy and no remove: true")
    return Action(pointer, target, update, copy, remove)


def refusal(source: Source, pointer: str, message: str, code: str = "invalid-overlay", help: str = "") -> DocumentError:
    """Build the error for a pointer in the overlay."""
    return DocumentError.of(code, message, file=source.name, pointer=pointer, help=help)


def overlay(
    root: dict[str, Json], source: Source, origins: Origins, limits: Limits | None = None
) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Apply the actions of an overlay in order; `root` itself is not changed.

    Raises DocumentError, with a position in the overlay, if the overlay is not valid, a change does not fit its target,
    the document grows past the limits, or all JSONPaths together take longer than `limits.seconds`.
    """
    query = Query(Budget(limits or Limits()))
    diagnostics: list[Diagnostic] = []
    for action in read_actions(source):
        try:
            root, remarks = _act(root, action, source, origins, query)
            query.budget.hold(root)
        except SpentError as error:
            raise refusal(source, action.pointer, str(error), "document-too-large") from None
        except RecursionError:
            raise refusal(source, action.pointer, "the change nests too deeply", "document-too-deep") from None
        diagnostics += remarks
    return root, tuple(diagnostics)


def _act(
    root: dict[str, Json], action: Action, source: Source, origins: Origins, query: Query
) -> tuple[dict[str, Json], list[Diagnostic]]:
    here = f"{action.pointer}/target"
    targets = _select(query, action.target, root, source, here)
    if not targets:
        message = f"nothing in the document is at {_shown(action.target)}, so this changes nothing"
        advice = "Fix the JSONPath, or remove the action; each action sees the result of those before it."
        warning = Diagnostic("overlay-target", Severity.WARNING, message, pointer=here, file=source.name, help=advice)
        return root, [warning]
    if action.remove:
        if () in targets:
            raise refusal(source, here, "the whole document cannot be removed")
        return remove(root, list(targets), origins), []
    kinds = sorted({"objects" if isinstance(value, dict) else "lists" if isinstance(value, list) else "single values"
                    for value in targets.values()})  # fmt: skip
    if len(kinds) > 1:
        message = f"{_shown(action.target)} is at {' and '.join(kinds)}; an update is for those of one kind"
        raise refusal(source, here, message)
    change = _change(root, action, source, origins, query)
    try:
        return apply(root, list(targets), change, origins, query.budget), []
    except MisfitError as misfit:
        place = f"{action.pointer}/copy" if action.copy is not None else f"{action.pointer}/update{misfit.pointer}"
        raise refusal(source, place, str(misfit)) from None


def _change(root: dict[str, Json], action: Action, source: Source, origins: Origins, query: Query) -> Change:
    if action.copy is None:
        pointer = f"{action.pointer}/update"
        return Change(action.update, lambda inner: Origin(pointer + inner, source.name))
    here = f"{action.pointer}/copy"
    selected = _select(query, action.copy, root, source, here)
    if len(selected) != 1:
        raise refusal(source, here, f"{_shown(action.copy)} is at {len(selected)} places; exactly one can be copied")
    (path, value), *_ = selected.items()
    place = join(map(str, path))
    return Change(value, lambda inner: origins.find(root, place + inner))


def _select(query: Query, path: str, root: dict[str, Json], source: Source, pointer: str) -> dict[Path, Json]:
    try:
        return query.select(path, root)
    except QueryError as error:
        raise refusal(source, pointer, str(error), help=error.help) from None


def _shown(path: str) -> str:
    return path if len(path) <= 80 else path[:79] + "…"
