# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command `login`: a person lets the adapter act for them, once (RFC 6749, 4.1, with PKCE, RFC 7636; RFC 8628).

What it brings is kept in the adapter's state and used from then on. Nothing secret is printed.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

import anyio

from .discovery import Discovery
from .fetching import Fetch, Unreachable, is_safe
from .grants import discovery_url_of
from .oauth import Client, Refused, Token, ask
from .text import line
from .ways import Ways

__all__ = ["Endpoints", "LoginError", "Wishes", "endpoints", "login", "schemes_of"]

WAIT = 300.0
"""Seconds that a person may take."""

_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_MOST_SCOPES = 4000


class LoginError(Exception):
    """The login failed; the message says why and what to do, in a line."""


class Endpoints(NamedTuple):
    """Where a login goes; an empty `authorization_url` or `device_url` means that there is none."""

    token_url: str
    authorization_url: str
    device_url: str
    issuer: str = ""


class Wishes(NamedTuple):
    """What the person wants: scopes (empty: what the operations need), the port of the redirect, a device's code."""

    scopes: str = ""
    port: int = 0
    device: bool = False
    browser: bool = True


class Surroundings(NamedTuple):
    """What a login touches; tests give their own."""

    fetch: Fetch
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: T201
    open: Callable[[str], object] | None = None
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    clock: Callable[[], float] = time.time
    wait: float = WAIT


def schemes_of(ways: Ways) -> list[str]:
    """Give the schemes that a person can log in with."""
    return [name for name in ways.schemes if any(one.grant == "login" for one in ways.options(name))]


async def endpoints(ways: Ways, scheme: str, base: str, around: Surroundings) -> Endpoints:
    """Find where to log in: as the document says, or as the server says of itself. Raises LoginError."""
    entry = ways.schemes[scheme]
    flows = [entry.get("flows", {}).get(one, {}) for one in ("authorizationCode", "deviceAuthorization")]
    token, authorization, device = (
        next((str(flow[key]) for flow in flows if flow.get(key)), "")
        for key in ("token_url", "authorization_url", "device_url")
    )
    found = Endpoints(ways.role(scheme, "token_url") or token, authorization, device)
    if not found.token_url or not (authorization or device):
        try:
            server = await Discovery(around.fetch, around.clock).find(discovery_url_of(ways, scheme))
        except Unreachable as problem:
            raise LoginError(f"the authorization server {problem}") from None
        found = Endpoints(server.token_url, server.authorization_url, server.device_url, server.issuer)
    whole = [urljoin(f"{base}/", url) if url else "" for url in found[:3]]
    if not all(url.isprintable() for url in whole):
        raise LoginError("an address of the authorization server holds control characters")
    unsafe = [url for url in whole if url and not is_safe(url) and urlsplit(url)[:2] != urlsplit(base)[:2]]
    if unsafe and ways.role(scheme, "token_url") not in unsafe:
        raise LoginError(f"{unsafe[0]} is neither https nor on this machine: nothing secret is sent there")
    return Endpoints(whole[0], whole[1], whole[2], found.issuer)


async def login(ways: Ways, scheme: str, base: str, wishes: Wishes, around: Surroundings) -> str:
    """Log in, and keep what it brings. Gives what to tell the person. Raises LoginError."""
    if not ways.logins.durable:
        raise LoginError("a login needs a state that lasts: set MCP_AQL_STATE_URL to a file, not to memory:")
    named = ways.schemes[scheme]["optional_variables"]
    client = Client(ways.role(scheme, "client_id") or "", ways.role(scheme, "client_secret") or "")
    if not client.id:
        raise LoginError(f"set {named['client_id']} to the id of the client that you registered with the API's owner")
    where = await endpoints(ways, scheme, base, around)
    by_device = bool(where.device_url) and (wishes.device or not where.authorization_url)
    if wishes.device and not by_device:
        raise LoginError("the API offers no login by a device's code")
    scopes = ways.role(scheme, "scopes") or wishes.scopes
    form = {"scope": scopes[:_MOST_SCOPES], "audience": ways.role(scheme, "audience") or ""}
    form = {key: value for key, value in form.items() if value}
    try:
        with anyio.fail_after(around.wait):
            token = await (_by_device if by_device else _by_browser)(where, client, form, wishes, around)
    except TimeoutError:
        raise LoginError(f"nobody logged in within {around.wait:g} seconds") from None
    except Unreachable as problem:
        raise LoginError(f"the authorization server {problem}") from None
    except Refused as refused:
        raise LoginError(_told(refused, named)) from None
    return _keep(ways, scheme, where, client, token, around)


def _keep(ways: Ways, scheme: str, where: Endpoints, client: Client, token: Token, around: Surroundings) -> str:
    entry: dict[str, Any] = {"token_url": where.token_url, "client_id": client.id, "at": around.clock()}
    if token.refresh:
        ways.logins.put(scheme, {**entry, "refresh_token": token.refresh})
        return f"Logged in for '{scheme}'. The adapter renews it by itself."
    entry |= {"access_token": token.value, "expires": token.expires}
    ways.logins.put(scheme, entry, token.lifetime or None)
    lasts = f"for {token.lifetime / 60:.0f} minutes" if token.lifetime else "as long as the API takes its token"
    return f"Logged in for '{scheme}', {lasts}: the server gave no refresh token (some want the scope offline_access)."


async def _by_browser(
    where: Endpoints, client: Client, form: Mapping[str, str], wishes: Wishes, around: Surroundings
) -> Token:
    """Send the person to the server, and wait for the browser to come back with a code (RFC 8252, 7.3)."""
    from .loopback import Loopback

    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    try:
        loopback = await Loopback.listen(wishes.port, state, where.issuer)
    except OSError:
        raise LoginError(f"port {wishes.port} of this machine is taken: choose another with --port") from None
    async with loopback:
        query = {
            "response_type": "code",
            "client_id": client.id,
            "redirect_uri": loopback.url,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **form,
        }
        url = f"{where.authorization_url}{'&' if '?' in where.authorization_url else '?'}{urlencode(query)}"
        around.say(f"Log in with your browser:\n\n  {url}\n\nThe client must allow the redirect to {loopback.url}")
        if wishes.browser:
            await anyio.to_thread.run_sync(around.open or _open, url, abandon_on_cancel=True)
        code = await loopback.code()
    asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": loopback.url, "code_verifier": verifier}
    return await ask(around.fetch, where.token_url, asked, client, clock=around.clock)


async def _by_device(
    where: Endpoints, client: Client, form: Mapping[str, str], wishes: Wishes, around: Surroundings
) -> Token:
    """Let the person enter a code wherever they have a browser, and ask until they have (RFC 8628)."""
    answer = await around.fetch.post(where.device_url, {"client_id": client.id, **form}, {})
    body = answer.body
    texts = [body.get(key) for key in ("device_code", "user_code", "verification_uri")]
    device, user, place = (one if isinstance(one, str) and one.isprintable() else "" for one in texts)
    if answer.status != 200 or not (device and user and place):
        error = body.get("error")
        raise Refused(error if isinstance(error, str) else "", "", answer.status)
    complete = body.get("verification_uri_complete")
    around.say(f"Open {place} and enter the code {user}")
    if wishes.browser and isinstance(complete, str) and is_safe(complete):
        await anyio.to_thread.run_sync(around.open or _open, complete, abandon_on_cancel=True)
    pause = body.get("interval", 5)
    pause = float(pause) if isinstance(pause, int | float) and 0 < pause < 300 else 5.0
    while True:
        await around.pause(pause)
        try:
            asked = {"grant_type": _DEVICE, "device_code": device}
            return await ask(around.fetch, where.token_url, asked, client, clock=around.clock)
        except Refused as refused:
            if refused.error == "slow_down":
                pause += 5
            elif refused.error != "authorization_pending":
                raise


def _open(url: str) -> object:
    import webbrowser

    return webbrowser.open(url)


def _told(refused: Refused, named: Mapping[str, str]) -> str:
    said = f" It says: {line(refused.told, 300)}" if refused.told else ""
    if refused.error in ("invalid_client", "unauthorized_client"):
        return f"the server does not know the client: check {named['client_id']} and {named['client_secret']}.{said}"
    if refused.error == "access_denied":
        return f"the login was refused by the person or by the server.{said}"
    if refused.error == "expired_token":
        return "the code was not entered in time: try again"
    if refused.error == "invalid_scope":
        return f"the server does not give these scopes: choose others with --scopes.{said}"
    return f"the authorization server gave no token ({line(refused.error, 60) or f'HTTP {refused.status}'}).{said}"
