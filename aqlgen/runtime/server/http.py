# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""MCP over streamable HTTP, served by the SDK's application and uvicorn."""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings

__all__ = ["PATH", "BindError", "serve_http"]

PATH = "/mcp"
_SHUTDOWN_TIMEOUT = 3


class BindError(Exception):
    """An address that cannot be listened on; the message says why in a line."""


def serve_http(server: Server[Any], *, host: str, port: int, max_body: int) -> int:
    """Serve until a signal arrives, and return the exit code; port 0 takes a free one.

    Prints the URL on standard error. Raises BindError.
    """
    listener = _listen(host, port)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        host=host,
        max_request_body_size=max_body,
        transport_security=_security(host),
    )
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT)
    http_server = uvicorn.Server(config)

    def stop(*_: object) -> None:
        http_server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)  # for a signal before uvicorn listens; uvicorn raises its own again at its end
    url_host = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"Serving MCP on http://{url_host}:{listener.getsockname()[1]}{PATH}\n")
    if not _is_loopback(host):
        sys.stderr.write("Warning: every machine that reaches this address may use the adapter and its credentials\n")
    sys.stderr.flush()
    http_server.run(sockets=[listener])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(512)
    except (OSError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise BindError(f"cannot listen on {host} port {port}: {reason}") from None
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _security(host: str) -> TransportSecuritySettings:
    """Allow only loopback names on a loopback address, against DNS rebinding; elsewhere the owner's proxy decides."""
    if not _is_loopback(host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = dict.fromkeys(("127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host))
    hosts = [pattern for name in names for pattern in (name, f"{name}:*")]
    origins = [f"http://{pattern}" for pattern in hosts]
    return TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins)
