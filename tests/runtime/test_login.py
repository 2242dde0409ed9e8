"""The command `login`: a person's browser, and what is kept of it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import socket
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from local import Answer, Asked, Local, Running, adapter, hidden, serving

from aqlgen.runtime.auth.discovery import Fetch
from aqlgen.runtime.auth.login import LoginIO, LoginOptions
from aqlgen.runtime.auth.logins import Logins
from aqlgen.runtime.cli import main
from aqlgen.runtime.cli.login import forget, log_in
from aqlgen.runtime.errors import CommandError
from aqlgen.runtime.state import StoreAway, sqlite

ROLES = ("client_id", "client_secret", "refresh_token", "scopes", "audience", "token_url")
CODE = "one-time-code-0123"


def scheme(*grants: str) -> dict[str, Any]:
    flow = {"authorization_url": "/authorize", "token_url": "/token", "scopes": ["from", "flow"]}
    flows = dict.fromkeys(grants, flow)
    roles = {role: f"P_{role.upper()}" for role in ROLES}
    return {"oauth": {"type": "oauth2", "variables": ["P_TOKEN"], "flows": flows, "optional_variables": roles}}


class Server:
    """An authorization server: `login` is what the person's browser does."""

    def __init__(self, **token: Any) -> None:
        self.token = {"access_token": "access-token-1", "refresh_token": "refresh-token-1"} | token
        self.challenge = ""
        self.answers: list[httpx2.Response] = []
        self.when_answered: Callable[[], object] = bool
        self.when_renewed: Callable[[], object] = bool
        self.renewals = 1

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/token":
            return self.exchange(asked.form)
        return Answer({"said": asked.headers.get("authorization")})

    def exchange(self, form: dict[str, str]) -> Answer:
        grant = form["grant_type"]
        if grant == "authorization_code":
            proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
            if form["code"] != CODE or proof.decode() != self.challenge:
                return Answer({"error": "invalid_grant"}, 400)
        elif grant == "refresh_token" and form["refresh_token"] != self.token["refresh_token"]:
            self.token["refresh_token"] = "revoked"  # whoever comes with an old one may have stolen it (RFC 9700, 4.14)
            return Answer({"error": "invalid_grant"}, 400)
        elif grant == "refresh_token":
            self.renewals += 1
            self.token = {f"{kind}_token": f"{kind}-token-{self.renewals}" for kind in ("access", "refresh")}
            self.when_renewed()
        return Answer({key: value for key, value in self.token.items() if value is not None})

    def browser(self, **change: str | None) -> Any:
        """Return a browser that logs in at once and comes back with these changes to what it should bring."""

        def go(redirect: str, query: dict[str, str]) -> None:
            for path in ("/favicon.ico", "/callback?state=forged&code=evil"):
                httpx2.get(redirect.replace("/callback", path))
            with socket.create_connection(("127.0.0.1", urlsplit(redirect).port or 0)) as connection:
                connection.sendall(b"GET //[ HTTP/1.1\r\n\r\n")
                connection.recv(1)
            wanted = {"code": CODE, "state": query["state"]} | change
            back = {key: value for key, value in wanted.items() if value is not None}
            self.answers.append(httpx2.get(redirect, params=back))
            self.when_answered()

        def opened(url: str) -> None:
            query = {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
            self.challenge, self.query = query["code_challenge"], query
            threading.Thread(target=go, args=(query["redirect_uri"], query)).start()

        return opened


def around(browser: Any = None, messages: list[str] | None = None) -> LoginIO:
    printed = [] if messages is None else messages
    return LoginIO(Fetch(10), printed.append, browser, lambda: 1000.0, 20)


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    state = f"sqlite:///{tmp_path}/state/s.sqlite3"
    return {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": state, "P_CLIENT_ID": "me", **more}


def test_a_person_logs_in_once_and_the_adapter_goes_on_by_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    server, messages = Server(), []
    with serving(server) as local:
        row = {"security": [["oauth"]], "scopes": {"oauth": ["pets:read"]}}
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"], row=row)
        mine = environ(tmp_path)
        (before,) = Running(folder, mine).calls()
        result = log_in(folder, None, LoginOptions(), mine, around(server.browser(), messages))
        answers = Running(folder, mine).calls("op", "op")
        again = Running(folder, mine).calls("op")
        gone = [forget(folder, None, mine), forget(folder, "oauth", mine)]
        (after,) = Running(folder, mine).calls()
    assert "'petstore-adapter login'" in before["error"]["message"]
    assert result == "Logged in for 'oauth'. The adapter renews it by itself."
    assert (server.query["scope"], server.query["response_type"]) == ("pets:read", "code")
    assert server.query["code_challenge_method"] == "S256"
    assert "Logged in" in server.answers[0].text
    assert "asyncio" not in {record.name for record in caplog.records if record.levelname == "ERROR"}
    assert all(call["success"] for call in (*answers, *again))
    sent = [call.form.get("refresh_token") for call in local.at("/token")]
    assert sent == [None, "refresh-token-1", "refresh-token-2"]  # one is kept in the place of the other
    assert [line.split()[0] for line in gone] == ["Forgot", "There"]
    assert after["error"]["code"] == "PERMISSION_DENIED"
    state = tmp_path / "state" / "s.sqlite3"
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    hidden(
        ["refresh-token-1", "refresh-token-2", "access-token-2", CODE], result, *messages, *answers, *capfd.readouterr()
    )


def test_a_login_without_a_refresh_token_says_how_long_it_lasts(tmp_path: Path) -> None:
    server = Server(refresh_token=None, expires_in=1200)
    with serving(server) as local:
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        mine = {**environ(tmp_path), "P_SCOPES": "mine"}
        result = log_in(folder, None, LoginOptions(), mine, around(server.browser()))
    assert "for 20 minutes" in result
    assert server.query["scope"] == "mine"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"code": "another"}, "invalid_grant"),
        ({"code": None, "error": "access_denied"}, "access_denied"),
        ({"code": None, "error": "x\x1b[31m", "error_description": "no\x1b[0m way"}, "It says: “no way”"),
    ],
)
def test_a_login_that_fails_says_why(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    server = Server()
    with serving(server) as local:
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        with pytest.raises(CommandError) as caught:
            log_in(folder, None, LoginOptions(), environ(tmp_path), around(server.browser(**change)))
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_forged_redirect_is_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up as soon as the forged one has been answered."""
    server, fail_after, patience = Server(), anyio.fail_after, 20.5

    @contextmanager
    def fail_after_the_answer(seconds: float) -> Iterator[anyio.CancelScope]:
        with fail_after(seconds) as scope:
            if seconds == patience:
                loop = asyncio.get_running_loop()
                server.when_answered = lambda: loop.call_soon_threadsafe(setattr, scope, "deadline", 0.0)
            yield scope

    monkeypatch.setattr(anyio, "fail_after", fail_after_the_answer)
    with serving(server) as local:
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        with pytest.raises(CommandError, match=r"nobody logged in within 20\.5 seconds"):
            log_in(
                folder,
                None,
                LoginOptions(),
                environ(tmp_path),
                around(server.browser(state="forged"))._replace(wait=patience),
            )
    assert server.answers[0].status_code == 400
    assert not local.at("/token")


def test_openid_connect_is_logged_into_where_it_says(tmp_path: Path) -> None:
    server, stated = Server(), dict[str, Any]()

    def answer(asked: Asked) -> Answer:
        if asked.path == "/.well-known/openid-configuration":
            base = f"http://{asked.headers['host']}"
            metadata = {
                "issuer": base,
                "token_endpoint": f"{base}/token",
                "authorization_endpoint": f"{base}/authorize",
                "authorization_response_iss_parameter_supported": True,
            }
            return Answer(metadata | stated)
        return server(asked)

    with serving(answer) as local:
        roles = {role: f"P_{role.upper()}" for role in (*ROLES[:-1], "discovery_url")}
        oidc = {"type": "openIdConnect", "variables": ["P_TOKEN"], "optional_variables": roles}
        schemes = {"oidc": {**oidc, "discovery_url": f"{local.url}/.well-known/openid-configuration"}}
        folder = adapter(tmp_path / "p", f"{local.url}/v1", schemes, ["oidc"])
        with pytest.raises(CommandError, match="another server"):
            log_in(
                folder, "oidc", LoginOptions(), environ(tmp_path), around(server.browser(iss="https://evil.example"))
            )
        with pytest.raises(CommandError, match="another server"):  # it states that it names itself, and did not
            log_in(folder, "oidc", LoginOptions(), environ(tmp_path), around(server.browser()))
        for change in (
            {"issuer": "https://honest.example"},
            {"issuer": None},
            {"issuer": local.url.replace("http:", "https:")},
            {"issuer": local.url, "authorization_endpoint": None},
        ):
            stated |= change
            with pytest.raises(CommandError, match="does not name"):
                log_in(folder, "oidc", LoginOptions(), environ(tmp_path), around(server.browser()))
        stated.clear()
        log_in(folder, "oidc", LoginOptions(), environ(tmp_path), around(server.browser(iss=local.url)))
        assert Running(folder, environ(tmp_path)).calls()[0]["success"]


@pytest.fixture
def logged_in(tmp_path: Path) -> Iterator[tuple[Server, Local, Callable[[], Running]]]:
    """Yield a server at which somebody has logged in, what it was asked, and processes that use the login."""
    server = Server()
    with serving(server) as local:
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        log_in(folder, None, LoginOptions(), environ(tmp_path), around(server.browser()))
        yield server, local, lambda: Running(folder, environ(tmp_path))


def renewals(local: Local) -> list[str]:
    return [call.form["refresh_token"] for call in local.at("/token")[1:]]


def stored(running: Running) -> Any:
    return running.api._credentials.sources.logins


def test_processes_renew_a_login_one_after_the_other(logged_in: Any) -> None:
    server, local, process = logged_in
    server.when_renewed = lambda: time.sleep(0.2)
    processes = [process() for _ in range(3)]

    async def together() -> list[Any]:
        return await asyncio.gather(*(each.call() for each in processes))

    assert [answer["success"] for answer in processes[0].run(together())] == [True] * 3
    assert renewals(local) == ["refresh-token-1", "refresh-token-2", "refresh-token-3"]


def test_a_locked_file_loses_no_login(logged_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked for that could not be stored. What is locked later is used from memory until it is stored."""
    _, local, process = logged_in
    running, used = process(), ""
    with monkeypatch.context() as patched, closing(sqlite3.connect(tmp_path / "state" / "s.sqlite3")) as other:
        patched.setattr(sqlite, "_PATIENCE", 0.02)
        other.execute("BEGIN IMMEDIATE")
        (refused,) = process().calls()
    assert "other processes hold the file" in refused["error"]["message"]
    assert renewals(local) == []

    async def renew() -> None:
        nonlocal used
        authorization = running.api._authorized()
        source = authorization._credentials.sources.of("oauth")
        used = await authorization._grants.token(source, (), local.url, used)

    async def job() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(Logins, "replace", Mock(side_effect=StoreAway("locked")))
            await renew()
        await renew()

    running.run(job())
    assert renewals(local) == ["refresh-token-1", "refresh-token-2"]
    assert stored(running).get("oauth")["refresh_token"] == "refresh-token-3"


def test_a_call_that_is_cancelled_loses_no_login(logged_in: Any) -> None:
    server, _, process = logged_in
    running = process()

    async def job() -> None:
        with anyio.CancelScope() as scope:
            loop = asyncio.get_running_loop()
            server.when_renewed = lambda: (loop.call_soon_threadsafe(scope.cancel), time.sleep(0.1))
            await running.call()
        assert scope.cancelled_caught

    running.run(job())
    assert stored(running).get("oauth")["refresh_token"] == "refresh-token-2"


def test_a_renewal_leaves_a_newer_login_alone(logged_in: Any) -> None:
    server, _, process = logged_in
    running = process()
    newer = {**stored(running).get("oauth"), "refresh_token": "of-the-newer-login"}
    server.when_renewed = lambda: stored(process()).put("oauth", newer)
    assert running.calls()[0]["success"]
    assert stored(running).get("oauth") == newer


@pytest.mark.parametrize(
    ("schemes", "arguments", "settings", "message"),
    [
        (scheme("authorizationCode"), [], {"P_CLIENT_ID": ""}, "set P_CLIENT_ID"),
        (scheme("authorizationCode"), [], {"MCP_AQL_STATE_URL": "memory:"}, "MCP_AQL_STATE_URL"),
        (scheme("authorizationCode"), ["other"], {}, "choose one of oauth"),
        ({**scheme("authorizationCode"), "b": scheme("authorizationCode")["oauth"]}, [], {}, "oauth, b"),
        ({"key": {"type": "apiKey", "in": "header", "name": "K", "variables": ["P_KEY"]}}, [], {}, "has no login"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    schemes: dict[str, Any],
    arguments: list[str],
    settings: dict[str, str],
    message: str,
) -> None:
    folder = adapter(tmp_path / "p", "http://127.0.0.1:9/v1", schemes)
    for name, value in (environ(tmp_path) | settings).items():
        monkeypatch.setenv(name, value)
    assert main(folder, None, ["login", "--no-browser", *arguments]) == 1
    _, err = capsys.readouterr()
    assert message in err
    assert len(err.splitlines()) == 1


def test_doctor_tells_of_a_login(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    with serving(server) as local:
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        log_in(folder, None, LoginOptions(), environ(tmp_path), around(server.browser()))
    for name, value in environ(tmp_path).items():
        monkeypatch.setenv(name, value)
    assert main(folder, None, ["doctor"]) == 0
    out, _ = capsys.readouterr()
    assert f"or login                 in use       P_CLIENT_ID and the command login  {local.url}/token" in out
    hidden(["refresh-token-1", "access-token-1"], out)
    for file in (tmp_path / "state").glob("s.sqlite3*"):
        file.unlink()  # also the journal, from which SQLite would restore it
    (tmp_path / "state" / "s.sqlite3").write_text("no database " * 100)
    assert [main(folder, None, command) for command in (["doctor"], ["login", "--forget"])] == [0, 1]
    out, err = capsys.readouterr()
    assert "does not answer" in out
    assert err.startswith("Error: the state in ")


def test_the_address_of_the_document_says_nothing_of_the_login(tmp_path: Path) -> None:
    """RFC 6749, 3.1: a server that reads the first of two parameters would send the code elsewhere, or without PKCE."""
    server, opened = Server(), []
    forged = "?prompt=consent&redirect_uri=https://evil.example/&code_challenge_method=plain&state=s&client_id=evil#x"

    def browser(url: str) -> None:
        opened.append(url)
        server.browser()(url)

    with serving(server) as local:
        schemes = scheme("authorizationCode")
        schemes["oauth"]["flows"]["authorizationCode"]["authorization_url"] = f"/authorize{forged}"
        folder = adapter(tmp_path / "p", f"{local.url}/v1", schemes, ["oauth"])
        log_in(folder, None, LoginOptions(), environ(tmp_path), around(browser))
    query = parse_qs(urlsplit(opened[0]).query)
    assert [name for name, values in query.items() if len(values) > 1] == []
    assert (query["prompt"], query["client_id"], query["code_challenge_method"]) == (["consent"], ["me"], ["S256"])
    assert query["redirect_uri"][0].startswith("http://127.0.0.1:")
    assert "#" not in opened[0]
