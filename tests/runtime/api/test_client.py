"""The exchange with the API over HTTP, and every way in which it fails."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from threading import current_thread

import httpx2
import pytest
from local import Answer, Asked, Running, adapter, serving

from aqlgen.runtime.client.retries import Timing
from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each

from .hand_made import Make, operation

Handle = Callable[[httpx2.Request], httpx2.Response]

SMALL = Config(timeout=5, max_response_size=1000)


def exchange(transport: HttpTransport, *requests: ApiRequest) -> list[ApiResponse]:
    async def run() -> list[ApiResponse]:
        try:
            return [await transport.send(request, None) for request in requests]  # type: ignore[arg-type]
        finally:
            await transport.aclose()

    return asyncio.run(run())


def failing(transport: HttpTransport, request: ApiRequest) -> Failure:
    with pytest.raises(Failure) as caught:
        exchange(transport, request)
    return caught.value


async def at_once(_: float) -> None:
    """Replace a pause."""


def served(handle: Handle, *, limit: int = 10_000) -> HttpTransport:
    config = SMALL._replace(max_response_size=limit)
    return HttpTransport(config, transport=httpx2.MockTransport(handle), timing=Timing(pause=at_once))


GET = ApiRequest("GET", "https://api.example.com/a?b=%2F", (("X-Key", "s3cret"),), secrets=frozenset({"s3cret"}))


def test_a_request_is_sent_as_it_was_built() -> None:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(201, headers={"X-Answer": "yes"}, content=b"ok")

    sent = ApiRequest(
        "POST",
        "https://api.example.com/a%2Fb?c=%5B",
        (("Content-Type", "text/plain"), ("X-Ü".encode("ascii", "ignore").decode() + "h", "é")),
        b"body",
    )
    [answer] = exchange(served(handle), sent)
    assert (answer.status, answer.headers["x-answer"], answer.content) == (201, "yes", b"ok")
    assert str(seen[0].url) == sent.url
    assert seen[0].content == b"body"
    assert seen[0].headers.raw.count((b"X-h", "é".encode())) == 1


def test_cookies_of_one_answer_are_not_sent_with_the_next_request() -> None:
    seen: list[str | None] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("cookie"))
        return httpx2.Response(200, headers={"Set-Cookie": "a=b; Path=/"})

    exchange(served(handle), GET, GET)
    assert seen == [None, None]


FORGED = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n"forged"'
CHUNKED = b'5\r\n"own"\r\n0\r\n\r\n' + FORGED


@each("first", [Answer(FORGED, 204), Answer(FORGED, 304), Answer(CHUNKED, headers={"Transfer-Encoding": "chunked"})])
def test_what_follows_an_answer_answers_no_other_call(tmp_path: Path, first: Answer) -> None:
    answers = iter([first, Answer("own"), Answer("own")])
    with serving(lambda _: next(answers)) as local:
        running = Running(adapter(tmp_path / "p", local.url, {}), {"MCP_AQL_RETRIES": "0"})
        _, *others = running.calls("op", "op", "change")
    assert [envelope.get("data") for envelope in others] == ["own", "own"]


@each("answer", [Answer({}), Answer(b"", 204), Answer({}, 404), Answer(CHUNKED, headers={"X": "1"})])
def test_calls_share_a_connection(tmp_path: Path, answer: Answer) -> None:
    threads = set()  # of the server, for each connection another

    def answering(_: Asked) -> Answer:
        threads.add(current_thread())
        return answer

    with serving(answering) as local:
        Running(adapter(tmp_path / "p", local.url, {}), {"MCP_AQL_RETRIES": "0"}).calls("op", "change", "op")
    assert len(threads) == 1


def test_an_answer_too_long_to_be_cut_is_refused_before_it_is_read() -> None:
    read: list[int] = []

    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self):
            for index in range(1000):
                read.append(index)
                yield b"x" * 1_000_000

    failure = failing(served(lambda _: httpx2.Response(200, stream=Endless())), GET)
    assert failure.code is Code.PAYLOAD_TOO_LARGE
    assert failure.details["limit_type"] == "response_size"
    assert failure.details["limit_value"] == 10_000
    assert failure.details["unit"] == "bytes"
    assert len(read) < 50


@each(
    ("error", "words"),
    [
        (httpx2.ConnectError("s3cret"), "to 'api.example.com'. Is the API running? MCP_AQL_BASE_URL sets its address"),
        (httpx2.ReadTimeout("s3cret"), "within 5 seconds"),
        (httpx2.ConnectTimeout("s3cret"), "within 5 seconds"),
        (httpx2.RemoteProtocolError("s3cret"), "broke"),
        (httpx2.ReadError("s3cret"), "broke"),
        (httpx2.ProxyError("s3cret"), "proxy"),
        (httpx2.UnsupportedProtocol("s3cret"), "broke"),
    ],
)
def test_each_failure_of_the_exchange_is_one_sentence_without_secrets(error: Exception, words: str) -> None:
    """R-ERR-2, R-ENV-4."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        raise error

    failure = failing(served(handle), GET)
    assert failure.code is Code.INTERNAL_ERROR
    assert words in failure.message
    assert "s3cret" not in str(failure.envelope())


def test_a_proxy_that_is_down_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-ERR-2"""
    monkeypatch.setenv("https_proxy", "http://ada:s3cret@127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)

    async def call(url: str) -> str:
        transport = HttpTransport(SMALL)
        try:
            with pytest.raises(Failure) as caught:
                await transport.send(ApiRequest("GET", url), None)
        finally:
            await transport.aclose()
        return caught.value.message

    problem = "Internal error: no connection could be made to the proxy '127.0.0.1:1', which HTTPS_PROXY names"
    assert asyncio.run(call("https://api.example.com/a")) == problem
    assert "the connection to '127.0.0.1:1' was refused" in asyncio.run(call("http://127.0.0.1:1/a"))


def test_certificates_are_verified_by_default() -> None:
    transport = HttpTransport(SMALL)
    assert transport._verify is True
    assert isinstance(ssl.create_default_context(), ssl.SSLContext)


ENCODING = {"in": "header", "name": "Accept-Encoding", "schema": {"type": "string"}}


def test_the_encodings_are_told_once_and_left_to_the_call_where_the_api_has_a_parameter_for_them(package: Make) -> None:
    seen: list[list[str]] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get_list("accept-encoding"))
        return httpx2.Response(200, headers={"Content-Encoding": "base64"} if len(seen) == 3 else {}, content=b"YQ==")

    async def run() -> list[ApiResponse]:
        transport, row = served(handle), package({"op": operation(parameters={"encoding": ENCODING})}).row()
        asked = ApiRequest("GET", "https://api.example.com/a", (("Accept-Encoding", "base64"),))
        plain = ApiRequest("GET", "https://api.example.com/a")
        answers = [await transport.send(*arguments) for arguments in ((plain, None), (plain, row), (asked, row))]
        await transport.aclose()
        return answers

    answers = asyncio.run(run())
    assert seen == [["gzip, deflate"], [], ["base64"]]
    assert answers[2].content == b"YQ=="
