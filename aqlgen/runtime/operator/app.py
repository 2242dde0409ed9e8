# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The page's files, its stream of changes and its actions, as an ASGI application behind its guard (R-OPS-1).

Everything that a request can reach stands in `guard.ROUTES`. The files hold no data, and are given to whoever opens the
address; all that is known of adapters comes by the stream, to a session alone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .actions import Actions, Refused
from .admission import Admission
from .feed import Feed
from .guard import Guard, refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Page", "page_app"]

_ASSETS = Path(__file__).with_name("assets")
_FILES = {
    "/": ("operator.html", "text/html; charset=utf-8"),
    "/operator.css": ("operator.css", "text/css; charset=utf-8"),
    "/operator.js": ("operator.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_TOKEN = "x-operator-token"  # noqa: S105 - the name of a header
_MOST_STREAMS = 16


class Page:
    """The page of one operator. `port` makes the name of its cookie, which all ports of a machine share, its own."""

    def __init__(self, admission: Admission, feed: Feed, actions: Actions, port: int) -> None:
        self._admission = admission
        self._feed = feed
        self._actions = actions
        self._cookie = f"operator_{port}"
        self._files = {path: (_ASSETS / name, kind) for path, (name, kind) in _FILES.items()}
        self._contents = {path: (file.read_bytes(), kind) for path, (file, kind) in self._files.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard has let through."""
        path, request = scope["path"], Request(scope)
        if path in self._contents:
            content, kind = self._contents[path]
            await Response(content, media_type=kind)(scope, receive, send)
            return
        try:
            response = await self._answer(path, request, _json(scope["operator.body"]))
        except Refused as refusal:
            await refuse(send, refusal.status, refusal.code, str(refusal))
            return
        await response(scope, receive, send)

    async def _answer(self, path: str, request: Request, body: Any) -> Response:
        if path == "/api/enter":
            return self._enter(body)
        cookies, token = self._secrets(request)
        if not self._admission.admits(cookies, token, use=path != "/api/events"):
            raise Refused(
                401, "no_session", "Open the address that the terminal shows. Enter in the terminal makes a new one."
            )
        if path == "/api/events":
            return self._events(cookies, token)
        if path == "/api/leave":
            self._admission.leave(cookies, token)
            self._feed.refresh()
            return _answer({"message": "You have left."})
        answer = await self._actions.act(body)
        self._feed.refresh()
        return _answer(answer)

    def _enter(self, body: Any) -> Response:
        entry = self._admission.enter(body.get("key") if isinstance(body, dict) else None)
        if entry is None:
            message = "This address was used, or is too old. Press Enter in the terminal for a new one."
            raise Refused(401, "key_refused", message)
        response = _answer({"token": entry.token, "operator": self._actions.by})
        response.set_cookie(self._cookie, entry.cookie, path="/", httponly=True, samesite="strict")
        return response

    def _events(self, cookies: list[str], token: str) -> Response:
        if self._feed.followers >= _MOST_STREAMS:
            raise Refused(503, "too_many_pages", f"{_MOST_STREAMS} pages are open. Close one of them.")

        async def stream() -> AsyncIterator[str]:
            news = self._feed.follow()
            try:
                async for state in news:
                    if not self._admission.admits(cookies, token):
                        yield "event: end\ndata: {}\n\n"
                        return
                    yield f"event: state\ndata: {json.dumps({**state, 'operator': self._actions.by})}\n\n"
            finally:
                await news.aclose()

        return StreamingResponse(stream(), media_type="text/event-stream")

    def _secrets(self, request: Request) -> tuple[list[str], str]:
        """Return every cookie of the page's name, since servers on other ports can set one, too, and the token."""
        pairs = (pair.strip().partition("=") for text in request.headers.getlist("cookie") for pair in text.split(";"))
        cookies = [value for name, _, value in pairs if name == self._cookie]
        tokens = request.headers.getlist(_TOKEN)
        return cookies[:8], tokens[0] if len(tokens) == 1 else ""


def page_app(page: Page, hosts: tuple[str, ...]) -> ASGIApp:
    """Return the application, which answers at these addresses, each `host:port`, alone."""
    return Guard(page, hosts)


def _json(body: bytes) -> Any:
    """Read a body. Raises Refused."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "invalid_request", "The body is not JSON.") from None


def _answer(values: dict[str, Any]) -> Response:
    return Response(json.dumps(values), media_type="application/json")
