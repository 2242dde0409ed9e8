"""Security schemes and requirements in the table: what is sent, where tokens come from, and the owner's variables."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.documents import TEXT, object_of
from tests.generator.commands import Tabulation, posting, tabulate
from tests.in_process import StandIn, dispatcher_of

BODY = {"type": "object"}


def secured(tmp_path: Path, schemes: dict[str, Any], *, security: Any = None, default: Any = None) -> Tabulation:
    document = posting(BODY)
    if security is not None:
        document["paths"]["/things"]["post"]["security"] = security
    document["components"] = {"securitySchemes": schemes}
    if default is not None:
        document["security"] = default
    return tabulate(tmp_path, document)


def test_every_kind_of_scheme_has_variables_of_its_own(tmp_path: Path) -> None:
    schemes = {
        "api-key": {"type": "apiKey", "in": "header", "name": "K"},
        "apiKey": {"type": "apiKey", "in": "header", "name": "L"},
        "key_file": {"type": "apiKey", "in": "cookie", "name": "M"},
        "basic": {"type": "http", "scheme": "Basic"},
        "digest": {"type": "http", "scheme": "digest"},
        "token": {"type": "http", "scheme": "Token"},
        "tls": {"type": "mutualTLS"},
        "web": {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://l.example/a", "scopes": {}}}},
    }
    entries = secured(tmp_path, schemes).adapter["security_schemes"]
    variables = {name: entry["variables"] for name, entry in entries.items()}
    assert len({name for names in variables.values() for name in names}) == 11
    del variables["apiKey"]
    assert variables == {
        "api-key": ["SHOP_API_KEY"],
        "key_file": ["SHOP_KEY_FILE_KEY"],
        "basic": ["SHOP_BASIC_USERNAME", "SHOP_BASIC_PASSWORD"],
        "digest": ["SHOP_DIGEST_USERNAME", "SHOP_DIGEST_PASSWORD"],
        "token": ["SHOP_TOKEN"],
        "tls": ["SHOP_TLS_CERT", "SHOP_TLS_KEY"],
        "web": ["SHOP_WEB_TOKEN"],
    }
    assert entries["token"]["scheme"] == "Token"
    assert "optional_variables" not in entries["web"]


def test_the_flows_and_the_discovery_of_a_scheme_are_kept(tmp_path: Path) -> None:
    flows = {
        "clientCredentials": {"tokenUrl": "/token", "refreshUrl": "/refresh", "scopes": {"a": "A", "b": "B"}},
        "x-own": {"tokenUrl": "/other"},
        "password": "nonsense",
    }
    schemes = {
        "oauth": {"type": "oauth2", "flows": flows},
        "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://l.example/.well-known/openid-configuration"},
    }
    entries = secured(tmp_path, schemes).adapter["security_schemes"]
    assert entries["oauth"]["flows"] == {
        "clientCredentials": {"token_url": "/token", "refresh_url": "/refresh", "scopes": ["a", "b"]},
    }
    assert entries["oauth"]["optional_variables"]["client_secret"] == "SHOP_OAUTH_CLIENT_SECRET"
    assert entries["oauth"]["optional_variables"]["token_url"] == "SHOP_OAUTH_TOKEN_URL"
    assert entries["oidc"]["discovery_url"] == "https://l.example/.well-known/openid-configuration"
    assert entries["oidc"]["optional_variables"]["discovery_url"] == "SHOP_OIDC_DISCOVERY_URL"


def test_an_operation_keeps_the_scopes_that_its_first_alternative_asks_for(tmp_path: Path) -> None:
    flow = {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}
    schemes = {"oauth": {"type": "oauth2", "flows": flow}, "key": {"type": "apiKey", "in": "header", "name": "K"}}
    security = [{"gone": ["x"], "oauth": ["no"]}, {"oauth": ["write"], "key": []}, {"oauth": ["admin"]}]
    table = secured(tmp_path, schemes, security=security, default=[{"oauth": ["read"]}])
    (row,) = table.rows.values()
    assert row["security"] == [["oauth", "key"], ["oauth"]]
    assert row["scopes"] == {"oauth": ["write"]}
    assert table.adapter["scopes"] == {"oauth": ["read"]}
    table = secured(tmp_path, schemes, security=[], default=[{"oauth": "nonsense"}])
    (row,) = table.rows.values()
    assert row["security"] == []
    assert "scopes" not in row
    assert "scopes" not in table.adapter


def test_only_an_alternative_that_requires_a_credential_is_refused_without_it(tmp_path: Path) -> None:
    fields = {"secret": "client_secret", "exchange": "subject_token"}
    alternatives = [object_of(field, grant_type={"enum": [kind]}, **{field: TEXT}) for kind, field in fields.items()]
    document = posting({"oneOf": alternatives})
    document["paths"]["/oauth/token"] = document["paths"].pop("/things")
    package = tabulate(tmp_path, document, overrides="POST /oauth/token: {danger: reversible}").write(
        tmp_path / "package"
    )
    secret, exchange = {"grant_type": "secret"}, {"grant_type": "exchange", "subject_token": "t"}
    for environ, is_sent in (({}, [False, True]), ({"SHOP_CLIENT_SECRET": "s-1"}, [True, True])):
        stand_in = StandIn(lambda _request: {})
        dispatcher = dispatcher_of(package, stand_in, environ=environ)
        for params, expected in zip((secret, exchange), is_sent, strict=True):
            call = {"operation": "create_thing", "params": params}
            answer = asyncio.run(dispatcher.handle("create", call))
            assert answer.get("error", {}).get("code") == (None if expected else "PERMISSION_DENIED"), answer
        assert len(stand_in.sent) == sum(is_sent)
