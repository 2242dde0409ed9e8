# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a broken connection tells: whether anything was sent, and why there was none."""

from __future__ import annotations

import ssl

from ..wire import ApiRequest

__all__ = ["is_tls", "is_unsent", "unreachable"]


def is_unsent(error: Exception) -> bool:
    """Return True if an error came before anything was sent to the API."""
    import httpx2

    before = (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.PoolTimeout,
        httpx2.ProxyError,
        httpx2.UnsupportedProtocol,
        httpx2.InvalidURL,
    )
    return isinstance(error, before)


def is_tls(error: BaseException) -> bool:
    """Return True if an error came from TLS."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def unreachable(error: BaseException, request: ApiRequest) -> str:
    """Return why no connection could be made, as an agent reads it."""
    host = request.url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the TLS certificate of '{host}' is not valid"
        if isinstance(cause, ssl.SSLError):
            return f"no TLS connection could be made with '{host}'"
        if isinstance(cause, ConnectionRefusedError):
            return f"the connection to '{host}' was refused"
        cause = cause.__cause__ or cause.__context__
    return f"no connection could be made to '{host}'"
