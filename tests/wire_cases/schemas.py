"""Values of schemas: nullable, defaults, formats, alternatives; and the choice among media types."""

from __future__ import annotations

from typing import Any

from .answers import fields
from .case import (
    BAD,
    BOOLEAN,
    INTEGER,
    NUMBER,
    PET,
    PNG,
    PNG64,
    STRING,
    STRINGS,
    Case,
    form_part,
    parameter,
    posted,
    ruled,
)

JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
END = b"--{B}--\r\n"


def formats() -> list[Case]:
    """Return texts with a format: they are sent as they are given."""
    rows = [
        ("date", "2026-01-31"), ("date-time", "2026-01-31T12:00:00Z"), ("date-time", "2026-01-31T12:00:00.123+02:00"),
        ("time", "12:00:00Z"), ("duration", "P1DT2H"), ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
        ("uri", "https://example.com/a?b=c"), ("email", "a+b@example.com"), ("ipv6", "2001:db8::1"),
        ("byte", "YWI="), ("password", "p w"), ("decimal", "1.10"), ("int64", "007"),
    ]  # fmt: skip
    return ruled(
        "OpenAPI 3.1.1, 4.4.2 Data Type Format",
        (
            posted(f"format {kind} {value}", JSON, fields(a={"type": "string", "format": kind}), {"a": value},
                   f'{{"a":"{value}"}}'.encode())
            for kind, value in rows
        ),
    )  # fmt: skip


def jsons() -> list[Case]:
    """Return JSON bodies by keywords of their schemas."""
    perhaps = {"type": ["object", "null"], "properties": {"aB": STRING}}
    cat = {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "cat"}, "livesLeft": INTEGER}}
    dog = {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "dog"}, "barkLoud": BOOLEAN}}
    either = {"oneOf": [cat, dog], "discriminator": {"propertyName": "kind"}}
    whole = {"allOf": [fields(aB=STRING), fields(cD=INTEGER)]}
    rows: list[tuple[str, Any, dict[str, Any], bytes]] = [
        ("an object that is null", fields(home=perhaps), {"home": None}, b'{"home":null}'),
        ("an object that may be null and is not", fields(home=perhaps), {"home": {"a_b": "x"}}, b'{"home":{"aB":"x"}}'),
        ("a list of nulls", fields(a={"type": "array", "items": {"type": ["integer", "null"]}}), {"a": [1, None]},
         b'{"a":[1,null]}'),
        ("a default not given", fields(a={"type": "integer", "default": 3}, b=STRING), {"b": "x"}, b'{"b":"x"}'),
        ("a constant", fields(a={"const": "x"}, b=STRING), {"a": "x"}, b'{"a":"x"}'),
        ("an enumeration of numbers", fields(a={"enum": [1, 2]}), {"a": 2}, b'{"a":2}'),
        ("whole numbers in the form of floats", fields(a=INTEGER, b=NUMBER, c={"type": ["integer", "null"]}, d={}),
         {"a": 1.0, "b": 2.0, "c": -3e2, "d": 4.0}, b'{"a":1,"b":2.0,"c":-300,"d":4.0}'),
        ("whole numbers within objects and lists", fields(a=fields(aB=INTEGER), b={"type": "array", "items": INTEGER},
         m={"type": "object", "additionalProperties": INTEGER}, e={"oneOf": [INTEGER, STRING]}),
         {"a": {"a_b": 1.0}, "b": [3.0, 4], "m": {"k": 5.0}, "e": 6.0},
         b'{"a":{"aB":1},"b":[3,4],"m":{"k":5},"e":6}'),
        ("read-only fields that say which items are meant",
         fields(a={"type": "array", "items": fields(idB={**STRING, "readOnly": True}, vB=STRING)}),
         {"a": [{"id_b": "1", "v_b": "x"}, {"idB": "2"}]}, b'{"a":[{"idB":"1","vB":"x"},{"idB":"2"}]}'),
        ("fields of allOf", whole, {"a_b": "x", "c_d": 1}, b'{"aB":"x","cD":1}'),
        ("an alternative of several", fields(pet=either), {"pet": {"kind": "dog", "bark_loud": True}},
         b'{"pet":{"kind":"dog","barkLoud":true}}'),
        ("a list of objects", fields(pets={"type": "array", "items": fields(petName=STRING)}),
         {"pets": [{"pet_name": "a"}, {"pet_name": "b"}]}, b'{"pets":[{"petName":"a"},{"petName":"b"}]}'),
        ("a map of objects", fields(m={"type": "object", "additionalProperties": fields(aB=STRING)}),
         {"m": {"some-Key": {"a_b": "x"}}}, b'{"m":{"some-Key":{"aB":"x"}}}'),
        ("a list of lists", fields(m={"type": "array", "items": STRINGS}), {"m": [["a"], []]}, b'{"m":[["a"],[]]}'),
        ("items by their place", fields(m={"type": "array", "prefixItems": [STRING, INTEGER]}), {"m": ["a", 1]},
         b'{"m":["a",1]}'),
        ("keys by a pattern", fields(m={"type": "object", "patternProperties": {"^x-": STRING}}), {"m": {"x-A": "b"}},
         b'{"m":{"x-A":"b"}}'),
        ("what refers to itself", {"$ref": "#/components/schemas/Node"}, {"name": "a", "child": {"name": "b"}},
         b'{"name":"a","child":{"name":"b"}}'),
        ("text of an encoding", fields(a={"type": "string", "contentEncoding": "base64"}), {"a": PNG64},
         f'{{"a":"{PNG64}"}}'.encode()),
        ("text of a media type", fields(a={"type": "string", "contentMediaType": JSON}), {"a": '{"b": 1}'},
         b'{"a":"{\\"b\\": 1}"}'),
        ("an empty object", fields(a=fields(b=STRING)), {"a": {}}, b'{"a":{}}'),
        ("an empty text", fields(a=STRING), {"a": ""}, b'{"a":""}'),
        ("false and zero", fields(a=BOOLEAN, b=INTEGER), {"a": False, "b": 0}, b'{"a":false,"b":0}'),
        ("quotes and backslashes", fields(a=STRING), {"a": 'x"\\y'}, b'{"a":"x\\"\\\\y"}'),
        ("controls", fields(a=STRING), {"a": "x\n\t\x1f"}, b'{"a":"x\\n\\t\\u001f"}'),
        ("numbers", fields(a=NUMBER, b=NUMBER), {"a": 0.1, "b": -2.5}, b'{"a":0.1,"b":-2.5}'),
        ("a name with a dot", {"type": "object", "properties": {"a.b": STRING}}, {"a_b": "x"}, b'{"a.b":"x"}'),
        ("a name that is a number", {"type": "object", "properties": {"2fa": STRING}}, {"2fa": "x"}, b'{"2fa":"x"}'),
        ("only to write", fields(a={**STRING, "writeOnly": True}, b={**STRING, "readOnly": True}), {"a": "x"},
         b'{"a":"x"}'),
    ]  # fmt: skip
    cases = [posted(title, JSON, schema, call, body) for title, schema, call, body in rows]
    cases.append(posted("an optional body that is not given", JSON, PET, {}, b"", optional=True))
    cases.append(posted("a body of null", JSON, {"type": ["array", "null"], "items": STRING}, {"body": None}, b"null"))
    cases.append(posted("a body of a number", JSON, NUMBER, {"body": 1.5}, b"1.5"))
    cases.append(posted("a body of false", JSON, BOOLEAN, {"body": False}, b"false"))
    return ruled("OpenAPI 3.1.1, 4.8.24 Schema Object; JSON Schema 2020-12", cases)


def choices() -> list[Case]:
    """Return bodies of several media types: the first that is JSON is sent, a range never is."""
    rows = [
        ((JSON, "application/xml"), JSON),
        (("application/xml", JSON), JSON),
        ((FORM, JSON), JSON),
        ((MULTIPART, JSON), JSON),
        (("text/plain", JSON), JSON),
        (("application/vnd.acme+json", "application/xml"), "application/vnd.acme+json"),
        (("application/*",), JSON),
        (("*/*",), JSON),
        (("text/json",), "text/json"),
        (("application/hal+json",), "application/hal+json"),
        (("application/json; version=2",), "application/json; version=2"),
    ]
    cases = [
        Case(f"media types {' '.join(kinds)}", {"pet_name": "x"}, method="POST", headers={"Content-Type": sent},
             content={kind: {"schema": PET} for kind in kinds}, body=b'{"petName":"x"}')
        for kinds, sent in rows
    ]  # fmt: skip
    return ruled("OpenAPI 3.1.1, 4.8.13 Request Body Object", cases)


def forms() -> list[Case]:
    """Return fields of forms by their types."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "n": NUMBER, "flag": BOOLEAN, "list": {"type": "array", "items": INTEGER}, "a[b]": STRING, "é": STRING,
            "rows": {"type": "array", "items": fields(x=INTEGER)}, "day": {"type": "string", "format": "date"},
            "home": fields(zipCode=STRING), "maybe": {"type": ["string", "null"]},
        },
    }  # fmt: skip
    rows: list[tuple[str, dict[str, Any], bytes]] = [
        ("a number", {"n": 1.5}, b"n=1.5"),
        ("false", {"flag": False}, b"flag=false"),
        ("integers", {"list": [1, 2]}, b"list=1&list=2"),
        ("an empty list", {"list": [], "n": 1}, b"n=1"),
        ("a name with brackets", {"a[b]": "x"}, b"a%5Bb%5D=x"),
        ("a name beyond ASCII", {"é": "x"}, b"%C3%A9=x"),
        ("objects in a list", {"rows": [{"x": 1}, {"x": 2}]}, b"rows=%7B%22x%22%3A1%7D&rows=%7B%22x%22%3A2%7D"),
        ("a date", {"day": "2026-01-31"}, b"day=2026-01-31"),
        ("an object", {"home": {"zip_code": "1"}}, b"home=%7B%22zipCode%22%3A%221%22%7D"),
        ("a line feed", {"maybe": "a\r\nb"}, b"maybe=a%0D%0Ab"),
        ("a tilde and an asterisk", {"maybe": "~*"}, b"maybe=~%2A"),
    ]
    cases = [posted(f"field: {title}", FORM, schema, call, body) for title, call, body in rows]
    return ruled("OpenAPI 3.1.1, 4.8.14.5 Encoding the x-www-form-urlencoded Media Type; 4.8.15", cases)


def parts() -> list[Case]:
    """Return parts of forms by their types: the default content types of the Encoding Object."""
    binary = {"type": "string", "format": "binary"}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "flag": BOOLEAN, "n": NUMBER, "day": {"type": "string", "format": "date"}, "home": fields(zipCode=STRING),
            "rows": {"type": "array", "items": fields(x=INTEGER)}, "file": binary, "é": STRING, "note": STRING,
        },
    }  # fmt: skip
    rows: list[tuple[str, dict[str, Any], list[bytes], dict[str, Any]]] = [
        ("a boolean", {"flag": True}, [form_part("flag", b"true")], {}),
        ("a number", {"n": 1.5}, [form_part("n", b"1.5")], {}),
        ("a date", {"day": "2026-01-31"}, [form_part("day", b"2026-01-31")], {}),
        ("an object", {"home": {"zip_code": "1"}}, [form_part("home", b'{"zipCode":"1"}', JSON)], {}),
        ("objects in a list", {"rows": [{"x": 1}, {"x": 2}]},
         [form_part("rows", b'{"x":1}', JSON), form_part("rows", b'{"x":2}', JSON)], {}),
        ("a name beyond ASCII", {"é": "x"}, [form_part("é", b"x")], {}),
        ("line feeds", {"note": "a\r\nb\n"}, [form_part("note", b"a\r\nb\n")], {}),
        ("an empty text", {"note": ""}, [form_part("note", b"")], {}),
        ("an empty file", {"file": ""}, [form_part("file", b"", "application/octet-stream", "file")], {}),
        ("a text of a type with charset", {"note": "é"}, [form_part("note", "é".encode(), "text/csv; charset=utf-8")],
         {"note": {"contentType": "text/csv; charset=utf-8"}}),
        ("a file's name beyond ASCII", {"file": {"content": PNG64, "filename": "é.png"}},
         [form_part("file", PNG, "image/png", "é.png")], {}),
    ]  # fmt: skip
    cases = [
        posted(f"part: {title}", MULTIPART, schema, call, b"".join(pieces) + END, f"{MULTIPART}; boundary={{B}}",
               **({"encoding": encoding} if encoding else {}))
        for title, call, pieces, encoding in rows
    ]  # fmt: skip
    return ruled("OpenAPI 3.1.1, 4.8.15.1 Common Fixed Fields; RFC 7578, 4", cases)


def optionals() -> list[Case]:
    """Return what documents say and requests do not: defaults, examples, deprecation."""
    rows: list[tuple[str, dict[str, Any]]] = [
        ("a default of a query", parameter("a", "query", {"type": "string", "default": "x"})),
        ("a default of a header", parameter("A-B", "header", {"type": "string", "default": "x"})),
        ("a default of a cookie", parameter("a", "cookie", {"type": "string", "default": "x"})),
        ("an example", parameter("a", "query", STRING, example="x")),
        ("one that is deprecated", parameter("a", "query", STRING, deprecated=True)),
        ("a default of a list", parameter("a", "query", {**STRINGS, "default": ["x"]})),
    ]
    cases = [
        Case(f"not sent: {title}", {}, parameters=(item,), headers={"Cookie": None, "A-B": None})
        for title, item in rows
    ]
    cases.append(
        Case("a default that is given is sent", {"a": 3}, "?a=3",
             parameters=(parameter("a", "query", {"type": "integer", "default": 3}),))
    )  # fmt: skip
    return ruled("OpenAPI 3.1.1, 4.8.12.2 Fixed Fields; JSON Schema 2020-12 validation, 9.2", cases)


def earlier() -> list[Case]:
    """Return the cases of OpenAPI 3.0: `nullable`, bounds that are booleans, `format` for bytes."""
    perhaps = {"type": "string", "nullable": True}
    octets = "application/octet-stream"
    bounded = {"type": "integer", "minimum": 0, "exclusiveMinimum": True}
    nothing = {"type": "object", "nullable": True, "allOf": [{"$ref": "#/components/schemas/Node"}]}
    cases = [
        posted("nullable", JSON, fields(aB=perhaps), {"a_b": None}, b'{"aB":null}'),
        posted("a nullable enumeration", JSON, fields(a={**perhaps, "enum": ["x", None]}), {"a": None}, b'{"a":null}'),
        posted("a nullable reference", JSON, fields(a=nothing), {"a": None}, b'{"a":null}'),
        posted("an exclusive minimum", JSON, fields(a=bounded), {"a": 1}, b'{"a":1}'),
        posted("below an exclusive minimum", JSON, fields(a=bounded), {"a": 0}, b"",
               refused=BAD),
        posted("bytes", octets, {"type": "string", "format": "binary"}, {"body": PNG64}, PNG),
        posted("text of bytes", JSON, fields(a={"type": "string", "format": "byte"}), {"a": PNG64},
               f'{{"a":"{PNG64}"}}'.encode()),
        posted("a file", MULTIPART, fields(f={"type": "string", "format": "binary"}), {"f": PNG64},
               form_part("f", PNG, octets, "f") + END, f"{MULTIPART}; boundary={{B}}"),
        posted("a list in a form", FORM, fields(a=STRINGS), {"a": ["x", "y"]}, b"a=x&a=y"),
        Case("an object in a query", {"a": {"x": 1}}, "?x=1", parameters=(parameter("a", "query", fields(x=INTEGER)),)),
        Case("a deep object", {"a": {"x": 1}}, "?a%5Bx%5D=1",
             parameters=(parameter("a", "query", fields(x=INTEGER), style="deepObject", explode=True),)),
        Case("an empty value", {"a": ""}, "?a=", parameters=(parameter("a", "query", STRING, allowEmptyValue=True),)),
    ]  # fmt: skip
    return ruled("OpenAPI 3.0.4, 4.7.24 Schema Object and 4.7.12 Parameter Object", cases)


SCHEMAS = (*formats(), *jsons(), *choices(), *forms(), *parts(), *optionals())
EARLIER = tuple(earlier())
