# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A missing credential is refused by name before anything is sent."""

from __future__ import annotations

import pytest

from .findings import Findings
from .sessions import connect
from .table import Operation, adapter, operations


def _variables(operation: Operation) -> set[str]:
    """Return the variables of the credentials that the operation may need; empty when it can go without."""
    schemes = adapter().security_schemes
    if not all(operation.security):
        return set()
    return {
        variable
        for alternative in operation.security
        for scheme in alternative
        for variable in schemes[scheme]["variables"]
    }


async def test_a_missing_credential_names_its_variable() -> None:
    findings = Findings()
    guarded = [operation for operation in operations() if operation.example is not None and _variables(operation)]
    if not guarded:
        pytest.skip("no operation needs a credential that can be configured")
    async with connect(mock=False, credentials=False, MCP_AQL_BASE_URL="http://127.0.0.1:9") as session:
        for operation in guarded:
            answer = await session.call(operation.family, operation.name, operation.params)
            error = answer.get("error", {})
            right = error.get("code") == "PERMISSION_DENIED"
            right = right and any(variable in str(error) for variable in _variables(operation))
            findings.expect(right, operation.name, f"names none of {sorted(_variables(operation))}", answer)
        findings.expect(session.sent == 0, "refused calls", f"sent {session.sent} requests")
    findings.check()
