"""The representation of a body that is sent, and the parameters that make it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.errors import Failure
from tests.cases import each
from tests.documents import INTEGER, TEXT, list_of, object_of, parameter, ref
from tests.generator.commands import api, posting, tabulate

PETS = {"Cat": object_of("petType", petType=TEXT), "Dog": object_of("petType", petType=TEXT, bark={})}


def offering(content: dict[str, Any], key: str = "POST /things", **more: Any) -> dict[str, Any]:
    name = "createThing" if key == "POST /things" else "updateThing"
    return api({key: {"operationId": name, "requestBody": {"content": content}, "responses": {}, **more}})


def test_a_form_without_fields_gives_way_to_another_representation(tmp_path: Path) -> None:
    document = offering({"multipart/form-data": {"schema": {"type": "object"}}, "text/plain": {"schema": TEXT}})
    row = tabulate(tmp_path, document).rows["create_thing"]
    assert row["body"]["content_type"] == "text/plain"


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "string"}, {}])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_that_tells_no_fields_takes_any(tmp_path: Path, kind: str, schema: dict[str, Any]) -> None:
    row = tabulate(tmp_path, offering({kind: {"schema": schema}})).rows["create_thing"]
    assert row["body"]["content_type"] == kind
    assert row["parameters"]["body"] == {
        "in": "body",
        "schema": {"type": "object"},
        "description": "Fields of the form; the API's document does not declare them.",
    }


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_that_declares_to_have_no_fields_is_no_parameter(tmp_path: Path, kind: str) -> None:
    empty = {"type": "object", "properties": {}}
    row = tabulate(tmp_path, offering({kind: {"schema": empty}})).rows["create_thing"]
    assert row["parameters"].keys() == {"dry_run"}
    assert "body" not in row
    row = tabulate(tmp_path, offering({kind: {"schema": {**empty, "additionalProperties": True}}})).rows["create_thing"]
    assert "body" in row["parameters"]


@pytest.mark.parametrize("kind", ["application/json", "application/vnd.shop+json", "application/x-www-form-urlencoded"])
def test_a_required_body_that_has_no_fields_is_sent_empty(tmp_path: Path, kind: str) -> None:
    document = offering({kind: {"schema": {"type": "object", "properties": {}}}})
    document["paths"]["/things"]["post"]["requestBody"]["required"] = True
    row = tabulate(tmp_path, document).rows["create_thing"]
    assert row["parameters"].keys() == {"dry_run"}
    assert row["body"] == {"content_type": kind, "shape": "fields", "required": True}


def test_an_update_by_a_form_without_fields_takes_those_of_its_query(tmp_path: Path) -> None:
    form = {"application/x-www-form-urlencoded": {"schema": object_of()}}
    table = tabulate(tmp_path, offering(form, "PUT /things/{id}", parameters=[parameter("size")]))
    assert "body" not in table.rows["update_thing"]
    (whole,) = [field for field in table.details("update_thing")["parameters"] if field["name"] == "input"]
    assert (whole["type"], whole["description"]) == ("UpdateThingInput", "Fields: {size: string}.")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("application/form-data", "multipart/form-data"),
        ("multipart/form", "multipart/form-data"),
        ("Form-Data", "multipart/form-data"),
        ("application/x-www-form-urlencode", "application/x-www-form-urlencoded"),
        ("application/form-url-encoded", "application/x-www-form-urlencoded"),
        ("json", "application/json"),
        ("application/x-json; charset=utf-8", "application/json; charset=utf-8"),
        ("text/json", "text/json"),
    ],
)
def test_a_media_type_that_no_registry_knows_keeps_its_schema(tmp_path: Path, written: str, meant: str) -> None:
    table = tabulate(tmp_path, offering({written: {"schema": object_of(name=TEXT)}}))
    assert table.rows["create_thing"]["body"]["content_type"] == meant
    assert "name" in table.rows["create_thing"]["parameters"]
    (finding,) = table.findings("mistaken-media-type")
    assert finding["path"].startswith("/paths/~1things/post/requestBody/content/")
    assert table.warnings == []


NAMED = object_of(raw={**TEXT, "format": "byte"}, labels={"type": "array"})
MAIL = ("message/cpim", "message/imdn+xml", "message/rfc822")


@each(
    ("kinds", "choices"),
    [
        (MAIL, None),
        (("message/*",), None),
        (("application/vnd.shop.form",), None),
        (("application/jsonp",), None),
        (("image/svg+xml",), None),
        (("text/x",), None),
        (("text/plain",), None),
        (("application/octet-stream",), ["json", "bytes"]),
    ],
)
def test_an_object_that_no_type_of_its_body_can_hold_is_sent_as_json(
    kinds: tuple[str, ...], choices: list[str] | None, tmp_path: Path
) -> None:
    """A file that the document offers may be chosen still."""
    for schema in (NAMED, {"allOf": [NAMED]}):
        table = tabulate(tmp_path, offering({kind: {"schema": schema} for kind in kinds}))
        row = table.rows["create_thing"]
        assert (row["body"]["content_type"], row["body"]["shape"]) == ("application/json", "fields")
        assert row["parameters"].keys() >= {"raw", "labels"}
        assert row["parameters"].get("as", {}).get("schema", {}).get("enum") == choices
        (finding,) = table.findings("mistaken-media-type")
        assert finding["message"] == f"an object cannot be written as {kinds[0]}; it is sent as application/json"
        assert table.warnings == []
    listed = tabulate(tmp_path, offering({kinds[0]: {"schema": list_of(NAMED)}}))
    assert listed.rows["create_thing"]["body"]["content_type"] == "application/json"


@each(
    ("kind", "schema"),
    [
        ("message/rfc822", {"type": "string"}),
        ("message/rfc822", {"type": "object"}),
        ("application/octet-stream", {"type": "object", "properties": {"file": {"format": "binary"}}}),
        ("application/soap+xml", NAMED),
        ("text/xml", NAMED),
        ("text/yaml", NAMED),
        ("application/x-ndjson", NAMED),
    ],
)
def test_what_a_media_type_can_hold_is_sent_as_it(kind: str, schema: dict[str, Any], tmp_path: Path) -> None:
    table = tabulate(tmp_path, offering({kind: {"schema": schema}}))
    assert table.rows["create_thing"]["body"]["content_type"] == kind
    assert table.findings("mistaken-media-type") == []


def test_an_update_with_a_file_shows_its_fields(tmp_path: Path) -> None:
    schema = object_of("displayName", displayName=TEXT, photo={**TEXT, "format": "binary"})
    table = tabulate(tmp_path, offering({"multipart/form-data": {"schema": schema}}, "PUT /things/{id}"))
    assert table.rows["update_thing"]["parameters"]["input"]["schema"] == {"$ref": "#/types/UpdateThingInput"}
    shown = {field["name"]: field for field in table.described("UpdateThingInput")["fields"]}
    assert shown["display_name"] == {"name": "display_name", "type": "string", "required": True}
    assert shown["photo"] == {"name": "photo", "type": "FileInput", "required": False}


@pytest.mark.parametrize("schema", [{"type": "array", "items": {}}, {"type": "string", "format": "binary"}])
def test_a_form_of_nameless_values_is_skipped_with_the_reason(tmp_path: Path, schema: dict[str, Any]) -> None:
    document = offering({"multipart/form-data": {"schema": schema}})
    document["paths"]["/things"]["get"] = {"responses": {}}
    (warning,) = tabulate(tmp_path, document).warnings
    assert warning["code"] == "unsupported-media-type"
    assert warning["message"].endswith("only offered as multipart/form-data, and no field of the form has a name")


def test_xml_of_no_fields_is_given_as_a_text(tmp_path: Path) -> None:
    schema = {"description": "An order."}
    row = tabulate(tmp_path, offering({"application/xml": {"schema": schema}})).rows["create_thing"]
    assert row["body"]["content_type"] == "application/xml"
    assert row["parameters"]["body"]["schema"] == {"type": "string"}
    assert row["parameters"]["body"]["description"] == "An order. An XML document, as text."


def test_a_number_that_is_sent_as_a_text_keeps_its_limits(tmp_path: Path) -> None:
    schema = {"type": "integer", "minimum": 0}
    row = tabulate(tmp_path, offering({"text/plain": {"schema": schema}})).rows["create_thing"]
    assert row["parameters"]["body"]["schema"] == schema


def test_a_body_of_alternatives_shows_every_value_of_its_discriminator(tmp_path: Path) -> None:
    mapping = {"propertyName": "petType", "mapping": {"cat": "Cat", "dog": "#/components/schemas/Dog"}}
    union = {"oneOf": [ref("Cat"), ref("Dog")], "discriminator": mapping}
    row = tabulate(tmp_path, posting(union, components={"schemas": PETS})).rows["create_thing"]
    assert row["parameters"]["pet_type"]["schema"] == {"type": "string", "enum": ["cat", "dog"]}
    assert row["parameters"]["pet_type"]["required"] is True
    assert row["body"]["validate"] is True
    assert row["example"] == {"pet_type": "cat"}


def test_values_that_alternatives_declare_for_their_discriminator_are_listed_once(tmp_path: Path) -> None:
    kinds = {name: object_of(petType={"enum": [name]}) for name in ("Cat", "Dog")}
    union = {"oneOf": [ref("Cat"), ref("Dog")], "discriminator": {"propertyName": "petType"}}
    row = tabulate(tmp_path, posting(union, components={"schemas": kinds})).rows["create_thing"]
    assert row["parameters"]["pet_type"]["schema"] == {"type": "string", "enum": ["Cat", "Dog"]}


def test_fields_of_alternatives_within_all_of_are_offered_too(tmp_path: Path) -> None:
    either = {"anyOf": [{"properties": {"cash": INTEGER}}, {"properties": {"card": TEXT}}]}
    row = tabulate(tmp_path, posting({"allOf": [object_of("name", name=TEXT), either]})).rows["create_thing"]
    assert row["parameters"].keys() == {"name", "cash", "card", "dry_run"}


def test_an_open_body_takes_further_fields(tmp_path: Path) -> None:
    row = tabulate(tmp_path, posting(object_of(name=TEXT) | {"additionalProperties": True})).rows["create_thing"]
    assert row["parameters"]["additional_properties"]["in"] == "body_rest"


def test_findings_of_schemas_stand_at_their_lines_and_unused_schemas_are_not_looked_at(tmp_path: Path) -> None:
    document = """\
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /things:
    get:
      operationId: listThings
      parameters:
        - name: size
          in: query
          schema:
            type: integer
            default: ten
      responses: {}
components:
  schemas:
    Unused: {type: strng}
"""
    (warning,) = tabulate(tmp_path, document).warnings
    assert (warning["code"], warning["line"]) == ("bad-default", 12)


def test_a_list_with_more_items_than_places_is_refused_with_their_number(tmp_path: Path) -> None:
    point = {"type": "array", "prefixItems": [TEXT, TEXT], "items": False}
    table = tabulate(tmp_path, posting(object_of(point=point), servers=[{"url": "https://shop.example"}]))
    assert table.request(tmp_path, "create_thing", {"point": ["a", "b"]}).content == b'{"point":["a","b"]}'
    with pytest.raises(Failure) as caught:
        table.request(tmp_path, "create_thing", {"point": ["a", "b", "c"]})
    assert caught.value.details == {"param_name": "point", "maxItems": 2}
