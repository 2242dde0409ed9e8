"""What is destructive asks before it is sent, what is forbidden never is, and nothing goes without its credential."""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import pytest

from ..protocol_operations import Person
from ..table import Row
from .sessions import FOLDER, ISOLATED, PACKAGE, adapter, base_url, callable_operations, connect, variables

STANDARD: dict[str, Any] = {"MCP_AQL_POLICY": "standard", "MCP_AQL_CONFIRMATION_RATE": "10000"}


def _of(*levels: str) -> list[Row]:
    """Return the operations of these levels that have an example; skip the test if there is none.

    How dangerous a call is that carries others, or chooses an action, depends on the call: these are left out.
    """
    alike = [row for row in callable_operations() if row.carries is None or not row.carries.places]
    matching = [row for row in alike if row.danger in levels]
    if not matching:
        pytest.skip(f"no operation is {' or '.join(levels)}")
    return matching


async def test_every_destructive_operation_asks_once_and_then_runs_once() -> None:
    """R-SAFE-3"""
    grave = _of("destructive", "dangerous")
    async with connect(**STANDARD) as session:
        for row in grave:
            before = session.sent  # one call may send several requests: an update reads what it writes
            answer = await session.call(row)
            asked = answer.get("error", {}).get("code") == "CONFIRMATION_REQUIRED" and session.sent == before
            session.expect(asked, row.name, "does not ask before it is sent", answer)
            token = answer.get("confirmation", {}).get("token")
            answer = await session.call(row, confirmation_token=token)
            after = session.sent
            session.expect(answer["success"] and after > before, row.name, "is not sent though confirmed", answer)
            again = await session.call(row, confirmation_token=token)
            used = again.get("error", {}).get("code") == "TOKEN_ALREADY_USED" and session.sent == after
            session.expect(used, row.name, "takes a token twice", again)


class Asked(Person):
    """A person who gives each question the same answer."""

    reachable = True

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.questions: list[str] = []

    async def ask(self, question: str) -> bool:
        self.questions.append(question)
        return self.answer


@pytest.mark.parametrize("accepts", [True, False])
async def test_a_person_who_is_asked_decides(accepts: bool) -> None:
    """R-SAFE-4"""
    row, person = _of("destructive", "dangerous")[0], Asked(accepts)
    async with connect(person=person, **STANDARD) as session:
        answer = await session.call(row)
        assert answer["success"] is bool(session.sent) is accepts, answer
    assert [f"\n{row.method} " in question for question in person.questions] == [True]


async def test_every_forbidden_operation_is_refused() -> None:
    """R-SAFE-1"""
    forbidden = _of("forbidden")
    async with connect(**STANDARD) as session:
        for row in forbidden:
            answer = await session.call(row)
            right = answer.get("error", {}).get("code") == "PERMISSION_DANGER_LEVEL_DENIED" and not session.sent
            session.expect(right, row.name, "is not refused", answer)


def _credentials(row: Row) -> set[str]:
    """Return the variables of the credentials that an operation may need; empty when it can go without."""
    security = adapter().security if row.security is None else row.security
    return set(variables(*{name for option in security for name in option})) if security and all(security) else set()


async def test_a_missing_credential_names_its_variable() -> None:
    guarded = [row for row in callable_operations() if _credentials(row)]
    if not guarded:
        pytest.skip("no operation needs a credential that can be configured")
    address = base_url(dict.fromkeys(adapter().of_each_api(), "http://127.0.0.1:9"))
    async with connect(mock=False, credentials=False, MCP_AQL_BASE_URL=address) as session:
        for row in guarded:
            answer = await session.call(row)
            error = answer.get("error", {})
            right = error.get("code") == "PERMISSION_DENIED" and not session.sent
            right = right and any(variable in str(error) for variable in _credentials(row))
            session.expect(right, row.name, f"names none of {sorted(_credentials(row))}", answer)


async def test_the_project_starts_with_its_own_settings() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MCP_AQL_")}
    command = [sys.executable, "-m", PACKAGE, "call", "introspect", '{"query": "operations"}', "--mock"]
    environment = {**kept, "PYTHONPATH": str(FOLDER.parent), **ISOLATED}
    done = await anyio.run_process(command, env=environment, check=False)
    assert not done.returncode, done.stderr.decode()
