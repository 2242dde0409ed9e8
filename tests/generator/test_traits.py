"""What else is decided about an operation, seen in `aqlgen explain` and in the table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.build import build
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.stage import decide
from aqlgen.document.resolve import Resolver
from aqlgen.runtime.table import encode
from tests.examples import examples
from tests.generator.commands import api, run, tabulate


def query(name: str, kind: str | None = None, description: str = "", **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": "query",
        "description": description,
        "schema": {**({"type": kind} if kind else {}), **schema},
    }


def answer(schema: Any, *, headers: tuple[str, ...] = (), status: str = "200") -> dict[str, Any]:
    return {
        status: {
            "description": "ok",
            "content": {"application/json": {"schema": schema}},
            "headers": {name: {"schema": {"type": "string"}} for name in headers},
        }
    }


def many(**beside: Any) -> dict[str, Any]:
    """Return an answer with a list of pets and fields beside it."""
    pets = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}
    return {"type": "object", "properties": {"pets": pets, **beside}}


TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
LIST = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}
PAGE = query("page", "integer")
SIZE = query("per_page", "integer", "How many (max 100).")


def explained(tmp_path: Path, paths: Mapping[str, Any], *options: str) -> dict[str, dict[str, Any]]:
    """Return the operations as `explain` shows them, by `METHOD /path`."""
    spec = tmp_path / "document.json"
    spec.write_text(json.dumps(api(paths)))
    done = run("explain", spec, "--output-format", "json", *options)
    assert done.code == 0, done.out
    return {f"{operation['method']} {operation['path']}": operation for operation in done.json["operations"]}


def trait(operation: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    return next((trait_entry["value"] for trait_entry in operation["traits"] if trait_entry["kind"] == kind), None)


def paged(tmp_path: Path, parameters: list[Any], responses: Any, **more: Any) -> dict[str, Any] | None:
    listing = {"operationId": "listPets", "parameters": parameters, "responses": responses, **more}
    return trait(explained(tmp_path, {"/pets": {"get": listing}})["GET /pets"], "pagination")


@pytest.mark.parametrize(
    ("parameters", "schema", "headers", "expected"),
    [
        (
            [PAGE, SIZE],
            LIST,
            ("Link",),
            {"style": "page", "page_param": "page", "next": "Link", "next_in": "header", "size_max": 100, "items": ""},
        ),
        (
            [query("page[number]", "integer"), query("page[size]", "integer", maximum=50)],
            many(meta={"type": "object", "properties": {"total_count": NUMBER}}),
            (),
            {"style": "page", "page_param": "page[number]", "size_param": "page[size]", "size_max": 50}
            | {"items": "/pets", "total": "/meta/total_count"},
        ),
        (
            [query("startRow", "integer"), query("numberOfResults", "integer")],
            many(total=NUMBER),
            (),
            {"style": "offset", "offset_param": "startRow", "size_param": "numberOfResults", "total": "/total"},
        ),
        (
            [query("cursor", "string"), query("limit", "integer")],
            many(response_metadata={"type": "object", "properties": {"next_cursor": TEXT}}),
            (),
            {"style": "cursor", "cursor_param": "cursor", "next": "/response_metadata/next_cursor"},
        ),
        (
            [query("starting_after", "string"), query("ending_before", "string"), query("limit", "integer")],
            many(has_more=FLAG),
            (),
            {"style": "cursor", "cursor_param": "starting_after", "before_param": "ending_before"}
            | {"item_cursor": "/id", "has_more": "/has_more", "size_param": "limit", "items": "/pets"},
        ),
        (
            [query("pageToken", "string"), query("maxResults", "integer")],
            many(nextPageToken=TEXT),
            (),
            {"style": "token", "cursor_param": "pageToken", "next": "/nextPageToken", "size_param": "maxResults"},
        ),
        (
            [query("offset", "string"), query("limit", "integer")],
            many(next_page={"type": "object", "properties": {"offset": TEXT, "uri": {**TEXT, "format": "uri"}}}),
            (),
            {"style": "token", "cursor_param": "offset", "next": "/next_page/offset"},
        ),
        (
            [query("after", "string", "A cursor."), SIZE],
            LIST,
            ("Link",),
            {"style": "link", "cursor_param": "after", "next": "Link", "next_in": "header", "items": ""},
        ),
        (
            [query("Page", "integer"), query("PageSize", "integer"), query("PageToken", "string")],
            many(next_page_uri=TEXT),
            (),
            {"style": "next_url", "next": "/next_page_uri", "items": "/pets"},
        ),
        (
            [query("limit", "integer")],
            {"type": "object", "properties": {"value": LIST, "@odata.nextLink": TEXT}},
            (),
            {"style": "next_url", "next": "/@odata.nextLink", "items": "/value"},
        ),
        (
            [query("limit", "integer")],
            many(_links={"type": "object", "properties": {"next": {"type": "object", "properties": {"href": TEXT}}}}),
            (),
            {"style": "next_url", "next": "/_links/next/href"},
        ),
    ],
)
def test_how_a_list_is_paged_through_is_read_from_its_parameters_and_its_answer(
    tmp_path: Path, parameters: list[Any], schema: Any, headers: tuple[str, ...], expected: dict[str, Any]
) -> None:
    """R-SEL-3"""
    pagination = paged(tmp_path, parameters, answer(schema, headers=headers))
    assert pagination is not None
    assert {key: pagination.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("parameters", "schema"),
    [
        ([query("limit", "integer")], LIST),
        ([query("after", "string", format="date-time"), query("limit", "integer")], LIST),
        ([query("start", "integer"), query("end", "integer"), query("limit", "integer")], LIST),
        ([query("page", "integer")], {"type": "object", "properties": {"title": TEXT}}),
    ],
    ids=["a size alone", "a point in time", "a range", "no list"],
)
def test_what_only_looks_like_paging_is_none(tmp_path: Path, parameters: list[Any], schema: Any) -> None:
    assert paged(tmp_path, parameters, answer(schema)) is None


def test_paging_in_the_body_of_a_search_is_found_there(tmp_path: Path) -> None:
    options = {"type": "object", "properties": {"count": NUMBER, "offset": NUMBER}}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"options": options}}}}}
    search = {"operationId": "searchPets", "requestBody": body, "responses": answer(many(total=NUMBER))}
    pagination = trait(explained(tmp_path, {"/pets/search": {"post": search}})["POST /pets/search"], "pagination")
    assert pagination is not None
    assert (pagination["in"], pagination["within"], pagination["offset_param"]) == ("body", "/options", "offset")


PET = {"type": "object", "properties": {"name": TEXT, "age": NUMBER}}
ID = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]
STEP = {"type": "object", "properties": {"op": TEXT, "path": TEXT, "value": {}}}
WRAPPED = {"type": "object", "properties": {"patches": {"type": "array", "items": STEP}}}
EDITS = {"type": "array", "items": {"type": "object", "properties": {"op": TEXT, "fieldKey": TEXT}}}


def writing(method: str, schema: Any = PET, content_type: str = "application/json", **reader: Any) -> dict[str, Any]:
    body = {"required": True, "content": {content_type: {"schema": schema}}}
    item: dict[str, Any] = {
        "parameters": ID,
        method: {"requestBody": body, "responses": {"204": {"description": "ok"}}},
    }
    return {"/pets/{id}": item | ({"get": {"responses": answer(**reader)}} if reader else {})}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (writing("patch"), {"strategy": "patch"}),
        (writing("patch", content_type="application/merge-patch+json"), {"strategy": "merge-patch"}),
        (
            writing("patch", {"type": "array", "items": {}}, "application/json-patch+json"),
            {"strategy": "json-patch"},
        ),
        (writing("patch", EDITS, "application/json-patch+json"), {"strategy": "patch"}),
        (writing("put", EDITS, "application/json-patch+json"), {"strategy": "put"}),
        (writing("patch", PET, "application/json-patch+json"), {"strategy": "json-patch"}),
        (writing("patch", WRAPPED, "application/json-patch+json"), {"strategy": "patch"}),
        (writing("put", PET, "application/json-patch+json"), {"strategy": "put"}),
        (writing("put"), {"strategy": "put"}),
        (writing("put", schema=PET) | {}, {"strategy": "put"}),
    ],
)
def test_how_an_update_reaches_the_api_is_decided(tmp_path: Path, paths: Any, expected: dict[str, Any]) -> None:
    """R-UPD-2"""
    (operation,) = (entry for key, entry in explained(tmp_path, paths).items() if not key.startswith("GET"))
    assert trait(operation, "update") == expected


def test_a_put_beside_a_get_of_the_same_fields_is_merged_into_what_that_reads(tmp_path: Path) -> None:
    """R-UPD-2"""
    body = {"required": True, "content": {"application/json": {"schema": PET}}}
    read = {"operationId": "getPet", "responses": answer(PET, headers=("ETag",))}
    item = {"parameters": ID, "put": {"requestBody": body, "responses": {"204": {"description": "ok"}}}, "get": read}
    explanations = explained(tmp_path, {"/pets/{id}": item})
    assert trait(explanations["PUT /pets/{id}"], "update") == {"strategy": "put-merge", "read": "get_pet", "etag": True}
    alone = explained(tmp_path, {"/pets/{id}": item}, "--exclude", "operation:getPet")
    assert trait(alone["PUT /pets/{id}"], "update") is not None
    (row,) = tabulate(tmp_path, api({"/pets/{id}": item}), exclude=("operation:getPet",)).rows.values()
    assert row["update"] == {"strategy": "put"}, "what is not served cannot be read"


def test_operations_that_go_on_after_they_answer_name_what_tells_how_far_they_are(tmp_path: Path) -> None:
    """R-LOOP-1"""
    job = {"type": "object", "properties": {"id": TEXT, "status": {"enum": ["queued", "running", "succeeded"]}}}
    document = {
        "/jobs": {"post": {"operationId": "createJob", "responses": answer(job)}},
        "/jobs/{id}": {"parameters": ID, "get": {"operationId": "getJob", "responses": answer(job)}},
        "/exports": {
            "post": {"responses": {"202": {"description": "begun", "headers": {"Location": {"schema": TEXT}}}}}
        },
        "/pets": {"post": {"operationId": "createPet", "responses": answer(PET, status="201")}},
    }
    explanations = {key: trait(entry, "long_running") for key, entry in explained(tmp_path, document).items()}
    assert explanations["POST /jobs"] == {
        "status": "200",
        "monitor": "get_job",
        "arguments": {"id": "/id"},
        "state": "/status",
        "monitor_state": "/status",
    }
    assert explanations["POST /exports"] == {"status": "202"}
    assert explanations["POST /pets"] is None
    assert explanations["GET /jobs/{id}"] is None


def test_keys_of_idempotency_and_secrets_are_recognised(tmp_path: Path) -> None:
    """R-SAFE-5"""
    key = {"name": "Idempotency-Key", "in": "header", "schema": TEXT}
    fields = {"password": TEXT, "pin": {**TEXT, "format": "password"}, "secret_name": TEXT, "token_type": TEXT}
    body = {"required": True, "content": {"application/json": {"schema": {"type": "object", "properties": fields}}}}
    create = {"operationId": "createUser", "parameters": [key], "requestBody": body, "responses": answer(PET)}
    explanations = explained(tmp_path, {"/users": {"post": create}})["POST /users"]
    assert trait(explanations, "idempotency") == {"header": "Idempotency-Key"}
    assert trait(explanations, "sensitive") == {"parameters": ["password", "pin"]}
    row = tabulate(tmp_path, api({"/users": {"post": create}})).rows["create_user"]
    assert {name for name, parameter in row["parameters"].items() if parameter.get("sensitive")} == {"password", "pin"}
    assert row["idempotency"] == {"header": "Idempotency-Key"}


def test_a_body_that_is_a_password_is_a_secret(tmp_path: Path) -> None:
    """R-SAFE-5: a dry run and the audit log mask it."""
    body = {"required": True, "content": {"text/plain": {"schema": {**TEXT, "format": "password"}}}}
    change = {"operationId": "changePassword", "requestBody": body, "responses": answer(PET)}
    rows = tabulate(tmp_path, api({"/users/{id}/password": {"parameters": ID, "put": change}})).rows
    assert [row["parameters"]["input"].get("sensitive") for row in rows.values()] == [True]


def test_a_key_that_the_adapter_fills_in_is_not_demanded_and_in_no_example(tmp_path: Path) -> None:
    """R-RATE-2: else every agent sends the key of the example."""
    fields = {"idempotency_key": {**TEXT, "maxLength": 45}, "amount": {"type": "integer"}}
    schema = {"type": "object", "properties": fields, "required": ["idempotency_key", "amount"]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    create = {"operationId": "createPayment", "requestBody": body, "responses": answer(PET)}
    row = tabulate(tmp_path, api({"/payments": {"post": create}})).rows["create_payment"]
    assert row["idempotency"] == {"parameter": "idempotency_key", "in": "body"}
    assert "required" not in row["parameters"]["idempotency_key"]
    assert "a new one is sent if it is left out" in row["parameters"]["idempotency_key"]["description"].lower()
    assert row["example"].keys() == {"amount"}


KINDS = {"type": "object", "properties": {"type": {**TEXT, "enum": ["api_error", "idempotency_error"]}}}


def test_every_trait_says_its_reason_and_how_sure_it_is(tmp_path: Path) -> None:
    """R-NAME-4"""
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": answer(LIST, headers=("Link",))}
    (trait_found,) = explained(tmp_path, {"/pets": {"get": listing}})["GET /pets"]["traits"]
    assert (trait_found["kind"], trait_found["rule"], trait_found["evidence"]) == (
        "pagination",
        "paged-by-page",
        "deterministic rule",
    )
    assert trait_found["confidence"] == 0.95
    assert "page, per_page" in trait_found["note"]


def test_a_schema_that_refers_to_itself_or_nowhere_stops_nothing(tmp_path: Path) -> None:
    loop = {"allOf": [{"$ref": "#/paths/~1pets/get/responses/200/content/application~1json/schema"}]}
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": answer(loop)}
    assert explained(tmp_path, {"/pets": {"get": listing}})
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": answer({"$ref": "#/nowhere"})}
    assert explained(tmp_path, {"/pets": {"get": listing}})


def test_schemas_of_many_branches_that_hold_one_another_cost_no_time(tmp_path: Path) -> None:
    """Each refers to all of them: walked as a tree there would be more than a hundred million."""
    all_schemas = [{"$ref": f"#/components/schemas/S{number}"} for number in range(10)]
    schemas = {
        f"S{number}": {"allOf": all_schemas, "anyOf": all_schemas, "properties": {f"p{number}": TEXT}}
        for number in range(10)
    }
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": answer(all_schemas[0])}
    document = api({"/pets": {"get": listing}}, components={"schemas": schemas})
    resolver = Resolver(document)
    decisions = decide(build(resolver, "3.1").document, Overrides(), resolver)
    assert [decision.name for decision in decisions] == ["list_pets"]
    looked = Schemas(resolver).properties(all_schemas[0])
    assert set(looked) == {f"p{number}" for number in range(10)}


WORDS = st.sampled_from(
    "type properties items allOf anyOf $ref enum format description maximum default data next cursor page limit"
    " id status required writeOnly pattern example object array string integer #/nowhere #/paths queued done purpose"
    " inputs outputs name in results nextLinkName".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(150), deadline=None)
@given(
    schemas=st.tuples(*[st.dictionaries(WORDS, JSON, max_size=5)] * 3),
    extension=JSON,
    method=st.sampled_from(["get", "post", "put", "patch"]),
)
def test_nothing_that_a_document_holds_stops_the_decisions(schemas: Any, extension: Any, method: str) -> None:
    asked, sent, given_back = schemas
    operation = {
        "parameters": [{"name": "page", "in": "query", "schema": asked}, query("after", "string"), SIZE],
        "requestBody": {"content": {"application/json": {"schema": sent}}},
        "responses": answer(given_back),
        "x-sunset": extension,
    }
    resolver = Resolver(api({"/pets/{id}": {"parameters": ID, method: operation, "get": {"responses": answer(sent)}}}))
    for decision in decide(build(resolver, "3.1").document, Overrides(), resolver):
        assert all(json.dumps(encode(trait.value)) for trait in decision.traits)
