"""Explaining a refusal costs no more than validating, whatever the document's alternatives and the agent's values."""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.calls.conditions import compile_condition
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.exact_json import read_float
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.validation import Unexplained
from tests.attacks.bounds import cpu_seconds
from tests.cases import each
from tests.runtime.api.hand_made import Package, make_package, operation
from tests.runtime.http_endpoint import dispatcher_of
from tests.runtime.stand_in import FakeApi
from tests.runtime.tiny_zoo import write_package

pytestmark = pytest.mark.long

MOST_CALLS = 1_000_000
"""Calls of Python functions: about a fifth of a second."""
MOST_MEMORY = 12_000_000
MOST_SECONDS = 1.0
"""CPU time without a turn of others: the longest takes a quarter of it alone, half of it beside others."""
LONGEST_REFUSAL = 16_000

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
FILTER = {"$ref": "#/types/Filter"}


def branch(tag: dict[str, Any] | None, **fields: Any) -> dict[str, Any]:
    tagged = {} if tag is None else {"zz": tag}
    return {"type": "object", "required": [*fields, *tagged], "properties": {**fields, **tagged}}


def union(keyword: str, *tags: dict[str, Any] | None, **fields: Any) -> dict[str, Any]:
    """Return a type of nested objects and a leaf, which are told apart by a tag or by nothing."""
    return {keyword: [*(branch(tag, **fields) for tag in tags), branch({"enum": ["leaf"]}, value=NUMBER)]}


MANY = {"type": "array", "items": FILTER}
ENUMERATION = [f"word{index}" for index in range(3000)]
TYPES: dict[str, Any] = {
    "AnyTagged": union("anyOf", {"enum": ["and"]}, {"enum": ["or"]}, {"enum": ["not"]}, args=MANY),
    "OneTagged": union("oneOf", {"const": "and"}, {"const": "or"}, {"const": "not"}, args=MANY),
    "AnyUntagged": union("anyOf", None, None, None, args=MANY),
    "OneUntagged": union("oneOf", None, None, None, args=MANY),
    "SameTag": union("oneOf", {"enum": ["and"]}, {"enum": ["and"]}, {"enum": ["and"]}, args=MANY),
    "TextTag": union("anyOf", TEXT, TEXT, TEXT, args=MANY),
    "Single": union("anyOf", {"enum": ["and"]}, {"enum": ["or"]}, {"enum": ["not"]}, args=FILTER),
    "Both": {
        "allOf": [union("anyOf", {"enum": ["and"]}, None, args=MANY), union("oneOf", {"enum": ["or"]}, None, args=MANY)]
    },
    "Conditional": {
        "if": branch({"const": "and"}, args=MANY),
        "then": branch(None, args=MANY),
        "else": {"anyOf": [branch(None, args=MANY), branch({"enum": ["leaf"]}, value=NUMBER)]},
    },
    "Dependent": {
        "dependentSchemas": {"args": branch(None, args=MANY), "zz": branch(None, args=MANY)},
        "type": "object",
    },
    "Patterned": {"patternProperties": {"^a": MANY, "^ar": MANY, "s$": MANY}, "additionalProperties": False},
    "Mapped": {"anyOf": [{"additionalProperties": MANY}, {"additionalProperties": FILTER}, NUMBER]},
    "Wide": union("anyOf", *({"enum": [f"kind{index}"]} for index in range(200)), args=MANY),
    "WideUntagged": union("oneOf", *(None for _ in range(200)), args=MANY),
    "ClosedWide": {
        "oneOf": [{**branch(None, **{f"own{index}": NUMBER}), "additionalProperties": False} for index in range(200)]
    },
    "Patterns": {
        "patternProperties": {f"^x{index}.*y$": NUMBER for index in range(60)},
        "additionalProperties": False,
    },
    "Endless": {"anyOf": [FILTER, {"allOf": [FILTER]}, NUMBER]},
    "Listed": {"type": "array", "items": {"enum": ENUMERATION}},
    "ListedAny": {"type": "array", "items": {"anyOf": [{"enum": ENUMERATION}, NUMBER, {"const": "other"}]}},
    "Closed": {"type": "object", "properties": dict.fromkeys(ENUMERATION[:500], NUMBER), "additionalProperties": False},
}


def nested(depth: int, *, width: int = 1, tag: str = "and", leaf: Any = "wrong", single: bool = False) -> Any:
    value: Any = {"value": leaf, "zz": "leaf"}
    for _ in range(depth):
        value = {"args": value if single else [value] * width, "zz": tag}
    return value


def package(folder: Any, name: str) -> Package:
    parameters = {"filter": {"in": "body", "schema": FILTER}}
    types = {"Filter": TYPES[name]}
    return make_package(folder, {"op": operation("POST", parameters=parameters)}, types, family="create")


DEEP = 12
ATTACKS: list[tuple[str, Any]] = [
    *((name, nested(DEEP)) for name in TYPES),
    *(
        (name, nested(30))
        for name in ("AnyTagged", "OneTagged", "AnyUntagged", "OneUntagged", "SameTag", "TextTag", "Both")
    ),
    *((name, nested(30, single=True)) for name in ("Single", "Mapped", "Endless")),
    *((name, nested(8, width=3)) for name in ("AnyTagged", "OneUntagged", "TextTag")),
    *((name, json.dumps(nested(DEEP))) for name in ("AnyTagged", "OneUntagged", "Conditional")),
    *((name, nested(DEEP, tag="AND")) for name in ("AnyTagged", "OneTagged", "Wide")),
    *((name, nested(DEEP, leaf="5")) for name in ("AnyUntagged", "OneUntagged", "TextTag")),
    ("Listed", [f"wrong{index}" for index in range(9_999)]),
    ("Listed", [word.upper() for word in ENUMERATION] * 3),
    ("ListedAny", [f"wrong{index}" for index in range(9_999)]),
    ("Closed", {f"Word-{index}": "x" for index in range(9_999)}),
    ("Closed", {word.upper(): "5" for word in ENUMERATION}),
    ("Wide", {"args": [{"zz": f"kind{index}"} for index in range(2_000)], "zz": "kind1"}),
    ("WideUntagged", [[[{"zz": index}] for index in range(3_000)]]),
    *((name, {f"key{index}": 1 for index in range(20_000)}) for name in ("Wide", "WideUntagged", "Patterned")),
    ("Endless", [["x"]] * 9_999),
    ("Mapped", {f"a{index}": [{"b": [{"c": ["d"]}]}] for index in range(2_000)}),
    ("Wide", 10**400),
    ("Listed", [10**4_000]),
    ("Listed", "[" * 900 + "]" * 900),
    ("Endless", '{"args":' * 900 + "1" + "}" * 900),
]


def warm(folder: Any, name: str) -> Package:
    """Return an adapter that has read its types and compiled what a first call needs."""
    adapter = package(folder, name)
    with suppress(Failure):
        adapter.understand({"filter": 5})
    return adapter


@each(("name", "value"), ATTACKS, ids=[f"{name}-{index}" for index, (name, _) in enumerate(ATTACKS)])
def test_no_value_makes_a_refusal_costly(tmp_path: Any, name: str, value: Any) -> None:
    """R-TRUST-4, R-REQ-4: neither in work nor in what is answered, while another call has an exact number."""
    adapter, calls, answered, exact = warm(tmp_path, name), 0, 0, read_float("0.12345678901234567890")

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(counted)
    try:
        adapter.understand({"filter": value})
    except Failure as failure:
        sys.setprofile(None)
        answered = len(json.dumps(failure.envelope()))
    sys.setprofile(None)
    assert exact
    assert calls < MOST_CALLS
    assert answered < LONGEST_REFUSAL


@each(
    ("name", "value"),
    [
        ("Wide", "é" * 450_000),
        ("WideUntagged", "[" * 900_000),
        ("Wide", {f"k{index}": {} for index in range(60_000)}),
        ("ClosedWide", {f"k{index}": 1 for index in range(60_000)}),
        ("Listed", [json.loads('{"a":' * 25 + "1" + "}" * 25) for _ in range(5_000)]),
        ("Patterns", {f"x{index}": 1 for index in range(60_000)}),
    ],
    ids=["text", "brackets", "fields", "unknown fields", "deep items", "fields of patterns"],
)
def test_no_value_is_copied_for_each_alternative(tmp_path: Any, name: str, value: Any) -> None:
    """R-TRUST-4: while another call has an exact number, too."""
    adapter, exact = warm(tmp_path, name), read_float("0.12345678901234567890")
    with cpu_seconds(MOST_SECONDS), suppress(Failure):
        adapter.understand({"filter": value})
    assert exact


def test_no_unknown_parameter_is_compared_with_each_that_is_known(tmp_path: Any) -> None:
    """R-TRUST-4"""
    parameters = {f"known_{index}": {"in": "query", "schema": TEXT} for index in range(200)}
    adapter = make_package(tmp_path, {"op": operation("GET", parameters=parameters)})
    with cpu_seconds(2 * MOST_SECONDS), suppress(Failure):
        adapter.understand({f"unknown{index}": 1 for index in range(50_000)})


@each("index", [5, 13, 23, 28, 40, 45])
def test_no_value_makes_a_refusal_take_memory(tmp_path: Any, index: int) -> None:
    """R-TRUST-4"""
    name, value = ATTACKS[index]
    adapter = warm(tmp_path, name)
    tracemalloc.start()
    with suppress(Failure):
        adapter.understand({"filter": value})
    _, memory = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < MOST_MEMORY


@pytest.mark.parametrize("name", ["AnyTagged", "OneTagged", "Single"])
def test_the_refusal_of_a_deep_value_names_its_place(tmp_path: Any, name: str) -> None:
    """R-ENV-5"""
    with pytest.raises(Failure) as caught:
        package(tmp_path, name).understand({"filter": nested(3, single=name == "Single", leaf="x")})
    place = "filter.args.args.args.value" if name == "Single" else "filter.args[0].args[0].args[0].value"
    assert place in json.dumps(caught.value.envelope())


LONG = "a" * 900_000


@each(
    "params",
    [
        {LONG: 1},
        {"-" * 900_000: 1},
        {f"{index}{LONG[:4_000]}": 1 for index in range(200)},
        {"filter": {LONG: 1}},
        {"filter": {f"{index}{LONG[:4_000]}": 1 for index in range(200)}},
    ],
)
@each("name", ["Closed", "ClosedWide"])
def test_a_long_name_is_not_said_back(tmp_path: Any, name: str, params: dict[str, Any]) -> None:
    """R-TRUST-4, R-REQ-4"""
    with pytest.raises(Failure) as caught:
        package(tmp_path, name).understand(params)
    assert len(json.dumps(caught.value.envelope())) < LONGEST_REFUSAL


@each("operator", ["contains", "startswith", "gt", "lte", "eq", "ne"])
def test_a_long_bound_of_a_condition_is_read_once(operator: str) -> None:
    """R-TRUST-4, R-SEL-4: and not for each of ten thousand items."""
    items = [{"name": f"name {index}"} for index in range(10_000)]
    with cpu_seconds(2):
        holds = compile_condition({"name": {operator: LONG}})
        assert sum(map(holds, items)) in (0, len(items))


@pytest.mark.anyio
async def test_a_batch_leaves_other_callers_their_turn(tmp_path: Any) -> None:
    """R-TRUST-4, R-BAT-1: between any two of its operations, also where none of them waits for the API."""
    dispatcher = dispatcher_of(write_package(tmp_path / "zoo"), Config())
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.sleep(0)

    async with anyio.create_task_group() as calls:
        calls.start_soon(other)
        await anyio.sleep(0)
        turns = 0
        await dispatcher.handle(None, {"operations": [{"operation": "no_such"}] * 50})
        assert turns >= 50
        calls.cancel_scope.cancel()


PETSTORE = next((Path(__file__).parents[2] / "fixtures/golden/petstore").rglob("operations")).parent
OPEN = {"type": "object", "additionalProperties": True}
BODY = {"content_type": "application/json", "shape": "whole", "parameter": "body", "schema": OPEN}
NAMES = {f"field{index}": 1 for index in range(60_000)}
RULES = json.dumps([{"operations": ["*"], "when": {"kind": {"matches": ["prod*", "*-x"]}}, "action": "confirm"}])
DEEP = [f"{index}.{'a.' * 90}b" for index in range(400)]


@pytest.mark.anyio
@each(
    ("arguments", "code"),
    [
        ({"operation": "save", "params": {"body": NAMES}}, "CONFIRMATION_REQUIRED"),
        ({"operation": "save", "params": {"body": {"a": [NAMES]}}}, "CONFIRMATION_REQUIRED"),
        ({"operation": "save", "params": {"body": {"kind": "%25" * 330_000}}}, "CONFIRMATION_REQUIRED"),
        ({"operation": "save", "params": {"body": {}, "options": NAMES}}, "VALIDATION_PAYLOAD_TOO_LARGE"),
        ({"operations": [{"operation": "save", "params": {"body": dict([*NAMES.items()][:1200])}}] * 50}, None),
        ({"operation": "remove", "params": {"name": "%252e" * 190_000}}, "VALIDATION_PAYLOAD_TOO_LARGE"),
        ({"operation": "remove", "params": {"name": "/data" + "/..a" * 240_000}}, "VALIDATION_PAYLOAD_TOO_LARGE"),
        ({"operation": "list_pets", "params": {"fields": ["a." * 490_000]}}, "VALIDATION_INVALID_VALUE"),
        ({"operation": "list_pets", "params": {"fields": ["a" * 900_000]}}, "VALIDATION_INVALID_VALUE"),
        ({"operation": "list_pets", "params": {"fields": [*map(str, range(9_000))]}}, "VALIDATION_INVALID_VALUE"),
        ({"operation": "list_pets", "params": {"fields": DEEP}}, None),
        ({"operation": "introspect", "params": {"query": "operations", "search": " ".join(NAMES)}}, None),
        (
            {"operation": "run_steps", "params": {"steps": [{"operation": "list_pets", "where": NAMES}]}},
            "VALIDATION_INVALID_VALUE",
        ),
    ],
    ids=lambda arguments: json.dumps(arguments)[:80],
)
async def test_no_large_call_holds_the_others(tmp_path: Path, arguments: dict[str, Any], code: str | None) -> None:
    """R-TRUST-4: for no more than a part of a second on a machine at rest, and each is refused by its name."""
    rows = {
        "save": operation(
            "POST",
            "/save",
            verb="create",
            danger="destructive",
            parameters={"body": {"in": "body", "schema": OPEN}, "options": {"in": "query", "schema": OPEN}},
            body=BODY,
        ),
        "remove": operation(
            "POST",
            "/pets/{name}",
            verb="create",
            danger="destructive",
            parameters={"name": {"in": "path", "required": True, "schema": TEXT}},
        ),
    }
    make_package(tmp_path / "made", rows, family="create", examples={})
    (tmp_path / "made" / "mock.json").write_text("{}")
    names = json.dumps(arguments)[:60]
    folder = tmp_path / "made" if "save" in names or "remove" in names else PETSTORE
    ready = assemble(folder, environ={"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_POLICY_RULES": RULES}, mock=True)
    longest, begin = 0.0, time.thread_time()

    async def other() -> None:
        nonlocal longest, begin
        while True:
            longest, begin = max(longest, time.thread_time() - begin), time.thread_time()
            await anyio.sleep(0.001)

    async with anyio.create_task_group() as calls:
        calls.start_soon(other)
        for _ in range(3):  # the first imports, and one may collect the garbage of other tests
            await anyio.sleep(0)
            longest = 0.0
            answer = await ready.dispatcher.handle(None, arguments)
            await anyio.sleep(0.002)
            if longest < MOST_SECONDS:
                break
        calls.cancel_scope.cancel()
    await ready.close()
    assert longest < MOST_SECONDS
    assert code is None or answer["error"]["code"] == code


class Explaining(FakeApi):
    """An API's side on which a creation is never valid, and takes until `over` to be explained."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.over, self.most, self.now = threading.Event(), threading.Event(), 0, 0

    def of(self, _: Any) -> Any:
        return self

    def validate(self, row: Any, params: Any, understood: Any = None, *, explain: bool = True) -> dict[str, Any]:
        if row.name != "create_animal":
            return super().validate(row, params, understood)
        if not explain:
            raise Unexplained
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.set()
        in_time = self.over.wait(5)
        self.now -= 1
        raise Failure(Code.INVALID_VALUE, "explained" if in_time else "waited for in vain")


@pytest.mark.anyio
async def test_a_refusal_that_is_explained_holds_no_other_call(tmp_path: Any) -> None:
    """R-TRUST-4: refusals wait for one another, and everything else goes on."""
    api, refused = Explaining(), []
    dispatcher = dispatcher_of(write_package(tmp_path / "zoo"), Config(), api)
    create = {"operation": "create_animal", "params": {"name": "Ada", "species": "lion"}}

    async def call(arguments: dict[str, Any]) -> None:
        refused.append(await dispatcher.handle(None, arguments))

    async with anyio.create_task_group() as calls:
        for arguments in (create, create, {"operations": [create]}):
            calls.start_soon(call, arguments)
        while not api.begun.is_set():
            await anyio.sleep(0.001)
        answer = await dispatcher.handle(None, {"operation": "list_animals", "params": {}})
        assert answer["success"]
        assert refused == []
        api.over.set()
    assert api.most == 1
    assert len(refused) == 3
    assert "waited for in vain" not in json.dumps(refused)


@pytest.mark.anyio
async def test_what_was_sent_goes_with_its_refusal(tmp_path: Any) -> None:
    """R-TRUST-4: it does not stay in a circle until the collector comes, with that of a hundred refusals."""
    environ = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_BASE_URL": "https://zoo.test"}
    dispatcher = assemble(write_package(tmp_path / "zoo"), environ=environ).dispatcher
    gc.disable()
    try:
        for _ in range(2):  # the first call imports what refusals need
            gc.collect()
            value = {"name": [[index] for index in range(9_999)], "species": "lion"}
            refusal = await dispatcher.handle(None, {"operation": "create_animal", "params": value})
            del value
            assert refusal["error"]["code"] == Code.INVALID_TYPE
        assert gc.collect() < 1_000
    finally:
        gc.enable()
