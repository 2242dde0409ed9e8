# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Every operation of the table, over MCP in memory, in mock mode (R-INT-7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ..table import FAMILIES, Row
from .sessions import Session, adapter, callable_operations, connect, operations, params_of, required_of

BASIC = frozenset({"string", "number", "integer", "boolean", "array", "object", "null", "any"})
UNKNOWN = "no_such_parameter"


async def test_every_operation_is_listed_under_its_family() -> None:
    """R-INT-2"""
    async with connect() as session:
        listed = await session.introspect("operations")
        entries = {entry["name"]: entry for entry in listed}
        session.expect(len(entries) == len(listed), "the list", "holds a name twice")
        for row in operations():
            entry = entries.get(row.name, {})
            right = entry.get("endpoint") == row.family and entry.get("semantic_category") == row.family.upper()
            session.expect(right, row.name, "is not listed under its family", entry)
            session.expect(bool(entry.get("description", "").strip()), row.name, "has no description", entry)


async def test_every_operation_is_introspected_with_the_parameters_of_the_table() -> None:
    """R-INT-4"""
    async with connect() as session:
        for row in operations():
            details = await session.introspect("operations", row.name)
            shown = {entry["name"]: entry["required"] for entry in details["parameters"]}
            table = {name: parameter.required for name, parameter in row.shown_parameters.items()}
            if len(shown) < len(table):  # what there is no room for stands in a type
                whole = await session.introspect("types", f"{row.name}.params")
                shown = {entry["name"]: entry["required"] for entry in whole["fields"]}
            session.expect(shown == table, row.name, f"shows other parameters than {table}", shown)
            session.expect(details["mcpTool"] == session.tool(row.family), row.name, "names another tool", details)
            session.expect(details["returns"] == row.returns, row.name, "returns another type", details["returns"])
            shows = row.example is None or bool(details.get("examples"))
            session.expect(shows, row.name, "shows no example")


async def test_every_type_that_is_named_can_be_shown() -> None:
    """R-INT-5"""
    async with connect() as session:
        wanted = {entry["name"] for entry in await session.introspect("types")}
        for row in operations():
            details = await session.introspect("operations", row.name)
            wanted |= {details["returns"]["name"], *_named(details["parameters"])}
        seen = set(BASIC)
        while todo := sorted(wanted - seen):
            for name in todo:
                shown = await session.introspect("types", name)
                session.expect(shown is not None, name, "cannot be shown")
                wanted |= {*_named((shown or {}).get("fields", ())), *(shown or {}).get("members", ())}
            seen.update(todo)


def _named(entries: Any) -> Iterator[str]:
    """Yield the type of each entry, and of what its arrays hold."""
    for entry in entries:
        inner: Mapping[str, Any] = entry
        while inner:
            yield from filter(None, [inner.get("type")])
            inner = inner.get("items") or {}


async def test_every_operation_can_be_called_with_its_own_example(subtests: pytest.Subtests) -> None:
    """R-INT-4, R-ENV-1"""
    async with connect() as session:
        for row in callable_operations():
            sent = session.sent
            answer = await session.call(row)
            right = answer["success"] is True and "data" in answer and "error" not in answer
            session.expect(right, row.name, "its example fails", answer)
            most = 4 if row.update is not None and row.update.reads_first else 1  # it may read again, to compare
            count = session.sent - sent
            session.expect(not right or 1 <= count <= most, row.name, f"sent {count} requests")
    if without := [row.name for row in operations() if row.example is None]:
        with subtests.test("operations without an example"):
            pytest.skip(f"no example could be made for {len(without)}: {', '.join(without[:20])}")


async def test_every_change_can_be_shown_without_being_made() -> None:
    """R-SEL-5"""
    async with connect() as session:
        for row in callable_operations():
            if row.family != "read":
                answer = await session.call(row, params_of(row) | {"dry_run": True})
                right = {"method", "url", "headers", "body"} <= (answer.get("data") or {}).keys()
                session.expect(right, row.name, "shows no request", answer)
        session.expect(session.sent == 0, "dry runs", f"sent {session.sent} requests")


async def test_every_list_that_pages_gives_items_and_page_info() -> None:
    """R-SEL-3"""
    async with connect() as session:
        for row in callable_operations():
            if row.paging is not None:
                answer = await session.call(row, params_of(row) | {"first": 1})
                data = answer.get("data") or {}
                right = isinstance(data.get("items"), list) and len(data["items"]) <= 1
                right = right and {"hasNextPage", "hasPreviousPage"} <= data.get("pageInfo", {}).keys()
                session.expect(right, row.name, "gives no page", answer)


async def test_every_operation_refuses_what_it_does_not_take_and_sends_nothing() -> None:
    """R-REQ-3, R-REQ-4, R-REQ-6, R-ERR-1"""
    async with connect() as session:
        for row in operations():
            for family, params, code, named in _refused(row, session):
                answer = await session.send(family, row.name, params)
                error = answer.get("error", {})
                right = error.get("code") == code and named in str(error)
                session.expect(right, row.name, f"is not refused with {code}, {named}", answer)
        session.expect(session.sent == 0, "refused calls", f"sent {session.sent} requests")


def _refused(row: Row, session: Session) -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """Yield calls as family and parameters, each with the code that refuses it and what it names."""
    params = params_of(row)
    for missing in required_of(row):
        rest = {name: value for name, value in params.items() if name != missing}
        yield row.family, rest, "VALIDATION_MISSING_PARAM", missing
    yield row.family, params | {UNKNOWN: 1}, "VALIDATION_UNKNOWN_PARAM", UNKNOWN
    if row.paging is not None and row.example is not None:
        yield row.family, params | {"first": 1, "after": "x"}, "VALIDATION_INVALID_VALUE", "after"
    others = [family for family in FAMILIES if family != row.family and (family == "read" or adapter().counts[family])]
    if others:
        yield others[0], params, "VALIDATION_ENDPOINT_MISMATCH", session.tool(row.family)
