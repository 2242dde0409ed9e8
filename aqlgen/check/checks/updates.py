"""What is written arrives, and an update changes what it names and nothing else: after a model of RFC 7396 (3.4)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from aqlgen.check.connection import Answer, values_of
from aqlgen.check.listing import placed
from aqlgen.check.operations import Operation, schema_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply
from aqlgen.runtime.schema import Types, at, shape_of, steps_of
from aqlgen.runtime.table import Row, Update
from aqlgen.runtime.witness import Document
from aqlgen.runtime.witness.document import is_filled
from aqlgen.runtime.witness.samples import ABSENT, sample

_ROUNDS, _MOST_UPDATES = 6, 40
_CHOSEN, _REMOVED = 0.6, 0.2
"""The share of the fields of an object that a patch names, and that of those which it removes."""
_MASK, _REVISION = "********", "checkRevision"


# The reference model


def patched(target: Any, patch: Any) -> Any:
    """Return a value with a merge patch applied (RFC 7396, 2)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def replaced(document: Document, schema: Any, target: Any, patch: Any) -> Any:
    """Return the value that a PUT writes: the target with the patch merged, and null where the document allows it.

    An object of another alternative replaces what is there.
    """
    if not isinstance(patch, dict):
        return patch
    result, known = dict(target) if isinstance(target, dict) else {}, document.properties(schema)
    if document.is_other(schema, result, patch):
        result = {}
    for key, value in patch.items():
        inner = known.get(key, {})
        if value is None and not document.is_nullable(inner):
            result.pop(key, None)
        else:
            result[key] = replaced(document, inner, result.get(key), value)
    return result


def operated(target: Any, operations: Any) -> Any:
    """Return an object with the operations of a JSON Patch applied (RFC 6902), each as a merge patch."""
    for each in operations if isinstance(operations, list) else ():
        target = patched(target, placed({}, each["path"], None if each["op"] == "remove" else each["value"]))
    return target


def _is_filled(sent: Any, patch: Any, state: Any) -> bool:
    """Return True for a patch whose objects are filled with what was there, for an API that replaces each of them."""
    if not isinstance(sent, dict) or not isinstance(patch, dict):
        return bool(sent == patch)
    known = state if isinstance(state, dict) else {}
    named = all(_is_filled(sent.get(name, ABSENT), inner, known.get(name)) for name, inner in patch.items())
    return named and all(sent[name] == known.get(name) for name in sent.keys() - patch.keys())


class Updated(NamedTuple):
    """An update that the model covers: of JSON, with the operation and the schema of the document."""

    operation: Operation
    strategy: str
    document: Document
    schema: Any
    write_at: str = ""
    fills: bool = False

    def state(self, turn: int) -> Any:
        """Return the resource as a read answers it: with fields that only the API writes, without write-only ones."""
        value, fields = sample(self.document, self.schema, turn, answers=True), self.document.properties(self.schema)
        empty = dict.fromkeys(
            name for name, inner in fields.items() if turn % 2 and "null" in self.document.kinds(inner)
        )
        return {**value, **empty} if isinstance(value, dict) else value

    def unwritten(self, turn: int, state: dict[str, Any]) -> dict[str, Any]:
        """Return fields of a read that no update may send back: a write-only one, and one with a masked value."""
        known, value = self.document.properties(self.schema), sample(self.document, self.schema, turn)
        value = {} if value is ABSENT else value
        shown = {name: value[name] for name, each in known.items()
                 if name in value and self.document.is_marked(each, "writeOnly")}  # fmt: skip
        free = [name for name in state.keys() - self.document.required(self.schema) if isinstance(state[name], str)]
        return shown | dict.fromkeys(sorted(free)[: turn % 3 == 0], _MASK)

    def writable(self, value: Any) -> Any:
        """Return a state without what only the API writes."""
        return _writable(self.document, self.schema, value)

    def patch(self, turn: int, random: Random) -> Any:
        """Return a merge patch of some fields, in the agent's names every other turn; `ABSENT` if none is known."""
        value = sample(self.document, self.schema, turn)
        return _some(self.document, self.schema, value, random) if isinstance(value, dict) else ABSENT

    def params(self, patch: Any, *, are_wire: bool, tag: str = "") -> dict[str, Any]:
        """Return the parameters of a call with a patch, in the API's names or those that introspection shows."""
        entry, value = self.operation.row.shown_parameters["input"], placed({}, self.write_at, patch)
        agents = value if are_wire else _in_agents_names(self.operation.table.types, entry.schema, value)
        stated = {"if_match": tag} if tag and "if_match" in self.operation.params else {}  # where it is required
        return {**self.operation.params, **stated, "input": agents}


def _writable(document: Document, schema: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_writable(document, document.items(schema), item) for item in value]
    known = document.properties(schema)
    fields = value.items() if isinstance(value, dict) else ()
    kept = {name: _writable(document, known.get(name, {}), inner) for name, inner in fields
            if not document.is_marked(known.get(name, {}), "readOnly")}  # fmt: skip
    return kept if isinstance(value, dict) else value


def _some(document: Document, schema: Any, value: Any, random: Random) -> Any:
    """Return some fields of an object at each depth, and null for one that is removed, if none has to be there."""
    if not isinstance(value, dict):
        return value
    known, required = document.properties(schema), document.required(schema)
    chosen = [name for name in value if random.random() < _CHOSEN]
    removed = {name for name in chosen if random.random() < _REMOVED} - required
    inner = {name: _some(document, known.get(name, {}), value[name], random) for name in chosen}
    return inner | dict.fromkeys(removed)


def _in_agents_names(types: Types, schema: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    known = {wire: (name, inner) for name, (wire, inner) in shape_of(types, schema).properties.items()}
    pairs = ((known.get(wire, (wire, {})), inner) for wire, inner in value.items())
    return {name: _in_agents_names(types, inner, each) for (name, inner), each in pairs}


@dataclass
class Resource:
    """A resource that the API keeps: it answers reads, takes writes, and somebody else may write in between."""

    run: Run
    operation: Operation
    state: Any
    tag: str = ""
    other: Any = None
    drifts: Collection[str] = ()
    """The fields that the API changes with a write, whatever is written."""
    is_strict: bool = True
    shown: Mapping[str, Any] = field(default_factory=dict)
    """Fields that a read answers beside the state."""
    updated: Updated | None = None
    written: list[Arrived] = field(default_factory=list)

    def reply(self, request: Arrived) -> Reply | None:
        """Answer a request: another's write comes behind the first read."""
        api, update = self.run.api, self.operation.row.update
        names = () if update is None else (self.operation.name, update.read)
        row = api.row_of(request.method, request.path, request.api, names)
        if row is None or update is None or row.name not in names:
            return None
        usual = api.shape(row)
        if row.name == update.read:
            data = placed(usual.data, update.read_at, {**self.state, **self.shown, _REVISION: len(self.written)})
            reply = Reply.of(usual.status, data, **({"ETag": self.tag} if self.tag else {}))
            if self.other is not None:
                self.state, self.tag, self.other = self.other, self.tag and f'{self.tag[:-1]}-2"', None
            return reply
        if self.is_strict and request.headers.get("if-match", self.tag) != self.tag:
            return Reply.of(412, {"message": "somebody else was first"})
        self.written.append(request)
        self._keep(request, update)
        return usual

    def _keep(self, request: Arrived, update: Update) -> None:
        """Keep what replaces the resource, and change some fields besides."""
        body = at(request.data, steps_of(update.write_at)) if update.strategy == "put-merge" else None
        state = {**self.state, **body} if isinstance(body, dict) else self.state
        if self.updated is not None and isinstance(body, dict):
            named = {**dict.fromkeys(self.state), **body}
            state = body if self.updated.document.is_other(self.updated.schema, self.state, named) else state
        state = {name: value for name, value in state.items() if value is not None}  # which says the same
        self.state = {**state, **{name: f"{state[name]} drifts" for name in self.drifts}}


def _updates(run: Run) -> list[Updated]:
    """Return the updates that the model covers."""
    covered = []
    for operation in [item for item in run.callable if "input" in item.row.shown_parameters][:_MOST_UPDATES]:
        row, update, stated = operation.row, operation.row.update, run.documented(operation)
        schema = None if stated is None else schema_of(stated, row, "input")
        if stated is not None and update is not None and update.strategy == "json-patch":
            schema = stated.success[2]
        is_json = row.body is not None and "json" in row.body.content_type and not row.choices and not row.servers
        if update is not None and stated is not None and schema is not None and is_json and not update.undeclared:
            for step in steps_of(update.write_at):
                schema = stated.document.properties(schema).get(step, {})
            updated = Updated(operation, update.strategy, stated.document, schema, update.write_at, update.fills)
            covered.append(updated)
    return covered


@check("RT-3", "An update sends the named fields, and keeps the others", Category.ROUND_TRIP, "R-UPD-1")
async def updates_preserve(run: Run) -> None:
    """Update resources of random values by random patches, and compare the whole of what is written."""
    for operation in [item for item in run.callable if item.updates]:
        await _keep_fields(run, operation)
    for updated in [item for item in _updates(run) if item.strategy != "put"]:
        random = Random(7)  # noqa: S311 - the same each time, and nothing secret
        for turn in range(_ROUNDS):
            state, patch = updated.state(turn), updated.patch(turn + 1, random)
            if isinstance(state, dict) and patch and patch is not ABSENT:
                await _update(run, updated, state, patch, turn)


async def _keep_fields(run: Run, operation: Operation) -> None:
    """Keep as evidence the fields that an update does not name, as they are read behind it."""
    reader = operation.table.find((operation.row.update and operation.row.update.read) or "", "read")
    before, after = None if reader is None else await _read(run, operation, reader), await run.call(operation)
    is_written, after = after.ok, after if reader is None else await _read(run, operation, reader)
    named = {name for path, _ in values_of(operation.params["input"], "") for name in path.split(".")}
    preserved = {path: value for path, value in (before or after).fields.items() if is_written
                 and not any(step.isdigit() for step in path.split("."))  # a list is replaced as a whole
                 and path.rpartition(".")[2] not in named}  # fmt: skip
    if preserved:
        run.keep("update_preservation_tests", name=operation.name, preserved_fields=preserved, read_response=after)


async def _update(run: Run, updated: Updated, state: dict[str, Any], patch: Any, turn: int) -> None:
    """Update a resource, whose API changes a field besides every other turn."""
    operation, is_other, tag = updated.operation, turn % 2, '"v-7"'
    shown = updated.unwritten(turn, state) if updated.strategy == "put-merge" else {}
    state = {name: value for name, value in state.items() if name not in shown}
    free = [name for name, value in updated.writable(state).items() if isinstance(value, str) and name not in patch]
    resource = Resource(run, operation, state, tag, drifts=free[:is_other], shown=shown, updated=updated)
    with run.api.behaving(resource.reply):
        answer = await run.call(operation, updated.params(patch, are_wire=bool(is_other), tag=tag))
    if not resource.written:
        run.expect(answer.code.startswith("VALIDATION_"), operation, f"{patch} is not written")
        return
    sent: Any = _given(at(resource.written[-1].data, steps_of(updated.write_at)), patch)
    expected = patch
    if updated.strategy == "json-patch":
        sent, expected = operated(state, sent), patched(state, patch)
    if updated.strategy == "put-merge":
        sent = {name: value for name, value in sent.items() if name != _REVISION} if isinstance(sent, dict) else sent
        expected = replaced(updated.document, updated.schema, updated.writable(state), patch)
        _see_drifts(run, operation, resource, answer, updated.writable(state), sent)
    right = sent == expected or (updated.fills and _is_filled(sent, patch, state))
    run.expect(right, operation, f"of {json.dumps(state)} and {json.dumps(patch)} it makes {json.dumps(sent)}")


def _given(sent: Any, patch: Any) -> Any:
    """Return the body of an update, without an idempotency key that the adapter added."""
    return (
        {name: sent[name] for name in sent if name in patch or not is_filled(name)}
        if isinstance(sent, dict) and isinstance(patch, dict)
        else sent
    )


def _see_drifts(run: Run, operation: Operation, resource: Resource, answer: Answer, state: Any, sent: Any) -> None:
    """See that an update which is done warns of what changed besides; of another, or of an alternative, it cannot."""
    is_done = (
        answer.ok and operation.row.long_running is None and (not isinstance(sent, dict) or state.keys() <= sent.keys())
    )
    right = not is_done or ("FIELDS_CHANGED" in answer.warned) == bool(resource.drifts)
    run.expect(right, operation, f"{resource.drifts} changed besides, and it warns of {answer.warned}")


async def _read(run: Run, operation: Operation, reader: Row) -> Answer:
    """Return the answer of the read of what an operation updates."""
    shared = {name: value for name, value in operation.params.items() if name in reader.shown_parameters}
    return await run.call(Operation(reader, operation.table), shared)


def is_told(answer: Answer, params: Mapping[str, Any]) -> bool:
    """Return True if an answer names what somebody else changed; to a call that gives a version, that it is another."""
    names = ("if_match" in params, answer.details.get("changed_fields"))
    return answer.code == "CONFLICT_VERSION_MISMATCH" and any(names)


@check("RT-4", "An update that somebody else overtook writes nothing", Category.ROUND_TRIP, "R-UPD-2")
async def updates_notice_changes(run: Run) -> None:
    """Let somebody else write a resource behind the reading, of an API with versions and of one without."""
    for updated in _updates(run):
        operation, states = updated.operation, [updated.state(turn) for turn in range(8)]
        state, patch = states[0], updated.patch(1, Random(7))  # noqa: S311
        others = [item for item in states if item != state]
        if updated.strategy != "put-merge" or not isinstance(patch, dict) or not (patch and others):
            continue
        params = updated.params(patch, are_wire=True)
        for tag in ("", '"v-1"'):
            resource = Resource(run, operation, state, tag, others[0])
            with run.api.behaving(resource.reply):
                answer = await run.call(operation, params)
            if answer.code.startswith("VALIDATION_"):
                continue
            right = not answer.ok and not resource.written
            run.expect(right, operation, f"overwrites a concurrent change, with the version {tag!r}")
            run.expect(is_told(answer, params), operation, f"does not name the concurrent change: {answer.code}")
        if "if_match" in operation.row.adapter_parameters:
            resource = Resource(run, operation, state, '"v-1"', is_strict=False)
            with run.api.behaving(resource.reply):
                answer = await run.call(operation, {**params, "if_match": '"v-0"'})
            run.expect(not answer.ok and not resource.written, operation, "writes over another version than if_match")
