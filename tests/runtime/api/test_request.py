"""The request that leaves the adapter: nothing leaves its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aqlgen.runtime.errors import Code

from .hand_made import STRING, Make, operation

ID = {"in": "path", "name": "petId", "required": True, "schema": {}}
BASE = "https://api.example.com/v1"


def body(shape: str, content_type: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"content_type": content_type, "shape": shape, "schema": {}, **more}


def test_path_query_header_and_cookie_parameters_go_where_they_belong(package: Make) -> None:
    parameters = {
        "pet_id": ID,
        "page_size": {"in": "query", "name": "pageSize", "schema": {"type": "integer"}},
        "request_id": {"in": "header", "name": "X-Request-Id", "schema": STRING},
        "theme": {"in": "cookie", "schema": STRING},
        "lang": {"in": "cookie", "schema": STRING},
        "absent": {"in": "query", "schema": STRING},
    }
    pets = package({"op": operation(path="/pets/{petId}/toys", parameters=parameters)})
    sent = pets.build({"pet_id": "a b", "page_size": 3, "request_id": "r1", "theme": "x;y", "lang": "de"})
    assert sent.method == "GET"
    assert sent.url == f"{BASE}/pets/a%20b/toys?pageSize=3"
    assert dict(sent.headers) == {
        "Accept": "application/json",
        "User-Agent": "petstore-adapter/1.2.3",
        "X-Request-Id": "r1",
        "Cookie": "theme=x%3By; lang=de",
    }
    assert sent.content is None


def test_a_header_parameter_of_the_document_replaces_our_own(package: Make) -> None:
    parameters = {"accept": {"in": "header", "name": "accept", "schema": STRING}}
    sent = package({"op": operation(parameters=parameters)}).build({"accept": "text/csv"})
    assert [value for name, value in sent.headers if name.lower() == "accept"] == ["text/csv"]


def test_fields_make_a_json_body_with_the_rest_merged_in(package: Make) -> None:
    parameters = {
        "pet_name": {"in": "body", "name": "petName", "schema": STRING},
        "tag": {"in": "body", "schema": {}},
        "other_fields": {"in": "body_rest", "schema": {"type": "object"}},
    }
    pets = package({"op": operation("POST", parameters=parameters, body=body("fields"))}, family="create")
    sent = pets.build({"pet_name": "Réx", "tag": None, "other_fields": {"anyKey": 1, "petName": "no"}})
    assert json.loads(sent.content or b"") == {"petName": "Réx", "tag": None, "anyKey": 1}
    assert sent.content == '{"anyKey":1,"petName":"Réx","tag":null}'.encode()
    assert dict(sent.headers)["Content-Type"] == "application/json"
    assert pets.build({}).content is None


def test_a_required_body_without_fields_is_an_empty_object(package: Make) -> None:
    pets = package({"op": operation("POST", body=body("fields", required=True))}, family="create")
    assert pets.build({}).content == b"{}"


@pytest.mark.parametrize(
    ("content_type", "value", "sent_type", "content"),
    [
        ("application/json", None, "application/json", b"null"),
        ("application/merge-patch+json", {"a": 1}, "application/merge-patch+json", b'{"a":1}'),
        ("*/*", {"a": 1}, "application/json", b'{"a":1}'),
    ],
)
def test_whole_bodies_are_sent_by_their_type(
    package: Make, content_type: str, value: Any, sent_type: str, content: bytes
) -> None:
    rows = {
        "op": operation(
            "POST",
            parameters={"data": {"in": "body", "schema": {}}},
            body=body("whole", content_type, parameter="data"),
        )
    }
    sent = package(rows, family="create").build({"data": value})
    assert dict(sent.headers)["Content-Type"] == sent_type
    assert sent.content == content


def test_bytes_that_are_not_base64_are_refused(package: Make) -> None:
    rows = {
        "op": operation(
            "POST", parameters={"data": {"in": "body", "schema": {}}}, body=body("whole", "image/png", parameter="data")
        )
    }
    assert package(rows, family="create").refused({"data": "***"}).code is Code.INVALID_VALUE


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml"])
def test_a_body_that_cannot_be_sent_yet_says_so(package: Make, content_type: str) -> None:
    rows = {"op": operation("POST", parameters={"a": {"in": "body", "schema": {}}}, body=body("fields", content_type))}
    failure = package(rows, family="create").refused({"a": 1})
    assert failure.code is Code.INTERNAL_ERROR
    assert content_type in failure.message


@pytest.mark.parametrize(("value", "text"), [(7, b"7"), (True, b"true"), (2.5, b"2.5"), ("x", b"x")])
def test_a_body_of_text_is_the_text_of_its_value(package: Make, value: Any, text: bytes) -> None:
    parameter = {"in": "body", "schema": {}}
    rows = {"op": operation("POST", parameters={"a": parameter}, body=body("whole", "text/plain", parameter="a"))}
    assert package(rows, family="create").build({"a": value}).content == text


def test_the_setting_wins_over_servers_and_the_operations_own_over_the_documents(package: Make) -> None:
    servers = [{"url": "https://{zone}.example.com/", "variables": {"zone": {"default": "eu"}}}]
    rows = {"op": operation(), "other": operation(servers=servers)}
    assert package(rows).build({}).url == f"{BASE}/pets"
    accepted = {"accepted": {"api": [BASE, "https://eu.example.com"], "oauth": [], "hosts": []}}
    assert package(rows, adapter=accepted).build({}, "other").url == "https://eu.example.com/pets"
    assert (
        package(rows, base_url="http://localhost:8080/api/").build({}, "other").url == "http://localhost:8080/api/pets"
    )


@pytest.mark.parametrize("servers", [[], [{"url": "/v1"}], [{"url": "https://{host}/v1"}], [{"url": "ftp://x/"}]])
def test_without_an_absolute_server_the_setting_is_asked_for(package: Make, servers: list[Any]) -> None:
    failure = package({"op": operation()}, adapter={"servers": servers}).refused({})
    assert failure.code is Code.INTERNAL_ERROR
    assert "MCP_AQL_BASE_URL" in failure.message


def test_accept_names_what_the_document_declares_json_first(package: Make) -> None:
    responses = {"200": {"content_type": "text/csv"}, "2XX": {"content_type": "application/json"}, "204": {}}
    assert (
        dict(package({"op": operation(responses=responses)}).build({}).headers)["Accept"]
        == "application/json, text/csv"
    )
    assert dict(package({"op": operation(responses={"204": {}})}).build({}).headers)["Accept"] == "*/*"


def test_any_method_is_sent_and_may_have_a_body(package: Make) -> None:
    parameters = {"q": {"in": "body", "schema": STRING}}
    row = operation("QUERY", parameters=parameters, body=body("fields"))
    sent = package({"op": row}).build({"q": "x"})
    assert (sent.method, sent.content) == ("QUERY", b'{"q":"x"}')


def test_a_preset_that_is_false_zero_or_empty_is_sent(package: Make) -> None:
    presets = {"all": False, "page": 0, "q": ""}
    parameters = {name: {"in": "query", "schema": {}, "preset": value} for name, value in presets.items()}
    assert package({"op": operation(parameters=parameters)}).build({}).url.partition("?")[2] == "all=false&page=0&q="
