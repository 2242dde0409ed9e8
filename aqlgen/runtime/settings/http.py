# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of the adapter's own HTTP endpoint: who may use it, from where, and how much of it."""

from __future__ import annotations

from typing import NamedTuple

from . import parsers
from .parsers import Whole
from .setting import collected, setting

__all__ = ["HTTP_SETTINGS", "HttpSettings"]


class HttpSettings(NamedTuple):
    """The table `[http]`. Tokens are secrets and no settings: MCP_AQL_HTTP_TOKEN or MCP_AQL_HTTP_TOKEN_FILE."""

    auth: str = setting(
        "",
        "http.auth",
        "HTTP_AUTH",
        parsers.http_auth,
        'Who may use the adapter over HTTP. "token": whoever shows a token, of 16 characters or more, that stands in '
        "MCP_AQL_HTTP_TOKEN, or on a line of the file that MCP_AQL_HTTP_TOKEN_FILE names, which is read again when it "
        'changes. "oauth": whoever shows an access token of oauth_issuer. "none": everyone who reaches it. Empty: '
        "the one of token and oauth that is set up, otherwise everyone on this machine, but not through a proxy, and "
        "the adapter does not start on any other address or url.",
    )
    url: str = setting(
        "",
        "http.url",
        "HTTP_URL",
        parsers.http_url,
        "The address at which clients reach the adapter, such as https://mcp.example.com/mcp: its host and origin are "
        "allowed, and OAuth clients are told of it. Empty: the address that it listens on.",
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "http.allowed_hosts",
        "ALLOWED_HOSTS",
        parsers.hosts,
        "Names under which requests may call the adapter (the Host header; against DNS rebinding): hosts, or "
        "host:port. Empty: localhost, the address that it listens on, and the host of url.",
        form="divided by ','",
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "http.allowed_origins",
        "ALLOWED_ORIGINS",
        parsers.origins,
        "Web origins whose pages may call the adapter (the Origin header), such as https://app.example.com; port * is "
        "any. Empty: that of url, and pages of this machine if the adapter listens on a loopback address.",
        form="divided by ','",
    )

    oauth_issuer: str = setting(
        "",
        "http.oauth_issuer",
        "OAUTH_ISSUER",
        parsers.https_url,
        "The authorization server whose access tokens (signed JWTs) are accepted, exactly as they name it in `iss`.",
    )
    oauth_audience: str = setting(
        "",
        "http.oauth_audience",
        "OAUTH_AUDIENCE",
        parsers.word,
        "The audience that a token must be for (`aud`); empty: url.",
    )
    oauth_scopes: tuple[str, ...] = setting(
        (),
        "http.oauth_scopes",
        "OAUTH_SCOPES",
        parsers.scopes,
        "Scopes that a token must have, all of them.",
        form="divided by blanks",
    )
    oauth_jwks_url: str = setting(
        "",
        "http.oauth_jwks_url",
        "OAUTH_JWKS_URL",
        parsers.https_url,
        "Where the issuer's keys are; empty: where its metadata says (RFC 8414, OpenID Connect Discovery).",
    )

    max_sessions: int = setting(
        1000,
        "http.max_sessions",
        "MAX_SESSIONS",
        Whole(1, 100_000),
        "Most sessions at a time, {allowed}; only protocols before 2026-07-28 have any.",
    )
    sessions_per_caller: int = setting(
        100,
        "http.sessions_per_caller",
        "SESSIONS_PER_CALLER",
        Whole(1, 100_000),
        "Most sessions of one caller, {allowed}; for one more the caller's oldest idle session ends. Without "
        "authentication a caller is an address.",
    )
    session_idle: int = setting(
        1800,
        "http.session_idle",
        "SESSION_IDLE",
        Whole(1, 86_400),
        "Seconds without a request after which a session ends, {allowed}.",
    )
    max_connections: int = setting(
        512,
        "http.max_connections",
        "MAX_CONNECTIONS",
        Whole(1, 100_000),
        "Most connections at a time, {allowed}; one more is closed at once.",
    )
    head_timeout: float = setting(
        10.0,
        "http.head_timeout",
        "HEAD_TIMEOUT",
        parsers.seconds,
        "Seconds in which the head of a request must arrive.",
    )
    body_timeout: float = setting(
        30.0,
        "http.body_timeout",
        "BODY_TIMEOUT",
        parsers.seconds,
        "Seconds in which the body of a request must arrive.",
    )
    stop_timeout: float = setting(
        35.0,
        "http.stop_timeout",
        "STOP_TIMEOUT",
        parsers.seconds,
        "Seconds that calls which are being answered have when the adapter is stopped; a little more than timeout.",
    )
    stateless: bool = setting(
        False,
        "http.stateless",
        "HTTP_STATELESS",
        parsers.switch,
        "Have no sessions with protocols before 2026-07-28 either, so that any process or replica can answer.",
    )
    processes: int = setting(
        1,
        "http.processes",
        "HTTP_PROCESSES",
        Whole(1, 64),
        "Processes that share the address, {allowed}; more than one needs stateless, and a state that they share.",
    )
    metrics: bool = setting(
        False,
        "http.metrics",
        "HTTP_METRICS",
        parsers.switch,
        "Offer metrics for Prometheus at /metrics, to whom the endpoint itself is open.",
    )


HTTP_SETTINGS = collected(HttpSettings._fields, "http.")
"""The settings of `Config.http`."""
