"""Warnings as an agent sees them through a real client; a function plays the API."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from users_api import LATER, SOON, Agent, Answer, agent, answering, dispatcher

from aqlgen.runtime.envelope import CallWarning
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Table
from aqlgen.runtime.text import tokens_of
from aqlgen.runtime.warnings import Warnings
from aqlgen.runtime.warnings.deprecation import headers_warning
from aqlgen.runtime.warnings.rules import WarningRules, select_warnings
from aqlgen.runtime.warnings.thresholds import quota_warning
from aqlgen.runtime.wire import QUOTA_HEADERS, ApiResponse
from tests.cases import without_ids

pytestmark = pytest.mark.anyio
PIECES = st.sampled_from(
    ["100", "@1", "true", "limit=", ";", ",", '"', "r=5", "w=60", "<a>", "rel=", "²", "2027-01-01", "-"]
)
NOISE = st.one_of(st.lists(PIECES).map("".join), st.text(max_size=40))

# Their form


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_call_that_nothing_is_to_be_said_of_has_no_warnings_key(users: Path, era: str) -> None:
    """R-WARN-1"""
    async with agent(users, era=era) as client:
        assert "warnings" not in await client.call("list_users")


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_warning_stands_in_an_array_beside_the_data(users: Path, era: str) -> None:
    """R-WARN-1"""
    async with agent(users, answering([1]), era=era) as client:
        envelope = await client.call("list_old")
    assert envelope["data"] == [1]
    assert envelope["warnings"] == [
        {
            "code": "DEPRECATION_WARNING",
            "message": "Operation 'list_old' is deprecated",
            "details": {"type": "operation", "deprecated_item": "list_old"},
            "severity": "low",
        }
    ]


async def test_a_failure_has_no_warnings(users: Path) -> None:
    """R-WARN-1"""
    async with agent(users, lambda _: httpx2.Response(404, headers={"Sunset": "2027-01-01"})) as client:
        envelope = await client.call("list_old")
    assert envelope["success"] is False
    assert "warnings" not in envelope


# Deprecation


@pytest.mark.parametrize(
    ("operation", "severity"), [("list_old", "low"), ("list_soon", "high"), ("list_later", "medium")]
)
async def test_a_deprecation_is_as_severe_as_its_removal_is_near(users: Path, operation: str, severity: str) -> None:
    """R-WARN-2"""
    async with agent(users) as client:
        [warning] = await client.warned(operation)
    assert warning["severity"] == severity


async def test_a_deprecated_parameter_is_warned_of_only_when_it_is_given(users: Path) -> None:
    """R-WARN-2"""
    async with agent(users) as client:
        assert await client.warned("search_all", q="newt") == []
        [warning] = await client.warned("search_all", order="asc")
    assert warning["message"] == "Parameter 'order' is deprecated"
    assert warning["details"] == {"type": "parameter", "deprecated_item": "order"}


async def test_a_deprecated_field_within_a_parameter_is_named_by_its_path_once(users: Path) -> None:
    """R-WARN-2"""
    async with agent(users) as client:
        assert await client.warned("create_user", name="Ada", homes=[{"street": "A"}]) == []
        [warning] = await client.warned("create_user", name="Ada", homes=[home := {"street": "A", "fax": "1"}, home])
        [other] = await client.warned("search_pages", home=home)
    assert [warning["message"], other["message"]] == [f"Parameter '{x}.fax' is deprecated" for x in ("homes", "home")]


@pytest.mark.parametrize(
    ("headers", "severity", "more"),
    [
        ({"Deprecation": "@1688169599"}, "low", {}),
        ({"Deprecation": "true"}, "low", {}),
        ({"Sunset": f"{SOON:%a, %d %b %Y} 23:59:59 GMT"}, "high", {"removal_date": SOON.isoformat()}),
        ({"Deprecation": "true", "Sunset": LATER.isoformat()}, "medium", {"removal_date": LATER.isoformat()}),
        (
            {
                "Deprecation": "true",
                "Link": '<https://a.example/how>; rel="deprecation"; type="text/html", </v2>; rel=successor-version',
            },
            "low",
            {"migration_guide": "https://a.example/how", "replacement": "/v2"},
        ),
    ],
)
async def test_the_headers_of_an_answer_tell_of_a_deprecation(
    users: Path, headers: dict[str, str], severity: str, more: dict[str, str]
) -> None:
    """R-WARN-2"""
    async with agent(users, answering(headers=headers)) as client:
        [warning] = await client.warned("list_users")
    assert warning == {
        "code": "DEPRECATION_WARNING",
        "message": "Operation 'list_users' is deprecated",
        "details": {"type": "operation", "deprecated_item": "list_users", **more},
        "severity": severity,
    }


async def test_what_the_document_and_the_headers_say_of_one_deprecation_is_one_warning(users: Path) -> None:
    """R-WARN-2"""
    headers = {"Deprecation": "@1688169599", "Sunset": SOON.isoformat()}
    async with agent(users, answering(headers=headers)) as client:
        [warning] = await client.warned("list_users_v1")
    assert warning["severity"] == "high"
    assert warning["details"]["removal_date"] == SOON.isoformat()
    assert warning["details"]["replacement"] == "list_users"


@pytest.mark.parametrize(
    "headers", [{"Deprecation": "false"}, {"Sunset": "whenever"}, {"Deprecation": "@x"}, {"Deprecation": "@9000000000"}]
)
async def test_headers_that_say_nothing_warn_of_nothing(users: Path, headers: dict[str, str]) -> None:
    """R-WARN-2"""
    async with agent(users, answering(headers=headers)) as client:
        assert await client.warned("list_users") == []


@given(st.dictionaries(st.sampled_from([*QUOTA_HEADERS, "ratelimit", "ratelimit-policy", "x-ratelimit-limit"]), NOISE))
def test_no_header_about_a_quota_is_too_odd(headers: dict[str, str]) -> None:
    """R-WARN-5"""
    quota_warning(headers, 80)


@given(st.dictionaries(st.sampled_from(["deprecation", "sunset", "link"]), NOISE))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_header_about_a_deprecation_is_too_odd(users: Path, headers: dict[str, str]) -> None:
    """R-WARN-2"""
    operation_row = Table(users).find("list_users")
    assert operation_row is not None
    headers_warning(operation_row, headers)


# Quotas


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "21"}, None),
        ({"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "20"}, (80, "medium")),
        ({"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "10"}, (90, "medium")),
        ({"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "30"}, (91, "high")),
        ({"RateLimit-Limit": "100, 100;w=60", "RateLimit-Remaining": "5", "RateLimit-Reset": "9"}, (95, "high")),
        ({"RateLimit": "limit=100, remaining=5, reset=9"}, (95, "high")),
        ({"RateLimit-Policy": "100;w=60", "RateLimit-Limit": "100", "RateLimit-Remaining": "0"}, (100, "high")),
        ({"X-Rate-Limit-Limit": "100", "X-Rate-Limit-Remaining": "5"}, (95, "high")),
        ({"X-RateLimit-Limit-Hour": "100", "X-RateLimit-Remaining-Hour": "5"}, (95, "high")),
        ({"X-RateLimit-Remaining": "0"}, None),
        ({"X-RateLimit-Limit": "0", "X-RateLimit-Remaining": "0"}, None),
        ({"X-RateLimit-Limit": "many", "X-RateLimit-Remaining": "few"}, None),
        ({"RateLimit": "nonsense;;;=,"}, None),
    ],
)
async def test_the_quota_headers_of_many_apis_are_understood(
    users: Path, headers: dict[str, str], expected: tuple[int, str] | None
) -> None:
    """R-WARN-5"""
    async with agent(users, answering(headers=headers)) as client:
        warnings = await client.warned("list_users")
    quotas = [(warning["details"]["current"], warning["severity"]) for warning in warnings]
    assert quotas == ([] if expected is None else [expected])


async def test_a_quota_near_its_end_says_where_it_ends_and_when_it_begins_anew(users: Path) -> None:
    """R-WARN-5"""
    reset = int(datetime.now(UTC).timestamp()) + 100
    headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "2", "X-RateLimit-Reset": str(reset)}
    async with agent(users, answering(headers=headers)) as client:
        [warning] = await client.warned("list_users")
    assert warning["details"]["hard_stop_threshold"] == 60
    assert 95 <= warning["details"]["resets_in_seconds"] <= 100


async def test_the_quota_threshold_can_be_set(users: Path) -> None:
    """R-WARN-5"""
    headers = {"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "60"}
    async with agent(users, answering(headers=headers), warn_quota_percent=40) as client:
        [warning] = await client.warned("list_users")
    assert warning["details"]["warn_threshold"] == 40


# Slow operations


@pytest.mark.parametrize(
    ("operation", "seconds", "severity", "suggestions"),
    [
        ("list_users", 1.5, "low", None),
        ("search_pages", 2.0, "medium", 2),
        ("search_pages", 10.0, "medium", 2),
        ("search_pages", 10.1, "high", 2),
        ("create_user", 1.5, "low", None),
    ],
)
async def test_a_slow_operation_is_as_severe_as_it_is_slow(
    users: Path, operation: str, seconds: float, severity: str, suggestions: int | None
) -> None:
    """R-WARN-4"""
    table = Table(users)
    operation_row = table.find(operation)
    assert operation_row is not None
    rules = WarningRules(Config(warn_slow_ms=1000), table)
    warnings = Warnings()
    rules.after(operation_row, await _response(), seconds, warnings)
    [warning] = rules.select(warnings, Session())
    assert warning["severity"] == severity
    shown = warning["details"].get("suggestions")
    assert (None if shown is None else len(shown)) == suggestions


async def _response() -> Any:
    return ApiResponse(200, {}, b"[]")


async def test_a_slow_answer_is_warned_of_in_its_envelope(users: Path) -> None:
    """R-WARN-4"""
    import time

    def answer(_: httpx2.Request) -> httpx2.Response:
        time.sleep(0.02)
        return httpx2.Response(200, json=[])

    async with agent(users, answer, warn_slow_ms=10) as client:
        [warning] = await client.warned("list_users")
    assert warning["code"] == "PERFORMANCE_SLOW_QUERY_WARNING"
    assert warning["details"]["duration_ms"] >= 20


# Truncation


async def test_a_list_loses_its_end_and_says_how_much(users: Path) -> None:
    """R-WARN-3"""
    body = [{"id": number, "text": "ö" * 500} for number in range(1500)]
    async with agent(users, answering(body), max_answer_tokens=330_000) as client:
        envelope = await client.call("list_users")
    kept = len(envelope["data"])
    assert envelope["data"] == body[:kept]
    assert tokens_of(envelope["data"]) <= 330_000
    [warning] = envelope["warnings"]
    assert warning["severity"] == "low"
    assert warning["details"]["original_count"] == 1500
    assert 900 < warning["details"]["truncated_count"] == kept < 1000


async def test_a_text_loses_its_end(users: Path) -> None:
    """R-WARN-3"""
    async with agent(users, lambda _: httpx2.Response(200, text="red " * 90_000)) as client:
        envelope = await client.call("get_text")
    assert 36_000 < len(envelope["data"]) <= 40_000
    assert envelope["warnings"][0]["message"] == f"Response truncated to {len(envelope['data'])} characters"


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        (lambda _: httpx2.Response(200, json={"blob": "x" * 90_000}), "blob"),
        (lambda _: httpx2.Response(200, json=["x" * 90_000]), "data"),
        (lambda _: httpx2.Response(200, json={"a": {"b": [{"c": "x" * 90_000}, 2]}}), "a.b.c"),
    ],
    ids=["a text in an object", "one item", "deep within"],
)
async def test_one_long_value_is_cut_where_it_is(users: Path, answer: Answer, field: str) -> None:
    """R-WARN-3"""
    async with agent(users, answer, max_answer_tokens=1000) as client:
        envelope = await client.call("list_users")
    assert tokens_of(envelope["data"]) <= 1000
    [warning] = [warning for warning in envelope["warnings"] if warning["details"]["original_count"] == 90_000]
    assert warning["details"]["field"] == field
    assert warning["message"] == f"Response truncated to {warning['details']['truncated_count']} characters"


async def test_an_answer_that_is_far_longer_is_refused(users: Path) -> None:
    """R-REQ-9"""
    answer = httpx2.Response(200, content=b"[]", headers={"Content-Length": "50000000"})
    async with agent(users, lambda _: answer, max_response_size=100_000) as client:
        envelope = await client.call("list_users")
    assert envelope["error"]["code"] == "VALIDATION_PAYLOAD_TOO_LARGE"
    details = envelope["error"]["details"]
    assert details.pop("actual_value") > 100_000
    assert without_ids(details) == {"limit_type": "response_size", "limit_value": 100_000, "unit": "bytes"}


async def test_a_call_that_changed_something_is_not_to_be_repeated_for_the_rest_of_its_answer(users: Path) -> None:
    """R-WARN-3"""
    async with agent(users, answering({"blob": "x" * 200_000})) as client:
        envelope = await client.call("create_user", name="Ada")
    assert envelope["success"]
    assert 0 < len(envelope["data"]["blob"]) < 200_000
    assert envelope["warnings"][0]["code"] == "VALIDATION_TRUNCATED_WARNING"
    assert "next" not in envelope["warnings"][0]["details"]


async def test_an_answer_that_is_long_only_by_its_white_space_is_not_cut(users: Path) -> None:
    """R-WARN-3"""
    answer = httpx2.Response(200, text="[1," + " " * 150_000 + "2]", headers={"Content-Type": "application/json"})
    async with agent(users, lambda _: answer) as client:
        assert (await client.call("list_users"))["data"] == [1, 2]
        assert await client.warned("list_users") == []


# Which are shown


def many(count: int) -> Warnings:
    warnings = Warnings()
    for number in range(count):
        warnings.append(CallWarning("VALIDATION_X_WARNING", f"Number {number}", "low", {"number": number}))
    return warnings


async def test_the_most_urgent_come_first() -> None:
    """R-WARN-6"""
    warnings = many(1)
    warnings.append(CallWarning("RATE_LIMIT_B_WARNING", "No severity counts as medium"))
    warnings.append(CallWarning("RATE_LIMIT_A_WARNING", "Now", "high"))
    assert [warning.get("severity") for warning in select_warnings(warnings, Config(), {})] == ["high", None, "low"]


async def test_ten_are_shown_and_the_last_says_how_many_are_not() -> None:
    """R-WARN-6"""
    assert len(select_warnings(many(10), Config(), {})) == 10
    shown = select_warnings(many(12), Config(), {})
    assert len(shown) == 10
    assert shown[-1] == {
        "code": "META_WARNINGS_OMITTED_WARNING",
        "message": "3 further warnings were left out",
        "details": {"omitted_count": 3, "limit": 10, "codes": ["VALIDATION_X_WARNING"]},
        "severity": "low",
    }


async def test_the_warning_about_omitted_ones_can_be_suppressed() -> None:
    """R-WARN-6"""
    shown = select_warnings(many(12), Config(warn_suppress=("META_",)), {})
    assert [warning["code"] for warning in shown] == ["VALIDATION_X_WARNING"] * 10


async def test_what_a_batch_cuts_can_be_suppressed_as_what_a_call_cuts(users: Path) -> None:
    """R-WARN-6"""
    async with agent(users, answering(["x" * 1000] * 30), warn_suppress=("VALIDATION_",)) as client:
        calls = [{"operation": "list_users"}] * 3
        result = await client.client.call_tool("mcp_aql_read", {"operations": calls})
    assert result.structured_content is not None
    results = [entry["result"] for entry in result.structured_content["results"]]
    assert all(len(result["data"]) < 30 for result in results)
    assert all("warnings" not in result for result in results)


async def test_a_warning_said_twice_of_one_call_is_one() -> None:
    """R-WARN-6"""
    assert select_warnings([CallWarning("A_B", "c"), CallWarning("A_B", "c")], Config(), {}) == [
        {"code": "A_B", "message": "c", "details": {"occurrence_count": 2}}
    ]


@pytest.mark.parametrize("suppressed", ["DEPRECATION_WARNING", "DEPRECATION_"])
async def test_a_code_or_a_category_can_be_suppressed(users: Path, suppressed: str) -> None:
    """R-WARN-6"""
    async with agent(users, warn_suppress=(suppressed,)) as client:
        assert await client.warned("list_old") == []


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_session_is_warned_once_and_another_session_anew(users: Path, era: str) -> None:
    """R-WARN-6"""
    server = build_server(dispatcher(users, answering()))
    for _ in range(2):
        async with Client(server, mode=era) as client:
            assert len(await Agent(client).warned("list_old")) == 1
            assert await Agent(client).warned("list_old") == []
            assert len(await Agent(client).warned("list_soon")) == 1


async def test_a_warning_that_became_more_urgent_is_repeated(users: Path) -> None:
    """R-WARN-6"""
    remaining = iter(["20", "15", "9", "8"])

    def answer(_: httpx2.Request) -> httpx2.Response:
        headers = {"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": next(remaining)}
        return httpx2.Response(200, json=[], headers=headers)

    async with agent(users, answer) as client:
        answers = [await client.warned("list_users") for _ in range(4)]
    assert [[warning["severity"] for warning in warnings] for warnings in answers] == [["medium"], [], ["high"], []]


async def test_warnings_can_be_given_every_time(users: Path) -> None:
    """R-WARN-6"""
    async with agent(users, warn_repeat_after=0) as client:
        assert len(await client.warned("list_old")) == len(await client.warned("list_old")) == 1


async def test_a_warning_about_the_data_is_never_left_out(users: Path) -> None:
    """R-WARN-6"""
    async with agent(users, answering(["x" * 1000] * 200)) as client:
        assert len(await client.warned("list_users")) == len(await client.warned("list_users")) == 1


async def test_a_batch_gathers_the_warnings_of_its_operations(users: Path) -> None:
    """R-WARN-6, R-BAT-1, R-BAT-2"""
    async with agent(users, answering(["x" * 1000] * 200)) as client:
        calls = [{"operation": name} for name in ("list_old", "list_soon", "list_old", "nonsense")]
        result = await client.client.call_tool("mcp_aql_read", {"operations": calls})
    envelope = result.structured_content
    assert envelope is not None
    details = [warning["details"] for warning in envelope["warnings"]]
    counts = [(detail["deprecated_item"], detail.get("occurrence_count")) for detail in details]
    assert counts == [("list_soon", None), ("list_old", 2)]
    results = [result["result"] for result in envelope["results"]]
    codes = [[warning["code"] for warning in result.get("warnings", [])] for result in results]
    assert codes == [["VALIDATION_TRUNCATED_WARNING"]] * 3 + [[]]


async def test_all_warnings_fit_the_protocols_form(users: Path) -> None:
    """R-WARN-1"""
    headers = {"Sunset": SOON.isoformat(), "X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "1"}
    async with agent(users, answering(["x" * 1000] * 200, headers)) as client:
        warnings = await client.warned("search_all", order="asc")
    assert [warning["code"] for warning in warnings] == [
        "DEPRECATION_WARNING",
        "RATE_LIMIT_QUOTA_WARNING",
        "VALIDATION_TRUNCATED_WARNING",
        "DEPRECATION_WARNING",
    ]
    for warning in warnings:
        assert set(warning) == {"code", "message", "details", "severity"}
        assert warning["severity"] in ("high", "medium", "low")


def test_warnings_of_a_step_that_differ_in_values_are_one() -> None:
    """R-WARN-6: those that differ in words, or of another step, are not."""

    def warning(step: int, text: str) -> CallWarning:
        return CallWarning("VALIDATION_UNDERSTOOD_WARNING", text, "low", {"step": step, "understood": [text]})

    read = [warning(1, f'Understood: animal_id: "{number}" was read as {number}') for number in range(7)]
    others = [warning(2, read[0].message), warning(1, 'Understood: keeper_id: "1" was read as 1')]
    shown = select_warnings([*read, *others], Config(), {})
    assert [entry["details"].get("occurrence_count") for entry in shown] == [7, None, None]
