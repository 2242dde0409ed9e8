"""Requests that a document describes indirectly, and that adapters send all the same."""

from __future__ import annotations

from pathlib import Path

from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, ref, replies
from tests.generator.commands import api, tabulate

THING = object_of(name=TEXT, size=INTEGER)


def test_a_cursor_that_the_body_requires_is_told_to_the_adapter_and_not_asked_of_agents(tmp_path: Path) -> None:
    cursor = {**TEXT, "description": "A paging cursor"}
    answer = object_of(results=list_of(THING), paging=object_of(next=object_of(after=TEXT)))
    search = {
        "operationId": "searchThings",
        "requestBody": body_of(object_of("after", "query", after=cursor, query=TEXT, limit=INTEGER)),
        "responses": replies(answer),
    }
    row = tabulate(tmp_path, api({"POST /things/search": search})).rows["search_things"]
    assert row["pagination"]["demanded"] == ["body_after"]
    assert "required" not in row["pagination"]["parameters"]["body_after"]
    assert [name for name, entry in row["parameters"].items() if entry.get("required")] == ["query"]


def test_an_update_that_reads_first_takes_the_identifier_that_can_be_read(tmp_path: Path) -> None:
    number = parameter("id", "path", INTEGER)
    operations = {
        "GET /things/{id}": {"operationId": "getThing", "parameters": [number], "responses": replies(THING)},
        "PUT /things/{id}": {
            "operationId": "updateThing",
            "requestBody": body_of(THING),
            "responses": replies(THING),
        },
    }
    row = tabulate(tmp_path, api(operations)).rows["update_thing"]
    assert row["update"]["strategy"] == "put-merge"
    assert row["parameters"]["thing_id"]["schema"] == INTEGER


def test_the_one_content_type_that_a_header_parameter_may_have_is_the_type_of_a_body_of_bytes(tmp_path: Path) -> None:
    header = {"name": "Content-type", "in": "header", "schema": {**TEXT, "enum": ["application/x-tar"]}}
    build, create = body_of(TEXT, "application/octet-stream"), body_of(THING)
    operations = {
        "POST /build": {"parameters": [header], "requestBody": build, "responses": replies()},
        "POST /things": {"parameters": [header], "requestBody": create, "responses": replies()},
    }
    rows = {row["path"]: row for row in tabulate(tmp_path, api(operations)).rows.values()}
    assert rows["/build"]["body"]["content_type"] == "application/x-tar"
    assert rows["/things"]["body"]["content_type"] == "application/json"
    assert all("headers" not in row for row in rows.values())


def test_declared_headers_that_tell_something_stand_in_the_table_and_those_of_the_connection_do_not(
    tmp_path: Path,
) -> None:
    names = ("Location", "X-Total-Count", "X-RateLimit-Limit", "X-Request-Id", "Content-Type", "X-Auth-Token", "Link")
    post = {"operationId": "createThing", "requestBody": body_of(THING), "responses": replies(None, "201", *names)}
    row = tabulate(tmp_path, api({"POST /things": post})).rows["create_thing"]
    assert row["responses"]["201"]["headers"] == ["Location", "X-Total-Count"]


def test_a_body_of_text_keeps_the_bounds_and_the_example_of_its_schema(tmp_path: Path) -> None:
    key = {**TEXT, "minLength": 8, "pattern": "^[a-z]+$", "description": "An API key"}
    content = {"text/plain": {"schema": ref("Key"), "example": "abcdefgh"}}
    body = {"required": True, "content": content}
    post = {"operationId": "createToken", "requestBody": body, "responses": replies()}
    row = tabulate(tmp_path, api({"POST /tokens": post}, components={"schemas": {"Key": key}})).rows["create_token"]
    assert row["parameters"]["body"]["schema"] == {"type": "string", "minLength": 8, "pattern": "^[a-z]+$"}
    assert row["example"] == {"body": "abcdefgh"}
