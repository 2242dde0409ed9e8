"""Operations that start something and answer before it ends (R-LOOP-1): 202, a header that says where to look, or an
answer that is itself the state of what was started.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.runtime.table import LongRunning
from aqlgen.words import split

from .around import Around, Subject
from .monitors import CANCELLING, WORK, cancel_of, described, job_identifier, monitor_of, state_of, stating

MONITOR_HEADERS: Final = frozenset({"operation-location", "azure-asyncoperation", "location", "content-location"})


def long_running(subject: Subject, around: Around) -> Trait[LongRunning] | None:
    """Decide whether the operation answers before its work ends, and how its progress can be read."""
    if subject.category is Category.READ:
        return None
    state = state_of(subject.answer, around)
    announced = (
        _declared(subject) or _accepted(subject) or _resource(subject, around, state) or _identified(subject, around)
    )
    if announced is None:
        return None
    status, reason = announced
    monitor = monitor_of(subject, around, state)
    stated = None if monitor is None else stating(subject, monitor, around)
    cancel = None if monitor is None or stated is None else cancel_of(monitor, around)
    return Trait(
        LongRunning(
            status=status,
            monitor=None if monitor is None else monitor.name,
            arguments=None if stated is None else stated.arguments,
            state=state,
            monitor_state=None if stated is None else stated.state,
            cancel=None if cancel is None else cancel.name,
        ),
        reason,
    )


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
        return _status(subject), Reason("operation-resource", Evidence.RULE, 0.9, "the answer has a completion flag")
    if state is not None and _is_work(subject) and subject.name.partition("_")[0] not in (*CANCELLING, "pause"):
        return _status(subject), Reason(
            "state-of-work", Evidence.HEURISTIC, 0.75, f"the answer's {state.removeprefix('/')} keeps changing"
        )
    return None


def _identified(subject: Subject, around: Around) -> tuple[str, Reason] | None:
    """Recognise an answer that identifies a job, which an operation that takes the identifier describes."""
    if subject.category not in (Category.CREATE, Category.EXECUTE):
        return None
    identifier = job_identifier(subject, around)
    monitor = None if identifier is None else described(subject, identifier, around)
    if monitor is None:
        return None
    return _status(subject), Reason(
        "described-job", Evidence.HEURISTIC, 0.7, f"{monitor.name} takes the answer's {identifier} and returns a state"
    )


def _is_work(subject: Subject) -> bool:
    """Return True if what comes back is named as work: by its type, or by the path."""
    reference = subject.answer.get("$ref") if isinstance(subject.answer, dict) else None
    named = split(reference.rsplit("/", 1)[-1]) if isinstance(reference, str) else ()
    fixed = [part for part in subject.operation.path.split("/") if part and "{" not in part]
    last = split(fixed[-1])[-1:] if fixed else ()
    return last != ("statuses",) and bool(set(named) & WORK or set(last) & WORK)


def _status(subject: Subject) -> str:
    return subject.success.status if subject.success is not None else "default"
