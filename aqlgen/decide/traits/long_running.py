"""Operations that start something and answer before it ends (R-LOOP-1): 202, a header that says where to look, or an
answer that is itself the state of what was started.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aqlgen.decisions import Category, Evidence, Reason, Trait
from aqlgen.runtime.table import LongRunning
from aqlgen.words import split

from .around import Around, Subject, template

__all__ = ["long_running"]

MONITOR_HEADERS: Final = frozenset({"operation-location", "azure-asyncoperation", "location", "content-location"})
BEGUN: Final = frozenset(
    "queued pending running processing started starting inprogress scheduled accepted validating building executing"
    " waiting provisioning creating".split()
)
ENDED: Final = frozenset(
    "succeeded success successful completed complete done failed failure error errored finished cancelled canceled"
    " aborted expired timedout ended".split()
)
STATES: Final = ("status", "state", "phase")
WORK: Final = frozenset(
    "job jobs run runs task tasks operation operations batch batches execution executions build builds export exports"
    " import imports migration migrations backup backups restore action actions workflow process deployment deploy"
    " crawl analysis transcription report evaluation eval snapshot scan".split()
)
"""What is done rather than kept: its state is the state of work."""


def long_running(subject: Subject, around: Around) -> Trait[LongRunning] | None:
    """Give the status that announces it, the operation that tells how far it is, and the field of its state."""
    if subject.category is Category.READ:
        return None
    state = _state(subject, around)
    found = _declared(subject) or _accepted(subject) or _resource(subject, around, state)
    if found is None:
        return None
    status, reason = found
    pointer = None if state is None else f"/{state}"
    return Trait(LongRunning(status=status, monitor=_monitor(subject, around, state), state=pointer), reason)


def _declared(subject: Subject) -> tuple[str, Reason] | None:
    for key, value in subject.operation.extensions.items():
        words = split(key.removeprefix("x-"))
        if words[-3:] == ("long", "running", "operation") and value is True:
            return _status(subject), Reason("declared", Evidence.METADATA, 1.0, key)
    return None


def _accepted(subject: Subject) -> tuple[str, Reason] | None:
    good = [one for one in subject.operation.responses if one.status.startswith("2")]
    accepted = next((one for one in good if one.status == "202"), None)
    headers = {header.lower() for one in good for header in one.headers}
    where = next((one for one in ("operation-location", "azure-asyncoperation") if one in headers), None)
    if where is not None:
        return _status(subject), Reason("operation-location", Evidence.RULE, 0.95, f"header {where}")
    if accepted is None:
        return None
    if any(header.lower() in MONITOR_HEADERS for header in accepted.headers):
        return "202", Reason("accepted-with-location", Evidence.RULE, 0.95, "202 with Location")
    if len(good) == 1:
        return "202", Reason("accepted", Evidence.RULE, 0.8, "202 is the only success")
    return "202", Reason("accepted-or-done", Evidence.HEURISTIC, 0.65, "202 is one of several successes")


def _resource(subject: Subject, around: Around, state: str | None) -> tuple[str, Reason] | None:
    """Recognise an answer that is a piece of work: `done` beside its result, or the state of a job."""
    if subject.category not in (Category.CREATE, Category.EXECUTE):
        return None
    fields = around.schemas.properties(subject.answer)
    told = {"response", "error", "metadata"} & set(fields) and {"name", "id"} & set(fields)
    if told and "done" in fields and around.schemas.kinds(fields["done"]) <= {"boolean"}:
        return _status(subject), Reason("operation-resource", Evidence.RULE, 0.9, "the answer tells whether it is done")
    if state is not None and _is_work(subject):
        return _status(subject), Reason(
            "state-of-work", Evidence.HEURISTIC, 0.75, f"the answer's {state} goes on changing"
        )
    return None


def _is_work(subject: Subject) -> bool:
    """Whether what comes back is named as work: by its type, or by the path."""
    reference = subject.answer.get("$ref") if isinstance(subject.answer, dict) else None
    named = split(reference.rsplit("/", 1)[-1]) if isinstance(reference, str) else ()
    fixed = [part for part in subject.operation.path.split("/") if part and "{" not in part]
    return bool(set(named) & WORK) or bool(fixed and set(split(fixed[-1])[-1:]) & WORK)


def _state(subject: Subject, around: Around) -> str | None:
    """Give the field of the answer whose values are both of work that goes on and of work that has ended."""
    fields = around.schemas.properties(subject.answer)
    for name in STATES:
        values = around.schemas.word(fields.get(name), "enum")
        if isinstance(values, list):
            words = {"".join(split(one)) for one in values if isinstance(one, str)}
            if words & BEGUN and words & ENDED:
                return name
    return None


def _monitor(subject: Subject, around: Around, state: str | None) -> str | None:
    """Find the operation that tells how far it is: it reads the same type, one path deeper, or under the same path."""
    path = template(subject.operation.path)
    below = around.readers.get(f"{path}/{{}}")
    if subject.category is Category.CREATE and below is not None:
        return below.name
    for tail in ("/status", "/state", "/progress"):
        if (found := around.readers.get(path + tail)) is not None:
            return found.name
    reference = subject.answer.get("$ref") if isinstance(subject.answer, dict) else None
    if isinstance(reference, str) and state is not None:
        same = [one for one in _reading(around, reference) if one.operation.path.endswith("}")]
        if len(same) == 1:
            return same[0].name
    own = around.reader(subject)
    return own.name if own is not None and state is not None and own.answer == subject.answer else None


def _reading(around: Around, reference: str) -> Iterator[Subject]:
    for one in around.readers.values():
        if isinstance(one.answer, dict) and one.answer.get("$ref") == reference:
            yield one


def _status(subject: Subject) -> str:
    return subject.success.status if subject.success is not None else "default"
