"""Every style and explode form, as the tables of the OpenAPI documents give them."""

from __future__ import annotations

from typing import Any

from aqlgen.runtime.encode.styles import header_text, path_text, query_pairs
from tests.cases import each

LIST = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


@each(
    ("style", "explode", "value", "expected"),
    [
        ("form", False, "", "color="),
        ("form", False, "blue", "color=blue"),
        ("form", True, "blue", "color=blue"),
        ("form", False, LIST, "color=blue,black,brown"),
        ("form", True, LIST, "color=blue&color=black&color=brown"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("spaceDelimited", False, LIST, "color=blue%20black%20brown"),
        ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, LIST, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (
            "deepObject",
            True,
            {"a": {"b": 1}, "c": [1, 2]},
            "color%5Ba%5D%5Bb%5D=1&color%5Bc%5D%5B%5D=1&color%5Bc%5D%5B%5D=2",
        ),
        ("form", True, [], ""),
        ("form", True, {}, ""),
        ("form", False, [], ""),
        ("form", False, {}, ""),
        ("form", True, None, ""),
        ("form", True, True, "color=true"),
        ("form", True, [True, None, False], "color=true&color=false"),
        ("form", True, 1.0, "color=1"),
        ("form", True, 1.5, "color=1.5"),
        ("form", True, [{"a": "b c"}], "color=%7B%22a%22%3A%22b%20c%22%7D"),
        ("form", True, {"a": [1, True, None]}, "a=%5B1%2Ctrue%2Cnull%5D"),
        ("form", False, ["a,b", "c&d"], "color=a%2Cb,c%26d"),
        ("form", True, "é ü", "color=%C3%A9%20%C3%BC"),
    ],
)
def test_queries_are_written_by_style(style: str, explode: bool, value: Any, expected: str) -> None:
    assert "&".join(query_pairs("color", value, style, explode=explode)) == expected


def test_reserved_characters_stay_where_they_are_allowed_but_never_end_a_value() -> None:
    assert query_pairs("q", "a/b?c:d@e,f", allow_reserved=True) == ["q=a/b?c:d@e,f"]
    assert query_pairs("q", "a&b=c#d+e[f]%41%", allow_reserved=True) == ["q=a%26b=c%23d%2Be%5Bf%5D%41%25"]


@each(
    ("style", "explode", "value", "expected"),
    [
        ("simple", False, "blue", "blue"),
        ("simple", False, LIST, "blue,black,brown"),
        ("simple", True, LIST, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("label", False, "", "."),
        ("label", False, "blue", ".blue"),
        ("label", False, LIST, ".blue,black,brown"),
        ("label", True, LIST, ".blue.black.brown"),
        ("label", False, OBJECT, ".R,100,G,200,B,150"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("matrix", False, "", ";color"),
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, LIST, ";color=blue,black,brown"),
        ("matrix", True, LIST, ";color=blue;color=black;color=brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("simple", False, True, "true"),
        ("simple", False, "a/b?c#d e", "a%2Fb%3Fc%23d%20e"),
    ],
)
def test_paths_are_written_by_style(style: str, explode: bool, value: Any, expected: str) -> None:
    assert path_text("color", value, style, explode=explode) == expected


@each(
    ("explode", "value", "expected"),
    [
        (False, "blue", "blue"),
        (False, LIST, "blue,black,brown"),
        (False, OBJECT, "R,100,G,200,B,150"),
        (True, OBJECT, "R=100,G=200,B=150"),
        (False, False, "false"),
    ],
)
def test_headers_are_written_simply(explode: bool, value: Any, expected: str) -> None:
    assert header_text(value, explode=explode) == expected
