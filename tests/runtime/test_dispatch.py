from __future__ import annotations

import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Code, Failure
from tests.cases import without_ids

pytestmark = pytest.mark.anyio
Make = Callable[..., Dispatcher]


async def code(dispatcher: Dispatcher, family: str | None, arguments: Any) -> str:
    envelope = await dispatcher.handle(family, arguments)
    assert set(envelope) == {"success", "error"}, envelope
    return str(envelope["error"]["code"])


async def test_a_call_gives_data_and_meta_where_there_is_a_note(zoo: Dispatcher) -> None:
    """R-ENV-1, R-ENV-2"""
    envelope = await zoo.handle("read", {"operation": "list_animals", "params": {"limit": 7}})
    assert envelope == {"success": True, "data": {"limit": 7}}
    batch = {"operations": [{"operation": "list_animals", "params": {"limit": 7}}]}
    meta = (await zoo.handle("read", batch))["_meta"]
    assert set(meta) == {"request_id", "duration_ms"}
    assert isinstance(meta["request_id"], str)
    assert meta["duration_ms"] >= 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"operation": "get_animal", "animal_id": 7},
        {"operation": "get_animal", "animalId": 7},
        {"operation": "get_animal", "animal_id": 8, "params": {"animal_id": 7}},
        {"operation": "get_animal", "animal_id": 8, "params": {"animalId": 7}},
        {"operation": "get_animal", "animalId": 8, "params": {"animal_id": 7}},
        {"operation": "get_animal", "params": {"animal_id": 7, "_note": "x"}, "_meta": {"a": 1}},
        {"operation": "get_animal", "params": {"animal_id": 7}, "operations": None},
    ],
)
async def test_parameters_inside_params_win_and_keys_with_an_underscore_are_metadata(
    zoo: Dispatcher, arguments: Any
) -> None:
    """R-REQ-1, R-REQ-2, R-REQ-3"""
    assert (await zoo.handle("read", arguments))["data"] == {"animal_id": 7}


@pytest.mark.parametrize(
    ("arguments", "expected", "names"),
    [
        ({}, Code.MISSING_PARAM, "operation"),
        (None, Code.MISSING_PARAM, "operation"),
        ({"params": {}}, Code.MISSING_PARAM, "operation"),
        ({"operation": 5}, Code.INVALID_TYPE, "operation"),
        ({"operation": "list_animals", "params": [1]}, Code.INVALID_TYPE, "params"),
        ({"operation": "list_animals", "params": "limit=1"}, Code.INVALID_TYPE, "params"),
        ({"operation": "list_animals", "operations": [{}]}, Code.INVALID_VALUE, "operations"),
        ({"operations": []}, Code.INVALID_VALUE, "operations"),
        ({"operations": {}}, Code.INVALID_TYPE, "operations"),
        ({"operations": [{}] * 51}, Code.PAYLOAD_TOO_LARGE, "51"),
        ({"operations": [{}], "limit": 1}, Code.UNKNOWN_PARAM, "limit"),
        ({"operation": "list_animals", "params": {"limt": 1}}, Code.UNKNOWN_PARAM, "limt"),
        ({"operation": "list_animals", "limt": 1}, Code.UNKNOWN_PARAM, "limt"),
    ],
)
async def test_a_malformed_request_is_refused_and_nothing_is_sent(
    zoo: Dispatcher, api: FakeApi, arguments: Any, expected: Code, names: str
) -> None:
    """R-REQ-3, R-REQ-4, R-REQ-11, R-BAT-2: exactly one of operation and operations."""
    envelope = await zoo.handle("read", arguments)
    assert envelope["success"] is False
    assert envelope["error"]["code"] == expected
    assert names in envelope["error"]["message"]
    assert api.sent == []


async def test_a_batch_of_the_most_operations_runs(zoo: Dispatcher) -> None:
    """R-BAT-2"""
    assert (await zoo.handle("read", {"operations": [{"operation": "list_animals"}] * 50}))["summary"]["total"] == 50


async def test_an_unknown_operation_brings_the_nearest_names(zoo: Dispatcher) -> None:
    """R-ERR-1"""
    error = (await zoo.handle("read", {"operation": "list_animal"}))["error"]
    assert error["code"] == "NOT_FOUND_OPERATION"
    assert error["details"]["operation"] == "list_animal"
    assert error["details"]["available"][0] == "list_animals"
    assert "'list_animals'" in error["message"]
    error = (await zoo.handle("read", {"operation": "removeAnimal"}))["error"]
    assert error["details"]["available"][0] == "delete_animal"
    error = (await zoo.handle("read", {"operation": "q" * 5000}))["error"]
    assert "available" not in error["details"]
    assert len(error["message"]) < 200


async def test_the_apis_own_operation_id_is_understood(zoo: Dispatcher) -> None:
    """R-REQ-2"""
    assert (await zoo.handle("read", {"operation": "showAnimal", "animalId": 7}))["data"] == {"animal_id": 7}
    error = (await zoo.handle("delete", {"operation": "showAnimal", "animalId": 7}))["error"]
    assert error["details"]["operation"] == "get_animal"
    arguments = {"operation": "introspect", "params": {"query": "operations", "name": "showAnimal"}}
    assert (await zoo.handle("read", arguments))["data"]["operation"]["name"] == "get_animal"


async def test_the_wrong_tool_is_named_beside_the_right_one(make: Make, api: FakeApi) -> None:
    """R-REQ-6"""
    envelope = await make(tool_prefix="zoo_").handle("delete", {"operation": "get_animal", "params": {"animal_id": 1}})
    assert without_ids(envelope["error"]) == {
        "code": "VALIDATION_ENDPOINT_MISMATCH",
        "message": "Operation 'get_animal' must be called through 'zoo_mcp_aql_read', not 'zoo_mcp_aql_delete'",
        "details": {"operation": "get_animal", "expected_endpoint": "READ", "actual_endpoint": "DELETE"},
    }
    assert await code(make(), "create", {"operation": "introspect", "params": {"query": "types"}}) == (
        "VALIDATION_ENDPOINT_MISMATCH"
    )
    assert api.sent == []


async def test_the_order_of_checks_is_size_then_existence_then_endpoint_then_parameters(zoo: Dispatcher) -> None:
    """R-REQ-4"""
    all_wrong = {"operation": "nonsense", "params": {"x": "\x00"}}
    assert await code(zoo, "delete", all_wrong) == "VALIDATION_INVALID_ENCODING"
    assert await code(zoo, "delete", {"operation": "nonsense", "params": {"x": 1}}) == "NOT_FOUND_OPERATION"
    assert await code(zoo, "delete", {"operation": "get_animal", "params": {"x": 1}}) == "VALIDATION_ENDPOINT_MISMATCH"
    assert await code(zoo, "read", {"operation": "get_animal", "params": {"x": 1}}) == "VALIDATION_MISSING_PARAM"


async def test_the_single_tool_takes_every_family(make: Make) -> None:
    """R-REQ-5"""
    dispatcher = make(mode="single", policy="open")
    for operation in ("get_animal", "delete_animal"):
        assert (await dispatcher.handle(None, {"operation": operation, "params": {"animal_id": 1}}))["success"]


async def test_a_failure_of_the_api_passes_through(zoo: Dispatcher, api: FakeApi) -> None:
    api.fails = Failure(Code.NOT_FOUND_RESOURCE, "Resource 'animal' not found: '7'", {"http_status": 404})
    envelope = await zoo.handle("read", {"operation": "get_animal", "params": {"animal_id": 7}})
    assert without_ids(envelope) == api.fails.envelope()


async def test_the_unexpected_is_logged_and_its_text_stays_here(
    zoo: Dispatcher, api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-ENV-4"""
    api.fails = ValueError("token=sesame in /srv/secret.py")
    envelope = await zoo.handle("read", {"operation": "get_animal", "params": {"animal_id": 7}})
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert "sesame" not in json.dumps(envelope)
    (line,) = capsys.readouterr().err.splitlines()
    record = json.loads(line)
    assert record["level"] == "error"
    assert record["data"]["request_id"] == envelope["error"]["details"]["request_id"]
    assert record["data"]["error"] == "ValueError"


async def test_a_batch_runs_in_order_and_a_failure_does_not_stop_it(zoo: Dispatcher, api: FakeApi) -> None:
    """R-BAT-1"""
    envelope = await zoo.handle(
        "read",
        {
            "operations": [
                {"operation": "get_animal", "params": {"animal_id": 1}},
                {"operation": "delete_animal", "params": {"animal_id": 2}},
                {"operation": "get_animal"},
                7,
                {"operations": []},
                {"operation": 5},
                {"operation": "introspect", "params": {"query": "types", "name": "string"}},
                {"operation": "get_animal", "animal_id": 3},
            ]
        },
    )
    assert envelope["success"] is True
    assert envelope["data"] is None
    assert envelope["summary"] == {"total": 8, "succeeded": 3, "failed": 5}
    assert [item["index"] for item in envelope["results"]] == list(range(8))
    assert envelope["results"][0] == {
        "index": 0,
        "operation": "get_animal",
        "result": {"success": True, "data": {"animal_id": 1}},
    }
    codes = [item["result"].get("error", {}).get("code") for item in envelope["results"]]
    assert codes == [
        None,
        "VALIDATION_ENDPOINT_MISMATCH",
        "VALIDATION_MISSING_PARAM",
        "VALIDATION_INVALID_TYPE",
        "VALIDATION_UNKNOWN_PARAM",
        "VALIDATION_INVALID_TYPE",
        None,
        None,
    ]
    assert [json.loads(request.content or b"")["animal_id"] for request in api.sent] == [1, 3]


async def test_a_call_costs_little_beside_the_api(zoo: Dispatcher) -> None:
    arguments = {"operation": "list_keepers"}
    await zoo.handle("read", arguments)
    best = 1.0
    for _ in range(5):
        begin = perf_counter()
        for _ in range(200):
            await zoo.handle("read", arguments)
        best = min(best, (perf_counter() - begin) / 200)
    assert best < 200e-6
