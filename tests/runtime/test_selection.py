"""Field selection: presets, dotted paths, and the default of each kind of operation (R-SEL-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from api.hand_made import operation
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.envelope import Envelope
from aqlgen.runtime.table import FAMILIES
from aqlgen.runtime.wire import ApiResponse
from tests.documents import INTEGER, TEXT, list_of, object_of
from tests.in_process import StandIn, dispatcher_of

pytestmark = pytest.mark.anyio

LINK = "https://example.com/api/v1/organizations/7/people/1/links/and/more/of/them"
PERSON = object_of(
    id=INTEGER,
    full_name={**TEXT, "x-name": "fullName"},
    person_number=INTEGER,
    team={"$ref": "#/types/Team"},
    pets=list_of(object_of(kind=TEXT)),
    **{f"{name}_url": TEXT for name in ("a", "b", "c", "d", "html")},
)
TEAM = object_of(id=INTEGER, name=TEXT, motto=TEXT, home_town={**TEXT, "x-name": "homeTown"})
WIRE = {
    "id": 1,
    "fullName": "Ada",
    "person_number": 36,
    "team": {"id": 2, "name": "Engines", "motto": "on", "homeTown": "London"},
    "pets": [{"kind": "cat"}, {"kind": "dog"}],
    **{f"{name}_url": LINK for name in ("a", "b", "c", "d", "html")},
    "odata.unDeclared": 5,
}
WHOLE = {**WIRE, "full_name": "Ada", "team": {"id": 2, "name": "Engines", "motto": "on", "home_town": "London"}}
del WHOLE["fullName"]
MINIMAL = {"id": 1, "full_name": "Ada", "person_number": 36}
STANDARD = {
    "id": 1,
    "full_name": "Ada",
    "person_number": 36,
    "team": {"id": 2, "name": "Engines"},
    "pets": [{"kind": "cat"}, {"kind": "dog"}],
    "html_url": LINK,
    "odata.unDeclared": 5,
}


LONG = {
    "id": 1,
    "body": "word " * 1000,
    "parts": [{"number": number} for number in range(50)],
    "a": {"b": {"c": {"d": {"e": 1}, "f": 2}}},
}
MADE = {
    "id": 1,
    "state": "open",
    "html_url": LINK,
    "revision": 7,
    "client_secret": "s3",
    "warnings": ["soon full"],
    "owner": {"id": 5, "name": "Ada", "url": LINK},
    "text": "word " * 300,
    "parent_url": LINK,
}


ANSWERS: dict[str, Any] = {
    "/get_person": WIRE,
    "/list_people": [WIRE, WIRE],
    "/search_people": [WIRE, WIRE],
    "/list_long": [LONG, LONG],
    "/list_few": [{"id": 1, "team": {"id": 2, "name": "E", "motto": "on", "home_town": "L"}}],
    "/list_bare": [WIRE, {"odata.unDeclared": 5}],
    "/get_text": ApiResponse(200, {"content-type": "text/plain"}, b"0123456789"),
    "/list_enveloped": {"data": [WIRE, WIRE], "meta": {"page": 1}},
    "/create_person": MADE,
    "/create_pod": {"kind": "Pod", "metadata": {**MADE, "uid": "u"}, "spec": LONG},
}


@pytest.fixture
def people(tmp_path: Path) -> Dispatcher:
    def row(name: str, schema: dict[str, Any], usual: str) -> dict[str, Any]:
        fields = {"in": "adapter", "schema": {"$ref": "#/types/FieldSelection", "default": usual}}
        verb = name.partition("_")[0]
        return operation(
            "POST" if verb == "create" else "GET",
            f"/{name}",
            resource="person",
            verb=verb,
            parameters={"fields": fields},
            responses={"200": {"content_type": "application/json", "schema": schema}},
            returns={"name": "Person", "kind": "object"},
        )

    person = {"$ref": "#/types/Person"}
    many = list_of(person)
    rows: dict[str, Any] = {
        "get_person": row("get_person", person, "full"),
        "list_people": row("list_people", many, "standard"),
        "search_people": row("search_people", many, "minimal"),
        "list_long": row("list_long", {}, "standard"),
        "list_few": row("list_few", many, "standard"),
        "list_bare": row("list_bare", many, "standard"),
        "get_text": row("get_text", TEXT, "full"),
        "list_enveloped": row("list_enveloped", object_of(data=many, meta={}), "standard"),
    }
    creates = {name: row(name, person, "minimal") for name in ("create_person", "create_pod")}
    families = {family: {} for family in FAMILIES} | {"read": rows, "create": creates}
    folder = write_package(tmp_path / "p", {**ADAPTER, "security": []}, families, {"Person": PERSON, "Team": TEAM})
    return dispatcher_of(folder, StandIn(lambda request: ANSWERS[urlsplit(request.url).path]))


async def read(people: Dispatcher, operation: str, **params: Any) -> Envelope:
    return await people.handle("read", {"operation": operation, "params": params})


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        ("get_person", WHOLE),
        ("list_people", [STANDARD, STANDARD]),
        ("search_people", [MINIMAL, MINIMAL]),
        ("list_enveloped", {"data": [STANDARD, STANDARD], "meta": {"page": 1}}),
    ],
)
async def test_each_kind_of_operation_has_its_default_and_says_how_to_get_all(
    people: Dispatcher, operation: str, wanted: Any
) -> None:
    answer = await read(people, operation)
    assert answer["data"] == wanted
    assert ("full" in answer.get("_meta", {}).get("fields", "")) is (operation != "get_person")
    assert "_meta" not in await read(people, operation, fields="full")


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ("full", WHOLE),
        ("standard", STANDARD),
        ("minimal", MINIMAL),
        (["id", "team.home_town"], {"id": 1, "team": {"home_town": "London"}}),
        (["pets.kind"], {"pets": [{"kind": "cat"}, {"kind": "dog"}]}),
        (["team", "team.name"], {"team": WHOLE["team"]}),
        (["team.name", "team"], {"team": WHOLE["team"]}),
        (["odata.unDeclared", "nothing", "team.nothing.at_all", "id.of"], {"team": {}, "odata.unDeclared": 5}),
        (["nothing"], {}),
    ],
)
async def test_fields_are_chosen(people: Dispatcher, fields: Any, wanted: Any) -> None:
    assert (await read(people, "get_person", fields=fields))["data"] == wanted
    assert (await read(people, "list_people", fields=fields))["data"] == [wanted, wanted]
    enveloped = (await read(people, "list_enveloped", fields=fields))["data"]
    assert enveloped == {"data": [wanted, wanted], "meta": {"page": 1}}


async def test_what_is_no_selection_is_refused(people: Dispatcher) -> None:
    for fields in ("tiny", 5, [True], {"id": True}):
        answer = await read(people, "get_person", fields=fields)
        assert answer["error"]["code"].startswith("VALIDATION_"), fields


async def test_introspection_shows_the_selection_with_its_type(people: Dispatcher) -> None:
    question = {"query": "operations", "name": "list_people"}
    shown = (await people.handle("read", {"operation": "introspect", "params": question}))["data"]["operation"]
    assert [(parameter["name"], parameter["type"], parameter["default"]) for parameter in shown["parameters"]] == [
        ("fields", "FieldSelection", "standard")
    ]
    named = {"query": "types", "name": "FieldSelection"}
    answer = await people.handle("read", {"operation": "introspect", "params": named})
    assert answer["data"]["type"]["kind"] == "union"


async def test_a_write_answers_with_what_the_thing_is(people: Dispatcher) -> None:
    """R-SEL-2"""

    async def create(operation: str, **params: Any) -> Envelope:
        return await people.handle("create", {"operation": operation, "params": params})

    answer = await create("create_person")
    names = ("id", "state", "html_url", "revision", "client_secret", "warnings")
    assert answer["data"] == {name: MADE[name] for name in names}
    assert answer["_meta"]["fields"].startswith("minimal, the default of a write")
    assert (await create("create_person", fields="full"))["data"] == MADE
    assert (await create("create_person", fields=["owner.name"]))["data"] == {"owner": {"name": "Ada"}}
    pod = (await create("create_pod"))["data"]
    assert pod == {"kind": "Pod", "metadata": {**{name: MADE[name] for name in names}, "uid": "u"}, "spec": {"id": 1}}


async def test_a_default_cuts_no_small_answer(people: Dispatcher) -> None:
    """R-SEL-2"""
    answer = await read(people, "list_few")
    assert answer["data"][0]["team"]["motto"] == "on"
    assert "_meta" not in answer
    assert (await read(people, "list_few", fields="standard"))["data"] == answer["data"]  # the default, given or not
    assert "team" not in (await read(people, "list_few", fields="minimal"))["data"][0]


async def test_a_thing_without_identifying_fields_comes_whole(people: Dispatcher) -> None:
    """R-SEL-2"""
    assert (await read(people, "list_bare", fields="minimal"))["data"] == [MINIMAL, {"odata.unDeclared": 5}]


async def test_standard_shortens_what_is_long_and_what_is_deep_and_names_it(people: Dispatcher) -> None:
    """R-SEL-2"""
    answer = await read(people, "list_long")
    short = answer["data"][0]
    assert short["body"] == f"{LONG['body'][:400]}… [5000 characters]"
    assert short["parts"] == LONG["parts"][:10]
    assert short["a"] == {"b": {"c": {"f": 2}}}
    assert "shortens a.b.c.d, body, parts:" in answer["_meta"]["fields"]
    minimal = await read(people, "list_long", fields="minimal")
    assert minimal["data"] == [{"id": 1}, {"id": 1}]  # of fields that no document declares
    assert (await read(people, "list_long", fields=["a.b.c.d"]))["data"][0] == {"a": {"b": {"c": {"d": {"e": 1}}}}}


async def test_a_part_of_a_text_or_a_list_can_be_asked_for(people: Dispatcher) -> None:
    """R-SEL-2: what a cut left out is read by the path that its warning gives."""
    assert (await read(people, "list_long", fields=["id", "body[4990:]"]))["data"][1] == {"id": 1, "body": "word word "}
    assert (await read(people, "list_long", fields=["parts[1:2]"]))["data"][0] == {"parts": [{"number": 1}]}
    assert (await read(people, "list_long", fields=["[1:]", "id"]))["data"] == [{"id": 1}]
    assert (await read(people, "get_text", fields=["[4:6]"]))["data"] == "45"
    assert (await read(people, "get_text", fields=["[4:]"]))["data"] == "456789"
    assert (await read(people, "get_person", fields=["id[0:]", "a_url[x:1]", "full_name[-1:]"]))["data"] == {"id": 1}
