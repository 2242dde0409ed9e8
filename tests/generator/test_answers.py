"""What the template is told of an API: its credentials, calls to show, and what is confirmed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.render.answers import call_lines, confirmation_lines, credential_lines, template_answers
from aqlgen.resources import Release
from aqlgen.runtime.text import has_unseen
from tests.documents import INTEGER, TEXT, object_of, parameter
from tests.generator.commands import FIXTURES, api, posting, tabulate

PETSTORE = (FIXTURES / "petstore.yaml").read_text(encoding="utf-8")
KEY = [parameter("id", "path", INTEGER)]


def answers(folder: Path, document: Any) -> dict[str, str]:
    prepared = tabulate(folder, document).prepared
    return template_answers(prepared.identity, prepared.table, "", Release())


def test_a_project_records_an_address_only_where_the_build_is_set_to_one(tmp_path: Path) -> None:
    prepared = tabulate(tmp_path, PETSTORE).prepared
    for address in ("", "https://git.example/aqlgen.git"):
        release = Release("v0.1.0", "0" * 40, address)
        shown = template_answers(prepared.identity, prepared.table, "", release)
        assert (shown.get("template_url", ""), "template_tag" in shown) == (address, bool(address))


def test_the_answers_of_the_petstore(tmp_path: Path) -> None:
    table = tabulate(tmp_path, PETSTORE).prepared.table
    assert call_lines(table) == ["list_pets {}", 'get_pet {"pet_id": 7}', 'create_pet {"name": "Rosa", "kind": "cat"}']
    assert confirmation_lines(table) == [
        "dangerous 1: adopt_pet",
        "destructive 2: cancel_visit delete_pet",
        "first_call 1: book_owner_visit",
    ]
    assert credential_lines(table) == [
        "PETSTORE_API_KEY: The key of your shop (header X-API-Key: …)",
        "PETSTORE_STAFF: The token of a member of staff (header Authorization: Bearer …)",
    ]


def test_a_host_that_the_owner_has_to_choose_is_named_before_the_credentials(tmp_path: Path) -> None:
    server = {"url": "https://{tenant}.acme.dev", "variables": {"tenant": {"default": "subdomain"}}}
    document = api({"GET /ping": {"operationId": "ping", "responses": {}}})
    document |= {"servers": [server], "components": {"securitySchemes": {"key": {
        "type": "apiKey", "in": "header", "name": "X-Key"}}}}  # fmt: skip
    first = answers(tmp_path, document)["credentials"].splitlines()[0]
    assert first.startswith("MCP_AQL_SERVER_VARIABLES?: tenant=… in the URL of the API ('subdomain' is the default of")


def test_the_calls_are_of_the_thing_that_most_operations_are_about(tmp_path: Path) -> None:
    names: dict[str, str] = {}
    for thing in ("crates", "orders", "taxes"):
        names |= {f"GET /{thing}": f"list_{thing}", f"POST /{thing}": f"create_{thing}"}
        names[f"GET /{thing}/{{id}}"] = f"get_{thing}"
    for part in ("lines", "notes", "payments"):
        names[f"GET /orders/{{id}}/{part}"] = f"list_order_{part}"
    operations = {
        key: {"operationId": name, "parameters": KEY if "{id}" in key else [], "responses": {}}
        for key, name in names.items()
    }
    calls = answers(tmp_path, api(operations))["calls"].splitlines()
    assert [call.split(" ")[0] for call in calls] == ["list_orders", "get_order", "create_order"]


def test_an_api_without_lists_or_credentials_has_fewer_lines(tmp_path: Path) -> None:
    lines = answers(tmp_path, api({"GET /ping": {"operationId": "ping", "responses": {}}}))
    assert (lines["calls"], lines["credentials"], lines["confirmations"]) == ("", "", "")


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("Sells things. And more.", "Sells things."),
        ("# Shop\n\nSells things.", "Shop Sells things."),
        ("> Sells things.", "Sells things."),
        ("For more information, see https://x.example", ""),
        ("", ""),
    ],
)
def test_the_description_is_its_first_sentence(tmp_path: Path, description: str, sentence: str) -> None:
    document = api({"/a": {"get": {"responses": {}}}})
    document["info"]["description"] = description
    assert answers(tmp_path, document)["description"] == sentence


def test_a_scheme_of_several_variables_names_each(tmp_path: Path) -> None:
    flows = {"clientCredentials": {"tokenUrl": "https://x.example/token", "scopes": {}}}
    schemes = {"login": {"type": "oauth2", "flows": flows, "description": "For people.\n\nLong story."}}
    paths = {"/a": {"get": {"security": [{"login": []}], "responses": {}}}}
    lines = answers(tmp_path, api(paths, components={"securitySchemes": schemes}))["credentials"].splitlines()
    assert lines[0] == "SHOP_LOGIN_TOKEN: For people (header Authorization: Bearer …)"
    assert "SHOP_LOGIN_CLIENT_SECRET?: login: secret of your OAuth client" in lines


@pytest.mark.parametrize(
    ("scheme", "lines"),
    [
        ({"type": "http", "scheme": "bearer"}, ["SHOP_S: token of s (header Authorization: Bearer …)"]),
        ({"type": "apiKey", "in": "query", "name": "k"}, ["SHOP_S: API key of s (query k=…)"]),
        (
            {"type": "http", "scheme": "basic"},
            [
                "SHOP_S_USERNAME: user name of s (header Authorization: Basic …)",
                "SHOP_S_PASSWORD: password of s (header Authorization: Basic …)",
            ],
        ),
    ],
)
def test_a_credential_without_a_description_is_called_what_it_is(
    tmp_path: Path, scheme: dict[str, str], lines: list[str]
) -> None:
    document = api(
        {"/a": {"get": {"responses": {}}}}, components={"securitySchemes": {"s": scheme}}, security=[{"s": []}]
    )
    assert answers(tmp_path, document)["credentials"].splitlines() == lines


def test_texts_of_an_example_stay_one_line_of_json(tmp_path: Path) -> None:
    for text in ("a\nb", "a\u202eb", "'$(id)`x`", "```"):
        document = posting(object_of("n", n={**TEXT, "examples": [text]}))
        (call,) = answers(tmp_path, document)["calls"].splitlines()
        assert not has_unseen(call)
        assert json.loads(call.partition(" ")[2]) == {"n": text}


def test_what_is_confirmed_is_bounded_and_the_gravest_first(tmp_path: Path) -> None:
    pay = {"operationId": "forget_forever", "description": "This cannot be undone.", "parameters": KEY}
    operations: dict[str, Any] = {
        f"DELETE /things{number}/{{id}}": {"operationId": f"delete_thing_{number:02}", "parameters": KEY}
        for number in range(12)
    }
    dangerous, destructive = answers(tmp_path, api(operations | {"POST /things/{id}/pay": pay}))[
        "confirmations"
    ].splitlines()
    assert dangerous == "dangerous 1: forget_forever"
    assert destructive.startswith("destructive 12: delete_thing")
    assert len(destructive.split()) == 2 + 8
