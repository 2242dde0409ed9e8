"""JSON and its encodings: recognised by content, with repeated keys reported and errors at their position."""

from __future__ import annotations

import codecs
import json

import pytest

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read import Limits, parse
from tests.cases import each


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


def test_yaml_may_begin_with_a_brace(source):
    assert source('{"a": 1,}').root == {"a": 1}
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


TEXT = "openapi: 3.1.0\r\ninfo:\r\n  title: Zoë 😀\r\n"


@each(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
)
def test_all_forms_of_unicode_give_the_same(data: bytes):
    read = parse("api.yaml", data, None)
    assert read.root == {"openapi": "3.1.0", "info": {"title": "Zoë 😀"}}
    assert read.data == data


def test_another_encoding_is_refused_at_the_byte(refusal):
    code, message, line, column = refusal("a: 1\nb: é\n".encode("latin-1"))
    assert (code, message, line, column) == ("bad-encoding", "not UTF-8 at byte 8 (0xe9)", 2, 4)


def test_the_mark_counts_as_bytes_but_not_as_a_column(refusal):
    assert refusal(codecs.BOM_UTF8 + b"a: \xff")[1:] == ("not UTF-8 at byte 6 (0xff)", 1, 4)


def test_half_a_character_of_utf_16_is_refused(refusal):
    assert refusal(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le")[:-1])[0] == "bad-encoding"


def test_utf_32_is_named(refusal):
    assert refusal("a: 1".encode("utf-32")) == ("bad-encoding", "the text is UTF-32", 0, 0)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (b"\x1f\x8b\x08\x00", "a gzip file"),
        (b"\x00\x01\x02", "binary data"),
        (b"<!DOCTYPE html>\n<html>", "an HTML page"),
        (b"\xef\xbb\xbf  <HTML lang=en>", "an HTML page"),
        (b"<!-- saved -->\n<html>", "an HTML page"),
        (b'<?xml version="1.0"?><definitions/>', "an XML document"),
    ],
)
def test_other_files_are_named(refusal, data: bytes, kind: str):
    assert refusal(data)[:2] == ("not-text", f"this is {kind}, not an OpenAPI document")


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[1]", "a list"), ("null", "empty (null)"), ("hello there", "text"), ("12", "a number"), ("true", "a boolean")],
)
def test_a_root_that_is_not_an_object_is_named(refusal, text: str, kind: str):
    assert refusal(text)[:2] == ("not-an-object", f"the document is {kind}, not an object")


def test_only_comments_are_an_empty_document(refusal):
    assert refusal("# nothing yet\n")[0] == "empty-document"
