"""The examples of the warnings document, field for field, as an agent sees them through a real client.

A severity, which the document's examples leave out, and details beyond them are taken away first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from users_api import agent, answering

from aqlgen.runtime.envelope import CallWarning
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.warnings import Warnings
from aqlgen.runtime.warnings.rules import select_warnings

pytestmark = pytest.mark.anyio
QUOTA = {"RateLimit-Policy": '"hourly";q=5000;w=3600', "RateLimit": '"hourly";r=900;t=1200'}
QUOTA_WARNING = {
    "code": "RATE_LIMIT_QUOTA_WARNING",
    "message": "Approaching quota limit",
    "details": {"metric": "requests_per_hour", "current": 4100, "warn_threshold": 4000},
}
DEPRECATION_WARNING = {
    "code": "DEPRECATION_WARNING",
    "message": "Operation 'list_users_v1' is deprecated",
    "details": {
        "type": "operation",
        "deprecated_item": "list_users_v1",
        "replacement": "list_users",
        "removal_date": "2027-01-01",
    },
}


def without_severity(warnings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for warning in warnings:
        assert warning.pop("severity") in ("high", "medium", "low")
    return warnings


async def test_a_success_with_a_warning(users: Path) -> None:
    """R-WARN-1: warnings document, 2.2."""
    body = {"user": {"id": "u123", "name": "Alice"}}
    async with agent(users, answering(body, QUOTA)) as client:
        envelope = await client.call("list_users")
    without_severity(envelope["warnings"])
    assert envelope == {"success": True, "data": body, "warnings": [QUOTA_WARNING]}


async def test_a_success_with_several_warnings(users: Path) -> None:
    """R-WARN-1: warnings document, 2.2. Its details of a deprecation are those of 4.2."""
    async with agent(users, answering({"results": []}, QUOTA)) as client:
        warnings = without_severity(await client.warned("list_users_v1"))
    assert sorted(warnings, key=lambda warning: warning["code"]) == [DEPRECATION_WARNING, QUOTA_WARNING]


async def test_the_truncation_example_comes_out(users: Path) -> None:
    """R-WARN-3: warnings document, 4.3."""
    body = {"results": ["red " * 100] * 1523}
    async with agent(users, answering(body), max_answer_tokens=10_260) as client:
        envelope = await client.call("search_all")
    assert envelope["data"] == {"results": ["red " * 100] * 100}
    [warning] = envelope["warnings"]
    assert warning.pop("severity") == "medium"
    assert warning["details"].pop("max_answer_tokens") == 10_260
    assert warning == {
        "code": "VALIDATION_TRUNCATED_WARNING",
        "message": "Response truncated to 100 items",
        "details": {"field": "results", "original_count": 1523, "truncated_count": 100, "limit": 100},
    }


async def test_the_slow_query_example_comes_out(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-WARN-4: warnings document, 4.4. Its suggestions name what the operation offers."""
    times = iter([100.0, 105.23])
    monkeypatch.setattr("aqlgen.runtime.calls.perf_counter", lambda: next(times))
    async with agent(users, warn_slow_ms=1000) as client:
        [warning] = await client.warned("search_pages")
    assert warning.pop("severity") == "medium"
    assert warning == {
        "code": "PERFORMANCE_SLOW_QUERY_WARNING",
        "message": "Operation took 5230ms (threshold: 1000ms)",
        "details": {
            "operation": "search_pages",
            "duration_ms": 5230,
            "threshold_ms": 1000,
            "suggestions": [
                "Consider adding filters to narrow results: `q`",
                "Use pagination for large result sets: a smaller `limit`",
            ],
        },
    }


async def test_the_example_of_repeated_warnings_comes_out() -> None:
    """R-WARN-6: warnings document, 6.5. Over the wire each answer of a batch keeps the warnings about its own data."""
    warnings = Warnings()
    for original in (200, 300, 400):
        details = {"field": "results", "original_count": original, "truncated_count": 100}
        warnings.append(CallWarning("VALIDATION_TRUNCATED_WARNING", "Response truncated to 100 items", None, details))
    assert select_warnings(warnings, Config(), {}) == [
        {
            "code": "VALIDATION_TRUNCATED_WARNING",
            "message": "Response truncated to 100 items",
            "details": {"field": "results", "truncated_count": 100, "occurrence_count": 3},
        }
    ]
