"""Credentials from the environment, and the message when they are missing."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.auth.sources import report
from aqlgen.runtime.errors import Code

from .hand_made import Make, operation

SCHEMES: dict[str, Any] = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]},
    "query_key": {"type": "apiKey", "in": "query", "name": "api key", "variables": ["P_QUERY"]},
    "cookie_key": {"type": "apiKey", "in": "cookie", "name": "sid", "variables": ["P_COOKIE"]},
    "basic": {"type": "http", "scheme": "Basic", "variables": ["P_USER", "P_PASSWORD"]},
    "bearer": {"type": "http", "scheme": "bearer", "variables": ["P_BEARER"]},
    "oauth": {"type": "oauth2", "variables": ["P_OAUTH"]},
    "tls": {"type": "mutualTLS", "variables": []},
}


def about(*security: list[str]) -> dict[str, Any]:
    return {"security_schemes": SCHEMES, "security": list(security)}


@pytest.mark.parametrize(
    ("scheme", "environ", "header", "value"),
    [
        ("key", {"P_KEY": "k1\n"}, "X-Key", "k1"),
        ("cookie_key", {"P_COOKIE": "a;b"}, "Cookie", "sid=a%3Bb"),
        (
            "basic",
            {"P_USER": "u", "P_PASSWORD": "p:q"},
            "Authorization",
            "Basic " + base64.b64encode(b"u:p:q").decode(),
        ),
        ("basic", {"P_USER": "key", "P_PASSWORD": ""}, "Authorization", "Basic " + base64.b64encode(b"key:").decode()),
        ("bearer", {"P_BEARER": "t1"}, "Authorization", "Bearer t1"),
        ("bearer", {"P_BEARER": "Bearer t1"}, "Authorization", "Bearer t1"),
        ("oauth", {"P_OAUTH": "t2"}, "Authorization", "Bearer t2"),
    ],
)
def test_each_scheme_is_sent_as_the_api_wants_it(
    package: Make, scheme: str, environ: dict[str, str], header: str, value: str
) -> None:
    sent = package({"op": operation()}, adapter=about([scheme]), environ=environ).build({})
    assert dict(sent.headers)[header] == value
    assert sent.secrets


def test_a_key_in_the_query_follows_the_parameters(package: Make) -> None:
    parameters = {"a": {"in": "query", "schema": {}}}
    pets = package({"op": operation(parameters=parameters)}, adapter=about(["query_key"]), environ={"P_QUERY": "s&t"})
    sent = pets.build({"a": 1})
    assert sent.url == "https://api.example.com/v1/pets?a=1&api%20key=s%26t"
    assert "s&t" in sent.secrets


def test_a_credential_may_stand_in_a_file(package: Make, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from-file\n")
    pets = package({"op": operation()}, adapter=about(["key"]), environ={"P_KEY_FILE": str(tmp_path / "secret")})
    assert dict(pets.build({}).headers)["X-Key"] == "from-file"
    elsewhere = package({"op": operation()}, adapter=about(["key"]), environ={"P_KEY_FILE": str(tmp_path / "gone")})
    assert elsewhere.refused({}).details["reason"] == "the file of P_KEY_FILE cannot be read"


def test_the_first_alternative_that_is_set_is_used(package: Make) -> None:
    adapter = about(["key"], ["bearer", "query_key"], ["oauth"])
    pets = package({"op": operation()}, adapter=adapter, environ={"P_BEARER": "b", "P_OAUTH": "o"})
    assert dict(pets.build({}).headers)["Authorization"] == "Bearer o"
    both = package({"op": operation()}, adapter=adapter, environ={"P_BEARER": "b", "P_QUERY": "q", "P_OAUTH": "o"})
    sent = both.build({})
    assert dict(sent.headers)["Authorization"] == "Bearer b"
    assert sent.url.endswith("?api%20key=q")


def test_an_operation_may_need_none_and_an_optional_one_is_used_when_set(package: Make) -> None:
    rows = {"op": operation(security=[]), "maybe": operation(security=[[], ["key"]])}
    assert "X-Key" not in dict(package(rows, adapter=about(["key"]), environ={"P_KEY": "k"}).build({}).headers)
    assert (
        dict(package(rows, adapter=about(["key"]), environ={"P_KEY": "k"}).build({}, "maybe").headers)["X-Key"] == "k"
    )
    assert "X-Key" not in dict(package(rows, adapter=about(["key"])).build({}, "maybe").headers)


def test_a_missing_credential_names_its_variable_and_doctor(package: Make) -> None:
    """R-ERR-2, R-ENV-5."""
    failure = package({"op": operation()}, adapter=about(["key"], ["basic"]), environ={"P_USER": "u"}).refused({})
    assert failure.code is Code.PERMISSION_DENIED
    assert failure.message.startswith("Permission denied: ")
    for word in ("P_KEY", "P_PASSWORD", "_FILE", "'petstore-adapter doctor'"):
        assert word in failure.message
    assert failure.details["missing"] == ["P_KEY", "P_PASSWORD"]
    assert "http_status" not in failure.details


def test_a_kind_of_credential_that_is_not_served_says_so(package: Make) -> None:
    failure = package({"op": operation()}, adapter=about(["tls"])).refused({})
    assert failure.code is Code.PERMISSION_DENIED
    assert "tls" in failure.message


def test_the_report_says_what_is_set_and_never_its_value(package: Make) -> None:
    pets = package({"op": operation()}, adapter=about())
    entries = report(pets.adapter, {"P_KEY": "topsecret", "P_USER": "u"})
    assert {entry["scheme"]: entry["set"] for entry in entries} == {
        "key": True,
        "query_key": False,
        "cookie_key": False,
        "basic": False,
        "bearer": False,
        "oauth": False,
        "tls": False,
    }
    assert entries[0] == {
        "scheme": "key",
        "type": "apiKey",
        "variables": ["P_KEY"],
        "set": True,
        "sent": "header X-Key: {key}",
    }
    assert "topsecret" not in str(entries)


def test_the_mock_asks_for_no_credential_and_no_server(package: Make) -> None:
    pets = package({"op": operation()}, adapter=about(["key"]) | {"servers": []}, transport="mock")
    assert pets.build({}).url.endswith("/pets")
