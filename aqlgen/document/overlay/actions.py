"""The actions of an overlay, checked and applied one after the other (Overlay 1.1.0, 4.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.origins import Origins
from aqlgen.document.overlay.changes import Change, MisfitError, apply, remove
from aqlgen.document.overlay.query import Budget, Path, Query, QueryError, SpentError
from aqlgen.document.positions import join
from aqlgen.document.read import Limits, Source
from aqlgen.ir import MISSING, Json, Origin

__all__ = ["run"]


_VERSION: Final = re.compile(r"1\.([01])(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Action:
    """One change: `remove`, or else `copy` (a JSONPath), or else `update`; `pointer` leads to it in the overlay."""

    pointer: str
    target: str
    update: Json
    copy: str | None
    remove: bool


def read_actions(source: Source) -> tuple[list[Action], list[Diagnostic]]:
    """Return the actions of an overlay, with warnings. Raises DocumentError if it is not valid."""
    root, warnings = source.root, list[Diagnostic]()
    minor = _version(source)
    actions = root.get("actions")
    if not isinstance(actions, list) or not actions:
        message = "an overlay has actions, a list of at least one"
        raise refusal(source, "/actions" if "actions" in root else "", message)
    checked = [_action(source, action, f"/actions/{number}") for number, action in enumerate(actions)]
    if minor == "0" and (first := next((action for action in checked if action.copy is not None), None)):
        message = "copy is of Overlay 1.1, and this overlay says 1.0; it is applied all the same"
        place, advice = f"{first.pointer}/copy", "Write overlay: 1.1.0."
        warnings.append(
            Diagnostic("overlay-version", Severity.WARNING, message, pointer=place, file=source.name, help=advice)
        )
    return checked, warnings


def _version(source: Source) -> str:
    written = source.root.get("overlay", MISSING)
    if written is MISSING:
        kind = "an OpenAPI document" if {"openapi", "swagger"} & set(source.root) else "not an OpenAPI Overlay"
        advice = "An overlay begins with overlay: 1.0.0 or 1.1.0; see https://spec.openapis.org/overlay/latest.html"
        raise refusal(source, "", f"this is {kind}: it has no key overlay", help=advice)
    number = isinstance(written, (str, float)) and _VERSION.fullmatch(str(written).strip())
    if not number:
        shown = str(written)[:40] if isinstance(written, (str, int, float)) else type(written).__name__
        message = f"Overlay {shown} is not supported"
        raise refusal(source, "/overlay", message, "overlay-version", "aqlgen applies overlays of 1.0 and 1.1.")
    return number[1]


def _action(source: Source, action: Json, pointer: str) -> Action:
    if not isinstance(action, dict):
        raise refusal(source, pointer, "an action is an object with a target")
    target = action.get("target")
    if not isinstance(target, str):
        place = f"{pointer}/target" if "target" in action else pointer
        raise refusal(source, place, "an action has a target, the JSONPath of what it changes")
    remove, copy, update = action.get("remove", False), action.get("copy"), action.get("update", MISSING)
    if not isinstance(remove, bool):
        raise refusal(source, f"{pointer}/remove", "remove is true or false")
    if copy is not None and not isinstance(copy, str):
        raise refusal(source, f"{pointer}/copy", "copy is the JSONPath of what is to be copied")
    if update is not MISSING and copy is not None and not remove:
        raise refusal(source, f"{pointer}/copy", "an action has update or copy, not both")
    if not remove and copy is None and update is MISSING:
        raise refusal(source, pointer, "this action changes nothing: it has no update, no copy and no remove: true")
    return Action(pointer, target, update, copy, remove)


def refusal(source: Source, pointer: str, message: str, code: str = "invalid-overlay", help: str = "") -> DocumentError:
    """Build the error for a pointer in the overlay."""
    return DocumentError.of(code, message, file=source.name, pointer=pointer, help=help)


def run(
    root: dict[str, Json], source: Source, origins: Origins, limits: Limits
) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Return the changed tree, with diagnostics. Raises DocumentError."""
    query = Query(Budget(limits))
    actions, diagnostics = read_actions(source)
    for action in actions:
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
        advice = "Correct the JSONPath, or remove the action; each action sees what those before it have left."
        warning = Diagnostic("overlay-target", Severity.WARNING, message, pointer=here, file=source.name, help=advice)
        return root, [warning]
    if action.remove:
        if () in targets:
            raise refusal(source, here, "the whole document cannot be removed")
        return remove(root, list(targets), origins), []
    kinds = sorted({_kind(value) for value in targets.values()})
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


def _kind(value: Json) -> str:
    return "objects" if isinstance(value, dict) else "lists" if isinstance(value, list) else "single values"


def _shown(path: str) -> str:
    return path if len(path) <= 80 else path[:79] + "…"
