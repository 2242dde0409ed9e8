"""Formats that contradict what stands beside them are let go, with a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aqlgen.diagnostics import Severity
from tests.cases import each
from tests.generator.commands import api, posting, tabulate
from tests.schemas.adapter import adapted

OBJECT_ID = "6762f2391bb69f9f2193bbf0"
UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"


@each(
    ("schema", "value"),
    [
        ({"type": "string", "format": "uuid", "example": OBJECT_ID}, OBJECT_ID),
        ({"type": "string", "format": "uuid", "examples": [UUID, OBJECT_ID]}, OBJECT_ID),
        ({"type": "string", "format": "uuid", "maxLength": 24}, OBJECT_ID),
        ({"type": "string", "format": "uuid", "pattern": "^[0-9a-f]{24}$"}, OBJECT_ID),
        ({"type": "string", "format": "date", "enum": ["today", "tomorrow"]}, "today"),
        ({"type": "string", "format": "date-time", "default": "2026-01-31 12:00:00"}, "2026-01-31 12:00:00"),
        ({"type": "string", "format": "uri", "example": "shop.example.com/a"}, "shop.example.com/b"),
        ({"type": "integer", "format": "int32", "example": 4_294_967_296}, 4_294_967_296),
        ({"type": "integer", "format": "int32", "maximum": 9_000_000_000}, 9_000_000_000),
    ],
)
def test_a_format_that_its_surroundings_contradict_is_let_go(schema: dict[str, Any], value: Any) -> None:
    thing = adapted(schema)
    assert thing.admits(value)
    assert "format" not in thing.schema
    (finding,) = thing.findings
    assert (finding.code, finding.severity, finding.pointer) == ("bad-format", Severity.NOTE, "/x-schema/format")


@each(
    "schema",
    [
        {"format": "uuid", "example": UUID, "minLength": 36, "maxLength": 36},
        {"format": "uuid", "pattern": "^[0-9a-f]{8}-"},
        {"format": "uuid", "example": "<uuid>"},
        {"format": "uuid", "example": "string"},
        {"format": "date", "example": "YYYY-MM-DD"},
        {"format": "date-time", "example": "'2026-01-31T12:00:00Z'"},
        {"format": "uri", "example": "https://example.com/{id}"},
        {"format": "uri", "pattern": "^https://hooks\\."},
    ],
)
def test_a_format_that_nothing_contradicts_stays(schema: dict[str, Any]) -> None:
    thing = adapted({"type": "string", **schema})
    assert thing.schema["format"] == schema["format"]
    assert thing.findings == []


def test_the_example_that_stays_is_told() -> None:
    schema = {"type": "string", "format": "uuid", "example": OBJECT_ID, "description": "Its id."}
    assert adapted(schema).schema["description"] == f"Its id. Such as '{OBJECT_ID}'."


def test_examples_of_parameters_and_of_bodies_count_too(tmp_path: Path) -> None:
    identifier = {"type": "string", "format": "uuid"}
    path = {"name": "id", "in": "path", "required": True, "schema": identifier, "example": OBJECT_ID}
    operation = {"operationId": "getThing", "responses": {}, "parameters": [path]}
    table = tabulate(tmp_path, api({"/things/{id}": {"get": operation}}))
    assert table.rows["get_thing"]["parameters"]["thing_id"]["schema"] == {"type": "string"}
    assert [finding["code"] for finding in table.findings("bad-format")] == ["bad-format"]
    document = posting({"type": "object", "properties": {"owner": identifier, "shop": identifier}})
    body = document["paths"]["/things"]["post"]["requestBody"]["content"]["application/json"]
    body["example"] = {"owner": OBJECT_ID, "shop": UUID}
    parameters = tabulate(tmp_path, document).rows["create_thing"]["parameters"]
    assert parameters["owner"]["schema"] == {"type": "string"}
    assert parameters["shop"]["schema"] == identifier
