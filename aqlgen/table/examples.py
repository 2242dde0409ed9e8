"""One call of an operation that really works, for introspection, the README and the generated tests (R-INT-4)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import jsonschema_rs

from aqlgen.ir import MISSING, Json, Operation
from aqlgen.table.model import TableBody, TableParameter
from aqlgen.table.values import ValueMaker


class ExampleMaker:
    """Makes the example call of operations; `types` are the adapter's finished types."""

    def __init__(self, types: Mapping[str, Mapping[str, Json]]) -> None:
        self._types = types
        self._values = ValueMaker(types)

    def example(
        self, operation: Operation, parameters: tuple[TableParameter, ...], body: TableBody | None
    ) -> Mapping[str, Json] | None:
        """Give the parameters of a call with all that is required, None when no valid one was found."""
        declared = {(one.location.value, one.name): one.example for one in operation.parameters}
        made: dict[str, Json] = {}
        for parameter in parameters:
            if not parameter.required:
                continue
            own = declared.get((parameter.location, parameter.wire), MISSING)
            for value in chain((own,), self._values.candidates(parameter.schema)):
                if value is not MISSING and self._valid(parameter.schema, value):
                    made[parameter.name] = value
                    break
            else:
                return None
        if body is not None and body.validate and body.required:
            return self._whole_body(parameters, body, made)
        return made

    def _whole_body(
        self, parameters: tuple[TableParameter, ...], body: TableBody, made: dict[str, Json]
    ) -> Mapping[str, Json] | None:
        """Complete a call whose fields also have to fit together."""
        fields = {parameter.wire: parameter for parameter in parameters if parameter.location == "body"}
        names = {parameter.name: parameter for parameter in fields.values()}
        fitting = (one for one in self._values.candidates(body.schema) if isinstance(one, dict))
        value = next((one for one in fitting if self._valid(body.schema, one)), None)
        if value is None:
            return None
        for key, one in value.items():
            parameter = names.get(key) or fields.get(key)
            if parameter is None:
                return None
            made.setdefault(parameter.name, one)
        return made

    def _valid(self, schema: Mapping[str, Json], value: Json) -> bool:
        """Whether a value fits; a schema that cannot be compiled refuses nothing."""
        if not schema:
            return True
        try:
            return jsonschema_rs.is_valid(self._closed(schema), value, validate_formats=True)
        except (ValueError, jsonschema_rs.ValidationError):
            return True

    def _closed(self, schema: Mapping[str, Json]) -> dict[str, Json]:
        """Give a schema with every type that it reaches."""
        reached: dict[str, Json] = {}
        waiting: list[Json] = [schema]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Mapping):
                reference = node.get("$ref")
                if isinstance(reference, str):
                    name = reference.rsplit("/", 1)[-1]
                    if name not in reached and name in self._types:
                        reached[name] = self._types[name]
                        waiting.append(self._types[name])
                waiting.extend(node.values())
            elif isinstance(node, list):
                waiting.extend(node)
        return {**schema, "types": reached} if reached else dict(schema)
