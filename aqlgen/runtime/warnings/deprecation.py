"""Warnings about deprecated operations, parameters and fields (R-WARN-2; warnings document, 4.2).

A deprecation is known from the table or from the API's answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from ..decode.headers import read_links
from ..envelope import CallWarning
from ..schema import union_of
from ..table import JsonSchema, Row, Table, encode
from ..text import line
from . import Deprecations

CODE = "DEPRECATION_WARNING"
_SOON = 30
"""Days before the removal from which on the warning is urgent."""

_DEEPEST = 12
_MOST_ITEMS = 100


def call_warnings(
    deprecated: Deprecations, row: Row, params: Mapping[str, Any], table: Table | None
) -> Iterator[CallWarning]:
    """Yield the warnings of one call of an operation."""
    if deprecated.operation:
        yield _warning("operation", row.name, _stated(row))
    paths = {name: None for name in params if name in deprecated.parameters}
    if table is not None:
        for name in filter(params.__contains__, deprecated.fields):
            paths |= dict.fromkeys(_deprecated_paths(params[name], deprecated.fields[name], table, name, 0))
    for path in paths:
        yield _warning("parameter", path, {})


def alias_warning(name: str, operation: str, until: date | None) -> CallWarning:
    """Return the warning about an operation that was called by an old name, which ends after the day `until`."""
    removal = {} if until is None else {"removal_date": until.isoformat()}
    return _warning("operation", name, {"replacement": operation, **removal})


def _stated(row: Row) -> dict[str, str]:
    """Return the document's statements about the operation's end."""
    return {} if row.deprecation is None else encode(row.deprecation)


def headers_warning(row: Row, headers: Mapping[str, str]) -> CallWarning | None:
    """Return the warning of a `Deprecation` or `Sunset` header (RFC 9745, RFC 8594), with the removal date if known."""
    removal = _day(headers.get("sunset", ""))
    if removal is None and not _is_deprecated(headers.get("deprecation", "")):
        return None
    known = _stated(row)
    if removal is not None:
        known["removal_date"] = removal.isoformat()
    known.update(_links(headers.get("link", "")))
    return _warning("operation", row.name, known)


def _warning(kind: str, name: str, known: Mapping[str, str]) -> CallWarning:
    details = {"type": kind, "deprecated_item": name, **known}
    severity = _severity(known.get("removal_date"))
    return CallWarning(CODE, f"{kind.capitalize()} '{name}' is deprecated", severity, details)


def _severity(removal: str | None) -> str:
    day = None if removal is None else _day(removal)
    if day is None:
        return "low"
    return "high" if day - datetime.now(UTC).date() <= timedelta(days=_SOON) else "medium"


def _is_deprecated(value: str) -> bool:
    """Read a Deprecation header: `@` and seconds, or an older draft's date or `true`. A day to come is not yet one."""
    value = value.strip()
    is_time = re.fullmatch(r"@[0-9]{1,11}", value) is not None
    since = datetime.fromtimestamp(int(value[1:]), UTC).date() if is_time else _day(value)
    return value.lower() in ("true", "?1") or (since is not None and since <= datetime.now(UTC).date())


def _day(value: str) -> date | None:
    """Read an HTTP date or one of ISO 8601."""
    try:
        return date.fromisoformat(value.strip()[:10])
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value[:64]).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _links(value: str) -> dict[str, str]:
    """Return the documentation and the successor in a Link header (RFC 8288; RFC 9745, 3; RFC 8594, 6; RFC 5829)."""
    links: dict[str, str] = {}
    for link in read_links(value[:8192]):
        if not (link.target.isascii() and link.target.isprintable() and " " not in link.target):
            continue
        if "deprecation" in link.relations or ("sunset" in link.relations and "migration_guide" not in links):
            links["migration_guide"] = line(link.target[:500], 300)
        elif "successor-version" in link.relations:
            links["replacement"] = line(link.target[:500], 300)
    return links


def _deprecated_paths(value: Any, schema: JsonSchema, table: Table, path: str, depth: int) -> Iterator[str]:
    """Yield the paths of the deprecated fields that a value has."""
    if depth > _DEEPEST or not isinstance(value, list | Mapping):
        return
    shape = union_of(table.types, schema)
    if isinstance(value, list):
        for item in value[:_MOST_ITEMS] if shape.items else ():
            yield from _deprecated_paths(item, shape.items[0], table, path, depth + 1)
        return
    for name in filter(value.__contains__, shape.properties):
        inner = shape.properties[name][1]
        if inner.get("deprecated") is True:
            yield f"{path}.{name}"
        yield from _deprecated_paths(value[name], inner, table, f"{path}.{name}", depth + 1)
