"""The operations of an adapter, as its table has them, and the calls that are made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqlgen.runtime.schema import resolve
from aqlgen.runtime.table import FAMILIES, Adapter, Parameter, Row, Table
from aqlgen.runtime.witness import Operation as Documented

_TEXT_RULES = ("pattern", "format", "maxLength", "allOf", "anyOf", "oneOf")


@dataclass(frozen=True)
class Operation:
    """An operation with its row of the table."""

    row: Row
    table: Table = field(repr=False)

    @property
    def name(self) -> str:
        """The name that agents call it by."""
        return self.row.name

    @property
    def family(self) -> str:
        """Its endpoint family."""
        return self.row.family

    @property
    def is_safe_read(self) -> bool:
        """True for a GET that is safe."""
        return self.row.method == "GET" and self.row.danger == "safe" and self.family == "read"

    @property
    def acts(self) -> bool:
        """True if a call may change something: all but reads, and a GET that is not safe."""
        return self.family != "read" or (self.row.method == "GET" and not self.is_safe_read)

    def always_is(self, levels: Iterable[str]) -> bool:
        """Return True if it is of one of these levels of danger, whatever a call of it carries."""
        carries = self.row.carries
        return self.row.danger in levels and (carries is None or not carries.places)

    @property
    def in_full(self) -> dict[str, Any]:
        """The parameter of a call for all fields, if it can choose them."""
        return {self.row.selector: "full"} if self.row.selector else {}

    @property
    def reads_first(self) -> bool:
        """True if the adapter reads what it updates before it writes."""
        return self.row.update is not None and self.row.update.reads_first

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of a call that is valid; none if none are known."""
        return dict(self.row.example or {})

    @property
    def updates(self) -> bool:
        """True for an update whose change stands in `input`."""
        return self.row.update is not None and isinstance(self.params.get("input"), dict)

    @property
    def required(self) -> list[str]:
        """The parameters that every call must give."""
        return [name for name, parameter in self.row.shown_parameters.items() if parameter.required]

    def schema(self, parameter: Parameter) -> Mapping[str, Any]:
        """Return the schema of a parameter, references followed at its top."""
        schema = resolve(parameter.schema, self.table.types) if parameter.schema else {}
        return schema if isinstance(schema, Mapping) else {}

    def secrets(self, stated: Documented | None) -> list[str]:
        """Return the parameters that the document calls passwords."""
        schemas = {} if stated is None else {name: schema_of(stated, self.row, name) for name in self.row.parameters}
        return [name for name, schema in schemas.items()
                if isinstance(schema, dict) and schema.get("format") == "password"]  # fmt: skip

    def takes_any_text(self, parameter: Parameter) -> bool:
        """Return True for a parameter of plain text."""
        schema = self.schema(parameter)
        return schema.get("type") == "string" and schema.keys().isdisjoint(("enum", "const", *_TEXT_RULES))


def operations_of(table: Table) -> list[Operation]:
    """Return every operation, family by family."""
    rows = (table.find(name, family) for family in FAMILIES for name in table.raw(family))
    return [Operation(row, table) for row in rows if row is not None]


def sampled(operations: list[Operation], count: int) -> list[Operation]:
    """Return at most `count` operations, spread evenly over the families; all of them for 0."""
    most = len(operations)
    return [operations[index * most // count] for index in range(count)] if 0 < count < most else operations


def security_of(adapter: Adapter, row: Row) -> Sequence[Sequence[str]]:
    """Return the alternatives of schemes by which an operation is called."""
    return adapter.of_api(row.api).security if row.security is None else row.security


def unserved(adapter: Adapter, row: Row) -> list[str]:
    """Return the schemes of which no credential can be given, if an operation cannot do without one of them."""
    schemes = adapter.security_schemes
    lacking = (
        [name for name in names if not schemes.get(name, {}).get("variables")] for names in security_of(adapter, row)
    )
    return min(lacking, key=len, default=[])


def schema_of(stated: Documented, row: Row, name: str) -> Any:
    """Return the schema that the document has for a parameter; None for one of the adapter's own."""
    parameter, document = row.parameters[name], stated.document
    body = stated.body("" if row.body is None else row.body.content_type)
    if parameter.location in ("path", "query", "header"):
        known = {(each.place, each.name): each.schema for each in stated.parameters}
        return known.get((parameter.location, parameter.wire))
    if row.body is None or body is None or parameter.location != "body" or parameter.content_type:
        return None
    if not re.search("json|form|text|xml|yaml", row.body.content_type):  # bytes
        return None
    return body.schema if row.body.parameter == name else document.properties(body.schema).get(parameter.wire, {})


def scalars(value: Any) -> list[str]:
    """Return the values within data as JSON, a number without its form: 1.0 is 1."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in scalars(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in scalars(inner)]
    return [json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)]
