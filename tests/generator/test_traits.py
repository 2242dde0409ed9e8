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
from tests.documents import FLAG, INTEGER, JSON, TEXT, body_of, list_of, object_of, parameter, replies
from tests.examples import examples
from tests.generator.commands import api, run, tabulate


def query(name: str, kind: str = "integer", description: str = "", **schema: Any) -> dict[str, Any]:
    return parameter(name, "query", {"type": kind, **schema}, description=description)


def many(**beside: Any) -> dict[str, Any]:
    """Return an answer with a list of pets and fields beside it."""
    return object_of(pets=LIST, **beside)


LIST = list_of(object_of(id=TEXT))
PAGE = query("page")
SIZE = query("per_page", description="How many (max 100).")


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
    return trait(explained(tmp_path, {"GET /pets": listing})["GET /pets"], "pagination")


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
            [query("page[number]"), query("page[size]", maximum=50)],
            many(meta=object_of(total_count=INTEGER)),
            (),
            {"style": "page", "page_param": "page[number]", "size_param": "page[size]", "size_max": 50}
            | {"items": "/pets", "total": "/meta/total_count"},
        ),
        (
            [query("startRow"), query("numberOfResults")],
            many(total=INTEGER),
            (),
            {"style": "offset", "offset_param": "startRow", "size_param": "numberOfResults", "total": "/total"},
        ),
        (
            [query("cursor", "string"), query("limit")],
            many(response_metadata=object_of(next_cursor=TEXT)),
            (),
            {"style": "cursor", "cursor_param": "cursor", "next": "/response_metadata/next_cursor"},
        ),
        (
            [query("starting_after", "string"), query("ending_before", "string"), query("limit")],
            many(has_more=FLAG),
            (),
            {"style": "cursor", "cursor_param": "starting_after", "before_param": "ending_before"}
            | {"item_cursor": "/id", "has_more": "/has_more", "size_param": "limit", "items": "/pets"},
        ),
        (
            [query("pageToken", "string"), query("maxResults")],
            many(nextPageToken=TEXT),
            (),
            {"style": "token", "cursor_param": "pageToken", "next": "/nextPageToken", "size_param": "maxResults"},
        ),
        (
            [query("start_at", "string", format="date-time"), query("offset", "string"), query("limit")],
            many(next_page=object_of(offset=TEXT, uri={**TEXT, "format": "uri"})),
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
            [query("Page"), query("PageSize"), query("PageToken", "string")],
            many(next_page_uri=TEXT),
            (),
            {"style": "next_url", "next": "/next_page_uri", "items": "/pets"},
        ),
        (
            [query("limit")],
            object_of(value=LIST, **{"@odata.nextLink": TEXT}),
            (),
            {"style": "next_url", "next": "/@odata.nextLink", "items": "/value"},
        ),
        (
            [query("limit")],
            many(_links=object_of(next=object_of(href=TEXT))),
            (),
            {"style": "next_url", "next": "/_links/next/href"},
        ),
    ],
)
def test_how_a_list_is_paged_through_is_read_from_its_parameters_and_its_answer(
    tmp_path: Path, parameters: list[Any], schema: Any, headers: tuple[str, ...], expected: dict[str, Any]
) -> None:
    """R-SEL-3"""
    pagination = paged(tmp_path, parameters, replies(schema, "200", *headers))
    assert pagination is not None
    assert {key: pagination.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("parameters", "schema"),
    [
        ([query("limit")], LIST),
        ([query("after", "string", format="date-time"), query("limit")], LIST),
        ([query("start"), query("end"), query("limit")], LIST),
        ([query("page")], object_of(title=TEXT)),
    ],
    ids=["a size alone", "a point in time", "a range", "no list"],
)
def test_what_only_looks_like_paging_is_none(tmp_path: Path, parameters: list[Any], schema: Any) -> None:
    assert paged(tmp_path, parameters, replies(schema)) is None


def test_paging_in_the_body_of_a_search_is_found_there(tmp_path: Path) -> None:
    body = body_of(object_of(options=object_of(count=INTEGER, offset=INTEGER)))
    search = {"operationId": "searchPets", "requestBody": body, "responses": replies(many(total=INTEGER))}
    pagination = trait(explained(tmp_path, {"POST /pets/search": search})["POST /pets/search"], "pagination")
    assert pagination is not None
    assert (pagination["in"], pagination["within"], pagination["offset_param"]) == ("body", "/options", "offset")


PET = object_of(name=TEXT, age=INTEGER)
WRAPPED = object_of(patches=list_of(object_of(op=TEXT, path=TEXT, value={})))
EDITS = list_of(object_of(op=TEXT, fieldKey=TEXT))
PATCH = "application/json-patch+json"


def writing(method: str, schema: Any = PET, content_type: str = JSON) -> dict[str, Any]:
    return {
        f"{method} /pets/{{id}}": {"requestBody": body_of(schema, content_type), "responses": replies(status="204")}
    }


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (writing("patch"), {"strategy": "patch"}),
        (writing("patch", content_type="application/merge-patch+json"), {"strategy": "merge-patch"}),
        (writing("patch", list_of({}), PATCH), {"strategy": "json-patch"}),
        (writing("patch", EDITS, PATCH), {"strategy": "patch"}),
        (writing("put", EDITS, PATCH), {"strategy": "put"}),
        (writing("patch", PET, PATCH), {"strategy": "json-patch"}),
        (writing("patch", WRAPPED, PATCH), {"strategy": "patch"}),
        (writing("put", PET, PATCH), {"strategy": "put"}),
        (writing("put"), {"strategy": "put"}),
    ],
)
def test_how_an_update_reaches_the_api_is_decided(tmp_path: Path, paths: Any, expected: dict[str, Any]) -> None:
    """R-UPD-2"""
    (operation,) = (entry for key, entry in explained(tmp_path, paths).items() if not key.startswith("GET"))
    assert trait(operation, "update") == expected


def test_a_json_patch_is_made_of_the_thing_within_the_envelope_that_is_read(tmp_path: Path) -> None:
    """R-UPD-2"""
    read = {"operationId": "getPet", "responses": replies(object_of(data=PET))}
    explanations = explained(tmp_path, writing("PATCH", list_of({}), PATCH) | {"GET /pets/{id}": read})
    update = {"strategy": "json-patch", "read": "get_pet", "read_at": "/data"}
    assert trait(explanations["PATCH /pets/{id}"], "update") == update


def test_a_put_beside_a_get_of_the_same_fields_is_merged_into_what_that_reads(tmp_path: Path) -> None:
    """R-UPD-2"""
    read = {"operationId": "getPet", "responses": replies(PET, "200", "ETag")}
    operations = writing("PUT") | {"GET /pets/{id}": read}
    explanations = explained(tmp_path, operations)
    assert trait(explanations["PUT /pets/{id}"], "update") == {"strategy": "put-merge", "read": "get_pet", "etag": True}
    alone = explained(tmp_path, operations, "--exclude", "operation:getPet")
    assert trait(alone["PUT /pets/{id}"], "update") is not None
    (row,) = tabulate(tmp_path, api(operations), exclude=("operation:getPet",)).rows.values()
    assert row["update"] == {"strategy": "put"}, "what is not served cannot be read"


def test_a_read_whose_only_answer_is_the_default_one_reads_what_an_update_keeps(tmp_path: Path) -> None:
    """R-UPD-2"""
    read = {"operationId": "getPet", "responses": replies(PET, "default")}
    table = tabulate(tmp_path, api(writing("PUT") | {"GET /pets/{id}": read}))
    (name,) = table.rows.keys() - {"get_pet"}
    assert table.details(name)["description"].endswith("a list replaces the whole list.")


def test_operations_that_go_on_after_they_answer_name_what_tells_how_far_they_are(tmp_path: Path) -> None:
    """R-LOOP-1"""
    job = object_of(id=TEXT, status={"enum": ["queued", "running", "succeeded"]})
    document = {
        "POST /jobs": {"operationId": "createJob", "responses": replies(job)},
        "GET /jobs/{id}": {"operationId": "getJob", "responses": replies(job)},
        "POST /exports": {"responses": replies(None, "202", "Location")},
        "POST /pets": {"operationId": "createPet", "responses": replies(PET, "201")},
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
    fields = {"password": TEXT, "pin": {**TEXT, "format": "password"}, "secret_name": TEXT, "token_type": TEXT}
    create = {
        "operationId": "createUser",
        "parameters": [parameter("Idempotency-Key", "header")],
        "requestBody": body_of(object_of(**fields)),
        "responses": replies(PET),
    }
    explanations = explained(tmp_path, {"POST /users": create})["POST /users"]
    assert trait(explanations, "idempotency") == {"header": "Idempotency-Key"}
    assert trait(explanations, "sensitive") == {"parameters": ["password", "pin"]}
    row = tabulate(tmp_path, api({"POST /users": create})).rows["create_user"]
    assert {name for name, parameter in row["parameters"].items() if parameter.get("sensitive")} == {"password", "pin"}
    assert row["idempotency"] == {"header": "Idempotency-Key"}


def test_a_body_that_is_a_password_is_a_secret(tmp_path: Path) -> None:
    """R-SAFE-5: a dry run and the audit log mask it."""
    body = body_of({**TEXT, "format": "password"}, "text/plain")
    change = {"operationId": "changePassword", "requestBody": body, "responses": replies(PET)}
    rows = tabulate(tmp_path, api({"PUT /users/{id}/password": change})).rows
    assert [row["parameters"]["input"].get("sensitive") for row in rows.values()] == [True]


def test_a_key_that_the_adapter_fills_in_is_not_demanded_and_in_no_example(tmp_path: Path) -> None:
    """R-RATE-2: else every agent sends the key of the example."""
    fields = {"idempotency_key": {**TEXT, "maxLength": 45}, "amount": INTEGER}
    body = body_of(object_of(*fields, **fields))
    create = {"operationId": "createPayment", "requestBody": body, "responses": replies(PET)}
    row = tabulate(tmp_path, api({"POST /payments": create})).rows["create_payment"]
    assert row["idempotency"] == {"parameter": "idempotency_key", "in": "body"}
    assert "required" not in row["parameters"]["idempotency_key"]
    assert "a new one is sent if it is left out" in row["parameters"]["idempotency_key"]["description"].lower()
    assert row["example"].keys() == {"amount"}


def test_every_trait_says_its_reason_and_how_sure_it_is(tmp_path: Path) -> None:
    """R-NAME-4"""
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": replies(LIST, "200", "Link")}
    (trait_found,) = explained(tmp_path, {"GET /pets": listing})["GET /pets"]["traits"]
    assert (trait_found["kind"], trait_found["rule"], trait_found["evidence"]) == (
        "pagination",
        "paged-by-page",
        "deterministic rule",
    )
    assert trait_found["confidence"] == 0.95
    assert "page, per_page" in trait_found["note"]


def test_a_schema_that_refers_to_itself_or_nowhere_stops_nothing(tmp_path: Path) -> None:
    loop = {"allOf": [{"$ref": "#/paths/~1pets/get/responses/200/content/application~1json/schema"}]}
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": replies(loop)}
    assert explained(tmp_path, {"GET /pets": listing})
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": replies({"$ref": "#/nowhere"})}
    assert explained(tmp_path, {"GET /pets": listing})


def test_schemas_of_many_branches_that_hold_one_another_cost_no_time(tmp_path: Path) -> None:
    """Each refers to all of them: walked as a tree there would be more than a hundred million."""
    all_schemas = [{"$ref": f"#/components/schemas/S{number}"} for number in range(10)]
    schemas = {
        f"S{number}": {"allOf": all_schemas, "anyOf": all_schemas, "properties": {f"p{number}": TEXT}}
        for number in range(10)
    }
    listing = {"operationId": "listPets", "parameters": [PAGE, SIZE], "responses": replies(all_schemas[0])}
    document = api({"GET /pets": listing}, components={"schemas": schemas})
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
        "parameters": [parameter("page", schema=asked), query("after", "string"), SIZE],
        "requestBody": body_of(sent),
        "responses": replies(given_back),
        "x-sunset": extension,
    }
    operations = {f"{method} /pets/{{id}}": operation, "GET /pets/{id}": {"responses": replies(sent)}}
    resolver = Resolver(api(operations))
    for decision in decide(build(resolver, "3.1").document, Overrides(), resolver):
        assert all(json.dumps(encode(trait.value)) for trait in decision.traits)
