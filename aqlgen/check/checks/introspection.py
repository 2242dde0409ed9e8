"""Introspection tells what is there, and what it tells is true (conformance testing, 3.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from aqlgen.check.operations import unserved
from aqlgen.check.results import Category, Cause
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply
from aqlgen.runtime.table import FAMILIES
from aqlgen.runtime.witness import Finding, Grade, Request
from aqlgen.runtime.witness.examine import CALLS, EXAMPLE, NO_TYPE

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


async def _listed(run: Run, **params: Any) -> list[dict[str, Any]]:
    return (await run.introspect(query="operations", **params)).data.get("operations") or []


@check("IF-1", "Every operation is listed once, with its family and summary", Category.INTROSPECTION, "R-INT-2")
async def the_list_of_operations(run: Run) -> None:
    """Compare the list of operations, its categories and its pages with the table."""
    listed = await _listed(run, all=True)
    run.evidence["operations_list"] = run.last
    run.expect(run.last.keys() == {"success", "data"}, "introspect", "answers more than success and data")
    entries = {entry.get("name"): entry for entry in listed}
    run.expect(len(entries) == len(listed) and "introspect" in entries, "operations", "are not listed once each")
    for operation in run.whole:
        entry = entries.get(operation.name, {})
        right = (entry.get("endpoint"), entry.get("semantic_category")) == (operation.family, operation.row.category)
        is_named = _NAME.fullmatch(operation.name) and str(entry.get("description", "")).strip()
        run.expect(right and bool(is_named), operation, "is not listed as it is", entry)
    for family in FAMILIES:
        narrowed = {entry.get("name") for entry in await _listed(run, category=family.upper(), all=True)}
        expected = {entry.get("name") for entry in listed if entry.get("endpoint") == family}
        run.expect(narrowed == expected, f"category {family}", "lists other operations than it has")
    run.expect(await _listed(run, first=2) == listed[:2], "operations", "have another first page")


@check("IF-2", "Details name tool, parameters and result of each operation", Category.INTROSPECTION, "R-INT-4")
async def the_details_of_operations(run: Run) -> None:
    """Read the details of each operation, and of the types that they name."""
    run.evidence["types_list"] = await run.introspect(query="types", all=True)
    itself = (await run.introspect(query="operations", name="introspect")).data.get("operation") or {}
    run.keep("operation_details", **itself)
    for operation in run.operations:
        details = (await run.introspect(query="operations", name=operation.name)).data.get("operation")
        if not run.expect(isinstance(details, dict), operation, "has no details"):
            continue
        run.keep("operation_details", **details)
        row, family = operation.row, operation.family
        permissions = {"readOnly": family == "read", "destructive": family not in ("read", "create")}
        expected = {"name": row.name, "endpoint": family, "semantic_category": row.category,
                    "mcpTool": run.adapter.tool(family), "permissions": permissions}  # fmt: skip
        shown = {key: details.get(key) for key in expected}
        run.expect(shown == expected, operation, f"is described as {shown}")


class _Examined:
    """A session as the witness examines it."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def introspect(self, **params: Any) -> Mapping[str, Any]:
        """Introspect, and return the data; of the operations those of the run."""
        data: dict[str, Any] = (await self._run.introspect(**params)).data
        listed, names = data.get("operations"), {operation.name for operation in self._run.whole}
        return {**data, "operations": [each for each in listed if each["name"] in names]} if listed else data

    async def call(self, family: str, operation: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call an operation, and return the envelope."""
        answer = await self._run.own(family, operation, **params)
        self._run.succeeded.update([operation] if answer.ok else ())
        return answer

    def requests(self) -> list[Request]:
        """Return the requests that arrived with the last call."""
        return [request.as_seen for request in self._run.arrived]


@check("IF-3", "Every call made of introspection alone succeeds, and sends the request of the document",
       Category.INTROSPECTION, "R-INT-4, R-INT-7")  # fmt: skip
async def examples_work(run: Run) -> None:
    """Report the findings of the witness about examples, and the operations that nobody can call."""
    await _report(run, EXAMPLE)
    for operation in run.operations:
        kinds = ", ".join(unserved(run.table, operation.row))
        text = f"needs a credential of a kind that no adapter has: {kinds}"
        run.result.expect(not kinds, operation.name, text, cause=Cause.DOCUMENT)


async def examined(run: Run) -> list[Finding]:
    """Return the witness's grave findings about the operations; it examines once for all tests."""
    witness = run.witness
    if "examined" not in run.evidence and witness is not None and witness.documents:
        session, sample = _Examined(run), len(run.operations) if len(run.operations) < len(run.whole) else 0

        def answer(request: Arrived) -> Reply:
            reply = witness.answer(request.as_seen)
            return Reply(reply.status, reply.content, reply.headers)

        with run.api.behaving(answer):
            run.evidence["examined"] = await witness.examine(session, sample)
    findings: list[Finding] = run.evidence.get("examined", [])
    return [finding for finding in findings if finding.grade in (Grade.BROKEN, Grade.WRONG)]


async def _report(run: Run, *beginnings: str) -> None:
    """Take the findings of the witness that begin so, without any those of no other test."""
    for finding in await examined(run):
        is_ours = finding.text.startswith(beginnings or (EXAMPLE, *CALLS, NO_TYPE)) is bool(beginnings)
        run.expect(not is_ours, finding.operation, finding.text, finding.pointer)
    for operation in run.callable if "examined" in run.evidence else ():
        run.expect(True, operation, "")


check("IF-4", "Documented parameters are accepted, and reach the API", Category.INTROSPECTION, "R-INT-4")(
    lambda run: _report(run, *CALLS)
)
check("WI-1", "Families, dangers, pages, answers and introspection are as a second reading of the document has them",
      Category.OPERATION, "R-INT-4, R-SEL-1, R-SEL-3")(_report)  # fmt: skip
check("IF-5", "Every type that introspection names is described", Category.INTROSPECTION, "R-INT-5")(
    lambda run: _report(run, NO_TYPE)
)


@check("IF-6", "An operation is found by its name, also misspelt", Category.INTROSPECTION, "R-INT-1")
async def operations_are_found(run: Run) -> None:
    """Search for operations by their exact names, call them by misspelt ones, and look for what is not there."""
    proposed = list[bool]()
    for operation in run.operations[:: max(1, len(run.operations) // 40)]:
        misspelt = await run.own(operation.family, f"{operation.name[:-1]}{'x' if operation.name[-1] != 'x' else 'y'}")
        proposed += [operation.name in str(misspelt.error)] if misspelt.code == "NOT_FOUND_OPERATION" else []
        hits = (await run.introspect(query="search", search=operation.name)).data
        names = [entry.get("name") for entry in hits.get("operations") or ()]
        right = names[:1] == [operation.name] and "match" not in hits
        run.expect(right, operation, "is not the first hit for its name, or a weak one")
        run.keep("semantic_tests", name=f"search-{operation.name}", response_text=json.dumps(run.last),
                 tool_calls=[{"operation": "introspect", "params": {"query": "search", "search": operation.name}}],
                 structural={"required_patterns": [operation.name]},
                 semantic={"phrase_groups": [[operation.name]], "expected_operations": ["introspect"],
                           "expected_parameters": ["search"]})  # fmt: skip
    text = f"only {sum(proposed)} of {len(proposed)} find their operation"
    run.expect(sum(proposed) * 2 >= len(proposed), "misspelt names", text)
    nonsense = await run.introspect(query="search", search="qzxv wkjq")
    run.expect(nonsense.data.get("match") == "nothing", "search", "does not report an empty result")
    unknown = await run.introspect(query="no_such_query")
    right = unknown.code == "VALIDATION_INVALID_VALUE" and "operations" in str(unknown.error.get("message"))
    run.expect(right, "introspect", "does not refuse an unknown query with the known ones")
    none = await run.introspect(query="operations", name="no_such_operation_at_all")
    run.expect(none.ok and none.data.get("operation", 0) is None, "introspect", "does not answer null for no operation")
