"""What changed about an operation as a whole: its name, its tool, its danger, how it pages, updates and is allowed."""

from __future__ import annotations

from typing import Final

from aqlgen.compare.model import Level
from aqlgen.compare.notes import Notes
from aqlgen.compare.pairing import Pairing, address
from aqlgen.compare.surface import Operation, Surface
from aqlgen.decide.decision import Danger
from aqlgen.runtime.table import ADAPTER, Deprecation, FormerName

__all__ = ["came_and_went", "compare_operation"]

_ASKED: Final = frozenset({Danger.DESTRUCTIVE, Danger.DANGEROUS})
_MERGING: Final = frozenset({"merge-patch", "json-patch", "patch", "put-merge"})


def came_and_went(pairing: Pairing, old: Surface, new: Surface, notes: Notes) -> None:
    """Note the operations that are gone and new, and the names that call something else now."""
    same = {other.name: one.name for one, other in pairing.kept}
    aliases = {alias.name: (one, alias) for one in new.operations.values() for alias in one.aliases}
    for one in pairing.gone:
        if one.name in aliases:
            _answers_to(one.name, *aliases[one.name], notes)
        elif one.name not in new.operations:
            notes.tell("operation-removed", one.name)
    for name, other in new.operations.items():
        before = old.operations.get(name)
        if before is not None and same.get(name) != name:
            notes.tell("name-reused", name, other.key, before.key)
    for one in pairing.come:
        danger = _danger(one)
        grave = danger in _ASKED or danger is Danger.FORBIDDEN
        form = f"new operation[|s] in {one.family}" + (f", {danger}" if grave else "")
        notes.tell("operation-added-grave" if grave else "operation-added", one.name, form=form)


def compare_operation(old: Operation, new: Operation, notes: Notes, *, by_name: bool) -> None:
    """Note what changed from one row to the other, but for parameters and answers.

    `by_name` says that nothing but the name tells that they are the same operation.
    """
    if old.name != new.name:
        _renamed(old, new, notes)
    for alias in old.aliases:
        if alias.name not in (new.name, *(one.name for one in new.aliases)):
            notes.tell("alias-removed", new.name, alias.name)
    if old.family != new.family:
        notes.tell("category-changed", new.name, form=f"called by the tool for {new.family} now, not for {old.family}")
    _danger_changed(old, new, notes)
    _deprecated(old, new, notes)
    _updated(old, new, notes)
    before, after = _monitor(old), _monitor(new)
    if before != after:
        form = "no longer goes on after answering" if after is None else "goes on after answering"
        form += "; {} tells how it went" if after else ""
        notes.tell("goes-on", new.name, *((after,) if after else ()), form=form)
    if old.key != new.key:
        _moved(old, new, notes, by_name=by_name)
    if old.name == new.name and _reworded(old, new):
        notes.tell("reworded", new.name)


def _renamed(old: Operation, new: Operation, notes: Notes) -> None:
    for alias in new.aliases:
        if alias.name == old.name:
            _answers_to(old.name, new, alias, notes)
            return
    notes.tell("operation-renamed", old.name, new.name)


def _answers_to(name: str, operation: Operation, alias: FormerName, notes: Notes) -> None:
    until = () if alias.until is None else (alias.until.isoformat(),)
    form = f"renamed, now {{}}; the old name {'answers until {}' if until else 'still answers'}"
    notes.tell("operation-alias", name, operation.name, *until, form=form)


def _danger(operation: Operation) -> Danger:
    return Danger(operation.danger)


def _danger_changed(old: Operation, new: Operation, notes: Notes) -> None:
    """Note a change of danger by what becomes of a call under the standard policy."""
    before, after = _danger(old), _danger(new)
    if before is after:
        if after in _ASKED and old.confirmation != new.confirmation:
            notes.tell("confirmation-reworded", new.name)
        return
    form = f"{after} now, not {before}"
    if after is Danger.FORBIDDEN:
        notes.tell("operation-forbidden", new.name)
    elif before is Danger.FORBIDDEN:
        notes.tell("confirmation-dropped", new.name, form=f"no longer refused: {form}")
    elif (before in _ASKED) != (after in _ASKED):
        asks = after in _ASKED
        rule = "confirmation-asked" if asks else "confirmation-dropped"
        notes.tell(rule, new.name, form=f"{'asks' if asks else 'no longer asks'} for a confirmation: {form}")
    else:
        notes.tell("danger-raised" if after.rank > before.rank else "danger-lowered", new.name, form=form)


def _deprecated(old: Operation, new: Operation, notes: Notes) -> None:
    before, after = (one.deprecated for one in (old, new))
    told, earlier = new.deprecation or Deprecation(), old.deprecation or Deprecation()
    if after and not before:
        date, use = told.removal_date, told.replacement
        form = f"deprecated{', to be removed on {}' if date else ''}{'; use {} instead' if use else ''}"
        notes.tell("operation-deprecated", new.name, *filter(None, (date, use)), form=form)
    elif before and not after:
        notes.tell("no-longer-deprecated", new.name)
    elif told.removal_date is not None and told.removal_date != earlier.removal_date:
        notes.tell("removal-announced", new.name, told.removal_date)


def _updated(old: Operation, new: Operation, notes: Notes) -> None:
    """Note whether an update that left what is not sent as it was now replaces it, or the other way round."""
    before, after = (None if one.update is None else one.update.strategy for one in (old, new))
    if before is None or after is None or (before in _MERGING) == (after in _MERGING):
        return
    if after == "put":
        notes.tell("update-replaces", new.name)
    elif before == "put":
        notes.tell("update-merges", new.name)


def _monitor(operation: Operation) -> str | None:
    """Give what tells how an operation went that goes on after its answer; None for one that does not."""
    return None if operation.long_running is None else operation.long_running.monitor or ""


def _moved(old: Operation, new: Operation, notes: Notes, *, by_name: bool) -> None:
    """Note another address: what differs in it, which is the same for all operations that moved alike."""
    if by_name:
        notes.tell("name-reused", new.name, new.key, old.key, level=Level.ATTENTION)
        return
    if address(old) == address(new):  # its placeholders are named otherwise: its parameters tell, where it is felt
        return
    if address(old).rstrip("/") == address(new).rstrip("/"):
        slash = "with" if new.key.endswith("/") else "without"
        notes.tell("address-changed", new.name, form=f"[calls its|call their] address {slash} a slash at the end now")
        return
    before, after = old.key.split("/"), new.key.split("/")
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    parts = ("/".join(after).strip(), "/".join(before).strip()) if before and after else (new.key, old.key)
    notes.tell("address-changed", new.name, *parts)


def _reworded(old: Operation, new: Operation) -> bool:
    """Whether the texts of the API differ: of the operation, or of a parameter that is still there."""
    if (old.summary, old.description) != (new.summary, new.description):
        return True
    before, after = old.shown_parameters, new.shown_parameters
    both = (name for name, one in before.items() if name in after and one.location != ADAPTER)
    return any(before[name].description != after[name].description for name in both)
