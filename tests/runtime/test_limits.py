from __future__ import annotations

import timeit
from typing import Any

import pytest

from aqlgen.runtime.dispatch.arguments import Limits
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.settings.config import Config
from tests.cases import each

LIMITS = Limits(Config(max_request_size=200_000, max_string_length=65_536, max_array_elements=100, max_nesting_depth=8))


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@each(
    ("value", "limit_type", "limit", "actual", "unit"),
    [
        ({"params": {"a": "x" * 65_537}}, "string_length", 65_536, 65_537, "bytes"),
        ({"params": {"a": "é" * 40_000}}, "string_length", 65_536, 80_000, "bytes"),
        ({"params": {"a": [0] * 101}}, "array_elements", 100, 101, "elements"),
        (nested(9), "nesting_depth", 8, 9, "levels"),
        ({"a": ["x" * 60_000] * 4}, "request_size", 200_000, 240_019, "bytes"),
    ],
)
def test_what_exceeds_a_limit_is_refused_with_the_limit(
    value: Any, limit_type: str, limit: int, actual: int, unit: str
) -> None:
    """R-REQ-9"""
    with pytest.raises(Failure) as caught:
        LIMITS.check(value)
    assert caught.value.code == Code.PAYLOAD_TOO_LARGE
    assert caught.value.details == {
        "limit_type": limit_type,
        "limit_value": limit,
        "actual_value": actual,
        "unit": unit,
    }
    assert caught.value.message.startswith(f"Payload exceeds {limit_type} limit of {limit}")


@each("value", [{"a": "x" * 65_536}, {"a": [0] * 100}, nested(8), {"a": ["x" * 60_000] * 3}, {"a": ["\n"] * 100}])
def test_what_just_reaches_a_limit_passes(value: Any) -> None:
    """R-REQ-9"""
    LIMITS.check(value)


def test_the_size_of_a_request_is_that_of_its_json() -> None:
    """R-REQ-9: a control character weighs six bytes."""
    LIMITS.check({"a": "\u0001" * 33_000})
    with pytest.raises(Failure, match="request_size"):
        LIMITS.check({"a": "\u0001" * 34_000})


@each(
    ("value", "location", "offset"),
    [
        ({"params": {"a": "x\ud800"}}, "params.a", 1),
        ({"params": {"a": ["ok", "é\udc80"]}}, "params.a[1]", 2),
        ({"params": {"a": "x\x00y"}}, "params.a", 1),
        ({"params": {"é\x00": 1}}, "params", 2),
    ],
)
def test_text_that_is_not_unicode_and_null_characters_are_refused(value: Any, location: str, offset: int) -> None:
    """R-REQ-10"""
    with pytest.raises(Failure) as caught:
        LIMITS.check(value)
    assert caught.value.code == Code.INVALID_ENCODING
    assert caught.value.details == {"location": location, "byte_offset": offset}
    assert caught.value.message.startswith("Invalid character encoding in request")


def test_a_small_call_costs_microseconds() -> None:
    call = {"operation": "get_animal", "params": {"animal_id": 7, "note": "é"}}
    assert min(timeit.repeat(lambda: LIMITS.check(call), number=1000, repeat=5)) / 1000 < 50e-6


def test_a_large_call_lets_others_have_their_turn(zoo: Dispatcher) -> None:
    answer = zoo.handle("read", {"operation": "unknown", "params": {"a": "x" * 30_000}})
    assert answer.send(None) is None
    answer.close()
