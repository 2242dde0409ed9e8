"""What the table says of answers that are not JSON: streams, XML, redirects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import api, generate

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
    row = generate(tmp_path, answering(media(kind, schema=PET), Pet=PET)).rows["list_pets"]
    assert row["responses"]["200"]["content_type"] == kind
    assert "$ref" in row["responses"]["200"]["schema"]
    assert row["returns"]["description"].startswith("An array of")


def test_xml_has_its_schema_with_its_hints(tmp_path: Path) -> None:
    schema = {"$ref": "#/components/schemas/Pet"}
    project = generate(tmp_path, answering(media("application/xml", schema=schema), Pet=PET))
    assert project.rows["list_pets"]["responses"]["200"]["schema"] == {"$ref": "#/types/Pet"}
    assert project.types["Pet"]["xml"] == {"name": "pet"}
    assert project.types["Pet"]["properties"]["pet_id"]["xml"] == {"attribute": True}
    assert project.rows["list_pets"]["returns"]["name"] == "Pet"


def test_xml_hints_are_left_out_where_nothing_is_xml(tmp_path: Path) -> None:
    content = {"application/json": {"schema": PET}, "application/xml": {"schema": PET}}
    project = generate(tmp_path, answering({"200": {"description": "it", "content": content}}))
    assert "xml" not in str(project.types)


def test_a_redirect_that_is_declared_is_an_answer(tmp_path: Path) -> None:
    row = generate(tmp_path, answering({"302": {"description": "there"}, "404": {"description": "no"}})).rows[
        "list_pets"
    ]
    assert row["responses"] == {"302": {}}
