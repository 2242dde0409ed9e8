"""Tokens of OAuth 2.0 and OpenID Connect: had, kept, renewed, and never shown."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from local import Answer, Asked, Local, Running, adapter, hidden, serving

from tests.cases import each

SECRET = "s3cr3t/+ value"
ROLES = ("client_id", "client_secret", "refresh_token", "username", "password", "scopes", "audience", "token_url")


def scheme(*grants: str, **more: Any) -> dict[str, Any]:
    flows = {grant: {"token_url": "/token", "authorization_url": "/authorize", "scopes": ["a"]} for grant in grants}
    roles = {role: f"P_{role.upper()}" for role in ROLES}
    return {"oauth": {"type": "oauth2", "variables": ["P_TOKEN"], "flows": flows, "optional_variables": roles, **more}}


class Server:
    """An API that wants the newest token, and its token endpoint. `refuse` answers the endpoint with an error."""

    def __init__(self, expires: int | str | None = 3600) -> None:
        self.expires = expires
        self.given = 0
        self.good = ""
        self.refuse: Answer | None = None
        self.method = "basic"
        self.rotates = False
        self.lock = threading.Lock()

    def __call__(self, asked: Asked) -> Answer:
        path = asked.path.partition("?")[0]
        if path == "/token":
            return self.refuse or self.token(asked)
        if asked.headers.get("authorization") != f"Bearer {self.good}":
            return Answer({"message": f"not good: {asked.headers.get('authorization')}"}, 401)
        return Answer({"said": asked.headers["authorization"], "n": 1})

    def token(self, asked: Asked) -> Answer:
        basic = asked.headers.get("authorization", "").startswith("Basic ")
        if basic is not (self.method == "basic"):
            return Answer({"error": "invalid_client", "error_description": "no such way"}, 401)
        with self.lock:
            self.given += 1
            self.good = f"access-{self.given}-token"
        body: dict[str, Any] = {"access_token": self.good, "token_type": "Bearer"}
        if self.expires is not None:
            body["expires_in"] = self.expires
        if self.rotates:
            body["refresh_token"] = f"rotated-{self.given}-refresh"
        return Answer(body)


@contextmanager
def oauth(
    tmp_path: Path, server: Callable[[Asked], Answer], schemes: dict[str, Any], environ: dict[str, str], **more: Any
) -> Iterator[tuple[Local, Running]]:
    clock: Callable[[], float] | None = more.pop("clock", None)
    with serving(server) as local:
        folder = adapter(tmp_path / "package", f"{local.url}/v1", schemes, ["oauth"], **more)
        yield local, Running(folder, environ, clock)


CLIENT = {"P_CLIENT_ID": "me", "P_CLIENT_SECRET": SECRET}


def test_client_credentials_are_asked_for_once_and_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = Server()
    more = {"scopes": {"oauth": ["write", "read"]}}
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT, **more) as (local, running):
        answers = running.calls("op", "change", "op")
    assert [answer["success"] for answer in answers] == [True] * 3
    (asked,) = local.at("/token")
    assert asked.form == {"grant_type": "client_credentials", "scope": "read write"}
    pair = base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")).decode()
    assert pair == "me:s3cr3t%2F%2B+value"
    assert answers[0]["data"]["said"] == "Bearer ***"
    hidden([SECRET, "access-1-token", pair], *answers, *capfd.readouterr())


def test_many_calls_that_wait_share_one_token(tmp_path: Path) -> None:
    server = Server()
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT) as (local, running):
        answers = running.together(20)
    assert all(answer["success"] for answer in answers)
    assert len(local.at("/token")) == 1


def test_a_token_is_renewed_before_it_ends(tmp_path: Path) -> None:
    now = [1000.0]
    with oauth(tmp_path, Server(100), scheme("clientCredentials"), CLIENT, clock=lambda: now[0]) as (local, running):

        async def job() -> list[int]:
            counts = []
            for seconds in (0, 89, 2, 0):
                now[0] += seconds
                assert (await running.call())["success"]
                counts.append(len(local.at("/token")))
            return counts

        assert running.run(job()) == [1, 1, 2, 2]


def test_a_token_that_still_lasts_is_used_while_the_endpoint_is_down(tmp_path: Path) -> None:
    now, server = [0.0], Server(100)
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT, clock=lambda: now[0]) as (_, running):

        async def job() -> list[bool]:
            successes = [(await running.call())["success"]]
            server.refuse = Answer({}, 503)
            for seconds in (95, 10):
                now[0] += seconds
                successes.append((await running.call())["success"])
            return successes

        assert running.run(job()) == [True, True, False]


def test_a_token_that_the_api_no_longer_takes_is_renewed_once(tmp_path: Path) -> None:
    server = Server(None)
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT) as (local, running):

        async def job() -> None:
            assert (await running.call())["success"]
            server.good = "revoked"
            assert (await running.call("change", note="x"))["success"]
            server.good, server.token = "never", lambda _: Answer({"access_token": "worthless-token"})  # type: ignore[method-assign]
            refused = await running.call()
            assert refused["error"]["code"] == "PERMISSION_DENIED"
            assert refused["error"]["details"]["http_status"] == 401
            hidden(["worthless-token"], refused)

        running.run(job())
    assert len(local.at("/token")) == 3
    assert len(local.at("/v1/pets")) == 5


def test_a_server_that_wants_the_secret_in_the_form_gets_it_there(tmp_path: Path) -> None:
    server = Server(None)
    server.method = "post"
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT) as (local, running):

        async def job() -> None:
            assert (await running.call())["success"]
            for server.method in ("post", "basic", "basic"):
                server.good = "revoked"
                assert (await running.call())["success"]

        running.run(job())
    asked = local.at("/token")
    assert ["authorization" in each.headers for each in asked] == [True, False, False, False, True, True]
    assert {(each.form["client_id"], each.form["client_secret"]) for each in asked[1:4]} == {("me", SECRET)}


@each("names", [("op", "change"), ("change", "op")])
def test_two_clients_authenticate_at_one_server_each_in_its_own_way(tmp_path: Path, names: tuple[str, str]) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path != "/token":
            return Answer({"n": 1}) if asked.headers["authorization"] == "Bearer good-token" else Answer({}, 401)
        is_public = asked.form["grant_type"] == "password"
        is_known = ("authorization" in asked.headers) is not is_public and asked.form.get("client_secret") is None
        return Answer(
            {"access_token": "good-token"} if is_known else {"error": "invalid_client"}, 200 if is_known else 401
        )

    public = scheme("password")["oauth"]
    roles = {role: f"Q_{role.upper()}" for role in ROLES}
    schemes = {
        **scheme("clientCredentials"),
        "public": {**public, "variables": ["Q_TOKEN"], "optional_variables": roles},
    }
    environ = {**CLIENT, "Q_CLIENT_ID": "app", "Q_USERNAME": "ann", "Q_PASSWORD": "pass word"}
    row = {"row": {"security": [["public"]]}}
    with oauth(tmp_path, answer, schemes, environ, **row) as (local, running):
        assert [envelope["success"] for envelope in running.calls(*names)] == [True, True]
    assert len(local.at("/token")) == 2


def test_each_set_of_scopes_has_its_token_unless_the_owner_says_which(tmp_path: Path) -> None:
    row = {"row": {"security": [["oauth"]], "scopes": {"oauth": ["admin"]}}, "scopes": {"oauth": ["plain"]}}
    server = Server()
    with oauth(tmp_path / "1", server, scheme("clientCredentials"), CLIENT, **row) as (local, running):
        running.calls("op", "change")
    assert [request.form["scope"] for request in local.at("/token")] == ["admin", "plain"]
    row = {"row": {"security": [["oauth"]], "scopes": {"oauth": ["admin"]}}, "scopes": {"oauth": ["plain"]}}
    with oauth(tmp_path / "2", server, scheme("clientCredentials"), CLIENT | {"P_SCOPES": "all of"}, **row) as (
        local,
        running,
    ):
        assert all(envelope["success"] for envelope in running.calls("op", "change"))
    assert [request.form["scope"] for request in local.at("/token")] == ["all of"]


def test_a_token_given_directly_wins(tmp_path: Path) -> None:
    server = Server()
    server.good = "given-by-hand"
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT | {"P_TOKEN": "given-by-hand"}) as (
        local,
        running,
    ):
        (answer,) = running.calls()
    assert answer["success"]
    assert not local.at("/token")
    hidden(["given-by-hand"], answer)


@pytest.mark.parametrize("grants", [("implicit",), ("password",), ("authorizationCode",)])
def test_a_token_given_directly_serves_every_flow(tmp_path: Path, grants: tuple[str, ...]) -> None:
    server = Server()
    server.good = "given-by-hand"
    with oauth(tmp_path, server, scheme(*grants), {"P_TOKEN": "Bearer given-by-hand"}) as (_, running):
        assert running.calls()[0]["success"]


def test_the_password_flow_uses_the_owners_name_and_password(tmp_path: Path) -> None:
    server = Server()
    server.method = "none"
    with oauth(tmp_path, server, scheme("password"), {"P_USERNAME": "u", "P_PASSWORD": "pass word"}) as (
        local,
        running,
    ):
        assert running.calls()[0]["success"]
    assert local.at("/token")[0].form == {"grant_type": "password", "username": "u", "password": "pass word"}


def test_a_refresh_token_that_is_replaced_is_used_from_memory(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Server(None)
    server.rotates = True
    environ = CLIENT | {"P_REFRESH_TOKEN": "first-refresh-token", "XDG_STATE_HOME": str(tmp_path / "state")}
    with oauth(tmp_path, server, scheme("authorizationCode"), environ | {"MCP_AQL_STATE_URL": ""}) as (local, running):

        async def job() -> list[Any]:
            first = await running.call()
            server.good = "revoked"
            return [first, await running.call()]

        answers = running.run(job())
    assert all(answer["success"] for answer in answers)
    sent = [request.form["refresh_token"] for request in local.at("/token")]
    assert sent == ["first-refresh-token", "rotated-1-refresh"]
    assert not (tmp_path / "state").exists()
    hidden(["first-refresh-token", "rotated-1-refresh"], *answers, *capfd.readouterr())


@pytest.mark.parametrize(
    ("grant", "error", "hint"),
    [
        ("clientCredentials", "invalid_client", "Check P_CLIENT_ID, P_CLIENT_SECRET, P_SCOPES"),
        ("authorizationCode", "invalid_grant", "Check P_CLIENT_ID, P_REFRESH_TOKEN"),
        ("clientCredentials", "something else", "doctor"),
    ],
)
def test_a_refusal_of_the_token_endpoint_says_what_to_do(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], grant: str, error: str, hint: str
) -> None:
    """R-ERR-2, R-ENV-4"""
    server = Server()
    server.refuse = Answer({"error": error, "error_description": f"bad {SECRET}"}, 400)
    environ = CLIENT | ({"P_REFRESH_TOKEN": "first-refresh-token"} if grant == "authorizationCode" else {})
    with oauth(tmp_path, server, scheme(grant), environ) as (local, running):
        answers = running.together(5)
    for answer in answers:
        assert answer["error"]["code"] == "PERMISSION_DENIED"
        assert hint in answer["error"]["message"]
        assert answer["error"]["details"]["upstream"]["code"] == error
        assert answer["error"]["details"].get("oauth_error", error) == error
        assert error in answer["error"]["message"] or " " in error
    assert len(local.at("/token")) <= 2  # those who wait fail with the one that asked
    assert not local.at("/v1/pets")
    hidden([SECRET, "first-refresh-token"], *answers, *capfd.readouterr())


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"access_token": "made-1-token", **more}, 201)
        for more in ({}, {"error": None}, {"expires_in": 10**400}, {"token_type": "BearerToken"})
    ],
    ids=["created", "error-null", "for-ever", "type"],
)
def test_any_success_with_a_token_has_given_one(tmp_path: Path, answer: Answer) -> None:
    server = Server()
    server.good, server.refuse = "made-1-token", answer
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT) as (local, running):
        assert [envelope["success"] for envelope in running.calls("op", "op")] == [True, True]
        assert len(local.at("/token")) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer({}, 503), "failed (HTTP 503)"),
        (Answer({}, 201), "without a token"),
        (Answer({"access_token": 7}), "without a token"),
        (Answer({"access_token": " "}), "without a token"),
        (Answer({"access_token": "tök€n"}), "without a token"),
        (Answer({"access_token": "a" * 100_000}), "without a token"),
        *((Answer({"access_token": "a", "token_type": name}), "than Bearer") for name in ("mac", "DPoP", "N_A", 5)),
        (Answer({}, 302, {"Location": "https://evil.example/"}), "redirected"),
        (Answer(b"x" * 2_000_000), "too much"),
    ],
)
def test_a_token_endpoint_that_does_not_work_is_told_as_such(tmp_path: Path, answer: Answer, reason: str) -> None:
    server = Server()
    server.refuse = answer
    with oauth(tmp_path, server, scheme("clientCredentials"), CLIENT) as (_, running):
        (envelope,) = running.calls()
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert reason in envelope["error"]["message"]


def test_a_secret_never_goes_to_an_endpoint_in_the_clear(tmp_path: Path) -> None:
    schemes = scheme("clientCredentials")
    schemes["oauth"]["flows"]["clientCredentials"]["token_url"] = "http://login.example.com/token"
    with oauth(tmp_path, Server(), schemes, CLIENT) as (_, running):
        (envelope,) = running.calls()
    assert "not https" in envelope["error"]["message"]


def test_what_is_missing_names_every_way(tmp_path: Path) -> None:
    schemes = scheme("clientCredentials", "authorizationCode")
    with oauth(tmp_path, Server(), schemes, {"P_CLIENT_ID": "me"}) as (_, running):
        (envelope,) = running.calls()
    error = envelope["error"]
    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"]["missing"] == ["P_TOKEN"]
    for remedy in ("P_TOKEN", "P_CLIENT_ID and P_CLIENT_SECRET", "'petstore-adapter login'", "doctor"):
        assert remedy in error["message"]


def test_openid_connect_finds_its_endpoints(tmp_path: Path) -> None:
    server = Server()

    def answer(asked: Asked) -> Answer:
        if asked.path == "/issuer/.well-known/openid-configuration":
            base = f"http://{asked.headers['host']}"
            return Answer({"issuer": f"{base}/issuer", "token_endpoint": f"{base}/token"})
        return Answer({}, 404) if asked.path.startswith("/issuer") else server(asked)

    for place in ("/issuer/.well-known/openid-configuration", "/issuer", "/issuer/"):
        with serving(answer) as local:
            roles = {role: f"P_{role.upper()}" for role in (*ROLES[:-1], "discovery_url")}
            oidc = {"type": "openIdConnect", "variables": ["P_TOKEN"], "optional_variables": roles}
            schemes = {"oauth": {**oidc, "discovery_url": f"{local.url}{place}"}}
            folder = adapter(tmp_path / f"at{len(place)}", f"{local.url}/v1", schemes, ["oauth"])
            assert all(envelope["success"] for envelope in Running(folder, CLIENT).calls("op", "op"))
        assert len(local.at("/token")) == 1


@pytest.mark.parametrize(
    "document",
    [{}, {"token_endpoint": "http://login.example.com/token"}, {"token_endpoint": 7}, ["no object"]],
)
def test_a_discovery_document_that_cannot_be_used_is_told_as_such(tmp_path: Path, document: Any) -> None:
    with serving(lambda _: Answer(document)) as local:
        roles = {role: f"P_{role.upper()}" for role in ROLES[:-1]}
        url = f"{local.url}/.well-known/openid-configuration"
        oidc = {"type": "openIdConnect", "variables": ["P_TOKEN"], "optional_variables": roles, "discovery_url": url}
        folder = adapter(tmp_path, f"{local.url}/v1", {"oauth": oidc}, ["oauth"])
        (envelope,) = Running(folder, CLIENT).calls()
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert "endpoint" in envelope["error"]["message"]


def test_a_request_that_is_built_holds_no_token_and_its_mark_is_masked(tmp_path: Path) -> None:
    """R-SEL-5: a dry run shows the request as it is built."""
    with oauth(tmp_path, Server(), scheme("clientCredentials"), CLIENT) as (_local, running):
        row = running.parts.table.find("op")
        assert row is not None
        sent = running.api.build(row, {})
        (value,) = [value for name, value in sent.headers if name == "Authorization"]
        assert value.removeprefix("Bearer ") in sent.secrets

        async def job() -> Any:
            return await running.api.authorize(sent, row)

        full = running.run(job())
        assert dict(full.headers)["Authorization"] == "Bearer access-1-token"
        assert "access-1-token" in full.secrets
        assert "access-1-token" not in repr(sent)


def test_what_was_taken_out_of_a_request_is_not_put_back(tmp_path: Path) -> None:
    """A page of another host is asked for without credentials: whoever asks takes the header away."""
    from dataclasses import replace

    with oauth(tmp_path, Server(), scheme("clientCredentials"), CLIENT) as (local, running):
        row = running.parts.table.find("op")
        assert row is not None
        bare = replace(running.api.build(row, {}), headers=())

        async def job() -> Any:
            return await running.api.authorize(bare, row)

        assert running.run(job()).headers == ()
    assert not local.asked
