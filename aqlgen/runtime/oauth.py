# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Tokens from an authorization server's token endpoint (RFC 6749; RFC 8693 for the exchange of tokens)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from .fetching import Fetch, Fetched, Unreachable

__all__ = ["Client", "Refused", "Token", "ask", "margin"]

_METHODS = ("client_secret_basic", "client_secret_post")
_EARLY = 60.0


class Client(NamedTuple):
    """Who asks for a token; a public client has no secret."""

    id: str
    secret: str = ""


class Token(NamedTuple):
    """An access token; `expires` is a time of the clock that was given, None when it was not told."""

    value: str
    expires: float | None = None
    lifetime: float = 0.0
    refresh: str = ""


class Refused(Exception):
    """The token endpoint gave no token: `error` is its code (RFC 6749, 5.2), `told` its own words."""

    def __init__(self, error: str, told: str = "", status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.told = told
        self.status = status


def margin(token: Token) -> float:
    """Give how long before its end a token is renewed: a minute, but not more than a tenth of its life."""
    return min(_EARLY, token.lifetime / 10)


async def ask(
    fetch: Fetch,
    url: str,
    form: Mapping[str, str],
    client: Client,
    *,
    clock: Callable[[], float],
    methods: dict[str, str] | None = None,
) -> Token:
    """Ask for a token; `methods` remembers by URL how the client authenticates there. Raises Refused and Unreachable.

    The standard's way is tried first, HTTP Basic; where the server does not take it, the secret goes into the form.
    """
    known = {} if methods is None else methods
    ways = (known[url],) if url in known else _METHODS if client.secret else ("none",)
    for index, way in enumerate(ways):
        begin = clock()
        answer = await fetch.post(url, *_authenticated(way, form, client))
        refused = _refusal(answer)
        if refused is None:
            known[url] = way
            return _token(answer.body, begin)
        if index + 1 == len(ways) or refused.error not in ("invalid_client", "invalid_request", ""):
            raise refused
    raise Refused("invalid_client")


def _authenticated(way: str, form: Mapping[str, str], client: Client) -> tuple[dict[str, str], dict[str, str]]:
    """Give the form and the headers of a request by a client (RFC 6749, 2.3.1)."""
    sent = dict(form)
    if way == "client_secret_basic":
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
        return sent, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    if client.id:
        sent["client_id"] = client.id
    if way == "client_secret_post":
        sent["client_secret"] = client.secret
    return sent, {}


def _refusal(answer: Fetched) -> Refused | None:
    """Give why there is no token. Some servers tell of errors with status 200."""
    body = answer.body
    value = body.get("access_token")
    if answer.status == 200 and isinstance(value, str) and value and value.isprintable() and "error" not in body:
        return None
    if answer.status >= 500:
        raise Unreachable(f"failed (HTTP {answer.status})")
    if 300 <= answer.status < 400:
        raise Unreachable("redirected the request, which is not followed: its address is not the right one")
    error = body.get("error")
    if not isinstance(error, str):
        if answer.status == 200:
            raise Unreachable("answered without a token")
        error = "invalid_client" if answer.status == 401 else ""
    told = body.get("error_description")
    return Refused(error, told if isinstance(told, str) else "", answer.status)


def _token(body: Mapping[str, Any], begin: float) -> Token:
    """Read an answer; its token is counted from when it was asked for, so that it never seems to live longer."""
    refresh = body.get("refresh_token")
    lifetime = _seconds(body.get("expires_in"))
    expires = None if lifetime is None else begin + lifetime
    return Token(body["access_token"], expires, lifetime or 0.0, refresh if isinstance(refresh, str) else "")


def _seconds(value: Any) -> float | None:
    """Give a number of seconds, which some servers write as a text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 < seconds < 1e10 else None
