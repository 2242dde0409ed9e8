"""Plans of several steps: their form, references, conditions, halting and going on (R-STEP-1, R-STEP-2, R-STEP-3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult
from stand_in import FakeApi

from aqlgen.runtime.dispatch import run as run_module
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from aqlgen.runtime.steps.references import pick, read_reference, resolve
from aqlgen.runtime.table import Row
from aqlgen.runtime.wire import ApiResponse
from tests.cases import each

pytestmark = pytest.mark.anyio
ANIMALS: list[dict[str, Any]] = [
    {"id": 1, "name": "Ada", "species": "lion", "age": 3},
    {"id": 2, "name": "Bo", "species": "newt", "age": None},
    {"id": 3, "name": "Cleo", "species": "lion", "age": 9},
]


class Zoo(FakeApi):
    """An API that keeps animals; `broken` are the operations that fail."""

    def __init__(self) -> None:
        super().__init__()
        self.animals: dict[int, dict[str, Any]] = {animal["id"]: dict(animal) for animal in ANIMALS}
        self.broken: set[str] = set()
        self.done: list[tuple[str, Any]] = []

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Perform the call and return its data."""
        if row.name in self.broken:
            raise Failure(Code.NOT_FOUND_RESOURCE, "There is no such thing", {"operation": row.name})
        self.done.append((row.name, params.get("animal_id", params.get("name"))))
        if row.name == "list_animals":
            return {"items": list(self.animals.values()), "pageInfo": {"hasNextPage": len(self.animals) > 50}}
        if row.name == "create_animal":
            number = max(self.animals, default=0) + 1
            self.animals[number] = {"id": number, **params}
            return self.animals[number]
        if row.name == "delete_animal":
            return self.animals.pop(params["animal_id"], None)
        if row.name == "get_animal":
            return self.animals[params["animal_id"]]
        if row.name == "update_animal":
            self.animals[params["animal_id"]] |= params["input"]
            return self.animals[params["animal_id"]]
        return [{"full_name": "Kim"}, {"full_name": "Lou"}]


@pytest.fixture
def api() -> Zoo:
    return Zoo()


@pytest.fixture
def run(make: Callable[..., Dispatcher]) -> Callable[..., Any]:
    session = Session("s")
    dispatchers: dict[str, Dispatcher] = {}

    async def answer(*steps: Mapping[str, Any], person: Any = None, **more: Any) -> dict[str, Any]:
        settings = more.pop("settings", {})
        dispatcher = dispatchers.setdefault(repr(settings), make(**settings))
        params = {**({"steps": list(steps)} if steps else {}), **more}
        return await dispatcher.handle(None, {"operation": "run_steps", "params": params}, session, person)

    return answer


FIND = {"id": "find", "operation": "list_animals"}


def get(reference: Any, **more: Any) -> dict[str, Any]:
    return {"operation": "get_animal", "params": {"animal_id": reference}, **more}


def ref(text: str) -> dict[str, str]:
    return {"$ref": text}


# References and conditions


DATA = {"items": [{"id": 7, "a b": 1, "fullName": "x", "tags": ["p", "q"]}, {}], "none": None, "0": "zero"}


@each(
    ("text", "value"),
    [
        ("find", DATA),
        ("find.items[0].id", 7),
        ("find.items[-2].tags[1]", "q"),
        ('find.items[0]["a b"]', 1),
        ("find.items[0].full_name", "x"),
        ("find.items[0].FULLNAME", "x"),
        ("find.none", None),
        ("find.0", "zero"),
        ("1.items[0].id", 7),
        ("find.items[*].id", [7, None]),
        ("find.items[*].tags[*]", [["p", "q"], None]),
        ("find.items[0].tags[*]", ["p", "q"]),
    ],
)
def test_a_reference_is_a_path_into_an_earlier_answer(text: str, value: Any) -> None:
    """R-STEP-1"""
    assert pick(DATA, read_reference(ref(text))) == value


@each(
    ("text", "message"),
    [
        ("find.nope", "find has no 'nope'"),
        ("find.items.id", "find.items is a list: give an index, such as [0]"),
        ("find.items[2]", "find.items has 2 items"),
        ("find.none[*].id", "find.none is null, no list"),
        ("find[0]", "find is an object, no list"),
        ("find.none.x", "find.none is null"),
        ("find.items[0].id.x", "find.items[0].id is a single value"),
    ],
)
def test_a_reference_that_leads_nowhere_says_where_it_ends(text: str, message: str) -> None:
    """R-STEP-1"""
    with pytest.raises(Failure, match="leads nowhere") as caught:
        pick(DATA, read_reference(ref(text)))
    assert message in caught.value.message


@each(
    "text", ["", ".a", "find.", "find..a", "find[", "find[x]", "find[0", "$.a", "#/a/b", "find a", "x" * 1001, 5, None]
)
def test_what_is_no_reference_is_refused(text: Any) -> None:
    """R-STEP-1"""
    with pytest.raises(Failure, match="not a reference"):
        read_reference({"$ref": text})


@each(
    ("data", "text", "value"),
    [
        ({"data": [{"id": 7}], "next": None}, "find.items[0].id", 7),
        ([{"id": 7}], "find.items[*].id", [7]),
        ({"items": {"id": 7}, "data": []}, "find.items.id", 7),
        ([{"data": [1]}, {"data": [2]}], "find[*].items", [[1], [2]]),
    ],
)
def test_items_are_the_list_of_an_answer_whatever_it_is_called(data: Any, text: str, value: Any) -> None:
    """R-STEP-1: an agent need not know how the API names it."""
    assert pick(data, read_reference(ref(text))) == value


def test_only_an_object_of_the_one_key_is_a_reference() -> None:
    """R-STEP-1: and what it stands for is not searched for references."""
    value = {"a": [ref("x"), {"$ref": "x", "b": 1}], "c": {"d": ref("x")}}
    looked_up = ref("secret")
    assert resolve(value, lambda _: looked_up) == {"a": [looked_up, {"$ref": "x", "b": 1}], "c": {"d": looked_up}}


@pytest.mark.parametrize(
    "where", [{}, [], "x", ref("find"), {"a": {"like": ref("find")}}, {"a": {}}, {"a": {"in": 5}}, {"a": [1]}]
)
async def test_what_is_no_condition_is_refused_before_anything_is_sent(run: Any, api: Zoo, where: Any) -> None:
    """R-STEP-1"""
    assert not (await run(FIND, {"operation": "list_keepers", "where": where}))["success"]
    assert api.done == []


# A plan that runs


async def test_a_step_has_values_of_those_before_it(run: Any, api: Zoo) -> None:
    """R-STEP-1: by id and by number; without return the data of every step come back."""
    answer = await run(FIND, get(ref("find.items[0].id")), get(ref("2.id")))
    assert answer["data"]["steps"][1] == {"step": 2, "operation": "get_animal", "data": api.animals[1]}
    assert answer["data"]["steps"][0]["id"] == "find"
    assert answer["_meta"]["summary"] == {"steps": 3, "done": 3, "calls": 3}
    assert api.done[1:] == [("get_animal", 1)] * 2


async def test_foreach_repeats_a_step_for_each_item_that_where_keeps(run: Any, api: Zoo) -> None:
    """R-STEP-1: with item and index as names."""
    update = {
        "operation": "update_animal",
        "foreach": ref("find.items"),
        "where": {"species": "lion"},
        "params": {"animal_id": ref("item.id"), "input": {"name": ref("item.name"), "age": ref("index")}},
        "fields": ["id", "age"],
    }
    answer = await run(FIND, update, **{"return": {"second": ref("2[1].age"), "all": ref("2"), "plain": 5}})
    assert answer["data"] == {"second": 1, "all": [api.animals[1], api.animals[3]], "plain": 5}
    assert [animal["age"] for animal in api.animals.values()] == [0, None, 1]
    answer = await run(FIND, update)
    assert answer["data"]["steps"][1] == {
        "step": 2,
        "operation": "update_animal",
        "calls": 2,
        "data": [{"id": 1, "age": 0}, {"id": 3, "age": 1}],
    }


async def test_where_of_a_step_without_foreach_is_about_its_answer(run: Any) -> None:
    """R-STEP-1: of a page, and of a list; `fields` are what is shown, references see everything."""
    lions = {**FIND, "where": {"species": "lion"}, "fields": ["items.name"]}
    keepers = {"operation": "list_keepers", "where": {"full_name": {"in": [ref("1.items[0].name"), "Lou"]}}}
    answer = await run(lions, keepers, get(ref("find.items[1].id"), fields=["name"]))
    steps = answer["data"]["steps"]
    assert [step["data"] for step in steps] == [
        {"items": [{"name": "Ada"}, {"name": "Cleo"}]},
        [{"full_name": "Lou"}],
        {"name": "Cleo"},
    ]
    answer = await run(get(1, where={"name": "x"}))
    assert "where selects items of a list" in answer["error"]["message"]


async def test_an_empty_foreach_makes_no_call(run: Any, api: Zoo) -> None:
    """R-STEP-1"""
    answer = await run(FIND, get(ref("item.id"), foreach=ref("find.items"), where={"id": 99}))
    assert answer["data"]["steps"][1] == {"step": 2, "operation": "get_animal", "calls": 0, "data": []}
    assert len(api.done) == 1


async def test_what_return_does_not_find_is_null_and_said(run: Any) -> None:
    """R-STEP-1: the plan is done, and its answer is not lost."""
    answer = await run(FIND, **{"return": {"x": ref("find.items[9].id"), "y": ref("find.items[0].id")}})
    assert answer["data"] == {"x": None, "y": 1}
    assert "leads nowhere" in answer["warnings"][0]["message"]


# What is checked before anything is sent


@pytest.mark.parametrize(
    ("steps", "code", "message"),
    [
        ([], "VALIDATION_MISSING_PARAM", "'steps'"),
        ([FIND] * 21, "VALIDATION_PAYLOAD_TOO_LARGE", "no more than 20 steps"),
        ([7], "VALIDATION_INVALID_TYPE", "Step 1: A step is an object"),
        ([FIND, FIND], "VALIDATION_INVALID_VALUE", "Two steps have the id 'find'"),
        ([{**FIND, "id": "item"}], "VALIDATION_INVALID_VALUE", "An id is"),
        ([{**FIND, "id": "1"}], "VALIDATION_INVALID_VALUE", "An id is"),
        ([{**FIND, "limit": 1}], "VALIDATION_UNKNOWN_PARAM", "are in params"),
        ([{"id": "a"}], "VALIDATION_MISSING_PARAM", "'operation'"),
        ([FIND, {"operation": "nope"}], "NOT_FOUND_OPERATION", "Step 2: Unknown operation: 'nope'"),
        ([FIND, {"operation": "get_animal"}], "VALIDATION_MISSING_PARAM", "Step 2: Missing"),
        ([FIND, get(ref("find.items[0].id")), get(1, params={"x": 1})], "VALIDATION_MISSING_PARAM", "Step 3"),
        ([FIND, {"operation": "get_animal", "params": {"id": ref("1")}}], "VALIDATION_UNKNOWN_PARAM", "Step 2"),
        ([FIND, {"operation": "get_animal", "params": ref("find")}], "VALIDATION_INVALID_TYPE", "params is"),
        ([get(ref("2.id")), FIND], "VALIDATION_INVALID_VALUE", "Step 1: '2.id' begins with no earlier step"),
        ([get(ref("find.id")), FIND], "VALIDATION_INVALID_VALUE", "begins with no earlier step"),
        ([FIND, get(ref("item.id"))], "VALIDATION_INVALID_VALUE", "only in a step with foreach"),
        ([FIND, get(ref("find items"))], "VALIDATION_INVALID_VALUE", "not a reference"),
        ([FIND, get(1, foreach=5)], "VALIDATION_INVALID_TYPE", "foreach is"),
        (
            [FIND, get(1, foreach=ref("find.items"), where={"a": {"is": 1}})],
            "VALIDATION_INVALID_VALUE",
            "operators of 'a'",
        ),
        ([FIND, get(1, fields="some")], "VALIDATION_INVALID_VALUE", "fields is"),
        ([get(1, foreach=[1]), get(ref("1.id"))], "VALIDATION_INVALID_VALUE", "begin with [0]"),
        ([FIND, {"operation": "introspect"}], "VALIDATION_INVALID_VALUE", "the adapter's own"),
        ([FIND, {"operation": "confirm_operation"}], "VALIDATION_INVALID_VALUE", "the adapter's own"),
        ([FIND, {"operation": "run_steps"}], "VALIDATION_INVALID_VALUE", "the adapter's own"),
        ([FIND, {"operation": "list_keepers", "params": {"x": ref("find")}}], "VALIDATION_UNKNOWN_PARAM", "x"),
        (
            [FIND, {"operation": "update_animal", "params": {"animal_id": 1, "naem": ref("find.items[0].name")}}],
            "VALIDATION_UNKNOWN_PARAM",
            "Step 2: Unknown parameter(s) for operation 'update_animal': naem",
        ),
        (
            [{**FIND, "id": "a"}, {"operation": "create_animal", "params": {"name": "x", "notes": [ref("a")] * 201}}],
            "VALIDATION_INVALID_VALUE",
            "no more than 200 references",
        ),
    ],
)
async def test_the_whole_plan_is_checked_before_anything_is_sent(
    run: Any, api: Zoo, steps: list[Any], code: str, message: str
) -> None:
    """R-STEP-1, R-STEP-3"""
    error = (await run(*steps, **({} if steps else {"steps": []})))["error"]
    problems = [(error["code"], error["message"])]
    problems += [(problem["code"], problem["message"]) for problem in error.get("details", {}).get("problems", [])]
    assert any(code == each and message in text for each, text in problems), error
    assert api.done == []


async def test_every_problem_of_a_plan_is_told(run: Any) -> None:
    """R-STEP-1"""
    error = (await run(FIND, {"operation": "nope"}, get(ref("9.id")), **{"return": {"x": ref("8")}}))["error"]
    assert error["details"]["step"] == 2
    assert [problem["message"][:6] for problem in error["details"]["problems"]] == ["Step 3", "return"]


async def test_a_problem_that_ends_with_a_question_gets_no_second_sign(run: Any) -> None:
    """R-STEP-1"""
    misspelt = {"operation": "get_animls", "params": {"animal_id": 1}}
    message = (await run(misspelt))["error"]["message"]
    assert "? Nothing was sent." in message


async def test_a_plan_is_no_item_of_a_batch(zoo: Dispatcher, api: Zoo) -> None:
    """R-STEP-1, R-BAT-1"""
    item = {"operation": "run_steps", "params": {"steps": [FIND]}}
    answer = await zoo.handle(None, {"operations": [item]}, Session("s"))
    assert "call 'run_steps' alone" in answer["results"][0]["result"]["error"]["message"]
    assert api.done == []


# Halting and going on


async def test_a_failure_halts_and_the_answer_says_what_was_done_and_how_to_go_on(run: Any, api: Zoo) -> None:
    """R-STEP-2: nothing that was done is done again."""
    api.broken = {"delete_animal"}
    create = {"id": "new", "operation": "create_animal", "params": {"name": "Dot", "species": "newt"}}
    delete = {"operation": "delete_animal", "params": {"animal_id": ref("new.id")}}
    settings = {"policy": "open"}
    error = (await run(create, delete, FIND, settings=settings))["error"]
    assert error["code"] == "NOT_FOUND_RESOURCE"
    assert error["message"].startswith("Step 2: There is no such thing. To continue: run_steps with continue")
    plan = error["details"]["plan"]
    assert plan["halted_at"] == {"step": 2, "operation": "delete_animal"}
    assert plan["done"] == [{"step": 1, "id": "new", "operation": "create_animal", "data": api.animals[4]}]
    assert [step["step"] for step in plan["not_done"]] == [2, 3]
    assert plan["summary"] == {"steps": 3, "done": 1, "calls": 2}
    api.broken = set()
    answer = await run(settings=settings, **{"continue": plan["continue"]})
    assert [name for name, _ in api.done] == ["create_animal", "delete_animal", "list_animals"]
    assert answer["_meta"]["summary"] == {"steps": 3, "done": 3, "calls": 4}
    assert answer["data"]["steps"][0]["data"]["name"] == "Dot"
    again = await run(settings=settings, **{"continue": plan["continue"]})
    assert again["error"]["code"] == "TOKEN_INVALID"


@each("path", ["find.items[0].idd", "find.items[9].id"])
async def test_a_plan_whose_reference_leads_nowhere_does_not_go_on(run: Any, api: Zoo, path: str) -> None:
    """R-STEP-2: its steps cannot change, so it would fail again."""
    error = (await run(FIND, get(ref(path))))["error"]
    assert error["message"].endswith(". This plan would fail here again: send its other steps as a new plan.")
    assert "continue" not in error["details"]["plan"]
    assert error["details"]["plan"]["done"][0]["data"]["items"]


async def test_a_plan_that_halts_after_much_data_names_its_steps_without_it(run: Any, api: Zoo) -> None:
    """R-STEP-2"""
    api.animals = {number: {"id": number, "name": "x" * 300} for number in range(200)}
    error = (await run(FIND, get(ref("find.nope"))))["error"]
    assert error["details"]["plan"]["done"] == [{"step": 1, "id": "find", "operation": "list_animals"}]


async def test_a_foreach_goes_on_with_the_item_that_failed(run: Any, api: Zoo) -> None:
    """R-STEP-2"""
    steps = [FIND, get(ref("item.id"), foreach=ref("find.items"))]
    missing = api.animals.pop(2)
    api.broken = set()

    def list_of_all(response: Any, row: Row, params: Any) -> Any:
        if row.name == "get_animal" and params["animal_id"] not in api.animals:
            raise Failure(Code.NOT_FOUND_RESOURCE, "Gone")
        return {"items": ANIMALS} if row.name == "list_animals" else Zoo.decode(api, response, row, params)

    api.decode = list_of_all  # type: ignore[method-assign]
    error = (await run(*steps))["error"]
    plan = error["details"]["plan"]
    assert error["message"].startswith("Step 2, item 1: Gone")
    assert plan["halted_at"] == {"step": 2, "operation": "get_animal", "item": 1, "of": 3}
    assert (plan["done"][1]["calls"], plan["done"][1]["of"]) == (1, 3)
    api.animals[2] = missing
    answer = await run(**{"continue": plan["continue"], "dry_run": True})
    assert len(answer["data"]["steps"][0]["requests"]) == 2
    answer = await run(**{"continue": plan["continue"]})
    assert [data["id"] for data in answer["data"]["steps"][1]["data"]] == [1, 2, 3]
    assert [number for name, number in api.done if name == "get_animal"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("choice", "sent"), [("repeat", ["Dot", "Eve", "Eve", "Flo"]), ("skip", ["Dot", "Eve", "Flo"])]
)
async def test_a_call_of_unknown_outcome_is_made_again_only_if_the_agent_says_so(
    run: Any, api: Zoo, choice: str, sent: list[str]
) -> None:
    """R-STEP-2, R-ERR-2: otherwise what was carried out would be carried out twice."""
    names: list[str] = []

    def lost(response: Any, row: Row, params: Any) -> Any:
        names.append(params["name"])
        if names == ["Dot", "Eve"]:
            raise Failure(Code.INTERNAL_ERROR, "No answer came", {"outcome": "unknown"})
        return {"id": len(names), **params}

    api.decode = lost  # type: ignore[method-assign]
    params = {"name": ref("item"), "species": "newt"}
    create = {"operation": "create_animal", "params": params, "foreach": ["Dot", "Eve", "Flo"]}
    error = (await run(create))["error"]
    assert "unknown: 'skip' if it was, 'repeat' if it was not" in error["message"]
    token = {"continue": error["details"]["plan"]["continue"]}
    refused = await run(**token)
    assert refused["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert (await run(**token, dry_run=True))["success"]
    assert names == ["Dot", "Eve"]
    answer = await run(**token, unknown=choice)
    assert names == sent
    assert [data and data["name"] for data in answer["data"]["steps"][0]["data"]] == [
        "Dot", None if choice == "skip" else "Eve", "Flo",
    ]  # fmt: skip


async def test_a_patch_of_unknown_outcome_is_made_again_only_if_the_agent_says_so(run: Any, api: Zoo) -> None:
    """R-STEP-2, R-ERR-2: it may add, count or append."""
    api.decode = lambda *_: (_ for _ in ()).throw(  # type: ignore[method-assign]
        Failure(Code.INTERNAL_ERROR, "No answer came", {"outcome": "unknown"})
    )
    error = (await run({"operation": "update_animal", "params": {"animal_id": 1, "input": {"age": 4}}}))["error"]
    refused = await run(**{"continue": error["details"]["plan"]["continue"]})
    assert refused["error"]["code"] == "VALIDATION_MISSING_PARAM"


async def test_a_step_with_a_condition_counts_as_carried_out_if_the_agent_says_so(run: Any, api: Zoo) -> None:
    """R-STEP-2"""
    api.decode = lambda *_: (_ for _ in ()).throw(  # type: ignore[method-assign]
        Failure(Code.INTERNAL_ERROR, "No answer came", {"outcome": "unknown"})
    )
    params = {"name": "Dot", "species": "newt"}
    error = (await run({"operation": "create_animal", "params": params, "where": {"id": 1}}))["error"]
    answer = await run(**{"continue": error["details"]["plan"]["continue"]}, unknown="skip")
    assert answer["data"]["steps"][0]["data"] is None


async def test_what_to_do_with_an_unknown_outcome_is_said_only_of_one(run: Any, api: Zoo) -> None:
    """R-STEP-2: a call that does the same when it is made twice is made again."""
    api.broken = {"delete_animal"}
    delete = {"operation": "delete_animal", "params": {"animal_id": 1}}
    settings = {"policy": "open"}
    for details in ({}, {"outcome": "unknown"}):
        api.decode = lambda *_, details=details: (_ for _ in ()).throw(  # type: ignore[method-assign, misc]
            Failure(Code.INTERNAL_ERROR, "No answer came", dict(details))
        )
        error = (await run(delete, settings=settings))["error"]
        token = {"continue": error["details"]["plan"]["continue"]}
        refused = await run(**token, unknown="skip", settings=settings)
        assert refused["error"]["code"] == "VALIDATION_INVALID_VALUE"
        assert (await run(**token, settings=settings))["error"]["code"] == error["code"]


async def test_a_reference_that_leads_nowhere_halts_before_its_call(run: Any, api: Zoo) -> None:
    """R-STEP-2"""
    error = (await run(FIND, get(ref("find.items[7].id"))))["error"]
    assert error["code"] == "VALIDATION_INVALID_VALUE"
    assert "find.items has 3 items" in error["message"]
    assert len(api.done) == 1
    error = (await run(FIND, get(1, foreach=ref("find"))))["error"]
    assert "give the list in it, such as .items" in error["message"]


GIVE_AWAY = {"operation": "delete_animal", "foreach": ref("find.items"), "params": {"animal_id": ref("item.id")}}


@each(
    "steps",
    [
        [FIND, {**GIVE_AWAY, "where": {"specis": {"ne": "lion"}}}],
        [FIND, {**GIVE_AWAY, "where": {"species": "newt", "specis": None}}],
        [FIND, {**GIVE_AWAY, "where": {"specis": "lion"}}],
        [{**FIND, "where": {"specis": {"ne": "lion"}}}, GIVE_AWAY],
        [FIND, {**GIVE_AWAY, "foreach": list(ANIMALS), "where": {"specis": {"ne": "lion"}}}],
    ],
)
async def test_a_plan_halts_at_a_condition_on_a_field_that_no_item_has(run: Any, api: Zoo, steps: Any) -> None:
    """R-STEP-1: it would hold for all of them, or for none."""
    error = (await run(*steps))["error"]
    assert error["code"] == "VALIDATION_INVALID_VALUE"
    assert "'specis' (did you mean 'species'?)" in error["message"]
    assert not [name for name, _ in api.done if name == "delete_animal"]


async def test_a_reference_to_what_none_of_the_items_has_halts(run: Any, api: Zoo) -> None:
    """R-STEP-2"""
    api.animals[1]["nick"] = "A"
    some = await run(FIND, **{"return": {"nicks": ref("find.items[*].nick")}})
    assert some["data"] == {"nicks": ["A", None, None]}
    make = {"operation": "create_animal", "params": {"name": ref("find.items[*].nik"), "species": "newt"}}
    error = (await run(FIND, make))["error"]
    assert "has no 'nik'" in error["message"]
    assert len(api.done) == 2


@pytest.mark.parametrize("params", [{"continue": "plan_x"}, {"continue": "plan_x", "steps": [FIND]}])
async def test_an_unknown_token_goes_on_with_nothing(run: Any, api: Zoo, params: dict[str, Any]) -> None:
    """R-STEP-2"""
    assert not (await run(**params))["success"]
    assert api.done == []


async def test_a_request_makes_a_bounded_number_of_calls_and_goes_on(run: Any, api: Zoo) -> None:
    """R-STEP-3"""
    steps = [get(1, foreach=[1] * 60), get(2, foreach=[1] * 60)]
    error = (await run(*steps))["error"]
    assert "no more than 100 calls" in error["message"]
    assert len(api.done) == 100
    answer = await run(**{"continue": error["details"]["plan"]["continue"]})
    assert answer["_meta"]["summary"]["calls"] == len(api.done) == 120


async def test_a_request_takes_a_bounded_time(run: Any, api: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-STEP-3"""
    monkeypatch.setattr(run_module, "MAX_SECONDS", 0.0)
    error = (await run(FIND))["error"]
    assert "seconds" in error["message"]
    assert api.done == []


async def test_foreach_takes_a_bounded_number_of_items_and_says_so(run: Any, api: Zoo) -> None:
    """R-STEP-3: and warns where the list has more pages."""
    api.animals = {number: {"id": number} for number in range(1, 131)}
    plan = await run(FIND, get(ref("item.id"), foreach=ref("find.items"), where={"id": {"gt": 5}}))
    plan = plan["error"]["details"]["plan"]
    assert (plan["halted_at"]["item"], plan["halted_at"]["of"]) == (99, 100)
    assert "the first 100 of 125 items" in plan["warnings"][0]["message"]
    assert "more pages" in plan["warnings"][1]["message"]
    answer = await run(**{"continue": plan["continue"]})
    assert answer["_meta"]["summary"]["calls"] == len(api.done) == 101
    answer = await run(FIND, get(ref("item.id"), foreach=ref("find.items"), where={"id": {"gt": 100}}))
    assert "more pages" in answer["warnings"][0]["message"]


async def test_a_dry_run_shows_the_requests_that_are_known_and_sends_nothing(run: Any, api: Zoo) -> None:
    """R-STEP-1"""
    steps = [FIND, {"operation": "delete_animal", "params": {"animal_id": 2}}, get(ref("find.items[0].id"))]
    answer = await run(*steps, dry_run=True)
    first, delete, last = answer["data"]["steps"]
    assert first["requests"][0]["method"] == "GET"
    assert delete["requests"][0]["decision"]["outcome"] == "confirm"
    assert (last["waits_for"], last["params"]) == (["find"], {"animal_id": ref("find.items[0].id")})
    assert (api.done, api.sent) == ([], [])
    many = (await run(get(ref("item"), foreach=[*range(1, 30)]), dry_run=True))["data"]["steps"]
    assert len(many[0]["requests"]) == 20


# Confirmation


DELETE_LIONS = {**GIVE_AWAY, "where": {"species": "lion"}}


async def test_what_must_be_confirmed_is_asked_once_with_every_effect(run: Any, api: Zoo) -> None:
    """R-STEP-2: by one token, which is good for exactly these calls."""
    update = {"operation": "update_animal", "params": {"animal_id": 2, "input": {"age": 1}}}
    answer = await run(FIND, update, DELETE_LIONS, {"operation": "delete_animal", "params": {"animal_id": 2}})
    assert answer["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert [name for name, _ in api.done] == ["list_animals"]
    message = answer["confirmation"]["message"]
    assert all(f"animal_id: {number}" in message for number in (1, 2, 3))
    assert "Delete animal, 3 times: Ada, Cleo, 2." in message, "by the names that the plan has read"
    assert " (Ada)\n" in message
    plan = answer["error"]["details"]["plan"]
    refused = await run(**{"continue": plan["continue"], "confirmation_token": "conf_" + "0" * 64})
    assert refused["error"]["code"] == "TOKEN_INVALID"
    plan = refused["error"]["details"]["plan"]
    token = answer["confirmation"]["token"]
    answer = await run(**{"continue": plan["continue"], "confirmation_token": token})
    assert answer["success"], answer
    assert api.animals == {}
    assert answer["_meta"]["summary"]["calls"] == 5


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_whole_job_through_a_real_client_with_a_person(
    zoo: Dispatcher, api: Zoo, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-STEP-1, R-STEP-2: one call, one question, the answer that was asked for, and time for the person."""
    asked: list[str] = []
    clock = [0.0]
    monkeypatch.setattr(run_module, "monotonic", lambda: clock[0])

    async def callback(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        clock[0] += 600
        return ElicitResult(action="accept")

    create = {
        "id": "new",
        "operation": "create_animal",
        "params": {"name": ref("find.items[1].name"), "species": "newt"},
    }
    params = {
        "steps": [FIND, DELETE_LIONS, create, get(ref("new.id"), id="check")],
        "return": {"gone": ref("2"), "name": ref("check.name")},
    }
    async with Client(build_server(zoo), mode=era, elicitation_callback=callback) as client:
        tool = "mcp_aql_execute"
        described = await client.call_tool(
            "mcp_aql_read", {"operation": "introspect", "params": {"query": "operations", "name": "run_steps"}}
        )
        assert described.structured_content["data"]["operation"]["mcpTool"] == tool
        misplaced = await client.call_tool("mcp_aql_read", {"operation": "run_steps", "params": params})
        assert misplaced.structured_content["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
        answer = (await client.call_tool(tool, {"operation": "run_steps", "params": params})).structured_content
        assert answer is not None
        assert answer["data"] == {"gone": [ANIMALS[0], ANIMALS[2]], "name": "Bo"}
        assert len(asked) == 1
        assert [name for name, _ in api.done if name != "list_animals"] == [
            "delete_animal",
            "delete_animal",
            "create_animal",
            "get_animal",
        ]
        delete = {"operation": "delete_animal", "params": {"animal_id": ref("new.id")}}
        params = {"steps": [create | {"params": {"name": "Eve", "species": "newt"}}, delete]}
        answer = (await client.call_tool(tool, {"operation": "run_steps", "params": params})).structured_content
        assert answer is not None
        if era == "auto":  # the question cannot be the result of a call of which a part is done
            assert answer["error"]["code"] == "CONFIRMATION_REQUIRED"
            params = {"continue": answer["error"]["details"]["plan"]["continue"]}
            answer = (await client.call_tool(tool, {"operation": "run_steps", "params": params})).structured_content
        assert answer is not None
        assert answer["success"], answer
    assert [name for name, value in api.done].count("create_animal") == 2
    assert len(asked) == 2
