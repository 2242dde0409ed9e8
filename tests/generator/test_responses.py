"""Responses that are not JSON, as the table describes them: streams, XML, redirects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import api, tabulate

PET = {
    "type": "object",
    "xml": {"name": "pet"},
    "properties": {"petId": {"type": "integer", "xml": {"attribute": True}}},
}


def answering(responses: dict[str, Any], **components: Any) -> dict[str, Any]:
    document = api({"/pets": {"get": {"operationId": "listPets", "responses": responses}}})
    return document | ({"components": {"schemas": components}} if components else {})


def media(content_type: str, **entry: Any) -> dict[str, Any]:
    return {"200": {"description": "it", "content": {content_type: entry}}}


@pytest.mark.parametrize("kind", ["text/event-stream", "application/x-ndjson", "application/jsonl"])
def test_the_values_of_a_stream_have_their_schema(tmp_path: Path, kind: str) -> None:
    row = tabulate(tmp_path, answering(media(kind, schema=PET), Pet=PET)).rows["list_pets"]
    assert row["responses"]["200"]["content_type"] == kind
    assert "$ref" in row["responses"]["200"]["schema"]
    assert row["returns"]["description"].startswith("An array of")


def test_xml_has_its_schema_with_its_hints(tmp_path: Path) -> None:
    schema = {"$ref": "#/components/schemas/Pet"}
    table = tabulate(tmp_path, answering(media("application/xml", schema=schema), Pet=PET))
    assert table.rows["list_pets"]["responses"]["200"]["schema"] == {"$ref": "#/types/Pet"}
    assert table.types["Pet"]["xml"] == {"name": "pet"}
    assert table.types["Pet"]["properties"]["pet_id"]["xml"] == {"attribute": True}
    assert table.rows["list_pets"]["returns"]["name"] == "Pet"


def test_xml_hints_are_left_out_where_nothing_is_xml(tmp_path: Path) -> None:
    table = tabulate(tmp_path, answering(media("application/json", schema=PET)))
    assert "xml" not in str(table.types)


def test_xml_that_a_call_may_choose_has_its_hints(tmp_path: Path) -> None:
    content = {"application/json": {"schema": PET}, "application/xml": {"schema": PET}}
    table = tabulate(tmp_path, answering({"200": {"description": "it", "content": content}}))
    assert "xml" in str(table.types)


def test_a_redirect_that_is_declared_is_an_answer(tmp_path: Path) -> None:
    row = tabulate(tmp_path, answering({"302": {"description": "there"}, "404": {"description": "no"}})).rows[
        "list_pets"
    ]
    assert row["responses"] == {"302": {}}


@pytest.mark.parametrize(
    ("pages", "shown"),
    [
        ({"next_page": 4, "total_pages": 9, "total": 40}, {"next_page": 0, "total_pages": 1, "total": 1}),
        ({"next_page": 4, "has_more": True, "next": "/things?page=4"}, {"next_page": 0, "has_more": False, "next": ""}),
    ],
)
def test_a_list_of_the_mock_is_its_own_last_page(tmp_path: Path, pages: dict[str, Any], shown: dict[str, Any]) -> None:
    """R-SEL-3: the document's example of a page leads on for ever."""
    example = {"things": [{"id": 1}], "meta": pages}
    items = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    schema = {"type": "object", "properties": {"things": items, "meta": {"type": "object"}}}
    query = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("page", "per_page")]
    get = {"parameters": query, "responses": media("application/json", schema=schema, example=example)}
    (row,) = tabulate(tmp_path, api({"/things": {"get": get}})).prepared.table.rows
    assert row.mock["body"] == {"things": [{"id": 1}], "meta": shown}
