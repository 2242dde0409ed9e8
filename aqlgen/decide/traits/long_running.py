"""Operations that start something and answer before it ends (R-LOOP-1): 202, a header that says where to look, or an
answer that is itself the state of what was started.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
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
"""Nouns of work rather than of data: the state of such a resource is the state of work."""


def long_running(subject: Subject, around: Around) -> Trait[LongRunning] | None:
    """Decide whether the operation answers before its work ends, and how its progress can be read."""
    if subject.category is Category.READ:
        return None
    state = _state(subject, around)
    announced = _declared(subject) or _accepted(subject) or _resource(subject, around, state)
    if announced is None:
        return None
    status, reason = announced
    pointer = None if state is None else f"/{state}"
    return Trait(LongRunning(status=status, monitor=_monitor(subject, around, state), state=pointer), reason)


def _declared(subject: Subject) -> tuple[str, Reason] | None:
    for key, value in subject.operation.extensions.items():
        words = split(key.removeprefix("x-"))
        if words[-3:] == ("long", "running", "operation") and value is True:
            return _status(subject), Reason("declared", Evidence.METADATA, 1.0, key)
    return None


def _accepted(subject: Subject) -> tuple[str, Reason] | None:
    good = [response for response in subject.operation.responses if response.status.startswith("2")]
    accepted = next((response for response in good if response.status == "202"), None)
    headers = {header.lower() for response in good for header in response.headers}
    where = next((name for name in ("operation-location", "azure-asyncoperation") if name in headers), None)
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
    has_outcome = {"response", "error", "metadata"} & set(fields) and {"name", "id"} & set(fields)
    if has_outcome and "done" in fields and around.schemas.kinds(fields["done"]) <= {"boolean"}:
        return _status(subject), Reason("operation-resource", Evidence.RULE, 0.9, "the answer tells whether it is done")
    if state is not None and _is_work(subject):
        return _status(subject), Reason(
            "state-of-work", Evidence.HEURISTIC, 0.75, f"the answer's {state} goes on changing"
        )
    return None


def _is_work(subject: Subject) -> bool:
    """Return True if what comes back is named as work: by its type, or by the path."""
    reference = subject.answer.get("$ref") if isinstance(subject.answer, dict) else None
    named = split(reference.rsplit("/", 1)[-1]) if isinstance(reference, str) else ()
    fixed = [part for part in subject.operation.path.split("/") if part and "{" not in part]
    return bool(set(named) & WORK) or bool(fixed and set(split(fixed[-1])[-1:]) & WORK)


def _state(subject: Subject, around: Around) -> str | None:
    """Return the field of the answer whose values are both of work that goes on and of work that has ended."""
    fields = around.schemas.properties(subject.answer)
    for name in STATES:
        values = around.schemas.word(fields.get(name), "enum")
        if isinstance(values, list):
            words = {"".join(split(value)) for value in values if isinstance(value, str)}
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
        if (reader := around.readers.get(path + tail)) is not None:
            return reader.name
    reference = subject.answer.get("$ref") if isinstance(subject.answer, dict) else None
    if isinstance(reference, str) and state is not None:
        same = [candidate for candidate in _reading(around, reference) if candidate.operation.path.endswith("}")]
        if len(same) == 1:
            return same[0].name
    reader = around.reader(subject)
    return reader.name if reader is not None and state is not None and reader.answer == subject.answer else None


def _reading(around: Around, reference: str) -> Iterator[Subject]:
    for subject in around.readers.values():
        if isinstance(subject.answer, dict) and subject.answer.get("$ref") == reference:
            yield subject


def _status(subject: Subject) -> str:
    return subject.success.status if subject.success is not None else "default"
