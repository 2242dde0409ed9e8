"""Media types have one meaning each, for the generator and for the runtime (RFC 6838, RFC 6839)."""

from __future__ import annotations

from aqlgen.runtime.wire import admits_json, is_json, is_json_lines, is_multipart, is_text, is_xml, stream_form
from tests.cases import each


@each(
    ("content_type", "kinds"),
    [
        ("application/json", {is_json, admits_json}),
        ("Application/JSON; charset=utf-8", {is_json, admits_json}),
        ("text/json", {is_json, admits_json}),
        ("application/vnd.acme.v2+json", {is_json, admits_json}),
        ("application/*+json", {is_json, admits_json}),
        ("*/*", {admits_json}),
        ("application/*", {admits_json}),
        ("application/x-ndjson", {is_json_lines, is_text}),
        ("application/vnd.acme.v1+ndjson", {is_json_lines, is_text}),
        ("application/x-ldjson", {is_json_lines, is_text}),
        ("application/stream+json", {is_json_lines, is_text}),
        ("application/geo+json-seq", {is_json_lines, is_text}),
        ("text/event-stream", {is_text}),
        ("Text/XML;q=1", {is_xml, is_text}),
        ("image/svg+xml", {is_xml, is_text}),
        ("application/yaml", {is_text}),
        ("application/openapi+yaml", {is_text}),
        ("multipart/mixed; boundary=json", {is_multipart}),
        ("application/octet-stream", set()),
        ("application/jsonpath", set()),
        ("image/*", set()),
        ("", set()),
    ],
)
def test_a_content_type_is_of_these_kinds_alone(content_type: str, kinds: set[object]) -> None:
    assert {
        kind for kind in (is_json, admits_json, is_json_lines, is_text, is_xml, is_multipart) if kind(content_type)
    } == kinds


@each(
    ("content_type", "form"),
    [
        ("text/event-stream; charset=utf-8", "events"),
        ("application/json-lines", "lines"),
        ("application/json-seq", "sequence"),
        ("application/json", None),
    ],
)
def test_a_stream_has_a_form(content_type: str, form: str | None) -> None:
    assert stream_form(content_type) == form
