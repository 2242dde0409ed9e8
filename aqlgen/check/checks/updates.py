"""What is written arrives, and an update changes what it names and nothing else: after a model of RFC 7396 (3.4)."""

from __future__ import annotations

import json
from base64 import b64encode
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

from aqlgen.check.listing import placed
from aqlgen.check.operations import Operation, scalars
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply
from aqlgen.runtime.schema import at, resolve, shape_of, steps_of
from aqlgen.runtime.table import Table

_AWKWARD = 'a "b" \\ c\n\u221a \U0001f6b2 </d>'
_ROUNDS, _DEEPEST, _MOST_UPDATES = 6, 4, 40
_UNUSUAL = ("oneOf", "anyOf", "allOf", "not", "const", "pattern", "format", "multipleOf", "if", "contentEncoding",
            "uniqueItems", "additionalProperties", "x-const")  # fmt: skip


@check("RT-1", "What an operation is given arrives at the API unchanged", Category.ROUND_TRIP, "R-REQ-2")
async def writes_arrive(run: Run) -> None:
    """Send the bodies of the examples, and a text of characters that JSON escapes."""
    for operation in [item for item in run.callable if item.family != "read" and item.row.update is None]:
        row, params = operation.row, operation.params
        if row.body is None or row.choices or "json" not in row.body.content_type:
            continue
        fields = {name: row.parameters[name] for name in params if name in row.parameters}
        bodies = {
            name for name, item in fields.items() if item.location in ("body", "body_rest") and not item.content_type
        }
        answer = await run.call(operation)
        if answer.ok and run.arrived:
            sent = scalars(run.arrived[-1].data)
            missing = [value for name in bodies for value in scalars(params[name]) if value not in sent]
            run.expect(not missing, operation, f"these values do not arrive: {missing[:5]}")
        texts = [name for name, item in fields.items() if item.location == "body" and operation.takes_any_text(item)]
        for name in texts[:1]:
            answer = await run.call(operation, {**params, name: _AWKWARD})
            data = run.arrived[-1].data if answer.ok and run.arrived else _AWKWARD
            value = data.get(fields[name].wire) if isinstance(data, dict) else data
            run.expect(value == _AWKWARD, operation, f"{name} arrives as {value!r}")


# The reference model


def patched(target: Any, patch: Any) -> Any:
    """Return what a merge patch makes of a value (RFC 7396, 2)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def without_nulls(value: Any) -> Any:
    """Return a value without the fields that are null, which for an API that replaces is as if they were left out."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return value


class Pair(NamedTuple):
    """A value as the agent writes it, and as the API has it."""

    agent: Any
    api: Any


class Values:
    """Random values of schemas, the same ones each time."""

    def __init__(self, table: Table) -> None:
        self._types = table.types
        self._random = Random(7)  # noqa: S311 - nothing secret is made of it

    def value_of(self, schema: Any, depth: int = 0, *, partly: bool = False) -> Pair | None:
        """Return a value of a schema, None for a schema that is not simple; `partly` makes a patch of an object."""
        schema = resolve(schema, self._types)
        if not isinstance(schema, dict) or depth > _DEEPEST or any(schema.get(key) for key in _UNUSUAL):
            return None
        random, kind, values = self._random, schema.get("type"), schema.get("enum")
        kind = next((item for item in kind if item != "null"), None) if isinstance(kind, list) else kind
        value: Any = None
        if isinstance(values, list):
            value = random.choice([item for item in values if item is not None] or [None])
        elif kind == "string" and schema.get("minLength", 0) < 20:
            size = max(schema.get("minLength", 0), min(schema.get("maxLength", 8), random.randint(1, 8)))
            value = "".join(random.choices("abcxyz", k=size))
        elif kind in ("integer", "number") and not {"exclusiveMinimum", "exclusiveMaximum"} & schema.keys():
            least = int(schema.get("minimum", 0)) + (kind == "number")
            most = int(schema.get("maximum", least + 90))
            value = random.randint(least, most) if least <= most else None
        elif kind == "boolean":
            value = random.random() < 0.5
        elif kind == "array":
            items = [self.value_of(schema.get("items"), depth + 1) for _ in range(max(2, schema.get("minItems", 0)))]
            known = [item for item in items if item is not None][: schema.get("maxItems")]
            return Pair([item.agent for item in known], [item.api for item in known]) if all(items) else None
        elif kind == "object" or "properties" in schema:
            return self.object(schema, depth, partly=partly)
        return None if value is None else Pair(value, value)

    def object(self, schema: Any, depth: int = 0, *, partly: bool = False) -> Pair | None:
        """Return an object of a schema, or a patch of one: some fields, and null where it removes one."""
        shape = shape_of(self._types, schema)
        agent, api = dict[str, Any](), dict[str, Any]()
        for name, (wire, inner) in shape.properties.items() if not shape.alternatives else ():
            chance = self._random.random()
            pair = self.value_of(inner, depth + 1, partly=partly and chance < 0.8)
            is_needed = bool({name, wire} & shape.required)
            is_unread = not partly and isinstance(inner, dict) and inner.get("writeOnly") is True
            if pair is None or is_unread or (partly and chance > 0.6 and not is_needed):
                continue
            is_removed = partly and chance < 0.2 and not is_needed and name not in shape.hidden
            agent[name], api[wire] = (None, None) if is_removed else pair
        return Pair(agent, api) if agent else None


class Resource:
    """A resource that the API keeps: it answers reads, takes writes, and somebody else may write in between."""

    def __init__(self, run: Run, operation: Operation, state: Any, tag: str = "", other: Any = None) -> None:
        self._run = run
        self._operation = operation
        self._other = other
        self.state = state
        self.tag = tag
        self.written: list[Arrived] = []

    def reply(self, request: Arrived) -> Reply | None:
        """Answer a request: another's write comes behind the first read."""
        operation, api = self._operation, self._run.api
        row, update = api.row_of(request.method, request.path, request.api), operation.row.update
        if row is None or update is None or row.name not in (operation.name, update.read):
            return None
        usual = api.shape(row)
        if row.name == update.read:
            data = placed(usual.data, update.read_at, self.state)
            reply = Reply.of(usual.status, data, **({"ETag": self.tag} if self.tag else {}))
            if self._other is not None:
                self.state, self.tag, self._other = self._other, self.tag and f'{self.tag[:-1]}-2"', None
            return reply
        if request.headers.get("if-match", self.tag) != self.tag:
            return Reply.of(412, {"message": "somebody else was first"})
        self.written.append(request)
        return usual


def _updates(run: Run) -> list[tuple[Operation, Any]]:
    """Return the updates that the model covers, of JSON and with a schema, each with that schema."""
    covered = []
    for operation in [item for item in run.callable if item.updates][:_MOST_UPDATES]:
        row, update = operation.row, operation.row.update
        entry = row.shown_parameters.get("input")
        is_json = row.body is not None and "json" in row.body.content_type and not row.choices
        if update is not None and entry is not None and is_json and not update.undeclared and not row.servers:
            covered.append((operation, entry.schema))
    return covered


@check("RT-3", "An update sends what it names, and keeps what it does not", Category.ROUND_TRIP, "R-UPD-1")
async def updates_preserve(run: Run) -> None:
    """Update resources of random values by random patches, and compare the whole of what is written."""
    for operation in [item for item in run.callable if item.updates]:
        run.api.forget()
        answer = await run.call(operation)
        for request in run.writes(operation)[-1:] if answer.ok else ():
            written = _written(request)
            lost = [value for value in scalars(operation.params["input"])
                    if value not in written and f'"{value}"' not in written]  # fmt: skip
            run.expect(not lost, operation, f"these values do not arrive: {lost[:5]}")
        reader = operation.table.find((operation.row.update and operation.row.update.read) or "", "read")
        if answer.ok and not answer.fields and reader is not None:
            shared = {name: value for name, value in operation.params.items() if name in reader.shown_parameters}
            answer = await run.call(Operation(reader, operation.table), shared)
        if answer.fields:
            run.keep("update_preservation_tests", name=operation.name, preserved_fields=answer.fields,
                     read_response=answer)  # fmt: skip
    for operation, schema in _updates(run):
        update, values = operation.row.update, Values(operation.table)
        if update is None or update.strategy not in ("put-merge", "merge-patch", "patch"):
            continue
        for _ in range(_ROUNDS):
            state, patch = values.object(schema), values.object(schema, partly=True)
            if state is None or patch is None or shape_of(operation.table.types, schema).required - patch.agent.keys():
                continue
            resource = Resource(run, operation, state.api, tag='"v-7"')
            with run.api.behaving(resource.reply):
                answer = await run.call(operation, {**operation.params, "input": patch.agent})
            if not resource.written:
                run.expect(answer.code.startswith("VALIDATION_"), operation, f"{patch.agent} is not written")
                continue
            sent: Any = at(resource.written[-1].data, steps_of(update.write_at))
            expected = patch.api
            if update.strategy == "put-merge":
                sent, expected = without_nulls(sent), without_nulls(patched(state.api, patch.api))
            right = sent == expected or (update.fills and expected.items() <= sent.items())
            text = f"of {json.dumps(state.api)} and {json.dumps(patch.api)} it makes {json.dumps(sent)}"
            run.expect(right, operation, text)


def _written(request: Arrived) -> list[str]:
    """Return the values that a request writes, as JSON: of its body, or of a form, whose parts can be JSON or files."""
    written = [*scalars(request.data), *(json.dumps(text) for text in request.texts)]
    for _, text in request.form:
        written.append(json.dumps(b64encode(text.encode()).decode()))  # as the agent gave a file
        with suppress(ValueError):
            written += scalars(json.loads(text))
    return written


@check("RT-4", "An update that somebody else overtook writes nothing", Category.ROUND_TRIP, "R-UPD-2")
async def updates_notice_changes(run: Run) -> None:
    """Let somebody else write a resource behind the reading, of an API with versions and of one without."""
    for operation, schema in _updates(run):
        update, values = operation.row.update, Values(operation.table)
        if update is None or update.strategy != "put-merge":
            continue
        states = [values.object(schema) for _ in range(8)]
        state, patch = states[0], values.object(schema, partly=True)
        others = [item for item in states if item and state and item.api != state.api]
        if state is None or patch is None or not others:
            continue
        params = {**operation.params, "input": patch.agent}
        for tag in ("", '"v-1"'):
            resource = Resource(run, operation, state.api, tag, others[0].api)
            with run.api.behaving(resource.reply):
                answer = await run.call(operation, params)
            if answer.code.startswith("VALIDATION_"):
                continue
            right = not answer.ok and not resource.written
            run.expect(right, operation, f"overwrites what changed in between, with the version {tag!r}")
        if "if_match" in operation.row.adapter_parameters:
            resource = Resource(run, operation, state.api, '"v-1"')
            with run.api.behaving(resource.reply):
                answer = await run.call(operation, {**params, "if_match": '"v-0"'})
            run.expect(not answer.ok and not resource.written, operation, "writes over another version than if_match")
