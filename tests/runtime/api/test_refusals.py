"""How long requests wait between retries, and what the API's refusals hold back (R-RATE-2)."""

from __future__ import annotations

import random

import pytest

from aqlgen.runtime.client.quotas import QuotaMeter
from aqlgen.runtime.client.retries import Backoff, Timing
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.wire import ApiRequest, ApiResponse

from .hand_made import Make, Package, operation
from .test_retries import BEGIN, Api, answer

READS = {"read": operation(), "search": operation(), "list": operation(), "count": operation()}


@pytest.fixture
def pets(package: Make) -> Package:
    return package(READS)


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


def test_refusals_that_demand_no_wait_slow_down_nothing_behind_them(pets: Package) -> None:
    """R-RATE-2: after three 429 with Retry-After: 0 every read goes at once."""
    api = Api(*[answer(429, retry_after="0")] * 3, *[answer()] * 50)
    assert api.send(row=pets.row("read")).status == 429
    began = api.clock.time
    for _ in range(50):
        assert api.send(row=pets.row("read")).status == 200
    assert api.clock.time - began < 1


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
    meter.note(request, "read", ApiResponse(200, headers, b""))
    now[0] += 11
    with meter.admitted(request, "read"), meter.admitted(request, "read"), pytest.raises(Failure):
        meter.admitted(request, "read").__enter__()


def test_a_parameter_with_the_name_of_a_place_is_blamed(package: Make) -> None:
    """R-ERR-2"""
    pets = package({"op": operation(parameters={"query": {"in": "query", "schema": {"type": "string"}}})})
    content = b'{"errors": [{"field": "query", "message": "no"}]}'
    with pytest.raises(Failure) as caught:
        pets.api.decode(ApiResponse(422, {"content-type": "application/json"}, content), pets.row(), {})
    assert caught.value.details["problems"][0]["param_name"] == "query"
