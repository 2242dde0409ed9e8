# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Updates (R-UPD-2): as the patch that the API takes, or read, merged (RFC 7396, RFC 6902) and written as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..encode.styles import as_json
from ..encode.urls import paired_placeholders
from ..errors import NOT_PERFORMED, Code, Failure
from ..exact_json import read_float
from ..schema.reader import Types, nullable, shape_of, union_of
from ..table import JsonSchema
from ..text import folded, line, shown

if TYPE_CHECKING:
    from ..table import Row, Table
    from ..wire import ApiRequest, ApiResponse
    from .exchanges import Exchanges

__all__ = ["Plan", "differences", "merged", "operations", "perform", "prepare", "writable"]


_DEEPEST = 40


def merged(there: Any, change: Any) -> Any:
    """Return a copy of what is there with the change merged in; an object that was not there loses its nulls."""
    if not isinstance(change, dict):
        return change
    whole = dict(there) if isinstance(there, dict) else {}
    for key, value in change.items():
        if value is None:
            whole.pop(key, None)
        else:
            whole[key] = merged(whole.get(key), value)
    return whole


def differences(before: Any, after: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations that turn one value into the other (RFC 6902)."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before != after:
            yield {"op": "replace", "path": path, "value": after}
        return
    for key, value in before.items():
        if key not in after:
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        else:
            yield from differences(value, after[key], f"{path}/{_escaped(key)}")
    for key, value in after.items():
        if key not in before:
            yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}


def operations(change: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations of a change to what is not known: `add` replaces what may be there."""
    for key, value in change.items():
        here = f"{path}/{_escaped(key)}"
        if value is None:
            yield {"op": "remove", "path": here}
        elif isinstance(value, dict) and value:
            yield from operations(value, here)
        else:
            yield {"op": "add", "path": here, "value": value}


def writable(types: Types, value: Any, written: JsonSchema, read: JsonSchema, depth: int = 0) -> Any:
    """Return what was read without what cannot be written: fields that only `read` declares, and refused nulls.

    A field that neither schema declares stays: nothing of it may be lost.
    """
    if depth > _DEEPEST or not isinstance(value, (dict, list)):
        return value
    target, source = union_of(types, written), union_of(types, read)
    if isinstance(value, list):
        items, read_items = next(iter(target.items), {}), next(iter(source.items), {})
        return [writable(types, item, items, read_items, depth + 1) for item in value] if items else value
    if not target.properties:
        return value
    by_wire = {wire: (name, schema) for name, (wire, schema) in target.properties.items()}
    read_schemas = dict(source.properties.values())
    hidden = {folded(name) for name in target.hidden}
    kept: dict[str, Any] = {}
    for key, inner in value.items():
        if key in by_wire:
            name, schema = by_wire[key]
            if inner is not None or name in target.required or nullable(schema, types):
                kept[key] = writable(types, inner, schema, read_schemas.get(key, {}), depth + 1)
        elif key not in read_schemas and folded(key) not in hidden:
            kept[key] = inner
    return kept


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class Plan:
    """How one operation updates: `reader` is the operation that reads first, `patches` says that JSON Patch is sent."""

    row: Row
    table: Table
    reader: Row | None
    named: Mapping[str, str]
    patches: bool

    def reading(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of the reader."""
        return {name: params[parameter] for name, parameter in self.named.items() if parameter in params}

    def operations(self, change: Any) -> Any:
        """Return the operations of a change to a resource that was not read."""
        return list(operations(change)) if self.patches and isinstance(change, dict) else change

    def body(self, there: Any, change: Any) -> Any:
        """Return the body that makes the change. Raises Failure when the whole lacks what is required."""
        if not isinstance(there, dict):  # nothing to merge into: what is sent is the whole
            self._check(change)
            return self.operations(change)
        if self.patches:
            return list(differences(there, merged(there, change)))
        body, reader = self.row.body, self.reader
        assert body is not None and reader is not None  # noqa: S101, PT018 - prepared so
        schema = _answer(reader)
        whole = merged(writable(self.table.types, there, body.schema, schema), change)
        self._check(whole)
        return whole

    def _check(self, whole: Mapping[str, Any]) -> None:
        body = self.row.body
        if self.patches:
            return
        shape = shape_of(self.table.types, {} if body is None else body.schema)
        missing = [
            f"input.{name}"
            for name in shape.properties
            if name in shape.required and shape.properties[name][0] not in whole
        ]
        if missing:
            names = ", ".join(f"'{name}'" for name in missing)
            details = {"param_name": missing[0], "operation": self.row.name, "missing_params": missing}
            raise Failure(Code.MISSING_PARAM, f"Missing required parameter {names}: the resource must have it", details)


def prepare(row: Row, table: Table) -> Plan:
    """Find out how an operation updates."""
    update = row.update
    patches = update is not None and update.strategy == "json-patch"
    reader, named = None, None
    if update is not None and update.reads_first:
        reader = table.find(update.read or "", "read")
        named = None if reader is None else _named(row, reader)
    if named is None:
        reader = None
    return Plan(row, table, reader, named or {}, patches)


def guarded(request: ApiRequest, etag: str) -> ApiRequest:
    """Return the request that is performed only if the resource still has this ETag (RFC 9110, 13.1.1)."""
    kept = tuple(header for header in request.headers if header[0].lower() != "if-match")
    return replace(request, headers=(*kept, ("If-Match", _header(etag))))


def patched(request: ApiRequest, plan: Plan, etag: str | None = None) -> ApiRequest:
    """Return the request of a change that is sent as operations on a resource that was not read."""
    return _with(request, plan.operations(_json(request.content)), etag)


async def perform(
    exchanges: Exchanges, row: Row, table: Table, params: Mapping[str, Any], etag: str | None
) -> ApiResponse:
    """Update, and return the API's answer. `etag` is the one that the caller expects the resource to have."""
    plan = prepare(row, table)
    change: Callable[[ApiRequest], ApiRequest] | None = None
    if plan.reader is not None:
        change = await _merging(exchanges, plan, params, etag)
    elif plan.patches:

        def change(request: ApiRequest) -> ApiRequest:
            return patched(request, plan, etag)

    elif etag is not None:

        def change(request: ApiRequest) -> ApiRequest:
            return guarded(request, etag)

    return await exchanges.send(row, params, change)


async def _merging(
    exchanges: Exchanges, plan: Plan, params: Mapping[str, Any], etag: str | None
) -> Callable[[ApiRequest], ApiRequest] | None:
    """Read, and return how the request changes. Raises Failure when the resource has another ETag than expected."""
    row, reader = plan.row, plan.reader
    assert reader is not None  # noqa: S101 - prepared so
    asked = json.loads(exchanges.api.build(row, params).content or b"null", parse_float=read_float)
    if not isinstance(asked, dict):
        wanted = etag  # operations are sent as they are
        return None if wanted is None else lambda request: guarded(request, wanted)
    reading = plan.reading(params)
    response = await exchanges.send(reader, reading)
    if isinstance(exchanges.api.decode(response, reader, reading), str):
        raise Failure(
            Code.INTERNAL_ERROR,
            f"Internal error: '{reader.name}' gave a text, no '{row.resource}' to merge into. Nothing was changed.",
            {"outcome": NOT_PERFORMED},
        )
    current = response.headers.get("etag")
    expected = etag or _declared(row, params)
    if current is not None and expected not in (None, "*") and _tag(str(expected)) != _tag(current):
        raise Failure(
            Code.VERSION_MISMATCH,
            f"Version mismatch: the resource is not of version {shown(expected)}. Read it again, then update it.",
            {"expected_version": expected, "actual_version": line(current, 200)},
        )
    if expected is None and current is not None and (not current.startswith("W/") or _matches_weakly(row)):
        etag = current  # a weak ETag never matches (RFC 9110, 13.1.1): it is sent only where the API says that it does
    there = _json(response.content)

    def change(request: ApiRequest) -> ApiRequest:
        return _with(request, plan.body(there, _json(request.content)), etag)

    return change


def _with(request: ApiRequest, body: Any, etag: str | None) -> ApiRequest:
    request = replace(request, content=as_json(body).encode())
    return request if etag is None else guarded(request, etag)


def _json(content: bytes | None) -> Any:
    try:
        return json.loads(content or b"null", parse_float=read_float)
    except ValueError:
        return None


def _declared(row: Row, params: Mapping[str, Any]) -> str | None:
    """Return the value of the API's own If-Match parameter."""
    for name, parameter in row.parameters.items():
        if parameter.location == "header" and parameter.wire.lower() == "if-match" and params.get(name) is not None:
            return str(params[name])
    return None


def _named(row: Row, reader: Row) -> dict[str, str] | None:
    """Map the reader's parameters to the update's that have the same value; None if a required one has none.

    Parameters of the path correspond by position, others by name and location.
    """
    placed = paired_placeholders(reader.path, row.path)
    names = {(parameter.location, parameter.wire): name for name, parameter in row.parameters.items()}
    named: dict[str, str] = {}
    for name, parameter in reader.parameters.items():
        location, wire = parameter.location, parameter.wire
        if location == "path":
            wire = placed.get(wire, wire)
        if (location, wire) in names and location != "adapter":
            named[name] = names[location, wire]
        elif parameter.required:
            return None
    return named


def _answer(reader: Row) -> Mapping[str, Any]:
    good = sorted(status for status in reader.responses if status.startswith("2"))
    schema = reader.responses[good[0]].get("schema") if good else None
    return schema if isinstance(schema, Mapping) else {}


def _matches_weakly(row: Row) -> bool:
    """Return True if the API says that it notices a change by the ETag, be it a weak one."""
    return row.update is not None and row.update.etag


def _tag(etag: str) -> str:
    return etag.strip().removeprefix("W/")


def _header(value: str) -> str:
    if any(character in value for character in "\r\n\0"):
        raise Failure(
            Code.INVALID_VALUE,
            "Parameter 'if_match' is sent as a header: it must not hold line breaks or control characters",
            {"param_name": "if_match"},
        )
    return value.strip()
