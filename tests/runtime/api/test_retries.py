"""Repeating requests, and the API's own limits of calls (R-RATE-2); the clock is the test's own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from email.utils import formatdate
from typing import Any

import httpx2
import pytest

from aqlgen.runtime.client.idempotency import new_key, with_idempotency_key
from aqlgen.runtime.client.retries import Timing
from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each

from .hand_made import Make, operation

BEGIN = 1_800_000_000.0
Answer = httpx2.Response | Exception
REFUSED, RESET = httpx2.ConnectError("no"), httpx2.ReadError("no")


class Clock:
    """Time that passes only in pauses."""

    def __init__(self) -> None:
        self.time = BEGIN
        self.pauses: list[float] = []

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    def timing(self) -> Timing:
        return Timing(lambda: self.time, self.pause, lambda: 0.5)


class Api:
    """An API that gives the answers in order, the last for ever, and keeps the requests."""

    def __init__(self, *answers: Answer, timeout: float = 30, retries: int = 2) -> None:
        self.answers = list(answers)
        self.seen: list[httpx2.Request] = []
        self.clock = Clock()
        self.transport = HttpTransport(
            Config(timeout=timeout, retries=retries),
            transport=httpx2.MockTransport(self._handle),
            timing=self.clock.timing(),
        )

    def _handle(self, sent: httpx2.Request) -> httpx2.Response:
        self.seen.append(sent)
        answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def send(self, method: str = "GET", row: Any = None, **more: Any) -> ApiResponse:
        sent = ApiRequest(method, more.pop("url", "https://api.example.com/a"), **more)
        return asyncio.run(self.transport.send(sent if row is None else with_idempotency_key(sent, row), row))

    def refused(self, method: str = "GET", row: Any = None, **more: Any) -> Failure:
        with pytest.raises(Failure) as caught:
            self.send(method, row, **more)
        return caught.value


def answer(status: int = 200, **headers: Any) -> httpx2.Response:
    return httpx2.Response(status, headers={name.replace("_", "-"): str(value) for name, value in headers.items()})


@each("fault", [REFUSED, RESET, httpx2.RemoteProtocolError("x"), answer(502), answer(503), answer(504)])
@each("method", ["GET", "HEAD", "OPTIONS"])
def test_a_safe_read_is_repeated_with_growing_pauses(fault: Answer, method: str) -> None:
    api = Api(fault, fault, answer())
    assert api.send(method).status == 200
    assert len(api.seen) == 3
    assert 0 < api.clock.pauses[0] <= api.clock.pauses[1] < 2


@pytest.mark.parametrize("fault", [REFUSED, RESET, answer(429, retry_after=1), answer(502), answer(503), answer(504)])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_write_is_never_repeated(fault: Answer, method: str) -> None:
    api = Api(fault, answer())
    if isinstance(fault, Exception):
        assert api.refused(method).code is Code.INTERNAL_ERROR
    else:
        assert api.send(method).status == fault.status_code
    assert len(api.seen) == 1


@each("fault", [RESET, answer(503)])
def test_an_act_by_a_safe_method_is_a_write(package: Make, fault: Answer) -> None:
    """R-RATE-2, R-ERR-2: it is not repeated, and of one without an answer nobody knows the outcome."""
    row, api = package({"op": operation("GET", danger="destructive")}, family="delete").row(), Api(fault, answer())
    if isinstance(fault, Exception):
        assert api.refused("GET", row).details["outcome"] == "unknown"
    else:
        assert api.send("GET", row).status == 503
    assert len(api.seen) == 1


@each("method", ["PUT", "DELETE"])
def test_an_idempotent_write_is_repeated_only_when_nothing_was_sent(method: str) -> None:
    api = Api(REFUSED, answer())
    assert api.send(method).status == 200
    api = Api(RESET, answer())
    assert api.refused(method).code is Code.INTERNAL_ERROR
    assert len(api.seen) == 1
    api = Api(answer(503), answer())
    assert api.send(method).status == 503


def test_a_write_with_an_idempotency_key_is_repeated_under_the_same_key(package: Make) -> None:
    row = package({"op": operation("POST", idempotency={"header": "Idempotency-Key"})}).row()
    api = Api(RESET, answer(503), answer(201))
    assert api.send("POST", row).status == 201
    keys = [request.headers["idempotency-key"] for request in api.seen]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len(keys[0]) >= 32
    api.send("POST", row)
    assert api.seen[-1].headers["idempotency-key"] != keys[0]


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ((REFUSED,), "not_performed"),
        ((RESET,), "unknown"),
        ((RESET, REFUSED), "unknown"),
        ((answer(503), REFUSED), "unknown"),
        ((answer(429), REFUSED), "not_performed"),
        ((httpx2.PoolTimeout("no"),), "not_performed"),
        ((httpx2.WriteTimeout("no"),), "unknown"),
        ((answer(429), httpx2.ReadTimeout("no")), "unknown"),
    ],
)
def test_an_earlier_attempt_counts_for_what_is_known_of_a_write(
    package: Make, answers: tuple[Answer, ...], outcome: str
) -> None:
    """R-ERR-2."""
    row = package({"op": operation("POST", idempotency={"header": "Idempotency-Key"})}, family="create").row()
    assert Api(*answers).refused("POST", row).details["outcome"] == outcome


def test_an_idempotency_key_that_the_caller_gave_stays(package: Make) -> None:
    row = package({"op": operation("POST", idempotency={"header": "Idempotency-Key"})}).row()
    api = Api(RESET, answer(201))
    assert api.send("POST", row, headers=(("idempotency-key", "mine"),)).status == 201
    assert [request.headers.get_list("idempotency-key") for request in api.seen] == [["mine"], ["mine"]]


JSON_BODY = (("Content-Type", "application/json; charset=utf-8"),)
FORM_BODY = (("Content-Type", "application/x-www-form-urlencoded"),)


@pytest.mark.parametrize(
    ("carrier", "headers", "content", "url", "expected"),
    [
        ("body", JSON_BODY, b'{"amount": 1.10}', "", rb'\{"request_key":"[0-9a-f-]{36}","amount": 1\.10\}'),
        ("body", JSON_BODY, b" { }", "", rb'\{"request_key":"[0-9a-f-]{36}"\}'),
        ("body", JSON_BODY, b'{"request_key":"mine"}', "", rb'\{"request_key":"mine"\}'),
        ("body", JSON_BODY, b"[1]", "", rb"\[1\]"),
        ("body", FORM_BODY, b"amount=1", "", rb"request_key=[0-9a-f-]{36}&amount=1"),
        ("body", FORM_BODY, b"request_key=mine", "", rb"request_key=mine"),
        ("query", (), b"", "?a=%20b", rb"a=%20b&request_key=[0-9a-f-]{36}"),
        ("query", (), b"", "", rb"request_key=[0-9a-f-]{36}"),
        ("query", (), b"", "?request_key=mine", rb"request_key=mine"),
    ],
)
def test_a_key_goes_where_the_api_has_it_and_the_rest_of_the_request_stays(
    package: Make, carrier: str, headers: Any, content: bytes, url: str, expected: bytes
) -> None:
    """R-RATE-2."""
    row = package({"op": operation("POST", idempotency={"parameter": "request_key", "in": carrier})}).row()
    api = Api(RESET, answer(201))
    sent = {"headers": headers, "content": content, "url": f"https://api.example.com/a{url}"}
    if content == b"[1]":
        assert api.refused("POST", row, **sent).code is Code.INTERNAL_ERROR
    else:
        assert api.send("POST", row, **sent).status == 201
        assert api.seen[0].content == api.seen[1].content
        assert api.seen[0].url == api.seen[1].url
    arrived = api.seen[0].content if carrier == "body" else str(api.seen[0].url).partition("?")[2].encode()
    assert re.fullmatch(expected, arrived)


@each(
    ("schema", "length"),
    [
        ({"type": "string"}, 36),
        ({"type": ["string", "null"], "format": "uuid"}, 36),
        ({"type": "string", "maxLength": 32}, 32),
        ({"type": "string", "maxLength": 20}, 0),
        ({"type": "string", "minLength": 40}, 0),
        ({"type": "string", "pattern": "^x"}, 0),
        ({"type": "integer"}, 0),
    ],
)
def test_a_key_is_made_only_where_the_api_takes_it(schema: dict[str, Any], length: int) -> None:
    assert len(new_key(schema) or "") == length


def test_retries_can_be_turned_off() -> None:
    api = Api(answer(503), answer(), retries=0)
    assert api.send().status == 503
    api = Api(RESET, answer(), retries=0)
    assert api.refused().code is Code.INTERNAL_ERROR


@each("header", ["3", "3, 3", formatdate(BEGIN + 3, usegmt=True)])
def test_retry_after_is_waited_for_when_there_is_time(header: str) -> None:
    api = Api(answer(429, retry_after=header), answer())
    assert api.send().status == 200
    assert 3 <= api.clock.pauses[0] < 3.5


@each("status", [429, 503])
def test_retry_after_beyond_the_time_out_is_told_and_not_waited_for(status: int) -> None:
    api = Api(answer(status, retry_after=31), answer())
    assert api.send().status == status
    assert api.clock.pauses == []


def test_a_bad_certificate_is_not_tried_again() -> None:
    import ssl

    fault = httpx2.ConnectError("no")
    fault.__cause__ = ssl.SSLCertVerificationError("no")
    api = Api(fault, answer())
    assert "certificate" in api.refused().message
    assert len(api.seen) == 1


SPENT: Sequence[dict[str, Any]] = (
    {"x_ratelimit_limit": 60, "x_ratelimit_remaining": 0, "x_ratelimit_reset": 40},
    {"x_ratelimit_limit": 60, "x_ratelimit_remaining": 0, "x_ratelimit_reset": int(BEGIN) + 40},
    {"x_ratelimit_limit": 60, "x_ratelimit_remaining": 0, "x_ratelimit_reset": (int(BEGIN) + 40) * 1000},
    {"x_rate_limit_limit": 60, "x_rate_limit_remaining": 0, "x_rate_limit_reset": "2027-01-15T08:00:40Z"},
    {"x_ratelimit_remaining": 0, "x_ratelimit_reset": 9, "x_ratelimit_reset_after": "39.5"},
    {"x_ratelimit_limit_requests": 60, "x_ratelimit_remaining_requests": 0, "x_ratelimit_reset_requests": "40s"},
    {"ratelimit_limit": 60, "ratelimit_remaining": 0, "ratelimit_reset": 40},
    {"ratelimit": "limit=60, remaining=0, reset=40"},
    {"ratelimit": '"default";r=0;t=40', "ratelimit_policy": '"default";q=60;w=60'},
    {
        "x_ratelimit_limit": 60,
        "x_ratelimit_remaining": 0,
        "x_ratelimit_reset": int(BEGIN) + 1040,
        "date": formatdate(BEGIN + 1000, usegmt=True),
    },
)


@each("headers", SPENT)
def test_a_request_that_would_exceed_the_limit_is_refused_before_it_is_sent(headers: dict[str, Any]) -> None:
    """R-RATE-2."""
    api = Api(answer(**headers), answer())
    assert api.send().status == 200
    failure = api.refused("POST")
    assert failure.code is Code.RATE_LIMIT_EXCEEDED
    assert failure.details["retry_after_seconds"] == 40
    assert len(api.seen) == 1
    api.clock.time += 40.5
    assert api.send().status == 200


def test_a_429_holds_back_what_comes_next_until_its_time() -> None:
    api = Api(answer(429, retry_after=100), answer())
    assert api.send().status == 429
    assert api.refused().details["retry_after_seconds"] == 100
    assert len(api.seen) == 1
    api.clock.time += 101
    assert api.send().status == 200


def test_a_limit_counts_for_its_host_and_credential_alone() -> None:
    api = Api(answer(**SPENT[0]), answer())
    api.send(secrets=frozenset({"first"}))
    assert api.send(secrets=frozenset({"second"})).status == 200
    assert api.send(secrets=frozenset({"first"}), url="https://other.example.com/").status == 200
    assert api.refused(secrets=frozenset({"first"}), url="https://api.example.com/b").code is Code.RATE_LIMIT_EXCEEDED


def test_an_operation_with_a_limit_of_its_own_is_not_held_back_by_anothers(package: Make) -> None:
    pets = package({"search": operation(), "read": operation()})
    api = Api(
        answer(x_ratelimit_limit=60, x_ratelimit_remaining=50, x_ratelimit_reset=40),
        answer(x_ratelimit_limit=5, x_ratelimit_remaining=0, x_ratelimit_reset=40),
        answer(),
    )
    api.send(row=pets.row("read"))
    api.send(row=pets.row("search"))
    assert api.refused(row=pets.row("search")).code is Code.RATE_LIMIT_EXCEEDED
    assert api.send(row=pets.row("read")).status == 200


LIMITED = {"x_ratelimit_limit": 60, "x_ratelimit_reset": 40}


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ({"status": 429, "retry_after": 40}, {}),
        ({**LIMITED, "x_ratelimit_remaining": 0}, {}),
        ({**LIMITED, "x_ratelimit_remaining": 0, "x_ratelimit_resource": "search"}, {}),
        (
            {**LIMITED, "x_ratelimit_remaining": 0, "x_ratelimit_bucket": "a1"},
            {**LIMITED, "x_ratelimit_remaining": 9, "x_ratelimit_bucket": "b2"},
        ),
        ({"ratelimit": '"search";r=0;t=40'}, {"ratelimit": '"default";r=9;t=40'}),
        ({"ratelimit": '"all";r=0;t=40;pk=:c2Vh:'}, {"ratelimit": '"all";r=9;t=40;pk=:cmVh:'}),
        ({**LIMITED, "x_ratelimit_remaining": 0}, {**LIMITED, "x_ratelimit_remaining": 40}),
    ],
)
def test_a_quota_that_is_spent_stops_only_what_it_is_about(
    package: Make, first: dict[str, Any], others: dict[str, Any]
) -> None:
    """R-RATE-2: the bucket that the response names, else its operation."""
    pets = package({"search": operation(), "read": operation(), "add": operation()})
    api = Api(answer(**others), answer(**first), answer(**others))
    api.send(row=pets.row("read"))
    api.send("POST", row=pets.row("search"))
    assert api.refused(row=pets.row("search")).code is Code.RATE_LIMIT_EXCEEDED
    assert api.send(row=pets.row("read")).status == 200
    assert api.send(row=pets.row("add")).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [{**LIMITED, "x_ratelimit_remaining": left, "x_ratelimit_resource": "core"} for left in (2, 1, 0)],
        [{"ratelimit": f'"default";r={left};t=40'} for left in (2, 1, 0)],
        [{}, {}, {"status": 429, "retry_after": 40, "x_ratelimit_global": "true"}],
        [{}, {}, {"status": 429, "retry_after": 40, "x_ratelimit_scope": "global"}],
    ],
)
def test_a_quota_that_operations_share_stops_them_all(package: Make, headers: list[dict[str, Any]]) -> None:
    """R-RATE-2: it has a name, or is called global."""
    pets = package({name: operation() for name in ("list", "read", "add")})
    api = Api(*(answer(**each) for each in headers))
    for name in ("list", "read", "add"):
        api.send("POST", row=pets.row(name))
    for name in ("list", "read", "add"):
        assert api.refused(row=pets.row(name)).details["retry_after_seconds"] == 40
    assert len(api.seen) == 3


def test_what_an_api_names_its_quotas_does_not_grow_without_a_bound(package: Make) -> None:
    pets = package({"list": operation()})
    answers = [answer(**LIMITED, x_ratelimit_remaining=9, x_ratelimit_bucket=str(each)) for each in range(3000)]
    api = Api(*answers)
    for _ in answers:
        api.send(row=pets.row("list"))
    (caller,) = api.transport._meter._callers.values()
    assert len(caller.counts) <= 1024


def test_a_limit_without_an_end_and_one_that_is_not_spent_hold_nothing_back() -> None:
    for headers in ({"x_ratelimit_remaining": 0}, {**SPENT[0], "x_ratelimit_remaining": 1}, {"ratelimit": "nonsense"}):
        api = Api(answer(**headers), answer())
        api.send()
        assert api.send().status == 200


def test_requests_that_are_under_way_count(package: Make) -> None:
    """Of two requests sent together the second is refused when one is left."""

    async def run(handle: Callable[[httpx2.Request], Any]) -> list[Any]:
        transport = HttpTransport(Config(), transport=httpx2.MockTransport(handle), timing=Clock().timing())
        sent = ApiRequest("GET", "https://api.example.com/a")
        await transport.send(sent, None)
        return await asyncio.gather(transport.send(sent, None), transport.send(sent, None), return_exceptions=True)

    async def handle(_: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0)
        return answer(x_ratelimit_limit=60, x_ratelimit_remaining=1, x_ratelimit_reset=40)

    first, second = asyncio.run(run(handle))
    assert first.status == 200
    assert isinstance(second, Failure)
