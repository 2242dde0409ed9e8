"""Credentials of documents that name them badly: in parameters, required nowhere, lifted, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.generator.commands import Tabulation, api, tabulate

KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
BEARER = {"type": "http", "scheme": "bearer"}
OAUTH = {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://l.example/a", "scopes": {}}}}


def parameter(name: str, place: str = "header", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": "string"}, **more}


def reading(*parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"get": {"parameters": list(parameters), "responses": {"200": {"description": "OK"}}, **more}}


def documented(folder: Path, paths: dict[str, Any], schemes: dict[str, Any] | None = None, **more: Any) -> Tabulation:
    document = api(paths, **more)
    if schemes is not None:
        document.setdefault("components", {})["securitySchemes"] = schemes
    return tabulate(folder, document)


def requirements(table: Tabulation) -> dict[str, Any]:
    """Return the requirements that hold for each operation, by its path."""
    return {row["path"]: row.get("security", table.adapter["security"]) for row in table.rows.values()}


def shown(table: Tabulation) -> set[str]:
    return {entry.get("name", name) for row in table.rows.values() for name, entry in row["parameters"].items()}


def test_a_scheme_that_is_required_nowhere_is_sent_where_its_variable_is_set(tmp_path: Path) -> None:
    table = documented(tmp_path, {"/a": reading(), "/b": reading()}, {"k": KEY})
    assert requirements(table) == {"/a": [["k"], []], "/b": [["k"], []]}
    (note,) = table.findings("security-assumed")
    assert "'k'" in note["message"]


def test_operations_that_state_nothing_are_sent_the_credential_of_the_others_if_some_of_them_write(
    tmp_path: Path,
) -> None:
    stated = reading(security=[{"b": []}])
    silent = {"responses": {"200": {"description": "OK"}}}
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    login = {"post": {**silent, "requestBody": {"content": {"application/json": {"schema": schema}}}}}
    paths = {"/a": stated, "/b": reading(), "/c": reading(security=[]), "/login": login}
    table = documented(tmp_path, paths, {"b": BEARER})
    assert requirements(table) == {"/a": [["b"]], "/b": [], "/c": [], "/login": []}
    assert not table.findings("security-unstated")
    table = documented(tmp_path, {**paths, "/d": {"post": silent}}, {"b": BEARER})
    assert requirements(table) == {"/a": [["b"]], "/b": [["b"], []], "/c": [], "/login": [], "/d": [["b"], []]}
    assert "2 of 5 operations" in table.findings("security-unstated")[0]["message"]


def test_a_lift_of_most_operations_is_doubted(tmp_path: Path) -> None:
    paths = {"/a": reading(), **{f"/{name}": reading(security=[]) for name in "bcd"}}
    table = documented(tmp_path, paths, {"b": BEARER}, security=[{"b": []}])
    assert requirements(table) == {"/a": [["b"]], "/b": [["b"], []], "/c": [["b"], []], "/d": [["b"], []]}
    assert "3 of 4" in table.findings("security-lifted")[0]["message"]


def test_a_lift_of_few_operations_is_believed(tmp_path: Path) -> None:
    paths = {"/a": reading(), "/b": reading(), "/health": reading(security=[]), "/c": reading(security=[])}
    table = documented(tmp_path, paths, {"b": BEARER}, security=[{"b": []}])
    assert requirements(table) == {"/a": [["b"]], "/b": [["b"]], "/health": [], "/c": []}
    assert not table.findings("security-lifted")


def test_a_login_is_called_without_the_credential_that_is_doubted(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"grant_type": {"type": "string"}}}
    body = {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}
    token = {"post": {"security": [], "requestBody": body, "responses": {"200": {"description": "OK"}}}}
    paths = {"/oauth/token": token, **{f"/{name}": reading(security=[]) for name in "bcd"}}
    table = documented(tmp_path, paths, {"b": BEARER}, security=[{"b": []}])
    assert requirements(table)["/oauth/token"] == []
    assert requirements(table)["/b"] == [["b"], []]


@pytest.mark.parametrize(
    "name",
    ["xi-api-key", "x-api-key", "Api-Key", "X-Auth-Token", "apikey", "X-Access-Token", "Private-Token", "app_key"],
)
def test_a_header_that_is_called_a_key_is_a_credential(tmp_path: Path, name: str) -> None:
    table = documented(tmp_path, {"/a": reading(parameter(name)), "/b": reading(parameter(name, required=True))})
    assert not shown(table) & {name}
    (scheme,) = table.adapter["security_schemes"].values()
    assert (scheme["in"], scheme["name"]) == ("header", name)
    assert requirements(table) == {"/a": [[name], []], "/b": [[name]]}
    assert table.findings("credential-parameter")


@pytest.mark.parametrize(
    ("name", "place", "described"),
    [
        ("page_token", "query", "Token of the page"),
        ("nextToken", "query", "Pagination token"),
        ("Idempotency-Key", "header", "A key for your request"),
        ("sort_key", "query", ""),
        ("public_key", "query", "The public key"),
        ("X-CSRF-Token", "header", "Token against forgery"),
        ("token", "query", "The verification token that was sent to the user"),
        ("key", "query", "The key of the entry"),
        ("include_token", "query", ""),
        ("captcha_token", "query", ""),
        ("device_token", "header", "Token of the device"),
        ("x-encryption-customer-key", "header", "The key of the object"),
    ],
)
def test_what_only_speaks_of_keys_and_tokens_stays_a_parameter(
    tmp_path: Path, name: str, place: str, described: str
) -> None:
    used = parameter(name, place, description=described)
    table = documented(tmp_path, {"/a": reading(used), "/b": reading(used), "/c": reading(), "/d": reading()})
    assert name in shown(table)
    assert not table.adapter["security_schemes"]


def test_the_token_that_an_operation_is_about_is_its_argument(tmp_path: Path) -> None:
    revoke = parameter("token", "path", required=True)
    check = parameter("access_token", "query", description="The access token to inspect")
    expire = parameter("auth_key", "query", required=True, description="Auth key to log out")
    others = {f"/{name}": reading() for name in "abc"}
    paths = {"/tokens/{token}": reading(revoke), "/tokeninfo": reading(check), "/authkey": reading(expire)}
    table = documented(tmp_path, paths | others)
    assert shown(table) >= {"token", "access_token", "auth_key"}


@pytest.mark.parametrize(
    ("name", "described"), [("token", "Authentication token."), ("key", "Your API key."), ("access_token", "")]
)
def test_a_key_of_most_operations_in_the_query_is_a_credential(tmp_path: Path, name: str, described: str) -> None:
    used = parameter(name, "query", description=described)
    table = documented(tmp_path, {"/a": reading(used), "/b": reading(used), "/c": reading(used), "/d": reading()})
    assert name not in shown(table)
    assert requirements(table)["/a"] == requirements(table)["/d"] == [[name], []]


def test_a_token_beside_a_scheme_for_tokens_is_that_schemes(tmp_path: Path) -> None:
    used = parameter("token", "query", required=True, description="Authentication token.")
    paths = {path: reading(used, security=[{"o": []}]) for path in ("/a", "/b")}
    table = documented(tmp_path, paths, {"o": OAUTH})
    assert requirements(table) == {"/a": [["o"]], "/b": [["o"]]}
    assert list(table.adapter["security_schemes"]) == ["o"]
    assert "token" not in shown(table)


def test_a_key_beside_a_scheme_for_tokens_is_sent_with_it_or_alone(tmp_path: Path) -> None:
    used = parameter("key", "query", description="API key. Your API key identifies your project.")
    paths = {path: reading(used, security=[{"o": []}]) for path in ("/a", "/b")}
    table = documented(tmp_path, paths, {"o": OAUTH})
    assert requirements(table)["/a"] == [["o", "key"], ["o"], ["key"]]


def test_the_user_that_belongs_to_a_key_comes_from_the_owner_too(tmp_path: Path) -> None:
    pair = (parameter("Api-Key", required=True), parameter("Api-Username", required=True))
    table = documented(tmp_path, {"/a": reading(*pair), "/b": reading(*pair), "/c": reading()})
    assert requirements(table)["/a"] == [["Api-Key", "Api-Username"]]
    assert requirements(table)["/c"] == [["Api-Key", "Api-Username"], []]
    assert not shown(table) & {"Api-Key", "Api-Username"}


def test_a_parameter_authorization_is_a_key_in_that_header(tmp_path: Path) -> None:
    used = parameter("Authorization", required=True, description="Bearer token")
    table = documented(tmp_path, {"/a": reading(used)})
    (entry,) = table.adapter["security_schemes"].values()
    assert (entry["in"], entry["name"], entry["format"]) == ("header", "Authorization", "Bearer {key}")
    assert "Authorization" not in shown(table)


def test_a_scheme_that_is_required_nowhere_is_left_out_where_others_are_required(tmp_path: Path) -> None:
    paths = {"/a": reading(security=[{"b": []}]), "/b": reading(security=[])}
    table = documented(tmp_path, paths, {"k": KEY, "b": BEARER})
    assert requirements(table) == {"/a": [["b"]], "/b": []}


def test_a_parameter_authorization_beside_a_scheme_adds_none(tmp_path: Path) -> None:
    table = documented(tmp_path, {"/a": reading(parameter("Authorization", required=True))}, {"b": BEARER})
    assert list(table.adapter["security_schemes"]) == ["b"]
    assert requirements(table) == {"/a": [["b"]]}


def test_a_key_in_nearly_every_path_is_a_credential(tmp_path: Path) -> None:
    key = parameter("api_key", "path", required=True)
    table = documented(tmp_path, {"/{api_key}/a": reading(key), "/{api_key}/b": reading(key)})
    assert "api_key" not in shown(table)
    assert table.adapter["security_schemes"]["api_key"]["in"] == "path"


def test_schemes_that_send_the_same_header_are_alternatives(tmp_path: Path) -> None:
    paths = {"/a": reading(security=[{"o": [], "b": [], "k": []}])}
    table = documented(tmp_path, paths, {"o": OAUTH, "b": BEARER, "k": KEY})
    assert sorted(map(sorted, requirements(table)["/a"])) == [["b", "k"], ["k", "o"]]


def test_a_document_without_any_credential_says_so(tmp_path: Path) -> None:
    table = documented(tmp_path, {"/a": reading(parameter("q", "query"))})
    (note,) = table.findings("no-security-scheme")
    assert "security_schemes: {token: {type: http, scheme: bearer}}" in note["suggestion"]
    assert not documented(tmp_path, {"/a": reading()}, {"b": BEARER}).findings("no-security-scheme")


def test_parameters_of_a_signature_are_none_and_constants_are_filled_in(tmp_path: Path) -> None:
    names = ("X-Amz-Date", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-SignedHeaders")
    target = parameter("X-Amz-Target", required=True, schema={"type": "string", "enum": ["Shop.List"]})
    action = parameter("Action", "query", required=True, schema={"type": "string", "enum": ["List"]})
    scheme = {"type": "apiKey", "in": "header", "name": "Authorization", "x-amazon-apigateway-authtype": "awsSigv4"}
    paths = {"/a": reading(*map(parameter, names), target, action, parameter("Action2", "query"))}
    table = documented(tmp_path, paths, {"hmac": scheme}, security=[{"hmac": []}])
    (row,) = table.rows.values()
    assert not shown(table) & {*names, "X-Amz-Target", "Action"}
    assert (row["headers"], row["query"]) == ({"X-Amz-Target": "Shop.List"}, {"Action": "List"})
    assert table.adapter["security_schemes"]["hmac"]["type"] == "awsSigv4"
    assert table.findings("signed-requests")


def test_https_is_preferred_to_http_of_the_same_host(tmp_path: Path) -> None:
    urls = ["http://{r}.one.example/v1", "http://two.example", "https://{r}.one.example/v1"]
    table = documented(tmp_path, {"/a": reading()}, servers=[{"url": url} for url in urls])
    assert [server["url"] for server in table.adapter["servers"]] == [urls[2], urls[0], urls[1]]


def adding(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"n": {"type": "string"}, **properties}, "required": [*properties]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"post": {"requestBody": body, "responses": {"200": {"description": "OK"}}, **more}}


def test_a_key_in_every_body_is_a_credential(tmp_path: Path) -> None:
    paths = {f"/{name}": adding({"key": {"type": "string", "description": "A valid API key"}}) for name in "abc"}
    table = documented(tmp_path, paths)
    assert table.adapter["security_schemes"]["key"]["in"] == "body"
    assert requirements(table)["/a"] == [["key"]]
    assert shown(table) & {"key", "n"} == {"n"}
    assert "key" not in str([row["body"] for row in table.rows.values()])


def test_a_key_in_every_body_beside_a_scheme_is_that_schemes(tmp_path: Path) -> None:
    pair = {"client_id": {"type": "string"}, "secret": {"type": "string", "description": "Your API `secret`."}}
    paths = {f"/{name}": adding(pair, security=[{"k": []}]) for name in "ab"}
    table = documented(tmp_path, paths, {"k": KEY})
    assert list(table.adapter["security_schemes"]) == ["k"]
    assert not shown(table) & {"client_id", "secret"}


def test_a_key_in_some_bodies_is_data(tmp_path: Path) -> None:
    kept = adding({"api_key": {"type": "string", "description": "The API key of the integration"}})
    table = documented(tmp_path, {"/a": kept, **{f"/{name}": adding({}) for name in "bcd"}})
    assert "api_key" in shown(table)


def test_a_secret_of_the_callers_own_application_is_none_of_the_agents(tmp_path: Path) -> None:
    def posting(*fields: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object"}
        schema |= {"properties": {name: {"type": "string"} for name in fields}, "required": [fields[0]]}
        body = {"content": {"application/json": {"schema": schema}}}
        return {"post": {"requestBody": body, "responses": {"200": {"description": "OK"}}, "security": []}}

    choosing = posting("client_secret", "grant_type")
    media = choosing["post"]["requestBody"]["content"]["application/json"]
    media["schema"] = {"oneOf": [media["schema"], {"type": "object", "properties": {"scope": {"type": "string"}}}]}
    paths = {
        "/oauth/token": posting("client_secret", "code"),
        "/integrations": posting("client_secret", "name"),
        "/settings/oauth": posting("client_secret", "scope"),
        "/payments/{id}": reading(parameter("id", "path", required=True), parameter("client_secret", "query")),
        "/oauth2/token": choosing,
        **{f"/{name}": reading() for name in "abcdefgh"},
    }
    table = documented(tmp_path, paths)
    shown_secrets = {row["path"] for row in table.rows.values() if "client_secret" in row["parameters"]}
    assert shown_secrets == {"/integrations", "/settings/oauth", "/payments/{id}"}
    needs = requirements(table)
    assert [path for path in paths if needs[path]] == ["/oauth/token", "/oauth2/token"]
    assert [scheme["in"] for scheme in table.adapter["security_schemes"].values()] == ["body"]


def test_a_required_header_of_all_operations_that_is_called_a_token_is_a_credential(tmp_path: Path) -> None:
    token = parameter("X-Shop-Server-Token", description="The token associated with the server.", required=True)
    table = documented(tmp_path, {"/a": reading(token), "/b": reading(token)})
    assert not shown(table)
    assert requirements(table) == {"/a": [["X-Shop-Server-Token"]], "/b": [["X-Shop-Server-Token"]]}


def test_the_key_of_a_repeated_call_is_no_credential_and_a_header_has_no_case(tmp_path: Path) -> None:
    keys = [parameter("Idempotency-Key", description="Your key", required=True), parameter("idempotency-key")]
    table = documented(tmp_path, {"/a": {"post": reading(*keys)["get"]}, "/b": reading(keys[0])})
    assert sorted(shown(table)) == ["Idempotency-Key", "dry_run", "idempotency-key"]


def test_a_filter_by_the_key_of_something_is_no_credential(tmp_path: Path) -> None:
    key = parameter("applicationKey", "query", description="The application key of the product to search for.")
    table = documented(tmp_path, {"/groups": reading(key), "/pets": reading(), "/dogs": reading()})
    assert shown(table) == {"applicationKey"}


def test_a_key_that_is_declared_twice_is_sent_once(tmp_path: Path) -> None:
    query = {"type": "apiKey", "in": "query", "name": "api_key"}
    key = parameter("api_key", "query", required=True)
    paths = {"/a": reading(key), "/b": reading(key)}
    schemes = {"first": query, "second": query, "k": KEY}
    table = documented(tmp_path, paths, schemes, security=[{"first": []}, {"k": []}, {"second": []}])
    assert all(not {"first", "second"} <= set(names) for names in requirements(table)["/a"])


@each(
    ("description", "written"),
    [
        ("Use `Authorization: Token <API_KEY>`\nExample: `Authorization: Token 12345abcdef`", "Token {key}"),
        ('API tokens must be prepended with "token" followed by a space.', "token {key}"),
        ("The API Key with format `Token token=<API_KEY>`", "Token token={key}"),
        ('Access token in `Token token="<base64_token>"` format.', 'Token token="{key}"'),
        ('JWT token prefixed with "Bearer "', "Bearer {key}"),
        ('The string "OAuth" followed by the user\'s token: OAuth ACCESS_TOKEN', "OAuth {key}"),
        ("API Key - NetworkInsight {token}", "NetworkInsight {key}"),
        ("e.g. `SHOP-API-KEY ABCDE123456789`", "SHOP-API-KEY {key}"),
        ("Bearer <<YOUR_API_KEY_HERE>>", "Bearer {key}"),
        ("Enter 'Bearer' [space] and then your token. Example: 'Bearer 12345abcdef'", "Bearer {key}"),
        ("Bearer token authentication", "Bearer {key}"),
        ('The word "Basic" followed by a space and your API key, base64 encoded', ""),
        ('Authorization: Token token="your-token", credential="your-credential"', ""),
        ("Replace YOUR_API_KEY with the key of your account, see <a href='token'>", ""),
        ("Put the key into the header `Authorization: YOUR_API_KEY`", ""),
        ("A JSON Web Token (JWT) used for access control and authorization.", ""),
        ("", ""),
    ],
)
def test_a_key_is_written_as_the_document_describes_it(tmp_path: Path, description: str, written: str) -> None:
    key = {"type": "apiKey", "in": "header", "name": "Authorization", "description": description}
    table = documented(tmp_path, {"/a": reading()}, {"k": key}, security=[{"k": []}])
    assert table.adapter["security_schemes"]["k"].get("format", "") == written
    assert bool(table.findings("key-format")) == bool(written)


def test_a_key_in_a_header_of_another_name_is_sent_alone(tmp_path: Path) -> None:
    key = {**KEY, "description": "Send `X-Key: Token <API_KEY>`"}
    table = documented(tmp_path, {"/a": reading()}, {"k": key}, security=[{"k": []}])
    assert "format" not in table.adapter["security_schemes"]["k"]


@pytest.mark.parametrize(("kind", "location"), [("the API", "info"), ("an operation", "operation")])
def test_other_texts_tell_the_format_of_a_key_where_they_show_the_header(
    tmp_path: Path, kind: str, location: str
) -> None:
    text = f"About {kind}. Send `Authorization: Client APPLICATION_SECRET`. Call it with 'Token 1234567890'."
    key = {"type": "apiKey", "in": "header", "name": "Authorization"}
    operation = reading(security=[{"k": []}], **({"description": text} if location == "operation" else {}))
    document = api({"/a": operation})
    document["components"] = {"securitySchemes": {"k": key}}
    document["info"]["description"] = text if location == "info" else ""
    assert tabulate(tmp_path, document).adapter["security_schemes"]["k"]["format"] == "Client {key}"


def test_the_http_scheme_mutual_is_a_certificate(tmp_path: Path) -> None:
    schemes = {"m": {"type": "http", "scheme": "mutual"}}
    table = documented(tmp_path, {"/a": reading()}, schemes, security=[{"m": []}])
    assert table.adapter["security_schemes"]["m"]["type"] == "mutualTLS"


def test_operations_that_state_nothing_are_believed_where_the_others_state_different_things(tmp_path: Path) -> None:
    paths = {
        "/a": reading(security=[{"b": []}]),
        "/b": reading(security=[{"k": []}]),
        "/c": {"post": {"responses": {"200": {"description": "OK"}}}},
    }
    table = documented(tmp_path, paths, {"b": BEARER, "k": KEY})
    assert requirements(table) == {"/a": [["b"]], "/b": [["k"]], "/c": []}


def test_the_secret_of_an_application_alone_is_no_credential_of_the_api(tmp_path: Path) -> None:
    table = documented(tmp_path, {"/a": reading(parameter("client_secret", "query")), "/b": reading(), "/c": reading()})
    assert table.findings("no-security-scheme")


def test_the_key_of_the_callers_application_is_a_credential_where_most_operations_have_it(tmp_path: Path) -> None:
    key = parameter("key", "query", required=True, description="An application key.")
    table = documented(tmp_path, {"/geocode": reading(key)})
    assert not shown(table)


def test_an_operation_that_takes_other_credentials_too_tells_no_format(tmp_path: Path) -> None:
    key = {"type": "apiKey", "in": "header", "name": "Authorization"}
    text = "An app of ours sends `Authorization: JWT <JWT Token>`."
    paths = {"/a": reading(security=[{"o": []}, {"k": []}], description=text)}
    assert "format" not in documented(tmp_path, paths, {"k": key, "o": OAUTH}).adapter["security_schemes"]["k"]


def test_a_secret_beside_the_proof_of_a_token_endpoint_is_the_callers(tmp_path: Path) -> None:
    text = {"type": "string"}
    pair = {"client_id": text, "client_secret": text, "proof_token": text}
    paths = {
        "/oauth/token": adding(pair),
        "/accounts/merge": adding(pair),
        "/providers": adding({**pair, "name": text}),
        "/clients": adding({"client_id": text, "client_secret": text}),
        "/pets": reading(),
        "/dogs": reading(),
        **{f"/{name}": reading() for name in "abcdef"},
    }
    table = documented(tmp_path, paths, {"k": KEY}, security=[{"k": []}])
    shown_paths = {row["path"] for row in table.rows.values() if "client_secret" in row["parameters"]}
    assert shown_paths == {"/providers", "/clients"}


def test_schemes_that_differ_in_the_spelling_of_their_names_alone_are_one_credential(tmp_path: Path) -> None:
    named = {"bearerAuth": BEARER, "BearerAuth": {**BEARER, "description": "Yours."}, "bearer_auth": KEY, "b": BEARER}
    paths = {"/a": reading(security=[{"bearerAuth": []}]), "/b": reading(security=[{"BearerAuth": []}])}
    schemes = documented(tmp_path, paths, named).adapter["security_schemes"]
    variables = [schemes[name]["variables"] for name in named]
    assert variables[0] == variables[1]
    assert len({tuple(names) for names in variables}) == 3
