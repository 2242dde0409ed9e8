# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Every operation of the table, over MCP in memory, in mock mode (R-INT-7)."""

from __future__ import annotations

import pytest

from .findings import Findings
from .sessions import connect
from .table import offered, operations

UNKNOWN = "no_such_parameter"


async def test_every_operation_is_listed_under_its_family() -> None:
    """R-INT-2"""
    findings = Findings()
    async with connect() as session:
        listed = await session.listed("operations")
    entries = {entry["name"]: entry for entry in listed}
    findings.expect(len(entries) == len(listed), "the list", "holds a name twice")
    findings.expect("introspect" in entries, "introspect", "is not listed")
    for operation in operations():
        entry = entries.get(operation.name)
        if entry is None:
            findings.expect(False, operation.name, "is not listed")
            continue
        findings.expect(entry["endpoint"] == operation.family, operation.name, "has another endpoint", entry)
        findings.expect(entry["semantic_category"] == operation.family.upper(), operation.name, "category", entry)
        findings.expect(bool(entry["description"].strip()), operation.name, "has no description", entry)
    findings.check()


async def test_every_operation_is_introspected_with_the_parameters_of_the_table() -> None:
    """R-INT-4"""
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            answer = await session.introspect("operations", operation.name)
            details = (answer.get("data") or {}).get("operation")
            if details is None:
                findings.expect(False, operation.name, "has no details", answer)
                continue
            shown = {entry["name"]: entry["required"] for entry in details["parameters"]}
            table = {name: parameter.required for name, parameter in operation.parameters.items()}
            if len(shown) < len(table):  # what there is no room for stands in a type
                answer = await session.introspect("types", f"{operation.name}.params", whole=True)
                shown = {entry["name"]: entry["required"] for entry in answer["data"]["type"]["fields"]}
            findings.expect(shown == table, operation.name, f"shows other parameters than {table}", shown)
            findings.expect(details["mcpTool"] == session.tool(operation.family), operation.name, "tool", details)
            findings.expect(details["returns"] == operation.returns, operation.name, "returns", details["returns"])
            if operation.example is not None:
                findings.expect(bool(details.get("examples")), operation.name, "shows no example")
    findings.check()


async def test_every_operation_can_be_called_with_its_own_example(subtests: pytest.Subtests) -> None:
    """R-INT-4, R-ENV-1"""
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            if operation.example is None:
                continue
            sent = session.sent
            answer = await session.call(operation.family, operation.name, operation.params)
            findings.expect(answer["success"] is True, operation.name, "its example fails", answer)
            if answer["success"]:
                findings.expect("data" in answer and "error" not in answer, operation.name, "envelope", answer)
                most = 4 if operation.reads_first else 1  # it may read again, to compare, and once more
                findings.expect(
                    1 <= session.sent - sent <= most, operation.name, f"sent {session.sent - sent} requests"
                )
    findings.check()
    if without := [operation.name for operation in operations() if operation.example is None]:
        with subtests.test("operations without an example"):
            pytest.skip(f"no example could be made for {len(without)}: {', '.join(without[:20])}")


async def test_every_change_can_be_shown_without_being_made() -> None:
    """R-SEL-5"""
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            if operation.example is None or operation.family == "read":
                continue
            answer = await session.call(operation.family, operation.name, operation.params | {"dry_run": True})
            shown = answer.get("data") or {}
            right = {"method", "url", "headers", "body"} <= shown.keys()
            findings.expect(right, operation.name, "shows no request", answer)
        findings.expect(session.sent == 0, "dry runs", f"sent {session.sent} requests")
    findings.check()


async def test_every_list_that_pages_gives_items_and_page_info() -> None:
    """R-SEL-3"""
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            if operation.example is None or not operation.pages:
                continue
            answer = await session.call(operation.family, operation.name, operation.params | {"first": 1})
            data = answer.get("data") or {}
            right = isinstance(data.get("items"), list) and len(data["items"]) <= 1
            right = right and {"hasNextPage", "hasPreviousPage"} <= data.get("pageInfo", {}).keys()
            findings.expect(right, operation.name, "gives no page", answer)
            answer = await session.call(operation.family, operation.name, operation.params | {"first": 1, "after": "x"})
            refused = answer.get("error", {}).get("code") == "VALIDATION_INVALID_VALUE"
            findings.expect(refused, operation.name, "takes a cursor that it never gave", answer)
    findings.check()


async def test_every_operation_is_refused_without_each_required_parameter() -> None:
    """R-REQ-4, R-ERR-1"""
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            for missing in operation.required:
                params = {name: value for name, value in operation.params.items() if name != missing}
                answer = await session.call(operation.family, operation.name, params)
                error = answer.get("error", {})
                right = error.get("code") == "VALIDATION_MISSING_PARAM" and missing in str(error)
                findings.expect(right, operation.name, f"is not refused without {missing}", answer)
        findings.expect(not session.sent, "refused calls", f"sent {session.sent} requests")
    findings.check()


async def test_every_operation_is_refused_with_an_unknown_parameter() -> None:
    """R-REQ-3"""
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            params = operation.params | {UNKNOWN: 1}
            answer = await session.call(operation.family, operation.name, params)
            error = answer.get("error", {})
            right = error.get("code") == "VALIDATION_UNKNOWN_PARAM" and UNKNOWN in error["message"]
            findings.expect(right, operation.name, "takes an unknown parameter", answer)
        findings.expect(session.sent == 0, "refused calls", f"sent {session.sent} requests")
    findings.check()


async def test_every_operation_is_refused_by_another_tool() -> None:
    """R-REQ-6"""
    if len(offered()) < 2:
        pytest.skip("only one tool is offered")
    findings = Findings()
    async with connect() as session:
        for operation in operations():
            other = next(family for family in offered() if family != operation.family)
            answer = await session.call(other, operation.name, operation.params)
            error = answer.get("error", {})
            right = error.get("code") == "VALIDATION_ENDPOINT_MISMATCH"
            right = right and all(session.tool(family) in error["message"] for family in (other, operation.family))
            findings.expect(right, operation.name, f"is taken by {session.tool(other)}", answer)
        findings.expect(session.sent == 0, "refused calls", f"sent {session.sent} requests")
    findings.check()
