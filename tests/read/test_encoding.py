"""UTF-8 and UTF-16 are read; everything else is named with the byte at fault."""

from __future__ import annotations

import codecs

import pytest

from aqlgen.document.read import parse
from tests.cases import each

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
