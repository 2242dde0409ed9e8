"""What overrides decide about requests: credentials, headers and values, for one operation or for a pattern of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.cli.decisions import as_json as decisions_as_json
from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.auth.sources import report
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.table import Adapter
from tests.cases import each
from tests.documents import INTEGER, JSON, TEXT, body_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate

OK = replies({"type": "object"})
BEARER = {"bearerAuth": {"type": "http", "scheme": "bearer"}}
VERSION = [parameter("Notion-Version", "header", required=True)]
SEARCH = {"content": {JSON: {"schema": object_of("space", query=TEXT, space=TEXT)}}}
NOTION = api(
    {
        "GET /v1/users": {"tags": ["users"], "security": [], "parameters": VERSION, "responses": OK},
        "GET /v1/blocks/{block_id}": {"security": [], "parameters": VERSION, "responses": OK},
        "DELETE /v1/blocks/{block_id}": {"parameters": VERSION, "responses": OK},
        "POST /v1/search": {"security": [], "parameters": VERSION, "requestBody": SEARCH, "responses": OK},
    },
    servers=[{"url": "https://api.example.com"}],
    components={"securitySchemes": BEARER},
    security=[{"bearerAuth": []}],
)
COUNT = parameter("count", schema=INTEGER)
BARE = api(
    {
        "GET /v2/accounts": {"responses": OK},
        "GET /v2/accounts/{account}/envelopes": {"parameters": [COUNT], "responses": OK},
    },
    servers=[{"url": "https://sign.example.com"}],
)


def refused(tmp_path: Path, document: Any, overrides: str) -> list[tuple[int, int, str]]:
    with pytest.raises(OptionError) as caught:
        tabulate(tmp_path, document, overrides=overrides)
    return [(each.line, each.column, each.message) for each in caught.value.diagnostics]


def test_two_lines_make_every_call_of_an_api_that_lifts_its_own_security_authenticated(tmp_path: Path) -> None:
    """A document that requires its credential globally, lifts it on most operations, and gives a version no value."""
    text = 'adapter: {security: [bearerAuth], headers: {Notion-Version: "2026-03-11"}}'
    table = tabulate(tmp_path, NOTION, overrides=text)
    calls: dict[str, dict[str, Any]] = {"list_users": {}, "get_block": {"block_id": "b"}, "search": {"space": "s"}}
    for name, params in calls.items():
        assert "notion_version" not in table.rows[name]["parameters"]
        headers = dict(table.request(tmp_path, name, params, SHOP_BEARER_AUTH="secret").headers)
        assert (headers["Notion-Version"], headers["Authorization"]) == ("2026-03-11", "Bearer secret")
    with pytest.raises(Failure, match="SHOP_BEARER_AUTH"):
        table.request(tmp_path, "list_users")


def test_three_lines_add_the_credential_that_a_document_does_not_name(tmp_path: Path) -> None:
    text = """
    adapter:
      security_schemes: {token: {type: http, scheme: bearer}}
      security: [token]
      variables: {token: SIGN_TOKEN}
    """
    table = tabulate(tmp_path, BARE, overrides=text)
    request = table.request(tmp_path, "list_accounts", SIGN_TOKEN="secret")
    assert dict(request.headers)["Authorization"] == "Bearer secret"
    assert "secret" in request.secrets
    assert table.adapter["security_schemes"]["token"]["variables"] == ["SIGN_TOKEN"]


@pytest.mark.parametrize(
    ("scheme", "variables", "header", "value"),
    [
        ("{type: apiKey, in: header, name: X-Key}", ("SHOP_IT",), "X-Key", "one"),
        ("{type: apiKey, in: cookie, name: sid}", ("SHOP_IT",), "Cookie", "sid=one"),
        (
            "{type: http, scheme: basic}",
            ("SHOP_IT_USERNAME", "SHOP_IT_PASSWORD"),
            "Authorization",
            "Basic b25lOm9uZQ==",
        ),
        ("{type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://a.example'}}}", ("SHOP_IT_TOKEN",), "", ""),
        ("{type: openIdConnect, openIdConnectUrl: 'https://a.example'}", ("SHOP_IT_TOKEN",), "", ""),
    ],
)
def test_a_scheme_of_every_kind_is_sent_as_openapi_says(
    tmp_path: Path, scheme: str, variables: tuple[str, ...], header: str, value: str
) -> None:
    table = tabulate(tmp_path, BARE, overrides=f"adapter: {{security_schemes: {{it: {scheme}}}, security: [it]}}")
    assert tuple(table.adapter["security_schemes"]["it"]["variables"]) == variables
    headers = dict(table.request(tmp_path, "list_accounts", **dict.fromkeys(variables, "one")).headers)
    assert headers[header or "Authorization"] == (value or "Bearer one")


def test_a_header_of_cookies_keeps_what_no_credential_replaces(tmp_path: Path) -> None:
    text = "adapter: {security_schemes: {it: {type: apiKey, in: cookie, name: sid}}, security: [it]}"
    document = api({"GET /a": reading(parameter("Cookie", "header"))}, servers=[{"url": "https://a.example.com"}])
    table = tabulate(tmp_path, document, overrides=text)
    request = table.request(tmp_path, "get_a", {"cookie": "lang=de; SID =old; sid=old"}, SHOP_IT="one")
    assert dict(request.headers)["Cookie"] == "lang=de; sid=one"


def test_an_owners_scheme_replaces_the_documents_and_makes_its_requirements_known(tmp_path: Path) -> None:
    document = NOTION | {"components": {}}
    assert "unknown-security-scheme" in {each["code"] for each in tabulate(tmp_path, document).warnings}
    text = "adapter: {security_schemes: {bearerAuth: {type: apiKey, in: header, name: X-Key}}}"
    table = tabulate(tmp_path, document, overrides=text)
    assert not table.warnings
    headers = dict(
        table.request(tmp_path, "delete_block", {"block_id": "b", "notion_version": "1"}, SHOP_BEARER_AUTH="k").headers
    )
    assert headers["X-Key"] == "k"


def test_the_most_exact_entry_decides_the_security_and_explain_names_it(tmp_path: Path) -> None:
    """R-OWN-2"""
    text = """
    "* /**": {security: [bearerAuth], danger: dangerous}
    GET /v1/*: {security: []}
    operation:get_*: {danger: reversible}
    GET /v1/users: {danger: safe}
    tag:users: {danger: destructive, summary: People}
    """
    table = tabulate(tmp_path, NOTION, overrides=text)
    assert table.rows["list_users"]["security"] == []
    assert table.rows["get_block"]["security"] == [["bearerAuth"]]
    dangers = {name: row["danger"] for name, row in table.rows.items()}
    assert (dangers["list_users"], dangers["get_block"], dangers["delete_block"]) == ("safe", "reversible", "dangerous")
    entries = {row["name"]: row["overrides"] for row in decisions_as_json(table.prepared, [], [])["operations"]}
    assert entries["list_users"] == {"tag:users": ["summary"], "GET /v1/*": ["security"], "GET /v1/users": ["danger"]}
    assert entries["get_block"] == {"* /**": ["security"], "operation:get_*": ["danger"]}
    assert table.rows["get_block"]["danger_reason"] == "override: `operation:get_*` in overrides.yaml"


def test_no_credential_is_sent_where_the_owner_says_none(tmp_path: Path) -> None:
    required = parameter("X-Key", "header", required=True)
    document = api(
        {"GET /a": reading(required)},
        servers=SERVERS,
        components={"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
        security=[{"key": []}],
    )
    table = tabulate(tmp_path, document, overrides="GET /a: {security: []}")
    (name,) = table.rows
    assert "X-Key" not in dict(table.request(tmp_path, name, SHOP_KEY="secret").headers)


def test_a_header_from_the_environment_is_a_secret_that_every_operation_needs(tmp_path: Path) -> None:
    text = """
    adapter: {security: [bearerAuth], headers: {X-Tenant: {env: TENANT}, Notion-Version: "1", accept: text/x}}
    GET /v1/users: {security: []}
    """
    table = tabulate(tmp_path, NOTION, overrides=text)
    request = table.request(tmp_path, "list_users", TENANT="acme-7")
    assert {name: value for name, value in request.headers if name != "User-Agent"} == {
        "Notion-Version": "1",
        "X-Tenant": "acme-7",
        "accept": "text/x",
    }
    assert "acme-7" in request.secrets
    block = {"block_id": "b"}
    assert (
        dict(table.request(tmp_path, "get_block", block, TENANT="t", SHOP_BEARER_AUTH="s").headers)["X-Tenant"] == "t"
    )
    with pytest.raises(Failure, match="TENANT"):
        table.request(tmp_path, "list_users")
    entries = report(Adapter.load(tmp_path / "package"), {"TENANT": "acme-7"})
    assert [(entry["variables"], entry["set"]) for entry in entries] == [
        (["SHOP_BEARER_AUTH"], False),
        (["TENANT"], True),
    ]


def test_a_header_of_the_owner_stands_for_the_schemes_that_send_it(tmp_path: Path) -> None:
    table = tabulate(tmp_path, NOTION, overrides="adapter: {headers: {authorization: {env: TOKEN}}}")
    assert set(table.adapter["security_schemes"]) == {"header authorization"}
    arguments = {"block_id": "b", "notion_version": "1"}
    assert dict(table.request(tmp_path, "delete_block", arguments, TOKEN="Key x").headers)["authorization"] == "Key x"


def test_a_value_is_sent_and_hidden_and_a_default_is_shown_and_used(tmp_path: Path) -> None:
    """R-OWN-2"""
    text = """
    "* /v2/accounts/**":
      parameters: {count: {default: 20}}
    GET /v2/accounts/{account}/envelopes:
      parameters: {account: {value: me/you}}
    """
    table = tabulate(tmp_path, BARE, overrides=text)
    (name,) = (name for name in table.rows if "envelope" in name)
    shown = table.rows[name]["parameters"]
    assert "account" not in shown
    assert shown["count"]["schema"]["default"] == 20
    assert table.request(tmp_path, name).url.endswith("/v2/accounts/me%2Fyou/envelopes?count=20")
    assert table.request(tmp_path, name, {"count": 3}).url.endswith("?count=3")
    with pytest.raises(Failure, match="account"):
        table.request(tmp_path, name, {"account": "other"})


def test_a_value_of_the_body_is_part_of_every_body(tmp_path: Path) -> None:
    text = 'POST /v1/search: {parameters: {space: {value: mine}, Notion-Version: {value: "2"}}}'
    table = tabulate(tmp_path, NOTION, overrides=text)
    request = table.request(tmp_path, "search", {"query": "x"})
    assert request.content is not None
    assert sorted(request.content.decode().strip("{}").split(",")) == ['"query":"x"', '"space":"mine"']
    assert dict(request.headers)["Notion-Version"] == "2"
    with pytest.raises(Failure, match="space"):
        table.request(tmp_path, "search", {"space": "theirs"})


SERVERS = [{"url": "https://a.example"}]
FIELDS = object_of("fooBar", fooBar=TEXT, z=TEXT)


def reading(*parameters: Any) -> dict[str, Any]:
    return {"parameters": list(parameters), "responses": OK}


def sending(media: str = JSON, schema: Any = FIELDS, *parameters: Any) -> dict[str, Any]:
    return {"parameters": list(parameters), "requestBody": body_of(schema, media), "responses": OK}


@each(
    ("key", "operation", "name", "value", "expected"),
    [
        ("GET /a", reading(parameter("q", schema={"type": "array"})), "q", ["x", "y"], "q=x&q=y"),
        ("GET /a", reading(parameter("c", "cookie")), "c", "a=b", "Cookie: c=a%3Db"),
        ("GET /a", reading(parameter("X-V", "header")), "X-V", "1", "X-V: 1"),
        ("GET /a/x-{i}", reading(), "i", "u/v", "/a/x-u%2Fv"),
        ("POST /a", sending(), "fooBar", "k", '"fooBar":"k"'),
        ("POST /a", sending("application/x-www-form-urlencoded"), "fooBar", "k l", "fooBar=k+l"),
        ("POST /a", sending("multipart/form-data"), "fooBar", "k", 'name="fooBar"'),
        ("POST /a", sending("application/xml"), "fooBar", "k", "<fooBar>k</fooBar>"),
        ("POST /a", sending("text/plain", TEXT), "body", "hello", "hello"),
        ("POST /a", sending(JSON, FIELDS, parameter("fooBar")), "body:fooBar", "k", '"fooBar":"k"'),
        ("POST /a", sending(JSON, FIELDS, parameter("fooBar")), "query:fooBar", "k", "?fooBar=k"),
        ("PATCH /a/{i}", sending(), "i", "k", "/a/k"),
    ],
)
@each("way", ["value", "default"])
def test_a_constant_is_sent_in_every_location(
    tmp_path: Path, key: str, operation: dict[str, Any], name: str, value: Any, expected: str, way: str
) -> None:
    text = f"{key}: {json.dumps({'parameters': {name: {way: value}}})}"
    table = tabulate(tmp_path, api({key: operation}, servers=SERVERS), overrides=text)
    ((called, row),) = table.rows.items()
    needed = {
        field: {} if field == "input" else "1" for field, each in row["parameters"].items() if each.get("required")
    }
    request = table.request(tmp_path, called, needed)
    headers = "\n".join(f"{header}: {text}" for header, text in request.headers)
    assert expected in f"{request.url}\n{headers}\n{(request.content or b'').decode()}"
    shown = {each.get("name", field) for field, each in row["parameters"].items()}
    assert (name.rpartition(":")[2] in shown) == (way == "default" or ":" in name)


@pytest.mark.parametrize("media", ["application/json", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("key", ["fooBar", "body:fooBar"])
def test_a_field_of_an_updates_body_is_fixed_and_no_part_of_its_input(tmp_path: Path, media: str, key: str) -> None:
    text = f"PATCH /a/{{i}}: {{parameters: {{{json.dumps(key)}: {{value: k}}}}}}"
    table = tabulate(tmp_path, api({"PATCH /a/{i}": sending(media)}, servers=SERVERS), overrides=text)
    ((name, row),) = table.rows.items()
    assert set(row["parameters"]) == {"i", "input", "fields", "dry_run"}
    content = table.request(tmp_path, name, {"i": "1", "input": {"z": "2"}}).content
    assert content == (b'{"z":"2","fooBar":"k"}' if "json" in media else b"z=2&fooBar=k")
    with pytest.raises(Failure, match="foo"):
        table.request(tmp_path, name, {"i": "1", "input": {"z": "2", "fooBar": "theirs"}})


def test_a_fixed_value_of_a_path_is_not_that_of_a_field_of_the_same_name(tmp_path: Path) -> None:
    document = api({"PATCH /a/{z}": sending()}, servers=SERVERS)
    table = tabulate(tmp_path, document, overrides="PATCH /a/{z}: {parameters: {z: {value: k}}}")
    ((name, _),) = table.rows.items()
    request = table.request(tmp_path, name, {"input": {"foo_bar": "1", "z": "2"}})
    assert (request.url, request.content) == ("https://a.example/a/k", b'{"fooBar":"1","z":"2"}')


def test_a_field_of_an_updates_body_has_no_default_of_the_owner(tmp_path: Path) -> None:
    document = api({"PATCH /a/{i}": sending()})
    text = "PATCH /a/{i}: {parameters: {fooBar: {default: k}}}"
    ((_, _, message),) = refused(tmp_path, document, text)
    assert message == "a default of `fooBar` would overwrite fields that a call of PATCH /a/{i} omits"
    ((_, _, message),) = refused(tmp_path, document, text.replace("fooBar", "fooBat"))
    assert message == "PATCH /a/{i} has no parameter `fooBat`"


def test_a_default_for_a_pattern_is_that_of_the_operations_that_have_the_parameter(tmp_path: Path) -> None:
    document = api({"POST /a": sending(), "PATCH /a/{i}": sending()})
    table = tabulate(tmp_path, document, overrides='"* /a/**": {parameters: {fooBar: {default: k}}}')
    presets = {row["path"]: row["parameters"].get("foo_bar", {}).get("preset") for row in table.rows.values()}
    assert presets == {"/a": "k", "/a/{i}": None}


def test_a_parameter_is_no_secret_by_a_mark_that_is_for_properties(tmp_path: Path) -> None:
    task = parameter("id", "path", {**TEXT, "writeOnly": True})
    row = tabulate(tmp_path, api({"GET /tasks/{id}": {"operationId": "getTask", "parameters": [task]}})).rows
    assert "sensitive" not in json.dumps(row["get_task"])


def test_what_a_sensitive_default_holds_is_not_shown(tmp_path: Path) -> None:
    text = "GET /v2/accounts/{account}/envelopes: {parameters: {account: {default: me, sensitive: true}}}"
    rows = tabulate(tmp_path, BARE, overrides=text).rows
    (row,) = (row for name, row in rows.items() if "envelope" in name)
    assert "default" not in row["parameters"]["account"]["schema"]


@each(
    ("overrides", "place", "message"),
    [
        ("GET /w/*: {danger: safe}", (1, 1), "no operation matches `GET /w/*`"),
        ("operation:fetch_*: {danger: safe}", (1, 1), "no operation matches `operation:fetch_*`"),
        ("operation:fetch_user: {danger: safe}", (1, 1), "no operation has the name or the operationId `fetch_user`"),
        ("GET /v1/users: {security: [bearer]}", (1, 27), "there is no security scheme `bearer`"),
        ("adapter: {security: [bearer]}", (1, 21), "there is no security scheme `bearer`"),
        ("adapter: {variables: {bearer: A}}", (1, 23), "there is no security scheme `bearer`"),
        (
            "adapter: {variables: {bearerAuth: A}, headers: {X-B: {env: A}}}",
            (1, 23),
            "the variable `A` already belongs to the header X-B",
        ),
        ("adapter: {headers: {X-Forwarded-For: a}}", (1, 21), "`X-Forwarded-For` frames or routes requests"),
        ("adapter: {headers: {Authorization: Bearer x}}", (1, 21), "`Authorization` is a credential, which no file"),
        (
            "adapter: {security_schemes: {a: {type: apiKey, in: header, name: Host}}}",
            (1, 66),
            "`Host` frames or routes requests",
        ),
        (
            "GET /v1/users: {parameters: {Notion-Version: {value: 7}}}",
            (1, 54),
            "the value of `notion_version` does not fit",
        ),
        (
            "GET /v1/blocks/{block_id}: {parameters: {block_id: {default: ..}}}",
            (1, 62),
            "the default of `block_id` does not fit: it would lead to another path",
        ),
        (
            "GET /v1/users: {parameters: {Notion-Version: {value: null}}}",
            (1, 54),
            "the value of `notion_version` does not fit: null is not sent",
        ),
        ("* /v1/**: {danger: safe}", (1, 2), "not valid YAML"),
    ],
)
def test_what_cannot_be_is_refused_with_its_position(
    tmp_path: Path, overrides: str, place: tuple[int, int], message: str
) -> None:
    ((line, column, text),) = refused(tmp_path, NOTION, overrides)
    assert text.startswith(message)
    assert (line, column) == place


def test_a_name_that_a_pattern_gives_to_two_operations_is_refused_with_both(tmp_path: Path) -> None:
    assert refused(tmp_path, NOTION, '"* /v1/blocks/*": {name: touch_block}') == [
        (
            1,
            26,
            "the name `touch_block` is taken by GET /v1/blocks/{block_id}, "
            "and `* /v1/blocks/*` gives it to DELETE /v1/blocks/{block_id} too",
        )
    ]


def test_a_parameter_that_the_adapter_pages_with_has_no_value_of_the_owner(tmp_path: Path) -> None:
    pages = parameter("page", schema=INTEGER)
    document = api({"GET /a": {"parameters": [pages], "responses": replies({"type": "array"})}})
    paging = "pagination: {style: page, page_param: page, items: ''}"
    assert refused(tmp_path, document, f"GET /a: {{{paging}, parameters: {{page: {{value: 1}}}}}}") == [
        (1, 93, "the adapter sets `page` itself, to page through GET /a")
    ]


def test_an_operation_is_selected_by_the_name_that_it_has_without_such_entries(tmp_path: Path) -> None:
    """The entry still selects it, the next time too, although its own decision gives it another name."""
    text = "operation:get_block: {name: read_block}\n"
    first = tabulate(tmp_path, NOTION, overrides=text)
    names = {decision.operation.key: decision.name for decision in first.prepared.decisions}
    assert "read_block" in first.rows
    assert tabulate(tmp_path, NOTION, overrides=text, names=names).rows == first.rows


def test_an_operation_that_is_selected_by_its_kept_name_comes_out_again_from_what_is_recorded(tmp_path: Path) -> None:
    text = "operation:fetch_block: {danger: destructive}\n"
    kept = {"GET /v1/blocks/{block_id}": "fetch_block"}
    table = tabulate(tmp_path, NOTION, overrides=text, names=kept)
    assert table.rows["fetch_block"]["danger"] == "destructive"
    pinned = table.prepared.pinned
    assert tabulate(tmp_path, NOTION, overrides=text, names=pinned).rows == table.rows
