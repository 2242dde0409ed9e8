"""What an answer of the API tells of work: one of the five core states, how far it is, and what went wrong.

Specification, 8.4.1 and 8.4.3. Keys are compared without case, hyphens and underscores. A word that is not known is of
work that goes on, and is shown as the API has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..schema import steps_of
from ..schema.notation import is_count
from ..text import folded, iso_time, letters, line

if TYPE_CHECKING:
    from ..table import LongRunning, Row

CORE = ("pending", "running", "completed", "failed", "cancelled")
"""The core states."""
ENDED = frozenset(CORE[2:])
"""Those that do not change any more."""

_PENDING = frozenset(
    [
        "pending",
        "queued",
        "enqueued",
        "scheduled",
        "accepted",
        "waiting",
        "created",
        "submitted",
        "requested",
        "notstarted",
        "new",
        "planned",
    ]
)
_RUNNING = frozenset(
    [
        "running",
        "started",
        "starting",
        "inprogress",
        "processing",
        "validating",
        "building",
        "executing",
        "provisioning",
        "creating",
        "updating",
        "deleting",
        "finalizing",
        "finalising",
        "cancelling",
        "canceling",
        "stopping",
        "active",
        "working",
        "ongoing",
        "retrying",
    ]
)
COMPLETED = frozenset(
    ["completed", "complete", "succeeded", "success", "successful", "done", "finished", "ended", "ready", "available"]
)
"""Words of work that has ended well."""
_FAILED = frozenset(["failed", "failure", "error", "errored", "expired", "timedout", "faulted", "crashed", "rejected"])
_CANCELLED = frozenset(["cancelled", "canceled", "aborted", "terminated", "stopped"])
_WORDS: Mapping[str, str] = {
    word: state
    for state, words in zip(CORE, (_PENDING, _RUNNING, COMPLETED, _FAILED, _CANCELLED), strict=True)
    for word in words
}

_STATES = ("status", "state", "phase", "provisioningstate", "jobstatus", "jobstate", "operationstatus", "runstatus")
_HOLDERS = ("properties", "metadata", "data", "job", "task", "run", "operation", "progress")
"""Objects of an answer in which its state and its progress may stand."""
_PERCENTAGES = (
    "progress",
    "progresspercent",
    "progresspercentage",
    "percentcomplete",
    "percentcompleted",
    "percentage",
)
_COUNTED = ("current", "completed", "processed", "done", "succeeded")
_COUNTS = ("requestcounts", "counts", "progress", "filecounts", "stats")
_ENDS = ("finishedat", "completedat", "endedat", "endtime", "finishtime", "completiontime", "completiondate")
_ERRORS = ("error", "errors", "lasterror", "failure", "failurereason", "errormessage", "failurecause")
_CANCELLED_CODE = 1
"""The code of an operation that was cancelled (AIP-151, google.rpc.Code)."""
_MOST = 200
_EPOCH_MILLISECONDS = 100_000_000_000
_PARTS = re.compile(r"[A-Za-z]++")


class Condition(NamedTuple):
    """What an answer tells of work.

    `status` is a core state and `stated` says whether the answer stated it. `progress` is as the specification has it,
    `error` is the API's own, `finished_at` in ISO 8601, `result` what there is of an outcome.
    """

    status: str
    stated: bool
    progress: Mapping[str, Any] | None = None
    error: Any = None
    finished_at: str | None = None
    result: Any = None
    wait: int | None = None
    """Seconds after which the API wants to be asked again."""


def condition_of(status: int, data: Any, pointer: str | None = None) -> Condition:
    """Return the condition that an answer's HTTP status and data tell; `pointer` leads to the state, if known.

    An answer that tells no state is of work that goes on, with 202 or where it should tell one, and else its result. A
    word for a state that is not known is one of work that goes on, and is shown.
    """
    if not isinstance(data, Mapping):
        return Condition("running", False) if status == 202 else Condition("completed", False, result=data)
    fields = _fields(data)
    done = fields.get("done")
    if isinstance(done, bool) and pointer in (None, "/done"):
        return _of_operation(fields, done, data)
    word = _word(data, fields, pointer)
    if word is None:
        if status == 202 or pointer is not None:
            return Condition("running", False, _progress(fields, ""))
        return Condition("completed", False, result=data)
    core = _core(word)
    state = core or "running"
    error = next((fields[key] for key in _ERRORS if fields.get(key)), None) if state == "failed" else None
    shown = "" if letters(word) == state else word
    progress, result = (None, data) if state == "completed" else (_progress(fields, shown), None)
    return Condition(
        state,
        any((pointer, core)),
        progress,
        error,
        _finished(fields) if state in ENDED else None,
        result,
    )


def value_at(data: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer, whichever way its keys are spelled; None without one."""
    value = data
    for key in steps_of(pointer):
        if not isinstance(value, Mapping):
            return None
        value = value[key] if key in value else _fields(value).get(folded(key))
    return value


def _of_operation(fields: Mapping[str, Any], done: bool, data: Mapping[str, Any]) -> Condition:
    """Return the condition of an operation that has `done`, and then `error` or `response` (AIP-151)."""
    if not done:
        return Condition("running", True, _progress(fields, ""))
    error = fields.get("error")
    if error:
        is_cancelled = isinstance(error, Mapping) and error.get("code") == _CANCELLED_CODE
        return Condition("cancelled" if is_cancelled else "failed", True, None, error, _finished(fields))
    return Condition("completed", True, None, None, _finished(fields), fields.get("response", data))


def _word(data: Mapping[str, Any], fields: Mapping[str, Any], pointer: str | None) -> str | None:
    """Return the API's own word for the state: where it is known to stand, else where it may, a known word first."""
    value = None if pointer is None else value_at(data, pointer)
    if isinstance(value, str) and value:
        return value
    for level in _levels(fields):
        for key in _STATES:
            value = level.get(key)
            if isinstance(value, str) and _core(value) is not None:
                return value
    return next((fields[key] for key in _STATES if isinstance(fields.get(key), str) and fields[key]), None)


def _core(word: str) -> str | None:
    """Return the core state of a word such as `IN_PROGRESS`, `JOB_STATE_SUCCEEDED` or `completed_with_errors`."""
    state = _WORDS.get(letters(word[:_MOST]))
    if state is not None:
        return state
    parts = _PARTS.findall(word[:_MOST].lower())
    candidates = ("".join(parts[-2:]), *parts[-1:], *parts[:1])
    return next((_WORDS[part] for part in candidates if part in _WORDS), None)


def _fields(data: Mapping[str, Any]) -> dict[str, Any]:
    return {folded(key): value for key, value in data.items() if isinstance(key, str)}


def _levels(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield fields
    for key in _HOLDERS:
        value = fields.get(key)
        if isinstance(value, Mapping):
            yield _fields(value)


def _progress(fields: Mapping[str, Any], word: str) -> dict[str, Any] | None:
    """Return how far work is, with the API's own word for its state where that is not the core state."""
    levels = list(_levels(fields))
    counting = [*levels, *(_fields(fields[key]) for key in _COUNTS if isinstance(fields.get(key), Mapping))]
    message = next((fields[key] for key in ("statusmessage", "progressmessage", "message") if fields.get(key)), "")
    text = ": ".join(part for part in (word, message) if isinstance(part, str) and part)
    percentages = (_percentage(level.get(key)) for level in levels for key in _PERCENTAGES)
    percentage = next((number for number in percentages if number is not None), None)
    progress: dict[str, Any] = {} if percentage is None else {"percentage": percentage}
    progress |= next(filter(None, map(_counts_of, counting)), {})
    if text:
        progress["message"] = line(text, _MOST)
    return progress or None


def _counts_of(level: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many of how many are done, {} where it is not said."""
    total = level.get("total")
    current = next((level[key] for key in _COUNTED if is_count(level.get(key))), None)
    known = current is not None and is_count(total) and current <= total
    return {"current": current, "total": total} if known else {}


def _percentage(value: Any) -> float | int | None:
    """Return a percentage from 0 to 100; a fraction between 0 and 1 counts as one of the whole."""
    if isinstance(value, str) and len(value) < 8:
        try:
            value = float(value.rstrip("%"))
        except ValueError:
            return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 100:
        return None
    return round(float(value) * 100, 2) if isinstance(value, float) and 0 < value < 1 else value


def _finished(fields: Mapping[str, Any]) -> str | None:
    """Return when it ended, if the API says so."""
    for level in _levels(fields):
        for key in _ENDS:
            value = level.get(key)
            if isinstance(value, str) and value:
                return line(value, 40)
            if is_count(value) and value:
                seconds = value / 1000 if value > _EPOCH_MILLISECONDS else value
                try:
                    return iso_time(seconds)
                except (ValueError, OverflowError, OSError):
                    return None
    return None


_PLACES = frozenset({"location", "operation-location", "azure-asyncoperation"})


def lifecycle(row: Row, work: LongRunning) -> dict[str, Any] | None:
    """Return the LifecycleInfo of an operation that begins work; None where that cannot be followed."""
    names = {header.lower() for response in row.responses.values() for header in response.get("headers", ())}
    if work.arguments is None and names.isdisjoint(_PLACES):
        return None
    return {
        "states": list(CORE),
        "supports_cancel": work.cancel is not None,
        "supports_retry": False,
        "progress_reporting": True,
    }
