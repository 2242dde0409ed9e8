"""Parameters that would frame, route or turn a request into another: the adapter keeps that to itself (R-TRUST-7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from aqlgen.runtime.encode import is_framing
from aqlgen.runtime.encode.styles import query_pairs
from aqlgen.runtime.encode.uploads import File
from aqlgen.runtime.errors import Code, Failure
from tests.cases import each
from tests.generator.commands import Tabulation, api, tabulate
from tests.runtime.api.hand_made import STRING, make_package, operation

FRAMING = [
    *("Host", "host", "HOST", "Content-Length", "content-length", "Content_Length", "Transfer-Encoding"),
    *("transfer-encoding", "Connection", "TE", "Trailer", "Upgrade", "Expect", "Keep-Alive", "Proxy"),
    *("Proxy-Authorization", "Proxy-Connection", "PROXY-ANYTHING", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host"),
    *("X_Forwarded_For", "x-forwarded-proto", "X-Forwarded-Prefix", "X-Forwarded-New", "Via", "Max-Forwards"),
    *("X-Original-URL", "X-Rewrite-URL", "X-Original-Host", "X-Host", "X-Real-IP", "True-Client-IP", "Client-IP"),
    *("CF-Connecting-IP", "X-Client-IP", "X-Originating-IP", "X-Envoy-Original-Path", "Sec-Fetch-Site"),
    *("Sec-WebSocket-Key", "HTTP2-Settings", "Content-Encoding", "X-HTTP-Method-Override", "x-http-method-override"),
    *("X-HTTP-Method", "X-Method-Override", "X_HTTP_METHOD_OVERRIDE"),
]
ORDINARY = [
    "Origin",
    "Referer",
    "Range",
    "If-Match",
    "If-Range",
    "X-Request-ID",
    "Hosting",
    "X-Original-Filename",
    "Vary",
]
OVERRIDES = [
    "_method",
    "_METHOD",
    "X-HTTP-Method-Override",
    "x-http-method",
    "$httpMethod",
    "$httpHeaders",
    "_method[]",
]


def codes(table: Tabulation) -> list[str]:
    return [warning["code"] for warning in table.warnings]


def generated(folder: Path, *parameters: Mapping[str, Any], body: Any = None, **more: Any) -> Tabulation:
    documented: dict[str, Any] = {"operationId": "addPet", "parameters": list(parameters)}
    documented["responses"] = {"200": {"description": "OK"}}
    if body is not None:
        documented["requestBody"] = body
    return tabulate(folder, api({"/pets": {"post": documented}}, **more))


def the_row(table: Tabulation) -> dict[str, Any]:
    (row,) = table.rows.values()
    return dict(row)


@each("name", FRAMING)
def test_no_header_that_frames_or_routes_is_a_parameter(tmp_path: Path, name: str) -> None:
    header = {"name": name, "in": "header", "required": True, "schema": {"type": "string", "default": "x"}}
    table = generated(tmp_path, header, {"name": "X-Fine", "in": "header", "schema": STRING})
    row = the_row(table)
    wires = [field.get("name", key) for key, field in row["parameters"].items()]
    assert "X-Fine" in wires
    assert f'"{name}"' not in json.dumps(row)
    assert codes(table) == ["framing-parameter"]


@pytest.mark.parametrize("name", ORDINARY)
def test_other_headers_stay_parameters(tmp_path: Path, name: str) -> None:
    table = generated(tmp_path, {"name": name, "in": "header", "schema": STRING})
    assert name in json.dumps(the_row(table)["parameters"])
    assert codes(table) == []


@pytest.mark.parametrize(
    "name", [" Host", "Host ", "Host:", "X\r\nHost", "X-A\nB", "Ho\0st", "Hóst", "X Y", "\tHost", ""]
)
def test_a_header_whose_name_http_does_not_know_is_no_parameter(tmp_path: Path, name: str) -> None:
    table = generated(tmp_path, {"name": name, "in": "header", "schema": STRING})
    assert "header" not in json.dumps(the_row(table)["parameters"])
    assert codes(table)


@pytest.mark.parametrize("place", ["query", "cookie"])
@pytest.mark.parametrize("name", OVERRIDES)
def test_no_parameter_puts_another_method_in_place(tmp_path: Path, name: str, place: str) -> None:
    schema = {"type": "string", "enum": ["DELETE"], "default": "DELETE"}
    table = generated(tmp_path, {"name": name, "in": place, "required": True, "schema": schema})
    row = the_row(table)
    assert (row["method"], codes(table)) == ("POST", ["framing-parameter"])
    assert name not in json.dumps(row)
    assert "DELETE" not in json.dumps(row)


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data", "application/json"])
@pytest.mark.parametrize("form", ["plain", "reference", "allOf", "oneOf in allOf"])
def test_no_field_of_a_body_puts_another_method_in_place(tmp_path: Path, kind: str, form: str) -> None:
    fields = {"_method": {"type": "string", "default": "DELETE"}, "name": STRING}
    schema: dict[str, Any] = {"type": "object", "required": ["_method", "name"], "properties": fields}
    reference = {"$ref": "#/components/schemas/Pet"}
    shapes = {
        "plain": schema,
        "reference": reference,
        "allOf": {"allOf": [reference, {"type": "object", "properties": {"age": STRING}}]},
        "oneOf in allOf": {"allOf": [{"oneOf": [reference, {"type": "object", "properties": {"age": STRING}}]}]},
    }
    body = {"content": {kind: {"schema": shapes[form]}}}
    table = generated(tmp_path, body=body, components={"schemas": {"Pet": schema}})
    assert codes(table) == ["framing-parameter"]
    assert "_method" not in json.dumps(the_row(table))
    assert "name" in json.dumps([the_row(table), table.types])


def test_a_schema_that_holds_itself_ends(tmp_path: Path) -> None:
    pet = {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"type": "object", "properties": {"_method": STRING}}]}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
    table = generated(tmp_path, body=body, components={"schemas": {"Pet": pet}})
    assert "framing-parameter" in codes(table)


@pytest.mark.parametrize(
    "name", ["Host", "X-Forwarded-For", "Transfer-Encoding", "content-length", "X-HTTP-Method-Override"]
)
def test_no_credential_is_sent_in_a_header_that_frames(tmp_path: Path, name: str) -> None:
    scheme = {"type": "apiKey", "in": "header", "name": name}
    table = generated(tmp_path, components={"securitySchemes": {"k": scheme}}, security=[{"k": []}])
    assert "framing-parameter" in codes(table)
    assert "k" not in json.dumps(the_row(table).get("security", []))


def test_no_credential_is_sent_as_a_method(tmp_path: Path) -> None:
    scheme = {"type": "apiKey", "in": "query", "name": "_method"}
    table = generated(tmp_path, components={"securitySchemes": {"k": scheme}}, security=[{"k": []}])
    assert "framing-parameter" in codes(table)


PART_HEADERS = ["Content-Length", "Transfer-Encoding", "Content-Disposition", "Content-Transfer-Encoding", "Host"]


@pytest.mark.parametrize("name", PART_HEADERS)
def test_no_part_of_a_form_has_a_header_that_frames(tmp_path: Path, name: str) -> None:
    header = {"schema": {"type": "string", "const": "999"}}
    encoding = {"a": {"headers": {name: header, "X-Fine": {"schema": {"type": "string", "const": "yes"}}}}}
    schema = {"type": "object", "properties": {"a": STRING}}
    body = {"content": {"multipart/form-data": {"schema": schema, "encoding": encoding}}}
    row = json.dumps(the_row(generated(tmp_path, body=body)))
    assert name not in row
    assert "X-Fine" in row


@pytest.mark.parametrize("name", PART_HEADERS)
def test_the_runtime_writes_no_such_header_of_a_part(tmp_path: Path, name: str) -> None:
    field = {"in": "body", "schema": STRING, "headers": {name: "999", "X-Fine": "yes"}}
    content = _sent_body(tmp_path, {"a": field}, {"a": "1"}, "multipart/form-data")
    assert b"X-Fine: yes" in content
    assert b"999" not in content


def _sent_body(folder: Path, parameters: Any, params: Any, kind: str) -> bytes:
    body = {"content_type": kind, "shape": "fields", "schema": {}}
    package = make_package(folder, {"op": operation("POST", parameters=parameters, body=body)})
    return package.build(params).content or b""


@each("name", [*FRAMING[::3], "X-A\r\nHost", "X A", "X:A", "Ünicode", "X\0"])
@each("place", ["parameter", "constant", "credential"])
def test_the_runtime_refuses_a_table_that_names_such_a_header(tmp_path: Path, name: str, place: str) -> None:
    parameters = {"h": {"in": "header", "name": name, "schema": STRING}} if place == "parameter" else {}
    headers = {name: "x"} if place == "constant" else {}
    scheme = {"k": {"type": "apiKey", "in": "header", "name": name, "variables": ["P_KEY"]}}
    about = {"security": [["k"]], "security_schemes": scheme} if place == "credential" else {}
    row = operation(parameters=parameters, headers=headers)
    package = make_package(tmp_path, {"op": row}, adapter=about, environ={"P_KEY": "k-123456789"})
    failure = package.refused({"h": "x"} if place == "parameter" else {})
    assert failure.code is Code.INTERNAL_ERROR


@pytest.mark.parametrize("location", ["query", "body"])
@pytest.mark.parametrize("name", ["_method", "X-HTTP-Method-Override"])
def test_the_runtime_refuses_a_table_that_names_a_method(tmp_path: Path, name: str, location: str) -> None:
    body = {"content_type": "application/x-www-form-urlencoded", "shape": "fields", "schema": {}}
    row = operation("POST", parameters={"m": {"in": location, "name": name, "schema": STRING}}, body=body)
    assert "another method" in make_package(tmp_path, {"op": row}).refused({"m": "DELETE"}).message


FREE = {"type": "object", "additionalProperties": True}


PHP = [".method", "[method", "_method[]", "_Method[a]", "_HttpMethod"]
"""Names that PHP reads as `_method`, and one of Salesforce."""


@each("key", ["_method", "_METHOD", " _method", "X-HTTP-Method-Override", *PHP])
@each(
    "parameter",
    [
        {"in": "query", "schema": FREE},
        {"in": "query", "schema": FREE, "style": "deepObject", "explode": True},
        {"in": "querystring", "schema": FREE, "content_type": "application/x-www-form-urlencoded"},
        {"in": "body_rest", "schema": FREE},
    ],
)
def test_no_free_field_puts_another_method_in_place(tmp_path: Path, parameter: Any, key: str) -> None:
    body = {"content_type": "application/x-www-form-urlencoded", "shape": "fields", "schema": FREE}
    row = operation("POST", parameters={"o": parameter}, body=body)
    failure = make_package(tmp_path, {"op": row}).refused({"o": {key: "DELETE", "a": "1"}})
    assert failure.code is Code.INVALID_VALUE


INJECTIONS = ["a\r\nX: y", "a\nb", "a\rb", "a\0b", "\r\n\r\nGET / HTTP/1.1", "a\x0bb", "a\x7fb", "\x1b[31m"]


@each("value", INJECTIONS)
@each("schema", [STRING, {"type": "array", "items": STRING}, FREE])
def test_no_value_ends_a_header(tmp_path: Path, value: str, schema: Any) -> None:
    row = operation(parameters={"h": {"in": "header", "name": "X-H", "schema": schema}})
    argument = value if schema is STRING else [value] if "items" in schema else {value: value}
    assert make_package(tmp_path, {"op": row}).refused({"h": argument}).code is Code.INVALID_VALUE


@each("value", [*INJECTIONS, "a; b=c", "a\u010ab", "a\u2028b", "é"])
@each("style", ["form", "cookie"])
def test_no_value_ends_a_cookie(tmp_path: Path, value: str, style: str) -> None:
    row = operation(parameters={"c": {"in": "cookie", "schema": STRING, "style": style}})
    package = make_package(tmp_path, {"op": row})
    try:
        cookie = dict(package.build({"c": value}).headers)["Cookie"]
    except Failure as failure:
        assert failure.code is Code.INVALID_VALUE  # noqa: PT017
        return
    assert cookie.isascii()
    assert cookie.isprintable()
    assert ";" not in cookie
    assert unquote(cookie) == f"c={value}"


@each("value", [*INJECTIONS, 'a"; filename="b', "a\\", "a\u2028b"])
@each("place", ["name of a field", "name of a file"])
def test_no_name_ends_the_head_of_a_part(value: str, place: str) -> None:
    from aqlgen.runtime.encode.body import encode_multipart

    def read(name: str, _: Any, __: str) -> File:
        return File(b"x", value)

    values = {value: "text"} if place == "name of a field" else {"a": {"content": "eA=="}}
    table = {} if place == "name of a field" else {"a": _file_field()}
    try:
        _, content = encode_multipart("multipart/form-data", values, table, read)
    except Failure as failure:
        assert failure.code is Code.INVALID_VALUE  # noqa: PT017
        assert "\0" in value
        return
    head = content.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert all(line.startswith((b"--", b"Content-Disposition: form-data; ", b"Content-Type: ")) for line in head)
    assert head[1].count(b'"') in (2, 4)
    assert not set(b"\r\n\0") & set(b"".join(head))


def _file_field() -> Any:
    from aqlgen.runtime.table import Parameter

    return Parameter(name="a", wire="a", schema={"contentEncoding": "base64"})


@each("value", ["a&b=c", "a#b", "a\r\nb", "a b", "a?b", "a&_method=DELETE", "a\0", "é&", "a%26b"])
@each("allow_reserved", [False, True])
def test_no_value_leaves_its_pair_of_a_query(value: str, allow_reserved: bool) -> None:
    (pair,) = query_pairs("q", value, allow_reserved=allow_reserved)
    assert pair.startswith("q=")
    assert pair.isascii()
    assert not set("&#\r\n \0") & set(pair)


LEADING_AWAY = [
    *("", ".", "..", "%2e", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..;", "..;x", "..;a=b", ".;x", ";x", ";", "..%3b"),
    *("..%2f", "..%2fadmin", "../admin", "../../admin", "a/../b", "a/..", "./a", "..\\", "..\\admin", "a\\..\\b"),
    *("..%5cadmin", "%2e%2e%2fadmin", "%252e%252e%252fadmin", "..;/admin", "..;x/admin", "a/..;/b", "/", "//", "/../x"),
    *(
        "．．",
        "．．/x",
        "．",
        "‥",
        "..／x",
        "..＼x",
        "%ef%bc%8e%ef%bc%8e",
        " ",
        " ..",
        ".. ",
        "..\t",
        ".\t.",
        ".\n.",
        "..\0",
    ),
    *("a\0b", "%00", "a%00.json", "%2500", "..\x7f", "%25252e%25252e", "\u00a0", "\u3000..", "／", "＼"),
]
STAYING = [
    "a/b",
    "a;b",
    "a?b",
    "a#b",
    "a%2Fb",
    "...",
    "a..b",
    "..a",
    "v1.2",
    "a\\b",
    "é",
    "a:b",
    "a&b",
    "%41",
    "100%",
    "~",
]


def built(folder: Path, value: Any, **parameter: Any) -> str:
    field = {"in": "path", "required": True, "schema": {}, **parameter}
    package = make_package(folder, {"op": operation(path="/pets/{id}/toys", parameters={"id": field})})
    return package.build({"id": value}).url.removeprefix("https://api.example.com")


@each("allow_reserved", [False, True])
@each("value", LEADING_AWAY)
def test_no_value_leads_out_of_its_place_in_a_path(tmp_path: Path, value: str, allow_reserved: bool) -> None:
    with pytest.raises(Failure) as caught:
        built(tmp_path, value, allow_reserved=allow_reserved)
    assert caught.value.code is Code.INVALID_VALUE


@each("allow_reserved", [False, True])
@each("value", STAYING)
def test_other_values_stay_within_one_segment(tmp_path: Path, value: str, allow_reserved: bool) -> None:
    path = built(tmp_path, value, allow_reserved=allow_reserved)
    assert path.count("/") == 4
    assert path.startswith("/v1/pets/")
    assert path.endswith("/toys")
    assert not set("?#\\ ") & set(path)
    assert unquote(path.split("/")[3]) in (value, unquote(value))


@each(
    ("style", "value"),
    [
        ("label", "."),
        ("label", "./x"),
        ("label", ["", ""]),
        ("label", "/.."),
        ("matrix", "/../x"),
        ("matrix", "a/..;/b"),
        ("simple", ["..;", ""]),
        ("simple", {"..": ""}),
        ("simple", {"a/..": "/.."}),
        ("matrix", {"/../x": "1"}),
    ],
)
@each("explode", [False, True])
def test_no_style_leads_out_of_a_path(tmp_path: Path, style: str, value: Any, explode: bool) -> None:
    try:
        path = built(tmp_path, value, style=style, explode=explode)
    except Failure as failure:
        assert failure.code is Code.INVALID_VALUE  # noqa: PT017
        return
    steps = [step.partition(";")[0] for step in unquote(path).split("/")]
    assert not {".", ".."} & set(steps)
    assert path.count("/") == 4


@pytest.mark.parametrize(
    ("style", "value", "text"), [("matrix", "5", ";id=5"), ("label", "5", ".5"), ("label", "5.json", ".5.json")]
)
def test_styles_write_what_they_did(tmp_path: Path, style: str, value: str, text: str) -> None:
    assert built(tmp_path, value, style=style) == f"/v1/pets/{text}/toys"


@pytest.mark.parametrize(
    ("place", "style", "explode", "value"),
    [
        ("query", "pipeDelimited", False, ["x|admin"]),
        ("query", "spaceDelimited", False, ["x admin"]),
        ("query", "pipeDelimited", False, {"x": "1|admin"}),
        ("header", "simple", False, ["x,admin"]),
        ("header", "simple", True, {"x": "1,admin=2"}),
    ],
)
def test_no_item_of_a_list_arrives_as_two(tmp_path: Path, place: str, style: str, explode: bool, value: Any) -> None:
    """A rule decides over the items of a call: a second one within an item would pass it by."""
    tags = {"in": place, "schema": {}, "style": style, "explode": explode}
    package = make_package(tmp_path, {"op": operation(path="/pets", parameters={"tags": tags})})
    with pytest.raises(Failure, match="split the item"):
        package.build({"tags": value})
    separate = ["x", "admin"] if isinstance(value, list) else {"x": "1"}
    assert "x" in str(package.build({"tags": separate}))


def test_names_are_compared_without_blanks_case_and_kind_of_dash() -> None:
    assert all(is_framing(f" {name.swapcase()}\t".replace("-", "_")) for name in FRAMING)
