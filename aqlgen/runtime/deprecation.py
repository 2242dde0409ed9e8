# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Warnings about what is deprecated, by the table and by the API's answers (R-WARN-2; warnings document, 4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from .aliases import Alias
from .notices import Notice
from .table import JsonSchema, Row, Table
from .text import line

__all__ = ["CODE", "Plan", "alias_notice", "headers_notice", "plan_of"]

CODE = "DEPRECATION_WARNING"
_SOON = 30
"""Days before the removal from which on it is urgent."""

_DEEPEST = 4
_MOST_ITEMS = 100
_LINK = re.compile(r'<([^<>]{1,500})>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)')
_REL = re.compile(r'\brel\s*=\s*"?([^";,]+)', re.IGNORECASE)


class Plan(NamedTuple):
    """What is deprecated in an operation: itself, parameters by name, and fields within the objects of parameters."""

    operation: bool
    parameters: frozenset[str]
    fields: Mapping[str, JsonSchema]

    def notices(self, row: Row, params: Mapping[str, Any], types: Table | None) -> Iterator[Notice]:
        """Give the warnings of one call."""
        if self.operation:
            yield _notice("operation", row.name, row.deprecation)
        for name in params.keys() & self.parameters:
            yield _notice("parameter", name, {})
        if types is not None:
            for name in params.keys() & self.fields.keys():
                for path in dict.fromkeys(_used(params[name], self.fields[name], types, name, 0)):
                    yield _notice("parameter", path, {})


def plan_of(row: Row, table: Table | None) -> Plan | None:
    """Give what is deprecated in an operation; None when nothing is, which is the rule."""
    parameters = frozenset(name for name, one in row.parameters.items() if one.deprecated)
    fields = {
        name: one.schema
        for name, one in row.parameters.items()
        if table is not None and one.location.startswith("body") and _holds(one.schema, table, set(), 0)
    }
    return Plan(row.deprecated, parameters, fields) if row.deprecated or parameters or fields else None


def alias_notice(alias: Alias) -> Notice:
    """Give the warning about an operation called by an old name of it."""
    removal = {} if alias.until is None else {"removal_date": alias.until.isoformat()}
    return _notice("operation", alias.name, {"replacement": alias.operation, **removal})


def headers_notice(row: Row, headers: Mapping[str, str]) -> Notice | None:
    """Give the warning of a `Deprecation` or `Sunset` header (RFC 9745, RFC 8594), with the removal date if told."""
    since = _since(headers.get("deprecation", ""))
    told = headers.get("sunset", "")
    removal = _day(told)
    if since is False or (since is None and removal is None):
        return None
    known = dict(row.deprecation)
    if removal is not None:
        known["removal_date"] = removal.isoformat()
    known.update(_links(headers.get("link", "")))
    if isinstance(since, date) and since > datetime.now(UTC).date() and not row.deprecated and removal is None:
        details = {"type": "operation", "deprecated_item": row.name, **known, "deprecation_date": since.isoformat()}
        return Notice(CODE, f"Operation '{row.name}' will be deprecated", "low", details)
    return _notice("operation", row.name, known)


def _notice(kind: str, name: str, known: Mapping[str, str]) -> Notice:
    details = {"type": kind, "deprecated_item": name, **known}
    return Notice(CODE, f"{kind.capitalize()} '{name}' is deprecated", _severity(known.get("removal_date")), details)


def _severity(removal: str | None) -> str:
    day = None if removal is None else _day(removal)
    if day is None:
        return "low"
    return "high" if day - datetime.now(UTC).date() <= timedelta(days=_SOON) else "medium"


def _since(value: str) -> date | bool | None:
    """Read a Deprecation header: `@` and seconds, an older draft's date or `true`; False means that it denies."""
    value = value.strip()
    if re.fullmatch(r"@[0-9]{1,11}", value):
        return datetime.fromtimestamp(int(value[1:]), UTC).date()
    if value.lower() in ("true", "?1"):
        return True
    if value.lower() in ("false", "?0"):
        return False
    return _day(value)


def _day(value: str) -> date | None:
    """Read an HTTP date or one of ISO 8601."""
    try:
        return date.fromisoformat(value.strip()[:10])
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _links(value: str) -> dict[str, str]:
    """Find the documentation and the successor in a Link header (RFC 8288; RFC 9745, 3; RFC 8594, 6; RFC 5829)."""
    found: dict[str, str] = {}
    for url, rest in _LINK.findall(value[:8192]):
        relation = _REL.search(rest)
        kinds = relation[1].lower().split() if relation else []
        if "deprecation" in kinds or ("sunset" in kinds and "migration_guide" not in found):
            found["migration_guide"] = line(url, 300)
        elif "successor-version" in kinds:
            found["replacement"] = line(url, 300)
    return found


def _holds(schema: JsonSchema, table: Table, seen: set[str], depth: int) -> bool:
    """Whether a schema has a deprecated field within it."""
    if depth > _DEEPEST or not isinstance(schema, Mapping):
        return False
    for key, one in _properties(schema, table, seen):
        if one.get("deprecated") is True and key is not None:
            return True
        if _holds(one, table, seen, depth + 1):
            return True
    return False


def _properties(schema: JsonSchema, table: Table, seen: set[str] | None) -> Iterator[tuple[str | None, JsonSchema]]:
    """Give the schemas one step inside: a property with its name, others with None; a type once if `seen` is given."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        if seen is None or name not in seen:
            if seen is not None:
                seen.add(name)
            yield None, table.types.get(name, {})
    for key, one in (schema.get("properties") or {}).items():
        if isinstance(one, Mapping):
            yield key, one
    for key in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(key) or ():
            if isinstance(one, Mapping):
                yield None, one
    if isinstance(schema.get("items"), Mapping):
        yield None, schema["items"]


def _used(value: Any, schema: JsonSchema, table: Table, path: str, depth: int) -> Iterator[str]:
    """Give the paths of the deprecated fields that a value has."""
    if depth > 3 * _DEEPEST:
        return
    if isinstance(value, list):
        for one in value[:_MOST_ITEMS]:
            items = schema.get("items")
            if isinstance(items, Mapping):
                yield from _used(one, items, table, path, depth + 1)
    for key, inner in _properties(schema, table, None):
        if key is None and inner is not schema.get("items"):
            yield from _used(value, inner, table, path, depth + 1)
        elif key is not None and isinstance(value, Mapping) and key in value:
            if inner.get("deprecated") is True:
                yield f"{path}.{key}"
            yield from _used(value[key], inner, table, f"{path}.{key}", depth + 1)
