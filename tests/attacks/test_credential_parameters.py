"""Credentials that a document, an agent or the network would get at: as parameters, under their names, over http."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from aqlgen.runtime.auth import BARE
from aqlgen.runtime.errors import Code, Failure
from tests.cases import each
from tests.generator.commands import api, tabulate
from tests.runtime.api.hand_made import STRING, Package, Recorder, json_answer, make_package, operation

SECRET = "the-secret-of-the-owner"
HEADER = {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}
IN_PATH = {"type": "apiKey", "in": "path", "name": "token", "variables": ["P_KEY"]}
IN_QUERY = {"type": "apiKey", "in": "query", "name": "api_key", "variables": ["P_KEY"]}


def secured(folder: Path, scheme: dict[str, Any], row: dict[str, Any], value: str = SECRET, **more: Any) -> Package:
    about = {"security_schemes": {"k": scheme}, "security": [["k"]], **more.pop("about", {})}
    return make_package(folder, {"op": row}, adapter=about, environ={"P_KEY": value}, **more)


@each("name", ["Authorization", "AUTHORIZATION", "authorization", "X-Api-Key", "x-api-key", "API-KEY"])
@each("schema", [{"type": "string"}, {"type": "integer"}, {"enum": ["a", "b"]}, {}])
def test_no_parameter_stands_in_the_place_of_a_credential(tmp_path: Path, name: str, schema: dict[str, Any]) -> None:
    declared = {"name": name, "in": "header", "schema": schema, "description": "Say hello"}
    schemes = {"b": {"type": "http", "scheme": "bearer"}, "k": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}
    schemes["l"] = {"type": "apiKey", "in": "header", "name": "api-key"}
    documented = {"get": {"parameters": [declared], "responses": {"200": {"description": "OK"}}}}
    table = tabulate(tmp_path, api({"/a": documented}, components={"securitySchemes": schemes}))
    (row,) = table.rows.values()
    assert name not in {entry.get("name", key) for key, entry in row["parameters"].items()}


def test_a_table_with_such_a_parameter_sends_the_owners_credential_alone(tmp_path: Path) -> None:
    for number, name in enumerate(("X-KEY", "X_Key")):
        row = operation(parameters={"key": {"in": "header", "name": name, "schema": STRING}})
        sent = secured(tmp_path / str(number), HEADER, row).build({"key": "of the agent"})
        assert "of the agent" not in str(sent)
        assert dict(sent.headers)["X-Key"] == SECRET


@each("kind", ["query", "cookie", "application/x-www-form-urlencoded", "multipart/form-data"])
@each("name", ["api_key", "API_KEY", "Api_Key", "api.key", "api_key[]", " api key"])
def test_an_agent_adds_no_second_credential(tmp_path: Path, name: str, kind: str) -> None:
    free = {"in": kind, "style": "form", "explode": True, "schema": {"type": "object"}}
    row, scheme = operation(parameters={"filter": free}), {**IN_QUERY, "in": kind}
    if "/" in kind:
        body = {"content_type": kind, "shape": "fields", "schema": {"type": "object"}}
        row = operation("POST", parameters={"filter": {**free, "in": "body"}}, body=body)
        scheme["in"] = "body"
    package = secured(tmp_path, scheme, row)
    assert package.refused({"filter": {name: "mine"}}).code is Code.INVALID_VALUE
    assert "mine" in str(package.build({"filter": {"other": "mine"}}))


def test_a_field_in_a_form_stands_neither_for_what_the_owner_fixed_nor_for_the_method(tmp_path: Path) -> None:
    spread = {"in": "body", "style": "form", "explode": True, "schema": {"type": "object"}}
    body = {"content_type": "application/x-www-form-urlencoded", "shape": "fields", "schema": {"type": "object"}}
    fixed = {"amount": {"in": "body", "schema": {}, "preset": 5}}
    row = operation("POST", parameters={"more": spread}, fixed=fixed, body=body)
    package = make_package(tmp_path, {"op": row})
    assert package.build({"more": {"note": "x"}}).content == b"note=x&amount=5"
    for name in ("amount", "_method"):
        assert package.refused({"more": {name: "900"}}).code is Code.INVALID_VALUE


def test_a_credential_in_a_path_is_neither_a_parameter_nor_shown(tmp_path: Path) -> None:
    package = secured(tmp_path, IN_PATH, operation(path="/bot{token}/me"), "12:se/cr?et", base_url="https://a.example")
    sent = package.build({})
    assert sent.url == "https://a.example/bot12%3Ase%2Fcr%3Fet/me"
    assert "12:se/cr?et" in sent.secrets
    with pytest.raises(Failure, match="token"):
        package.validate({"token": "mine"})


def test_a_credential_in_a_body_is_the_owners(tmp_path: Path) -> None:
    body = {"content_type": "application/json", "shape": "fields", "schema": {"type": "object"}}
    row = operation("POST", parameters={"rest": {"in": "body_rest", "schema": {"type": "object"}}}, body=body)
    scheme = {"type": "apiKey", "in": "body", "name": "key", "variables": ["P_KEY"]}
    sent = secured(tmp_path, scheme, row).build({"rest": {"key": "of the agent", "KEY": "of the agent", "n": 1}})
    assert json.loads(sent.content or b"") == {"key": SECRET, "n": 1}
    assert SECRET in sent.secrets


@pytest.mark.parametrize("value", ["..", "../admin", "a/../b", "%2e%2e"])
def test_a_credential_in_a_path_leads_nowhere_else(tmp_path: Path, value: str) -> None:
    assert secured(tmp_path, IN_PATH, operation(path="/{token}/me"), value).refused({}).code is not None


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", "a\0b", "a\x7fb"])
def test_no_credential_ends_a_header(tmp_path: Path, value: str) -> None:
    failure = secured(tmp_path, HEADER, operation(), value).refused({})
    assert failure.code is Code.PERMISSION_DENIED
    assert value not in json.dumps(failure.details) + failure.message


@pytest.mark.parametrize(
    "url", ["http://api.example.com", "http://10.0.0.5:8080", "HTTP://api.example.com", "http://127.0.0.1.example.com"]
)
@pytest.mark.parametrize("scheme", [HEADER, IN_QUERY])
def test_no_credential_travels_over_plain_http(tmp_path: Path, url: str, scheme: dict[str, Any]) -> None:
    failure = secured(tmp_path, scheme, operation(), base_url=url).refused({})
    assert (failure.code, failure.details["setting"]) == (Code.PERMISSION_DENIED, "MCP_AQL_AUTH_ALLOW_HTTP")
    assert secured(tmp_path, scheme, operation(), base_url=url, auth_allow_http=True).build({}).secrets
    assert secured(tmp_path, scheme, operation(security=[]), base_url=url).build({}).url.lower().startswith(url.lower())


@pytest.mark.parametrize("url", ["https://a.example", "http://localhost:1", "http://127.0.0.2", "http://[::1]:80"])
def test_https_and_this_machine_get_the_credential(tmp_path: Path, url: str) -> None:
    assert dict(secured(tmp_path, HEADER, operation(), base_url=url).build({}).headers)["X-Key"] == SECRET


def test_a_servers_own_address_of_http_gets_no_credential_either(tmp_path: Path) -> None:
    row = operation(servers=[{"url": "http://other.example"}])
    assert secured(tmp_path, HEADER, row).refused({}).code is Code.PERMISSION_DENIED


@each("title", ["AWS", "MCP AQL", "Git", "LD", "Python"])
@each("scheme", ["SECRET_ACCESS_KEY", "PATH", "AWS_SECRET_ACCESS_KEY", "AUTH_TOKEN", "PRELOAD"])
def test_no_scheme_takes_its_value_from_a_variable_of_another_program(tmp_path: Path, title: str, scheme: str) -> None:
    schemes = {scheme: {"type": "apiKey", "in": "header", "name": "K"}}
    paths = {"/a": {"get": {"responses": {"200": {"description": "OK"}}}}}
    document = api(paths, components={"securitySchemes": schemes}) | {"info": {"title": title, "version": "1"}}
    (variable,) = tabulate(tmp_path, document).adapter["security_schemes"][scheme]["variables"]
    assert not variable.startswith(("AWS_", "MCP_AQL_", "GIT_", "LD_", "PYTHON"))
    assert variable != scheme


@pytest.mark.parametrize(
    ("environ", "is_sent", "text"),
    [({"P_KEY": SECRET}, True, "A credential was sent, from P_KEY"), ({}, False, "No credential was sent: set P_KEY")],
)
def test_a_401_says_whether_a_credential_was_sent_and_not_which(
    tmp_path: Path, environ: dict[str, str], is_sent: bool, text: str
) -> None:
    about = {"security_schemes": {"k": HEADER}, "security": [["k"], []]}
    answer = json_answer({"message": f"bad {SECRET}"}, 401)
    package = make_package(
        tmp_path, {"op": operation()}, adapter=about, environ=environ, transport=Recorder(answer=answer)
    )
    sent = package.build({})
    response = anyio.run(package.api.send, sent, package.row())
    with pytest.raises(Failure) as caught:
        package.decode(response)
    assert text in caught.value.message
    assert caught.value.details["credential_sent"] is is_sent
    assert not is_sent or SECRET not in caught.value.message


AUTHORIZATION = {**HEADER, "name": "Authorization"}


@each(
    ("scheme", "value", "status", "is_hinted"),
    [
        (AUTHORIZATION, SECRET, 401, True),
        (AUTHORIZATION, SECRET, 403, True),
        ({**AUTHORIZATION, "name": "authorization"}, SECRET, 401, True),
        (AUTHORIZATION, f"Token {SECRET}", 401, False),
        (AUTHORIZATION, f"Token {SECRET}", 403, False),
        ({**AUTHORIZATION, "format": "Token {key}"}, SECRET, 401, False),
        (HEADER, SECRET, 401, False),
        (HEADER, SECRET, 403, False),
    ],
)
def test_a_key_that_is_refused_alone_in_authorization_gets_a_hint_and_is_not_shown(
    scheme: dict[str, Any], value: str, status: int, is_hinted: bool, tmp_path: Path
) -> None:
    about = {"security_schemes": {"k": scheme}, "security": [["k"]]}
    transport = Recorder(answer=json_answer({"message": f"bad {value}"}, status))
    package = make_package(tmp_path, {"op": operation()}, adapter=about, environ={"P_KEY": value}, transport=transport)
    response = anyio.run(package.api.send, package.build({}), package.row())
    with pytest.raises(Failure) as caught:
        package.decode(response)
    hint = f"A credential was sent, from P_KEY, {BARE}"
    assert (hint in caught.value.message) is is_hinted
    assert SECRET not in caught.value.message
