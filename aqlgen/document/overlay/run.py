"""Running the actions of an overlay over a document, one after the other (Overlay 1.1.0, 4.4.1)."""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.origins import Origins
from aqlgen.document.overlay.actions import Action, read_actions, refusal
from aqlgen.document.overlay.apply import Change, MisfitError, apply, remove
from aqlgen.document.overlay.bounds import Budget, SpentError
from aqlgen.document.overlay.query import Path, Query, QueryError
from aqlgen.document.positions import join
from aqlgen.document.read import Limits, Source
from aqlgen.ir import Json, Origin

__all__ = ["run"]


def run(
    root: dict[str, Json], source: Source, origins: Origins, limits: Limits
) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Give the changed tree and what there is to say about it. Raises DocumentError."""
    query = Query(Budget(limits))
    actions, found = read_actions(source)
    for action in actions:
        try:
            root, remarks = _act(root, action, source, origins, query)
            query.budget.hold(root)
        except SpentError as error:
            raise refusal(source, action.pointer, str(error), "document-too-large") from None
        except RecursionError:
            raise refusal(source, action.pointer, "the change nests too deeply", "document-too-deep") from None
        found += remarks
    return root, tuple(found)


def _act(
    root: dict[str, Json], action: Action, source: Source, origins: Origins, query: Query
) -> tuple[dict[str, Json], list[Diagnostic]]:
    here = f"{action.pointer}/target"
    targets = _select(query, action.target, root, source, here)
    if not targets:
        message = f"nothing in the document is at {_shown(action.target)}, so this changes nothing"
        advice = "Correct the JSONPath, or remove the action; each action sees what those before it have left."
        found = Diagnostic("overlay-target", Severity.WARNING, message, pointer=here, file=source.name, help=advice)
        return root, [found]
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
    found = _select(query, action.copy, root, source, here)
    if len(found) != 1:
        raise refusal(source, here, f"{_shown(action.copy)} is at {len(found)} places; exactly one can be copied")
    (path, value), *_ = found.items()
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
