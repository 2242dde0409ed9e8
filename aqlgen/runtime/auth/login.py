# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The command `login`: a person lets the adapter act for them, once (RFC 6749, 4.1, with PKCE, RFC 7636; RFC 8628).

What it brings is kept in the adapter's state and used from then on. Nothing secret is printed.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import anyio

from ..text import line
from .discovery import Discovery, Fetch, Unreachable, is_safe
from .sources import Ways, discovery_url_of
from .tokens import Client, Refused, Token, ask

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


PATH = "/callback"
_LONGEST = 16 * 1024
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>{title}</title><body style='font:16px system-ui;margin:4em'>"
    "<h1>{title}</h1><p>You can close this window."
)


class Loopback:
    """Waits for the redirect that carries the state it was given; anything else is answered and not heard."""

    def __init__(self, state: str, issuer: str) -> None:
        self._state = state
        self._issuer = issuer
        self._found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self.url = ""

    @classmethod
    async def listen(cls, port: int, state: str, issuer: str = "") -> Loopback:
        """Listen on 127.0.0.1; port 0 takes a free one. Raises OSError."""
        made = cls(state, issuer)
        made._server = await asyncio.start_server(made._answer, "127.0.0.1", port, limit=_LONGEST)
        made.url = f"http://127.0.0.1:{made._server.sockets[0].getsockname()[1]}{PATH}"
        return made

    async def __aenter__(self) -> Loopback:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        if self._found.done() and not self._found.cancelled():
            self._found.exception()  # heard, even if nobody waited for it

    async def code(self) -> str:
        """Wait for the code. Raises Refused when the server sent an error instead."""
        return await self._found

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            status, title = self._take(head.split(b"\r\n", 1)[0].decode("ascii", "replace"))
            page = _PAGE.format(title=title).encode()
            lines = (f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", f"Content-Length: {len(page)}")
            guard = ("Connection: close", "Cache-Control: no-store", "Referrer-Policy: no-referrer")
            writer.write("\r\n".join((*lines, *guard, "", "")).encode() + page)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError):
            pass
        finally:
            writer.close()

    def _take(self, line: str) -> tuple[str, str]:
        """Take what a request line brings; give the status and the page's title."""
        method, _, rest = line.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        if method != "GET" or target.path != PATH or self._found.done():
            return "404 Not Found", "Nothing is here"
        query = {key: values[0] for key, values in parse_qs(target.query).items()}
        if not secrets.compare_digest(query.get("state", "").encode(), self._state.encode()):
            return "400 Bad Request", "This is not the login that was begun"
        if self._issuer and query.get("iss", self._issuer) != self._issuer:
            self._found.set_exception(Refused("access_denied", "another server answered (RFC 9207)"))
            return "400 Bad Request", "Another server answered"
        if not query.get("code"):
            self._found.set_exception(Refused(query.get("error", "")[:100], query.get("error_description", "")[:500]))
            return "200 OK", "The login was refused"
        self._found.set_result(query["code"])
        return "200 OK", "Logged in"
