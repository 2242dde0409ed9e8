"""The operation table: plain data, one row an operation, from which everything the adapter does is read (R-INT-7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aqlgen.decide.decision import Alias, Category, Decision
from aqlgen.ir import Json

Schema = Mapping[str, Json]

FAMILIES = tuple(category.family for category in Category)

TRAITS = ("pagination", "update", "idempotency", "long_running")
"""The kinds of traits that stand in a row as they are."""


@dataclass(frozen=True, slots=True)
class TableParameter:
    """A parameter: `name` is the agent's, `wire` the API's. `location` may also be `body` or `body_rest`."""

    name: str
    wire: str
    location: str
    required: bool
    schema: Schema
    description: str = ""
    deprecated: bool = False
    sensitive: bool = False
    style: str | None = None
    explode: bool | None = None
    allow_reserved: bool = False
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of the field's part in a multipart form."""
    xml: Mapping[str, Json] | None = None
    """How the field's part of a multipart form is written, where that is XML."""
    fields: Mapping[str, Json] = field(default_factory=dict)
    """How single fields are written of a parameter that is a form itself, by the API's names."""

    def as_json(self) -> dict[str, Json]:
        """Give the entry as it stands in the table; what has its usual value is left out."""
        entry: dict[str, Json] = {"in": self.location}
        optional: tuple[tuple[str, Json, Json], ...] = (
            ("name", self.wire, self.name),
            ("required", self.required, False),
            ("style", self.style, None),
            ("explode", self.explode, None),
            ("allow_reserved", self.allow_reserved, False),
            ("content_type", self.content_type, None),
            ("headers", self.headers, {}),
            ("xml", self.xml, None),
            ("fields", self.fields, {}),
            ("deprecated", self.deprecated, False),
            ("sensitive", self.sensitive, False),
        )
        entry.update((key, value) for key, value, usual in optional if value != usual)
        entry["schema"] = self.schema
        if self.description:
            entry["description"] = self.description
        return entry


@dataclass(frozen=True, slots=True)
class TableBody:
    """How a body is made: shape `fields` of every parameter in the body, shape `whole` of one parameter's value."""

    content_type: str
    required: bool
    shape: str
    parameter: str | None
    schema: Schema
    validate: bool
    fields: Mapping[str, Json] = field(default_factory=dict)
    """How single fields of a form are written that is one parameter's value, by the API's names."""
    xml: Mapping[str, Json] | None = None

    def as_json(self) -> dict[str, Json]:
        """Give the entry as it stands in the table."""
        entry: dict[str, Json] = {"content_type": self.content_type, "shape": self.shape}
        if self.required:
            entry["required"] = True
        if self.parameter is not None:
            entry["parameter"] = self.parameter
        if self.validate:
            entry["validate"] = True
        if self.validate or self.shape == "whole":
            entry["schema"] = self.schema
        if self.fields:
            entry["fields"] = self.fields
        if self.xml is not None:
            entry["xml"] = self.xml
        return entry


@dataclass(frozen=True, slots=True)
class Row:
    """One operation of the adapter."""

    decision: Decision
    summary: str
    description: str
    parameters: tuple[TableParameter, ...]
    body: TableBody | None
    responses: Mapping[str, Mapping[str, Json]]
    returns: Mapping[str, str]
    example: Mapping[str, Json] | None
    mock: Mapping[str, Json] | None
    """The document's own example of the response: status, content type and body."""
    deprecation: Mapping[str, str] = field(default_factory=dict)
    """What is told of a deprecated operation: `replacement`, `removal_date`, `migration_guide`."""
    paging: tuple[TableParameter, ...] | None = None
    """The API's parameters that the adapter pages with, where it does; no call has to give one."""
    etag: bool = False
    """Whether an update asks for the ETag of what this operation reads."""

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.decision.name

    @property
    def family(self) -> str:
        """The endpoint family: `create`, `read`, …"""
        return self.decision.category.family

    def as_json(self) -> dict[str, Json]:
        """Give the row as it stands in the table, the keys in the order of a reader's questions."""
        decision, operation = self.decision, self.decision.operation
        row: dict[str, Json] = {"summary": self.summary}
        if self.description and self.description != self.summary:
            row["description"] = self.description
        row |= {"method": operation.method.upper(), "path": operation.path}
        if operation.operation_id is not None:
            row["operation_id"] = operation.operation_id
        if decision.override.aliases:
            row["aliases"] = [_alias(one) for one in decision.override.aliases]
        row |= {"resource": decision.resource, "verb": decision.verb}
        if decision.relative:
            row["relative"] = decision.relative
        row |= {
            "rule": decision.category_reason.rule,
            "confidence": round(decision.confidence, 2),
            "danger": decision.danger.value,
            "danger_reason": f"{decision.danger_reason.rule}: {decision.danger_reason.note}",
        }
        if decision.review_reasons:
            row["review"] = list(decision.review_reasons)
        if operation.deprecated or self.deprecation or operation.extensions.get("x-deprecated") is True:
            row["deprecated"] = True
        if self.deprecation:
            row["deprecation"] = self.deprecation
        row |= {one.kind: dict(one.value) for one in decision.traits if one.kind in TRAITS}
        if self.paging is not None:
            behind = {one.name: replace(one, required=False).as_json() for one in self.paging}
            row["pagination"] = {**row["pagination"], "parameters": behind}
            demanded = [one.name for one in self.paging if one.required]
            if demanded:
                row["pagination"]["demanded"] = demanded
        if self.etag:
            row["etag"] = True
        if decision.confirmation is not None:
            row["confirmation"] = decision.confirmation
        if operation.security is not None:
            row["security"] = [list(one) for one in operation.security]
        if operation.scopes:
            row["scopes"] = operation.scopes
        if operation.servers:
            row["servers"] = [{"url": one.url, "variables": one.variables} for one in operation.servers]
        fixed = {one.name.title(): one.fixed for one in operation.parameters if one.fixed is not None}
        if fixed:
            row["headers"] = fixed
        row["parameters"] = {parameter.name: parameter.as_json() for parameter in self.parameters}
        if self.body is not None:
            row["body"] = self.body.as_json()
        row |= {"responses": self.responses, "returns": self.returns}
        if self.example is not None:
            row["example"] = self.example
        return row


def _alias(alias: Alias) -> dict[str, Json]:
    return {"name": alias.name} | ({} if alias.until is None else {"until": alias.until.isoformat()})


@dataclass(frozen=True, slots=True)
class Table:
    """All rows by name, the types, and what `adapter.json` says."""

    rows: tuple[Row, ...]
    types: Mapping[str, Schema]
    adapter: Mapping[str, Json]

    def of(self, family: str) -> tuple[Row, ...]:
        """Give the rows of one family."""
        category = Category(family.upper())
        return tuple(row for row in self.rows if row.decision.category is category)
