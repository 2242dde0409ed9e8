"""MCP over streamable HTTP, served by the SDK's endpoint and uvicorn; closed to whom the owner has not let in.

A request's way: Host and Origin (`access`), authentication (the SDK's), sessions
(`bounds`), the SDK's endpoint. Orchestrators are answered by `monitoring`, too.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from errno import EACCES, EADDRINUSE
from math import ceil
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server import Server

from ..settings.config import Config
from ..settings.load import Variables
from ..settings.tables import HttpSettings
from .access import Access, Guard
from .bounds import SessionBounds, bounded_protocol
from .monitoring import HEALTH, METRICS, READY, Health

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import HTTPConnection
    from starlette.responses import Response
    from starlette.types import ASGIApp


PATH = "/mcp"
_REQUEST_HEADERS = (
    "Authorization", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Mcp-Param-Operation", "Mcp-Protocol-Version",
    "Mcp-Session-Id",
)  # fmt: skip
_ANSWER_HEADERS = ("Mcp-Session-Id", "Retry-After", "WWW-Authenticate")
_MAX_HEAD = 32 * 1024
_BACKLOG = 512


class BindError(Exception):
    """An address that cannot be listened on; the message says why in a line."""


def serve_http(
    server: Server[Any],
    listener: socket.socket,
    *,
    host: str,
    max_body: int,
    config: Config | None = None,
    health: Health | None = None,
) -> int:
    """Serve at a bound socket until a signal arrives, and return the exit code. `host` is as the owner named it.

    After the signal no new connection is taken, `health` is not ready, and calls that are being answered have
    `stop_timeout`. Prints the URL on standard error. Raises AccessError where the owner has not said who may use it.
    """
    config = config or Config()
    try:
        address, bound_port = listener.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{bound_port}{PATH}"
        access = Access.of(config.http, Variables(os.environ), address=address, listens_on=url)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    app = http_app(server, access, config, max_body=max_body, health=health)
    http_server = uvicorn.Server(uvicorn_config(app, config.http))

    def stop(*_: object) -> None:
        if health is not None:
            health.stopping = True
        http_server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)  # for a signal before uvicorn listens; uvicorn raises its own again at its end
    sys.stderr.write(f"Serving MCP on {url}\n")
    if access.hint:
        sys.stderr.write(f"{access.hint}\n")
    sys.stderr.flush()
    http_server.run(sockets=[listener])
    return 0


def uvicorn_config(app: ASGIApp, settings: HttpSettings) -> uvicorn.Config:
    """Return how uvicorn serves an application: HTTP/1.1 alone, bounded, and believing no header about its client."""
    return uvicorn.Config(
        app,
        http=bounded_protocol(settings),
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=_MAX_HEAD,
        timeout_graceful_shutdown=ceil(settings.stop_timeout),
    )


def http_app(
    server: Server[Any],
    access: Access,
    config: Config,
    *,
    max_body: int,
    health: Health | None = None,
) -> ASGIApp:
    """Return the ASGI application of an adapter."""
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=config.http.stateless,
        session_idle_timeout=config.http.session_idle,
        max_sessions=config.http.max_sessions,
        max_request_body_size=max_body,
    )
    endpoint: ASGIApp = SessionBounds(StreamableHTTPASGIApp(manager), config)
    protected, routes = _authentication(access)
    if health is not None:
        routes = [*routes, *health.routes(protected)]
    app = Starlette(routes=[Route(PATH, endpoint=protected(endpoint)), *routes], lifespan=lambda _: manager.run())
    app.router.redirect_slashes = False
    guarded = _shared_with_origins(app, config) if config.http.allowed_origins else app
    # Prometheus asks by the address of a pod. Where a token is demanded, no page that rebinds a name has one.
    under_every_host = (HEALTH, READY) if access.verifier is None else (HEALTH, READY, METRICS)
    return Guard(guarded, access.place, () if health is None else under_every_host, direct_only=access.direct_only)


def _shared_with_origins(app: ASGIApp, config: Config) -> ASGIApp:
    """Let pages call an application and read its answers (CORS, the Fetch standard): behind the guard, all are allowed.

    A preflight carries no token, so it is answered before authentication.
    """
    from starlette.middleware.cors import CORSMiddleware

    return CORSMiddleware(
        app,
        allow_origin_regex=".*",
        allow_methods=("DELETE", "GET", "POST"),
        allow_headers=(*_REQUEST_HEADERS, *(header for header, _ in config.forward_header)),
        expose_headers=_ANSWER_HEADERS,
    )


def _authentication(access: Access) -> tuple[Callable[[ASGIApp], ASGIApp], list[Any]]:
    """Return the wrapper for the SDK's authentication of an application, and the routes of its metadata (RFC 9728)."""
    from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
    from starlette.middleware.authentication import AuthenticationMiddleware

    if access.verifier is None:
        return (lambda app: app), []
    backend = BearerAuthBackend(access.verifier)
    metadata_url, routes = None, []
    scopes = list(access.scopes)
    if access.kind == "oauth":
        from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
        from mcp.server.auth.settings import AuthSettings

        urls = {"issuer_url": access.issuer, "resource_server_url": access.resource}
        auth = AuthSettings.model_validate({**urls, "validate_token_resource": False})  # the verifier checks `aud`
        assert auth.resource_server_url is not None  # noqa: S101 - it was just set
        metadata_url = build_resource_metadata_url(auth.resource_server_url)
        routes = create_protected_resource_routes(auth.resource_server_url, [auth.issuer_url], scopes or None)

    def protected(app: ASGIApp) -> ASGIApp:
        demanding = RequireAuthMiddleware(app, scopes, metadata_url)
        return AuthenticationMiddleware(demanding, backend=backend, on_error=_issuer_away)

    return protected, routes


def _issuer_away(_: HTTPConnection, __: Exception) -> Response:
    from starlette.responses import JSONResponse

    message = "The keys of the authorization server cannot be had at present. Try again."
    return JSONResponse({"error": "temporarily_unavailable", "message": message}, 503, {"Retry-After": "30"})


def bind(host: str, port: int) -> socket.socket:
    """Return a socket at an address, which does not listen yet. Raises BindError."""
    listener = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, OverflowError, UnicodeError) as problem:
        if listener is not None:
            listener.close()
        reason = getattr(problem, "strerror", None) or problem
        hint = "; choose another with --port" if getattr(problem, "errno", None) in (EADDRINUSE, EACCES) else ""
        raise BindError(f"cannot listen on {host} port {port}: {reason}{hint}") from None
    return listener
