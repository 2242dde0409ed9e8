"""Changes of operations and workflows as a whole: gone, new, renamed, moved, more dangerous, updating otherwise."""

from __future__ import annotations

from typing import Final

from aqlgen.compare.grouping import Findings
from aqlgen.compare.model import Level
from aqlgen.compare.surface import Operation, Pairing, Surface, address
from aqlgen.decide.decision import Danger
from aqlgen.decide.overrides import is_broad
from aqlgen.runtime.table import Deprecation, FormerName, Workflow

_CONFIRMED: Final = frozenset({Danger.DESTRUCTIVE, Danger.DANGEROUS})
_GRAVE: Final = _CONFIRMED | {Danger.FORBIDDEN}


def compare_presence(pairing: Pairing, old: Surface, new: Surface, findings: Findings) -> None:
    """Note the operations that are gone and new, and the names that call something else now."""
    old_names = {after.name: before.name for before, after in pairing.kept}
    aliases = {alias.name: (operation, alias) for operation in new.operations.values() for alias in operation.aliases}
    for operation in pairing.removed:
        if operation.name in aliases:
            _note_alias(operation.name, *aliases[operation.name], findings)
        elif operation.name not in new.operations:
            findings.note("operation-removed", operation.name)
    for name, operation in new.operations.items():
        namesake = old.operations.get(name)
        if namesake is not None and old_names.get(name) != name:
            findings.note("name-reused", name, operation.key, namesake.key)
    for operation in pairing.added:
        _note_added(operation, "operation", findings)
        entries = dict.fromkeys(entry for entry in operation.accepted.values() if is_broad(entry))
        if entries:
            findings.note("accepted-unseen", operation.name, ", ".join(entries))


def _note_added(new: Operation | Workflow, noun: str, findings: Findings) -> None:
    """Note an operation or a workflow that is new; a person should see one that destroys or endangers."""
    is_grave = new.danger in _GRAVE
    wording = f"new {noun}[|s] in {new.family}" + (f", {new.danger}" if is_grave else "")
    findings.note("operation-added-grave" if is_grave else "operation-added", new.name, wording=wording)


def compare_operation(old: Operation, new: Operation, findings: Findings, *, by_name: bool) -> None:
    """Note what changed of an operation, except its parameters and answers.

    `by_name`: the two are paired by nothing but their name.
    """
    if old.name != new.name:
        _note_new_name(old, new, findings)
    for alias in old.aliases:
        if alias.name not in (new.name, *(kept.name for kept in new.aliases)):
            findings.note("alias-removed", new.name, alias.name)
    if old.family != new.family:
        findings.note(
            "category-changed", new.name, wording=f"called by the tool for {new.family} now, not for {old.family}"
        )
    _compare_danger(old, new, findings)
    _compare_deprecation(old, new, findings)
    _compare_update(old, new, findings)
    before, after = _monitor(old), _monitor(new)
    if before != after:
        wording = "no longer goes on after answering" if after is None else "goes on after answering"
        wording += "; {} tells how it went" if after else ""
        findings.note("goes-on", new.name, *((after,) if after else ()), wording=wording)
    if old.key != new.key:
        _note_new_address(old, new, findings, by_name=by_name)


def _note_new_name(old: Operation, new: Operation, findings: Findings) -> None:
    for alias in new.aliases:
        if alias.name == old.name:
            _note_alias(old.name, new, alias, findings)
            return
    findings.note("operation-renamed", old.name, new.name)


def _note_alias(name: str, operation: Operation, alias: FormerName, findings: Findings) -> None:
    until = () if alias.until is None else (alias.until.isoformat(),)
    wording = f"renamed, now {{}}; the old name {'answers until {}' if until else 'still answers'}"
    findings.note("operation-alias", name, operation.name, *until, wording=wording)


def _compare_danger(old: Operation, new: Operation, findings: Findings) -> None:
    """Note a change of danger by what becomes of a call under the standard policy."""
    before, after = Danger(old.danger), Danger(new.danger)
    asked, asks = (level in _CONFIRMED or row.asked == "first" for level, row in ((before, old), (after, new)))
    if before is after and asked == asks:
        if after in _CONFIRMED and old.confirmation != new.confirmation:
            findings.note("confirmation-reworded", new.name)
        return
    wording = f"{after} now, not {before}" if before is not after else f"{after}, at its first call in a session"
    if after is Danger.FORBIDDEN:
        findings.note("operation-forbidden", new.name)
    elif before is Danger.FORBIDDEN:
        findings.note("confirmation-dropped", new.name, wording=f"no longer refused: {wording}")
    elif asked != asks:
        rule = "confirmation-asked" if asks else "confirmation-dropped"
        findings.note(rule, new.name, wording=f"{'asks' if asks else 'no longer asks'} for a confirmation: {wording}")
    elif after.rank > before.rank:
        is_each = (before in _CONFIRMED, after in _CONFIRMED) == (False, True)
        reason = "asks for a confirmation each time, not only at first: " if is_each else ""
        findings.note("danger-raised", new.name, wording=f"{reason}{wording}")
    else:
        findings.note("danger-lowered", new.name, wording=wording)


def _compare_deprecation(old: Operation, new: Operation, findings: Findings) -> None:
    before, after = old.deprecated, new.deprecated
    deprecation, earlier = new.deprecation or Deprecation(), old.deprecation or Deprecation()
    if after and not before:
        date, use = deprecation.removal_date, deprecation.replacement
        wording = f"deprecated{', to be removed on {}' if date else ''}{'; use {} instead' if use else ''}"
        findings.note("operation-deprecated", new.name, *filter(None, (date, use)), wording=wording)
    elif before and not after:
        findings.note("no-longer-deprecated", new.name)
    elif deprecation.removal_date is not None and deprecation.removal_date != earlier.removal_date:
        findings.note("removal-announced", new.name, deprecation.removal_date)


def _compare_update(old: Operation, new: Operation, findings: Findings) -> None:
    """Note an update that replaces the whole now and merged before, or the other way round."""
    before, after = old.update, new.update
    if before is None or after is None or before.is_partial == after.is_partial:
        return
    if after.strategy == "put":
        findings.note("update-replaces", new.name)
    elif before.strategy == "put":
        findings.note("update-merges", new.name)


def _monitor(operation: Operation) -> str | None:
    """Return the monitor of an operation that goes on after its answer ("" without one), None for others."""
    return None if operation.long_running is None else operation.long_running.monitor or ""


def _note_new_address(old: Operation, new: Operation, findings: Findings, *, by_name: bool) -> None:
    """Note what differs in the address: operations that moved in the same way share the note."""
    if by_name:
        findings.note("name-reused", new.name, new.key, old.key, level=Level.ATTENTION)
        return
    if address(old) == address(new):  # only placeholders differ: a note of the parameters says so
        return
    if address(old).rstrip("/") == address(new).rstrip("/"):
        slash = "with" if new.key.endswith("/") else "without"
        findings.note(
            "address-changed", new.name, wording=f"[calls its|call their] address {slash} a slash at the end now"
        )
        return
    before, after = old.key.split("/"), new.key.split("/")
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    parts = ("/".join(after).strip(), "/".join(before).strip()) if before and after else (new.key, old.key)
    findings.note("address-changed", new.name, *parts)


def compare_workflows(old: Surface, new: Surface, findings: Findings) -> None:
    """Note what changed of the workflows."""
    for name in old.workflows:
        if name not in new.workflows and name not in new.operations:
            findings.note("operation-removed", name)
    for name, workflow in new.workflows.items():
        before = old.workflows.get(name)
        if before is not None:
            _compare(before, workflow, findings)
        else:
            _note_added(workflow, "workflow", findings)


def _compare(old: Workflow, new: Workflow, findings: Findings) -> None:
    if old.family != new.family:
        wording = f"called by the tool for {new.family} now, not for {old.family}"
        findings.note("category-changed", new.name, wording=wording)
    if (old.inputs, old.outputs) != (new.inputs, new.outputs):
        findings.note("workflow-changed", new.name)
    elif old.steps != new.steps:
        findings.note("workflow-steps", new.name)
    for what in ("summary", "description"):
        texts = getattr(old, what), getattr(new, what)
        if texts[0] != texts[1]:
            findings.note("text-changed", new.name, *texts, wording=f"the {what} of the workflow changed")
