"""What a request must be, byte for byte: cases written from the OpenAPI documents' own rules.

Each case is an operation of its own at `/c<number>` and one call of it. The rules are those of OpenAPI 3.1.1 (4.8.12,
Style Values and Style Examples; 4.8.15, Encoding Object; 4.8.26, XML Object; appendices C to E), RFC 6570 for what is
undefined, RFC 7578 for parts of forms, and OpenAPI 3.2.0 for `querystring`, style `cookie` and `allowReserved`.
`{B}` in a body stands for the boundary that the content type names.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CASES", "OLD_CASES", "Case", "document", "old_document"]

STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
STRINGS = {"type": "array", "items": STRING}
RGB = {"type": "object", "properties": {"R": INTEGER, "G": INTEGER, "B": INTEGER}}
MAP = {"type": "object", "additionalProperties": True}
COLORS = ["blue", "black", "brown"]
SHADE = {"R": 100, "G": 200, "B": 150}
PNG = b"\x89PNG\r\n--x"
PNG64 = base64.b64encode(PNG).decode()


@dataclass(frozen=True)
class Case:
    """One call and the request that it must make; `refused` is the error's code where nothing may be sent."""

    title: str
    call: Mapping[str, Any]
    target: str = ""
    method: str = "GET"
    path: str = ""
    parameters: tuple[Mapping[str, Any], ...] = ()
    content: Mapping[str, Any] | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: bytes = b""
    refused: str = ""
    shared: tuple[Mapping[str, Any], ...] = ()


def parameter(name: str, place: str, schema: Any, **more: Any) -> dict[str, Any]:
    """Return a Parameter Object."""
    described = {"name": name, "in": place, **more} | ({} if "content" in more else {"schema": schema})
    return described | ({"required": True} if place == "path" else {})


def _of(place: str, style: str, explode: bool | None, schema: Any, value: Any, written: str, **more: Any) -> Case:
    fields = {"style": style} | ({} if explode is None else {"explode": explode}) | more
    kind = "null" if value is None else type(value).__name__
    title = f"{place} {style} explode={explode} {kind} {' '.join(map(str, more))} {written!r}"
    color = parameter("color", place, schema, **fields)
    if place == "path":
        return Case(title, {"color": value}, written, path="/{color}", parameters=(color,))
    if place == "query":
        return Case(title, {"color": value}, written, parameters=(color,))
    header = "Cookie" if place == "cookie" else "color"
    return Case(title, {"color": value}, parameters=(color,), headers={header: written or None})


def _paths() -> list[Case]:
    """Return the styles of a path (the table of 4.8.12.4, and RFC 6570 for what it leaves open)."""
    rows: list[tuple[str, bool | None, Any, Any, str]] = [
        ("simple", False, STRING, "blue", "/blue"),
        ("simple", False, STRINGS, COLORS, "/blue,black,brown"),
        ("simple", True, STRINGS, COLORS, "/blue,black,brown"),
        ("simple", False, RGB, SHADE, "/R,100,G,200,B,150"),
        ("simple", True, RGB, SHADE, "/R=100,G=200,B=150"),
        ("simple", None, RGB, SHADE, "/R,100,G,200,B,150"),
        ("label", False, STRING, "", "/."),
        ("label", False, STRING, "blue", "/.blue"),
        ("label", False, STRINGS, COLORS, "/.blue,black,brown"),
        ("label", True, STRINGS, COLORS, "/.blue.black.brown"),
        ("label", False, RGB, SHADE, "/.R,100,G,200,B,150"),
        ("label", True, RGB, SHADE, "/.R=100.G=200.B=150"),
        ("matrix", False, STRING, "", "/;color"),
        ("matrix", False, STRING, "blue", "/;color=blue"),
        ("matrix", False, STRINGS, COLORS, "/;color=blue,black,brown"),
        ("matrix", True, STRINGS, COLORS, "/;color=blue;color=black;color=brown"),
        ("matrix", False, RGB, SHADE, "/;color=R,100,G,200,B,150"),
        ("matrix", True, RGB, SHADE, "/;R=100;G=200;B=150"),
        ("simple", False, STRINGS, ["a,b", "c/d", "é"], "/a%2Cb,c%2Fd,%C3%A9"),
        ("label", True, STRINGS, ["a.b", "c"], "/.a.b.c"),
        ("matrix", True, STRINGS, ["a;b=c", ""], "/;color=a%3Bb%3Dc;color"),
        ("simple", False, MAP, {"a=b": "c,d"}, "/a%3Db,c%2Cd"),
    ]
    return [case for case in (_of("path", *row) for row in rows) if case.target != "/."]


def _values() -> list[Case]:
    """Return single values: nothing leaves its place, and nothing is written as Python would."""
    values: list[tuple[Any, Any, str]] = [
        (STRING, "a/b", "a%2Fb"),
        (STRING, "a?b=c", "a%3Fb%3Dc"),
        (STRING, "a#b", "a%23b"),
        (STRING, "a b+c", "a%20b%2Bc"),
        (STRING, "100%", "100%25"),
        (STRING, "%2F", "%252F"),
        (STRING, "a&b;c", "a%26b%3Bc"),
        (STRING, "a\r\nb", "a%0D%0Ab"),
        (STRING, "...", "..."),
        (STRING, "日本", "%E6%97%A5%E6%9C%AC"),
        (STRING, "😀", "%F0%9F%98%80"),
        (STRING, "-._~", "-._~"),
        (STRING, "a:b@c", "a%3Ab%40c"),
        (STRING, "True", "True"),
        (STRING, "2026-01-31T12:00:00+02:00", "2026-01-31T12%3A00%3A00%2B02%3A00"),
        (INTEGER, 42, "42"),
        (INTEGER, -1, "-1"),
        (INTEGER, 12345678901234567890123, "12345678901234567890123"),
        (NUMBER, 1.5, "1.5"),
        (NUMBER, 3.0, "3"),
        (BOOLEAN, True, "true"),
        (BOOLEAN, False, "false"),
    ]
    cases = []
    for schema, value, written in values:
        cases.append(_of("path", "simple", None, schema, value, f"/{written}"))
        cases.append(_of("query", "form", None, schema, value, f"?color={written}"))
    return cases


def _refused() -> list[Case]:
    """Return values that would name another resource, or end a header."""
    color = parameter("color", "path", STRING)
    cases = [
        Case(f"path {value!r} is refused", {"color": value}, path="/{color}", parameters=(color,), refused=code)
        for value, code in ((".", BAD), ("..", BAD), ("", BAD), ("../../x", BAD))
    ]
    label = parameter("color", "path", STRING, style="label")
    cases.append(Case("label of nothing", {"color": ""}, path="/{color}", parameters=(label,), refused=BAD))
    for name, value in (("line feed", "a\nb"), ("carriage return", "a\rb"), ("bell", "a\a")):
        header = parameter("X-One", "header", STRING)
        cases.append(Case(f"header with {name}", {"X-One": value}, parameters=(header,), refused=BAD))
    return cases


BAD = "VALIDATION_INVALID_VALUE"


def _queries() -> list[Case]:
    """Return the styles of a query."""
    rows: list[tuple[str, bool | None, Any, Any, str]] = [
        ("form", True, STRING, "", "?color="),
        ("form", True, STRINGS, COLORS, "?color=blue&color=black&color=brown"),
        ("form", None, STRINGS, COLORS, "?color=blue&color=black&color=brown"),
        ("form", False, STRINGS, COLORS, "?color=blue,black,brown"),
        ("form", False, RGB, SHADE, "?color=R,100,G,200,B,150"),
        ("form", True, RGB, SHADE, "?R=100&G=200&B=150"),
        ("spaceDelimited", False, STRINGS, COLORS, "?color=blue%20black%20brown"),
        ("spaceDelimited", None, STRINGS, COLORS, "?color=blue%20black%20brown"),
        ("spaceDelimited", False, RGB, SHADE, "?color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, STRINGS, COLORS, "?color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", None, STRINGS, COLORS, "?color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, RGB, SHADE, "?color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", True, RGB, SHADE, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, MAP, {"a": {"b": 1}}, "?color%5Ba%5D%5Bb%5D=1"),
        ("deepObject", True, MAP, {"a b": True}, "?color%5Ba%20b%5D=true"),
        ("form", True, STRINGS, [], ""),
        ("form", False, STRINGS, [], ""),
        ("form", True, MAP, {}, ""),
        ("deepObject", True, MAP, {}, ""),
        ("form", True, {"type": ["string", "null"]}, None, ""),
        ("form", True, STRINGS, ["a,b", "c&d"], "?color=a%2Cb&color=c%26d"),
        ("form", False, STRINGS, ["a,b", "c&d"], "?color=a%2Cb,c%26d"),
        ("pipeDelimited", False, STRINGS, ["a|b", "c"], "?color=a%7Cb%7Cc"),
        ("form", True, {"type": "array", "items": BOOLEAN}, [True, False], "?color=true&color=false"),
        ("form", False, {"type": "array", "items": NUMBER}, [1.0, 2.5], "?color=1,2.5"),
        ("form", True, MAP, {"a&b": "c=d"}, "?a%26b=c%3Dd"),
    ]
    cases = [_of("query", *row) for row in rows]
    for value, written in (
        ("a/b?c", "a/b?c"),
        ("a&b=c+d[e]", "a%26b=c%2Bd%5Be%5D"),
        ("x,y:z@", "x,y:z@"),
        ("a%2Fb", "a%2Fb"),
        ("#", "%23"),
    ):
        cases.append(_of("query", "form", None, STRING, value, f"?color={written}", allowReserved=True))
    cases.append(_of("query", "form", None, STRING, "", "?color=", allowEmptyValue=True))
    return cases


def _contents() -> list[Case]:
    """Return parameters that are written by a content type (4.8.12.2)."""
    json = {"application/json": {"schema": {}}}
    text = {"text/plain": {"schema": STRING}}
    return [
        Case(
            "query of JSON",
            {"f": {"a": [True, None]}},
            "?f=%7B%22a%22%3A%5Btrue%2Cnull%5D%7D",
            parameters=(parameter("f", "query", None, content=json),),
        ),
        Case("query of JSON text", {"f": "x"}, "?f=%22x%22", parameters=(parameter("f", "query", None, content=json),)),
        Case("query of text", {"f": "a b"}, "?f=a%20b", parameters=(parameter("f", "query", None, content=text),)),
        Case(
            "path of JSON",
            {"f": {"a": 1}},
            "/%7B%22a%22%3A1%7D",
            path="/{f}",
            parameters=(parameter("f", "path", None, content=json),),
        ),
        Case(
            "header of JSON",
            {"X-F": {"a": 1}},
            parameters=(parameter("X-F", "header", None, content=json),),
            headers={"X-F": '{"a":1}'},
        ),
        Case(
            "cookie of JSON",
            {"f": {"a": 1}},
            parameters=(parameter("f", "cookie", None, content=json),),
            headers={"Cookie": "f=%7B%22a%22%3A1%7D"},
        ),
    ]


def _headers() -> list[Case]:
    """Return style simple of a header, which encodes nothing, and the styles of a cookie."""
    rows: list[tuple[str, str, bool | None, Any, Any, str]] = [
        ("header", "simple", None, STRING, "blue", "blue"),
        ("header", "simple", None, STRING, "a b/c?d%e", "a b/c?d%e"),
        ("header", "simple", False, STRINGS, COLORS, "blue,black,brown"),
        ("header", "simple", True, STRINGS, COLORS, "blue,black,brown"),
        ("header", "simple", False, RGB, SHADE, "R,100,G,200,B,150"),
        ("header", "simple", True, RGB, SHADE, "R=100,G=200,B=150"),
        ("header", "simple", None, BOOLEAN, True, "true"),
        ("header", "simple", None, NUMBER, 2.0, "2"),
        ("cookie", "form", None, STRING, "blue", "color=blue"),
        ("cookie", "form", False, STRINGS, COLORS, "color=blue,black,brown"),
        ("cookie", "form", False, RGB, SHADE, "color=R,100,G,200,B,150"),
        ("cookie", "form", None, STRING, "a;b=c d", "color=a%3Bb%3Dc%20d"),
        ("cookie", "form", None, BOOLEAN, False, "color=false"),
        ("header", "simple", None, STRINGS, [], ""),
        ("header", "simple", True, MAP, {}, ""),
        ("header", "simple", None, STRING, "é", "\xc3\xa9"),
        ("header", "simple", None, STRING, "a, b", "a, b"),
    ]
    reserved = _of("cookie", "form", None, STRING, "a/b:c=d;e,f", "color=a/b:c=d%3Be%2Cf", allowReserved=True)
    return [*(_of(*row) for row in rows), reserved]


def _places() -> list[Case]:
    """Return names, templates and levels."""
    ext = (parameter("name", "path", STRING), parameter("ext", "path", STRING))
    same = (parameter("key", "path", STRING), parameter("key", "query", STRING), parameter("key", "header", STRING))
    return [
        Case(
            "two templates in a segment",
            {"name": "a.b", "ext": "c/d"},
            "/a.b.c%2Fd",
            path="/{name}.{ext}",
            parameters=ext,
        ),
        Case("a custom verb", {"name": "x"}, "/x:cancel", path="/{name}:cancel", parameters=ext[:1]),
        Case("a trailing slash", {"name": "x"}, "/x/", path="/{name}/", parameters=ext[:1]),
        Case(
            "a template in parentheses", {"name": "x'y"}, "/items('x%27y')", path="/items('{name}')", parameters=ext[:1]
        ),
        Case("a parameter that is used but not declared", {"other": "1"}, "/1", path="/{other}"),
        Case(
            "one name in three places",
            {"item_key": "p", "key": "q", "header_key": "h"},
            "/items/p?key=q",
            path="/items/{key}",
            parameters=same,
            headers={"key": "h"},
        ),
        Case("a parameter of the path", {"q": "1"}, "?q=1", shared=(parameter("q", "query", STRING),)),
        Case(
            "one overridden by the operation",
            {"q": ["1", "2"]},
            "?q=1,2",
            shared=(parameter("q", "query", STRING),),
            parameters=(parameter("q", "query", STRINGS, explode=False),),
        ),
        Case(
            "names as the API spells them",
            {"page[size]": 5},
            "?page%5Bsize%5D=5",
            parameters=(parameter("page[size]", "query", INTEGER),),
        ),
        Case(
            "a dollar and a dot in a name",
            {"$filter.x": "a eq 1"},
            "?%24filter.x=a%20eq%201",
            parameters=(parameter("$filter.x", "query", STRING),),
        ),
        Case(
            "two names that fold to one",
            {"userId": "1", "user_id": "2"},
            "?userId=1&user_id=2",
            parameters=(parameter("userId", "query", STRING), parameter("user_id", "query", STRING)),
        ),
        Case(
            "a fixed query in the path",
            {"q": "z"},
            "?mode=fast&q=z",
            path="?mode=fast",
            parameters=(parameter("q", "query", STRING),),
        ),
        Case(
            "headers and cookies together",
            {"a": "1", "b": "2", "X-C": "3"},
            parameters=(
                parameter("a", "cookie", STRING),
                parameter("b", "cookie", STRING),
                parameter("X-C", "header", STRING),
            ),
            headers={"Cookie": "a=1; b=2", "X-C": "3"},
        ),
        Case(
            "Accept, Content-Type and Authorization are no parameters",
            {},
            parameters=(parameter("Authorization", "header", STRING),),
            headers={"Authorization": None},
        ),
        Case(
            "required Accept and Content-Type of one value",
            {},
            parameters=(
                parameter(
                    "Accept", "header", {"type": "string", "default": "application/vnd.x+json;version=2"}, required=True
                ),
                parameter("Content-Type", "header", {"type": "string", "enum": ["application/json"]}, required=True),
            ),
            headers={"Accept": "application/vnd.x+json;version=2", "Content-Type": "application/json"},
        ),
        Case(
            "what is not given is not sent",
            {},
            parameters=(parameter("a", "query", {"type": "integer", "default": 3}),),
        ),
    ]


def _body(
    title: str, kind: str, schema: Any, call: Mapping[str, Any], body: bytes, sent: str = "", **more: Any
) -> Case:
    """Return the case of a POST with a body of one content type; `encoding` is that of its Media Type Object."""
    media = {"schema": schema} | ({"encoding": more.pop("encoding")} if "encoding" in more else {})
    headers = {"Content-Type": sent or kind} if body else {}
    return Case(
        f"{kind}: {title}",
        call,
        method=more.pop("method", "POST"),
        content={kind: media},
        headers=headers,
        body=body,
        **more,
    )


PET = {
    "type": "object",
    "properties": {
        "petName": STRING,
        "tags": STRINGS,
        "home": {"type": "object", "properties": {"zipCode": STRING, "zip_code": STRING}},
        "extra": {"type": ["string", "null"]},
    },
}


def _jsons() -> list[Case]:
    big = 12345678901234567890123
    patch = {"type": "array", "items": {"type": "object", "properties": {"op": STRING, "path": STRING, "value": {}}}}
    return [
        _body(
            "fields", "application/json", PET, {"pet_name": "Réx", "tags": []}, '{"petName":"Réx","tags":[]}'.encode()
        ),
        _body("null is kept", "application/json", PET, {"extra": None}, b'{"extra":null}'),
        _body(
            "nested names that fold to one",
            "application/json",
            PET,
            {"home": {"zipCode": "1", "zip_code": "2"}},
            b'{"home":{"zipCode":"1","zip_code":"2"}}',
        ),
        _body("a list", "application/json", STRINGS, {"body": ["a", "b"]}, b'["a","b"]'),
        _body("a text", "application/json", STRING, {"body": "x"}, b'"x"'),
        _body(
            "a big number",
            "application/json",
            {"type": "object", "properties": {"n": INTEGER}},
            {"n": big},
            f'{{"n":{big}}}'.encode(),
        ),
        _body(
            "true is no 1",
            "application/json",
            {"type": "object", "properties": {"n": {}, "m": {}}},
            {"n": True, "m": 1.5},
            b'{"n":true,"m":1.5}',
        ),
        _body("a suffix", "application/vnd.api+json", PET, {"pet_name": "x"}, b'{"petName":"x"}'),
        _body("parameters of the type", "application/json; charset=utf-8", PET, {"pet_name": "x"}, b'{"petName":"x"}'),
        _body(
            "a merge patch",
            "application/merge-patch+json",
            PET,
            {"input": {"extra": None}},
            b'{"extra":null}',
            method="PATCH",
        ),
        _body(
            "a JSON Patch",
            "application/json-patch+json",
            patch,
            {"input": [{"op": "add", "path": "/a", "value": {"b": 1}}]},
            b'[{"op":"add","path":"/a","value":{"b":1}}]',
            method="PATCH",
        ),
        _body("a body of DELETE", "application/json", PET, {"tags": ["a"]}, b'{"tags":["a"]}', method="DELETE"),
        _body("a body of GET", "application/json", PET, {"tags": ["a"]}, b'{"tags":["a"]}', method="GET"),
        _body(
            "further fields",
            "application/json",
            {**PET, "additionalProperties": INTEGER},
            {"additional_properties": {"some-Key": 1}},
            b'{"some-Key":1}',
        ),
        _body(
            "lines",
            "application/vnd.acme.v1+ndjson",
            {"type": "object", "properties": {"aB": INTEGER}},
            {"body": [{"a_b": 1}]},
            b'{"aB":1}\n',
        ),
        _body(
            "lines",
            "application/x-ndjson",
            {"type": "array", "items": PET},
            {"body": [{"petName": "a"}, {"petName": "é"}]},
            '{"petName":"a"}\n{"petName":"é"}\n'.encode(),
        ),
        _body("lines of a schema of one", "application/jsonl", PET, {"body": [{"petName": "a"}]}, b'{"petName":"a"}\n'),
        _body(
            "a sequence",
            "application/json-seq",
            {"type": "array", "items": {}},
            {"body": [1, {"a": 2}]},
            b'\x1e1\n\x1e{"a":2}\n',
        ),
    ]


def _forms() -> list[Case]:
    form = "application/x-www-form-urlencoded"
    schema = {
        "type": "object",
        "properties": {"a": STRING, "list": STRINGS, "deep": MAP, "n": NUMBER, "b": BOOLEAN, "a b": STRING},
    }
    deep = {"type": "object", "properties": {"deep": MAP, "list": {"type": "array", "items": MAP}}}
    return [
        _body("text", form, schema, {"a": "x y&z=é+"}, b"a=x+y%26z%3D%C3%A9%2B"),
        _body("a repeated list", form, schema, {"list": ["p", "q r"]}, b"list=p&list=q+r"),
        _body("an object as JSON", form, schema, {"deep": {"k": [1]}}, b"deep=%7B%22k%22%3A%5B1%5D%7D"),
        _body("numbers and booleans", form, schema, {"n": 2.0, "b": True}, b"n=2&b=true"),
        _body("a name with a blank", form, schema, {"a_b": "x"}, b"a+b=x"),
        _body("an empty text", form, schema, {"a": ""}, b"a="),
        _body(
            "a list with commas",
            form,
            schema,
            {"list": ["p", "q,r"]},
            b"list=p,q%2Cr",
            encoding={"list": {"style": "form", "explode": False}},
        ),
        _body(
            "a list with blanks between",
            form,
            schema,
            {"list": ["p", "q"]},
            b"list=p%20q",
            encoding={"list": {"style": "spaceDelimited"}},
        ),
        _body(
            "a list with pipes",
            form,
            schema,
            {"list": ["p", "q"]},
            b"list=p%7Cq",
            encoding={"list": {"style": "pipeDelimited", "explode": False}},
        ),
        _body(
            "a deep object",
            form,
            deep,
            {"deep": {"x": {"y": 1}, "z": "é"}},
            b"deep%5Bx%5D%5By%5D=1&deep%5Bz%5D=%C3%A9",
            encoding={"deep": {"style": "deepObject", "explode": True}},
        ),
        _body(
            "an exploded object",
            form,
            deep,
            {"deep": {"x": 1, "y": 2}},
            b"x=1&y=2",
            encoding={"deep": {"style": "form", "explode": True}},
        ),
        _body(
            "a text as JSON",
            form,
            schema,
            {"a": "f81d4fae"},
            b"a=%22f81d4fae%22",
            encoding={"a": {"contentType": "application/json"}},
        ),
        _body(
            "a text that is JSON already",
            form,
            schema,
            {"a": '{"k": 1}'},
            b"a=%7B%22k%22%3A+1%7D",
            encoding={"a": {"contentType": "application/json"}},
        ),
        _body("reserved characters", form, schema, {"a": "x/y?z"}, b"a=x/y?z", encoding={"a": {"allowReserved": True}}),
        _body(
            "a list as JSON",
            form,
            schema,
            {"list": ["p"]},
            b"list=%5B%22p%22%5D",
            encoding={"list": {"contentType": "application/json"}},
        ),
        _body(
            "of an update",
            form,
            schema,
            {"input": {"list": ["p", "q"], "a": "x"}},
            b"list=p,q&a=x",
            method="PATCH",
            encoding={"list": {"explode": False}},
        ),
    ]


def _part(name: str, content: bytes, kind: str = "", filename: str = "", more: str = "") -> bytes:
    head = f'--{{B}}\r\nContent-Disposition: form-data; name="{name}"'
    head += f'; filename="{filename}"' if filename else ""
    head += f"\r\nContent-Type: {kind}" if kind else ""
    return head.encode() + more.encode() + b"\r\n\r\n" + content + b"\r\n"


def _parts() -> list[Case]:
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
        return _body(title, form, of, call, body, sent.replace(kind, form), **more)

    named = {"content": PNG64, "filename": "a.png", "mime_type": "image/png"}
    accepts = {"encoding": {"file": {"contentType": "image/png, image/jpeg"}}}
    return [
        form("a file", {"file": PNG64}, _part("file", PNG, octets, "file")),
        form("a file with name and type", {"file": named}, _part("file", PNG, "image/png", "a.png")),
        form(
            "a file with a name",
            {"file": {"content": PNG64, "filename": "b.jpg"}},
            _part("file", PNG, "image/jpeg", "b.jpg"),
        ),
        form(
            "a name with quotes and folders",
            {"file": {**named, "filename": '../x/a"\r\n.png'}},
            _part("file", PNG, "image/png", "a%22%0D%0A.png"),
        ),
        form("a type that is none", {"file": {**named, "mime_type": "a/b\r\nX: y"}}, refused=BAD),
        form("bytes that are not base64", {"file": "***"}, refused=BAD),
        form("a path that nobody allowed", {"file": {"path": "/etc/passwd"}}, refused=BAD),
        form(
            "several files",
            {"files": [PNG64, named]},
            _part("files", PNG, octets, "files"),
            _part("files", PNG, "image/png", "a.png"),
        ),
        form("text and numbers", {"a": "é", "n": 3}, _part("a", "é".encode()), _part("n", b"3")),
        form("an object is JSON", {"meta": {"k": [1]}}, _part("meta", b'{"k":[1]}', "application/json")),
        form("a list repeats its name", {"list": ["p", "q"]}, _part("list", b"p"), _part("list", b"q")),
        form("a list with commas", {"list": ["p", "q"]}, _part("list", b"p,q"), encoding={"list": {"explode": False}}),
        form(
            "a list as JSON",
            {"list": ["p"]},
            _part("list", b'["p"]', "application/json"),
            encoding={"list": {"contentType": "application/json"}},
        ),
        form("a content type of the document", {"file": PNG64}, _part("file", PNG, "image/png", "file"), **accepts),
        form(
            "one of its content types",
            {"file": {"content": PNG64, "filename": "x.jpeg"}},
            _part("file", PNG, "image/jpeg", "x.jpeg"),
            **accepts,
        ),
        form(
            "a range of content types",
            {"file": {"content": PNG64, "filename": "x.gif"}},
            _part("file", PNG, "image/gif", "x.gif"),
            encoding={"file": {"contentType": "image/*"}},
        ),
        form(
            "text of a content type",
            {"a": "<x/>"},
            _part("a", b"<x/>", "text/xml"),
            encoding={"a": {"contentType": "text/xml"}},
        ),
        form(
            "headers of a part",
            {"a": "x"},
            _part("a", b"x", more="\r\nX-Kind: note"),
            encoding={"a": {"headers": {"X-Kind": {"schema": {"type": "string", "default": "note"}}}}},
        ),
        form("contentMediaType", {"file": PNG64}, _part("file", PNG, "image/png", "file"), of=modern),
        form("text in base64", {"b64": PNG64}, _part("b64", PNG64.encode()), of=modern),
        form("a text where a file may stand", {"either": "https://x"}, _part("either", b"https://x"), of=modern),
        form(
            "a file where a text may stand",
            {"either": {"content": PNG64, "filename": "a.png"}},
            _part("either", PNG, "image/png", "a.png"),
            of=modern,
        ),
        form("a schema that is empty", {"any": PNG64}, _part("any", PNG, octets, "any"), of=modern),
        form("several of them", {"several": [PNG64]}, _part("several", PNG, octets, "several"), of=modern),
        form(
            "a text whose content type is of bytes",
            {"picture": PNG64},
            _part("picture", PNG, "image/png", "picture"),
            of=modern,
            encoding={"picture": {"contentType": "image/png"}},
        ),
        form(
            "XML",
            {"home": {"zip_code": "1"}},
            _part(
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
            _part("meta[k]", b"x y"),
            _part("meta[l]", b"1"),
            encoding={"meta": {"style": "deepObject", "explode": True}},
        ),
        form(
            "an exploded object",
            {"meta": {"k": "é"}},
            _part("k", "é".encode()),
            encoding={"meta": {"style": "form"}},
        ),
        form(
            "an object with commas",
            {"meta": {"k": "x", "l": 1}},
            _part("meta", b"k,x,l,1"),
            encoding={"meta": {"explode": False}},
        ),
        form(
            "a list with pipes",
            {"list": ["p", "q r"]},
            _part("list", b"p|q r"),
            encoding={"list": {"style": "pipeDelimited"}},
        ),
        form(
            "a text as JSON",
            {"a": "x"},
            _part("a", b'"x"', "application/json"),
            encoding={"a": {"contentType": "application/json"}},
        ),
        form(
            "of an update",
            {"input": {"file": named, "a": "x"}},
            _part("file", PNG, "image/png", "a.png"),
            _part("a", b"x"),
            method="PUT",
        ),
        form(
            "a file where a text may stand, of an update",
            {"input": {"either": {"content": PNG64}}},
            _part("either", PNG, octets, "either"),
            of=modern,
            method="PUT",
        ),
        form(
            "another kind",
            {"meta": {"k": 1}, "file": PNG64},
            _part("file", PNG, octets, "file"),
            _part("meta", b'{"k":1}', "application/json"),
            form="multipart/mixed",
        ),
    ]


def _texts() -> list[Case]:
    return [
        _body("bytes", "application/octet-stream", {"type": "string", "format": "binary"}, {"body": PNG64}, PNG),
        _body("a picture", "image/png", {}, {"body": {"content": PNG64}}, PNG),
        _body("of any kind", "image/*", {}, {"body": {"content": PNG64, "mime_type": "image/png"}}, PNG, "image/png"),
        _body("text", "text/plain", STRING, {"body": "a\r\nb"}, b"a\r\nb"),
        _body("text beyond ASCII", "text/plain", STRING, {"body": "é"}, "é".encode(), "text/plain; charset=utf-8"),
        _body("text in another charset", "text/plain; charset=iso-8859-1", STRING, {"body": "é"}, b"\xe9"),
        _body("text that a charset lacks", "text/plain; charset=iso-8859-1", STRING, {"body": "日"}, b"", refused=BAD),
        _body("CSV", "text/csv", STRING, {"body": "a,b\n"}, b"a,b\n"),
        _body("XML as text", "application/xml", {}, {"body": "<a/>"}, b"<a/>"),
        _body("bytes", "*/*", {"type": "string", "format": "binary"}, {"body": PNG64}, PNG, "application/octet-stream"),
        Case(
            "a form with a file is no text",
            {"file": PNG64},
            method="POST",
            content=dict.fromkeys(("application/x-www-form-urlencoded", "multipart/form-data"), FILE_FORM),
            headers={"Content-Type": "multipart/form-data; boundary={B}"},
            body=_part("file", PNG, "application/octet-stream", "file") + b"--{B}--\r\n",
        ),
    ]


FILE_FORM = {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}


def _xml(title: str, schema: Any, call: Mapping[str, Any], inner: str) -> Case:
    written = f'<?xml version="1.0" encoding="UTF-8"?>{inner}'
    return _body(title, "application/xml", {"xml": {"name": "pet"}, **schema}, call, written.encode())


def _xmls() -> list[Case]:
    """Return the examples of 4.8.26.2."""

    def of(**properties: Any) -> dict[str, Any]:
        return {"type": "object", "properties": properties}

    wrapped = {"wrapped": True}
    item = {"type": "string", "xml": {"name": "animal"}}
    attributed = of(
        id={"type": "integer", "xml": {"attribute": True}},
        name={"type": "string", "xml": {"namespace": "https://example.com/schema/sample", "prefix": "sample"}},
    )
    recursive = of(name=STRING, child={"$ref": "#/components/schemas/Node"})
    return [
        _xml("a text", of(animals=STRING), {"animals": 'a<b>&"c'}, '<pet><animals>a&lt;b&gt;&amp;"c</animals></pet>'),
        _xml("another name", of(animals=item), {"animals": "x"}, "<pet><animal>x</animal></pet>"),
        _xml(
            "attribute, prefix and namespace",
            attributed,
            {"id": 123, "name": "é"},
            '<pet id="123"><sample:name xmlns:sample="https://example.com/schema/sample">é</sample:name></pet>',
        ),
        _xml(
            "a list",
            of(animals=STRINGS),
            {"animals": ["a", "b"]},
            "<pet><animals>a</animals><animals>b</animals></pet>",
        ),
        _xml(
            "a list whose items are named",
            of(animals={"type": "array", "items": item}),
            {"animals": ["a", "b"]},
            "<pet><animal>a</animal><animal>b</animal></pet>",
        ),
        _xml(
            "a named list whose items are named",
            of(animals={"type": "array", "items": item, "xml": {"name": "aliens"}}),
            {"animals": ["a"]},
            "<pet><animal>a</animal></pet>",
        ),
        _xml(
            "a wrapped list",
            of(animals={**STRINGS, "xml": wrapped}),
            {"animals": ["a", "b"]},
            "<pet><animals><animals>a</animals><animals>b</animals></animals></pet>",
        ),
        _xml(
            "a wrapped list whose items are named",
            of(animals={"type": "array", "items": item, "xml": wrapped}),
            {"animals": ["a"]},
            "<pet><animals><animal>a</animal></animals></pet>",
        ),
        _xml(
            "a wrapped, named list whose items are named",
            of(animals={"type": "array", "items": item, "xml": {"name": "aliens", **wrapped}}),
            {"animals": ["a"]},
            "<pet><aliens><animal>a</animal></aliens></pet>",
        ),
        _xml(
            "a wrapped, named list",
            of(animals={**STRINGS, "xml": {"name": "aliens", **wrapped}}),
            {"animals": ["a", "b"]},
            "<pet><aliens><aliens>a</aliens><aliens>b</aliens></aliens></pet>",
        ),
        _xml(
            "an object",
            of(home=of(zipCode=STRING)),
            {"home": {"zip_code": "1"}},
            "<pet><home><zipCode>1</zipCode></home></pet>",
        ),
        _xml(
            "what refers to itself",
            recursive,
            {"name": "a", "child": {"name": "b", "child": {"name": "c"}}},
            "<pet><name>a</name><child><name>b</name><child><name>c</name></child></child></pet>",
        ),
        _xml(
            "numbers and booleans", of(n=NUMBER, b=BOOLEAN), {"n": 1.0, "b": False}, "<pet><n>1</n><b>false</b></pet>"
        ),
        _body(
            "a wrapped list alone",
            "application/xml",
            {"type": "array", "items": item, "xml": {"name": "animals", **wrapped}},
            {"body": ["a", "b"]},
            b'<?xml version="1.0" encoding="UTF-8"?><animals><animal>a</animal><animal>b</animal></animals>',
        ),
        _xml(
            "a list with an element of its own (3.2)",
            of(animals={"type": "array", "items": item, "xml": {"nodeType": "element"}}),
            {"animals": ["a"]},
            "<pet><animals><animal>a</animal></animals></pet>",
        ),
        _body(
            "named after its component",
            "application/xml",
            {"$ref": "#/components/schemas/Node"},
            {"name": "a"},
            b'<?xml version="1.0" encoding="UTF-8"?><Node><name>a</name></Node>',
        ),
        _body(
            "of an update",
            "text/xml",
            {"$ref": "#/components/schemas/Node"},
            {"input": {"name": "a"}},
            b'<?xml version="1.0" encoding="UTF-8"?><Node><name>a</name></Node>',
            method="PUT",
        ),
    ]


def _newer() -> list[Case]:
    """Return the cases of OpenAPI 3.2."""
    form: dict[str, Any] = {"application/x-www-form-urlencoded": {"schema": MAP}}
    json: dict[str, Any] = {"application/json": {"schema": {}}}
    return [
        Case(
            "querystring of a form",
            {"q": {"a b": "c&d", "e": [1, 2]}},
            "?a+b=c%26d&e=1&e=2",
            parameters=(parameter("q", "querystring", None, content=form),),
        ),
        Case(
            "querystring of a form whose fields have styles",
            {"q": {"e": [1, 2], "f": {"g": 1}}},
            "?e=1,2&f%5Bg%5D=1",
            parameters=(
                parameter(
                    "q",
                    "querystring",
                    None,
                    content={
                        "application/x-www-form-urlencoded": {
                            "schema": MAP,
                            "encoding": {"e": {"style": "form", "explode": False}, "f": {"style": "deepObject"}},
                        }
                    },
                ),
            ),
        ),
        Case(
            "querystring of JSON",
            {"q": {"a": [1]}},
            "?%7B%22a%22%3A%5B1%5D%7D",
            parameters=(parameter("q", "querystring", None, content=json),),
        ),
        _of("cookie", "cookie", True, STRINGS, ["a", "b"], "color=a; color=b"),
        _of("cookie", "cookie", True, STRING, "a%20b", "color=a%20b"),
        Case(
            "style cookie takes nothing that ends it",
            {"c": "a;b"},
            parameters=(parameter("c", "cookie", STRING, style="cookie"),),
            refused=BAD,
        ),
        _of("path", "simple", None, STRING, "a:b,c/d", "/a:b,c%2Fd", allowReserved=True),
    ]


def _older() -> list[Case]:
    """Return the cases of Swagger 2.0: collectionFormat, and forms."""
    texts: dict[str, Any] = {"type": "array", "items": STRING}

    def of(place: str, form: str | None, written: str, **more: Any) -> Case:
        fields = {} if form is None else {"collectionFormat": form}
        color = {"name": "color", "in": place, **texts, **fields, **({"required": True} if place == "path" else {})}
        call = {"color": ["a b", "c"]}
        if place == "header":
            return Case(f"{place} {form}", call, parameters=(color,), headers={"color": written})
        if place == "formData":
            body, note = written.encode(), {"name": "note", "in": "formData", "type": "string"}
            return Case(f"{place} {form}", call, method="POST", parameters=(color, note), body=body, **more)
        path = "/{color}" if place == "path" else ""
        return Case(f"{place} {form}", call, written, path=path, parameters=(color,))

    file = {"name": "file", "in": "formData", "type": "file"}
    octets = "application/octet-stream"
    return [
        of("query", None, "?color=a%20b,c"),
        of("query", "csv", "?color=a%20b,c"),
        of("query", "ssv", "?color=a%20b%20c"),
        of("query", "tsv", "?color=a%20b%09c"),
        of("query", "pipes", "?color=a%20b%7Cc"),
        of("query", "multi", "?color=a%20b&color=c"),
        of("path", None, "/a%20b,c"),
        of("path", "ssv", "/a%20b%20c"),
        of("path", "tsv", "/a%20b%09c"),
        of("path", "pipes", "/a%20b%7Cc"),
        of("header", None, "a b,c"),
        of("header", "ssv", "a b c"),
        of("header", "tsv", "a b\tc"),
        of("header", "pipes", "a b|c"),
        of("formData", None, "color=a%20b,c", headers={"Content-Type": "application/x-www-form-urlencoded"}),
        of("formData", "tsv", "color=a%20b%09c"),
        of("formData", "pipes", "color=a%20b%7Cc"),
        of("formData", "multi", "color=a+b&color=c"),
        Case(
            "a file and a list with commas",
            {"file": PNG64, "tags": ["a", "b"]},
            method="POST",
            parameters=(file, {"name": "tags", "in": "formData", **texts}),
            headers={"Content-Type": "multipart/form-data; boundary={B}"},
            body=_part("file", PNG, octets, "file") + _part("tags", b"a,b") + b"--{B}--\r\n",
        ),
    ]


MODERN = _newer()
CASES: tuple[Case, ...] = (
    *_paths(), *_values(), *_refused(), *_queries(), *_contents(), *_headers(), *_places(), *_jsons(), *_forms(),
    *_parts(), *_texts(), *_xmls(), *MODERN,
)  # fmt: skip
"""Every case; its number is its place."""
OLD_CASES: tuple[Case, ...] = tuple(_older())
"""Those of Swagger 2.0."""


def old_document(*, server: str = "wire.example.com") -> dict[str, Any]:
    """Return the Swagger 2.0 document of `OLD_CASES`."""
    paths = {
        f"/c{number}{case.path}": {
            case.method.lower(): {
                "operationId": f"case{number}",
                "summary": case.title,
                "parameters": list(case.parameters),
                "responses": {"200": {"description": "OK"}},
            }
        }
        for number, case in enumerate(OLD_CASES)
    }
    info = {"title": "Old wire", "version": "1"}
    return {"swagger": "2.0", "info": info, "host": server, "schemes": ["https"], "paths": paths}


def document(cases: tuple[Case, ...] = CASES, *, server: str = "https://wire.example.com") -> dict[str, Any]:
    """Return the OpenAPI document of cases; those of `MODERN` need 3.2, which means the same for all of the others."""
    paths: dict[str, Any] = {}
    for number, case in enumerate(cases):
        operation: dict[str, Any] = {
            "operationId": f"case{number}",
            "summary": case.title,
            "parameters": list(case.parameters),
            "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {}}}}},
        }
        if case.content is not None:
            operation["requestBody"] = {"required": True, "content": case.content}
        path = f"/c{number}{case.path}"
        paths[path] = {case.method.lower(): operation} | ({"parameters": list(case.shared)} if case.shared else {})
    node = {"type": "object", "properties": {"name": STRING, "child": {"$ref": "#/components/schemas/Node"}}}
    return {
        "openapi": "3.2.0",
        "info": {"title": "Wire", "version": "1"},
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": {"Node": node}},
    }
