# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A web server on this machine for one redirect: the browser brings a code back to the command `login`."""

from __future__ import annotations

import asyncio
import secrets
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from .oauth import Refused

__all__ = ["PATH", "Loopback"]

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
