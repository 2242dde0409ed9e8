"""Parameters, bodies, responses and security as real documents write them, and how aqlgen reads them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from aqlgen.build.models import (
    INFO,
    OPERATION,
    PARAMETER,
    RESPONSE,
    SECURITY_SCHEME,
    InvalidObjectError,
    ObjectKind,
    validate,
)
from tests.cases import each
from tests.generator.commands import Tabulation, api, tabulate

STRING = {"type": "string"}


def reading(tmp_path: Path, *parameters: Any, path: str = "/a", version: str = "3.1.0", **more: Any) -> Tabulation:
    operation = {"parameters": list(parameters), "responses": {"200": {"description": "OK"}}}
    return tabulate(tmp_path, api({path: {"get": operation}, "/other": {"get": {}}}, version, **more))


def row(table: Tabulation, path: str = "/a") -> dict[str, Any]:
    return next(row for row in table.rows.values() if row["path"] == path)


def messages(table: Tabulation) -> list[str]:
    return [warning["message"] for warning in table.warnings]


def test_a_path_parameter_with_another_spelling_than_in_the_path_matches(tmp_path: Path) -> None:
    parameter = {"name": "pet_id", "in": "path", "required": True, "schema": {"type": "integer"}}
    table = reading(tmp_path, parameter, path="/pets/{petId}")
    assert row(table, "/pets/{petId}")["parameters"] == {
        "pet_id": {"in": "path", "name": "petId", "required": True, "schema": {"type": "integer"}}
    }
    assert messages(table) == ["the parameter 'pet_id' is spelled {petId} in the path /pets/{petId}; that counts"]


def test_a_path_parameter_that_nobody_declares_is_a_required_string(tmp_path: Path) -> None:
    table = reading(tmp_path, path="/pets/{petId}")
    assert row(table, "/pets/{petId}")["parameters"]["pet_id"]["schema"] == STRING
    assert "/pets/{petId} has {petId}, which no parameter declares" in messages(table)[0]


def test_a_path_parameter_that_the_path_does_not_have_is_left_out(tmp_path: Path) -> None:
    table = reading(tmp_path, {"name": "petId", "in": "path", "required": True, "schema": STRING})
    assert row(table)["parameters"] == {}
    assert messages(table) == ["the path /a has no {petId}; the parameter 'petId' is left out"]


def test_the_name_of_a_header_may_be_long_and_a_variable_gives_way_to_a_longer_one(
    tmp_path: Path,
) -> None:
    name = "x-amz-copy-source-server-side-encryption-customer-algorithm"
    table = reading(tmp_path, {"name": name, "in": "header", "schema": STRING}, path="/pets/{id}/{petId}")
    assert row(table, "/pets/{id}/{petId}")["parameters"].keys() == {"id", "pet_id", name.replace("-", "_")}


def test_a_query_in_a_path_is_filled_by_parameters_in_query(tmp_path: Path) -> None:
    limit = {"name": "max", "in": "path", "required": False, "schema": {"type": "integer"}}
    pet = {"name": "id", "in": "path", "required": True, "schema": STRING}
    written = "/pets/{id}?v=2&kind={kind}&limit={max}"
    document = {written: {"get": {"parameters": [pet, limit]}}, "/pets/{id}": {"get": {"parameters": [pet]}}}
    document |= {"/toys{?kind,age}": {"get": {}}, "/toys?size={size}": {"get": {}}}
    table = tabulate(tmp_path, api(document))
    locations = {
        each["path"]: {name: (item["in"], item.get("required", False)) for name, item in each["parameters"].items()}
        for each in table.rows.values()
    }
    assert locations == {
        "/pets/{id}?v=2": {"pet_id": ("path", True), "limit": ("query", False), "kind": ("query", True)},
        "/pets/{id}": {"pet_id": ("path", True)},
        "/toys": {"kind": ("query", True), "age": ("query", True)},
        "/toys#size": {"size": ("query", True)},
    }
    assert messages(table)[0] == f"the path {written} has a query: 'kind', 'limit' are read as parameters in query"


def test_a_repeated_placeholder_is_reported_once_for_all_methods(tmp_path: Path) -> None:
    path = "/a/{id}/b/{id}"
    parameters = [{"name": "id", "in": "path", "required": True, "schema": STRING}]
    table = tabulate(tmp_path, api({path: {"parameters": parameters, "get": {}, "delete": {}}}))
    assert len(table.rows) == 2
    assert messages(table) == [f"the path {path} has {{id}} more than once; each gets the same value"]


@pytest.mark.parametrize(
    ("written", "read", "warning"),
    [
        ("Query", "query", "is in 'Query'; it is read as in 'query'"),
        ("HEADER", "header", "is in 'HEADER'; it is read as in 'header'"),
        (None, "query", "has no `in`; it is read as in 'query'"),
    ],
)
def test_the_location_of_a_parameter_may_be_in_capitals_or_missing(
    tmp_path: Path, written: str | None, read: str, warning: str
) -> None:
    parameter = {"name": "q", "schema": STRING} | ({"in": written} if written else {})
    table = reading(tmp_path, parameter)
    assert row(table)["parameters"]["q"]["in"] == read
    assert messages(table) == [f"the parameter 'q' {warning}"]


def test_a_parameter_without_a_location_whose_name_is_in_the_path_is_there(tmp_path: Path) -> None:
    table = reading(tmp_path, {"name": "petId", "schema": {"type": "integer"}}, path="/pets/{petId}")
    assert row(table, "/pets/{petId}")["parameters"]["pet_id"]["schema"] == {"type": "integer"}
    assert messages(table) == ["the parameter 'petId' has no `in`; it is read as in 'path'"]


@pytest.mark.parametrize(("place", "version"), [("body", "3.1.0"), ("querystring", "3.1.0"), ("nowhere", "3.2.0")])
def test_a_parameter_in_an_unknown_place_is_left_out_by_name(tmp_path: Path, place: str, version: str) -> None:
    table = reading(tmp_path, {"name": "q", "in": place, "schema": STRING}, version=version)
    assert row(table)["parameters"] == {}
    (message,) = messages(table)
    assert "'q'" in message
    assert place in message


def test_an_operation_with_a_required_parameter_in_an_unknown_place_is_skipped(tmp_path: Path) -> None:
    table = reading(tmp_path, {"name": "q", "in": "formData", "required": True, "schema": STRING})
    assert [row["path"] for row in table.rows.values()] == ["/other"]


def test_the_whole_query_can_be_one_parameter(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": STRING}}
    content = {"application/x-www-form-urlencoded": {"schema": schema}}
    table = reading(tmp_path, {"name": "filter", "in": "querystring", "content": content}, version="3.2.0")
    entry = row(table)["parameters"]["filter"]
    assert (entry["in"], entry["content_type"]) == ("querystring", "application/x-www-form-urlencoded")
    assert messages(table) == []


def responding(tmp_path: Path, responses: Any, version: str = "3.1.0", **more: Any) -> Tabulation:
    return tabulate(tmp_path, api({"/a": {"get": {"responses": responses}}}, version, **more))


def test_ranges_and_default_are_read_in_any_case_and_integers_as_text(tmp_path: Path) -> None:
    table = tabulate(
        tmp_path,
        "openapi: 3.0.3\ninfo: {title: A, version: '1'}\npaths:\n"
        "  /a: {get: {responses: {2xx: {description: a}}}}\n"
        "  /b: {get: {responses: {200: {description: a}}}}\n"
        "  /c: {get: {responses: {Default: {description: a}}}}\n",
    )
    assert [list(row(table, path)["responses"]) for path in ("/a", "/b", "/c")] == [["2XX"], ["200"], ["default"]]
    assert messages(table) == []


def test_a_response_under_no_status_is_left_out_with_a_warning(tmp_path: Path) -> None:
    table = responding(tmp_path, {"abcdef": {"description": "OK"}, "200": {"description": "OK"}})
    assert list(row(table)["responses"]) == ["200"]
    assert messages(table) == ["'abcdef' is not a status code, a range such as 2XX, or default"]


def test_a_media_type_can_be_a_component_and_a_stream_has_the_type_of_its_items(tmp_path: Path) -> None:
    media = {"Things": {"itemSchema": {"type": "object", "properties": {"a": STRING}}}}
    content = {"application/json": {"$ref": "#/components/mediaTypes/Things"}}
    answer = {"200": {"description": "OK", "content": content}}
    table = responding(tmp_path, answer, "3.2.0", components={"mediaTypes": media})
    assert row(table)["responses"]["200"]["schema"]["type"] == "array"
    shared = {"200": {"description": "OK", "content": {"$ref": "#/components/mediaTypes/All"}}}
    assert row(responding(tmp_path, shared, components={"mediaTypes": {"All": {"text/csv": {}}}}))["responses"] == {
        "200": {"content_type": "text/csv"}
    }


def test_an_example_can_be_its_data_value(tmp_path: Path) -> None:
    examples = {"one": {"dataValue": "blue", "serializedValue": "q=blue"}}
    parameter = {"name": "q", "in": "query", "required": True, "schema": STRING, "examples": examples}
    assert row(reading(tmp_path, parameter, version="3.2.0"))["example"] == {"q": "blue"}


def test_an_example_that_is_a_reference_to_nowhere_is_none(tmp_path: Path) -> None:
    examples = {"one": {"value": {"$ref": "not-there.json"}}, "two": {"value": {"size": 3}}}
    schema = {"type": "object", "additionalProperties": True}
    parameter = {"name": "q", "in": "query", "required": True, "schema": schema, "examples": examples}
    assert row(reading(tmp_path, parameter))["example"] == {"q": {"size": 3}}


def test_a_requirement_can_name_its_scheme_by_reference(tmp_path: Path) -> None:
    schemes = {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key", "deprecated": True},
        "device": {"type": "oauth2", "flows": {"deviceAuthorization": {"scopes": {}}}},
    }
    security = [{"#/components/securitySchemes/key": []}, {"device": []}, {"ghost": []}]
    table = responding(
        tmp_path, {}, "3.2.0", components={"securitySchemes": schemes}, security=security, tags=[{"name": "a"}]
    )
    assert table.adapter["security"] == [["key"], ["device"]]
    assert messages(table) == ["the security scheme 'ghost' is not declared; this alternative is left out"]


def test_a_server_is_described_by_its_name_and_has_a_scheme(tmp_path: Path) -> None:
    servers = [{"url": "//api.example.com/v1", "name": "prod"}]
    assert responding(tmp_path, {}, "3.2.0", servers=servers).adapter["servers"] == [
        {"url": "https://api.example.com/v1", "description": "prod"}
    ]


def test_a_server_of_an_operation_has_the_variables_of_the_same_url_of_the_document(tmp_path: Path) -> None:
    url, variables = "https://{region}.example.com", {"region": {"default": "eu", "enum": ["eu", "us"]}}
    operations = {"get": {"servers": [{"url": url}], "responses": {}}, "post": {"servers": [{"url": f"{url}/v2"}]}}
    rows = tabulate(tmp_path, api({"/a": operations}, servers=[{"url": url, "variables": variables}])).rows.values()
    variables_by_method = {row["method"]: row["servers"][0]["variables"] for row in rows}
    assert variables_by_method == {"GET": variables, "POST": {}}


def test_fields_of_a_form_are_written_as_the_document_says(tmp_path: Path) -> None:
    properties = {"ids": {"type": "array", "items": STRING}, "about": {"type": "object"}, "file": {"format": "binary"}}
    encoding = {
        "ids": {"style": "form", "explode": False},
        "about": {"style": "deepObject", "explode": True},
        "file": {"contentType": "image/png"},
    }
    media = {"schema": {"type": "object", "properties": properties}, "encoding": encoding}
    operation = {"requestBody": {"content": {"multipart/form-data": media}}, "responses": {}}
    entries = row(tabulate(tmp_path, api({"/a": {"post": operation}})))["parameters"]
    assert (entries["ids"]["style"], entries["ids"]["explode"]) == ("form", False)
    assert (entries["about"]["style"], entries["about"]["explode"]) == ("deepObject", True)
    assert entries["file"]["content_type"] == "image/png"


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("application/x-tar", {"$ref": "#/types/FileInput", "contentEncoding": "base64"}),
        ("application/vnd.shop.part", {"$ref": "#/types/FileInput", "contentEncoding": "base64"}),
        ("application/yaml", {"type": "string"}),
        ("text/csv", {"type": "string"}),
    ],
)
def test_a_body_of_any_other_kind_is_text_or_bytes(tmp_path: Path, kind: str, schema: Any) -> None:
    operation = {"requestBody": {"required": True, "content": {kind: {}}}, "responses": {}}
    operation_row = row(tabulate(tmp_path, api({"/a": {"post": operation}})))
    assert operation_row["body"]["content_type"] == kind
    assert operation_row["parameters"]["body"]["schema"] == schema


@pytest.mark.parametrize(("method", "required"), [("get", False), ("post", True)])
def test_the_body_of_a_get_is_optional_where_the_document_does_not_say(
    tmp_path: Path, method: str, required: bool
) -> None:
    operation = {"requestBody": {"content": {"application/octet-stream": {}}}, "responses": {}}
    operation_row = row(tabulate(tmp_path, api({"/a": {method: operation}})))
    assert operation_row["parameters"]["body"].get("required", False) is required


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"responses": [{"description": "OK"}]}, "'responses' is ignored: it must be an object, not a list"),
        ({"parameters": {"id": {"in": "query"}}}, "'parameters' is ignored: it must be a list, not an object"),
        (
            {"parameters": [{"name": "q", "in": "query", "content": []}]},
            "'content' is ignored: it must be an object, not a list",
        ),
        (
            {"parameters": [{"name": "q", "in": "query", "schema": "string"}]},
            "'schema' must be a schema; any value is allowed",
        ),
        (
            {"parameters": [{"name": "q", "in": "query", "schema": {"type": kind}} for kind in ("string", "integer")]},
            "the parameter 'q' in query is declared twice; the last one counts",
        ),
        (
            {"parameters": [{"name": "X-A\r\nB", "in": "header", "schema": STRING}]},
            "the parameter 'X-A\\r\\nB' is not usable: HTTP allows no such name of a header; it is left out",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_reported(tmp_path: Path, operation: Any, message: str) -> None:
    table = tabulate(tmp_path, api({"/a": {"get": operation}}))
    assert messages(table) == [message]
    assert len(table.rows) == 1


def test_an_empty_method_is_reported(tmp_path: Path) -> None:
    table = tabulate(tmp_path, api({"/a": {"get": {}, "post": None}, "/b": None}))
    assert messages(table) == ["'post' is ignored: nothing stands there"]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("Authorization: Bearer", ("Authorization", "Bearer {key}")),
        ("X-Auth:", ("X-Auth", None)),
        (" X-Auth ", ("X-Auth", None)),
        ("Authorization: Bearer {token}", None),
        ("X Auth", None),
    ],
)
def test_the_header_of_a_key_may_be_written_with_the_word_before_the_key(
    tmp_path: Path, name: str, sent: tuple[str, str | None] | None
) -> None:
    schemes = {"key": {"type": "apiKey", "in": "header", "name": name}}
    table = responding(tmp_path, {}, components={"securitySchemes": schemes}, security=[{"key": []}])
    scheme = table.adapter["security_schemes"].get("key")
    assert (scheme and (scheme["name"], scheme.get("format"))) == sent
    left_out = f"the security scheme 'key' is left out: HTTP allows no header named {name!r}"
    assert (left_out in messages(table)) == (sent is None)


def test_requirements_that_are_no_list_are_read_as_one(tmp_path: Path) -> None:
    schemes = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}
    table = tabulate(tmp_path, api({"/a": {"get": {"security": {"key": []}}}}, components=schemes))
    assert row(table)["security"] == [["key"]]
    assert messages(table) == ["the requirements must be a list; they are read as one, of all that are named"]


INFO_OBJECT = {"title": "Shop", "version": "1"}


def validated(kind: ObjectKind, raw: Any, openapi: str) -> tuple[Any, list[str]]:
    """Return the members or the refusal, and the keys that were dropped."""
    dropped: list[str] = []
    try:
        return validate(kind, raw, openapi, lambda key, _reason: dropped.append(key)), sorted(dropped)
    except InvalidObjectError as error:
        return str(error), sorted(dropped)


@each("openapi", ["3.0", "3.1"])
def test_a_refused_member_is_dropped_and_the_rest_of_the_object_stays(openapi: str) -> None:
    hostile = {"more": {"deep": [{}]}, "x-own": 1, "\udc80": 1}
    parameter = {"name": "a", "in": "path"}
    mistaken = {"required": 7, "description": ["a"], "allowReserved": []}
    assert validated(PARAMETER, parameter | {"deprecated": "true"}, openapi) == (parameter | {"deprecated": True}, [])
    assert validated(PARAMETER, parameter | hostile | mistaken, openapi) == (parameter, sorted(mistaken))
    assert validated(RESPONSE, {"description": 7}, openapi) == ({"description": ""}, ["description"])
    assert validated(INFO, {"summary": "a"}, openapi)[0] | {"summary": ""} == {
        "title": "",
        "version": "",
        "summary": "",
    }


def test_an_object_without_a_required_member_is_refused() -> None:
    assert validated(PARAMETER, {"name": "a"}, "3.0") == ("required: in", [])
    assert validated(PARAMETER, {"name": None, "in": "query"}, "3.0") == ("required: name", ["name"])
    assert validated(SECURITY_SCHEME, ["apiKey"], "3.0") == ("expected an object, found list", [])


def test_each_version_has_its_own_models_and_the_library_can_be_imported_whole_afterwards() -> None:
    for openapi in ("3.0", "3.1", "3.2", "3.0"):
        assert validated(INFO, INFO_OBJECT, openapi) == (INFO_OBJECT, [])
        assert validated(OPERATION, {"tags": 7, "summary": "a"}, openapi) == (
            {"summary": "a", "responses": {}},
            ["tags"],
        )
    assert {"openapi_pydantic.v3.v3_0.operation", "openapi_pydantic.v3.v3_1.operation"} <= sys.modules.keys()
    from openapi_pydantic import parse_obj

    assert parse_obj({"openapi": "3.1.0", "info": INFO_OBJECT, "paths": {}}).info.title == "Shop"
    assert sys.modules["openapi_pydantic"].__file__
