"""What keeps failing is not called for a while, retries have a budget, and refusals teach a pace (R-RATE-2)."""

from __future__ import annotations

import random
from typing import Any

import httpx2
import pytest

from aqlgen.runtime.client.quotas import QuotaMeter
from aqlgen.runtime.client.retries import Backoff, Pace, RetryBudget, Timing
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.logs.observers import Observers
from aqlgen.runtime.session import with_caller
from aqlgen.runtime.wire import ApiRequest, ApiResponse

from .hand_made import Make, Package, operation
from .test_retries import BEGIN, REFUSED, RESET, Answer, Api, answer

READS = {"read": operation(), "search": operation(), "list": operation(), "count": operation()}


@pytest.fixture
def pets(package: Make) -> Package:
    return package(READS)


def fail(api: Api, row: Any, times: int, method: str = "POST") -> None:
    """Make calls that fail, each of one request."""
    for _ in range(times):
        try:
            api.send(method, row)
        except Failure:
            continue


@pytest.mark.parametrize("fault", [answer(500), answer(503), RESET, httpx2.ReadTimeout("no")])
def test_an_operation_that_keeps_failing_is_left_alone_and_then_tried_once(pets: Package, fault: Answer) -> None:
    api = Api(fault)
    fail(api, pets.row("read"), 10)
    refused = api.refused("POST", pets.row("read"))
    assert refused.code is Code.INTERNAL_ERROR
    assert refused.details == {"circuit": "open", "scope": "operation", "retry_after_seconds": 15, "sent": False}
    assert "nothing was sent; try again in 15 seconds" in refused.message
    assert len(api.seen) == 10
    api.clock.time += 15.5
    fail(api, pets.row("read"), 3)
    assert len(api.seen) == 11  # one probe, which failed
    api.clock.time += 15.5
    api.answers = [answer()]
    assert [api.send("POST", pets.row("read")).status for _ in range(3)] == [200] * 3


def test_a_write_that_a_circuit_held_back_was_not_performed(package: Make) -> None:
    row = package({"op": operation("POST")}, family="create").row()
    api = Api(answer(500))
    fail(api, row, 10)
    assert api.refused("POST", row).details["outcome"] == "not_performed"


def test_a_broken_operation_and_whoever_breaks_it_stop_nobody_else(pets: Package) -> None:
    api = Api(answer(500))
    with with_caller({}, "mallory"):
        for name in ("read", "search", "list"):
            fail(api, pets.row(name), 20)
        assert api.refused("POST", pets.row("read")).details["circuit"] == "open"
    api.answers = [answer()]
    with with_caller({}, "ann"):
        assert api.send("POST", pets.row("read")).status == 200
    with with_caller({}, "mallory"):
        assert api.send("POST", pets.row("count")).status == 200
    assert api.send("POST", pets.row("read"), url="https://other.example.com/").status == 200


def test_a_host_that_cannot_be_reached_is_left_alone(pets: Package) -> None:
    api = Api(REFUSED)
    fail(api, pets.row("read"), 10)
    refused = api.refused("POST", pets.row("search"))
    assert (refused.details["scope"], len(api.seen)) == ("host", 10)
    api.clock.time += 16
    api.answers = [answer(404)]
    assert api.send("POST", pets.row("search")).status == 404
    assert api.send("POST", pets.row("read")).status == 404


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 501])
def test_what_the_call_is_to_blame_for_opens_no_circuit(pets: Package, status: int) -> None:
    api = Api(answer(status))
    assert [api.send("POST", pets.row("read")).status for _ in range(30) if status != 429 or len(api.seen) < 1]
    api.clock.time += 100
    api.answers = [answer()]
    assert api.send("POST", pets.row("read")).status == 200


def test_a_success_in_between_ends_the_row_of_failures(pets: Package) -> None:
    api = Api(*([answer(500)] * 9 + [answer()]) * 5)
    assert [api.send("POST", pets.row("read")).status for _ in range(50)].count(500) == 45


def test_a_circuit_can_be_turned_off(pets: Package) -> None:
    from aqlgen.runtime.client.transport import HttpTransport

    api = Api(answer(500))
    api.transport = HttpTransport(
        30, 10_000, transport=httpx2.MockTransport(api._handle), timing=api.clock.timing(), circuit=(0, 15.0)
    )
    fail(api, pets.row("read"), 30)
    assert len(api.seen) == 30


def test_a_probe_that_never_ends_does_not_hold_the_circuit_for_ever(pets: Package) -> None:
    from aqlgen.runtime.client.isolation import Circuits

    now = [BEGIN]
    circuits, request = Circuits(2, 10, lambda: now[0], Observers()), ApiRequest("GET", "https://api.example.com/a")
    for _ in range(2):
        circuits.failed(request, "read")
    now[0] += 11
    circuits.admit(request, "read", changes=False)
    with pytest.raises(Failure):
        circuits.admit(request, "read", changes=False)
    now[0] += 11
    circuits.admit(request, "read", changes=False)


def test_an_outage_is_not_multiplied_by_retries() -> None:
    """R-RATE-2: at most a fifth, beside one in a second and those that were saved up."""
    api = Api(answer(502), timeout=3600)
    from aqlgen.runtime.client.transport import HttpTransport

    api.transport = HttpTransport(
        30, 10_000, transport=httpx2.MockTransport(api._handle), timing=api.clock.timing(), circuit=(0, 1.0)
    )
    for _ in range(200):
        assert api.send().status == 502
    seconds = api.clock.time - BEGIN
    assert len(api.seen) <= 200 + 10 + 200 * 0.2 + seconds + 1


def test_a_budget_is_of_its_host_alone_and_fills_again() -> None:
    now = [BEGIN]
    budget = RetryBudget(20, lambda: now[0], Observers())
    first, second = (ApiRequest("GET", f"https://{name}.example.com/a") for name in ("a", "b"))
    assert [budget.spend(first) for _ in range(11)] == [True] * 10 + [False]
    assert budget.spend(second)
    for _ in range(5):
        budget.requested(first)
    assert [budget.spend(first) for _ in range(2)] == [True, False]
    now[0] += 3
    assert [budget.spend(first) for _ in range(4)] == [True, True, True, False]


def test_pauses_are_spread_over_all_of_their_bound() -> None:
    """R-RATE-2: full jitter."""
    chance = random.Random(7).random
    timing, backoff = Timing(chance=chance), Backoff(9, always=True)
    response = ApiResponse(503, {}, b"")
    for tries, bound in ((0, 0.25), (1, 0.5), (3, 2.0), (8, 8.0)):
        waits = [backoff.after_response(tries, response, timing) or 0.0 for _ in range(200)]
        assert 0 < min(waits) < 0.05 * bound
        assert 0.95 * bound < max(waits) <= bound


def test_a_429_without_a_word_holds_its_operation_for_a_second(pets: Package) -> None:
    api = Api(answer(429), answer())
    assert api.send("POST", pets.row("read")).status == 429
    assert api.refused("POST", pets.row("read")).details["retry_after_seconds"] == 1
    assert api.send("POST", pets.row("search")).status == 200
    assert Api(answer(429), answer()).send().status == 200


def test_a_date_of_the_api_is_read_by_the_clock_of_the_api(pets: Package) -> None:
    from email.utils import formatdate

    dates = {"date": formatdate(BEGIN + 1000, usegmt=True), "retry_after": formatdate(BEGIN + 1040, usegmt=True)}
    api = Api(answer(429, **dates), answer())
    api.send("POST", pets.row("read"))
    assert api.refused("POST", pets.row("read")).details["retry_after_seconds"] == 40


def test_when_a_quota_begins_anew_no_more_are_sent_at_once_than_it_is_large() -> None:
    now = [BEGIN]
    meter, request = QuotaMeter(lambda: now[0]), ApiRequest("GET", "https://api.example.com/a")
    headers = {"x-ratelimit-limit": "2", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "10"}
    meter.note(request, "read", ApiResponse(200, headers, b""), BEGIN)
    now[0] += 11
    with meter.admitted(request, "read"), meter.admitted(request, "read"), pytest.raises(Failure):
        meter.admitted(request, "read").__enter__()


def test_operations_that_share_a_quota_and_were_taken_apart_come_together_again() -> None:
    """The responses come in another order than they were counted in, and the windows are short."""
    now = [BEGIN]
    meter, request = QuotaMeter(lambda: now[0]), ApiRequest("GET", "https://api.example.com/a")

    def note(name: str, left: int, ends: int) -> None:
        headers = {"x-ratelimit-limit": "50", "x-ratelimit-remaining": str(left), "x-ratelimit-reset": str(ends)}
        meter.note(request, name, ApiResponse(200, headers, b""), now[0])

    note("read", 49, 10)
    note("search", 30, 10)  # far apart: no sign of one quota
    for left in range(29, 1, -2):
        note("read", left, 10)
        note("search", left - 1, 10)
    assert [limit.remaining for limit in meter.known(of_caller=False)].count(2) >= 1
    note("read", 0, 10)
    for name in ("read", "search"):
        with pytest.raises(Failure):
            meter.admitted(request, name).__enter__()


class LeakyBucket:
    """An API that lets through `rate` requests a second, and `size` at once."""

    def __init__(self, rate: float, size: float) -> None:
        self.rate, self.size, self.level, self.since = rate, size, 0.0, BEGIN

    def take(self, now: float) -> bool:
        self.level = max(0.0, self.level - (now - self.since) * self.rate)
        self.since = now
        admitted = self.level + 1 <= self.size
        self.level += admitted
        return admitted


@pytest.mark.parametrize(("rate", "size"), [(10, 10), (10, 1.2), (2, 4), (50, 5), (100, 100)])
def test_a_pace_is_learnt_that_a_leaky_bucket_hardly_ever_refuses(rate: float, size: float) -> None:
    """R-RATE-2"""
    bucket, pace, now = LeakyBucket(rate, size), Pace(), BEGIN
    admitted = refused = 0
    held_until, first = 0.0, True
    while admitted + refused < 3000:
        now = max(now, held_until)
        while not first and (seconds := pace.seconds_until_turn(now, 0)):
            now += seconds
        pace.go(now)
        sent, now = now, now + 0.004
        if bucket.take(now):
            admitted += 1
            if not first:
                pace.accepted(now)
        else:
            refused += 1
            pace.refused(now, 1.0, sent)
            held_until, first = now + 1.0, False
    assert refused / 3000 < 0.01
    assert admitted / (now - BEGIN) > 0.6 * rate


def test_a_turn_that_is_too_far_away_is_refused_and_a_rate_that_was_left_out_is_forgotten(pets: Package) -> None:
    api, refusal = Api(answer(), retries=0), answer(429, retry_after=20)
    read, search = pets.row("read"), pets.row("search")
    for response, seconds in ((refusal, 21), (answer(), 0), (refusal, 21), (answer(), 0)):
        api.answers = [response]
        api.send(row=read)
        api.clock.time += seconds
    assert api.refused(row=read).details["retry_after_seconds"] == 20  # the slowest rate that the API asks for
    assert (api.send(row=search).status, api.clock.pauses) == (200, [])
    api.clock.time += 650
    assert [api.send(row=read).status for _ in range(9)] == [200] * 9
    assert api.clock.pauses == []


def test_one_refusal_lets_one_request_go_at_a_time_for_a_few_seconds() -> None:
    pace = Pace()
    pace.refused(BEGIN, 1.0, BEGIN - 0.1)
    assert pace.seconds_until_turn(BEGIN + 2, 1) > 0
    assert pace.seconds_until_turn(BEGIN + 2, 0) == 0
    assert pace.is_forgotten(BEGIN + 6.1)


@pytest.mark.parametrize(
    ("refusals", "retry_after", "most"), [(3, "0", 3.0), (3, "2", 9.0), (3, None, 6.0), (1, "0", 2.0)]
)
def test_refusals_that_end_leave_no_slow_pace(
    pets: Package, refusals: int, retry_after: str | None, most: float
) -> None:
    """R-RATE-2: a burst of refusals measures no rate, and pacing follows what the API says."""
    headers = {} if retry_after is None else {"retry_after": retry_after}
    api = Api(*[answer(429, **headers)] * refusals, answer(), retries=0)
    for _ in range(refusals):
        try:
            api.send(row=pets.row("read"))
        except Failure as failure:
            raise AssertionError(failure.message) from failure
        api.clock.time += float(retry_after or 1) + 0.1
    before = api.clock.time
    for _ in range(200):
        assert api.send(row=pets.row("read")).status == 200
        api.clock.time += 0.005
    assert api.clock.time - before < most


def test_a_pace_that_was_learnt_in_a_bad_time_rises_within_seconds() -> None:
    """R-RATE-2: by time, not by two hundred requests at the slow pace."""
    pace, now = Pace(), BEGIN
    pace.refused(now, 1.0, now - 0.1)
    pace.accepted(now + 1.1)
    pace.refused(now + 1.2, 1.0, now + 1.15)
    assert pace.rate is not None
    pace.refused(now + 2.3, 1.0, now + 2.25)
    learnt, now = pace.rate, now + 3.4
    ends = now + 60
    while now < ends:
        now += pace.seconds_until_turn(now, 0) + 0.01
        pace.go(now)
        pace.accepted(now)
    assert pace.rate > 8 * learnt
