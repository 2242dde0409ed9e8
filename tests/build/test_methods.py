"""The operations of a document that are served: methods, paths, and keys that only look like one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import Tabulation, api, run, tabulate

OK: dict[str, Any] = {"responses": {"200": {"description": "OK"}}}


def served(table: Tabulation) -> set[str]:
    return {f"{row['method']} {row['path']}" for row in table.rows.values()}


def warnings(table: Tabulation) -> list[tuple[str, int, str]]:
    return [(warning["code"], warning["line"], warning["message"]) for warning in table.warnings]


def test_openapi_3_2_gives_query_and_any_additional_method(tmp_path: Path) -> None:
    more = {"PURGE": {"operationId": "purgeThings", **OK}, "COPY": {"operationId": "copyThings", **OK}}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"q": {"type": "string"}}}}}}
    item = {"query": {"operationId": "findThings", "requestBody": body, **OK}, "additionalOperations": more}
    table = tabulate(tmp_path, api({"/things": item}, "3.2.0"))
    assert served(table) == {"QUERY /things", "PURGE /things", "COPY /things"}
    assert warnings(table) == []
    asked = next(row for row in table.rows.values() if row["method"] == "QUERY")
    assert asked["rule"] == "safe-method"
    assert asked["body"]["content_type"] == "application/json"


def test_a_method_in_capitals_is_served(tmp_path: Path) -> None:
    table = tabulate(tmp_path, "openapi: 3.0.3\npaths:\n  /a:\n    GET: {responses: {}}\n")
    assert served(table) == {"GET /a"}


@pytest.mark.parametrize(("key", "version"), [("purge", "3.0.3"), ("query", "3.1.0"), ("purge", "3.2.0")])
def test_a_method_that_the_version_does_not_have_is_skipped_with_a_warning(
    tmp_path: Path, key: str, version: str
) -> None:
    table = tabulate(tmp_path, api({"/a": {"get": OK, key: OK}}, version))
    assert served(table) == {"GET /a"}
    assert len(table.skipped) == 1
    ((code, _, message),) = warnings(table)
    assert code == "operation-skipped"
    assert f"{key.upper()} /a" in message
    assert "additionalOperations" in message


@pytest.mark.parametrize(("method", "why"), [("TRACE", "credentials"), ("CONNECT", "tunnel"), ("A B", "HTTP allows")])
def test_methods_that_no_adapter_sends_are_skipped_with_the_reason(tmp_path: Path, method: str, why: str) -> None:
    table = tabulate(tmp_path, api({"/a": {"get": OK, "additionalOperations": {method: OK}}}, "3.2.0"))
    assert served(table) == {"GET /a"}
    assert why in warnings(table)[0][2]


def test_an_operation_that_only_switches_protocols_is_skipped(tmp_path: Path) -> None:
    socket = {"responses": {"101": {"description": "A WebSocket."}, "400": {"description": "No upgrade."}}}
    either = {"responses": {"101": {"description": "A WebSocket."}, "200": {"description": "The log so far."}}}
    table = tabulate(tmp_path, api({"/events": {"get": socket}, "/log": {"get": either}}))
    assert served(table) == {"GET /log"}
    ((code, _, message),) = warnings(table)
    assert code == "operation-skipped"
    assert "101 Switching Protocols" in message


def test_a_document_in_another_language_is_named_once(tmp_path: Path) -> None:
    texts = ("Gibt die Bücher der Bücherei zurück", "Löscht ein Buch für alle Büchereien")
    paths = {f"/books{at}": {"get": {"summary": text, **OK}} for at, text in enumerate(texts)}
    ((code, _, message),) = warnings(tabulate(tmp_path, api(paths)))
    assert code == "other-language"
    assert "not in English" in message


def test_one_method_of_one_path_is_served_once(tmp_path: Path) -> None:
    paths = {"/a": {"get": OK, "GET": OK, "additionalOperations": {"get": OK}}, "a": {"get": OK}}
    table = tabulate(tmp_path, api(paths, "3.2.0"))
    assert served(table) == {"GET /a"}
    assert len(table.skipped) == 3


def test_a_path_without_a_slash_gets_one(tmp_path: Path) -> None:
    paths = {path: {"get": OK} for path in ("users", ".evil.test/a", "http://evil.test")}
    table = tabulate(tmp_path, api(paths))
    assert served(table) == {"GET /users", "GET /.evil.test/a"}
    assert warnings(table)[0][2] == "the path 'users' is read as '/users'"
    assert {code for code, _, _ in warnings(table)} == {"irregular-path", "operation-skipped"}


def test_a_key_that_is_no_operation_is_reported_and_extensions_are_not(tmp_path: Path) -> None:
    item = {"get": OK, "x-note": {"responses": {}}, "sumary": "mistyped", "callbacks": {"on": {"post": OK}}}
    table = tabulate(tmp_path, api({"/a": item, "/b": 7}))
    assert served(table) == {"GET /a"}
    assert [message for _, _, message in warnings(table)] == [
        "'sumary' is ignored: a path has no such part",
        "'callbacks' is ignored: a path has no such part",
        "the path '/b' is not an object",
    ]


def test_callbacks_and_webhooks_are_never_operations(tmp_path: Path) -> None:
    operation = {**OK, "callbacks": {"done": {"{$request.body#/url}": {"post": OK}}}}
    table = tabulate(tmp_path, api({"/a": {"post": operation}}, webhooks={"made": {"post": OK}}))
    assert served(table) == {"POST /a"}


def test_each_repeated_operation_id_is_reported_once(tmp_path: Path) -> None:
    paths = {f"/{name}": {"get": {"operationId": "list", **OK}} for name in ("cats", "dogs", "cows", "pigs", "hens")}
    table = tabulate(tmp_path, api(paths))
    assert len(table.rows) == 5
    ((code, _, message),) = warnings(table)
    assert code == "duplicate-operation-id"
    assert message == "the operationId 'list' is given to 5 operations: GET /cats, GET /dogs, GET /cows and 2 more"


def test_operation_ids_that_are_one_name_are_reported(tmp_path: Path) -> None:
    table = tabulate(
        tmp_path, api({f"/{name}": {"get": {"operationId": name, **OK}} for name in ("getDog", "get_dog")})
    )
    ((code, _, message),) = warnings(table)
    assert code == "duplicate-operation-id"
    assert message == "the operationId 'getDog' and 'get_dog' is given to 2 operations: GET /getDog, GET /get_dog"


def test_a_version_and_a_title_without_quotes_are_text(tmp_path: Path) -> None:
    table = tabulate(tmp_path, "openapi: 3.0.3\ninfo: {title: 2048, version: 2}\npaths: {/a: {get: {}}}\n")
    assert (table.adapter["title"], table.adapter["api_version"]) == ("2048", "2")
    assert len(table.findings("version-not-text")) == 2


def test_a_version_that_yaml_takes_for_a_fraction_keeps_every_digit(tmp_path: Path) -> None:
    table = tabulate(tmp_path, "openapi: 3.0.3\ninfo: {title: A, version: 1.10}\npaths: {/a: {get: {}}}\n")
    assert table.adapter["api_version"] == "1.10"
    (note,) = table.findings("version-not-text")
    assert (note["line"], note["message"]) == (2, "the version is a number; read as the text “1.10”")


@pytest.mark.parametrize("reference", ["7", "[1]", "{a: b}", "true"])
def test_a_reference_that_is_no_string_is_reported_and_not_followed(tmp_path: Path, reference: str) -> None:
    spec = tmp_path / "odd.yaml"
    spec.write_text(
        "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /a:\n    get: {}\n"
        f"    post: {{parameters: [{{$ref: {reference}}}], responses: {{'200': {{$ref: {reference}}}}}}}\n"
        f"  /b: {{$ref: {reference}}}\n"
        f"components: {{securitySchemes: {{s: {{$ref: {reference}}}}}}}\n",
        encoding="utf-8",
    )
    done = run("from-openapi", spec, "--dry-run", "-o", tmp_path / "out", "--output-format", "json")
    assert done.code == 0
    assert json.loads(done.out)["warnings"]


def test_an_operation_whose_path_no_server_would_read_is_skipped(tmp_path: Path) -> None:
    table = tabulate(tmp_path, api({"/a": {"get": OK}, "/" + "x/" * 5_000: {"get": OK}}))
    assert served(table) == {"GET /a"}
    assert "longer than 8,000 characters" in warnings(table)[0][2]


def test_a_parameter_after_a_colon_as_in_web_frameworks_is_written_in_braces(tmp_path: Path) -> None:
    parameter = {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}
    paths = {
        "/pets/:petId/toys": {"parameters": [parameter], "get": OK},
        "pets/:petId/owner": {"get": {**OK, "parameters": [{"$ref": "#/components/parameters/PetId"}]}},
        "/pets/:all": {"get": OK},
        "/pets/{petId}:feed": {"post": {**OK, "parameters": [parameter]}},
    }
    table = tabulate(tmp_path, api(paths, components={"parameters": {"PetId": parameter}}))
    assert served(table) == {
        "GET /pets/{petId}/toys",
        "GET /pets/{petId}/owner",
        "GET /pets/:all",
        "POST /pets/{petId}:feed",
    }
    assert all("pet_id" in row["parameters"] for row in table.rows.values() if "petId" in row["path"])
    assert [(code, message) for code, _, message in warnings(table)] == [
        ("irregular-path", f"the path {written!r} is read as '/pets/{{petId}}/{last}'")
        for written, last in (("/pets/:petId/toys", "toys"), ("pets/:petId/owner", "owner"))
    ]


def test_a_request_that_the_api_makes_is_left_out_with_a_warning_and_what_registers_one_is_not(tmp_path: Path) -> None:
    inbound = {"description": "This webhook will be invoked when an order is paid.", **OK}
    callback = {"summary": "This callback endpoint is called by us", **OK}
    registers = {"description": "Registers a webhook. The webhook is called when an order is paid.", **OK}
    paths = {"/paid": {"post": inbound}, "/back": {"post": callback}, "/webhooks": {"post": registers}}
    table = tabulate(tmp_path, api(paths))
    assert served(table) == {"POST /webhooks"}
    assert [code for code, _, _ in warnings(table)] == ["inbound-webhook", "inbound-webhook"]
    assert "This webhook will be invoked" in warnings(table)[0][2]
