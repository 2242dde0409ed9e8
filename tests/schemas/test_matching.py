"""Texts made from regular expressions match them, whatever the expression."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from aqlgen.schemas.patterns import matches, usable
from aqlgen.table.sample_scalars import MAX_LENGTH, matching_text
from tests.cases import each


@each(
    "pattern",
    [
        r"^[a-z]+$",
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(red|green)_[0-9A-F]{6}$",
        r"^[^/]+/[^/]+$",
        r"^\p{Lu}\p{Ll}*$",
        r"^arn:aws:[a-z]+:\w+:\d{12}:.*$",
        r"^(?:[A-Za-z0-9+/]{4})*$",
        r"^\u00e9\x41$",
        r"^[\w.+-]+@[\w-]+\.[a-z]{2,}$",
        r"^[]a]$|x",
        r"^[\d-]+$",
        r"^\^\[\]$",
        r"^(?<year>\d+)$",
        "^$",
        "a*",
    ],
)
def test_a_text_made_for_a_pattern_matches_it(pattern: str) -> None:
    example = matching_text(pattern)
    assert example is not None
    assert matches(usable(pattern) or pattern, example)


@each("pattern", ["(a{1000}){1000}", "((((a{9999}){9999}){9999}){9999})", "(" * 5000, "[", "a{999999999}", "(?=", "\\"])
def test_an_expression_that_explodes_costs_nothing(pattern: str) -> None:
    """R-TRUST-4"""
    begin = time.perf_counter()
    example = matching_text(pattern)
    assert example is None or len(example) <= MAX_LENGTH
    assert time.perf_counter() - begin < 1


@given(st.text(alphabet="ab[]()|*+?{}^$\\d1,-.", max_size=20))
def test_any_text_as_a_pattern_gives_a_text_or_nothing(pattern: str) -> None:
    example = matching_text(pattern)
    assert example is None or len(example) <= MAX_LENGTH


def test_syntax_of_other_languages_is_translated() -> None:
    assert usable("/^[a-z]+$/i") == "(?i)^[a-z]+$"
    assert usable(r"^[\w-.]+\Z") == r"^[\w\-.]+$"
    assert usable("([a-z") is None
    assert usable("x" * 6000) is None
