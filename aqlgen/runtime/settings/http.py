# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of the adapter's own HTTP endpoint: who may use it, from where, and how much of it."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from .setting import Names
from .types import Host, HttpsUrl, HttpUrl, Line, Origin, Scopes, Seconds, Switch, Whole, Word, divided

__all__ = ["HttpSettings"]


class HttpSettings(NamedTuple):
    """The table `[http]`. Tokens are secrets and no settings: MCP_AQL_HTTP_TOKEN or MCP_AQL_HTTP_TOKEN_FILE."""

    auth: Annotated[Word[Literal["", "token", "oauth", "none"]], Names("HTTP_AUTH")] = ""
    """Who may use the adapter over HTTP. "token": whoever shows a token, of 16 characters or more, that stands in
    MCP_AQL_HTTP_TOKEN, or on a line of the file that MCP_AQL_HTTP_TOKEN_FILE names, which is read again when it
    changes. "oauth": whoever shows an access token of oauth_issuer. "none": everyone who reaches it. Empty: the one of
    token and oauth that is set up, otherwise everyone on this machine, but not through a proxy, and the adapter does
    not start on any other address or url."""
    url: Annotated[HttpUrl, Names("HTTP_URL")] = ""
    """The address at which clients reach the adapter, such as https://mcp.example.com/mcp: its host and origin are
    allowed, and OAuth clients are told of it. Empty: the address that it listens on."""
    allowed_hosts: Annotated[
        Annotated[tuple[Host, ...], divided(",")], Names("ALLOWED_HOSTS", form="divided by ','")
    ] = ()
    """Names under which requests may call the adapter (the Host header; against DNS rebinding): hosts, or host:port.
    Empty: localhost, the address that it listens on, and the host of url."""
    allowed_origins: Annotated[
        Annotated[tuple[Origin, ...], divided(",")], Names("ALLOWED_ORIGINS", form="divided by ','")
    ] = ()
    """Web origins whose pages may call the adapter (the Origin header), such as https://app.example.com; port * is any.
    Empty: that of url, and pages of this machine if the adapter listens on a loopback address."""
    oauth_issuer: Annotated[HttpsUrl, Names("OAUTH_ISSUER")] = ""
    """The authorization server whose access tokens (signed JWTs) are accepted, exactly as they name it in `iss`."""
    oauth_audience: Annotated[Line, Names("OAUTH_AUDIENCE")] = ""
    """The audience that a token must be for (`aud`); empty: url."""
    oauth_scopes: Annotated[Scopes, Names("OAUTH_SCOPES", form="divided by blanks")] = ()
    """Scopes that a token must have, all of them."""
    oauth_jwks_url: Annotated[HttpsUrl, Names("OAUTH_JWKS_URL")] = ""
    """Where the issuer's keys are; empty: where its metadata says (RFC 8414, OpenID Connect Discovery)."""
    max_sessions: Annotated[int, Whole(1, 100_000), Names("MAX_SESSIONS")] = 1000
    """Most sessions at a time, {allowed}; only protocols before 2026-07-28 have any."""
    sessions_per_caller: Annotated[int, Whole(1, 100_000), Names("SESSIONS_PER_CALLER")] = 100
    """Most sessions of one caller, {allowed}; for one more the caller's oldest idle session ends. Without
    authentication a caller is an address."""
    session_idle: Annotated[int, Whole(1, 86_400), Names("SESSION_IDLE")] = 1800
    """Seconds without a request after which a session ends, {allowed}."""
    max_connections: Annotated[int, Whole(1, 100_000), Names("MAX_CONNECTIONS")] = 512
    """Most connections at a time, {allowed}; one more is closed at once."""
    head_timeout: Annotated[Seconds, Names("HEAD_TIMEOUT")] = 10.0
    """Seconds in which the head of a request must arrive."""
    body_timeout: Annotated[Seconds, Names("BODY_TIMEOUT")] = 30.0
    """Seconds in which the body of a request must arrive."""
    stop_timeout: Annotated[Seconds, Names("STOP_TIMEOUT")] = 35.0
    """Seconds that calls which are being answered have when the adapter is stopped; a little more than timeout."""
    stateless: Annotated[Switch, Names("HTTP_STATELESS")] = False
    """Have no sessions with protocols before 2026-07-28 either, so that any process or replica can answer."""
    processes: Annotated[int, Whole(1, 64), Names("HTTP_PROCESSES")] = 1
    """Processes that share the address, {allowed}; more than one needs stateless, and a state that they share."""
    metrics: Annotated[Switch, Names("HTTP_METRICS")] = False
    """Offer metrics for Prometheus at /metrics, to whom the endpoint itself is open."""
