"""The login of a person, once, so that the adapter can act for them (RFC 6749, 4.1, with PKCE, RFC 7636).

The tokens are stored in the adapter's state and used from then on. Nothing secret is printed.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlencode, urljoin, urlsplit

import anyio

from ..errors import CommandError, Failure
from ..hosts import Origin
from ..text import counted, line, terminal_text
from .discovery import Discovery, Fetch, Server, Unreachable, is_safe
from .sources import Sources, discovery_url_of
from .tokens import AccessToken, Client, Refused, ask, stated_error

WAIT = 300.0
"""Seconds that a person may take."""

_MAX_SCOPES = 4000


class LoginOptions(NamedTuple):
    """The person's options: port of the redirect, and whether to open a browser."""

    port: int = 0
    browser: bool = True


class LoginIO(NamedTuple):
    """Everything outside of the process that a login uses."""

    fetch: Fetch
    say: Callable[[str], None] = lambda text: print(terminal_text(text), file=sys.stderr, flush=True)  # noqa: T201
    open: Callable[[str], object] | None = None
    clock: Callable[[], float] = time.time
    wait: float = WAIT


def schemes_of(sources: Sources) -> list[str]:
    """Return the schemes that a person can log in with."""
    return [name for name in sources.schemes if any(option.grant == "login" for option in sources.options(name))]


async def find_server(sources: Sources, scheme: str, base: str, io: LoginIO) -> Server:
    """Find the endpoints in the document or in the server's metadata. Raises CommandError, Unreachable and Failure."""
    entry = sources.schemes[scheme]
    flow = entry.get("flows", {}).get("authorizationCode", {})
    token, authorization = (str(flow.get(key) or "") for key in ("token_url", "authorization_url"))
    server = Server("", sources.role(scheme, "token_url") or token, authorization, ())
    if not server.token_url or not authorization:
        place = discovery_url_of(sources, scheme)
        server = await Discovery(io.fetch, io.clock).find(place)
        if not server.authorization_url:
            raise Unreachable("does not name its authorization endpoint")
        if Origin.of(server.issuer) != Origin.of(place):
            raise Unreachable("does not name an issuer of the same origin as its metadata (RFC 8414, 3.3)")
    urls = [urljoin(f"{base}/", url) if url else "" for url in server[1:3]]
    for url in filter(None, urls):
        _check(url, base, sources.role(scheme, "token_url"))
        io.fetch.admit(url)
    return server._replace(token_url=urls[0], authorization_url=urls[1])


def _check(url: str, base: str, configured: str | None) -> None:
    """Raise CommandError for an address to which nothing secret is sent; the API's own and the owner's are good."""
    if not url.isprintable():
        raise CommandError("an address of the authorization server holds control characters")
    if not is_safe(url) and urlsplit(url)[:2] != urlsplit(base)[:2] and url != configured:
        raise CommandError(f"{url} is neither https nor on this machine: no secret is sent there")


async def login(sources: Sources, scheme: str, base: str, scopes: str, options: LoginOptions, io: LoginIO) -> str:
    """Log in and store the tokens; `scopes` are those that the operations need, unless the owner's variable says which.

    Returns a sentence for the person. Raises CommandError.
    """
    if not sources.logins.durable:
        raise CommandError("a login needs a state that lasts: set MCP_AQL_STATE_URL to a file, not to memory:")
    variables = sources.schemes[scheme]["optional_variables"]
    client = Client(sources.role(scheme, "client_id") or "", sources.role(scheme, "client_secret") or "")
    if not client.id:
        raise CommandError(
            f"set {variables['client_id']} to the id of the client that you registered with the API's owner"
        )
    try:
        server = await find_server(sources, scheme, base, io)
        with anyio.fail_after(io.wait):
            form = {
                "scope": (sources.role(scheme, "scopes") or scopes)[:_MAX_SCOPES],
                "audience": sources.role(scheme, "audience") or "",
            }
            form = {key: value for key, value in form.items() if value}
            token = await _by_browser(server, client, form, options, io)
    except Failure as refusal:
        raise CommandError(refusal.message) from None
    except TimeoutError:
        raise CommandError(f"nobody logged in within {io.wait:g} seconds") from None
    except Unreachable as problem:
        raise CommandError(f"the authorization server {problem}") from None
    except Refused as refused:
        raise CommandError(_explanation(refused, variables)) from None
    return _store(sources, scheme, server, client, token, io)


def _store(sources: Sources, scheme: str, server: Server, client: Client, token: AccessToken, io: LoginIO) -> str:
    entry: dict[str, Any] = {"token_url": server.token_url, "client_id": client.id, "at": io.clock()}
    if token.refresh:
        sources.logins.put(scheme, {**entry, "refresh_token": token.refresh})
        return f"Logged in for '{scheme}'. The adapter renews it by itself."
    entry |= {"access_token": token.value, "expires": token.expires}
    sources.logins.put(scheme, entry, token.lifetime or None)
    minutes = counted(round(token.lifetime / 60), "minute")
    lasts = f"for {minutes}" if token.lifetime else "as long as the API takes its token"
    return f"Logged in for '{scheme}', {lasts}: the server gave no refresh token (some want the scope offline_access)."


async def _by_browser(
    server: Server, client: Client, form: Mapping[str, str], options: LoginOptions, io: LoginIO
) -> AccessToken:
    """Send the person to the server, and wait for the browser to come back with a code (RFC 8252, 7.3)."""
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    try:
        loopback = await Loopback.listen(options.port, state, server.issuer, server.answers_issuer)
    except OSError:
        raise CommandError(f"port {options.port} of this machine is taken: choose another with --port") from None
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
        # The address's own query says nothing of these (RFC 6749, section 3.1).
        parts = urlsplit(server.authorization_url)
        kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in query]
        url = parts._replace(query=urlencode([*kept, *query.items()]), fragment="").geturl()
        io.say(f"Log in with your browser:\n\n  {url}\n\nThe client must allow the redirect to {loopback.url}")
        if options.browser:
            await anyio.to_thread.run_sync(io.open or _open, url, abandon_on_cancel=True)
        code = await loopback.code()
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": loopback.url, "code_verifier": verifier}
    return await ask(io.fetch, server.token_url, form, client, clock=io.clock)


def _open(url: str) -> object:
    import webbrowser

    return webbrowser.open(url)


def _explanation(refused: Refused, variables: Mapping[str, str]) -> str:
    details = f" It says: “{line(refused.description, 300)}”" if refused.description else ""
    if refused.error in ("invalid_client", "unauthorized_client"):
        names = f"{variables['client_id']} and {variables['client_secret']}"
        return f"the server does not know the client: check {names}.{details}"
    return f"the authorization server gave no token ({stated_error(refused)}).{details}"


PATH = "/callback"
_MAX_LINE = 16 * 1024
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>{title}</title><body style='font:16px system-ui;margin:4em'>"
    "<h1>{title}</h1><p>You can close this window."
)


class Loopback:
    """A web server on this machine, to which the browser brings the code. It waits for the right `state`.

    Any other request is answered and ignored.
    """

    def __init__(self, state: str, issuer: str, answers_issuer: bool) -> None:
        self._state = state
        self._issuer = issuer
        self._answers_issuer = answers_issuer
        self._code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self.url = ""

    @classmethod
    async def listen(cls, port: int, state: str, issuer: str = "", answers_issuer: bool = False) -> Loopback:
        """Listen on 127.0.0.1; port 0 takes a free one. Raises OSError."""
        loopback = cls(state, issuer, answers_issuer)
        loopback._server = await asyncio.start_server(loopback._answer, "127.0.0.1", port, limit=_MAX_LINE)
        loopback.url = f"http://127.0.0.1:{loopback._server.sockets[0].getsockname()[1]}{PATH}"
        return loopback

    async def __aenter__(self) -> Loopback:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        if self._code.done() and not self._code.cancelled():
            self._code.exception()  # retrieved, even if nobody waited for it

    async def code(self) -> str:
        """Wait for the code. Raises Refused if the server sent an error instead."""
        return await self._code

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            status, title = self._receive(head.split(b"\r\n", 1)[0].decode("ascii", "replace"))
            page = _PAGE.format(title=title).encode()
            lines = (f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", f"Content-Length: {len(page)}")
            guard = ("Connection: close", "Cache-Control: no-store", "Referrer-Policy: no-referrer")
            writer.write("\r\n".join((*lines, *guard, "", "")).encode() + page)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError, ValueError):
            pass  # also a target that is no URL
        finally:
            writer.close()

    def _receive(self, line: str) -> tuple[str, str]:
        """Take the code from a request line; return the status and the title of the page."""
        method, _, rest = line.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        if method != "GET" or target.path != PATH or self._code.done():
            return "404 Not Found", "Nothing is here"
        query = {key: values[0] for key, values in parse_qs(target.query).items()}
        if not secrets.compare_digest(query.get("state", "").encode(), self._state.encode()):
            return "400 Bad Request", "This is not the login that was begun"
        silent = "" if self._answers_issuer else self._issuer
        if self._issuer and query.get("iss", silent) != self._issuer:
            self._code.set_exception(Refused("access_denied", "another server answered (RFC 9207)"))
            return "400 Bad Request", "Another server answered"
        if not query.get("code"):
            self._code.set_exception(Refused(query.get("error", "")[:100], query.get("error_description", "")[:500]))
            return "200 OK", "The login was refused"
        self._code.set_result(query["code"])
        return "200 OK", "Logged in"
