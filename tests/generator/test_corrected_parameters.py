"""Parameters and fields where the document is wrong: values that it gives itself, and what the owner corrects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.errors import Failure
from tests.cases import each
from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter
from tests.generator.commands import api, tabulate
from tests.generator.test_owned_requests import OK
from tests.generator.test_required_fields import required_of

SERVERS = [{"url": "https://shop.example.com"}]
VERSION = parameter("apiVersion", "path", {**TEXT, "default": "v4"})
SCOPE = parameter("scope", schema={**TEXT, "default": "all"}, required=True)
AMOUNTS = object_of(
    "amount", "note", amount=INTEGER, note={**TEXT, "minLength": 1}, tags={**list_of(TEXT), "minItems": 1}
)
EITHER = [{"required": ["amount"]}, {"required": ["note"]}]
DOCUMENT = api(
    {
        "GET /{apiVersion}/charges/{id}": {"operationId": "getCharge", "parameters": [VERSION], "responses": OK},
        "DELETE /{apiVersion}/charges/{id}": {
            "operationId": "deleteCharge",
            "parameters": [VERSION, parameter("id", "path", {**TEXT, "default": "first"}), SCOPE],
            "responses": OK,
        },
        "POST /charges": {
            "operationId": "createCharge",
            "parameters": [parameter("mode", schema={**TEXT, "default": "live"}, required=True)],
            "requestBody": body_of({**AMOUNTS, "anyOf": EITHER}),
            "responses": OK,
        },
        "PUT /kinds/{kind}/things/{id}": {
            "operationId": "updateThing",
            "parameters": [parameter("kind", "path", {"enum": ["plain"]})],
            "requestBody": body_of(object_of("size", size=INTEGER, name=TEXT)),
            "responses": OK,
        },
    },
    servers=SERVERS,
)


def test_a_required_parameter_that_the_document_gives_a_value_need_not_be_given(tmp_path: Path) -> None:
    table = tabulate(tmp_path, DOCUMENT)
    shown = {entry["name"]: entry for entry in table.details("get_charge")["parameters"]}
    assert (shown["api_version"]["required"], shown["api_version"]["default"]) == (False, "v4")
    assert table.request(tmp_path, "get_charge", {"charge_id": "7"}).url.endswith("/v4/charges/7")
    assert table.request(tmp_path, "get_charge", {"charge_id": "7", "api_version": "v5"}).url.endswith("/v5/charges/7")
    creation = table.request(tmp_path, "create_charge", {"amount": 1, "note": "n"})
    assert creation.url.endswith("/charges?mode=live")
    changed = table.request(tmp_path, "update_thing", {"thing_id": "7", "input": {"size": 1}})
    assert changed.url.endswith("/kinds/plain/things/7")


def test_what_is_deleted_is_named_whatever_its_default_is(tmp_path: Path) -> None:
    table = tabulate(tmp_path, DOCUMENT)
    with pytest.raises(Failure, match="Missing required parameter 'charge_id'"):
        table.request(tmp_path, "delete_charge")
    assert required_of(table, "delete_charge") == ["charge_id", "scope"]
    named = table.request(tmp_path, "delete_charge", {"charge_id": "7", "scope": "one"})
    assert named.url.endswith("/v4/charges/7?scope=one")


def test_a_default_of_the_document_is_sent_of_a_parameter_that_the_owner_hides(tmp_path: Path) -> None:
    table = tabulate(
        tmp_path, DOCUMENT, overrides="GET /{apiVersion}/charges/{id}: {parameters: {apiVersion: {hidden: true}}}"
    )
    assert "api_version" not in table.rows["get_charge"]["parameters"]
    assert table.request(tmp_path, "get_charge", {"charge_id": "7"}).url.endswith("/v4/charges/7")


@each("default", ["", ".", "..", "a/../b", [], None])
def test_a_default_that_leads_to_another_path_is_not_sent(default: Any, tmp_path: Path) -> None:
    version = parameter("apiVersion", "path", {"default": default})
    document = api({"GET /{apiVersion}/charges": {"parameters": [version], "responses": OK}})
    (row,) = tabulate(tmp_path, document).rows.values()
    assert row["parameters"]["api_version"]["required"] is True


@each(
    ("key", "correction", "params", "body"),
    [
        ("POST /charges", "note: {required: false}", {"amount": 1}, b'{"amount":1}'),
        ("POST /charges", "body:note: {required: false}", {"amount": 1}, b'{"amount":1}'),
        ("POST /charges", "note: {type: integer}", {"amount": 1, "note": 2}, b'{"amount":1,"note":2}'),
        (
            "POST /charges",
            "note: {type: [string, object]}",
            {"note": {"a": 1}, "amount": 1},
            b'{"amount":1,"note":{"a":1}}',
        ),
        ("POST /charges", "note: {allow_empty: true}", {"amount": 1, "note": ""}, b'{"amount":1,"note":""}'),
        (
            "POST /charges",
            "tags: {allow_empty: true}",
            {"amount": 1, "note": "n", "tags": []},
            b'{"amount":1,"note":"n","tags":[]}',
        ),
        ("PUT /kinds/{kind}/things/{id}", "size: {required: false}", {"name": "n"}, b'{"name":"n"}'),
        ("PUT /kinds/{kind}/things/{id}", "size: {type: string}", {"size": "XL"}, b'{"size":"XL"}'),
    ],
)
def test_the_owner_corrects_what_the_document_says_of_a_field(
    key: str, correction: str, params: dict[str, Any], body: bytes, tmp_path: Path
) -> None:
    name = "create_charge" if key.startswith("POST") else "update_thing"
    params = params if name == "create_charge" else {"thing_id": "7", "input": params}
    with pytest.raises(Failure):
        tabulate(tmp_path, DOCUMENT).request(tmp_path, name, params)
    table = tabulate(tmp_path, DOCUMENT, overrides=f"{key}: {{parameters: {{{correction}}}}}")
    assert table.request(tmp_path, name, params).content == body


def test_the_owner_corrects_what_the_document_says_of_a_parameter(tmp_path: Path) -> None:
    path = "/search"
    words = parameter("q", schema={"type": "integer", "minimum": 1}, required=True)
    document = api({path: {"get": {"operationId": "findAll", "parameters": [words], "responses": OK}}}, servers=SERVERS)
    text = f"GET {path}: {{parameters: {{q: {{required: false, type: string, allow_empty: true, name: words}}}}}}"
    table = tabulate(tmp_path, document, overrides=text)
    (name,) = table.rows
    assert "required" not in table.rows[name]["parameters"]["words"]
    assert table.request(tmp_path, name, {"words": ""}).url.endswith("/search?q=")
    assert table.request(tmp_path, name, {}).url.endswith("/search")


@each(
    ("correction", "message"),
    [
        ("id: {required: false}", "`id` is a part of the path, which needs a value"),
        ("id: {allow_empty: true}", "`id` is a part of the path, which cannot be empty"),
        ("id: {required: true}", "`required` must be false"),
        ("id: {type: text}", "`type` cannot be `text`"),
        ("id: {type: [string, text]}", "`type` must be a type of JSON Schema or a list of them"),
        ("it: {required: false}", "GET /{apiVersion}/charges/{id} has no parameter `it`"),
    ],
)
def test_a_correction_that_cannot_hold_is_refused(correction: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught:
        tabulate(tmp_path, DOCUMENT, overrides=f"GET /{{apiVersion}}/charges/{{id}}: {{parameters: {{{correction}}}}}")
    assert message in caught.value.diagnostics[0].message


def test_an_id_does_not_take_the_name_of_another_parameter(tmp_path: Path) -> None:
    parameters = [parameter(name) for name in ("id", "userId", "email")]
    document = api({"GET /get-user": {"operationId": "getUser", "parameters": parameters, "responses": OK}})
    request = tabulate(tmp_path, {**document, "servers": SERVERS}).request
    assert request(tmp_path, "get_user", {"id": "a/b", "user_id": "7"}).url.endswith("/get-user?id=a%2Fb&userId=7")
