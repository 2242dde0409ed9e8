"""Requests that a document describes indirectly, and that adapters send all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.generator.commands import api, tabulate

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
THING = {"type": "object", "properties": {"name": TEXT, "size": NUMBER}}


def answering(schema: Any) -> dict[str, Any]:
    return {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}}


def sending(schema: Any, kind: str = "application/json") -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema}}}


def in_path(name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def test_a_cursor_that_the_body_requires_is_told_to_the_adapter_and_not_asked_of_agents(tmp_path: Path) -> None:
    search = {
        "operationId": "searchThings",
        "requestBody": sending(
            {
                "type": "object",
                "required": ["after", "query"],
                "properties": {
                    "after": {"type": "string", "description": "A paging cursor"},
                    "query": TEXT,
                    "limit": NUMBER,
                },
            }
        ),
        "responses": answering(
            {
                "type": "object",
                "properties": {
                    "results": {"type": "array", "items": THING},
                    "paging": {
                        "type": "object",
                        "properties": {"next": {"type": "object", "properties": {"after": TEXT}}},
                    },
                },
            }
        ),
    }
    row = tabulate(tmp_path, api({"/things/search": {"post": search}})).rows["search_things"]
    assert row["pagination"]["demanded"] == ["body_after"]
    assert "required" not in row["pagination"]["parameters"]["body_after"]
    assert [name for name, entry in row["parameters"].items() if entry.get("required")] == ["query"]


def test_an_update_that_reads_first_takes_the_identifier_that_can_be_read(tmp_path: Path) -> None:
    item = {
        "get": {"operationId": "getThing", "parameters": [in_path("id", NUMBER)], "responses": answering(THING)},
        "put": {
            "operationId": "updateThing",
            "parameters": [in_path("id", TEXT)],
            "requestBody": sending(THING),
            "responses": answering(THING),
        },
    }
    row = tabulate(tmp_path, api({"/things/{id}": item})).rows["update_thing"]
    assert row["update"]["strategy"] == "put-merge"
    assert row["parameters"]["thing_id"]["schema"] == NUMBER


def test_the_one_content_type_that_a_header_parameter_may_have_is_the_type_of_a_body_of_bytes(tmp_path: Path) -> None:
    header = {"name": "Content-type", "in": "header", "schema": {**TEXT, "enum": ["application/x-tar"]}}
    paths: dict[str, Any] = {
        "/build": {
            "post": {
                "operationId": "buildImage",
                "parameters": [header],
                "requestBody": sending(TEXT, "application/octet-stream"),
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/things": {
            "post": {
                "operationId": "createThing",
                "parameters": [header],
                "requestBody": sending(THING),
                "responses": {"200": {"description": "ok"}},
            }
        },
    }
    rows = {row["path"]: row for row in tabulate(tmp_path, api(paths)).rows.values()}
    assert rows["/build"]["body"]["content_type"] == "application/x-tar"
    assert rows["/things"]["body"]["content_type"] == "application/json"
    assert all("headers" not in row for row in rows.values())


def test_declared_headers_that_tell_something_stand_in_the_table_and_those_of_the_connection_do_not(
    tmp_path: Path,
) -> None:
    names = ("Location", "X-Total-Count", "X-RateLimit-Limit", "X-Request-Id", "Content-Type", "X-Auth-Token", "Link")
    answer = {"201": {"description": "made", "headers": {name: {"schema": TEXT} for name in names}}}
    post = {"operationId": "createThing", "requestBody": sending(THING), "responses": answer}
    row = tabulate(tmp_path, api({"/things": {"post": post}})).rows["create_thing"]
    assert row["responses"]["201"]["headers"] == ["Location", "X-Total-Count"]


def test_a_body_of_text_keeps_the_bounds_and_the_example_of_its_schema(tmp_path: Path) -> None:
    key = {**TEXT, "minLength": 8, "pattern": "^[a-z]+$", "description": "An API key"}
    content = {"text/plain": {"schema": {"$ref": "#/components/schemas/Key"}, "example": "abcdefgh"}}
    post = {
        "operationId": "createToken",
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "ok"}},
    }
    document = api({"/tokens": {"post": post}}, components={"schemas": {"Key": key}})
    row = tabulate(tmp_path, document).rows["create_token"]
    assert row["parameters"]["body"]["schema"] == {"type": "string", "minLength": 8, "pattern": "^[a-z]+$"}
    assert row["example"] == {"body": "abcdefgh"}
