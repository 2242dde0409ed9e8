"""The outline of an operation, as the query `search` describes it."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.introspection.outline import outline, type_outline
from tests.cases import each


def described(*parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return outline(
        {
            "name": "get_pet",
            "mcpTool": "mcp_aql_read",
            "description": "Get a pet",
            "parameters": [{"name": "pet", "type": "string", "required": False, **each} for each in parameters],
            "returns": {"name": "Pet", "kind": "object"},
            **more,
        }
    )


@each(
    ("parameter", "text"),
    [
        ({}, "string"),
        ({"description": "Its name"}, "string. Its name"),
        (
            {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "How many"},
            "int 1..100 = 20. How many",
        ),
        ({"type": "number", "minimum": 0.5}, "number ≥0.5"),
        ({"type": "integer", "maximum": 5}, "int ≤5"),
        ({"type": "boolean", "default": False}, "bool = false"),
        ({"minLength": 1, "maxLength": 40}, "string(1..40)"),
        ({"minLength": 3}, "string(≥3)"),
        ({"pattern": "^[a-z]+$"}, "string /^[a-z]+$/"),
        ({"format": "date-time"}, "string date-time"),
        ({"enum": ["open", "closed"], "default": "open"}, "'open'|'closed' = 'open'"),
        ({"type": "integer", "enum": [1, 2]}, "1|2"),
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, "['a'|'b']"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, "[[int]]"),
        (
            {"type": "array", "items": {"type": "Tag", "description": "Fields: {id: int}."}, "description": "Its tags"},
            "[Tag]. Its tags. Fields: {id: int}.",
        ),
        ({"type": "array"}, "array"),
        ({"type": "Species", "enum": ["lion", "newt"]}, "'lion'|'newt'"),
        ({"sensitive": True, "description": "Keep it."}, "string, sensitive. Keep it."),
    ],
)
def test_a_parameter_is_a_line_of_type_constraints_default_and_description(
    parameter: dict[str, Any], text: str
) -> None:
    """R-INT-4: nothing of the details is lost."""
    assert described(parameter)["params"] == {"pet": text}


def test_required_parameters_come_first_and_are_marked() -> None:
    data = described({"name": "a"}, {"name": "b", "required": True}, {"name": "c"}, {"name": "d", "required": True})
    assert list(data["params"]) == ["b*", "d*", "a", "c"]


def test_the_outline_has_what_comes_back() -> None:
    examples = [{"request": {"operation": "get_pet", "params": {"pet": "x"}}}]
    data = described(examples=examples, returns={"name": "none", "kind": "scalar", "description": "No content."})
    assert data["example"] == {"pet": "x"}
    assert data["returns"] == "none: No content."
    assert described()["returns"] == "Pet"


def test_a_type_is_a_line_for_each_field() -> None:
    """What an agent that asks for a type by name has to read is short."""
    fields = [
        {"name": "name", "type": "string", "required": True, "description": "Its name. " * 40},
        {"name": "due", "type": "string", "required": False, "format": "date"},
    ]
    described = type_outline({"name": "Task", "kind": "object", "fields": fields})["fields"]
    assert described["due"] == "string date"
    assert described["name*"].startswith("string. Its name.")
    assert len(described["name*"]) < 120
    assert type_outline({"name": "Size", "kind": "enum", "values": ["s"]})["values"] == ["s"]


def test_what_would_hide_in_a_line_is_seen() -> None:
    """What the document says in constraints is written as escapes, as it is everywhere in sentences."""
    hostile = "x\u202e\x1b[31m"
    text = described({"pattern": hostile, "format": hostile, "default": hostile})["params"]["pet"]
    assert text.isprintable()
    assert described({"enum": [hostile]})["params"]["pet"].isprintable()
