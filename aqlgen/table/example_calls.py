"""Valid example calls for introspection, the README and the generated tests (R-INT-4), and the validation of values.

Validation compiles only the types that a value touches: the types of an adapter may all reach one another, and
compiling them all for each example would cost the square of their number.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import jsonschema_rs

from aqlgen.ir import MISSING, Json, Operation
from aqlgen.runtime.calls.resource import carried
from aqlgen.runtime.schema import agent_path, as_schema, at, references, schema_at, steps_of, union_of
from aqlgen.runtime.table import Body, JsonSchema, Parameter, Update, first_success
from aqlgen.runtime.validation.undeclared import Undeclared
from aqlgen.schemas import field_name
from aqlgen.table.model import DecidedRow
from aqlgen.table.sample_values import Schemas, ValueMaker, is_plain, name_of


class Checker:
    """Checks values against schemas of one adapter; `types` are its finished types by name."""

    def __init__(self, types: Schemas) -> None:
        self._types = types

    def valid(self, schema: Mapping[str, Json], value: Json) -> bool:
        """Return True if a value is valid; a schema that cannot be compiled accepts anything."""
        if not schema:
            return True
        if schema.get("contentEncoding") == "base64" and not _is_base64(value):
            return False
        try:
            return jsonschema_rs.is_valid(self._document(schema, value), value, validate_formats=True)
        except (ValueError, jsonschema_rs.ValidationError):
            return True

    def problem(self, schema: Mapping[str, Json], value: Json) -> str | None:
        """Return the reason why a value is invalid, None if it is valid."""
        if self.valid(schema, value):
            return None
        if schema.get("contentEncoding") == "base64" and not _is_base64(value):
            return "it is not base64"
        try:
            jsonschema_rs.validate(self._document(schema, value), value, validate_formats=True)
        except jsonschema_rs.ValidationError as error:
            return str(error.message)
        return None

    def _document(self, schema: Mapping[str, Json], value: Json) -> dict[str, Json]:
        """Return a schema with the types that the value touches; any other type accepts anything."""
        touched: dict[str, Json] = {}
        todo: list[tuple[Json, Json]] = [(schema, value)]
        seen: set[tuple[int, int]] = set()
        while todo:
            node, part = todo.pop()
            if not isinstance(node, Mapping) or (id(node), id(part)) in seen:
                continue
            seen.add((id(node), id(part)))
            if "$ref" in node:
                name = name_of(node["$ref"])
                touched[name] = self._types.get(name, {})
                todo.append((touched[name], part))
            todo += _within(node, part)
        named = {name for written in (schema, *touched.values()) for name in references(written)}
        types = {name: touched.get(name, {}) for name in named}
        return {**schema, "types": types} if types else dict(schema)


def _within(node: Mapping[str, Json], value: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the subschemas, each with the part of the value that it applies to."""
    yield from ((subschema, value) for key in ("allOf", "anyOf") for subschema in node.get(key, ()))
    if isinstance(value, dict):
        properties = node.get("properties", {})
        rest = [node.get(key) for key in ("additionalProperties", "unevaluatedProperties")]
        rest += node.get("patternProperties", {}).values()
        for name, part in value.items():
            if name in properties:
                yield properties[name], part
            yield from ((subschema, part) for subschema in rest)
    elif isinstance(value, list):
        listed = node.get("prefixItems", ())
        yield from zip(listed, value, strict=False)
        yield from ((node.get("items"), part) for part in value)


def _is_base64(value: Json) -> bool:
    """Return True if a value is text in base64 (RFC 4648, 4), which no schema keyword checks."""
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True) is not None
    except ValueError:
        return False


EMPTY: tuple[Json, ...] = ("", ".", "..", [], {}, None)
WRITES = frozenset({"post", "put", "patch"})
WRITTEN = frozenset({"body", "body_rest", "query", "querystring"})
FILLED, SHOWN = 2, 4
"""How many fields an example has of a write that requires none: of its plain ones, and of the document's example."""
LONGEST = 300
"""Characters of the value of such a field."""
LONGEST_REQUIRED = 1000
"""Characters of a required value, where there is a shorter one."""


def leads_away(value: Json) -> bool:
    """Return True for a value that no segment of a path can have: nothing, or a step to here or above."""
    return value in EMPTY or (isinstance(value, str) and not {".", ".."}.isdisjoint(value.split("/")))


def _documented_values(operation: Operation, body: Body | None, body_example: Json) -> dict[tuple[str, str], Json]:
    """Return the document's own examples by location and name."""
    values = {(parameter.location.value, parameter.name): parameter.example for parameter in operation.parameters}
    if body is not None and body.parameter is not None:
        values["body", body.parameter] = body_example
    elif isinstance(body_example, dict):
        values |= {("body", wire): value for wire, value in body_example.items()}
    return values


class ExampleMaker:
    """Makes the example calls of operations; `types` are the adapter's finished types."""

    def __init__(self, types: Mapping[str, Mapping[str, Json]]) -> None:
        self._types = types
        self._values = ValueMaker(types)
        self._undeclared = Undeclared(types)
        self._made: dict[tuple[int, int, bool, str], tuple[JsonSchema, Json]] = {}
        checker = Checker(types)
        self.answer = self._values.answer
        self._valid = checker.valid
        self.problem = checker.problem

    def example(
        self,
        operation: Operation,
        parameters: tuple[Parameter, ...],
        body: Body | None,
        body_example: Json,
        stated_values: Mapping[str, Json] | None = None,
    ) -> Mapping[str, Json] | None:
        """Return the parameters of a call with all that is required, None if there is no valid one.

        A write that requires nothing to write has the fields of the document's example, or its first plain ones.
        `body_example` is the document's own example of the body, by the API's names, or MISSING. `stated_values`
        are values that parameters must have, by their names.
        """
        declared = _documented_values(operation, body, body_example)
        call = self._demanded(parameters, stated_values or {}, declared)
        if MISSING in call.values():
            return None
        empty = operation.method in WRITES and not any(
            parameter.name in call for parameter in parameters if parameter.location in WRITTEN
        )
        if body is not None and body.validate and (body.required or empty):
            whole = self._whole_body(parameters, body, dict(call), FILLED if empty else 0)
            return whole if body.required or whole else call
        return {**call, **self._filled(parameters, declared)} if empty else call

    def _demanded(
        self, parameters: Iterable[Parameter], stated: Mapping[str, Json], declared: Mapping[tuple[str, str], Json]
    ) -> dict[str, Json]:
        """Return the parameters whose values are stated, and the required ones; MISSING where no valid one is found."""
        call: dict[str, Json] = {}
        for parameter in parameters:
            if parameter.name in stated:
                call[parameter.name] = stated[parameter.name]
            elif parameter.required:
                call[parameter.name] = self._required(parameter, declared)
        return call

    def _required(self, parameter: Parameter, declared: Mapping[tuple[str, str], Json]) -> Json:
        """Return a value of a required parameter, MISSING if no valid one is found."""
        in_path = parameter.location == "path"
        least = 1 if in_path else FILLED if parameter.name == "input" else 0
        documented, schema = self._documented(parameter, declared), parameter.schema
        key = (id(schema), least, in_path, repr(documented))
        if key not in self._made:  # many operations share their parameters; a schema that is kept keeps its identity
            candidates = chain((documented,), self._values.candidates(schema, least))
            fitting = (value for value in candidates if not (in_path and leads_away(value)))
            self._made[key] = (schema, self._first(fitting, schema))
        return self._made[key][1]

    def value(self, schema: Mapping[str, Json]) -> Json:
        """Return a value of a schema, MISSING if no valid one is found."""
        return self._first(self._values.candidates(schema, 1), schema)

    def _first(self, values: Iterable[Json], schema: Mapping[str, Json]) -> Json:
        """Return the first valid value that is not very long, else the shortest valid one, MISSING if there is none."""
        shortest: Json = MISSING
        for value in values:
            if value is MISSING or not self._valid(schema, value):
                continue
            if len(str(value)) <= LONGEST_REQUIRED:
                return value
            if shortest is MISSING or len(str(value)) < len(str(shortest)):
                shortest = value
        return shortest

    def _filled(self, parameters: tuple[Parameter, ...], declared: Mapping[tuple[str, str], Json]) -> dict[str, Json]:
        """Return a few optional fields of a body, else of a query: the document's own, else plain ones, else the first.

        Fields that are deprecated or secret are left out.
        """
        for location in ("body", "query"):
            fields = [
                parameter
                for parameter in parameters
                if parameter.location == location and not parameter.deprecated and not parameter.sensitive
            ]
            shown = [
                parameter for parameter in fields if declared.get((location, parameter.wire), MISSING) is not MISSING
            ]
            plain = [parameter for parameter in fields if is_plain(parameter.wire, parameter.schema, self._types)]
            for choice, most in ((shown, SHOWN), (plain, FILLED), (fields, 1)):
                values = {
                    parameter.name: value
                    for parameter in choice[:most]
                    if (value := self._value(parameter, declared)) not in (*EMPTY, MISSING)
                }
                if values:
                    return values
        return {}

    def _value(self, parameter: Parameter, declared: Mapping[tuple[str, str], Json]) -> Json:
        """Return a valid value of a parameter, the document's own if it is short; MISSING if there is none."""
        candidates = chain((self._documented(parameter, declared),), self._values.candidates(parameter.schema, FILLED))
        for value in candidates:
            if value is not MISSING and self._valid(parameter.schema, value) and len(str(value)) <= LONGEST:
                return value
        return MISSING

    def _documented(self, parameter: Parameter, declared: Mapping[tuple[str, str], Json]) -> Json:
        """Return the document's own value of a parameter under the agent's names, MISSING if there is none."""
        value = self._by_agent(declared.get((parameter.location, parameter.wire), MISSING), parameter.schema)
        has_fields = parameter.name == "input" and union_of(self._types, parameter.schema).properties
        return MISSING if has_fields and value == {} else value

    def _whole_body(
        self, parameters: tuple[Parameter, ...], body: Body, call: dict[str, Json], least: int
    ) -> Mapping[str, Json] | None:
        """Complete a call whose fields also have to fit together, `least` of them where there are so many."""
        fields = {parameter.wire: parameter for parameter in parameters if parameter.location == "body"}
        names = {parameter.name: parameter for parameter in fields.values()}
        names |= {field_name(wire): parameter for wire, parameter in fields.items()}
        rest = next((parameter.name for parameter in parameters if parameter.location == "body_rest"), None)
        owners = {**fields, **names}
        known = {key: call[owner.name] for key, owner in owners.items() if owner.name in call}
        value = self._whole_value(body.schema, known, least)
        if value is MISSING:
            return None
        for key, part in value.items():
            parameter = owners.get(key)
            if parameter is not None:
                candidates = chain((part,), self._values.candidates(parameter.schema, 1))  # a file is written otherwise
                call[parameter.name] = self._first(candidates, parameter.schema)
            elif rest is not None:
                call[rest] = {**call.get(rest, {}), key: part}
            else:
                return None
        return None if MISSING in call.values() else call

    def _whole_value(self, schema: JsonSchema, known: Mapping[str, Json], least: int) -> Json:
        """Return a value of an object with what is known of its fields, where that fits the others."""
        values = (value for value in self._values.candidates(schema, least) if isinstance(value, dict))
        value = self._first(values, schema)
        mixed = value if value is MISSING else {key: known.get(key, part) for key, part in value.items()}
        return mixed if mixed is MISSING or self._valid(schema, mixed) else value

    def _by_agent(self, value: Json, schema: Mapping[str, Json]) -> Json:
        """Return a value under the agent's names, without what the adapter refuses: undeclared and read-only fields."""
        if not isinstance(value, (dict, list)):
            return value
        shape = union_of(self._types, schema)
        if isinstance(value, list):
            return [self._by_agent(item, shape.items[0]) for item in value] if shape.items else value
        by_wire = {wire: (name, declared) for name, (wire, declared) in shape.properties.items()}
        takes_others = not by_wire or self._undeclared.declared(schema).takes_others
        return {
            by_wire[wire][0] if wire in by_wire else wire: self._by_agent(
                part, by_wire[wire][1] if wire in by_wire else {}
            )
            for wire, part in value.items()
            if wire in by_wire or (takes_others and wire not in shape.hidden and field_name(wire) not in shape.hidden)
        }


def with_unfit_fields(rows: Iterable[DecidedRow], types: Schemas, maker: ExampleMaker) -> Iterator[DecidedRow]:
    """Yield the rows, each example with the fields without which the adapter would refuse it (R-UPD-1)."""
    by_name = {row.name: row for row in rows}
    for decided in by_name.values():
        update = decided.row.update
        reader = by_name.get(update.read or "") if update is not None and update.reads_first else None
        if update is None or reader is None or update.undeclared or decided.decision.override.example:
            yield decided
        else:
            yield _completed(decided, update, reader, types, maker)


def _completed(
    decided: DecidedRow, update: Update, reader: DecidedRow, types: Schemas, maker: ExampleMaker
) -> DecidedRow:
    row, body = decided.row, decided.row.body
    change = (row.example or {}).get("input")
    if body is None or not isinstance(change, dict):
        return decided
    steps = steps_of(update.write_at)
    written = schema_at(types, body.schema, agent_path(types, body.schema, update.write_at))
    whole: Mapping[str, Json] = change
    for path in _unfit(reader, update, written, types, maker):
        whole = _with_field(whole, (*steps, *path), body.schema, types, maker)
    if whole == change or maker.problem(row.parameters["input"].schema, whole) is not None:
        return decided
    return replace(decided, row=replace(row, example={**(row.example or {}), "input": whole}))


def _with_field(
    change: Mapping[str, Json], path: tuple[str, ...], schema: JsonSchema, types: Schemas, maker: ExampleMaker
) -> Mapping[str, Json]:
    """Return a change that also names what is at a path of the API's names; the same if there is no value for it."""
    fields = {wire: (name, inner) for name, (wire, inner) in union_of(types, schema).properties.items()}
    name, inner = fields.get(path[0], ("", {}))
    if not name:
        return change
    if name not in change:
        value = maker.value(inner)
    elif path[1:] and isinstance(change[name], dict):
        value = _with_field(change[name], path[1:], inner, types, maker)
    else:
        return change
    return change if value is MISSING else {**change, name: value}


def _unfit(
    reader: DecidedRow, update: Update, written: JsonSchema, types: Schemas, maker: ExampleMaker
) -> list[tuple[str, ...]]:
    """Return the paths of fields that are read in another form than they are written, by schema and by example."""
    answer = as_schema(first_success(reader.row.responses).get("schema"))
    read = schema_at(types, answer, agent_path(types, answer, update.read_at))
    example: Any = at(reader.mock.get("body"), steps_of(update.read_at))
    resources = [maker.answer(read), *([example] if isinstance(example, Mapping) else ())]
    unfit = (path for resource in resources for path in carried(types, resource, written, read).unfit)
    return list(dict.fromkeys(path.path for path in unfit if path.path))
