"""Answers: their media type, their charset, their status, and what of them an agent gets."""

from __future__ import annotations

import base64
from typing import Any

from .case import BOOLEAN, INTEGER, NUMBER, PNG, PNG64, STRING, STRINGS, Answer, ruled

JSON, TEXT = "application/json", "text/plain"
PET = {
    "type": "object",
    "properties": {"petName": STRING, "homeTown": {"type": "object", "properties": {"zipCode": STRING}}},
}
WIRED, DATA = b'{"petName":"R"}', {"pet_name": "R"}


def fields(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object."""
    return {"type": "object", "properties": properties}


def jsons() -> list[Answer]:
    """Return JSON texts and the data in them."""
    rows: list[tuple[str, bytes, Any]] = [
        ("an object", b'{"a":1}', {"a": 1}),
        ("a list", b"[1,2]", [1, 2]),
        ("a text", b'"x"', "x"),
        ("a number", b"1.5", 1.5),
        ("true", b"true", True),
        ("false", b"false", False),
        ("null", b"null", None),
        ("zero", b"0", 0),
        ("an empty object", b"{}", {}),
        ("an empty list", b"[]", []),
        ("an empty text", b'""', ""),
        ("blanks around", b' \r\n\t{"a" : 1 }\n', {"a": 1}),
        ("an integer past 2^53", b'{"a":9007199254740993}', {"a": 9007199254740993}),
        ("an integer past 2^64", b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        ("an exponent", b'{"a":1e3}', {"a": 1000.0}),
        ("escapes", b'{"a":"\\u00e9\\n\\"\\/"}', {"a": 'é\n"/'}),
        ("a pair of surrogates", b'{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        ("UTF-8", '{"a":"é日"}'.encode(), {"a": "é日"}),
        ("names beyond ASCII", '{"é":1}'.encode(), {"é": 1}),
        ("null in a field", b'{"a":null}', {"a": None}),
        ("an empty name", b'{"":1}', {"": 1}),
        ("names twice", b'{"a":1,"a":2}', {"a": 2}),
        ("depth", b"[" * 50 + b"]" * 50, _nested(50)),
    ]
    return ruled("RFC 8259, 2 to 8", (Answer(f"JSON: {title}", content, data) for title, content, data in rows))


def _nested(levels: int) -> Any:
    data: list[Any] = []
    for _ in range(levels - 1):
        data = [data]
    return data


def charsets() -> list[Answer]:
    """Return JSON and text in encodings other than UTF-8, and with a mark of their order."""
    json = '{"a":"é"}'
    rows: list[tuple[str, bytes, str, Any]] = [
        ("a mark before UTF-8", b"\xef\xbb\xbf" + json.encode(), JSON, {"a": "é"}),
        ("UTF-16", json.encode("utf-16"), JSON, {"a": "é"}),
        ("UTF-16 in the header", json.encode("utf-16-le"), "application/json; charset=utf-16le", {"a": "é"}),
        ("UTF-32", json.encode("utf-32"), JSON, {"a": "é"}),
        ("Latin 1 in the header", json.encode("latin-1"), "application/json; charset=iso-8859-1", {"a": "é"}),
        ("UTF-8 in quotes", json.encode(), 'application/json; charset="utf-8"', {"a": "é"}),
        ("UTF-8 in capitals", json.encode(), "Application/JSON; Charset=UTF-8", {"a": "é"}),
        ("a charset that is none", json.encode(), "application/json; charset=none", {"a": "é"}),
    ]
    answers = [Answer(f"charset: {title}", content, data, kind) for title, content, kind, data in rows]
    texts: list[tuple[str, bytes, str, str]] = [
        ("UTF-8 by default", "é".encode(), TEXT, "é"),
        ("Latin 1", b"\xe9", "text/plain; charset=iso-8859-1", "é"),
        ("Windows 1252", b"\x80", "text/plain; charset=windows-1252", "€"),
        ("Shift JIS", "日本".encode("shift_jis"), "text/plain; charset=Shift_JIS", "日本"),
        ("UTF-16 with a mark", "é".encode("utf-16"), "text/plain; charset=utf-16", "é"),
        ("a mark before UTF-8", b"\xef\xbb\xbfx", TEXT, "x"),
        ("line feeds", b"a\r\nb\n", TEXT, "a\r\nb\n"),
        ("HTML that names its own", b'<meta charset="iso-8859-1">\xe9', "text/html", '<meta charset="iso-8859-1">é'),
        ("Markdown", b"# a", "text/markdown", "# a"),
        ("YAML", b"a: 1\n", "application/yaml", "a: 1\n"),
        ("JavaScript", b"a()", "application/javascript", "a()"),
    ]
    answers += [
        Answer(f"text: {title}", content, data, kind, STRING, kind.partition(";")[0])
        for title, content, kind, data in texts
    ]
    return ruled("RFC 8259, 8.1; RFC 9110, 8.3.2 Charset; RFC 6657", answers)


def types() -> list[Answer]:
    """Return JSON under other names, and under none."""
    kinds = [
        "application/vnd.acme.v2+json", "application/hal+json", "application/problem+json", "text/json",
        "application/json;odata.metadata=minimal", "application/geo+json; charset=utf-8", "application/ld+json",
        "APPLICATION/JSON",
    ]  # fmt: skip
    answers = [Answer(f"JSON as {kind}", WIRED, DATA, kind, PET) for kind in kinds]
    answers += [Answer(f"JSON declared as {kind}", WIRED, DATA, kind, PET, kind) for kind in kinds[:4]]
    answers += [
        Answer("JSON without a type", WIRED, DATA, None, PET),
        Answer("JSON as text where JSON is declared", WIRED, DATA, TEXT, PET),
        Answer("JSON as bytes where JSON is declared", WIRED, DATA, "application/octet-stream", PET),
        Answer("JSON as HTML where JSON is declared", WIRED, DATA, "text/html", PET),
        Answer("JSON for a range", WIRED, DATA, JSON, PET, "*/*"),
        Answer("JSON for a range of applications", WIRED, DATA, JSON, PET, "application/*"),
        Answer("JSON declared with parameters", WIRED, DATA, JSON, PET, "application/json; charset=utf-8"),
        Answer("JSON where nothing is declared", WIRED, {"petName": "R"}, JSON, declared=None),
        Answer("text where nothing is declared", b"x", "x", TEXT, declared=None),
    ]
    return ruled("OpenAPI 3.1.1, 4.8.14 Media Type Object; RFC 6839, 3.1", answers)


def statuses() -> list[Answer]:
    """Return statuses: the exact one comes before its range, and the range before the default."""
    named = {"description": "d", "content": {JSON: {"schema": PET}}}
    other = {"description": "d", "content": {JSON: {"schema": {"type": "object"}}}}
    as_sent = {"petName": "R"}
    rows: list[tuple[str, int, dict[str, Any], Any]] = [
        ("the exact one before its range", 200, {"200": named, "2XX": other}, DATA),
        ("the exact one before the default", 200, {"200": named, "default": other}, DATA),
        ("the range before the default", 203, {"2XX": named, "default": other}, DATA),
        ("the range for what is not exact", 203, {"200": other, "2XX": named}, DATA),
        ("the default", 200, {"404": other, "default": named}, DATA),
        ("another exact one", 201, {"200": other, "201": named}, DATA),
        ("the first success for one that is not declared", 200, {"201": named}, DATA),
        ("a range with a small x", 203, {"2xx": named, "200": other}, DATA),
        ("a schema without fields", 200, {"200": other, "201": named}, as_sent),
    ]
    answers = [
        Answer(f"status: {title}", WIRED, data, status=status, responses=responses)
        for title, status, responses, data in rows
    ]
    answers += [
        Answer("status: 204", b"", None, None, status=204, key="204", declared=None),
        Answer("status: 205", b"", None, None, status=205, key="205", declared=None),
        Answer("status: 200 without content", b"", None, JSON),
        Answer("status: 206", WIRED, DATA, schema=PET, status=206, key="206"),
        Answer("status: 207", WIRED, DATA, schema=PET, status=207, key="207"),
        Answer("status: 202 with data", WIRED, DATA, schema=PET, status=202, key="202"),
    ]
    return ruled("OpenAPI 3.1.1, 4.8.16 Responses Object", answers)


def places() -> list[Answer]:
    """Return where a result is, and headers that the document declares."""
    place = "https://wire.example.com/pets/7"
    answers = [
        Answer("201 without content", b"", {"location": place}, None, status=201, key="201", declared=None,
               headers={"Location": place}),
        Answer("303 after a POST", b"", {"location": place}, None, status=303, key="303", declared=None, method="POST",
               headers={"Location": place}),
        Answer("302 after a POST", b"", {"location": place}, None, status=302, key="302", declared=None, method="POST",
               headers={"Location": place}),
        Answer("a header", WIRED, DATA, schema=PET, headers={"X-Total-Count": "42"}, shown={"X-Total-Count": "42"}),
        Answer("a header in other letters", WIRED, DATA, schema=PET, headers={"x-total-COUNT": "42"},
               shown={"X-Total-Count": "42"}),
        Answer("two headers", WIRED, DATA, schema=PET, headers={"X-A": "1", "X-B": "a, b"},
               shown={"X-A": "1", "X-B": "a, b"}),
    ]  # fmt: skip
    return ruled("OpenAPI 3.1.1, 4.8.17 Response Object and 4.8.21 Header Object; RFC 9110, 10.2.2", answers)


def names() -> list[Answer]:
    """Return names of fields, which the schema maps and which it does not."""
    node = {"$ref": "#/components/schemas/Node"}
    either = {"oneOf": [fields(catName=STRING), fields(dogName=STRING)]}
    perhaps = {"type": ["object", "null"], "properties": {"zipCode": STRING}}
    rows: list[tuple[str, Any, bytes, Any]] = [
        ("a field", PET, WIRED, DATA),
        ("a field within", PET, b'{"homeTown":{"zipCode":"1"}}', {"home_town": {"zip_code": "1"}}),
        ("a field that is not declared", PET, b'{"petName":"R","otherName":1}', {"pet_name": "R", "otherName": 1}),
        ("a list of objects", {"type": "array", "items": PET}, b'[{"petName":"R"}]', [DATA]),
        ("a map of objects", {"type": "object", "additionalProperties": PET}, b'{"some-Key":{"petName":"R"}}',
         {"some-Key": DATA}),
        ("of allOf", {"allOf": [PET, fields(otherName=STRING)]}, b'{"petName":"R","otherName":"S"}',
         {"pet_name": "R", "other_name": "S"}),
        ("of an alternative", either, b'{"dogName":"R"}', {"dog_name": "R"}),
        ("of an object that is null", fields(a=perhaps), b'{"a":null}', {"a": None}),
        ("of an object that may be null", fields(a=perhaps), b'{"a":{"zipCode":"1"}}', {"a": {"zip_code": "1"}}),
        ("of what refers to itself", node, b'{"name":"a","child":{"name":"b"}}', {"name": "a", "child": {"name": "b"}}),
        ("a list that is empty", {"type": "array", "items": PET}, b"[]", []),
        ("a value of another type", PET, b'{"petName":7}', {"pet_name": 7}),
        ("a list where an object is declared", PET, b'[1]', [1]),
        ("to write only", fields(aB={**STRING, "writeOnly": True}), b'{"aB":"x"}', {"a_b": "x"}),
    ]  # fmt: skip
    answers = (Answer(f"name: {title}", content, data, schema=schema) for title, schema, content, data in rows)
    return ruled("OpenAPI 3.1.1, 4.8.24 Schema Object", answers)


def streams() -> list[Answer]:
    """Return contents that are several values."""
    events = "text/event-stream"
    rows: list[tuple[str, str, bytes, Any]] = [
        ("lines", "application/x-ndjson", b'{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        ("lines without an end", "application/jsonl", b'{"a":1}\n{"a":2}', [{"a": 1}, {"a": 2}]),
        ("lines with CRLF", "application/x-ndjson", b'{"a":1}\r\n{"a":2}\r\n', [{"a": 1}, {"a": 2}]),
        ("lines with an empty one", "application/x-ndjson", b'{"a":1}\n\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        ("lines of other values", "application/jsonl", b'1\n"x"\nnull\n', [1, "x", None]),
        ("one line", "application/x-ndjson", b'{"a":1}\n', [{"a": 1}]),
        ("no line", "application/x-ndjson", b"\n", []),
        ("a sequence", "application/json-seq", b'\x1e{"a":1}\n\x1e2\n', [{"a": 1}, 2]),
        ("a sequence of a suffix", "application/geo+json-seq", b'\x1e{"a":1}\n', [{"a": 1}]),
        ("a sequence over lines", "application/json-seq", b'\x1e{"a":\n1}\n', [{"a": 1}]),
        ("an event", events, b'data: {"a":1}\n\n', [{"data": {"a": 1}}]),
        ("an event of text", events, b"data: x y\n\n", [{"data": "x y"}]),
        ("an event with its name", events, b"event: e\nid: 7\ndata: x\n\n", [{"event": "e", "id": "7", "data": "x"}]),
        ("an event over lines", events, b"data: a\ndata: b\n\n", [{"data": "a\nb"}]),
        ("an event without a blank", events, b"data:x\n\n", [{"data": "x"}]),
        ("comments", events, b": hello\n\ndata: x\n\n", [{"data": "x"}]),
        ("events with CRLF", events, b"data: x\r\n\r\ndata: y\r\n\r\n", [{"data": "x"}, {"data": "y"}]),
        ("events with CR", events, b"data: x\r\rdata: y\r\r", [{"data": "x"}, {"data": "y"}]),
        ("events after a mark", events, b"\xef\xbb\xbfdata: x\n\n", [{"data": "x"}]),
    ]
    answers = [Answer(f"stream: {title}", content, data, kind, {}, kind) for title, kind, content, data in rows]
    named = Answer("stream: lines by the schema of one", b'{"petName":"R"}\n', [DATA], "application/jsonl", PET,
                   "application/jsonl")  # fmt: skip
    return ruled("OpenAPI 3.2.0, 4.14.3 Sequential Media Types; RFC 7464; WHATWG HTML, 9.2", [*answers, named])


def octets() -> list[Answer]:
    """Return bytes, forms and parts."""
    raw = {"content": PNG64, "encoding": "base64"}
    kind = "application/octet-stream"
    form = "application/x-www-form-urlencoded"
    mixed = "multipart/mixed; boundary=b"
    parts = (
        b'--b\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n'
    )
    answers = [
        Answer("bytes", PNG, {**raw, "mime_type": kind}, kind, {}, kind),
        Answer("a picture", PNG, {**raw, "mime_type": "image/png"}, "image/png", {}, "image/png"),
        Answer("a picture of a range", PNG, {**raw, "mime_type": "image/png"}, "image/png", {}, "image/*"),
        Answer("bytes with a name", PNG, {**raw, "mime_type": kind, "filename": "a.bin"}, kind, {}, kind,
               headers={"Content-Disposition": 'attachment; filename="a.bin"'}, rule="RFC 6266, 4.3"),
        Answer("bytes with a name beyond ASCII", PNG, {**raw, "mime_type": kind, "filename": "é.bin"}, kind, {}, kind,
               headers={"Content-Disposition": "attachment; filename=e.bin; filename*=UTF-8''%C3%A9.bin"},
               rule="RFC 6266, 4.3; RFC 8187, 3.2"),
        Answer("a form", b"a=x+y&b=%C3%A9&a=z", {"a": ["x y", "z"], "b": "é"}, form, {}, form,
               rule="WHATWG URL, 5.1"),
        Answer("text in base64 within JSON", f'{{"a":"{base64.b64encode(b"x").decode()}"}}'.encode(),
               {"a": {"text": "x", "was": "base64"}}, schema=fields(a={"type": "string", "contentEncoding": "base64"})),
        Answer("bytes in base64 within JSON", b'{"a":"/wA="}', {"a": "/wA="},
               schema=fields(a={"type": "string", "contentEncoding": "base64"})),
    ]  # fmt: skip
    read = [{"content_type": JSON, "data": {"a": 1}}, {"content_type": TEXT, "data": "x"}]
    multipart = Answer("parts", parts, read, mixed, {}, "multipart/mixed", rule="RFC 2046, 5.1")
    return ruled("OpenAPI 3.1.1, 4.8.14.4 Considerations for File Uploads", [*answers, multipart])


def xmls() -> list[Answer]:
    """Return XML by the XML Object of its schema (OpenAPI 3.1.1, 4.8.26)."""
    item = {"type": "string", "xml": {"name": "animal"}}
    wrapped = {"wrapped": True}
    listed: dict[str, Any] = {"type": "array", "items": item}
    owner = fields(ownerName=STRING)
    rows: list[tuple[str, Any, str, Any]] = [
        ("a text", fields(petName=STRING), "<pet><petName>R</petName></pet>", DATA),
        ("a number", fields(n=INTEGER, m=NUMBER), "<p><n>7</n><m>1.5</m></p>", {"n": 7, "m": 1.5}),
        ("no number of JSON", fields(n=NUMBER, m=NUMBER), "<p><n>NaN</n><m>INF</m></p>", {"n": "NaN", "m": "INF"}),
        ("a boolean", fields(a=BOOLEAN, b=BOOLEAN), "<p><a>true</a><b>0</b></p>", {"a": True, "b": False}),
        ("a number that is text", fields(n=STRING), "<p><n>007</n></p>", {"n": "007"}),
        ("an attribute", fields(id={**INTEGER, "xml": {"attribute": True}}), '<p id="7"/>', {"id": 7}),
        ("another name", fields(a={**STRING, "xml": {"name": "b"}}), "<p><b>x</b></p>", {"a": "x"}),
        ("a prefix", fields(a={**STRING, "xml": {"prefix": "s", "namespace": "urn:s"}}),
         '<p xmlns:s="urn:s"><s:a>x</s:a></p>', {"a": "x"}),
        ("a namespace of its own", fields(a=STRING), '<p xmlns="urn:p"><a>x</a></p>', {"a": "x"}),
        ("a list", fields(a=STRINGS), "<p><a>x</a><a>y</a></p>", {"a": ["x", "y"]}),
        ("a list of one", fields(a=STRINGS), "<p><a>x</a></p>", {"a": ["x"]}),
        ("a list whose items are named", fields(animals=listed), "<p><animal>x</animal><animal>y</animal></p>",
         {"animals": ["x", "y"]}),
        ("a wrapped list", fields(a={**STRINGS, "xml": wrapped}), "<p><a><a>x</a><a>y</a></a></p>", {"a": ["x", "y"]}),
        ("a wrapped list whose items are named", fields(animals={**listed, "xml": wrapped}),
         "<p><animals><animal>x</animal></animals></p>", {"animals": ["x"]}),
        ("a wrapped, named list", fields(animals={**listed, "xml": {"name": "all", **wrapped}}),
         "<p><all><animal>x</animal></all></p>", {"animals": ["x"]}),
        ("a wrapped list that is empty", fields(animals={**listed, "xml": wrapped}), "<p><animals/></p>",
         {"animals": []}),
        ("an object", fields(owner=owner), "<p><owner><ownerName>x</ownerName></owner></p>",
         {"owner": {"owner_name": "x"}}),
        ("a list of objects", fields(owners={"type": "array", "items": owner}),
         "<p><owners><ownerName>x</ownerName></owners><owners><ownerName>y</ownerName></owners></p>",
         {"owners": [{"owner_name": "x"}, {"owner_name": "y"}]}),
        ("what refers to itself", {"$ref": "#/components/schemas/Node"},
         "<Node><name>a</name><child><name>b</name></child></Node>", {"name": "a", "child": {"name": "b"}}),
        ("entities", fields(a=STRING), "<p><a>&lt;&amp;&gt;&quot;&#233;&#xe9;</a></p>", {"a": '<&>"éé'}),
        ("CDATA", fields(a=STRING), "<p><a><![CDATA[<b>]]></a></p>", {"a": "<b>"}),
        ("comments", fields(a=STRING), "<!-- c --><p><!-- c --><a>x</a></p>", {"a": "x"}),
        ("a declaration", fields(a=STRING), '<?xml version="1.0" encoding="UTF-8"?>\n<p><a>é</a></p>', {"a": "é"}),
        ("what is not declared", fields(a=STRING), "<p><a>x</a><b>y</b></p>", {"a": "x", "b": "y"}),
        ("nil", fields(a={"type": ["string", "null"]}),
         '<p xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><a xsi:nil="true"/></p>', {"a": None}),
    ]  # fmt: skip
    kind = "application/xml"
    answers = [Answer(f"XML: {title}", text.encode(), data, kind, schema, kind) for title, schema, text, data in rows]
    answers += [
        Answer("XML: text/xml", b"<p><a>x</a></p>", {"a": "x"}, "text/xml", fields(a=STRING), "text/xml"),
        Answer("XML: a suffix", b"<p><a>x</a></p>", {"a": "x"}, "application/atom+xml", fields(a=STRING),
               "application/atom+xml"),
        Answer("XML: where JSON is declared", b"<p><a>x</a></p>", {"a": "x"}, kind, fields(a=STRING)),
    ]  # fmt: skip
    return ruled("OpenAPI 3.1.1, 4.8.26 XML Object", answers)


def failures() -> list[Answer]:
    """Return statuses that are no success, with problem details as their content."""
    kind = "application/problem+json"
    problem = b'{"type":"about:blank","title":"No","status":0,"detail":"Because"}'
    rows = [
        (401, "PERMISSION_DENIED"), (403, "PERMISSION_DENIED"), (404, "NOT_FOUND_RESOURCE"),
        (429, "RATE_LIMIT_EXCEEDED"), (500, "INTERNAL_ERROR"), (502, "INTERNAL_ERROR"), (503, "INTERNAL_ERROR"),
    ]  # fmt: skip
    return ruled(
        "RFC 9457, 3; structured error codes of MCP-AQL, 6",
        (
            Answer(f"failure {status} as {key}", problem, None, kind, {}, kind, status, key, refused=refusal)
            for status, refusal in rows
            for key in (str(status), "default")
        ),
    )  # fmt: skip


ANSWERS: tuple[Answer, ...] = (
    *jsons(), *charsets(), *types(), *statuses(), *places(), *names(), *streams(), *octets(), *xmls(), *failures(),
)  # fmt: skip
"""Every answer; its number is its place."""
