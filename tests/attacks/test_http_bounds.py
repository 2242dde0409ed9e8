"""Attacks on the bounds of the HTTP endpoint: sessions without end, half requests, and large ones."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.server.session import ServerSession
from mcp.types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from uvicorn.server import ServerState

from aqlgen.runtime.server import bounds, elicitation
from aqlgen.runtime.server.access import Guard
from aqlgen.runtime.server.http import http_app, uvicorn_config
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import with_caller
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import HttpSettings
from aqlgen.runtime.state.custody import State
from aqlgen.runtime.state.tickets import Tokens
from tests.cases import side_by_side
from tests.runtime.http_endpoint import LEGACY, MODERN, TOKENS, A, B, access_of, dispatcher_of, endpoint
from tests.runtime.quick_server import Server

# Sessions


@pytest.mark.anyio
async def test_sessions_do_not_pile_up(package: Path) -> None:
    settings = HttpSettings(auth="token", sessions_per_caller=3)
    async with endpoint(package, settings, environ=TOKENS) as adapter:
        sessions = [await adapter.open(token=A) for _ in range(12)]
        statuses = [await adapter.ping(session, token=A) for session in sessions]
        assert statuses == [404] * 9 + [200] * 3


@pytest.mark.anyio
async def test_sessions_opened_at_the_same_time_do_not_pass_the_bound(package: Path) -> None:
    settings = HttpSettings(auth="token", sessions_per_caller=3)
    async with endpoint(package, settings, environ=TOKENS) as adapter:
        opened = await asyncio.gather(*(adapter.open(token=A) for _ in range(12)))
        statuses = [await adapter.ping(session, token=A) for session in opened if len(session) == 32]
        assert 0 < statuses.count(200) <= 3
        assert len(await adapter.open(token=A)) == 32


@pytest.mark.anyio
async def test_the_session_that_has_been_idle_longest_goes_first(package: Path) -> None:
    settings = HttpSettings(auth="token", sessions_per_caller=2)
    async with endpoint(package, settings, environ=TOKENS) as adapter:
        first, second = [await adapter.open(token=A) for _ in range(2)]
        assert await adapter.ping(first, token=A) == 200
        await adapter.open(token=A)
        assert [await adapter.ping(session, token=A) for session in (first, second)] == [200, 404]


@pytest.mark.anyio
async def test_no_caller_ends_the_sessions_of_another(package: Path) -> None:
    settings = HttpSettings(auth="token", sessions_per_caller=4, max_sessions=5)
    async with endpoint(package, settings, environ=TOKENS) as adapter:
        theirs = [await adapter.open(token=B) for _ in range(2)]
        mine = [await adapter.open(token=A) for _ in range(30)]
        assert [await adapter.ping(session, token=B) for session in theirs] == [200, 200]
        assert sum([await adapter.ping(session, token=A) == 200 for session in mine]) == 3


@pytest.mark.anyio
async def test_who_has_none_to_give_up_is_refused_when_all_are_taken(package: Path) -> None:
    settings = HttpSettings(auth="token", sessions_per_caller=4, max_sessions=4)
    async with endpoint(package, settings, environ=TOKENS) as adapter:
        theirs = [await adapter.open(token=B) for _ in range(4)]
        assert await adapter.open(token=A) == "status 503"
        assert [await adapter.ping(session, token=B) for session in theirs] == [200] * 4


@pytest.mark.anyio
async def test_an_open_stream_does_not_keep_a_session_from_making_room(package: Path) -> None:
    """A client may leave the stream of a session open, and go on with one that is lost; it ends with the session."""
    async with endpoint(package, HttpSettings(auth="token", sessions_per_caller=1), environ=TOKENS) as adapter:
        session = await adapter.open(token=A)
        headers = [("accept", "text/event-stream"), ("mcp-session-id", session), ("last-event-id", "1")]
        stream = asyncio.create_task(adapter.send("GET", headers=headers, token=A))
        await asyncio.sleep(0.05)
        assert not stream.done()
        following = await adapter.open(token=A)
        assert (await asyncio.wait_for(stream, 2)).status == 200
        assert [await adapter.ping(name, token=A) for name in (session, following)] == [404, 200]


@pytest.mark.anyio
async def test_a_session_that_answers_a_call_is_not_ended_for_another(package: Path) -> None:
    async with endpoint(package, HttpSettings(auth="token", sessions_per_caller=1), environ=TOKENS) as adapter:
        session = await adapter.open(token=A)
        answering, original = asyncio.Event(), adapter.api.send

        async def send(*arguments: Any) -> Any:
            await answering.wait()
            return await original(*arguments)

        adapter.api.send = send  # type: ignore[method-assign]
        call = asyncio.create_task(adapter.tool("read", "list_animals", {}, session=session, token=A))
        await asyncio.sleep(0.05)
        assert await adapter.open(token=A) == "status 503"
        answering.set()
        assert (await call)["success"]


@pytest.mark.anyio
async def test_without_sessions_no_stream_is_held_open(package: Path) -> None:
    async with endpoint(package) as adapter:
        meta = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}}
        headers = [("mcp-protocol-version", MODERN), ("mcp-method", "subscriptions/listen")]
        answer = await asyncio.wait_for(adapter.rpc("subscriptions/listen", {"_meta": meta}, headers=headers), 2)
        assert answer.status >= 400
        for method in ("GET", "DELETE"):
            assert (await asyncio.wait_for(adapter.send(method, headers=headers), 2)).status == 405


@pytest.mark.anyio
async def test_many_sessions_leave_nothing_behind(package: Path) -> None:
    settings = HttpSettings(auth="token", sessions_per_caller=2)
    async with endpoint(package, settings, environ=TOKENS) as adapter:
        for _ in range(20):
            await adapter.open(token=A)
        await asyncio.sleep(0.05)
        gc.collect()
        before = sum(isinstance(thing, ServerSession) for thing in gc.get_objects())
        for _ in range(30):
            await adapter.open(token=A)
        await asyncio.sleep(0.05)
        gc.collect()
        assert sum(isinstance(thing, ServerSession) for thing in gc.get_objects()) <= before + 1


@pytest.mark.anyio
async def test_without_authentication_an_address_has_its_share(package: Path) -> None:
    settings = HttpSettings(auth="none", sessions_per_caller=2)
    async with endpoint(package, settings) as adapter:
        theirs = await adapter.open(client="10.0.0.9")
        mine = [await adapter.open(client="10.0.0.8") for _ in range(5)]
        assert [await adapter.ping(session) for session in (theirs, *mine)] == [200, 404, 404, 404, 200, 200]


@pytest.mark.anyio
async def test_a_session_that_nobody_uses_ends(package: Path) -> None:
    settings = HttpSettings(session_idle=0.3)  # type: ignore[arg-type]
    async with endpoint(package, settings) as adapter:
        session = await adapter.open()
        assert await adapter.ping(session) == 200
        await asyncio.sleep(0.5)
        assert await adapter.ping(session) == 404


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
        b'{"id":1}',
        b"[" * 5000,
        b"\xff\xfe",
        b'{"a":1e999}',
    ],
)
async def test_what_opens_no_session_leaves_none_behind(package: Path, body: bytes) -> None:
    settings = HttpSettings(max_sessions=3, sessions_per_caller=3)
    async with endpoint(package, settings) as adapter:
        headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
        keep = await adapter.open()
        for _ in range(10):
            assert (await adapter.send(body=body, headers=headers)).status >= 400
        for method in ("GET", "DELETE", "PUT"):
            assert (await adapter.send(method, headers=headers)).status >= 400
        assert await adapter.ping(keep) == 200


@pytest.mark.anyio
@pytest.mark.parametrize(
    "session", ["", "x", "0" * 32, "0" * 10_000, "../../etc", "a\x00b", "%00", "null", "é", "a,b", "*", "' OR 1=1"]
)
async def test_a_session_that_was_never_given_is_not_there(package: Path, session: str) -> None:
    async with endpoint(package) as adapter:
        for _ in range(3):
            assert await adapter.ping(session) in (400, 404)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "version", [MODERN, LEGACY, "2024-11-05", "9999-12-31", "", "x" * 5000, "2026-07-28, 2025-11-25"]
)
async def test_no_protocol_version_leads_round_authentication_or_a_sessions_owner(package: Path, version: str) -> None:
    async with endpoint(package, HttpSettings(auth="token"), environ=TOKENS) as adapter:
        session = await adapter.open(token=A)
        headers = [("mcp-protocol-version", version), ("mcp-session-id", session)]
        assert (await adapter.rpc("ping", {}, headers=headers)).status == 401
        assert (await adapter.rpc("ping", {}, headers=headers, token=B)).status >= 400


@pytest.mark.anyio
async def test_what_one_caller_is_given_does_not_push_out_anothers() -> None:
    """R-OPS-3: nothing is dropped to make room, neither for questions nor for tokens."""
    state = State()
    words = {"name": "token", "scope": "another call", "advice": ""}
    questions, tokens = elicitation.Questions(state), Tokens(state.of, "zoo", "conf_", **words, per_minute=1000, skew=0)
    with with_caller({}, "bert"):
        handle, token = await questions.put("call of bert", None), await tokens.issue(None, ["delete_it f"], 300, {})
    with with_caller({}, "anna"):
        for number in range(200):
            await questions.put(f"call {number}", None)
            await tokens.issue(None, [f"delete_it {number}"], 300, {})
    with with_caller({}, "bert"):
        assert await questions.take(handle, "call of bert", None)
        await tokens.use(None, await tokens.open(None, token.text, {}, ["delete_it f"]), {})


# Connections


@contextmanager
def listening(package: Path, connections: int) -> Iterator[int]:
    """Run a real server with small bounds, and yield its port."""
    http = HttpSettings(auth="token", head_timeout=0.2, body_timeout=0.2, max_connections=connections)
    config = Config(http=http)
    app = http_app(build_server(dispatcher_of(package, config)), access_of(http, TOKENS), config, max_body=10_000)
    server = Server(uvicorn_config(app, http))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def port(package: Path) -> Iterator[int]:
    with listening(package, 6) as port:
        yield port


@pytest.fixture(scope="module")
def wide_port(package: Path) -> Iterator[int]:
    with listening(package, 40) as port:
        yield port


def connected(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=5)
    client.settimeout(5)
    return client


def read_to_end(client: socket.socket) -> bytes:
    """Read until the server closes the connection; TimeoutError if it does not."""
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


HEAD = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {A}\r\nContent-Type: application/json\r\n"


HALVES = [
    b"",
    b"P",
    b"POST /mcp HTTP/1.1\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: ",
    HEAD.encode(),
    HEAD.encode() + b"Content-Length: 100\r\n\r\n",
    HEAD.encode() + b"Content-Length: 100\r\n\r\n{",
    HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n",
    HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    HEAD.encode() + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
    HEAD.replace(A, "x").encode() + b"Content-Length: 100\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n",
]


def test_half_a_request_does_not_hold_its_connection(wide_port: int) -> None:
    def send_and_read(begun: bytes) -> None:
        began = time.monotonic()
        with connected(wide_port) as client:
            client.sendall(begun)
            answer = read_to_end(client)
        assert time.monotonic() - began < 3
        assert not answer or b" 408 " in answer or b" 401 " in answer or b" 421 " in answer

    side_by_side(send_and_read, ([case] for case in HALVES))


def test_a_byte_now_and_then_puts_nothing_off(wide_port: int) -> None:
    def drip(begun: bytes) -> None:
        began = time.monotonic()
        with connected(wide_port) as client:
            client.sendall(begun)
            client.settimeout(0.05)
            closed = False
            while not closed and time.monotonic() - began < 4:
                try:
                    client.sendall(b"a")
                    closed = client.recv(65_536) == b""
                except TimeoutError:
                    continue
                except ConnectionError:
                    closed = True
        assert closed
        assert time.monotonic() - began < 3

    side_by_side(
        drip, ([case] for case in [b"", HEAD.encode() + b"Content-Length: 100\r\n\r\n", HEAD.encode() + b"X-B: "])
    )


def test_who_does_not_read_does_not_hold_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_WRITE_TIMEOUT", 0.02)

    class Transport(asyncio.Transport):
        aborted = False

        def abort(self) -> None:
            self.aborted = True

        def is_closing(self) -> bool:
            return self.aborted

        def pause_reading(self) -> None:
            pass

        def close(self) -> None:
            pass

    async def unread(*, reads_on: bool) -> bool:
        config = uvicorn_config(Guard(None, None), HttpSettings())  # type: ignore[arg-type]
        config.load()
        protocol = config.http_protocol_class(config, ServerState(), {})  # type: ignore[call-arg]
        transport = Transport()
        protocol.connection_made(transport)
        protocol.pause_writing()
        if reads_on:
            protocol.resume_writing()
        await asyncio.sleep(0.06)
        protocol.connection_lost(None if reads_on else ConnectionResetError())
        return transport.aborted

    assert asyncio.run(unread(reads_on=False))
    assert not asyncio.run(unread(reads_on=True))


def test_more_connections_than_the_bound_are_closed_at_once(port: int) -> None:
    clients = [connected(port) for _ in range(6)]
    try:
        time.sleep(0.05)
        with connected(port) as extra:
            began = time.monotonic()
            assert read_to_end(extra) == b""
            assert time.monotonic() - began < 0.15
    finally:
        for client in clients:
            client.close()


def test_half_open_connections_make_room_again(port: int) -> None:
    clients = [connected(port) for _ in range(6)]
    try:
        for client in clients:
            read_to_end(client)
        with connected(port) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b" 404 " in read_to_end(client)
    finally:
        for client in clients:
            client.close()


REFUSED = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: a\r\n" * 20_000 + b"\r\n",
    HEAD.encode() + b"Content-Length: 99999999999\r\n\r\n" + b"a" * 20_000,
    HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + b"4000\r\n" + b"a" * 0x4000 + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"GET / HTTP/1.1\nHost: localhost\n X: y\n\n",
    HEAD.encode() + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    HEAD.encode() + b"Content-Length: -2\r\n\r\n{}",
    HEAD.encode() + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x00" * 40_000,
]


def test_what_is_too_large_or_no_request_is_refused(wide_port: int) -> None:
    def send_and_read(request: bytes) -> None:
        with connected(wide_port) as client:
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(request)
            answer = read_to_end(client)
        assert not answer or answer.split(b" ")[1][:1] == b"4"

    side_by_side(send_and_read, ([case] for case in REFUSED))


def test_a_second_request_in_the_same_bytes_is_checked_on_its_own(port: int) -> None:
    allowed = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(port) as client:
        client.sendall(allowed + allowed.replace(b"localhost", b"evil.example"))
        answer = read_to_end(client)
    assert [part.split(b" ")[1] for part in answer.split(b"HTTP/1.1")[1:] if part] != []
    assert answer.count(b"HTTP/1.1 404") == 1
    assert answer.count(b"HTTP/1.1 421") == 1
