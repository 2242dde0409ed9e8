"""Kinds of content that a call chooses: which there are, their names, and what is sent and asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each
from tests.documents import INTEGER, JSON, TEXT, list_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate
from tests.in_process import StandIn, dispatcher_of

pytestmark = pytest.mark.anyio

FORM, FREE = "application/x-www-form-urlencoded", {"type": "object"}
FILE = {**TEXT, "format": "binary"}
THING = object_of("url", url=TEXT, title=TEXT)
UPLOAD = object_of("file", file=FILE, title=TEXT)
LARGER = object_of("url", url=TEXT, title=TEXT, more=TEXT)
OTHER = object_of(other=INTEGER)


def media(kinds: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {kind: {"schema": schema} for kind, schema in kinds.items()}}


def document(
    body: Mapping[str, Any] | None = None, answer: Mapping[str, Any] | None = None, method: str = "post", **more: Any
) -> dict[str, Any]:
    """Return a document of one operation, whose body and answer have these content types with their schemas."""
    operation: dict[str, Any] = {"operationId": "sendThing", "responses": replies()} | more
    if body is not None:
        operation["requestBody"] = {"required": True, **media(body)}
    if answer is not None:
        operation["responses"]["200"] |= media(answer)
    return api({f"{method} {'/things/{id}' if method == 'patch' else '/things'}": operation})


def patching(*kinds: str, schema: Any = FREE) -> dict[str, Any]:
    """Return a document of one update, which takes patches of these kinds."""
    return document(dict.fromkeys(kinds, schema), method="patch", operationId="updateThing")


class Adapted:
    """An adapter of a document, with what it sends."""

    def __init__(self, folder: Path, spec: Mapping[str, Any], answer: ApiResponse | None = None) -> None:
        self.table = tabulate(folder, spec)
        self.api = StandIn(lambda _request: answer or {})
        self.dispatcher = dispatcher_of(self.table.write(folder / "package"), self.api, policy="open")
        self.name, self.row = next(reversed(self.table.rows.items()))

    async def call(self, **params: Any) -> dict[str, Any]:
        return await self.dispatcher.handle(None, {"operation": self.name, "params": params})

    async def sent(self, **params: Any) -> ApiRequest:
        envelope = await self.call(**params)
        assert envelope["success"], envelope
        return self.api.sent[-1]


def header(request: ApiRequest, name: str) -> str:
    return dict(request.headers)[name]


BODIES: list[tuple[str, dict[str, Any], list[str] | None]] = [
    ("one type", {JSON: THING}, None),
    ("JSON and a form with a file", {JSON: THING, "multipart/form-data": UPLOAD}, ["json", "multipart"]),
    ("the default first, whatever the order", {"multipart/form-data": UPLOAD, JSON: THING}, ["json", "multipart"]),
    ("both forms", {FORM: THING, "multipart/form-data": UPLOAD}, ["form", "multipart"]),
    ("JSON under two names", {JSON: THING, "application/vnd.x+json": THING, "text/json": THING}, None),
    ("JSON of two schemas", {JSON: THING, "application/vnd.acme.v3.raw+json": OTHER}, ["json", "raw"]),
    ("JSON and a range", {JSON: THING, "application/*+json": THING, "*/*": THING}, None),
    ("JSON and a file", {JSON: THING, "application/octet-stream": {}}, ["json", "bytes"]),
    ("JSON and CSV", {JSON: THING, "text/csv": TEXT}, ["json", "csv"]),
    ("JSON and XML", {JSON: THING, "application/xml": LARGER}, ["json", "xml"]),
    ("the same as XML and as a form", {JSON: THING, "text/xml": THING, FORM: THING}, None),
    ("JSON and the text of it", {JSON: THING, "text/plain": THING}, None),
    ("JSON Patch and the fields", {JSON: THING, "application/json-patch+json": OTHER}, None),
    (
        "two of one name",
        {"application/vnd.a.list+json": THING, "application/vnd.b.list+json": OTHER},
        ["application/vnd.a.list+json", "application/vnd.b.list+json"],
    ),
]


@each(("title", "kinds", "names"), BODIES, ids=[row[0] for row in BODIES])
async def test_the_kinds_of_a_body(tmp_path: Path, title: str, kinds: dict[str, Any], names: list[str] | None) -> None:
    row = tabulate(tmp_path, document(kinds)).rows["send_thing"]
    choice = row["parameters"].get("as")
    assert (choice and choice["schema"]["enum"]) == names, title
    assert ("choices" in row) == (names is not None)
    if choice is not None and names is not None:
        assert choice["schema"]["default"] == names[0]


ANSWERS: list[tuple[str, dict[str, Any], list[str] | None]] = [
    ("one type", {JSON: THING}, None),
    ("JSON, CSV and PDF", {"text/csv": TEXT, JSON: THING, "application/pdf": {}}, ["json", "csv", "pdf"]),
    ("JSON and XML", {JSON: THING, "application/xml": LARGER}, ["json", "xml"]),
    ("the same as XML", {"application/xml": THING, JSON: THING}, None),
    ("pictures", {"image/png": {}, "image/svg+xml": {}}, ["png", "svg"]),
    ("what JSON gives, as text", {"text/plain": THING, JSON: THING, "text/json": THING}, None),
    ("what JSON gives, as a page", {JSON: THING, "text/html": THING}, None),
    ("the same as CSV", {JSON: THING, "text/csv": THING}, ["json", "csv"]),
    ("lines under several names", {"application/jsonl": THING, "application/x-ndjson": THING}, None),
    ("no media type", {JSON: THING, "examples": OTHER}, None),
    ("another text", {JSON: THING, "text/plain": TEXT}, ["json", "text"]),
    ("a problem", {JSON: THING, "application/problem+json": OTHER}, None),
    ("a range", {JSON: THING, "*/*": THING}, None),
    ("events", {JSON: THING, "text/event-stream": OTHER}, None),
    (
        "forms of one resource",
        {JSON: THING, "application/vnd.acme.diff": TEXT, "application/vnd.acme.v3.html+json": OTHER},
        ["json", "diff", "html"],
    ),
]


@each(("title", "kinds", "names"), ANSWERS, ids=[row[0] for row in ANSWERS])
async def test_the_kinds_of_an_answer(
    tmp_path: Path, title: str, kinds: dict[str, Any], names: list[str] | None
) -> None:
    row = tabulate(tmp_path, document(answer=kinds, method="get")).rows
    (entry,) = row.values()
    choice = entry["parameters"].get("as")
    assert (choice and choice["schema"]["enum"]) == names, title


async def test_a_body_of_several_kinds_that_may_be_left_out_is_shown_and_accepted_so(tmp_path: Path) -> None:
    content = media({JSON: OTHER, "text/plain": TEXT})
    for required, refused in ((None, False), (True, True)):
        stated = content if required is None else {"required": required, **content}
        (tmp_path / str(required)).mkdir()
        thing = Adapted(tmp_path / str(required), document(method="put", operationId="updateThing", requestBody=stated))
        assert "required" not in thing.row["parameters"]["input"]
        assert ("needs `input`" in thing.row["parameters"]["as"]["description"]) is refused
        assert (await thing.call())["success"] is not refused
        assert (await thing.sent(input={"other": 1})).content == b'{"other":1}'


async def test_each_kind_of_a_body_has_its_own_fields_and_encoding(tmp_path: Path) -> None:
    thing = Adapted(tmp_path, document({JSON: THING, "multipart/form-data": UPLOAD}))
    parameters = thing.row["parameters"]
    assert "required" not in parameters["url"] | parameters["file"]
    assert parameters["as"]["description"] == "How the body is sent; json needs `url`; multipart needs `file`"
    request = await thing.sent(url="u", title="t")
    assert header(request, "Content-Type") == "application/json"
    assert json.loads(request.content or b"") == {"url": "u", "title": "t"}
    request = await thing.sent(**{"as": "multipart", "file": "aGk=", "title": "t"})
    assert header(request, "Content-Type").startswith("multipart/form-data; boundary=")
    assert b'name="file"; filename="file"' in (request.content or b"")
    assert b"\r\n\r\nhi\r\n" in (request.content or b"")


async def test_parameters_that_one_kind_alone_has_choose_it(tmp_path: Path) -> None:
    thing = Adapted(tmp_path, document({JSON: THING, "multipart/form-data": UPLOAD}))
    assert header(await thing.sent(file="aGk="), "Content-Type").startswith("multipart/form-data")


REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "VALIDATION_MISSING_PARAM", "url"),
    ({"as": "multipart"}, "VALIDATION_MISSING_PARAM", "file"),
    ({"as": "json", "url": "u", "file": "aGk="}, "VALIDATION_UNKNOWN_PARAM", "file"),
    ({"url": "u", "file": "aGk="}, "VALIDATION_UNKNOWN_PARAM", "file"),
    ({"as": "yaml", "url": "u"}, "VALIDATION_INVALID_VALUE", "multipart"),
]


@pytest.mark.parametrize(("params", "code", "word"), REFUSALS)
async def test_a_call_is_checked_by_its_kind(tmp_path: Path, params: dict[str, Any], code: str, word: str) -> None:
    thing = Adapted(tmp_path, document({JSON: THING, "multipart/form-data": UPLOAD}))
    error = (await thing.call(**params))["error"]
    assert error["code"] == code
    assert word in error["message"]
    assert not thing.api.sent


SENT: list[tuple[str, Any, dict[str, Any], str, bytes]] = [
    ("application/xml", LARGER, {"as": "xml", "url": "u"}, "application/xml", b"<url>u</url>"),
    ("text/csv", TEXT, {"as": "csv", "body": "a,b\n"}, "text/csv", b"a,b\n"),
    ("application/octet-stream", {}, {"as": "bytes", "body": "aGk="}, "application/octet-stream", b"hi"),
    ("application/vnd.acme.raw+json", OTHER, {"as": "raw", "other": 3}, "application/vnd.acme.raw+json", b'"other":3'),
    (FORM, LARGER, {"as": "form", "url": "u"}, "x-www-form-urlencoded", b"url=u"),
    ("image/*", {}, {"as": "image", "body": {"content": "aGk=", "filename": "a.png"}}, "image/png", b"hi"),
]


@pytest.mark.parametrize(("kind", "schema", "params", "content_type", "text"), SENT, ids=[row[0] for row in SENT])
async def test_a_chosen_kind_is_sent(
    tmp_path: Path, kind: str, schema: Any, params: dict[str, Any], content_type: str, text: bytes
) -> None:
    thing = Adapted(tmp_path, document({JSON: THING, kind: schema}))
    request = await thing.sent(**params)
    assert content_type in header(request, "Content-Type")
    assert text in (request.content or b"")


@pytest.mark.parametrize("params", [{"file": "aGk="}, {"file": "aGk=", "title": "t"}])
async def test_a_kind_that_is_understood_is_the_one_that_is_sent(tmp_path: Path, params: dict[str, Any]) -> None:
    thing = Adapted(tmp_path, document({JSON: THING, "multipart/form-data": UPLOAD}))
    request = await thing.sent(**params, **{"as": "MULTIPART"})
    assert header(request, "Content-Type").startswith("multipart/form-data")
    bare = object_of(title=TEXT)
    thing = Adapted(tmp_path, document({JSON: bare, FORM: LARGER | {"required": []}}))
    assert (await thing.sent(**{"title": "t", "as": "FORM"})).content == b"title=t"


async def test_the_answer_is_asked_for_in_the_chosen_kind(tmp_path: Path) -> None:
    spec = document(answer={JSON: THING, "text/csv": TEXT, "application/pdf": {}}, method="get")
    pdf = ApiResponse(200, {"content-type": "application/pdf"}, b"%PDF")
    thing = Adapted(tmp_path, spec, pdf)
    assert header(await thing.sent(), "Accept") == "application/json"
    assert header(await thing.sent(**{"as": "csv"}), "Accept") == "text/csv"
    envelope = await thing.call(**{"as": "pdf"})
    assert header(thing.api.sent[-1], "Accept") == "application/pdf"
    assert envelope["data"]["mime_type"] == "application/pdf"


async def test_a_chosen_kind_is_asked_for_alone_whatever_other_statuses_have(tmp_path: Path) -> None:
    answers = {"200": {"description": "", **media({JSON: THING, "text/csv": TEXT})}, "202": replies(THING)["200"]}
    thing = Adapted(tmp_path, document(method="get", responses=answers))
    assert header(await thing.sent(**{"as": "csv"}), "Accept") == "text/csv"


async def test_an_xml_answer_is_read_by_its_schema(tmp_path: Path) -> None:
    schema = object_of(itemId={**INTEGER, "xml": {"attribute": True}})
    spec = document(answer={JSON: THING, "application/xml": schema}, method="get")
    answer = ApiResponse(200, {"content-type": "application/xml"}, b'<thing itemId="7"/>')
    envelope = await Adapted(tmp_path, spec, answer).call(**{"as": "xml"})
    assert envelope["data"] == {"item_id": 7}


async def test_body_and_answer_are_chosen_apart(tmp_path: Path) -> None:
    spec = document({JSON: THING, "text/csv": TEXT}, {JSON: THING, "text/plain": TEXT})
    thing = Adapted(tmp_path, spec)
    request = await thing.sent(**{"as": "text", "send_as": "csv", "body": "a"})
    assert (header(request, "Accept"), header(request, "Content-Type")) == ("text/plain", "text/csv")
    request = await thing.sent(url="u")
    assert (header(request, "Accept"), header(request, "Content-Type")) == ("application/json", "application/json")


async def test_a_parameter_of_the_same_name_keeps_it(tmp_path: Path) -> None:
    spec = document(answer={JSON: THING, "text/csv": TEXT}, method="get", parameters=[parameter("as")])
    thing = Adapted(tmp_path, spec)
    request = await thing.sent(**{"as": "me", "adapter_as": "csv"})
    assert request.url.endswith("?as=me")
    assert header(request, "Accept") == "text/csv"


async def test_another_kind_of_a_list_is_asked_for_by_the_parameters_of_the_api(tmp_path: Path) -> None:
    pages = [parameter(name, schema=INTEGER) for name in ("page", "per_page")]
    answer = {JSON: list_of(object_of(id=INTEGER)), "text/csv": TEXT}
    spec = document(answer=answer, method="get", parameters=pages, operationId="listThings")
    thing = Adapted(tmp_path, spec, ApiResponse(200, {"content-type": "text/csv"}, b"id\n1\n"))
    assert "first" in thing.row["parameters"]
    request = await thing.sent(**{"as": "csv", "page": 2})
    assert request.url.endswith("?page=2")
    error = (await thing.call(**{"as": "csv", "first": 2}))["error"]
    assert error["code"] == "VALIDATION_UNKNOWN_PARAM"


async def test_an_update_that_is_merged_has_one_kind(tmp_path: Path) -> None:
    get = {"operationId": "getThing", "responses": replies(THING)}
    body = media({JSON: THING, "multipart/form-data": UPLOAD})
    put = {"operationId": "updateThing", "responses": replies(THING), "requestBody": body}
    row = tabulate(tmp_path, api({"GET /things/{id}": get, "PUT /things/{id}": put})).rows["update_thing"]
    assert row["update"]["strategy"] == "put-merge"
    assert "as" not in row["parameters"]


async def test_an_update_with_a_file_is_sent_as_a_form(tmp_path: Path) -> None:
    kinds = {JSON: THING, "multipart/form-data": UPLOAD}
    thing = Adapted(tmp_path, document(kinds, method="patch", operationId="updateThing"))
    request = await thing.sent(**{"as": "multipart", "id": "1", "input": {"file": "aGk="}})
    assert header(request, "Content-Type").startswith("multipart/form-data")
    assert b"hi" in (request.content or b"")
    assert header(await thing.sent(id="1", input={"title": "t"}), "Content-Type") == "application/json"


PATCH, MERGE, STRATEGIC, APPLY = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
PATCHES: list[tuple[str, dict[str, Any], list[str] | None]] = [
    ("one", {MERGE: FREE}, None),
    (
        "of one schema",
        dict.fromkeys((PATCH, MERGE, STRATEGIC), FREE),
        ["merge-patch", "json-patch", "strategic-merge-patch"],
    ),
    ("with fields", {JSON: THING, PATCH: THING, MERGE: THING}, ["json", "json-patch", "merge-patch"]),
    ("a list of operations", {MERGE: THING, PATCH: {"type": "array", "items": {}}}, ["merge-patch", "json-patch"]),
    ("of YAML", {STRATEGIC: FREE, APPLY: FREE}, ["strategic-merge-patch", "apply-patch"]),
]


@each(("title", "kinds", "names"), PATCHES, ids=[row[0] for row in PATCHES])
async def test_every_kind_of_patch_is_a_choice(
    tmp_path: Path, title: str, kinds: dict[str, Any], names: list[str] | None
) -> None:
    row = tabulate(tmp_path, document(kinds, method="patch", operationId="updateThing")).rows["update_thing"]
    choice = row["parameters"].get("as")
    assert (choice and choice["schema"]["enum"]) == names, title
    assert [name for name in row["parameters"] if name.startswith("input")] == ["input"], title


async def test_each_kind_of_patch_is_sent_as_it_is_given(tmp_path: Path) -> None:
    thing = Adapted(tmp_path, patching(PATCH, MERGE, STRATEGIC, APPLY))
    change, operations = {"tags": ["a"]}, [{"op": "add", "path": "/tags/-", "value": "a"}]
    for kind, value, content_type in (
        (None, change, MERGE),
        ("merge-patch", change, MERGE),
        ("strategic-merge-patch", change, STRATEGIC),
        ("json-patch", operations, PATCH),
        ("apply-patch", "tags: [a]", APPLY),
    ):
        request = await thing.sent(**{"id": "1", "input": value} | ({"as": kind} if kind else {}))
        assert header(request, "Content-Type") == content_type
        sent = (request.content or b"").decode()
        assert (sent if isinstance(value, str) else json.loads(sent)) == value
    request = await thing.sent(**{"id": "1", "as": "json-patch", "input": change})
    assert json.loads(request.content or b"") == [{"op": "add", "path": "/tags", "value": ["a"]}]
    assert header(await thing.sent(id="1", input=operations), "Content-Type") == PATCH
    error = (await thing.call(**{"id": "1", "as": "merge-patch", "input": [*operations, *operations]}))["error"]
    assert error["code"] == "VALIDATION_INVALID_TYPE"


@pytest.mark.parametrize("default", [JSON, PATCH])
async def test_only_the_default_kind_of_an_update_depends_on_a_read(tmp_path: Path, default: str) -> None:
    get = {"operationId": "getThing", "responses": replies(THING)}
    kinds = {default: THING, FORM: OTHER, "multipart/form-data": UPLOAD} | ({PATCH: FREE} if default == JSON else {})
    spec = document(kinds, method="patch", operationId="updateThing")
    thing = Adapted(
        tmp_path, api({"GET /things/{id}": get, "PATCH /things/{id}": spec["paths"]["/things/{id}"]["patch"]})
    )
    for kind, change, written in (("multipart", {"file": "aGk="}, b"hi"), ("form", {"other": 1}, b"other=1")):
        params = {"id": "1", "as": kind, "input": change}
        assert (await thing.call(**params, dry_run=True))["success"]
        assert written in ((await thing.sent(**params)).content or b"")
    assert {request.method for request in thing.api.sent} == {"PATCH"}
    request = await thing.sent(**{"id": "1", "as": "json-patch", "input": {"title": "t"}})
    assert json.loads(request.content or b"") == [{"op": "add", "path": "/title", "value": "t"}]
    assert [request.method for request in thing.api.sent][-2:] == ["GET", "PATCH"]


async def described(thing: Adapted, *, all_of_it: bool = True) -> dict[str, Any]:
    params = {"query": "operations", "name": thing.name, **({"all": True} if all_of_it else {})}
    envelope = await thing.dispatcher.handle(None, {"operation": "introspect", "params": params})
    operation: dict[str, Any] = envelope["data"]["operation"]
    return operation


async def test_what_a_patch_does_with_lists_is_described(tmp_path: Path) -> None:
    operation = await described(Adapted(tmp_path, patching(PATCH, MERGE, STRATEGIC)))
    chooser = next(parameter for parameter in operation["parameters"] if parameter["name"] == "as")
    assert chooser["default"] == "merge-patch"
    assert chooser["description"] == (
        "How the body is sent; merge-patch replaces a list whole; json-patch takes a list of operations; "
        "strategic-merge-patch merges lists by key"
    )
    operation = await described(Adapted(tmp_path, patching(MERGE)))
    assert operation["description"].endswith("In a merge patch a list replaces the whole list.")


async def test_a_choice_is_described_with_all_its_values(tmp_path: Path) -> None:
    kinds = {f"application/vnd.acme.kind{number}": TEXT for number in range(20)}
    wide = [parameter(f"query{number}", description="words " * 60) for number in range(90)]
    spec = document(answer={JSON: THING, **kinds}, method="get", parameters=wide)
    thing = Adapted(tmp_path, spec)
    names = ["json", *(f"kind{number}" for number in range(20))]
    for all_of_it in (True, False):
        parameters = (await described(thing, all_of_it=all_of_it))["parameters"]
        assert next(item for item in parameters if item["name"] == "as")["enum"] == names


async def test_the_owner_s_content_type_is_no_choice(tmp_path: Path) -> None:
    text = "POST /things: {body: {content_type: multipart/form-data}}"
    spec = document({JSON: THING, "multipart/form-data": UPLOAD})
    row = tabulate(tmp_path, spec, overrides=text).rows["send_thing"]
    assert row["body"]["content_type"] == "multipart/form-data"
    assert "as" not in row["parameters"]


async def test_the_dry_run_shows_the_chosen_kind(tmp_path: Path) -> None:
    thing = Adapted(tmp_path, document({JSON: THING, "text/csv": TEXT}))
    data = (await thing.call(**{"as": "csv", "body": "a,b", "dry_run": True}))["data"]
    assert data["headers"]["Content-Type"] == "text/csv"
    assert data["body"] == "a,b"


RANGES: list[tuple[str, Any, Any, str, bytes]] = [
    ("image/*", FILE, {"content": "aGk=", "mime_type": "image/webp"}, "image/webp", b"hi"),
    ("image/*", FILE, {"content": "aGk=", "filename": "a.gif"}, "image/gif", b"hi"),
    ("image/*", FILE, "aGk=", "application/octet-stream", b"hi"),
    ("image/*", FILE, {"content": "aGk=", "mime_type": "video/mp4"}, "video/mp4", b"hi"),
    ("*/*", FILE, {"content": "aGk=", "filename": "a.pdf"}, "application/pdf", b"hi"),
    ("*/*", FILE, {"content": "aGk=", "mime_type": "text/csv"}, "text/csv", b"hi"),
    ("*/*", FILE, "aGk=", "application/octet-stream", b"hi"),
    ("application/*", FILE, {"content": "aGk=", "filename": "a.zip"}, "application/zip", b"hi"),
    ("application/*", {"type": "array", "items": {}}, [1], "application/json", b"[1]"),
    ("application/*+json", {"type": "array", "items": {}}, [1], "application/json", b"[1]"),
    ("text/*", TEXT, "hi", "text/plain", b"hi"),
    ("application/pdf", FILE, {"content": "aGk=", "filename": "a.gif"}, "application/pdf", b"hi"),
]


@pytest.mark.parametrize(("kind", "schema", "value", "content_type", "text"), RANGES)
async def test_a_range_is_sent_as_the_type_of_the_content(
    tmp_path: Path, kind: str, schema: Any, value: Any, content_type: str, text: bytes
) -> None:
    request = await Adapted(tmp_path, document({kind: schema})).sent(body=value)
    assert (header(request, "Content-Type"), request.content) == (content_type, text)


@pytest.mark.parametrize("schema", [{"type": ["array", "null"], "items": {}}, {"type": ["string", "null"]}])
async def test_a_whole_body_that_may_be_null_can_be_null(tmp_path: Path, schema: dict[str, Any]) -> None:
    thing = Adapted(tmp_path, document({JSON: schema}))
    assert "as" not in thing.row["parameters"]
    assert (await thing.sent(body=None)).content == b"null"


async def test_the_input_of_an_update_that_may_be_null_can_be_null(tmp_path: Path) -> None:
    spec = patching(JSON, schema=THING | {"type": ["object", "null"]})
    assert (await Adapted(tmp_path, spec).sent(id="1", input=None)).content == b"null"


PICTURE = {"type": "string", "contentMediaType": "image/png"}
BYTES = PICTURE | {"contentMediaType": "application/octet-stream"}
TYPED: list[tuple[str, Any, Any, Any, str]] = [
    ("contentMediaType", PICTURE, None, "aGk=", "image/png"),
    ("without a type", {"contentMediaType": "image/png"}, None, "aGk=", "image/png"),
    ("contentEncoding", PICTURE | {"contentEncoding": "base64"}, None, "aGk=", "image/png"),
    ("a list", {"type": "array", "items": PICTURE}, None, ["aGk="], "image/png"),
    ("no other than that", PICTURE, None, {"content": "aGk=", "mime_type": "image/gif"}, "image/png"),
    ("the file's own, where any is", BYTES, None, {"content": "aGk=", "mime_type": "image/gif"}, "image/gif"),
    ("plain bytes", BYTES, None, "aGk=", "application/octet-stream"),
    ("the encoding wins", PICTURE, "image/webp", "aGk=", "image/webp"),
    ("by the name", FILE, "image/png, image/jpeg", {"content": "aGk=", "filename": "a.jpg"}, "image/jpeg"),
    ("a name of another type", FILE, "image/png, image/jpeg", {"content": "aGk=", "filename": "a.pdf"}, "image/png"),
    ("by the file's type", FILE, "image/png, image/jpeg", {"content": "aGk=", "mime_type": "image/jpeg"}, "image/jpeg"),
    ("a range", FILE, "image/*", {"content": "aGk=", "filename": "a.gif"}, "image/gif"),
    ("an object", THING, "text/plain, application/json", {"url": "u"}, "application/json"),
]


@pytest.mark.parametrize(("title", "schema", "encoding", "value", "kind"), TYPED, ids=[row[0] for row in TYPED])
async def test_a_part_has_the_type_that_is_stated(
    tmp_path: Path, title: str, schema: Any, encoding: str | None, value: Any, kind: str
) -> None:
    spec = document({"multipart/form-data": object_of(part=schema)})
    if encoding is not None:
        content = spec["paths"]["/things"]["post"]["requestBody"]["content"]
        content["multipart/form-data"]["encoding"] = {"part": {"contentType": encoding}}
    request = await Adapted(tmp_path, spec).sent(part=value)
    assert f"\r\nContent-Type: {kind}\r\n".encode() in (request.content or b""), title


async def test_answers_of_several_statuses_are_no_choice(tmp_path: Path) -> None:
    spec = document(answer={JSON: THING}, method="get")
    spec["paths"]["/things"]["get"]["responses"]["203"] = {"description": "OK", **media({"image/jpeg": {}})}
    (row,) = tabulate(tmp_path, spec).rows.values()
    assert "as" not in row["parameters"]
