"""Every operation of the table, in mock mode: dry runs, and calls that are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..table import FAMILIES, Row
from .sessions import Session, adapter, callable_operations, connect, operations, params_of

UNKNOWN = "no_such_parameter"


async def test_every_change_can_be_shown_without_being_made() -> None:
    """R-SEL-5"""
    async with connect() as session:
        for row in callable_operations():
            if row.family != "read":
                answer = await session.call(row, params_of(row) | {"dry_run": True})
                right = {"method", "url", "headers", "body"} <= (answer.get("data") or {}).keys()
                session.expect(right, row.name, "shows no request", answer)
        session.expect(session.sent == 0, "dry runs", f"sent {session.sent} requests")


async def test_every_operation_refuses_what_it_does_not_take_and_sends_nothing() -> None:
    """R-REQ-3, R-REQ-6, R-INT-7, R-ERR-1"""
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
    yield row.family, params | {UNKNOWN: 1}, "VALIDATION_UNKNOWN_PARAM", UNKNOWN
    if row.paging is not None and row.example is not None:
        yield row.family, params | {"first": 1, "after": "x"}, "VALIDATION_INVALID_VALUE", "after"
    others = [family for family in FAMILIES if family != row.family and (family == "read" or adapter().counts[family])]
    if others:
        yield others[0], params, "VALIDATION_ENDPOINT_MISMATCH", session.tool(row.family)
