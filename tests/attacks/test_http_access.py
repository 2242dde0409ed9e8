"""Attacks on who may use the adapter over HTTP: starting open, Host and Origin, tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.server.auth.provider import AccessToken

from aqlgen.runtime.cli import main
from aqlgen.runtime.cli.doctor import doctor, render_doctor
from aqlgen.runtime.server.access import AccessError, Place
from aqlgen.runtime.settings.load import ConfigError, load
from aqlgen.runtime.settings.tables import HttpSettings
from tests.cases import each, setting
from tests.runtime.http_endpoint import OPENING, TOKENS, WITH_TOKEN, A, B, access_of, endpoint
from tests.runtime.tiny_zoo import write_package

# Starting open


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "::ffff:0.0.0.0"])
def test_beyond_loopback_it_does_not_start_without_authentication(
    package: Path, host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("MCP_AQL_HTTP_AUTH", "MCP_AQL_HTTP_TOKEN", "MCP_AQL_HTTP_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MCP_AQL_STATE_URL", "memory:")
    assert main(package, None, ["--transport", "http", "--host", host, "--port", "0", "--mock"]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "MCP_AQL_HTTP_AUTH=token" in error
    assert "MCP_AQL_HTTP_AUTH=none" in error


@pytest.mark.parametrize("address", ["10.1.2.3", "192.168.0.7", "203.0.113.9", "fe80::1%eth0", "2001:db8::1"])
def test_no_address_of_the_network_is_taken_for_this_machine(address: str) -> None:
    with pytest.raises(AccessError, match="MCP_AQL_HTTP_AUTH"):
        access_of(HttpSettings(), address=address)
    assert access_of(HttpSettings(auth="none"), address=address).kind == "none"


@pytest.mark.parametrize(
    "url", ["https://mcp.example.com/mcp", "http://10.1.2.3:8000/mcp", "https://localhost.evil/mcp"]
)
def test_an_address_at_which_others_reach_it_needs_authentication_on_loopback_too(url: str) -> None:
    with pytest.raises(AccessError, match=f"over HTTP at {url}"):
        access_of(HttpSettings(url=url))
    assert access_of(HttpSettings(url=url, auth="none")).kind == "none"
    assert access_of(HttpSettings(url="http://localhost:8000/mcp")).kind == "none"


THROUGH_A_PROXY = [
    ("Forwarded", "for=127.0.0.1;host=localhost"),
    ("FORWARDED", ""),
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-Host", "localhost"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Prefix", "/"),
    ("Via", "1.1 caddy"),
    ("X-Real-IP", "::1"),
    ("CF-Connecting-IP", "203.0.113.9"),
    ("X-Envoy-External-Address", "203.0.113.9"),
    ("True-Client-IP", "203.0.113.9"),
]


@pytest.mark.anyio
async def test_what_came_through_a_proxy_is_not_this_machine(package: Path) -> None:
    """R-TRUST-3: the proxy's own address is loopback, whoever sends it requests."""
    everyone = HttpSettings(auth="none")
    async with endpoint(package) as exempt, endpoint(package, everyone) as opened:
        async with endpoint(package, WITH_TOKEN, environ=TOKENS) as demanding:
            for header in THROUGH_A_PROXY:
                answer = await exempt.rpc("tools/list", {}, headers=[header])
                assert (header, answer.status, answer.json["error"]) == (header, 403, "authentication_required")
                assert "MCP_AQL_HTTP_TOKEN" in answer.json["message"]
                assert (header, await opened.open(headers=[header])) != (header, "status 403")
                assert (await demanding.open(headers=[header], token=A)).isalnum()
                assert await demanding.open(headers=[header]) == "status 401"
        assert (await exempt.send(version="1.0")).status == 403  # what nginx speaks unless it is told otherwise
        assert (await exempt.open()).isalnum()


@pytest.mark.parametrize(
    ("tokens", "hint"),
    [
        ("", "needs MCP_AQL_HTTP_TOKEN"),
        ("\n \n", "needs MCP_AQL_HTTP_TOKEN"),
        ("hunter2", "too short"),
        ("x" * 15, "too short"),
        (f"{A}\nhunter2", "token 2 of 2"),
        ("a token with blanks in it", "character"),
        ("ein-schlüssel-für-die-tür", "character"),
        ("tab\tbetween-two-halves", "character"),
    ],
)
def test_a_weak_or_unusable_token_does_not_start_it(tokens: str, hint: str) -> None:
    with pytest.raises(AccessError, match=hint) as refusal:
        access_of(WITH_TOKEN, {"MCP_AQL_HTTP_TOKEN": tokens})
    assert "\n" not in str(refusal.value)
    assert not any(token.strip() in str(refusal.value) for token in tokens.splitlines() if len(token.strip()) > 5)


def test_a_token_file_that_is_missing_does_not_start_it_open(tmp_path: Path) -> None:
    environ = {"MCP_AQL_HTTP_TOKEN_FILE": str(tmp_path / "missing")}
    for settings in (WITH_TOKEN, HttpSettings()):
        with pytest.raises(AccessError, match="MCP_AQL_HTTP_TOKEN_FILE cannot be read"):
            access_of(settings, environ)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        (HttpSettings(auth="oauth"), "MCP_AQL_OAUTH_ISSUER"),
        (HttpSettings(auth="oauth", oauth_audience="api"), "MCP_AQL_OAUTH_ISSUER"),
        (HttpSettings(auth="oauth", oauth_issuer="https://login.example"), "MCP_AQL_OAUTH_AUDIENCE"),
        (HttpSettings(oauth_issuer="https://login.example"), "MCP_AQL_OAUTH_AUDIENCE"),
    ],
)
def test_half_an_oauth_configuration_does_not_start_it(settings: HttpSettings, hint: str) -> None:
    with pytest.raises(AccessError, match=hint):
        access_of(settings)


def test_a_token_beside_an_issuer_is_ambiguous_and_refused() -> None:
    with pytest.raises(AccessError, match="choose by MCP_AQL_HTTP_AUTH"):
        access_of(HttpSettings(oauth_issuer="https://login.example", oauth_audience="api"), TOKENS)


def test_a_token_that_is_set_is_demanded_on_loopback_and_everywhere() -> None:
    for address in ("127.0.0.1", "::1", "0.0.0.0"):
        assert access_of(HttpSettings(), TOKENS, address).kind == "token"


@pytest.mark.parametrize("key", ["token", "token_file", "tokens", "password"])
def test_a_token_in_adapter_toml_is_refused(tmp_path: Path, key: str) -> None:
    package = write_package(tmp_path / "src" / "zoo_adapter")
    (tmp_path / "adapter.toml").write_text(f'[http]\n{key} = "{A}"\n')
    with pytest.raises(ConfigError, match=f"'http.{key}' in adapter.toml") as refusal:
        load(package, {})
    assert A not in str(refusal.value)


@pytest.mark.parametrize(
    "issuer", ["http://login.example", "http://10.0.0.7/realm", "ftp://login.example", "login", "https://a b"]
)
def test_keys_are_not_taken_from_an_issuer_that_the_network_can_imitate(issuer: str) -> None:
    with pytest.raises(ValueError, match="must be an http"):
        setting("http.oauth_issuer", issuer)


@pytest.mark.parametrize(
    "hosts", ["*", "*.example.com", "https://mcp.example.com", "mcp.example.com/mcp", "a b", "a@b"]
)
def test_a_list_of_hosts_that_would_not_hold_is_refused(hosts: str) -> None:
    with pytest.raises(ValueError, match="must be hosts"):
        setting("http.allowed_hosts", hosts)


@pytest.mark.parametrize("origins", ["*", "null", "app.example.com", "https://*.example.com", "https://a.example/path"])
def test_a_list_of_origins_that_would_not_hold_is_refused(origins: str) -> None:
    with pytest.raises(ValueError, match="must be origins"):
        setting("http.allowed_origins", origins)


# Host and Origin

FOREIGN_HOSTS = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "localhost.evil.example:8000",
    "evil-localhost",
    "localhost:8000@evil.example",
    "localhost@evil.example",
    "localhost:80:80",
    "localhost:",
    "localhost:abc",
    "localhost:*",
    "localhost:8000/",
    "localhost\t",
    "localhost.",
    "127.0.0.1.nip.io",
    "127.0.0.2",
    "0.0.0.0:8000",
    "[::1",
    "[::1].evil.example",
    "[::1]evil.example:80",
    "[::2]:8000",
    "",
    " ",
    "localhost, evil.example",
]


@pytest.mark.anyio
async def test_a_foreign_host_is_refused_before_anything_else(package: Path) -> None:
    for settings, address, environ in (
        (HttpSettings(), "127.0.0.1", {}),
        (HttpSettings(auth="none"), "0.0.0.0", {}),
        (WITH_TOKEN, "0.0.0.0", TOKENS),
    ):
        async with endpoint(package, settings, environ=environ, address=address) as adapter:
            for host in FOREIGN_HOSTS:
                answer = await adapter.send(host=host, token=A)
                assert (host, answer.status, answer.json["error"]) == (host, 421, "host_not_allowed")
            assert (await adapter.send(host=None)).status == 421
            assert (await adapter.send(headers=[("Host", "evil.example")])).status == 421
            assert (await adapter.send(host="evil.example", headers=[("X-Forwarded-Host", "localhost")])).status == 421
            assert (await adapter.send(host="evil.example", headers=[("Forwarded", "host=localhost")])).status == 421


@pytest.mark.anyio
@each(
    ("method", "path"),
    [
        ("OPTIONS", "/mcp"),
        ("OPTIONS", "*"),
        ("HEAD", "/mcp"),
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("TRACE", "/"),
        ("PROPFIND", "/mcp"),
        ("BREW", "/coffee"),
        ("GET", "/"),
        ("GET", "/health"),
        ("GET", "/mcp/"),
        ("GET", "//mcp"),
        ("GET", "http://localhost/mcp"),
        ("GET", "/.well-known/oauth-protected-resource/mcp"),
        ("GET", "/.well-known/oauth-authorization-server"),
    ],
)
async def test_every_path_and_method_passes_the_checks_of_host_and_origin(
    package: Path, method: str, path: str
) -> None:
    oauth = HttpSettings(auth="oauth", oauth_issuer="https://login.example", oauth_audience="https://localhost/mcp")
    async with endpoint(package, oauth) as adapter:
        assert (await adapter.send(method, path, host="evil.example")).status == 421
        assert (await adapter.send(method, path, headers=[("origin", "https://evil.example")])).status == 403


@pytest.mark.anyio
async def test_a_foreign_origin_is_refused(package: Path) -> None:
    async with endpoint(package) as adapter:
        for origin in (
            "https://evil.example",
            "null",
            "",
            "file://",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "http://localhost:1/path",
            "https://localhost",
            "localhost",
            "http://",
            "http://[::1",
            "http://localhost:*",
            "HTTP://EVIL.EXAMPLE",
            "chrome-extension://abcdef",
        ):
            answer = await adapter.send(headers=[("origin", origin)])
            assert (origin, answer.status, answer.json["error"]) == (origin, 403, "origin_not_allowed")
        assert (
            await adapter.send(headers=[("origin", "http://localhost"), ("origin", "https://evil.example")])
        ).status == 403
        assert (await adapter.send(headers=[("origin", "http://LOCALHOST:5173")])).status != 403


@pytest.mark.anyio
async def test_what_the_owner_allows_is_all_that_is_allowed(package: Path) -> None:
    settings = HttpSettings(
        auth="none",
        allowed_hosts=("mcp.example.com", "other.example:8443"),
        allowed_origins=("https://app.example.com",),
    )
    async with endpoint(package, settings, address="0.0.0.0") as adapter:
        statuses = {
            host: (await adapter.send(host=host)).status == 421
            for host in (
                "mcp.example.com",
                "MCP.example.com:8000",
                "other.example:8443",
                "other.example:80",
                "localhost",
            )
        }
        assert list(statuses.values()) == [False, False, False, True, True]
        for origin, refused in (
            ("https://app.example.com", False),
            ("https://app.example.com:443", False),
            ("http://app.example.com", True),
            ("https://app.example.com:8443", True),
            ("https://app.example.com.evil.example", True),
            ("http://localhost", True),
        ):
            answer = await adapter.send(host="mcp.example.com", headers=[("origin", origin)])
            assert (origin, answer.status == 403) == (origin, refused)


@pytest.mark.anyio
async def test_browsers_let_pages_of_origins_that_the_owner_names_read_the_answers_and_no_others(package: Path) -> None:
    page = ("origin", "https://app.example.com:8443")
    asked = [("access-control-request-method", "DELETE"), ("access-control-request-headers", "mcp-session-id,x-user")]
    settings = WITH_TOKEN._replace(allowed_origins=("https://app.example.com:*",))
    async with endpoint(package, settings, environ=TOKENS, forward_header=(("X-User", "k"),)) as adapter:
        preflight = await adapter.send("OPTIONS", headers=[page, *asked])
        opened = await adapter.rpc("initialize", OPENING, headers=[page], token=A)
        refused = await adapter.rpc("tools/list", {}, headers=[page])
        assert [answer.status for answer in (preflight, opened, refused)] == [200, 200, 401]
        assert "DELETE" in preflight.headers["access-control-allow-methods"]
        for answer in (preflight, opened, refused):
            assert answer.headers["access-control-allow-origin"] == page[1]
            assert "access-control-allow-credentials" not in answer.headers
        assert opened.headers.keys() >= {"mcp-session-id"}
        assert set(opened.headers["access-control-expose-headers"].split(", ")) >= {
            "Mcp-Session-Id",
            "WWW-Authenticate",
        }
        other = await adapter.send("OPTIONS", headers=[("origin", "https://other.example.com"), *asked])
        assert (other.status, [name for name in other.headers if name.startswith("access-")]) == (403, [])
    async with endpoint(package) as adapter:
        local = ("origin", "http://localhost:3000")
        for answer in (
            await adapter.send("OPTIONS", headers=[local, *asked]),
            await adapter.rpc("tools/list", {}, headers=[local]),
        ):
            assert [name for name in answer.headers if name.startswith("access-")] == []


def test_beyond_loopback_no_page_is_allowed_unless_the_owner_says_so() -> None:
    place = access_of(HttpSettings(auth="none"), address="0.0.0.0").place
    assert place.origins == ()
    assert not place.serves("0.0.0.0:8000")
    assert Place.of((), (), url="", listens_on="host.internal", loopback=False).serves("host.internal:8000")
    known = Place.of((), (), url="https://mcp.example.com/mcp", listens_on="", loopback=False)
    assert known.serves("mcp.example.com")
    assert known.admits("https://mcp.example.com")
    assert not known.admits("http://localhost:3000")


@pytest.mark.anyio
async def test_a_websocket_is_closed(package: Path) -> None:
    async with endpoint(package) as adapter:
        sent: list[Mapping[str, Any]] = []

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await adapter.app({"type": "websocket", "path": "/mcp", "headers": []}, receive, send)
        assert [message["type"] for message in sent] == ["websocket.close"]


# Tokens


@pytest.mark.anyio
@each(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {A[:-1]}",
        f"Bearer {A}x",
        f"Bearer {A.upper()}",
        f"Bearer {A},{B}",
        f"Bearer {A} {B}",
        f"Bearer {A}\\n{B}",
        f"Bearer  {A}",
        f"Bearer \x00{A}",
        f"Bearer {A}\x00",
        "Bearer \xff\xfe",
        f"Basic {A}",
        f"Token {A}",
        f"Digest {A}",
        A,
        "Bearer null",
        "Bearer *",
        "Bearer " + "x" * 30_000,
    ],
)
async def test_only_the_token_itself_lets_a_caller_in(package: Path, header: str | None) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        headers = [] if header is None else [("authorization", header)]
        answer = await adapter.send(headers=headers, body=b"{}")
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert A.encode() not in answer.body
        assert await adapter.open(token=A)


@pytest.mark.anyio
async def test_no_way_round_the_header_lets_a_caller_in(package: Path) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        answers = [
            await adapter.send(path=f"/mcp?access_token={A}"),
            await adapter.send(headers=[("x-authorization", f"Bearer {A}")]),
            await adapter.send(headers=[("proxy-authorization", f"Bearer {A}")]),
            await adapter.send(headers=[("cookie", f"authorization=Bearer {A}; access_token={A}")]),
            await adapter.send(headers=[("authorization", "Bearer x"), ("authorization", f"Bearer {A}")]),
            await adapter.send(headers=[("authorization", f"Bearer {A}"), ("authorization", "Bearer x")]),
        ]
        assert all(answer.status in (400, 401, 404) for answer in answers)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT", "PATCH", "TRACE", "CONNECT", "BREW", "post"]
)
async def test_no_method_is_answered_without_a_token(package: Path, method: str) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        assert (await adapter.send(method)).status == 401


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path", ["/mcp/", "//mcp", "/MCP", "/mcp/..", "/x/../mcp", "/mcp;a", "/mcp%2f", "/./mcp", "/mcp\x00", "/"]
)
async def test_no_other_path_leads_to_the_endpoint(package: Path, path: str) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        assert (await adapter.send(path=path)).status in (401, 404)


@pytest.mark.anyio
async def test_a_token_taken_out_of_the_file_is_good_no_more(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"{A}\n{B}\n")
    async with endpoint(package, WITH_TOKEN, environ={"MCP_AQL_HTTP_TOKEN_FILE": str(file)}) as adapter:
        session = await adapter.open(token=B)
        assert await adapter.ping(session, token=B) == 200
        file.write_text(f"{A}\nthe-next-token-0123456789\n")
        assert await adapter.ping(session, token=B) == 401
        assert len(await adapter.open(token="the-next-token-0123456789")) == 32
        for content in ("", "short\n", f"{A}\nshort"):
            file.write_text(content)
            assert (await adapter.send(token=A)).status == 401
        file.unlink()
        assert (await adapter.send(token=A)).status == 401


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every known token is compared, by digests of one length, whether an earlier one fits or not."""
    import asyncio
    import hmac

    compared: list[tuple[int, int]] = []
    original = hmac.compare_digest

    def compare(first: Any, second: Any) -> bool:
        compared.append((len(first), len(second)))
        return original(first, second)

    monkeypatch.setattr("aqlgen.runtime.server.access.hmac.compare_digest", compare)
    verifier = access_of(WITH_TOKEN, TOKENS).verifier
    assert verifier is not None
    results = [asyncio.run(verifier.verify_token(token)) for token in (A, B, "", "x" * 100_000)]
    assert [isinstance(result, AccessToken) for result in results] == [True, True, False, False]
    assert compared == [(32, 32)] * 8


def test_doctor_shows_the_state_of_http_and_never_a_token(package: Path, tmp_path: Path) -> None:
    base = {"MCP_AQL_STATE_URL": "memory:"}
    file = tmp_path / "tokens"
    file.write_text(f"{A}\n{B}\n")
    for environ, shown in (
        (base, "none: only on this machine"),
        ({**base, "MCP_AQL_HTTP_AUTH": "none"}, "everyone who reaches it"),
        ({**base, **TOKENS}, "token: 2 tokens"),
        ({**base, "MCP_AQL_HTTP_TOKEN_FILE": str(file)}, "token: 2 tokens"),
        ({**base, "MCP_AQL_HTTP_TOKEN": "hunter2"}, "too short"),
        ({**base, "MCP_AQL_HTTP_AUTH": "token"}, "needs MCP_AQL_HTTP_TOKEN"),
        (
            {**base, "MCP_AQL_OAUTH_ISSUER": "https://login.example", "MCP_AQL_OAUTH_AUDIENCE": "api"},
            "oauth: https://login",
        ),
        ({**base, "MCP_AQL_ALLOWED_HOSTS": "mcp.example.com"}, "mcp.example.com"),
    ):
        report = doctor(package, environ)
        text = render_doctor(report, all_settings=True)
        assert shown in text
        assert not re.search(f"{A}|{B}|hunter2", text + str(report))
