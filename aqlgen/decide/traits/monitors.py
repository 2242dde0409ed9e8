"""The operations around a long one (R-LOOP-1): what tells how far its work is, how to ask it, and what cancels it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.executions.places import CANCELLING
from aqlgen.runtime.executions.states import COMPLETED
from aqlgen.runtime.text import folded
from aqlgen.words import split

from .around import Around, Subject, template

__all__ = [
    "CANCELLING",
    "WORK",
    "Stated",
    "cancel_of",
    "described",
    "job_identifier",
    "monitor_of",
    "state_of",
    "stating",
]

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

IDENTIFIERS: Final = frozenset({"id", "uuid", "guid", "gid", "sid", "arn", "name", "key"})
MOST_WRAPPERS: Final = 8
"""How many objects of an answer are looked into."""


@dataclass(frozen=True, slots=True)
class Stated:
    """How a monitor is asked: pointers into the answer by its own parameters, and the pointer to the state it tells."""

    arguments: Mapping[str, str]
    state: str


def state_of(answer: Json, around: Around) -> str | None:
    """Return the pointer to the field whose values are both of work that goes on and of work that has ended."""
    fields = around.schemas.properties(answer)
    return next((f"/{name}" for name in STATES if _is_state(fields.get(name), around)), None)


_TOLD: Final = ("/status", "/state", "/progress")


def monitor_of(subject: Subject, around: Around, state: str | None) -> Subject | None:
    """Find the operation that tells how far it is: it reads the same type, one path deeper, or under the same path."""
    path = template(subject.operation.path)
    for tail in ("/{}", *_TOLD) if subject.category is Category.CREATE else _TOLD:
        if (reader := around.readers.get(path + tail)) is not None:
            return reader
    reference = subject.answer.get("$ref") if isinstance(subject.answer, dict) else None
    if isinstance(reference, str) and (state is not None or _done(subject.answer, around) is not None):
        same = [candidate for candidate in _reading(around, reference) if candidate.operation.path.endswith("}")]
        if len(same) == 1:
            return same[0]
    reader = around.reader(subject)
    if reader is not None and state is not None and reader.answer == subject.answer:
        return reader
    identifier = job_identifier(subject, around)
    return None if identifier is None else described(subject, identifier, around)


def stating(subject: Subject, monitor: Subject, around: Around) -> Stated | None:
    """Return how the monitor is asked about what the operation began; None if nothing says how, or it tells no state.

    What stands at the same place of both paths, or has the same name in both, is the operation's own.
    """
    state = _stated(monitor.answer, around)
    if state is None:
        return None
    arguments: dict[str, str] = {}
    shared = _shared(subject.operation.path, monitor.operation.path)
    same_named = {(location, wire) for location, wire, _ in _parameters(subject, around)}
    for location, wire, required in _parameters(monitor, around):
        if wire in shared if location == "path" else ((location, wire) in same_named or not required):
            continue
        pointer = _pointer(wire, subject, around)
        if pointer is None:
            return None
        arguments[wire] = pointer
    return Stated(arguments, state)


def job_identifier(subject: Subject, around: Around) -> str | None:
    """Return the only field of the answer that identifies a piece of work, such as `JobId`; None if there is none."""
    fields = around.schemas.properties(subject.answer)
    names = [name for name in fields if len(words := split(name)) > 1 and words[-1] in IDENTIFIERS]
    return names[0] if len(names) == 1 else None


def described(subject: Subject, identifier: str, around: Around) -> Subject | None:
    """Return the only reading operation that needs nothing but an identifier of work, and tells its state."""
    readers = [
        reader
        for reader in _by_requirement(around).get(folded(identifier), ())
        if reader is not subject
        and _stated(reader.answer, around) is not None
        and WORK & {*split(identifier), *split(reader.name), *split(subject.name)}
    ]
    return readers[0] if len(readers) == 1 else None


def cancel_of(monitor: Subject, around: Around) -> Subject | None:
    """Return the only operation that cancels what the monitor tells of, and asks for no more than the monitor does."""
    known = _demanded(monitor, around)
    fitting = [
        subject
        for subject in _cancelling(monitor, around)
        if all(location == "path" or (location, wire) in known for location, wire in _demanded(subject, around))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _demanded(subject: Subject, around: Around) -> set[tuple[str, str]]:
    return {(location, wire) for location, wire, required in _parameters(subject, around) if required}


def _cancelling(monitor: Subject, around: Around) -> list[Subject]:
    """Return the operations beside a monitor that cancel by their path or name, or by the name of a monitor of all."""
    base = template(monitor.operation.path)
    verbs = CANCELLING if WORK & {*split(monitor.name), *split(monitor.operation.path)} else CANCELLING[:1]
    tails = [f"{base}{mark}{verb}" for mark in ("/", ":", "/actions/") for verb in verbs]
    beside = [
        subject
        for key in (base, *tails)
        for subject in around.of_template(key)
        if (key != base or subject.name.partition("_")[0] in verbs) and subject.category is not Category.READ
    ]
    if beside or placeholders(monitor.operation.path):
        return beside
    about = monitor.name.partition("_")[2]
    names = {f"{verb}_{about}" if about else verb for verb in verbs}
    return [subject for subject in around.subjects if subject.name in names]


def _is_state(field: Json, around: Around, ends: frozenset[str] = ENDED) -> bool:
    """Return True for a field whose values are both of work that goes on and of work that has ended so."""
    states = [split(value) for value in around.schemas.listed(field)]
    words = {"".join(state) for state in states} | {state[-1] for state in states if state}
    return bool(words & BEGUN) and bool(words & ends)


def _done(answer: Json, around: Around) -> str | None:
    """Return the pointer to the flag by which an operation says that it is done (AIP-151)."""
    fields = around.schemas.properties(answer)
    is_flag = "done" in fields and around.schemas.kinds(fields["done"]) <= {"boolean"}
    return "/done" if is_flag and {"response", "error", "metadata"} & set(fields) else None


def _stated(answer: Json, around: Around) -> str | None:
    """Return the pointer to what an answer tells of work: a flag or a state, also one level deeper."""
    done = _done(answer, around)
    if done is not None:
        return done
    for prefix, fields in _levels(answer, around):
        for name, field in fields.items():
            words = split(name)
            if words and words[-1] in STATES and _is_state(field, around, COMPLETED):
                return f"{prefix}/{name}"
    return None


def _levels(answer: Json, around: Around) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the fields of an answer, then those of the objects in it, each with the pointer to them."""
    fields = around.schemas.properties(answer)
    yield "", fields
    objects = [(name, field) for name, field in fields.items() if "object" in around.schemas.kinds(field)]
    for name, field in objects[:MOST_WRAPPERS]:
        yield f"/{name}", around.schemas.properties(field)


def _pointer(wire: str, subject: Subject, around: Around) -> str | None:
    """Return the pointer to the field of the answer that a parameter takes."""
    words = split(wire)
    last = words[-1] if words and words[-1] in IDENTIFIERS else None
    wanted = [folded(wire), *([last] if last is not None else [])]
    for name in wanted:
        for prefix, fields in _levels(subject.answer, around):
            for key, field in fields.items():
                if folded(key) == name and around.schemas.kinds(field) <= {"string", "integer"}:
                    return f"{prefix}/{key}"
    return None


def _shared(path: str, other: str) -> frozenset[str]:
    """Return the placeholders of the other path that stand at the same place, behind the same text, in the first."""
    texts, others = (template(each).split("{}") for each in (path, other))
    count = 0
    names = placeholders(other)
    while count < min(len(names), len(placeholders(path))) and texts[: count + 1] == others[: count + 1]:
        count += 1
    return frozenset(names[:count])


def _parameters(subject: Subject, around: Around) -> Iterator[tuple[str, str, bool]]:
    """Yield place, name and whether it is required for each parameter of an operation and each field of its body."""
    for parameter in subject.operation.parameters:
        if parameter.fixed is None and parameter.location.value != "header":
            yield parameter.location.value, parameter.name, parameter.required
    if subject.body is not None:
        required = around.schemas.required(subject.body)
        for name in around.schemas.properties(subject.body):
            yield "body", name, name in required


def _reading(around: Around, reference: str) -> Iterator[Subject]:
    for subject in around.readers.values():
        if isinstance(subject.answer, dict) and subject.answer.get("$ref") == reference:
            yield subject


def _by_requirement(around: Around) -> Mapping[str, list[Subject]]:
    """Return the reading operations that require one value and no path, by its name."""

    def make() -> dict[str, list[Subject]]:
        readers: dict[str, list[Subject]] = {}
        for subject in around.subjects:
            if subject.category is Category.READ:
                needed = [(location, wire) for location, wire, required in _parameters(subject, around) if required]
                if len(needed) == 1 and needed[0][0] != "cookie":
                    readers.setdefault(folded(needed[0][1]), []).append(subject)
        return readers

    return around.once("readers-by-requirement", make)
