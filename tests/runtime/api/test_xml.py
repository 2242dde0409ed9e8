"""XML answers become data by the schema's hints, and nothing in them can do harm (OpenAPI 3.1, XML Object)."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aqlgen.runtime.decode.xml import read_xml
from aqlgen.runtime.table import Table
from aqlgen.runtime.wire import ApiResponse

from .hand_made import Make, operation

TAG = {"type": "object", "xml": {"name": "tag"}, "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
TYPES: dict[str, Any] = {
    "Tag": TAG,
    "Pet": {
        "type": "object",
        "xml": {"name": "pet"},
        "properties": {
            "pet_id": {"type": "integer", "x-name": "petId", "xml": {"attribute": True, "name": "id"}},
            "name": {"type": "string", "xml": {"prefix": "p", "namespace": "urn:p"}},
            "weight": {"type": "number"},
            "sold": {"type": "boolean"},
            "born": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "photo_urls": {
                "type": "array",
                "x-name": "photoUrls",
                "xml": {"wrapped": True},
                "items": {"type": "string", "xml": {"name": "photoUrl"}},
            },
            "tags": {"type": "array", "items": {"$ref": "#/types/Tag"}},
            "scores": {"type": "array", "items": {"type": "integer"}},
            "mother": {"anyOf": [{"$ref": "#/types/Pet"}, {"type": "null"}]},
        },
    },
}
PET = {"$ref": "#/types/Pet"}


def read(package: Make, content: str | bytes, schema: Any = PET, kind: str = "application/xml") -> Any:
    entry = {"content_type": kind, "schema": schema}
    pets = package({"op": operation(responses={"200": entry})}, TYPES)
    content = content.encode() if isinstance(content, str) else content
    return pets.decode(ApiResponse(200, {"content-type": kind}, content))


@pytest.mark.parametrize(
    ("content", "schema", "data"),
    [
        ("<pets><pet id='1'/><pet id='2'/></pets>", {"type": "array", "items": PET}, [{"pet_id": 1}, {"pet_id": 2}]),
        ("<pet><photoUrls/></pet>", PET, {"photo_urls": []}),
        ("<pet><tags><tag><id>1</id></tag></tags></pet>", PET, {"tags": [{"id": 1}]}),
        ("<pet><weight>heavy</weight></pet>", PET, {"weight": "heavy"}),
        ("<pet/>", PET, {}),
        ("<n>12</n>", {"type": "integer"}, 12),
        ("<n>1_2</n>", {"type": "integer"}, "1_2"),
        ("<n>1_2.5</n>", {"type": "number"}, "1_2.5"),
        ("<n>012</n>", {"type": "string"}, "<n>012</n>"),
        ("<a><b>1</b><b>2</b></a>", {"type": "object", "additionalProperties": True}, {"b": ["1", "2"]}),
        ("<a>text</a>", {}, "text"),
    ],
)
def test_an_answer_is_read_leniently(package: Make, content: str, schema: Any, data: Any) -> None:
    assert read(package, content, schema) == data


def test_the_encoding_is_the_headers_or_the_contents_own(package: Make) -> None:
    content = '<?xml version="1.0" encoding="ISO-8859-1"?><pet><name>é</name></pet>'.encode("latin-1")
    assert read(package, content) == {"name": "é"}
    assert read(package, content.replace(b"ISO-8859-1", b"utf-8"), kind="application/xml; charset=iso-8859-1") == {
        "name": "é"
    }


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><pet><name>&b;</name></pet>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><pet><name>&x;</name></pet>'


@pytest.mark.parametrize(
    "content",
    [BOMB, OUTSIDE, "<pet>", "no xml", "", "<a>" * 5000 + "</a>" * 5000, "<pet><name>&undefined;</name></pet>"],
)
def test_what_is_no_plain_xml_is_given_as_its_text(package: Make, content: str) -> None:
    assert read(package, content) == (content or None)


def test_many_elements_beside_many_declared_fields_take_no_time_for_each_pair() -> None:
    text, table = f"<r>{'<other/>' * 20_000}</r>", cast("Table", SimpleNamespace(types={}))

    def seconds(fields: int) -> float:
        named: dict[str, Any] = {f"field{number}": {"type": "string"} for number in range(fields)}
        begin = time.process_time()
        read_xml(text, {"type": "object", "properties": named}, table)
        return time.process_time() - begin

    assert min(seconds(1000), seconds(1000)) < 4 * seconds(1)
