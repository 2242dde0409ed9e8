"""Updates as the API takes them: merged, written whole, guarded by ETags (R-UPD-1, R-UPD-2, R-OPS-5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from api.hand_made import operation
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.envelope import Envelope
from aqlgen.runtime.table import FAMILIES
from aqlgen.runtime.wire import ApiRequest, ApiResponse, QuotaPaused, SavedFile
from tests.documents import FLAG, TEXT, list_of, object_of
from tests.in_process import StandIn, dispatcher_of

pytestmark = pytest.mark.anyio

ID = {"in": "path", "name": "thingId", "required": True, "schema": TEXT}
PLACE = object_of(
    "zip_code", zip_code={**TEXT, "x-name": "zipCode"}, geo=object_of(lat_long={**TEXT, "x-name": "latLong"})
)
WRITTEN = {
    "additionalProperties": False,
    "x-read-only": ["id"],
    **object_of(
        "full_name",
        full_name={**TEXT, "x-name": "fullName"},
        userId=TEXT,
        user_id=TEXT,
        home_address={"$ref": "#/types/Place", "x-name": "homeAddress"},
        tags=list_of(object_of("k", k=TEXT)),
        nick_name={**TEXT, "x-name": "nickName"},
        free={"type": "object", "additionalProperties": True},
    ),
}
READ = object_of(**WRITTEN["properties"], id=TEXT, created_at={**TEXT, "x-name": "createdAt"})
TYPES = {"Place": PLACE, "NewThing": {**WRITTEN, "additionalProperties": True}, "Thing": READ}
FULL = {
    "full_name": "Ada",
    "userId": "one",
    "user_id": "two",
    "home_address": {"zip_code": "8000", "geo": {"lat_long": "1,2"}},
    "tags": [{"k": "a"}, {"k": "b"}],
    "nick_name": "A",
    "free": {"someKey": {"deep_key": 1, "deepKey": 2}},
}


class Shelf(StandIn):
    """An API that keeps one thing, whole as it was written, with an ETag; `race` changes it between read and write."""

    def __init__(self, *, etag: bool = True, weak: bool = False) -> None:
        super().__init__(self.answer)
        self.thing: dict[str, Any] | None = None
        self.version = 0
        self.etag, self.weak = etag, weak
        self.race = False

    @property
    def tag(self) -> str:
        return f'{"W/" if self.weak else ""}"v{self.version}"'

    def answer(self, request: ApiRequest) -> Any:
        headers = {name.lower(): value for name, value in request.headers}
        body = json.loads(request.content or b"null")
        if request.method == "GET":
            return self._shown()
        if self.race:
            self.version += 1
        wanted = headers.get("if-match")
        if wanted is not None and wanted != self.tag:
            return ApiResponse(412, {"content-type": "application/json"}, b'{"message": "changed"}')
        if request.method == "PATCH":
            for change in body if isinstance(body, list) else ():
                self._apply(change)
            if isinstance(body, dict):
                self.thing = _patched(self.thing, body)
        else:
            if body.keys() & {"id", "createdAt"}:
                return ApiResponse(422, {"content-type": "application/json"}, b'{"message": "read-only"}')
            self.thing = body
        self.version += 1
        return self._shown()

    def _apply(self, operation: Mapping[str, Any]) -> None:
        *way, last = operation["path"].split("/")[1:]
        here: Any = self.thing
        for step in way:
            here = here[step]
        if operation["op"] == "remove":
            del here[last]
        else:
            assert operation["op"] == "add" or last in here
            here[last] = operation["value"]

    def _shown(self) -> tuple[dict[str, Any], dict[str, str]]:
        shown = {"id": "7", "createdAt": "then", **(self.thing or {})}
        return shown, {"etag": self.tag} if self.etag else {}


def _patched(there: Any, change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    whole = dict(there) if isinstance(there, dict) else {}
    for key, value in change.items():
        if value is None:
            whole.pop(key, None)
        else:
            whole[key] = _patched(whole.get(key), value)
    return whole


class Client:
    """An adapter for the shelf, whose update has one strategy."""

    def __init__(
        self, folder: Path, shelf: Shelf, strategy: str, *, read: bool = True, etag: bool = True, **settings: Any
    ) -> None:
        content_type = {"json-patch": "application/json-patch+json", "merge-patch": "application/merge-patch+json"}
        kind = content_type.get(strategy, "application/json")
        answers = {"200": {"content_type": "application/json", "schema": {"$ref": "#/types/Thing"}}}
        common: Any = {"resource": "thing", "responses": answers}
        update = {"strategy": strategy} | ({"read": "get_thing"} if read else {}) | ({"etag": True} if etag else {})
        schema: Any = {"$ref": "#/types/NewThing"}
        schema = {"anyOf": [{"type": "array"}, {"type": "object"}]} if strategy == "json-patch" else schema
        whole = {"shape": "whole", "parameter": "input", "required": True, "schema": schema, "content_type": kind}
        selection = {"$ref": "#/types/FieldSelection", "default": "full"}
        shown = {"id": {**ID, "name": "id"}, "fields": {"in": "adapter", "schema": selection}}
        parameters = {"thing_id": ID, "input": {"in": "body", "required": True, "schema": schema}}
        parameters |= {"dry_run": {"in": "adapter", "schema": FLAG}}
        parameters |= {"if_match": {"in": "adapter", "schema": TEXT}} if etag else {}
        get = operation("GET", "/things/{id}", parameters=shown, **common, **({"etag": True} if etag else {}))
        method = "PUT" if strategy.startswith("put") else "PATCH"
        more = {"verb": "update", "danger": "reversible", "parameters": parameters, "body": whole, "update": update}
        put = operation(method, "/things/{thingId}", **common, **more)
        rows = {"read": {"get_thing": get}, "update": {"update_thing": put}}
        write_package(folder, {**ADAPTER, "security": []}, {family: {} for family in FAMILIES} | rows, TYPES)
        self.shelf = shelf
        self.dispatcher = dispatcher_of(folder, shelf, base_url="https://api.example", **settings)

    async def update(self, input: Any, **params: Any) -> Envelope:
        request = {"operation": "update_thing", "params": {"thing_id": "7", "input": input, **params}}
        return await self.dispatcher.handle("update", request)

    async def read(self, **params: Any) -> dict[str, Any]:
        answer = await self.dispatcher.handle("read", {"operation": "get_thing", "params": {"id": "7", **params}})
        data: dict[str, Any] = answer["data"]
        return data


WIRE = {
    "fullName": "Ada",
    "userId": "one",
    "user_id": "two",
    "homeAddress": {"zipCode": "8000", "geo": {"latLong": "1,2"}},
    "tags": [{"k": "a"}, {"k": "b"}],
    "nickName": "A",
    "free": {"someKey": {"deep_key": 1, "deepKey": 2}},
    "undeclaredKey": {"innerKey": [1]},
}
PARTIAL = ["put-merge", "merge-patch", "patch", "json-patch"]


def spelled(strategy: str, change: dict[str, Any]) -> dict[str, Any]:
    """Return a change by the API's names where the operation declares no fields."""
    text = json.dumps(change)
    if strategy == "json-patch":
        for name, wire in (("home_address", "homeAddress"), ("lat_long", "latLong"), ("nick_name", "nickName")):
            text = text.replace(name, wire)
    translated: dict[str, Any] = json.loads(text)
    return translated


@pytest.mark.parametrize("strategy", PARTIAL)
async def test_one_nested_field_changes_and_nothing_else(tmp_path: Path, strategy: str) -> None:
    """R-UPD-2"""
    shelf = Shelf()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, strategy)
    before = await client.read()
    assert before == {**FULL, "id": "7", "created_at": "then", "undeclaredKey": {"innerKey": [1]}, "_etag": '"v0"'}
    change = spelled(strategy, {"home_address": {"geo": {"lat_long": "3,4"}}})
    answer = await client.update(change)
    assert answer["success"], answer
    wanted = json.loads(json.dumps(before))
    wanted["home_address"]["geo"]["lat_long"] = "3,4"
    assert await client.read() == {**wanted, "_etag": '"v1"'}
    assert shelf.thing == {**WIRE, "homeAddress": {"zipCode": "8000", "geo": {"latLong": "3,4"}}}


@pytest.mark.parametrize("strategy", PARTIAL)
async def test_null_removes_and_arrays_are_replaced(tmp_path: Path, strategy: str) -> None:
    """R-UPD-2"""
    shelf = Shelf()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, strategy)
    answer = await client.update(spelled(strategy, {"nick_name": None, "tags": [{"k": "c"}]}))
    assert answer["success"], answer
    assert shelf.thing == {**{k: v for k, v in WIRE.items() if k != "nickName"}, "tags": [{"k": "c"}]}


class Enveloped(Shelf):
    """An API that reads its thing within an envelope."""

    def _shown(self) -> tuple[dict[str, Any], dict[str, str]]:
        shown, headers = super()._shown()
        return {"data": shown}, headers


def declare_envelope(folder: Path) -> None:
    """Declare the envelope of a package's thing."""
    for family, name in (("read", "get_thing"), ("update", "update_thing")):
        file = folder / "operations" / f"{family}.json"
        rows = json.loads(file.read_text())
        rows[name]["responses"]["200"]["schema"] = object_of(data={"$ref": "#/types/Thing"})
        rows[name] |= {"update": {**rows[name]["update"], "read_at": "/data"}} if family == "update" else {}
        file.write_text(json.dumps(rows))


class Trimming(Shelf):
    """An API that shows only the fields that a query asks for; it may mark what it leaves out."""

    def __init__(self, *, marks: bool = False) -> None:
        super().__init__()
        self.marks = marks

    def answer(self, request: ApiRequest) -> Any:
        answer = super().answer(request)
        if isinstance(answer, ApiResponse) or "only=" not in request.url:
            return answer
        (shown, headers), wanted = answer, request.url.rpartition("only=")[2].split("%2C")
        return {key: shown[key] for key in wanted} | ({"isPart": True} if self.marks else {}), headers


def shaped_by(folder: Path, wire: str) -> None:
    """Add a query parameter of the API to the read and the update of a package."""
    for family, name in (("read", "get_thing"), ("update", "update_thing")):
        file = folder / "operations" / f"{family}.json"
        rows = json.loads(file.read_text())
        rows[name]["parameters"][wire] = {"in": "query", "schema": TEXT}
        file.write_text(json.dumps(rows))


@pytest.mark.parametrize("strategy", ["put-merge", "json-patch"])
async def test_what_a_call_wants_to_see_of_a_thing_loses_nothing_of_it(tmp_path: Path, strategy: str) -> None:
    """R-UPD-2"""
    shelf = Trimming()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, strategy)
    shaped_by(tmp_path / "p", "only")
    change = spelled(strategy, {"home_address": {"geo": {"lat_long": "3,4"}}})
    answer = await client.update(change, only="id,fullName")
    assert answer["success"], answer
    assert shelf.thing == {**WIRE, "homeAddress": {"zipCode": "8000", "geo": {"latLong": "3,4"}}}


async def test_a_default_of_the_owner_for_a_read_loses_nothing_of_a_thing(tmp_path: Path) -> None:
    """R-UPD-2"""
    shelf = Trimming()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, "put-merge")
    file = tmp_path / "p" / "operations" / "read.json"
    rows = json.loads(file.read_text())
    rows["get_thing"]["parameters"]["only"] = {"in": "query", "schema": TEXT, "preset": "id,fullName"}
    file.write_text(json.dumps(rows))
    answer = await client.update({"nick_name": "B"})
    assert answer["success"], answer
    assert shelf.thing == {**WIRE, "nickName": "B"}


async def test_an_envelope_of_which_a_call_wants_nothing_is_read_whole(tmp_path: Path) -> None:
    """R-UPD-2"""

    class Bare(Enveloped):
        def answer(self, request: ApiRequest) -> Any:
            answer = super().answer(request)
            return ({"took": 3}, {}) if "only=" in request.url and request.method == "GET" else answer

    shelf = Bare()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, "json-patch")
    shaped_by(tmp_path / "p", "only")
    declare_envelope(tmp_path / "p")
    answer = await client.update({"homeAddress": {"geo": {"latLong": "3,4"}}}, only="took")
    assert answer["success"], answer
    assert shelf.thing == {**WIRE, "homeAddress": {"zipCode": "8000", "geo": {"latLong": "3,4"}}}


@pytest.mark.parametrize(
    "read",
    [
        ApiResponse(200, {"content-type": "application/json"}, b""),
        ApiResponse(
            200, {"content-type": "application/x-thing"}, b"", file=SavedFile("/files/7", 9, "application/x-thing", "0")
        ),
    ],
    ids=["empty", "saved"],
)
@pytest.mark.parametrize("strategy", ["put-merge", "json-patch"])
async def test_nothing_is_written_over_a_thing_whose_content_did_not_come(
    tmp_path: Path, strategy: str, read: ApiResponse
) -> None:
    """R-UPD-2"""

    class Silent(Shelf):
        def answer(self, request: ApiRequest) -> Any:
            return read if request.method == "GET" else super().answer(request)

    shelf = Silent()
    shelf.thing = dict(WIRE)
    answer = await Client(tmp_path / "p", shelf, strategy).update(
        {"fullName": "Eve", "userId": "one", "user_id": "two"}
    )
    assert "the change cannot be merged" in answer["error"]["message"]
    assert shelf.thing == WIRE


async def test_where_nobody_can_tell_what_is_the_whole_thing_nothing_is_written(tmp_path: Path) -> None:
    """R-UPD-2"""
    shelf = Trimming(marks=True)
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, "put-merge")
    shaped_by(tmp_path / "p", "only")
    answer = await client.update({"nick_name": "B"}, only="id,fullName")
    assert answer["error"]["details"]["param_name"] == "only"
    assert shelf.thing == WIRE


async def test_a_thing_in_another_language_is_merged_into_itself(tmp_path: Path) -> None:
    """R-UPD-2"""

    class Bilingual(Shelf):
        def answer(self, request: ApiRequest) -> Any:
            self.thing = things[request.url.partition("locale=")[2] or "en"]
            answer = super().answer(request)
            things[request.url.partition("locale=")[2] or "en"] = self.thing
            return answer

    things: dict[str, Any] = {"en": dict(WIRE), "de": {"fullName": "Anna", "userId": "eins"}}
    shelf = Bilingual()
    client = Client(tmp_path / "p", shelf, "put-merge")
    shaped_by(tmp_path / "p", "locale")
    assert (await client.update({"user_id": "zwei"}, locale="de"))["success"]
    assert things == {"en": WIRE, "de": {"fullName": "Anna", "userId": "eins", "user_id": "zwei"}}


@pytest.mark.parametrize("is_declared", [True, False])
async def test_a_json_patch_loses_nothing_of_a_thing_that_is_read_in_an_envelope(
    tmp_path: Path, is_declared: bool
) -> None:
    """R-UPD-2"""
    shelf = Enveloped()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, "json-patch")
    if is_declared:
        declare_envelope(tmp_path / "p")
    answer = await client.update({"homeAddress": {"geo": {"latLong": "3,4"}}, "nickName": None})
    assert answer["success"], answer
    rest = {key: value for key, value in WIRE.items() if key != "nickName"}
    assert shelf.thing == {**rest, "homeAddress": {"zipCode": "8000", "geo": {"latLong": "3,4"}}}


async def test_a_json_patch_adds_a_whole_object_that_is_nowhere_yet(tmp_path: Path) -> None:
    """R-UPD-2"""
    shelf = Shelf()
    shelf.thing = {"fullName": "Ada"}
    client = Client(tmp_path / "p", shelf, "json-patch")
    assert (await client.update({"further": {"key": 1}, "absent": None}))["success"]
    assert shelf.thing == {"fullName": "Ada", "further": {"key": 1}}


async def test_all_fields_written_are_read_back(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Shelf(), "put", read=False)
    assert (await client.update(FULL))["success"]
    assert (await client.read()).items() >= FULL.items()


@pytest.mark.parametrize("strategy", ["put-merge", "json-patch"])
async def test_a_lost_race_is_told_and_nothing_is_overwritten(tmp_path: Path, strategy: str) -> None:
    """R-UPD-2"""
    shelf = Shelf()
    shelf.thing, shelf.race = dict(WIRE), True
    answer = await Client(tmp_path / "p", shelf, strategy).update({"full_name": "Eve"})
    assert answer["error"]["code"] == "CONFLICT_VERSION_MISMATCH"
    assert shelf.thing == WIRE


@pytest.mark.parametrize("strategy", [*PARTIAL, "put"])
async def test_if_match_holds_for_every_strategy(tmp_path: Path, strategy: str) -> None:
    """R-OPS-5"""
    shelf = Shelf(weak=True)
    shelf.thing = dict(WIRE)
    client = Client(tmp_path / "p", shelf, strategy)
    etag = (await client.read())["_etag"]
    assert (await client.update({"full_name": "Eve"}, if_match=etag))["success"]
    late = await client.update({"full_name": "Kim"}, if_match=etag)
    assert late["error"]["code"] == "CONFLICT_VERSION_MISMATCH"
    assert "Kim" not in json.dumps(shelf.thing)
    injected = await client.update({"full_name": "Kim"}, if_match='"v1"\r\nX: y')
    assert not injected["success"]


@pytest.mark.parametrize("expected", ["*", 'W/"v0"'])
@pytest.mark.parametrize("strategy", ["put-merge", "json-patch"])
async def test_a_write_is_bound_to_the_version_that_was_read(tmp_path: Path, strategy: str, expected: str) -> None:
    """R-OPS-5"""
    shelf = Shelf()
    shelf.thing = dict(WIRE)
    assert (await Client(tmp_path / "p", shelf, strategy).update({"fullName": "Eve"}, if_match=expected))["success"]
    assert [(request.method, dict(request.headers).get("If-Match")) for request in shelf.sent[:2]] == [
        ("GET", None),
        ("PATCH" if strategy == "json-patch" else "PUT", '"v0"'),
    ]


async def test_a_resource_that_has_no_version_is_read_again_for_any_version(tmp_path: Path) -> None:
    """R-OPS-5"""
    shelf = Shelf(etag=False)
    shelf.thing = dict(WIRE)
    await Client(tmp_path / "p", shelf, "put-merge").update({"full_name": "Eve"}, if_match="*")
    assert [request.method for request in shelf.sent[:3]] == ["GET", "GET", "PUT"]
    assert dict(shelf.sent[2].headers)["If-Match"] == "*"


async def test_an_api_without_etags_is_not_asked_for_any(tmp_path: Path) -> None:
    shelf = Shelf(weak=True)
    shelf.thing = dict(WIRE)
    client = Client(tmp_path / "p", shelf, "put-merge", etag=False)
    assert "_etag" not in await client.read()
    assert (await client.update({"full_name": "Eve"}))["success"]
    assert "If-Match" not in {name for request in shelf.sent for name, _ in request.headers}


async def test_what_only_the_server_sets_is_refused_and_so_is_what_nobody_knows(tmp_path: Path) -> None:
    """R-UPD-1"""
    folder = tmp_path / "p"
    client = Client(folder, Shelf(), "put-merge")
    (folder / "types.json").write_text(json.dumps({**TYPES, "NewThing": WRITTEN}))
    for change, code in (
        ({"id": "8"}, "VALIDATION_READ_ONLY_FIELD"),
        ({"thing_id": "8"}, "VALIDATION_UNKNOWN_FIELD"),
        ({"if_match": "x"}, "VALIDATION_UNKNOWN_FIELD"),
        ({"colour": "red"}, "VALIDATION_UNKNOWN_FIELD"),
        ({"full_name": True}, "VALIDATION_INVALID_TYPE"),
        ({"tags": [{}]}, "VALIDATION_MISSING_PARAM"),
        ({"home_address": {"geo": {"lat_long": True}}}, "VALIDATION_INVALID_TYPE"),
    ):
        answer = await client.update(change)
        assert answer["error"]["code"] == code, (change, answer)
    assert not client.shelf.sent


async def test_identifiers_are_refused_inside_an_open_input(tmp_path: Path) -> None:
    """R-UPD-1"""
    answer = await Client(tmp_path / "p", Shelf(), "put-merge").update({"thing_id": "8"})
    assert answer["error"]["code"] == "VALIDATION_UNKNOWN_FIELD"


async def test_the_whole_must_have_what_is_required(tmp_path: Path) -> None:
    """R-UPD-2"""
    shelf = Shelf()
    shelf.thing = {"nickName": "A"}
    client = Client(tmp_path / "p", shelf, "put-merge")
    answer = await client.update({"nick_name": "B"})
    assert answer["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert answer["error"]["details"]["missing_params"] == ["input.full_name"]
    alone = await Client(tmp_path / "q", shelf, "put", read=False).update({"nick_name": "B"})
    assert alone["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert all(request.method == "GET" for request in shelf.sent)


async def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(tmp_path: Path) -> None:
    """R-SEL-5"""
    for number, strategy in enumerate(PARTIAL):
        shelf = Shelf()
        client = Client(tmp_path / str(number), shelf, strategy)
        answer = await client.update(spelled(strategy, {"nick_name": "B"}), dry_run=True, if_match='"v0"')
        data = answer["data"]
        assert data["method"] == ("PUT" if strategy == "put-merge" else "PATCH")
        assert data["url"] == "https://api.example/things/7"
        assert data["headers"]["If-Match"] == '"v0"'
        assert data["body"] == {"nickName": "B"}
        assert ("reads_first" in data) is (strategy in ("put-merge", "json-patch"))
        assert not shelf.sent


async def test_a_json_patch_is_made_also_where_nothing_can_be_read(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.thing = json.loads(json.dumps(WIRE))
    client = Client(tmp_path / "p", shelf, "json-patch", read=False)
    shown = await client.update({"fullName": "Eve", "nickName": None}, dry_run=True)
    operations = [{"op": "add", "path": "/fullName", "value": "Eve"}, {"op": "remove", "path": "/nickName"}]
    assert shown["data"]["body"] == operations
    assert (await client.update(operations))["success"]
    assert shelf.thing["fullName"] == "Eve"
    assert "nickName" not in shelf.thing


class Answering(Shelf):
    """A shelf without ETags that answers each reading with the next of some things, the last one again and again."""

    def __init__(self, *things: Any) -> None:
        super().__init__(etag=False)
        self.things = list(things)
        self.thing = {}

    def answer(self, request: ApiRequest) -> Any:
        if request.method != "GET":
            return super().answer(request)
        return self.things.pop(0) if len(self.things) > 1 else self.things[0]

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.sent]


def answering(folder: Path, *things: Any) -> tuple[Client, Answering]:
    shelf = Answering(*things)
    return Client(folder, shelf, "put-merge", etag=False), shelf


async def test_what_is_not_written_may_change_as_it_likes(tmp_path: Path) -> None:
    """R-UPD-2"""
    clock = [
        {**WIRE, "createdAt": str(tick), "updatedAt": tick, "_links": {"self": f"?sig={tick}"}} for tick in range(3)
    ]
    client, shelf = answering(tmp_path / "p", *clock)
    assert (await client.update({"full_name": "Eve"}))["success"]
    assert shelf.methods == ["GET", "GET", "PUT", "GET"]
    assert shelf.thing == {**WIRE, "fullName": "Eve"}


async def test_a_counter_that_nobody_declares_is_no_conflict_and_a_change_of_such_a_field_is(tmp_path: Path) -> None:
    """R-UPD-2"""
    client, shelf = answering(tmp_path / "p", *({**WIRE, "ticks": tick} for tick in range(5)))
    assert (await client.update({"full_name": "Eve"}))["success"]
    assert shelf.methods == ["GET", "GET", "GET", "PUT", "GET"]
    client, shelf = answering(tmp_path / "q", {**WIRE, "ticks": 1}, {**WIRE, "ticks": 2})
    answer = await client.update({"full_name": "Eve"})
    assert answer["error"]["details"]["changed_fields"] == ["ticks"]
    assert "PUT" not in shelf.methods


@pytest.mark.parametrize("number", ["1.10", "1e400", "1e99999999999999999999", "0.1000000000000000055"])
async def test_a_number_that_is_not_named_is_written_back_with_its_digits(tmp_path: Path, number: str) -> None:
    """R-UPD-2"""
    client, shelf = answering(tmp_path / "p", f'{{"fullName": "Ada", "free": {{"size": {number}}}}}'.encode())
    assert (await client.update({"full_name": "Eve"}))["success"]
    assert shelf.sent[2].content == f'{{"fullName":"Eve","free":{{"size":{number}}}}}'.encode()


async def test_a_number_that_changes_beyond_a_float_is_a_conflict(tmp_path: Path) -> None:
    """R-UPD-2"""
    readings = [f'{{"fullName": "Ada", "free": 1.0000000000000000{digit}}}'.encode() for digit in (1, 2)]
    client, shelf = answering(tmp_path / "p", *readings)
    answer = await client.update({"full_name": "Eve"})
    assert answer["error"]["details"]["changed_fields"] == ["free"]
    assert "PUT" not in shelf.methods


@pytest.mark.parametrize("thing", [[WIRE], b"<html>", b"1" * 5000, b"\xff{}"], ids=["list", "text", "digits", "bytes"])
async def test_nothing_is_written_over_what_cannot_be_read(tmp_path: Path, thing: Any) -> None:
    """R-UPD-2"""
    client, shelf = answering(tmp_path / "p", thing)
    answer = await client.update({"full_name": "Eve"})
    assert not answer["success"]
    assert shelf.methods == ["GET"]


@pytest.mark.parametrize("mask", ["***", "••••••", "****1234", "sk-****", "<redacted>", "[FILTERED]"])
async def test_a_masked_value_is_never_written_back(tmp_path: Path, mask: str) -> None:
    """R-UPD-2"""
    client, shelf = answering(tmp_path / "p", {**WIRE, "nickName": mask})
    answer = await client.update({"user_id": "3"})
    assert answer["success"], answer
    assert shelf.thing == {**{key: value for key, value in WIRE.items() if key != "nickName"}, "user_id": "3"}
    (warning,) = answer["warnings"]
    assert warning["code"] == "VALIDATION_FIELDS_NOT_SENT_WARNING"
    assert warning["details"]["fields"] == ["input.nick_name"]
    client, shelf = answering(tmp_path / "q", {**WIRE, "fullName": mask})
    answer = await client.update({"user_id": "3"})
    assert answer["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert answer["error"]["details"]["missing_params"] == ["input.full_name"]
    assert "does not show it" in answer["error"]["message"]
    assert shelf.methods == ["GET"]
    assert (await client.update({"full_name": "Eve"}))["success"]


@pytest.mark.parametrize("text", ["*", "** note **", "a*b", "***!", "x" * 20, "<removed> from list"])
async def test_a_text_that_only_looks_like_a_mask_is_kept(tmp_path: Path, text: str) -> None:
    client, shelf = answering(tmp_path / "p", {**WIRE, "nickName": text})
    assert (await client.update({"user_id": "3"}))["success"]
    assert shelf.thing is not None
    assert shelf.thing["nickName"] == text


def reads_otherwise(folder: Path, properties: Mapping[str, Any]) -> None:
    """Let the document say that fields are read in another form than they are written."""
    read = {**READ, "properties": {**READ["properties"], **properties}}
    (folder / "types.json").write_text(json.dumps({**TYPES, "Thing": read}))


async def test_what_fits_neither_schema_is_sent_as_it_came(tmp_path: Path) -> None:
    client, shelf = answering(tmp_path / "p", {**WIRE, "nickName": 7})
    assert (await client.update({"user_id": "3"}))["success"]
    assert shelf.thing == {**WIRE, "nickName": 7, "user_id": "3"}


async def test_a_field_that_is_read_in_another_form_than_it_is_written_is_asked_for(tmp_path: Path) -> None:
    """R-UPD-2"""
    there = {**WIRE, "tags": ["a"], "homeAddress": {"zipCode": {"number": 7}}}
    client, shelf = answering(tmp_path / "p", there)
    place = {"zip_code": {"type": "object", "x-name": "zipCode"}}
    read: dict[str, Any] = {"tags": {"type": "array", "items": TEXT}}
    read["home_address"] = {"type": "object", "properties": place, "x-name": "homeAddress"}
    reads_otherwise(tmp_path / "p", read)
    answer = await client.update({"nick_name": "B"})
    assert answer["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert answer["error"]["details"]["missing_params"] == ["input.home_address.zip_code", "input.tags"]
    assert shelf.methods == ["GET"]
    assert (await client.update({"tags": None, "home_address": {"zip_code": "1"}}))["success"]
    assert shelf.thing is not None
    assert "tags" not in shelf.thing
    assert shelf.thing["homeAddress"] == {"zipCode": "1"}


async def test_a_required_field_that_is_read_in_another_form_is_asked_for_once(tmp_path: Path) -> None:
    """R-UPD-2, R-ENV-5"""
    client, shelf = answering(tmp_path / "p", {**WIRE, "fullName": {"value": "Ada"}})
    reads_otherwise(tmp_path / "p", {"full_name": {"type": "object", "x-name": "fullName"}})
    error = (await client.update({"nick_name": "B"}))["error"]
    assert error["details"]["missing_params"] == ["input.full_name"]
    assert "its form differs" in error["message"]
    assert shelf.methods == ["GET"]


async def test_a_list_whose_items_are_read_without_what_they_are_written_with_is_asked_for(tmp_path: Path) -> None:
    """R-UPD-2"""
    client, shelf = answering(tmp_path / "p", {**WIRE, "tags": [{"tag_id": "a"}]})
    items = {"type": "object", "properties": {"tag_id": {"type": "string"}}}
    reads_otherwise(tmp_path / "p", {"tags": {"type": "array", "items": items}})
    answer = await client.update({"nick_name": "B"})
    assert answer["error"]["details"]["missing_params"] == ["input.tags"]
    assert shelf.methods == ["GET"]
    assert (await client.update({"nick_name": "B", "tags": [{"k": "a"}]}))["success"]
    assert shelf.thing is not None
    assert shelf.thing["tags"] == [{"k": "a"}]


async def test_a_replacement_says_what_may_be_lost_before_and_after(tmp_path: Path) -> None:
    """R-UPD-2"""
    shelf = Shelf(etag=False)
    client = Client(tmp_path / "p", shelf, "put", read=False, etag=False)
    lost = ["userId", "user_id", "home_address", "tags", "free"]
    question = {"operation": "introspect", "params": {"query": "operations", "name": "update_thing"}}
    shown = (await client.dispatcher.handle("read", question))["data"]["operation"]["description"]
    assert "Replaces the whole" in shown
    assert all(name in shown for name in lost)
    preview = await client.update({"full_name": "Eve", "nick_name": "E"}, dry_run=True)
    assert "replaces the whole" in preview["data"]["note"]
    answer = await client.update({"full_name": "Eve", "nick_name": "E"})
    (warning,) = answer["warnings"]
    assert warning["code"] == "VALIDATION_FIELDS_REPLACED_WARNING"
    assert warning["details"]["fields"] == lost
    assert "warnings" not in await client.update(FULL)


async def test_what_is_read_as_an_object_and_written_by_its_identifier_is_kept(tmp_path: Path) -> None:
    """R-UPD-2"""
    client, shelf = answering(tmp_path / "p", {**WIRE, "nickName": {"gid": "7", "name": "A"}})
    reads_otherwise(tmp_path / "p", {"nick_name": {"type": "object", "x-name": "nickName"}})
    assert (await client.update({"user_id": "3"}))["success"]
    assert shelf.thing == {**WIRE, "nickName": "7", "user_id": "3"}


async def test_a_reading_after_the_write_asks_nobody_and_is_not_what_the_call_answers(tmp_path: Path) -> None:
    """R-UPD-2, R-RATE-1"""

    class Paused(Shelf):
        def answer(self, request: ApiRequest) -> Any:
            if request.method == "GET" and self.paused and any(each.method == "PUT" for each in self.sent):
                raise QuotaPaused(())
            answer = super().answer(request)
            if request.method == "PUT":
                answer[1]["location"] = "https://api.example/things/7/versions/2"
            return answer

        paused = False

    shelf = Paused()
    shelf.thing = dict(WIRE)
    client = Client(tmp_path / "p", shelf, "put-merge")
    answer = await client.update({"nick_name": "B"})
    assert answer["_meta"]["headers"] == {"Location": "https://api.example/things/7/versions/2"}
    shelf.sent, shelf.paused = [], True
    answer = await client.update({"nick_name": "C"})
    assert answer["success"], answer
    assert [warning["code"] for warning in answer["warnings"]] == ["VALIDATION_UPDATE_NOT_VERIFIED_WARNING"]
    assert shelf.thing["nickName"] == "C"
