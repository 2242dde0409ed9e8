"""Numbers keep their digits on the way from an agent to an API and back."""

from __future__ import annotations

import copy
import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime import exact_json
from aqlgen.runtime.decode.body import read_body
from aqlgen.runtime.encode.styles import header_text, path_text, query_pairs
from aqlgen.runtime.envelope import success, tool_result
from aqlgen.runtime.exact_json import ExactFloat, fingerprint, loses_digits, read_float, write_json
from aqlgen.runtime.safety.question_texts import literal
from aqlgen.runtime.server.stdio import parse
from tests.cases import each
from tests.runtime.http_endpoint import LEGACY, MODERN, endpoint

NUMBERS = [
    "0", "-1", "9007199254740993", "123456789012345678901234567890", "1.5", "1.0", "-0.0", "0.1", "1.10", "-1.00",
    "0.1000000000000000055", "3.14159265358979323846", "12345678901234567.5", "1234567890123.4567", "1e400", "1E5",
    "1e5", "-2.50e-10", "1e-400", "0.00001", "100.00", "1e999999999999999999999",
]  # fmt: skip


@each("number", ["9" * 4301, "-" + "9" * 100_000])
def test_a_number_of_thousands_of_digits_hides_nothing_beside_it(number: str) -> None:
    data = read_body(f'[{{"id": 7, "n": {number}}}, -12]'.encode(), "application/json", strict=True)
    assert data == [{"id": 7, "n": number}, -12]
    assert read_body(f'{{"n": {number}, }}'.encode(), "application/json") == f'{{"n": {number}, }}'


@each("number", NUMBERS)
def test_what_is_read_is_written_with_the_same_digits(number: str) -> None:
    content = f'{{"a":[{number},"{number}"],"b":{{"c":{number}}}}}'
    data = read_body(content.encode(), "application/json")
    assert write_json(data) == content
    result = tool_result(success(data))
    (text,) = result.content
    assert getattr(text, "text", None) == f'{{"success":true,"data":{content}}}'
    shown = json.loads(json.dumps(result.structured_content, allow_nan=False))["data"]["b"]["c"]
    assert float(shown) == float(number)  # one that no float holds is its text


@each("number", NUMBERS)
def test_a_number_in_a_message_reaches_the_call_with_its_digits(number: str) -> None:
    arguments = f'{{"operation":"pay","params":{{"amount":{number}}}}}'
    line = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}'
    message: Any = parse(line.encode())
    params = message.params["arguments"]["params"]
    value = params["amount"]
    assert write_json(value) == number or (float(write_json(value)) == float(number) and not is_lost(number))


def is_lost(number: str) -> bool:
    """Return True if a float cannot hold a number."""
    return type(read_float(number)) is ExactFloat and not ExactFloat(number).is_equal


@each("number", NUMBERS)
def test_no_number_that_a_float_loses_goes_unnoticed(number: str) -> None:
    if is_lost(number) and "." in number + "e":
        assert loses_digits(f"[{number}]".encode()) or "e-" in number


PLACES: list[tuple[str, Callable[[Any], str], str]] = [
    ("query", lambda value: query_pairs("a", value)[0], "a=1.10"),
    ("path", lambda value: path_text("a", value), "1.10"),
    ("header", header_text, "1.10"),
    ("list", lambda value: query_pairs("a", [value, value], explode=False)[0], "a=1.10,1.10"),
    ("question", literal, "1.10"),
    ("text", str, "1.10"),
]


@pytest.mark.parametrize(("place", "write", "text"), PLACES, ids=[row[0] for row in PLACES])
def test_a_number_has_its_digits_wherever_it_is_written(place: str, write: Callable[[Any], str], text: str) -> None:
    assert write(read_float("1.10")) == text, place


def test_an_exact_number_is_a_float_to_all_that_reckons() -> None:
    price = read_float("1.10")
    assert (price, price + 1, price > 1) == (1.1, 2.1, True)
    assert type(read_float("1.5")) is float
    assert write_json(copy.deepcopy({"price": price})) == '{"price":1.10}'


def test_a_text_of_the_api_is_never_taken_for_a_number() -> None:
    data = {"price": read_float("1.10"), "text": f"{exact_json._MARK[:-1]}x:1.5", "more": "1.10"}
    assert json.loads(write_json(data)) == data


def test_a_call_is_bound_to_the_value_of_a_number() -> None:
    same = [fingerprint("pay", {"amount": value}) for value in (1.1, read_float("1.10"), read_float("1.100"))]
    assert len(set(same)) == 1
    others = [fingerprint("pay", {"amount": read_float(number)}) for number in ("12345678901234567.1", "1e400")]
    others.append(fingerprint("pay", {"amount": read_float("12345678901234567.9")}))
    assert len({*same, *others}) == 4


def test_nothing_is_kept_of_a_number_that_is_gone() -> None:
    before = set(exact_json._alive)  # of other tests, as long as their failures or fixtures hold them
    data = read_body(b"[1.10, 2.20]", "application/json")
    assert len(exact_json._alive - before) == 2
    del data
    gc.collect()
    assert not exact_json._alive - before


@pytest.mark.anyio
@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_a_number_keeps_its_digits_over_http(package: Path, era: str) -> None:
    async with endpoint(package) as adapter:
        session = await adapter.open() if era == LEGACY else None

        async def exactly(method: str, params: Any, **how: Any) -> Any:
            text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
            body = text.replace('"@"', "0.1000000000000000055").encode()
            return await adapter.send(body=body, headers=[*headers, *how["headers"]])

        adapter.rpc = exactly  # type: ignore[method-assign]
        params = {"name": "Rex", "species": "dog", "notes": {"weight": "@"}}
        answer = await adapter.tool("create", "create_animal", params, session=session)
        assert answer["success"], answer
        assert b"0.1000000000000000055" in (adapter.api.sent[0].content or b"")
