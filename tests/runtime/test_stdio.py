from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client, StdioServerParameters

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="on Windows the SDK serves"),
    pytest.mark.usefixtures("forked"),
]
SERVE = str(Path(__file__).with_name("serve_zoo.py"))
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(id: int, operation: str, **params: Any) -> dict[str, Any]:
    arguments = {"operation": operation, "params": params}
    return {
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": {"name": "mcp_aql_read", "arguments": arguments},
    }


def slow(id: int, tenths: int) -> dict[str, Any]:
    return call(id, "list_animals", limit=tenths, born_after="2020-01-01")


class Server:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    @property
    def _in(self) -> IO[bytes]:
        assert self.process.stdin
        return self.process.stdin

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        for message in messages:
            self._in.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self._in.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def end(self) -> tuple[list[dict[str, Any]], str]:
        """Close the input, and return the remaining answers and standard error."""
        out, err = self.process.communicate(timeout=15)
        assert self.process.returncode == 0
        return [json.loads(line) for line in out.splitlines()], err.decode()


@pytest.fixture
def start(package: Path) -> Iterator[Callable[..., Server]]:
    processes: list[subprocess.Popen[bytes]] = []

    def begin(*more: str) -> Server:
        process = subprocess.Popen(
            [sys.executable, SERVE, str(package), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        processes.append(process)
        server = Server(process)
        server.send(HELLO)
        assert server.read()["result"]["protocolVersion"] == "2025-06-18"
        server.send(READY)
        return server

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def code(message: dict[str, Any]) -> str:
    envelope = message["result"]["structuredContent"]
    return str(envelope["error"]["code"]) if "error" in envelope else "ok"


def test_calls_in_flight_are_answered_after_the_end_of_input(start: Callable[..., Server]) -> None:
    server = start()
    server.send(slow(1, 3), slow(2, 1), call(3, "list_keepers"))
    answers, err = server.end()
    assert [answer["id"] for answer in answers] == [3, 2, 1]
    assert {code(answer) for answer in answers} == {"ok"}
    assert err.endswith("teardown ran\n")


def test_a_call_that_the_client_gave_up_is_not_waited_for(start: Callable[..., Server]) -> None:
    server = start()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    server.send(slow(1, 100), cancel)
    assert server.end()[0] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_promptly_and_cleanly(start: Callable[..., Server], number: signal.Signals) -> None:
    server = start()
    server.send(slow(1, 100), call(2, "list_keepers"))
    assert server.read()["id"] == 2
    server.process.send_signal(number)
    assert server.process.wait(5) == 0
    assert server.process.stderr
    assert "teardown ran" in server.process.stderr.read().decode()


def test_what_is_no_message_gets_an_error_and_the_next_message_its_answer(start: Callable[..., Server]) -> None:
    server = start()
    server.send(b"{garbage", b"", b"   ", b'{"id":9}', b'{"jsonrpc":"2.0","id":1,"method":5}', b"[]", b"\xff\xfe")
    server.send(b"[" * 100_000, call(2, "list_keepers"))
    answers, _ = server.end()
    assert [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer] == [
        (None, -32700),
        (9, -32600),
        (1, -32600),
        (None, -32600),
        (None, -32700),
        (None, -32700),
    ]
    assert [answer["id"] for answer in answers if "result" in answer] == [2]


def test_text_that_is_not_unicode_is_a_failure_that_the_agent_can_read(start: Callable[..., Server]) -> None:
    """R-REQ-10"""
    server = start()
    request = json.dumps(call(1, "get_animal", animal_id="HERE")).encode()
    server.send(request.replace(b"HERE", b"\\ud800"), request.replace(b"HERE", b"\xff").replace(b'"id": 1', b'"id": 2'))
    server.send(request.replace(b'"HERE"', b"[" * 200 + b"]" * 200).replace(b'"id": 1', b'"id": 3'))
    answers, _ = server.end()
    assert {answer["id"]: code(answer) for answer in answers} == {
        1: "VALIDATION_INVALID_ENCODING",
        2: "VALIDATION_INVALID_ENCODING",
        3: "VALIDATION_PAYLOAD_TOO_LARGE",
    }


def test_a_line_that_is_too_long_is_refused_by_its_id_and_serving_goes_on(start: Callable[..., Server]) -> None:
    """R-REQ-9"""
    server = start("1000")
    id_at_end = b'{"jsonrpc":"2.0","params":{"id":7,"x":"' + b"y" * 900_000 + b'"},"method":"ping","id":"b\\"c"}'
    server.send(call(1, "get_animal", animal_id="x" * 5000), id_at_end, call(3, "get_animal", animal_id="x" * 600))
    server.send(b"z" * 3_000_000, call(4, "list_keepers"))
    answers, _ = server.end()
    refused = [answer for answer in answers if "error" in answer]
    assert [answer["id"] for answer in refused] == [1, 'b"c', None]
    assert {answer["error"]["code"] for answer in refused} == {-32600}
    assert [answer["id"] for answer in answers if "result" in answer] == [3, 4]


def test_a_large_answer_to_a_slow_reader_arrives_whole(start: Callable[..., Server]) -> None:
    server = start()
    server.send(*(call(number, "get_animal", animal_id="x" * 300_000) for number in range(1, 9)))
    answers, _ = server.end()
    assert {len(answer["result"]["structuredContent"]["data"]["animal_id"]) for answer in answers} == {300_000}
    assert len(answers) == 8


def test_a_reader_that_goes_away_ends_it_quietly(start: Callable[..., Server]) -> None:
    server = start()
    assert server.process.stdout
    server.process.stdout.close()
    server.send(call(1, "list_keepers"))
    assert server.process.wait(5) == 0
    assert server.process.stderr
    assert "Traceback" not in server.process.stderr.read().decode()


def test_a_file_or_nothing_as_input_is_served_to_its_end(package: Path, tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    requests.write_text(
        "\n".join(json.dumps(message) for message in (HELLO, READY, slow(1, 2), call(2, "list_keepers")))
    )
    for path, ids in ((str(requests), [0, 2, 1]), (os.devnull, [])):
        with open(path, "rb") as source:
            process = subprocess.run(
                [sys.executable, SERVE, str(package)], stdin=source, capture_output=True, timeout=15, check=True
            )
        assert [json.loads(line)["id"] for line in process.stdout.splitlines()] == ids


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_sdks_client_speaks_with_it_in_both_eras(package: Path, era: str) -> None:
    """R-OPS-2: over stdio the process's connection is the session, in both eras."""
    server = StdioServerParameters(command=sys.executable, args=[SERVE, str(package)])
    async with Client(server, mode=era) as client:
        assert (client.protocol_version >= "2026") is (era == "auto")
        listed = await client.list_tools()
        assert len(listed.tools) == 5
        if era == "auto":
            assert (listed.ttl_ms, listed.cache_scope) == (3_600_000, "private")
        session_ids = set()
        for _ in range(2):
            arguments = {"operation": "introspect", "params": {"query": "operations"}}
            result = await client.call_tool("mcp_aql_read", arguments)
            assert result.structured_content
            session_ids.add(result.structured_content["data"]["_protocol"]["session_id"])
        assert len(session_ids) == 1
