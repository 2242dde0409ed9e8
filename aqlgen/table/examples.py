"""One call of an operation that really works, for introspection, the README and the generated tests (R-INT-4)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from aqlgen.ir import MISSING, Json, Operation
from aqlgen.runtime.table import Body, Parameter
from aqlgen.schemas import field_name
from aqlgen.table.checking import Checker, name_of
from aqlgen.table.values import ValueMaker

EMPTY: tuple[Json, ...] = ("", ".", "..", [], {}, None)


class ExampleMaker:
    """Makes the example call of operations; `types` are the adapter's finished types."""

    def __init__(self, types: Mapping[str, Mapping[str, Json]]) -> None:
        self._types = types
        self._values = ValueMaker(types)
        checker = Checker(types)
        self._valid = checker.valid
        self.problem = checker.problem

    def example(
        self,
        operation: Operation,
        parameters: tuple[Parameter, ...],
        body: Body | None,
        body_example: Json,
        given: Mapping[str, Json] | None = None,
    ) -> Mapping[str, Json] | None:
        """Give the parameters of a call with all that is required, None when no valid one was found.

        `body_example` is the document's own example of the body, by the API's names, or MISSING. `given` are values
        that parameters are to have, by their names.
        """
        given = given or {}
        declared = {(one.location.value, one.name): one.example for one in operation.parameters}
        if body is not None and body.parameter is not None:
            declared["body", body.parameter] = body_example
        elif isinstance(body_example, dict):
            declared |= {("body", wire): value for wire, value in body_example.items()}
        made: dict[str, Json] = {}
        for parameter in parameters:
            if parameter.name in given:
                made[parameter.name] = given[parameter.name]
                continue
            if not parameter.required:
                continue
            own = self._by_agent(declared.get((parameter.location, parameter.wire), MISSING), parameter.schema)
            least = 0
            in_path = parameter.location == "path"
            if parameter.name == "input":
                own, least = self._declared_fields(own, parameter.schema), 1
            for value in chain((own,), self._values.candidates(parameter.schema, 1 if in_path else least)):
                if in_path and value in EMPTY:  # a segment of a path has to say something
                    continue
                if value is not MISSING and self._valid(parameter.schema, value):
                    made[parameter.name] = value
                    break
            else:
                return None
        if body is not None and body.validate and body.required:
            return self._whole_body(parameters, body, made)
        return made

    def _whole_body(
        self, parameters: tuple[Parameter, ...], body: Body, made: dict[str, Json]
    ) -> Mapping[str, Json] | None:
        """Complete a call whose fields also have to fit together."""
        fields = {parameter.wire: parameter for parameter in parameters if parameter.location == "body"}
        names = {one.name: one for one in fields.values()}
        names |= {field_name(wire): one for wire, one in fields.items()}
        rest = next((parameter.name for parameter in parameters if parameter.location == "body_rest"), None)
        fitting = (one for one in self._values.candidates(body.schema) if isinstance(one, dict))
        value = next((one for one in fitting if self._valid(body.schema, one)), None)
        if value is None:
            return None
        for key, one in value.items():
            parameter = names.get(key) or fields.get(key)
            if parameter is not None:
                made.setdefault(parameter.name, one)
            elif rest is not None:
                made.setdefault(rest, {})[key] = one
            else:
                return None
        return made

    def _by_agent(self, value: Json, schema: Mapping[str, Json]) -> Json:
        """Give a value under the agent's names, without what only the server sets."""
        if "$ref" in schema:
            return self._by_agent(value, self._types.get(name_of(schema["$ref"]), {}))
        if isinstance(value, list):
            items = schema.get("items")
            return [self._by_agent(one, items) for one in value] if isinstance(items, Mapping) else value
        if not isinstance(value, dict):
            return value
        by_wire = {one.get("x-name", name): (name, one) for name, one in schema.get("properties", {}).items()}
        hidden = schema.get("x-read-only", ())
        return {
            by_wire[wire][0] if wire in by_wire else wire: self._by_agent(
                one, by_wire[wire][1] if wire in by_wire else {}
            )
            for wire, one in value.items()
            if wire not in hidden and field_name(wire) not in hidden
        }

    def _declared_fields(self, value: Json, schema: Mapping[str, Json]) -> Json:
        """Give an update's input without fields that its type does not declare, which the adapter refuses (R-UPD-1)."""
        known = self._types.get(name_of(str(schema.get("$ref", ""))), schema)
        properties = known.get("properties")
        if not isinstance(value, dict) or not properties or "allOf" in known or "anyOf" in known:
            return value
        return {name: one for name, one in value.items() if name in properties} or MISSING
