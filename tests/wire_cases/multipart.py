"""Forms of several parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .case import BAD, INTEGER, MAP, PNG, PNG64, STRING, STRINGS, Case, form_part, posted


def parts() -> list[Case]:
    kind, sent, end = "multipart/form-data", "multipart/form-data; boundary={B}", b"--{B}--\r\n"
    binary = {"type": "string", "format": "binary"}
    schema = {
        "type": "object",
        "properties": {
            "file": binary,
            "files": {"type": "array", "items": binary},
            "a": STRING,
            "n": INTEGER,
            "meta": MAP,
            "list": STRINGS,
        },
    }
    modern = {
        "type": "object",
        "properties": {
            "file": {"contentMediaType": "image/png"},
            "b64": {"type": "string", "contentEncoding": "base64"},
            "any": {},
            "either": {"oneOf": [binary, {"type": "string", "format": "uri"}]},
            "several": {"type": "array", "items": {}},
            "picture": STRING,
            "home": {"type": "object", "properties": {"zipCode": STRING}, "xml": {"name": "house"}},
        },
    }
    octets = "application/octet-stream"

    def form(
        title: str, call: Mapping[str, Any], *parts: bytes, of: Any = schema, form: str = kind, **more: Any
    ) -> Case:
        body = b"".join(parts) + end if parts else b""
        return posted(title, form, of, call, body, sent.replace(kind, form), **more)

    named = {"content": PNG64, "filename": "a.png", "mime_type": "image/png"}
    accepts = {"encoding": {"file": {"contentType": "image/png, image/jpeg"}}}
    return [
        form("a file", {"file": PNG64}, form_part("file", PNG, octets, "file")),
        form("a file with name and type", {"file": named}, form_part("file", PNG, "image/png", "a.png")),
        form(
            "a file with a name",
            {"file": {"content": PNG64, "filename": "b.jpg"}},
            form_part("file", PNG, "image/jpeg", "b.jpg"),
        ),
        form(
            "a name with quotes and folders",
            {"file": {**named, "filename": '../x/a"\r\n.png'}},
            form_part("file", PNG, "image/png", "a%22%0D%0A.png"),
        ),
        form("a type that is none", {"file": {**named, "mime_type": "a/b\r\nX: y"}}, refused=BAD),
        form("bytes that are not base64", {"file": "***"}, refused=BAD),
        form("a path that nobody allowed", {"file": {"path": "/etc/passwd"}}, refused=BAD),
        form(
            "several files",
            {"files": [PNG64, named]},
            form_part("files", PNG, octets, "files"),
            form_part("files", PNG, "image/png", "a.png"),
        ),
        form("text and numbers", {"a": "é", "n": 3}, form_part("a", "é".encode()), form_part("n", b"3")),
        form("an object is JSON", {"meta": {"k": [1]}}, form_part("meta", b'{"k":[1]}', "application/json")),
        form("a list repeats its name", {"list": ["p", "q"]}, form_part("list", b"p"), form_part("list", b"q")),
        form(
            "a list with commas", {"list": ["p", "q"]}, form_part("list", b"p,q"), encoding={"list": {"explode": False}}
        ),
        form(
            "a list as JSON",
            {"list": ["p"]},
            form_part("list", b'["p"]', "application/json"),
            encoding={"list": {"contentType": "application/json"}},
        ),
        form("a content type of the document", {"file": PNG64}, form_part("file", PNG, "image/png", "file"), **accepts),
        form(
            "one of its content types",
            {"file": {"content": PNG64, "filename": "x.jpeg"}},
            form_part("file", PNG, "image/jpeg", "x.jpeg"),
            **accepts,
        ),
        form(
            "a type that the document does not name",
            {"file": {"text": "<script>", "mime_type": "text/html"}},
            form_part("file", b"<script>", "image/png", "file"),
            **accepts,
        ),
        form(
            "another of its content types",
            {"file": {"content": PNG64, "mime_type": "image/jpeg"}},
            form_part("file", PNG, "image/jpeg", "file"),
            **accepts,
        ),
        form(
            "a range of content types",
            {"file": {"content": PNG64, "filename": "x.gif"}},
            form_part("file", PNG, "image/gif", "x.gif"),
            encoding={"file": {"contentType": "image/*"}},
        ),
        form(
            "text of a content type",
            {"a": "<x/>"},
            form_part("a", b"<x/>", "text/xml"),
            encoding={"a": {"contentType": "text/xml"}},
        ),
        form(
            "text of a charset",
            {"a": "ä"},
            form_part("a", b"\xe4", "text/plain; charset=iso-8859-1"),
            encoding={"a": {"contentType": "text/plain; charset=iso-8859-1"}},
        ),
        form(
            "text that a charset lacks",
            {"a": "€"},
            refused=BAD,
            encoding={"a": {"contentType": "text/plain; charset=iso-8859-1"}},
        ),
        form(
            "headers of a part",
            {"a": "x"},
            form_part("a", b"x", more="\r\nX-Kind: note"),
            encoding={"a": {"headers": {"X-Kind": {"schema": {"type": "string", "default": "note"}}}}},
        ),
        form("contentMediaType", {"file": PNG64}, form_part("file", PNG, "image/png", "file"), of=modern),
        form("text in base64", {"b64": PNG64}, form_part("b64", PNG64.encode()), of=modern),
        form("a text where a file may stand", {"either": "https://x"}, form_part("either", b"https://x"), of=modern),
        form(
            "a file where a text may stand",
            {"either": {"content": PNG64, "filename": "a.png"}},
            form_part("either", PNG, "image/png", "a.png"),
            of=modern,
        ),
        form("a schema that is empty", {"any": PNG64}, form_part("any", PNG, octets, "any"), of=modern),
        form("several of them", {"several": [PNG64]}, form_part("several", PNG, octets, "several"), of=modern),
        form(
            "a text whose content type is of bytes",
            {"picture": PNG64},
            form_part("picture", PNG, "image/png", "picture"),
            of=modern,
            encoding={"picture": {"contentType": "image/png"}},
        ),
        form(
            "XML",
            {"home": {"zip_code": "1"}},
            form_part(
                "home",
                b'<?xml version="1.0" encoding="UTF-8"?><house><zipCode>1</zipCode></house>',
                "application/xml; charset=utf-8",
            ),
            of=modern,
            encoding={"home": {"contentType": "application/xml; charset=utf-8"}},
        ),
        form(
            "a deep object",
            {"meta": {"k": "x y", "l": 1}},
            form_part("meta[k]", b"x y"),
            form_part("meta[l]", b"1"),
            encoding={"meta": {"style": "deepObject", "explode": True}},
        ),
        form(
            "an exploded object",
            {"meta": {"k": "é"}},
            form_part("k", "é".encode()),
            encoding={"meta": {"style": "form"}},
        ),
        form(
            "an object with commas",
            {"meta": {"k": "x", "l": 1}},
            form_part("meta", b"k,x,l,1"),
            encoding={"meta": {"explode": False}},
        ),
        form(
            "a list with pipes",
            {"list": ["p", "q r"]},
            form_part("list", b"p|q r"),
            encoding={"list": {"style": "pipeDelimited"}},
        ),
        form(
            "a text as JSON",
            {"a": "x"},
            form_part("a", b'"x"', "application/json"),
            encoding={"a": {"contentType": "application/json"}},
        ),
        form(
            "of an update",
            {"input": {"file": named, "a": "x"}},
            form_part("file", PNG, "image/png", "a.png"),
            form_part("a", b"x"),
            method="PUT",
        ),
        form(
            "a file where a text may stand, of an update",
            {"input": {"either": {"content": PNG64}}},
            form_part("either", PNG, octets, "either"),
            of=modern,
            method="PUT",
        ),
        form(
            "another kind",
            {"meta": {"k": 1}, "file": PNG64},
            form_part("file", PNG, octets, "file"),
            form_part("meta", b'{"k":1}', "application/json"),
            form="multipart/mixed",
        ),
    ]
