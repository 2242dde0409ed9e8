"""Values that are written by style, beside those of the OpenAPI documents' tables (`tests/wire_cases`)."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.encode.styles import query_pairs
from tests.cases import each


@each(
    ("style", "value", "expected"),
    [
        ("deepObject", {"c": [1, 2]}, "color%5Bc%5D%5B%5D=1&color%5Bc%5D%5B%5D=2"),
        ("deepObject", {"c": [{"d": 1}]}, "color%5Bc%5D%5B0%5D%5Bd%5D=1"),
        ("form", [True, None, False], "color=true&color=false"),
        ("form", [{"a": "b c"}], "color=%7B%22a%22%3A%22b%20c%22%7D"),
        ("form", {"a": [1, True, None]}, "a=%5B1%2Ctrue%2Cnull%5D"),
    ],
)
def test_what_is_nested_is_written_in_full(style: str, value: Any, expected: str) -> None:
    assert "&".join(query_pairs("color", value, style)) == expected
