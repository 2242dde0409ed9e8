# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operation table: one row an operation, five files, read when first needed (R-INT-7).

`adapter.json` says what the adapter is; `operations/<family>.json` hold the rows by name; `types.json` holds the API's
types as JSON Schemas of dialect 2020-12 under the agent's names. Everything the adapter does is read from here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["FAMILIES", "OWN", "Adapter", "Body", "JsonSchema", "Parameter", "Row", "Table"]

JsonSchema: TypeAlias = Mapping[str, Any]
OWN = "adapter"
FAMILIES = ("create", "read", "update", "delete", "execute")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation: `name` is the agent's, `wire` the API's.

    `location` is path, query, querystring (the whole query), header, cookie, body (a field of the body, or the whole
    body), body_rest (an object whose keys are further fields of the body), or adapter: sent nowhere, the adapter itself
    acts on it. `headers` and `xml` are of a field's part in a multipart form; `fields` tells, of a parameter that is a
    form itself, how single fields are written, by the API's names.
    """

    name: str
    wire: str
    location: str
    required: bool
    schema: JsonSchema
    description: str
    deprecated: bool
    sensitive: bool
    style: str
    explode: bool
    allow_reserved: bool
    content_type: str | None
    headers: Mapping[str, str] = field(default_factory=dict)
    xml: Mapping[str, Any] | None = None
    fields: Mapping[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """How the body is made: of `fields` (every parameter in body), or `whole` (the value of `parameter`).

    `fields` tells, of a form made of a whole, how single fields are written, by the API's names. `xml` are the hints of
    a body in XML.
    """

    content_type: str
    required: bool
    shape: str
    parameter: str | None
    schema: JsonSchema
    validate: bool
    fields: Mapping[str, Parameter] = field(default_factory=dict)
    xml: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One operation. `responses` maps a status, a range such as `2XX` or `default` to its content type and schema.

    `deprecation` has what the document tells of it: replacement, removal_date, migration_guide. `confirmation` is what
    the adapter's owner wants to be told before the call; "" leaves it to the summary. `pagination`, where the adapter
    pages, `update`, `idempotency` and `long_running` are what the generator found of them. `scopes` are what it asks of
    its security schemes where it names its own; else the adapter's hold. `etag` says that an update asks for the ETag
    of what is read. `relative` is the canonical verb that the verb is a kind of, "" where it is one itself. `own` names
    the parameters that the adapter acts on itself, `hidden` those that are accepted and not shown, since others stand
    for them. `headers` are sent as they stand. `heads` says that responses name headers that are told in `_meta`.
    """

    name: str
    family: str
    summary: str
    description: str
    method: str
    path: str
    resource: str
    danger: str
    deprecated: bool
    parameters: Mapping[str, Parameter]
    aliases: Mapping[str, str]
    body: Body | None
    responses: Mapping[str, Mapping[str, Any]]
    returns: Mapping[str, str]
    example: Mapping[str, Any] | None
    security: tuple[tuple[str, ...], ...] | None
    servers: tuple[Mapping[str, Any], ...]
    deprecation: Mapping[str, str] = field(default_factory=dict)
    scopes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    confirmation: str = ""
    verb: str = ""
    relative: str = ""
    pagination: Mapping[str, Any] | None = None
    update: Mapping[str, Any] | None = None
    idempotency: Mapping[str, Any] | None = None
    long_running: Mapping[str, Any] | None = None
    etag: bool = False
    own: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict)
    heads: bool = False

    @property
    def category(self) -> str:
        """The semantic category: CREATE, READ, UPDATE, DELETE or EXECUTE."""
        return self.family.upper()


@dataclass(frozen=True, slots=True)
class Adapter:
    """What `adapter.json` says: identity, servers, security, and how many operations each family has."""

    name: str
    package: str
    title: str
    description: str
    version: str
    api_version: str
    spec_version: str
    field_case: str
    servers: tuple[Mapping[str, Any], ...]
    security: tuple[tuple[str, ...], ...]
    security_schemes: Mapping[str, Mapping[str, Any]]
    counts: Mapping[str, int]
    quick_start: Mapping[str, str]
    scopes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Adapter:
        """Read `adapter.json` of a package folder. Raises OSError or KeyError when the project is damaged."""
        raw = json.loads((folder / "adapter.json").read_bytes())
        return cls(
            name=raw["name"],
            package=raw["package"],
            title=raw["title"],
            description=raw["description"],
            version=raw["version"],
            api_version=raw["api_version"],
            spec_version=raw["spec_version"],
            field_case=raw["field_case"],
            servers=tuple(raw["servers"]),
            security=tuple(tuple(one) for one in raw["security"]),
            security_schemes=raw["security_schemes"],
            counts=raw["counts"],
            quick_start=raw["quick_start"],
            scopes=raw.get("scopes", {}),
        )


class Table:
    """The rows and the types, each file read at its first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._families: dict[str, dict[str, dict[str, Any]]] = {}
        self._rows: dict[str, Row] = {}

    def raw(self, family: str) -> Mapping[str, Mapping[str, Any]]:
        """Give the rows of one family as they stand in its file, by name, in order."""
        rows = self._families.get(family)
        if rows is None:
            rows = self._families[family] = json.loads((self._folder / "operations" / f"{family}.json").read_bytes())
        return rows

    def names(self) -> Iterator[tuple[str, str]]:
        """Give every (name, family), family by family."""
        return ((name, family) for family in FAMILIES for name in self.raw(family))

    def find(self, name: str, first: str | None = None) -> Row | None:
        """Give the row of that name, looking into family `first` before the others; None when there is none."""
        row = self._rows.get(name)
        if row is not None:
            return row
        for family in sorted(FAMILIES, key=lambda one: one != first):
            raw = self.raw(family).get(name)
            if raw is not None:
                row = self._rows[name] = _row(name, family, raw)
                return row
        return None

    @cached_property
    def types(self) -> Mapping[str, JsonSchema]:
        """The API's types by name."""
        types: dict[str, JsonSchema] = json.loads((self._folder / "types.json").read_bytes())
        return types


def _parameter(name: str, raw: Mapping[str, Any]) -> Parameter:
    location = raw["in"]
    style = raw.get("style", "form" if location in ("query", "cookie") else "simple")
    return Parameter(
        name=name,
        wire=raw.get("name", name),
        location=location,
        required=raw.get("required", False),
        schema=raw.get("schema", {}),
        description=raw.get("description", ""),
        deprecated=raw.get("deprecated", False),
        sensitive=raw.get("sensitive", False),
        style=style,
        explode=raw.get("explode", style == "form"),
        allow_reserved=raw.get("allow_reserved", False),
        content_type=raw.get("content_type"),
        headers=raw.get("headers", {}),
        xml=raw.get("xml"),
        fields={key: _parameter(key, {"in": "body", **one}) for key, one in raw.get("fields", {}).items()},
    )


def _row(name: str, family: str, raw: Mapping[str, Any]) -> Row:
    pagination = raw.get("pagination", {})
    behind = pagination.get("parameters")  # absent where the adapter does not page
    parameters = {key: _parameter(key, value) for key, value in (raw["parameters"] | (behind or {})).items()}
    wires = [parameter.wire for parameter in parameters.values()]
    body = raw.get("body")
    security = raw.get("security")
    return Row(
        name=name,
        family=family,
        summary=raw["summary"],
        description=raw.get("description", raw["summary"]),
        method=raw["method"],
        path=raw["path"],
        resource=raw["resource"],
        danger=raw["danger"],
        deprecated=raw.get("deprecated", False),
        parameters=parameters,
        aliases={
            parameter.wire: parameter.name
            for parameter in parameters.values()
            if parameter.wire not in parameters and wires.count(parameter.wire) == 1
        },
        body=None
        if body is None
        else Body(
            content_type=body["content_type"],
            required=body.get("required", False),
            shape=body["shape"],
            parameter=body.get("parameter"),
            schema=body.get("schema", {}),
            validate=body.get("validate", False),
            fields={key: _parameter(key, {"in": "body", **one}) for key, one in body.get("fields", {}).items()},
            xml=body.get("xml"),
        ),
        responses=raw.get("responses", {}),
        returns=raw["returns"],
        example=raw.get("example"),
        security=None if security is None else tuple(tuple(one) for one in security),
        servers=tuple(raw.get("servers", ())),
        deprecation=raw.get("deprecation", {}),
        scopes=raw.get("scopes", {}),
        confirmation=raw.get("confirmation", ""),
        verb=raw.get("verb", ""),
        relative=raw.get("relative", ""),
        pagination=None if behind is None else pagination,
        update=raw.get("update"),
        idempotency=raw.get("idempotency"),
        long_running=raw.get("long_running"),
        etag=raw.get("etag", False),
        own=frozenset(name for name, one in parameters.items() if one.location == OWN),
        hidden=frozenset(behind or ()),
        headers=raw.get("headers", {}),
        heads=any("headers" in one for one in raw.get("responses", {}).values()),
    )
