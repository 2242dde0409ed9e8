"""JSON: recognised by content whatever the name, with repeated keys reported and errors at their position."""

from __future__ import annotations

import json

import pytest

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read import Limits, parse


def test_what_parses_as_json_is_json_whatever_its_name(source):
    assert source('{"a": 1}').format == "json"
    assert source("a: 1").format == "yaml"


def test_repeated_keys_are_reported_in_nested_places(source):
    read = source('{"x": [{"k": ",]}"}, {"k": 1,\n "k": {"y": 2,\n  "y": 3}}], "x": 1}')
    assert read.root == {"x": 1}
    assert [(diagnostic.pointer, diagnostic.line, diagnostic.column) for diagnostic in read.diagnostics] == [
        ("/x/1/k", 2, 2),
        ("/x/1/k/y", 3, 3),
        ("/x", 3, 14),
    ]


def test_only_so_many_repeated_keys_are_reported(source):
    assert len(source("{" + '"a":1,' * 5000 + '"a":1}').diagnostics) == 200


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ('{"a": 1,\n "b": [1, 2', "not valid JSON: the text ends in the middle", 2, 12),
        ('{"a": 1,\r\n "b": "x', "not valid JSON: the text ends in the middle", 2, 7),
        ('{"a": 1\n "b": 2}', "not valid JSON: expecting ',' delimiter", 2, 2),
        ('// note\n{"a": 1}', "not valid JSON: a comment is here", 1, 1),
        ('{"a": 1, /* note */ "b": 2}', "not valid JSON: a comment is here", 1, 10),
    ],
)
def test_an_error_has_its_position(refusal, text: str, message: str, line: int, column: int):
    assert refusal(text) == ("json-syntax", message, line, column)


def test_a_trailing_comma_is_read_as_yaml_and_noted(source):
    read = source('{"a": 1,}')
    assert (read.root, read.format) == ({"a": 1}, "yaml")
    assert [diagnostic.code for diagnostic in read.diagnostics] == ["json-as-yaml"]


def test_yaml_may_begin_with_a_brace(source):
    assert source("{a: no, b: [x]}").root == {"a": "no", "b": ["x"]}


def test_numbers_that_json_cannot_hold_become_text(root):
    big = "9" * 5000
    tree = root(f'{{"a": 1e999, "b": NaN, "c": {big}, "d": 1.5}}')
    assert tree == {"a": "1e999", "b": "NaN", "c": big, "d": 1.5}
    json.dumps(tree, allow_nan=False)


def test_an_error_after_a_huge_number_is_reported_too(refusal):
    assert refusal(f'{{"a": {"9" * 5000}, "b"')[0] == "json-syntax"


def test_half_a_surrogate_pair_becomes_a_replacement_character(root):
    assert root(r'{"a": "x\ud83d", "b": "\ud83d\ude00", "\udc00": 1}') == {"a": "x\ufffd", "b": "😀", "\ufffd": 1}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud83d\ude00", "😀"),
        (r"\ud83d\ud83d\ude00", "\ufffd😀"),
        (r"\ud83d\ude00\ude00", "😀\ufffd"),
        (r"\\ud83d\ude00", "\\ud83d\ufffd"),
        (r"\ud83d\\ude00", "\ufffd\\ude00"),
        (r"\\\ud83d\ude00", "\\😀"),
        (r"\ud83d!\ude00", "\ufffd!\ufffd"),
    ],
)
def test_halves_are_distinguished_from_pairs(root, written: str, read: str):
    assert root(f'{{"a": "{written}"}}') == {"a": read}


@pytest.mark.parametrize("depth", [300, 200_000])
def test_endless_nesting_is_refused(refusal, depth: int):
    assert refusal('{"a":' + "[" * depth + "]" * depth + "}")[0] == "document-too-deep"


def test_nesting_is_allowed_up_to_the_bound_and_no_further():
    limits = Limits(depth=5)
    assert parse("a", b'{"a": [[[[1]]]]}', None, limits=limits).root == {"a": [[[[1]]]]}
    with pytest.raises(Exception, match="nested deeper than 5 levels"):
        parse("a", b'{"a": [[[[[1]]]]]}', None, limits=limits)


def test_too_many_values_are_refused_but_commas_in_text_do_not_count(refusal):
    limits = Limits(nodes=50)
    assert refusal(json.dumps({"a": [0] * 100}), limits)[0] == "document-too-large"
    assert parse("a", json.dumps({"a": "," * 200}).encode(), None, limits=limits).root


def test_a_text_that_nests_too_deeply_is_refused_at_the_first_bracket_too_many():
    text = '{"a":\n' + "[" * 300 + "]" * 300 + "}"
    with pytest.raises(DocumentError) as caught:
        parse("a.json", text.encode(), None, limits=Limits(depth=100))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("document-too-deep", 2, 100)
