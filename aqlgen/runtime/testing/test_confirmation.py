# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What is destructive asks before it is sent, and what is forbidden never is (R-SAFE-3 to 5)."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import ElicitResult

from .findings import Findings
from .sessions import connect
from .table import Operation, operations

STANDARD: dict[str, Any] = {"MCP_AQL_POLICY": "standard", "MCP_AQL_CONFIRMATION_RATE": "10000"}


def _of(*levels: str) -> list[Operation]:
    """Return the operations of these levels that have an example; skip the test if there is none.

    How dangerous a call is that carries others, or chooses an action, depends on the call: these are left out.
    """
    alike = [each for each in operations() if each.row.carries is None or not each.row.carries.places]
    matching = [operation for operation in alike if operation.danger in levels and operation.example is not None]
    if not matching:
        pytest.skip(f"no operation is {' or '.join(levels)}")
    return matching


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_every_destructive_operation_asks_once_and_then_runs_once(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    findings = Findings()
    asked = _of("destructive", "dangerous")
    async with connect(era=era, **STANDARD, MCP_AQL_LOG_LEVEL="notice") as session:
        for operation in asked:
            before = session.sent  # one call may send several requests: an update reads what it writes
            call = (operation.family, operation.name, operation.params)
            answer = await session.call(*call)
            findings.expect(
                answer.get("error", {}).get("code") == "CONFIRMATION_REQUIRED", operation.name, "does not ask", answer
            )
            findings.expect(session.sent == before, operation.name, "was sent without a confirmation")
            token = answer.get("confirmation", {}).get("token")
            answer = await session.call(*call, confirmation_token=token)
            findings.expect(answer["success"], operation.name, "fails though confirmed", answer)
            after = session.sent
            findings.expect(after > before, operation.name, "is not sent though confirmed", answer)
            again = await session.call(*call, confirmation_token=token)
            used = again.get("error", {}).get("code") == "TOKEN_ALREADY_USED"
            findings.expect(used and session.sent == after, operation.name, "takes a token twice", again)
    written = [record.getMessage() for record in caplog.records if record.name == "audit"]
    findings.expect(
        written.count("OPERATION_PERFORMED") == len(asked), "the audit log", "lacks operations", {"events": written}
    )
    findings.check()


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_a_person_who_is_asked_decides(era: str, action: str) -> None:
    questions: list[str] = []

    async def person(_: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult.model_validate({"action": action})

    operation = _of("destructive", "dangerous")[0]
    async with connect(era=era, person=person, **STANDARD) as session:
        answer = await session.call(operation.family, operation.name, operation.params)
        assert answer["success"] is (action == "accept"), answer
        assert bool(session.sent) == (action == "accept")
    assert len(questions) == 1
    assert operation.name in questions[0]


async def test_every_forbidden_operation_is_refused() -> None:
    findings = Findings()
    refused = _of("forbidden")
    async with connect(**STANDARD) as session:
        for operation in refused:
            answer = await session.call(operation.family, operation.name, operation.params)
            right = answer.get("error", {}).get("code") == "PERMISSION_DANGER_LEVEL_DENIED"
            findings.expect(right, operation.name, "is not refused", answer)
        findings.expect(session.sent == 0, "refused calls", f"sent {session.sent} requests")
    findings.check()
