"""Answers come in a form that an agent can use: bytes that are text as text, tables as rows, mixed XML in its order."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from aqlgen.runtime.errors import Code
from aqlgen.runtime.wire import ApiResponse
from tests.documents import TEXT, list_of, object_of

from .hand_made import Make, json_answer, operation

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00\xff" * 10
BYTES = {"type": "string", "format": "byte", "contentEncoding": "base64"}


def b64(content: bytes | str) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


def read(
    package: Make, content: bytes, content_type: str, schema: Any = None, promised: str = "", **headers: str
) -> Any:
    entry = {"content_type": promised or content_type, **({} if schema is None else {"schema": schema})}
    pets = package({"op": operation(responses={"200": entry})})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return pets.decode(ApiResponse(200, {"content-type": content_type} | named, content))


OCTETS = "application/octet-stream"
OF_BYTES: dict[str, tuple[bytes, str, dict[str, str]]] = {
    "a text": (b"# Title\n\ttext\r\n", OCTETS, {"text": "# Title\n\ttext\r\n", "was": "bytes"}),
    "a text beyond ASCII": ("Grüße 🎉".encode(), "application/x-sh", {"text": "Grüße 🎉", "was": "bytes"}),
    "a coloured log": (b"\x1b[31mred\x1b[0m\n", OCTETS, {"text": "\x1b[31mred\x1b[0m\n", "was": "bytes"}),
    "Latin-1 is no UTF-8": (b"caf\xe9", OCTETS, {"content": b64(b"caf\xe9"), "encoding": "base64"}),
    "a zero byte": (b"a\x00b", OCTETS, {"content": b64(b"a\x00b"), "encoding": "base64"}),
    "an image": (PNG, "image/png", {"content": b64(PNG), "encoding": "base64"}),
    "a PDF of text": (b"%PDF-1.4\n", "application/pdf", {"content": b64(b"%PDF-1.4\n"), "encoding": "base64"}),
}


@pytest.mark.parametrize(("content", "kind", "value"), OF_BYTES.values(), ids=OF_BYTES)
def test_bytes_that_are_text_are_shown_as_text(package: Make, content: bytes, kind: str, value: dict[str, str]) -> None:
    assert read(package, content, kind) == {**value, "mime_type": kind}


FILE, BODY = object_of(content=TEXT, encoding=TEXT), object_of(body=BYTES)
FIELDS: dict[str, tuple[Any, Any, Any]] = {
    "GitHub's file": (
        FILE,
        {"content": "SGVs\nbG8=\n", "encoding": "base64", "sha": "ab"},
        {"content": {"text": "Hello", "was": "base64"}, "encoding": "base64", "sha": "ab"},
    ),
    "without a schema": (
        {},
        {"files": [{"content": b64("a\n"), "encoding": "base64"}]},
        {"files": [{"content": {"text": "a\n", "was": "base64"}, "encoding": "base64"}]},
    ),
    "another encoding": (FILE, {"content": "SGVsbG8=", "encoding": "utf-8"}, None),
    "a field of bytes": (BODY, {"body": b64("one\ntwo")}, {"body": {"text": "one\ntwo", "was": "base64"}}),
    "bytes or null": (
        object_of(body={"anyOf": [BYTES, {"type": "null"}]}),
        {"body": b64("one")},
        {"body": {"text": "one", "was": "base64"}},
    ),
    "a map of bytes": (
        object_of(data={"type": "object", "additionalProperties": BYTES}),
        {"data": {"user": b64("admin")}},
        {"data": {"user": {"text": "admin", "was": "base64"}}},
    ),
    "a list of bytes": (
        list_of(BYTES),
        [b64("a"), b64(b"\xff\x00")],
        [{"text": "a", "was": "base64"}, b64(b"\xff\x00")],
    ),
    "bytes that are no text": (BODY, {"body": b64(b"\xff\x00")}, None),
    "an image": (BODY, {"body": b64(PNG)}, None),
    "no base64": (BODY, {"body": "no base64"}, None),
    "unpadded": (BODY, {"body": "SGVsbG8"}, None),
    "a token is handed back as it came": (
        object_of(next_page_token=BYTES, etag=BYTES),
        {"next_page_token": b64("page 2"), "etag": b64("abcd")},
        None,
    ),
    "a text that happens to be base64": (object_of(body=TEXT), {"body": "SGVsbG8="}, None),
}


@pytest.mark.parametrize(("schema", "body", "data"), FIELDS.values(), ids=FIELDS)
def test_fields_in_base64_that_are_text_are_shown_as_text(package: Make, schema: Any, body: Any, data: Any) -> None:
    assert read(package, json.dumps(body).encode(), "application/json", schema) == (body if data is None else data)


def test_an_update_merges_into_what_the_api_sent_and_not_into_what_is_shown(package: Make) -> None:
    pets = package({"op": operation(responses={"200": {"content_type": "application/json", "schema": BODY}})})
    answer = json_answer({"body": b64("text")})
    assert pets.api.decode(answer, pets.row(), {}, masked=False) == {"body": b64("text")}


def test_a_text_for_a_field_in_base64_is_sent_in_base64(package: Make) -> None:
    described = {"type": "string", "description": "The new content, using Base64 encoding."}
    fields = {"content": described, "body": BYTES, "name": TEXT, "parts": list_of(object_of(data=BYTES))}
    parameters = {name: {"in": "body", "schema": schema} for name, schema in fields.items()}
    body = {"content_type": "application/json", "shape": "fields", "required": True}
    pets = package({"op": operation("POST", parameters=parameters, body=body)})
    texts = {"content": {"text": "Hellö", "was": "base64"}, "body": {"text": "b?>~"}}
    request = pets.build({**texts, "name": "n", "parts": [{"data": {"text": "c"}}]})
    sent = {"content": b64("Hellö"), "body": b64("b?>~"), "name": "n", "parts": [{"data": b64("c")}]}
    assert json.loads(request.content or b"") == sent
    assert pets.refused({"name": {"text": "n"}}).code is Code.INVALID_TYPE
    assert pets.refused({"body": {"text": "n", "path": "/etc/passwd"}}).code is Code.INVALID_TYPE


def test_a_table_stays_a_text(package: Make) -> None:
    for text, kind in (("id,name\r\n007,Ada\r\n", "text/csv"), ("a\tb\n1\t2\n", "text/tab-separated-values")):
        assert read(package, text.encode(), kind) == text
