"""The witness: a second reading of the document that judges requests and adapters, and shares nothing with either."""

from __future__ import annotations

import gc
import json
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import httpx2
import pytest
from jsonschema_rs import Draft202012Validator
from mcp import Client

from aqlgen.check.checks.parameters import wrong
from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.encode import _FRAMING, _FRAMING_PREFIXES, _OVERRIDES
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.witness import Finding, Grade, Request, Witness
from aqlgen.runtime.witness.document import Document
from aqlgen.runtime.witness.rules import rule_problems
from aqlgen.runtime.witness.samples import sample
from aqlgen.runtime.witness.shown import Shown
from aqlgen.runtime.witness.types import Types
from tests.generator.commands import run

pytestmark = pytest.mark.long

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
THING = {
    "type": "object", "required": ["name"], "properties": {
        "id": {"type": "integer", "readOnly": True}, "name": {**TEXT, "maxLength": 8}, "notes": TEXT,
        "sizeClass": {**TEXT, "enum": ["small", "large"]}, "madeAt": {**TEXT, "format": "date-time"},
    },
}  # fmt: skip
ITEM = [{"name": "thingId", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}]


def answer(schema: Any, **headers: Any) -> dict[str, Any]:
    return {"200": {"description": "", "headers": headers, "content": {"application/json": {"schema": schema}}}}


def body(media: str = "application/json", schema: Any = THING) -> dict[str, Any]:
    return {"required": True, "content": {media: {"schema": schema}}}


UPLOAD = {"properties": {"photo": {"type": "string", "format": "binary"}}}
DONE = {"204": {"description": ""}}
PATHS: dict[str, Any] = {
    "/things": {
        "get": {
            "operationId": "listThings",
            "parameters": [
                {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}},
                {"name": "per_page", "in": "query", "schema": {"type": "integer", "maximum": 50}},
                {"name": "tags", "in": "query", "explode": False, "schema": {"type": "array", "items": TEXT}},
                {"name": "filter", "in": "query", "style": "deepObject", "schema": {"properties": {"bornAfter": TEXT}}},
                {"name": "X-Trace", "in": "header", "schema": TEXT},
                {"name": "depth", "in": "query", "schema": {"type": "integer", "default": 1}},
            ],
            "responses": answer({"properties": {"items": {"type": "array", "items": THING}, "total": NUMBER}}),
        },
        "post": {"operationId": "createThing", "requestBody": body(), "responses": answer(THING)},
    },
    "/things/{thingId}": {
        "parameters": ITEM,
        "get": {"operationId": "getThing", "responses": answer(THING, ETag={"schema": TEXT})},
        "put": {"operationId": "replaceThing", "requestBody": body(), "responses": answer(THING)},
        "delete": {"operationId": "deleteThing", "responses": DONE},
    },
    "/things/{thingId}/photo": {"parameters": ITEM, "post": {
        "operationId": "addPhoto", "requestBody": body("multipart/form-data", UPLOAD), "responses": DONE}},
    "/things/{thingId}/archive": {"parameters": ITEM, "post": {"operationId": "archiveThing", "responses": DONE}},
}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "servers": [{"url": "https://things.example/v1"}],
    "security": [{"key": []}], "paths": PATHS,
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
}  # fmt: skip


def witness_of(folder: Path, document: Any = DOCUMENT, overrides: Any = None) -> Witness:
    (folder / "openapi").mkdir(parents=True, exist_ok=True)
    (folder / "openapi/openapi.json").write_text(json.dumps(document), encoding="utf-8")
    if overrides is not None:
        (folder / "overrides.yaml").write_text(json.dumps(overrides), encoding="utf-8")
    return Witness(folder)


KEY = ("X-Key", "secret")
JSON = (KEY, ("Content-Type", "application/json"))
BASE = "https://things.example/v1"


def problems(witness: Witness, method: str, url: str, content: bytes = b"", *headers: tuple[str, str]) -> list[str]:
    judgement = witness.judge(Request(method, BASE + url, headers or (KEY,), content))
    return [f"{grade}: {text}" for grade, text in judgement.problems]


def test_a_request_is_judged_by_the_document_alone(tmp_path: Path) -> None:
    witness = witness_of(tmp_path)
    right = [
        ("GET", "/things?page=2&per_page=50&tags=a,b&filter%5BbornAfter%5D=x"),
        ("POST", "/things", b'{"name": "Rosa", "sizeClass": "small"}', *JSON),
        ("DELETE", "/things/7"),
    ]
    assert [problems(witness, *request) for request in right] == [[], [], []]
    refused = {
        "in no path": ("PATCH", "/things/7"),
        "is in no path ": ("GET", "/thing"),
        "query limit is not in the document": ("GET", "/things?limit=2"),
        "60 is greater than the maximum of 50": ("GET", "/things?per_page=60"),
        "is repeated, it is not exploded": ("GET", "/things?tags=a&tags=b"),
        "its style is deepObject": ("GET", "/things?filter=x"),
        "header x-other is not in the document": ("GET", "/things", b"", KEY, ("X-Other", "x")),
        "no credential of key": ("GET", "/things", b"", ("Accept", "*/*")),
        'path thingId "x" is not of type': ("GET", "/things/x"),
        "the body is missing": ("POST", "/things"),
        'body "name" is a required property': ("POST", "/things", b"{}", *JSON),
        "body/sizeClass": ("POST", "/things", b'{"name": "Rosa", "sizeClass": "huge"}', *JSON),
        "the body is text/plain": ("POST", "/things", b"x", KEY, ("Content-Type", "text/plain")),
    }
    for text, request in refused.items():
        assert any(text in problem for problem in problems(witness, *request)), (text, problems(witness, *request))


def test_the_address_of_the_document_is_a_part_of_what_is_judged(tmp_path: Path) -> None:
    witness = witness_of(tmp_path)
    assert witness.addresses == {"": BASE}
    elsewhere = Request("GET", "https://things.example/v2/things/7", (KEY,))
    assert witness.judge(elsewhere).operation is None
    witness.base = "https://things.example/v2"
    assert witness.judge(elsewhere).problems == []


def test_the_address_is_that_by_https_where_both_are_named(tmp_path: Path) -> None:
    plain, secure = "http://things.example", "https://things.example"
    variable = [{"url": "{a}://things.example", "variables": {"a": {"default": name}}} for name in ("http", "https")]
    written = [[{"url": url} for url in (plain, other)] for other in (secure, "https://other.example")]
    for servers, address in ((written[0], secure), (written[1], plain), (variable, plain)):
        assert witness_of(tmp_path, {**DOCUMENT, "servers": servers}).addresses == {"": address}


def test_a_document_of_swagger_is_judged_as_it_is(tmp_path: Path) -> None:
    parameters = [
        {"name": "ids", "in": "query", "type": "array", "items": {"type": "integer"}, "collectionFormat": "pipes"},
        {"name": "note", "in": "formData", "type": "string", "required": True},
    ]
    operation = {"operationId": "note", "consumes": ["application/x-www-form-urlencoded"], "parameters": parameters}
    swagger = {"swagger": "2.0", "host": "THINGS.example", "basePath": "/v1", "paths": {"/notes": {"post": operation}}}
    witness = witness_of(tmp_path, swagger)
    form = ("Content-Type", "application/x-www-form-urlencoded")
    judgement = witness.judge(Request("POST", f"{BASE}/notes?ids=1%7C2", (form,), b"note=a+b"))
    assert judgement.problems == []
    assert judgement.values == {("query", "ids"): [1, 2], ("body", ""): {"note": "a b"}}
    assert problems(witness, "POST", "/notes", b"other=1", form) == ['wrong: body "note" is a required property']


@pytest.mark.anyio
async def test_a_file_of_swagger_is_no_json(tmp_path: Path) -> None:
    code = {"operationId": "getCode", "produces": ["application/json"], "responses": {
        "200": {"description": "", "schema": {"type": "file"}}}}  # fmt: skip
    document, project = {"swagger": "2.0", "info": {"title": "Codes", "version": "1"}}, tmp_path / "project"
    path = tmp_path / "codes.json"
    path.write_text(json.dumps({**document, "host": "things.example", "paths": {"/code": {"get": code}}}))
    assert run("from-openapi", path, "-o", project, "--name", "things", "-q").code == 0
    assert [str(finding) for finding in await findings(project)] == []


def test_the_owners_word_is_honoured(tmp_path: Path) -> None:
    overrides = {
        "* /things/**": {"danger": "destructive"},
        "DELETE /things/{thingId}": {"hidden": True},
        "operation:listThings": {"parameters": {"X-Trace": {"value": "fixed"}, "query:page": {"name": "sheet"}}},
    }
    operations = {each.key: each for each in witness_of(tmp_path, overrides=overrides).documents[0].operations}
    assert operations["DELETE /things/{thingId}"].owner["hidden"] is True
    assert operations["GET /things/{thingId}"].owner["danger"] == "destructive"
    parameters = {each.name: each for each in operations["GET /things"].parameters}
    assert parameters["page"].owner == {"name": "sheet"}
    assert not parameters["X-Trace"].shown
    everywhere = witness_of(tmp_path, overrides={"adapter": {"headers": {"x-trace": {"env": "TRACE"}}}}).documents[0]
    headers = [each for operation in everywhere.operations for each in operation.parameters if each.name == "X-Trace"]
    assert {(each.shown, each.required) for each in headers} == {(False, False)}


def test_an_overlay_changes_what_is_judged_and_one_beyond_names_is_told(tmp_path: Path) -> None:
    actions = [
        {"target": "$.paths['/things'].get.parameters", "update": {"name": "sort", "in": "query", "schema": TEXT}},
        {"target": "$.paths['/things/{thingId}'].delete", "remove": True},
        {"target": "$..[?@.deprecated]", "remove": True},
    ]
    witness_of(tmp_path)
    (tmp_path / "openapi/overlays").mkdir()
    (tmp_path / "openapi/overlays/1-ours.json").write_text(json.dumps({"actions": actions}), encoding="utf-8")
    witness = Witness(tmp_path)
    assert problems(witness, "GET", "/things?sort=name") == []
    assert "in no path" in problems(witness, "DELETE", "/things/7")[0]
    assert witness.unfollowed == ["1-ours.json: $..[?@.deprecated]"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project of an adapter of the document above."""
    folder = tmp_path_factory.mktemp("witness")
    (folder / "things.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert run("from-openapi", folder / "things.json", "-o", folder / "project", "--name", "things", "-q").code == 0
    return folder / "project"


class Session:
    """An adapter in memory whose API is the witness."""

    client: Client

    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        self.arrived: list[Request] = []

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        self.arrived.append(Request(request.method, str(request.url), tuple(request.headers.items()), request.content))
        reply = self.witness.answer(self.arrived[-1])
        return httpx2.Response(reply.status, headers=dict(reply.headers), content=reply.content)

    def requests(self) -> list[Request]:
        arrived, self.arrived = self.arrived, []
        return arrived

    async def introspect(self, **params: Any) -> Any:
        return (await self.call("read", "introspect", params))["data"]

    async def call(self, family: str, operation: str, params: Any) -> Any:
        arguments = {"operation": operation, "params": dict(params)}
        return (await self.client.call_tool(f"mcp_aql_{family}", arguments)).structured_content


async def findings(project: Path, **edits: Any) -> list[Finding]:
    """Examine an adapter whose rows and types are edited: each edit is a function of one, by its name."""
    package = project / "src/things_adapter"
    paths = [*package.glob("operations/*.json"), package / "types.json"]
    files = {path: path.read_text(encoding="utf-8") for path in paths}
    try:
        for path, text in files.items():
            rows = json.loads(text)
            for name in rows.keys() & edits.keys():
                edits[name](rows[name])
            path.write_text(json.dumps(rows), encoding="utf-8")
        witness = Witness(project)
        session = Session(witness)
        environ = {"THINGS_API_KEY": "k", "THINGS_KEY": "k", "MCP_AQL_POLICY": "open", "MCP_AQL_STATE_URL": "memory:"}
        network = httpx2.MockTransport(session.respond)
        assembled = assemble(package, environ={"MCP_AQL_CONFIG": "/dev/null", **environ}, network=network)
        async with Client(build_server(assembled.dispatcher)) as session.client:
            return await witness.examine(session)
    finally:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")


@pytest.mark.anyio
async def test_an_honest_adapter_has_no_findings(project: Path) -> None:
    assert [str(finding) for finding in await findings(project)] == []


@pytest.mark.anyio
async def test_an_honest_adapter_of_a_richer_document_has_none(tmp_path: Path) -> None:
    """What is removed by what set it, patches beside JSON, a search whose items have a name of the page's, two ids of a
    thing, and an object in a path.
    """
    item = {"type": "object", "properties": {"id": NUMBER, "_links": {"type": "object", "properties": {"me": TEXT}}}}
    page = {"data": {"type": "array", "items": item}, "links": {"type": "object", "properties": {"next": TEXT}}}
    sizes = [{"name": name, "in": "query", "schema": {"type": "integer", "default": 1}} for name in ("page", "perPage")]
    labels = {"type": "object", "properties": {"resourceId": TEXT, "labels": {"type": "array", "items": TEXT}}}
    kinds = ("application/merge-patch+json", "application/json-patch+json", "application/json")
    patch = {"required": True, "content": {kind: {"schema": {"type": "object"}} for kind in kinds}}
    country = {"type": "object", "required": ["code"], "properties": {"code": TEXT, "name": TEXT}}
    done = {"200": {"description": ""}}
    paths: Any = {
        "/labels": {
            method: {"operationId": name, "summary": text, "requestBody": body(schema=labels), "responses": done}
            for method, name, text in (
                ("put", "assignLabels", "Assign labels to a resource"),
                ("delete", "unassignLabels", "Unassign labels from a resource"),
            )
        },
        "/orders/{thingId}": {
            "parameters": ITEM,
            "get": {"operationId": "getOrder", "responses": answer(item)},
            "patch": {"operationId": "patchOrder", "requestBody": patch, "responses": answer(item)},
        },
        "/orders/_search": {
            "post": {
                "operationId": "searchOrders",
                "summary": "Search orders",
                "parameters": sizes,
                "requestBody": body(schema={"type": "object", "properties": {"query": TEXT}}),
                "responses": answer({"type": "object", "properties": page}),
            }
        },
        "/options": {
            "get": {"operationId": "getOptions", "responses": done},
            "put": {
                "operationId": "editOptions",
                "requestBody": body(schema={"type": "object", "properties": {"size": NUMBER, "colour": TEXT}}),
                "responses": done,
            },
        },
        "/find-order": {
            "get": {
                "operationId": "findOrder",
                "parameters": [{"name": name, "in": "query", "schema": TEXT} for name in ("id", "orderId")],
                "responses": answer(item),
            }
        },
        "/countries/{country}/orders": {
            "get": {
                "operationId": "listOrdersOfCountry",
                "parameters": [{"name": "country", "in": "path", "required": True, "schema": country}],
                "responses": answer({"type": "array", "items": item}),
            }
        },
        "/sign-up": {"post": {"operationId": "signUp", "responses": answer({"items": item})}},
    }
    (tmp_path / "things.json").write_text(json.dumps({**DOCUMENT, "paths": paths}), encoding="utf-8")
    assert run("from-openapi", tmp_path / "things.json", "-o", tmp_path / "project", "--name", "things", "-q").code == 0
    grave = [each for each in await findings(tmp_path / "project") if each.grade in (Grade.BROKEN, Grade.WRONG)]
    assert [str(finding) for finding in grave] == []


def edited(parameter: str, **changes: Any) -> Any:
    return lambda row: row["parameters"][parameter].update(changes)


EDITS: dict[str, tuple[str, Any, str]] = {
    "method": ("create_thing", lambda row: row.update(method="PUT"), "is in no path"),
    "path": ("delete_thing", lambda row: row.update(path="/thing/{thingId}"), "is in no path"),
    "another's path": ("archive_thing", lambda row: row.update(path="/things/{thingId}/photo"), "is reached by"),
    "wire name": ("create_thing", edited("size_class", name="size"), "and sent as"),
    "place": ("list_things", edited("x_trace", **{"in": "query"}), "x_trace is shown, and is in no place"),
    "explode": ("list_things", edited("tags", explode=True), "is not exploded"),
    "type": ("get_thing", edited("thing_id", schema={"type": "string"}), "type string, the document has integer"),
    "enumeration": ("create_thing", edited("size_class", schema={"enum": ["small"]}), "must be one of 'small'"),
    "danger": ("delete_thing", lambda row: row.update(danger="reversible"), "the least is destructive"),
    "paging": ("list_things", lambda row: row["pagination"].update(page_param="sheet"), "give 2 of 5 items"),
    "items": ("list_things", lambda row: row["pagination"].update(items="/things"), "give 0 of 5 items"),
    "merge": ("replace_thing", lambda row: row["update"].update(strategy="put"), "without reading it first"),
    "media": ("create_thing", lambda row: row["body"].update(content_type="application/x-www-form-urlencoded"),
        "the body is application/x-www-form"),
    "credential": ("get_thing", lambda row: row.update(security=[]), "no credential of key"),
    "an undeclared token": ("get_thing",
        lambda row: row["parameters"].update(page_token={"in": "query", "name": "pageToken", "schema": TEXT}),
        "page_token is shown, and is in no place"),
    "shown as optional": ("create_thing", edited("name", required=False), "body name is shown as optional"),
    "default": ("list_things", edited("depth", schema={"type": "integer"}), "default None, the document has 1"),
    "a type's format": ("GetThingResponse", lambda row: row["properties"]["made_at"].pop("format"), "has date-time"),
    "a type's member": ("GetThingResponse", lambda row: row["properties"]["size_class"]["enum"].append("huge"),
        "enum ['huge', 'large', 'small']"),
    "a name of an answer": ("GetThingResponse",
        lambda row: row["properties"]["size_class"].update({"x-name": "sizeclass"}),
        "sizeClass is answered, its type shows size_class"),
    "the count of all": ("list_things", lambda row: row["pagination"].pop("total"), "pageInfo says None"),
    "a question that is not put": ("archive_thing", lambda row: [row.pop(key) for key in ("asked", "effects")],
        "'reversible', 'never'), and reviewed as ('UPDATE', 'reversible', 'first') in OPERATIONS.md"),
    "a default of the adapter's own": ("create_thing",
        lambda row: row["parameters"]["dry_run"]["schema"].update(default=True), "dry_run is shown with default True"),
    "the type of items": ("list_things",
        lambda row: row["parameters"]["tags"]["schema"]["items"].update(type="integer"),
        "query tags is shown with items of type integer"),
    "an effect that was reviewed": ("delete_thing", lambda row: row.update(effects=["access"]),
        "'always', 'access'), and reviewed as ('DELETE', 'destructive', 'always', 'ends')"),
    "an end": ("get_thing", lambda row: row.update(deprecated=True), "deprecated is True, the document has False"),
    "a status": ("get_thing", lambda row: row.update(responses={"202": {}}), "has {'200': 'application/json'}"),
    "a body": ("create_thing", lambda row: row["body"].pop("required"), "body.required is False"),
    "a size": ("list_things", lambda row: row["pagination"].update(size_max=5), "size_max is 5, the document has 50"),
    "a scope": ("get_thing", lambda row: row.update(scopes={"key": ["write"]}), "scopes is {'key': ['write']}, "),
    "the place of items": ("list_things", lambda row: row["pagination"].update(items="/total"), "n.items is '/total'"),
    "another place": ("list_things", lambda row: row["pagination"].update(total="/count"), "pagination.total is"),
    "accept": ("get_thing", lambda row: row["responses"]["200"].update(content_type="text/csv"), "'text/csv'}"),
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("edit", EDITS)
async def test_an_edit_of_one_place_of_the_table_is_found(project: Path, edit: str) -> None:
    name, change, text = EDITS[edit]
    grave = [each for each in await findings(project, **{name: change}) if each.grade in (Grade.BROKEN, Grade.WRONG)]
    assert any(text in finding.text for finding in grave), [str(finding) for finding in grave]
    assert all(finding.pointer.startswith("openapi/openapi.json#/paths/") for finding in grave if finding.pointer)


def test_what_a_path_may_mean_is_looked_at_and_another_is_broken(tmp_path: Path) -> None:
    paths: Any = {
        path: {"post": {}, "put": {}}
        for path in ("/keys", "/revokeKey", "/emptyBin", "/gettotals", "/totals", "/x/download", "/x/search")
    }
    verb = {"name": "verb", "in": "query", "schema": {"enum": ["GET", "DELETE"]}}
    paths |= {
        "/auth": {"get": {"parameters": [verb]}},
        "/lock": {"put": {}, "delete": {}},
        "/note": {"put": {"requestBody": body()}, "delete": {}},
        "/file": {"put": {"requestBody": body(schema=TEXT)}, "delete": {}},
        "/remove-role": {"post": {"requestBody": body()}},
        "/add-role": {"post": {"requestBody": body()}},
        "/remove-note": {"post": {"requestBody": body()}},
        "/teams/add": {"post": {"requestBody": body()}},
        "/teams/remove": {"post": {"requestBody": {**body(), "description": "The team that leaves."}}},
    }
    operations = {each.key: each for each in witness_of(tmp_path, {**DOCUMENT, "paths": paths}).documents[0].operations}
    graded = {
        ("DELETE /lock", "x", "DELETE", "reversible"): [Grade.LOOK],  # its path takes it back
        ("DELETE /note", "x", "DELETE", "reversible"): [Grade.WRONG],
        ("DELETE /file", "x", "DELETE", "reversible"): [Grade.WRONG],
        ("POST /remove-role", "x", "DELETE", "reversible"): [Grade.LOOK],
        ("POST /remove-note", "x", "DELETE", "reversible"): [Grade.WRONG],
        ("POST /teams/remove", "x", "DELETE", "reversible"): [Grade.LOOK],
        ("PUT /revokeKey", "x", "DELETE", "destructive"): [Grade.LOOK],
        ("PUT /emptyBin", "x", "DELETE", "destructive"): [Grade.LOOK],
        ("GET /auth", "x", "DELETE", "destructive"): [Grade.LOOK],
        ("PUT /keys", "x", "DELETE", "destructive"): [Grade.BROKEN],
        ("POST /gettotals", "get_totals", "READ", "safe"): [],
        ("POST /x/download", "x", "READ", "safe"): [],
        ("PUT /x/search", "x", "READ", "safe"): [Grade.LOOK],
        ("POST /totals", "get_totals", "READ", "safe"): [Grade.BROKEN],
    }
    for (key, *shown), grades in graded.items():
        assert [grade for grade, _ in rule_problems(operations[key], *shown)] == grades, key


def test_a_field_is_too_many_only_where_the_object_is_closed(tmp_path: Path) -> None:
    labels = {"type": "object", "properties": {"en": TEXT}}
    closed: dict[str, Any] = {"additionalProperties": False}
    cases = (({}, []), (closed, ["/noSuchField+"]), ({**closed, "patternProperties": {"^[a-zA-Z]{0,40}$": TEXT}}, []))
    for stated, places in cases:
        refused = wrong(witness_of(tmp_path).documents[0], labels | stated, {"en": "Rosa"}, set())
        assert [place for place, _ in refused if place[-1] == "+"] == places


def test_an_empty_object_of_pairs_is_nothing_that_is_missing(tmp_path: Path) -> None:
    words: dict[str, Any] = {"name": "words", "in": "query", "required": True, "schema": {"type": "object"}}
    need = {**words, "schema": {"type": "object", "required": ["q"], "properties": {"q": TEXT}}}
    document = {"openapi": "3.1.0", "servers": [{"url": BASE}], "paths": {
        "/words": {"get": {"parameters": [words]}}, "/needs": {"get": {"parameters": [SIZE, need]}}}}  # fmt: skip
    witness = witness_of(tmp_path, document)
    assert problems(witness, "GET", "/words", b"", ("Accept", "*/*")) == []
    assert problems(witness, "GET", "/needs", b"", ("Accept", "*/*")) == ["broken: query words is missing"]
    operation = witness.documents[0].operations[1]
    assert operation.names_beside(operation.parameters[0]) == {"q"}  # whose pairs nothing would tell from it


def test_what_a_graph_of_schemas_has_is_looked_up_once_for_all_its_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, steps, looked = [f"T{number}" for number in range(10)], count(), Document.parts
    others = {f"of_{name}": {"$ref": f"#/components/schemas/{name}"} for name in names}
    schemas = {name: {"type": "object", "properties": {"id": TEXT, **others}} for name in names}
    document = witness_of(tmp_path, {**DOCUMENT, "components": {"schemas": schemas}}).documents[0]
    monkeypatch.setattr(Document, "parts", lambda *call: [looked(*call), next(steps)][0])
    for name in names:
        assert sample(document, {"$ref": f"#/components/schemas/{name}"}).keys() == {"id", *others}
    assert next(steps) < 25_000


def test_a_value_has_the_fields_that_are_required_and_described_nowhere(tmp_path: Path) -> None:
    document = witness_of(tmp_path).documents[0]
    described = {"allOf": [{"type": "object", "properties": {"name": TEXT}}], "required": ["name", "namespace"]}
    assert sample(document, described).keys() == {"name", "namespace"}
    assert sample(document, {"additionalProperties": TEXT}).keys() == {"key"}
    marked, free = ({"properties": {"trial": {**TEXT, "readOnly": each}}} for each in (True, False))
    assert [*document.properties({"oneOf": [marked, free]}, "readOnly")] == ["trial"]


def test_a_sample_of_any_graph_of_schemas_takes_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, steps, followed = [f"T{number}" for number in range(60)], count(), Document.deref
    others = {name: {"$ref": f"#/components/schemas/{name}"} for name in names}
    few = [*others.values()][:20]
    graphs: dict[str, list[dict[str, Any]]] = {
        "optional": [{"required": ["id"], "properties": {"id": TEXT, **others}}] * 60,
        "required": [{"required": names[at + 1 :], "properties": others} for at in range(60)],
        "lists": [{"properties": {name: {"items": other} for name, other in others.items()}}] * 60,
        "parts": [{"allOf": few[at + 1 :], "properties": {"id": TEXT}} for at in range(20)],
        "alternatives": [{"anyOf": few, "properties": {"id": TEXT}}] * 20,
    }
    monkeypatch.setattr(Document, "deref", lambda *call: [followed(*call), next(steps)][0])
    for kind, schemas in graphs.items():
        components, start = {"schemas": dict(zip(names, schemas, strict=False))}, next(steps)
        document = witness_of(tmp_path, {**DOCUMENT, "components": components}).documents[0]
        value = sample(document, others["T0"])
        assert next(steps) - start < 100_000, kind
        assert kind != "optional" or value.keys() == {"id", *names}


def test_a_key_that_operations_declare_may_be_sent_to_others_where_no_security_is_stated(tmp_path: Path) -> None:
    key = {"name": "apikey", "in": "query", "schema": TEXT}
    header = {"name": "x-tyk-authorization", "in": "header", "schema": TEXT}
    paths: dict[str, Any] = {"/things": {"get": {"parameters": [key, header]}}, "/metrics": {"get": {}}}
    document = {"openapi": "3.1.0", "servers": [{"url": BASE}], "paths": paths}
    accept = ("Accept", "*/*")
    sent = accept, ("X-Tyk-Authorization", "x")
    assert problems(witness_of(tmp_path, document), "GET", "/metrics?apikey=x", b"", *sent) == []
    paths["/metrics"]["get"]["security"] = []
    refused = ["broken: query apikey is not in the document"]
    assert problems(witness_of(tmp_path, document), "GET", "/metrics?apikey=x", b"", accept) == refused


def test_a_credential_may_be_sent_where_anonymous_access_or_a_declared_key_is_an_alternative(tmp_path: Path) -> None:
    stated: Any = {"any": [{}], "none": [], "key": [{"key": []}]}
    key = [{"name": "apiKey", "in": "query", "schema": TEXT}]
    paths = {f"/{name}": {"get": {"security": security, "parameters": key}} for name, security in stated.items()}
    witness = witness_of(tmp_path, {**DOCUMENT, "paths": paths})
    sent = ("Authorization", "Bearer x")
    assert problems(witness, "GET", "/any", b"", sent) == []
    refused = ["wrong: a credential is sent that the document does not ask for"]
    assert problems(witness, "GET", "/none", b"", sent) == refused
    assert problems(witness, "GET", "/key?apiKey=x", b"", ("Accept", "*/*")) == []
    assert problems(witness, "GET", "/key", b"", ("Accept", "*/*")) == ["broken: no credential of key is sent"]


def test_json_for_an_object_that_no_type_says_how_to_write_is_laid_to_the_document(tmp_path: Path) -> None:
    for media, grade in (("application/octet-stream", "document"), ("application/xml", "broken")):
        paths = {"/things": {"post": {"requestBody": body(media)}}}
        witness = witness_of(tmp_path, {"openapi": "3.1.0", "servers": [{"url": BASE}], "paths": paths})
        sent = problems(witness, "POST", "/things", b'{"name": "Rosa"}', JSON[1])
        assert sent == [f"{grade}: the body is application/json, the document has {media}"]


def test_a_constraint_beside_a_reference_counts_since_3_1(tmp_path: Path) -> None:
    schema = {"$ref": "#/components/schemas/Named", "required": ["name"], "description": "Its name"}
    for version, refused in (("3.0.3", []), ("3.1.0", ['wrong: body "name" is a required property'])):
        paths = {"/names": {"post": {"requestBody": body(schema=schema)}}}
        components = {**DOCUMENT["components"], "schemas": {"Named": {"type": "object"}}}
        document = {**DOCUMENT, "openapi": version, "paths": paths, "components": components}
        assert problems(witness_of(tmp_path, document), "POST", "/names", b"{}", *JSON) == refused


@pytest.mark.anyio
async def test_a_field_named_as_a_credential_is_given_where_the_fields_are_not_shown(tmp_path: Path) -> None:
    posted = {"requestBody": body(schema={"required": ["client_id"], "properties": {"client_id": TEXT, "title": TEXT}})}
    operation = witness_of(tmp_path, {**DOCUMENT, "paths": {"/asked": {"post": posted}}}).documents[0].operations[0]
    for description, is_taken in (("Is Asked|Told.", True), ("Has title: string.", False)):
        entry = {"name": "input", "type": "any", "required": True, "description": description}
        row = {"parameters": {"input": {}}, "body": {"parameter": "input"}, "responses": {}}
        shown = Shown(Types(AsyncMock(return_value={})), {"name": "ask", "parameters": [entry]}, row)
        await shown.place(operation, "application/json")
        assert shown.takes("client_id") is is_taken


VARIABLES = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in ("id", "uuid")]
PAGE = [
    {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}},
    {"name": "per_page", "in": "query", "schema": {"type": "integer", "minimum": 10, "maximum": 100}},
]
ITEM_ID = [{**VARIABLES[0], "schema": {"type": "integer"}}]
SITE = {**TEXT, "pattern": "^[-a-z0-9]+\\Z"}
SIZE = {"name": "per_page", "in": "query", "schema": {"type": "integer"}}
PLACED = {"type": "object", "properties": {"label": TEXT, "place": {"type": "object", "readOnly": True, "properties": {
    "id": TEXT}}}}  # fmt: skip
READ = {"get": {"operationId": "getSpot", "parameters": VARIABLES[:1], "responses": answer(PLACED)}}
AREA = {"required": ["idempotency_key"], "properties": dict.fromkeys(("$_type", "type", "idempotency_key"), TEXT)}
HONEST: dict[str, Any] = {
    "a body of plain text is given as text, whatever its schema says": (
        "/notes", "post", {"operationId": "sendNote", "requestBody": body("text/plain", {"type": "object"})},
        {"put": {"operationId": "importNotes", "requestBody": body("application/octet-stream", UPLOAD)}},
    ),
    "of variables whose names end alike the longest is found first": (
        "/catalogs/{id}/products/{uuid}", "get", {"operationId": "getCatalogProduct", "parameters": VARIABLES},
    ),
    "the only value of an enumeration may be shown as its default": (
        "/search/{in}", "get", {"operationId": "search", "parameters": [
            {"name": "in", "in": "path", "required": True, "schema": {"type": "string", "enum": ["location"]}}]},
    ),
    "the API has a parameter that is spelled like the adapter's own": (
        "/repositories", "post", {"operationId": "addRepository", "parameters": [
            {"name": "dryrun", "in": "query", "schema": {"type": "boolean"}}]},
    ),
    "a read gives in another form what the body of a PUT has": (
        "/spots/{id}", "put", {"operationId": "updateSpot", "parameters": VARIABLES[:1], "requestBody": body(
            schema={"type": "object", "properties": {"label": TEXT, "place": TEXT}})}, READ,
    ),
    "the number of a page is a text": (
        "/records", "get", {"operationId": "listRecords", "responses": answer({"type": "array", "items": THING}),
        "parameters": [{**PAGE[0], "schema": {**TEXT, "default": "1"}}, {**SIZE, "schema": {**TEXT, "example": "9"}}]},
    ),
    "a page is as large as the smallest that the document allows": (
        "/documents", "get", {"operationId": "listDocuments", "parameters": PAGE,
                              "responses": answer({"type": "array", "items": THING})},
    ),
    "a body has fields of the names that the path has": (
        "/customers/{id}/addresses", "post", {"operationId": "addAddress", "parameters": VARIABLES[:1], "requestBody":
            body(schema={"type": "object", "properties": {"Id": TEXT, "CustomerId": TEXT, "City": TEXT}})},
    ),
    "a path has a variable in its query": (
        "/search/things?query={query}", "get", {"operationId": "searchThings", "parameters": [
            {"name": "query", "in": "query", "required": True, "schema": TEXT}], "responses": answer(THING)},
    ),
    "a text is declared as a parameter of JSON": (
        "/channels/{id}", "get", {"operationId": "getChannel", "responses": answer(THING), "parameters": [
            {"name": "id", "in": "path", "required": True, "content": {"application/json": {"schema": TEXT}}}]},
    ),
    "fields of an object are all read-only": (
        "/settings", "post", {"operationId": "addSetting", "requestBody": body(schema={"type": "object", "properties": {
            "name": TEXT, "meta": {"type": "object", "properties": {"madeAt": {**TEXT, "readOnly": True}}}}})},
    ),
    "a variable of the path is declared nowhere, and a list has a line for each item": ("/rooms/{accept}", "get", {
        "operationId": "streamRoom", "responses": {"200": {"description": "", "content": {"application/x-ndjson": {
            "schema": {"type": "array", "items": THING}}}}}}),
    "names of fields differ in signs alone, and a key of repeated calls is required": (
        "/areas", "post", {"operationId": "addArea", "responses": answer(AREA), "requestBody": body(schema=AREA)},
    ),
    "the last item leads to the next page": (
        "/cards", "get", {"operationId": "listCards", "parameters": [SIZE, {**SIZE, "name": "starting_after", "schema":
            TEXT}], "responses": answer({"properties": {"has_more": {"type": "boolean"}, "data": {"type": "array",
            "items": {"properties": {"kind": TEXT, "token": {**TEXT, "format": "uuid"}}}}}})},
    ),
    "a pattern stands between slashes, as in JavaScript": (
        "/chunks", "get", {"operationId": "getChunk", "parameters": [
            {**SIZE, "name": "part", "schema": {"type": "string", "pattern": r"/^\d+\/\d+$/i"}}]},
    ),
    "a field of a form is an object or a text": (
        "/jobs", "post", {"operationId": "addJob", "requestBody": body("multipart/form-data", {"type": "object",
            "required": ["meta"], "properties": {"meta": {"anyOf": [TEXT, {"type": "object"}]}, "note": TEXT}})},
    ),
    "a part of a form is a file by the media type of its content, as FastAPI writes it": (
        "/covers", "post", {"operationId": "addCover", "requestBody": body("multipart/form-data", {"type": "object",
            "required": ["file"], "properties": {"file": {**TEXT, "contentMediaType": "application/octet-stream"}}})},
    ),
    "a description says that a parameter is a key of repeated calls": (
        "/users", "post", {"operationId": "createUser", "requestBody": body(), "parameters": [
            {"name": "requestId", "in": "query", "schema": TEXT, "description": "An idempotency token."}]},
    ),
    "the bodies among which a call chooses bound a field differently": (
        "/edits", "post", {"operationId": "addEdit", "requestBody": {"required": True, "content": {
            "application/json": {"schema": {"properties": {"prompt": {**TEXT, "maxLength": 9}, "url": TEXT}}},
            "multipart/form-data": {"schema": {"properties": {"prompt": TEXT, "file": TEXT}}}}}},
    ),
    "a media type has its parameter behind a comma": (
        "/keys", "post", {"operationId": "addKey", "requestBody": body("application/json, version=1.0.0")},
    ),
    "an item of a filter may be the filter again, by a recursive reference": (
        "/searches", "post", {"operationId": "search", "requestBody": body(schema={"properties": {
            "filter": {"$ref": "#/components/schemas/Filter"}}})},
    ),
    "alternatives have fields of one name and many types": (
        "/sinks", "get", {"operationId": "getSink", "responses": answer({"properties": {"id": TEXT}, "oneOf": [
            {"type": "object", "required": ["type", "config"], "properties": {
                "type": {"enum": [kind]}, "config": {"$ref": f"#/components/schemas/{kind}"}}}
            for kind in "ABCDEFGHIJKL"]})},
    ),
    "a schema that redeclares its fields leads back to itself": (
        "/nodes", "get", {"operationId": "getNode", "responses": answer({"$ref": "#/components/schemas/Node"})},
    ),
    "a variable of the path is a whole number for one operation, and any text for another": (
        "/rows/{id}", "delete", {"operationId": "deleteRow", "parameters": ITEM_ID},
        {"put": {"operationId": "updateRow", "parameters": VARIABLES[:1], "requestBody": body()}},
    ),
    "a field that only the API sets has the name by which the variable of the path is shown": (
        "/budgets/{id}/limits", "post", {"operationId": "storeBudgetLimit", "parameters": VARIABLES[:1], "requestBody":
            body(schema={"required": ["amount", "budget_id"], "properties": {"amount": TEXT, "budget_id":
                {**TEXT, "readOnly": True}}})}, {"get": {"operationId": "listLimits", "parameters": VARIABLES[:1]}},
    ),
    "one scope or another is enough": (
        "/secrets", "get", {"operationId": "listSecrets", "security": [{"login": ["read"]}, {"login": ["write"]}]},
    ),
    "a list has lists of numbers": (
        "/statistics", "get", {"operationId": "listStatistics", "responses": answer({
            "type": "array", "items": {"type": "array", "items": {"type": "integer"}}})},
    ),
    "a form without named fields is not served, as its review says": (
        "/media", "post", {"operationId": "uploadMedia", "requestBody": body("multipart/form-data", {**TEXT, "format":
            "binary"})}, {"get": {"operationId": "listMedia"}},
    ),
    "a read may have a body, any object is required, and a pattern, a sign and a long default are written otherwise": (
        "/posts/some", "get", {"operationId": "getPosts", "requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "required": ["post_ids[]"], "properties": {"post_ids[]": {"type": "integer"}}}}}},
            "parameters": [{"name": "selector", "in": "query", "required": True, "schema": {"type": "object"}},
                           {"name": "base", "in": "query", "schema": {**TEXT, "pattern": r"^/[\w-/]*[a-z]$"}},
                           {"name": "icon", "in": "query", "schema": {**TEXT, "default": "\U0001f39f\ufe0f"}},
                           {"name": "parts", "in": "query", "schema": {**TEXT, "default": "name, " * 40}}]},
    ),
    "a field of the same name as the parameter leads to the next page": (
        "/stores", "get", {"operationId": "listStores", "parameters": [SIZE, {**SIZE, "name": "continuation_token",
            "schema": TEXT}], "responses": answer({"properties": {"stores": {"type": "array", "items": THING},
            "continuation_token": {**TEXT, "example": "eyJwayI6Ij"}}})},
    ),
    "the next page is described as a URL alone, and a field is always null": (
        "/hooks", "get", {"operationId": "listHooks", "parameters": [{**SIZE, "name": "cursor", "schema": TEXT}],
            "responses": answer({"properties": {"hooks": {"type": "array", "items": THING}, "next_page": {**TEXT,
            "description": "A URL that calls the next page."}, "err": {"type": "null", "description": "Always"}}})},
    ),
    "a schema has a space in its name, another is gone, null is a value, and alternatives have no names": (
        "/terms", "post", {"operationId": "addTerm", "requestBody": body(schema={"required": ["of"], "properties": {
            "of": {"$ref": "#/components/schemas/Of all"}, "b": TEXT}, "oneOf": [{"required": ["b"]}]}), "parameters": [
            {"name": "code", "in": "query", "schema": {"type": ["string", "null"], "pattern": "^c_[09]_$"}}]},
        {"put": {"operationId": "scan", "requestBody": {
            "content": {"multipart/form-data": {"schema": {"$ref": "./gone.json"}}}}},
         "query": {"operationId": "filter", "requestBody": body(schema={"properties": {"of": {"oneOf": [
             {"$ref": f"#/components/schemas/Of {name}"} for name in ("all", "one")], "discriminator": {
             "propertyName": "kind"}}}})}},
    ),
    "names differ in brackets alone, and a step of the path has two variables": (
        "/rows/{id}.{uuid}", "get", {"operationId": "findRow", "parameters": [*VARIABLES, {**SIZE, "name": "tag"}, {
            **SIZE, "name": "tag[]", "schema": {"type": "array", "items": NUMBER}}]},
    ),
    "a header has a list of objects, whose commas nothing would tell from others": (
        "/tags", "get", {"operationId": "getTag", "parameters": [{"name": "X-Put", "in": "header", "schema": {
            "type": "array", "items": {"type": "object", "properties": {"key": TEXT, "value": TEXT}}}}]},
    ),
    "a header leads to the next page": (
        "/boxes", "get", {"operationId": "listBoxes", "parameters": [SIZE, {**SIZE, "name": "nextToken", "schema":
            TEXT}], "responses": answer({"type": "array", "items": THING}, **{"X-Next-Token": {"schema": TEXT}})},
    ),
    "a scheme has words of another type, and the name of a header what its value begins with": (
        "/alerts", "get", {"operationId": "listAlerts", "security": [{"key": []}]},
    ),
    "a read takes several of what an update takes one of": (
        "/posts/{id}", "put", {"operationId": "updatePost", "parameters": VARIABLES[:1], "requestBody": body()},
        {"get": {"operationId": "getPosts", "responses": answer(THING), "parameters": [
            {**VARIABLES[0], "schema": {"type": "array", "items": TEXT}}]}},
    ),
    "either a read or an update has a default for a variable of the path": (
        "/users/{id}/phones/{uuid}", "put", {"operationId": "updatePhone", "requestBody": body(), "parameters": [
            {**VARIABLES[0], "schema": {**TEXT, "default": "~"}}, VARIABLES[1]]},
        {"get": {"operationId": "getPhone", "responses": answer(THING), "parameters": [
            VARIABLES[0], {**VARIABLES[1], "schema": {**TEXT, "default": "first"}}]}},
    ),
    "only the description says that a field may be null": (
        "/notes", "get", {"operationId": "getNote", "responses": answer({"properties": {"id": TEXT, "text": {
            **TEXT, "description": "The words. May be null."}}})},
    ),
    "an object of pairs has objects that are empty, and may be empty": (
        "/buyers", "get", {"operationId": "listBuyers", "parameters": [{"name": "buyer", "in": "query",
            "required": True, "style": "deepObject", "schema": {"properties": {"of": {"type": "object", "properties": {
            "code": TEXT, "marks": {"type": "object"}}}}}}]},
    ),
    "one alternative of a form has a file, whose default is its name": (
        "/files", "post", {"operationId": "addFile", "requestBody": body("multipart/form-data", {"oneOf": [
            {"$ref": f"#/components/schemas/{name}"} for name in ("Sent", "Made")]})},
    ),
    "alternatives have the tags of all, and a pattern ends as in Python": (
        "/remarks", "post", {"operationId": "drop", "parameters": [{**SIZE, "schema": SITE}], "requestBody": body(
            schema={"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("ById", "ByQuery")],
                    "discriminator": {"propertyName": "way", "mapping": {
                        "by_id": "#/components/schemas/ById", "query": "#/components/schemas/ByQuery"}}})},
    ),
    "headers frame or route the request": (
        "/notes", "get", {"operationId": "listNotes", "parameters": [
            {"name": name, "in": "header", "required": True, "schema": TEXT}
            for name in sorted({*_FRAMING, *map("{}for".format, _FRAMING_PREFIXES), *_OVERRIDES})
            if name[0].isalpha()] + [{**SIZE, "name": "_method"}]},
        {"post": {"operationId": "addNote", "requestBody": body(schema={"required": ["_method"], "properties": {
            "_method": TEXT, "text": TEXT}})}},
    ),
    "a read answers one or a list of them": (
        "/stream", "put", {"operationId": "replaceStream", "requestBody": body()},
        {"get": {"responses": answer({"oneOf": [{"type": "array", "items": THING}, THING]})}},
    ),
    "a header names the adapter by a pattern, and a body of text is described with the name of another": (
        "/lines", "post", {"operationId": "writeLines", "requestBody": body("text/plain", TEXT) | {
            "description": "Compress it, and give the header `Content-Encoding: gzip`."}, "parameters": [
            {"name": "User-Agent", "in": "header", "schema": {**TEXT, "pattern": "mailto:"}},
            {"name": "Content-Encoding", "in": "header", "schema": {**TEXT, "enum": ["gzip", "identity"]}}]},
    ),
    "a number and a boolean are sent as text": (
        "/limits", "post", {"operationId": "setLimit", "requestBody": body("text/plain", {"type": "integer"})},
        {"put": {"operationId": "useLimit", "requestBody": body("text/plain", {"type": "boolean"})}},
    ),
    "a schema refers to a parameter, and says itself what it is": (
        "/caches", "post", {"operationId": "refreshCache", "requestBody": body(schema={"type": "object", "properties": {
            "all": {"$ref": "#/components/schemas/Parameter", "type": "boolean", "default": False}}})},
    ),
    "a list has an ETag by which it is written": (
        "/rules", "get", {"operationId": "listRules", "responses": answer({"type": "array", "items": THING}, ETag={})},
        {"put": {"operationId": "setRules", "requestBody": body(schema={"type": "array", "items": THING}),
                 "parameters": [{"name": "If-Match", "in": "header", "required": True, "schema": TEXT}]}},
    ),
    "alternatives have a field whose schema stands for its subtypes, in a list and beside a text": (
        "/baskets", "post", {"operationId": "fillBasket", "requestBody": body(schema={"oneOf": [
            {"$ref": f"#/components/schemas/{name}"} for name in ("Fruit", "Bread")]})},
    ),
}  # fmt: skip
LOGIN = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": BASE, "scopes": {"read": "", "write": ""}}},
         "in": "header", "name": "Authorization"}  # fmt: skip
BEARER = {"type": "apiKey", "in": "header", "name": "Authorization: Bearer", "scheme": "basic"}
NODE = {"$ref": "#/components/schemas/Node", "description": "The next one"}
NODES: dict[str, Any] = {
    "Node": {
        "allOf": [{"properties": {"id": TEXT, "next": NODE}}, {"properties": {"next": {**NODE, "title": "Next"}}}]
    },
}
NODES["Sent"] = {"required": ["path", "file"], "properties": {"path": {**TEXT, "default": "top"}, "file": {
    "type": "string", "format": "binary", "default": "box.stl"}}}  # fmt: skip
NODES["Made"] = {"required": ["path"], "properties": {"path": TEXT}}
WAY = {**TEXT, "enum": ["by_id", "query"], "example": "by query"}
NODES["ById"] = {"required": ["way", "site"], "properties": {"way": WAY, "site": SITE}}
NODES["ByQuery"] = {"required": ["way"], "properties": {"way": WAY, "query": TEXT}}
NODES["Filter"] = {
    "$recursiveAnchor": True,
    "type": "object",
    "required": ["all"],
    "properties": {"all": {"type": "array", "minItems": 2, "items": {"oneOf": [
        {"$ref": "#/components/schemas/A"}, {"$recursiveRef": "#"}], "discriminator": {"propertyName": "ofA"}}}},
}  # fmt: skip
NODES |= {f"Of {name}": {"required": ["kind"], "properties": {"kind": {"enum": [name[:1], name[1:]]}}} for name in (
    "all", "one")}  # fmt: skip
NODES["Mark"] = {"type": "object", "required": ["kind"], "properties": {"kind": TEXT},
                 "discriminator": {"propertyName": "kind", "mapping": {
                     "weight": "#/components/schemas/Weight"}}}  # fmt: skip
NODES["Weight"] = {"allOf": [{"$ref": "#/components/schemas/Mark"}], "properties": {"grams": {"type": "integer"}}}
NODES |= {name: {"type": "object", "properties": {name.lower(): TEXT, "marks": {
    "type": "array", "description": name, "items": {"$ref": "#/components/schemas/Mark"}}, "best": {
    "type": "object", "description": name, "allOf": [{"$ref": "#/components/schemas/Mark"}]}}}
    for name in ("Fruit", "Bread")}  # fmt: skip
NODES["Parameter"] = {"name": "all", "in": "query", "schema": {"type": "boolean"}}
NODES |= {kind: {"type": "object", "properties": {f"of{kind}": TEXT}} for kind in "ABCDEFGHIJKL"}


@pytest.mark.anyio
async def test_nothing_is_found_of_an_operation_that_is_included_by_its_name(tmp_path: Path) -> None:
    paths = {"/things": {"get": {"operationId": "findThing", "responses": {}}, "post": {"responses": {}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Notes", "version": "1"},
        "servers": [{"url": BASE}],
        "paths": paths,
    }
    (tmp_path / "notes.json").write_text(json.dumps(document), encoding="utf-8")
    chosen = ("--include", "operation:find_things", "--name", "things", "-q")
    assert run("from-openapi", tmp_path / "notes.json", "-o", tmp_path / "project", *chosen).code == 0
    assert [str(finding) for finding in await findings(tmp_path / "project") if finding.grade is not Grade.LOOK] == []


@pytest.mark.anyio
@pytest.mark.parametrize("case", HONEST)
async def test_nothing_is_found_of_an_honest_adapter_where(tmp_path: Path, case: str) -> None:
    place, method, operation, *beside = HONEST[case]
    document = {"openapi": "3.1.0", "info": {"title": "Notes", "version": "1"}, "servers": [{"url": "https://Things.example/v1"}],
                "components": {"schemas": NODES, "securitySchemes": {"login": LOGIN, "key": BEARER}}}  # fmt: skip
    path, project = tmp_path / "notes.json", tmp_path / "project"
    operations = {
        name: {"responses": {}, **each} for part in ({method: operation}, *beside) for name, each in part.items()
    }
    path.write_text(json.dumps({**document, "paths": {place: operations}}), encoding="utf-8")
    assert run("from-openapi", path, "-o", project, "--name", "things", "-q").code == 0
    assert [str(finding) for finding in await findings(project) if finding.grade is not Grade.LOOK] == []


def test_the_validators_of_few_schemas_are_kept(tmp_path: Path) -> None:
    document, start = witness_of(tmp_path).documents[0], _validators()
    schemas = [{**TEXT, "maxLength": length} for length in range(2000)]
    assert [each for each in schemas if document.problems(each, "")] == []
    assert _validators() - start < 600


def _validators() -> int:
    gc.collect()
    pairs = (each for each in gc.get_objects() if type(each) is tuple and len(each) == 2)
    return sum(isinstance(each[1], Draft202012Validator) for each in pairs)
