"""Diagnostics for clients that asked for them, and for whoever reads standard error (R-OPS-4)."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import LoggingMessageNotificationParams
from stand_in import FakeApi

from aqlgen.runtime.cli.serving import adopt_libraries
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.logs import LEVELS, Logger, Record
from aqlgen.runtime.server.mcp import build_server

pytestmark = [pytest.mark.anyio, pytest.mark.long]
HERE = Path(__file__).parent
READ = ("mcp_aql_read", {"operation": "list_keepers"})
PATIENT = "PATIENT-4711"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Heard:
    """Collects the log messages that a client receives."""

    def __init__(self) -> None:
        self.messages: list[LoggingMessageNotificationParams] = []

    async def __call__(self, params: LoggingMessageNotificationParams) -> None:
        self.messages.append(params)

    async def some(self, count: int = 1) -> list[LoggingMessageNotificationParams]:
        with anyio.fail_after(5):
            while len(self.messages) < count:
                await anyio.sleep(0.005)
        return self.messages


def client(dispatcher: Dispatcher, heard: Heard, era: str = "legacy", **more: Any) -> Client:
    return Client(build_server(dispatcher), mode=era, logging_callback=heard, **more)


async def set_level(client: Client, level: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated for the protocol to come, not for this one
        await client.set_logging_level(level)


@pytest.fixture
def started(forked: None) -> Any:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()


# Clients up to 2025-11-25


async def test_a_client_that_set_a_level_is_told_of_a_failure_and_still_gets_its_answer(
    zoo: Dispatcher, api: FakeApi
) -> None:
    """R-OPS-4"""
    heard = Heard()
    async with client(zoo, heard) as connection:
        assert connection.server_capabilities.logging is not None
        await set_level(connection, "error")
        api.fails = ValueError("sesame in /srv/secret.py")
        answer = (await connection.call_tool(*READ)).structured_content
        assert answer is not None
        assert answer["error"]["code"] == "INTERNAL_ERROR"
        [message] = await heard.some()
    assert message.level == "error"
    assert message.logger == "mcp-aql"
    assert message.data["message"] == "unexpected failure"
    assert ISO.fullmatch(message.data["timestamp"])
    assert message.data["session_id"].startswith("session_")
    assert message.data["data"] == {
        "request_id": answer["error"]["details"]["request_id"],
        "operation": "list_keepers",
    }
    assert "sesame" not in message.model_dump_json()


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_that_asked_for_no_level_is_told_nothing(zoo: Dispatcher, api: FakeApi, era: str) -> None:
    """R-OPS-4"""
    heard = Heard()
    async with client(zoo, heard, era) as connection:
        api.fails = ValueError()
        await connection.call_tool(*READ)
        zoo.log.write("emergency", "fire")
        await connection.list_tools()
    assert heard.messages == []


async def test_only_the_level_that_was_asked_for_and_above_is_sent(zoo: Dispatcher) -> None:
    """R-OPS-4"""
    heard = Heard()
    async with client(zoo, heard) as connection:
        for asked in ("critical", "debug"):
            await set_level(connection, asked)
            for level in LEVELS:
                zoo.log.write(level, f"{asked} {level}")
        await heard.some(3 + 8)
    expected = [f"critical {level}" for level in LEVELS[5:]] + [f"debug {level}" for level in LEVELS]
    assert [message.data["message"] for message in heard.messages] == expected
    assert [message.level for message in heard.messages] == [*LEVELS[5:], *LEVELS]


async def test_a_record_of_one_session_goes_to_it_alone_and_one_of_none_to_all(zoo: Dispatcher, api: FakeApi) -> None:
    """R-OPS-4"""
    first, second = Heard(), Heard()
    server = build_server(zoo)
    async with (
        Client(server, mode="legacy", logging_callback=first) as connection,
        Client(server, mode="legacy", logging_callback=second) as other,
    ):
        await set_level(connection, "info")
        await set_level(other, "info")
        api.fails = ValueError()
        await connection.call_tool(*READ)
        zoo.log.write("info", "to everyone", answer=42)
        await first.some(2)
        [message] = await second.some(1)
    assert [message.data["message"] for message in first.messages] == ["unexpected failure", "to everyone"]
    assert set(message.data) == {"timestamp", "message", "data"}
    assert message.data["data"] == {"answer": 42}


async def test_a_record_from_another_thread_arrives_too(zoo: Dispatcher) -> None:
    """R-OPS-4"""
    heard = Heard()
    async with client(zoo, heard) as connection:
        await set_level(connection, "info")
        thread = threading.Thread(target=zoo.log.write, args=("info", "from afar"))
        thread.start()
        await heard.some()
        thread.join()
    assert heard.messages[0].data["message"] == "from afar"


async def test_a_client_that_does_not_listen_holds_up_nothing_and_hears_how_much_it_missed(zoo: Dispatcher) -> None:
    """R-OPS-4"""
    gate, seen = anyio.Event(), []

    async def slow(params: LoggingMessageNotificationParams) -> None:
        await gate.wait()
        seen.append(params.data)

    async with Client(build_server(zoo), mode="legacy", logging_callback=slow) as connection:
        await set_level(connection, "info")
        for number in range(2000):
            zoo.log.write("info", f"number {number}")
        with anyio.fail_after(5):
            assert (await connection.call_tool(*READ)).structured_content is not None
            gate.set()
            while not any("lost" in data["message"] for data in seen):
                await anyio.sleep(0.01)
    [lost] = [data for data in seen if "lost" in data["message"]]
    assert lost["data"]["count"] + len(seen) - 1 == 2000


async def test_a_connection_that_ended_is_told_nothing_more(zoo: Dispatcher) -> None:
    """R-OPS-4"""
    async with client(zoo, Heard()) as connection:
        await set_level(connection, "debug")
        assert zoo.log.wants("debug")
    assert not zoo.log.wants("debug")
    zoo.log.write("debug", "to nobody")


# Protocol 2026-07-28


async def test_a_request_that_asks_for_a_level_is_told_what_is_recorded_on_its_behalf(
    zoo: Dispatcher, api: FakeApi
) -> None:
    """R-OPS-4"""
    heard = Heard()
    async with client(zoo, heard, "auto", log_level="warning") as connection:
        zoo.log.write("error", "before")
        api.fails = ValueError("sesame")
        assert (await connection.call_tool(*READ)).is_error
        [message] = await heard.some()
        zoo.log.write("error", "after")
        await connection.list_tools()
    assert [message.data["message"] for message in heard.messages] == ["unexpected failure"]
    assert message.level == "error"
    assert "sesame" not in message.model_dump_json()


# Over HTTP

HTTP = """
import sys
from pathlib import Path
sys.path[:0] = [{here!r}, {runtime!r}]
from stand_in import FakeApi
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.http import bind, serve_http
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.table import Adapter, Table
folder, api = Path(sys.argv[1]), FakeApi()
api.fails = ValueError()
server = build_server(Dispatcher(Adapter.load(folder), Table(folder), api, Config()))
sys.exit(serve_http(server, bind("127.0.0.1", 0), host="127.0.0.1", max_body=100_000))
"""


@pytest.fixture
def url(package: Path, started: list[Any]) -> str:
    runtime = HERE.parents[1]
    program = HTTP.format(here=str(HERE), runtime=str(runtime))
    process = subprocess.Popen([sys.executable, "-c", program, str(package)], stderr=subprocess.PIPE)
    started.append(process)
    assert process.stderr
    match = re.search(rb"http://\S+", process.stderr.readline())
    assert match
    return match[0].decode()


async def test_over_http_a_request_of_the_new_protocol_is_answered_as_json_and_told_nothing(url: str) -> None:
    """R-OPS-4: an answer of JSON has no stream that a notification could come on; standard error has it."""
    heard = Heard()
    async with Client(url, mode="auto", logging_callback=heard, log_level="debug") as connection:
        assert (await connection.call_tool(*READ)).is_error
    assert heard.messages == []


# Standard error


def record(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    [line] = capsys.readouterr().err.splitlines()
    parsed: dict[str, Any] = json.loads(line)
    return parsed


def test_the_same_record_is_one_json_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """R-OPS-4"""
    heard: list[Record] = []
    log = Logger("notice", "zoo_adapter")
    log.listen(heard.append, "debug")
    log.write("notice", "two\nlines", session_id="session_1", answer=[42])
    log.write("info", "not for standard error")
    line = record(capsys)
    assert ISO.fullmatch(line.pop("timestamp"))
    assert line == {
        "level": "notice",
        "logger": "zoo_adapter",
        "message": "two\nlines",
        "session_id": "session_1",
        "data": {"answer": [42]},
    }
    assert [heard_record.message for heard_record in heard] == ["two\nlines", "not for standard error"]


def test_no_record_shows_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """R-ENV-4"""
    heard: list[Record] = []
    log = Logger("error", secrets=lambda: ["sesame"])
    log.listen(heard.append, "error")
    log.exception("with sesame", ValueError("open sesame"), url="https://x/?key=sesame", sesame=1)
    text = json.dumps(record(capsys)) + repr([vars(heard_record) for heard_record in heard])
    assert "sesame" not in text
    assert "***" in text


@pytest.mark.parametrize("data", [{"a": object()}, {"a": {1, 2}}, {"a": float("inf")}, {"a": b"x"}])
def test_what_is_no_json_is_written_all_the_same(data: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """R-OPS-4"""
    circle: list[Any] = []
    circle.append(circle)
    log = Logger("info")
    log.write("info", "odd", **data)
    assert "a" in record(capsys)["data"]
    log.write("info", "odd", circle=circle)
    assert record(capsys)["message"] == "odd"


def test_what_libraries_log_is_a_line_of_ours_and_for_the_owner_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """R-OPS-4"""
    heard: list[Record] = []
    log = Logger("warning", secrets=lambda: ["sesame"])
    log.listen(heard.append, "debug")
    handler = adopt_libraries(log)
    try:
        logging.getLogger("mcp.client").info("not severe enough")
        logging.getLogger("mcp.client").warning("%s of %s", 1, "sesame")
        line = record(capsys)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as that of a file which another test left open
            warnings.simplefilter("always", DeprecationWarning)
            warnings.warn("old ways", DeprecationWarning, stacklevel=1)
        warned = record(capsys)
    finally:
        handler.close()
        logging.getLogger().setLevel(logging.WARNING)
    assert (line["level"], line["logger"], line["message"]) == ("warning", "mcp.client", "%s of %s")
    assert warned["message"].endswith(": DeprecationWarning")
    assert heard == []


@pytest.mark.parametrize("level", ["info", "debug"])
def test_what_a_library_puts_into_a_text_is_shown_at_debug_alone(
    level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-OPS-4: a text is shown as far as it stands in the code; handlers of the owner get no more."""
    seen: list[logging.LogRecord] = []
    collector = logging.Handler()
    collector.emit = seen.append  # type: ignore[method-assign]
    root, library, hooks = (logging.getLogger(name) for name in ("", "a_library", "zoo_adapter.hooks"))
    root.addHandler(collector)
    handler = adopt_libraries(Logger(level, "zoo_adapter"))
    value = PATIENT
    try:
        library.warning("a fixed text")
        library.warning("with %s", value)
        library.warning(f"with {value}")
        library.warning(value)
        try:
            raise ValueError(value)  # noqa: TRY301
        except ValueError:
            library.exception("failed")
        hooks.warning("of the owner: %s", value)
    finally:
        handler.close()
        root.removeHandler(collector)
        root.setLevel(logging.WARNING)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    if level == "debug":
        assert all(value in json.dumps(line) for line in lines[1:])
        return
    withheld = "a text that only log_level debug shows (test_log_notifications:"
    assert [line["message"].partition(withheld)[0] for line in lines] == [
        "a fixed text", "with %s", "", "", "failed", f"of the owner: {value}",
    ]  # fmt: skip
    assert lines[4]["data"]["error"] == "ValueError"
    assert value not in json.dumps(lines[:-1])
    assert not any(value in logging.Formatter().format(each) for each in seen[:-1])


def test_handlers_of_the_owner_get_the_records_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    """R-OPS-4, R-ENV-4"""
    records: list[Any] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)  # only the first gets it, since it raises
            raise OSError("the collector is away")

    handlers = [(logging.getLogger("zoo_adapter"), Collector()), (logging.getLogger(), Collector())]
    for logger, handler in handlers:
        logger.addHandler(handler)
    try:
        log = Logger("notice", "zoo_adapter", secrets=lambda: ["sesame"])
        log.write("notice", "with sesame, 100 %", session_id="session_1", key="sesame")
        log.write("info", "not severe enough")
    finally:
        for logger, handler in handlers:
            logger.removeHandler(handler)
    assert record(capsys)["message"] == "with ***, 100 %"
    assert [(each.getMessage(), each.levelno, each.levelname, each.name) for each in records] == [
        ("with ***, 100 %", 25, "NOTICE", "zoo_adapter")
    ]
    assert (records[0].session_id, records[0].data) == ("session_1", {"key": "***"})


def test_a_second_logger_of_a_name_takes_the_place_of_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    Logger("debug", "zoo_adapter")
    Logger("error", "zoo_adapter").write("error", "once")
    assert record(capsys)["message"] == "once"


def serve(package: Path, lines: int, **more: Any) -> subprocess.Popen[bytes]:
    """Serve the zoo, whose every call of `list_keepers` writes so many records of 1 kB first."""
    program = (HERE / "serve_zoo.py").read_text().replace("Path(__file__).parent", f"Path({str(HERE)!r})")
    chatty = f"""
async def chatty(request, row, send=dispatcher.api.send):
    for number in range({lines}):
        dispatcher.log.write("error", "x" * 1000, number=number)
    return await send(request, row)
dispatcher.api.send = chatty
sys.exit("""
    program = program.replace("sys.exit(", chatty, 1).replace("dispatcher, stopped", "dispatcher")
    return subprocess.Popen(
        [sys.executable, "-c", program, str(package)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more
    )


def talk(process: subprocess.Popen[bytes], calls: int) -> list[dict[str, Any]]:
    from test_stdio import HELLO, READY, call

    assert process.stdin
    assert process.stdout
    messages = [HELLO, READY, *(call(number, "list_keepers") for number in range(1, calls + 1))]
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    process.stdin.flush()
    return [json.loads(process.stdout.readline()) for _ in range(calls + 1)]


@pytest.mark.parametrize("goes_away", [False, True])
def test_a_reader_of_standard_error_that_reads_nothing_holds_up_nothing(
    package: Path, started: list[Any], goes_away: bool
) -> None:
    """R-OPS-4"""
    process = serve(package, 500, stderr=subprocess.PIPE)
    started.append(process)
    assert process.stderr
    if goes_away:
        process.stderr.close()
    assert len(talk(process, 6)) == 7  # 3 MB of records into a pipe of 64 kB
    assert process.stdin
    process.stdin.close()
    assert process.wait(8) == 0


def test_a_reader_that_comes_late_gets_whole_lines_and_how_many_were_lost(package: Path, started: list[Any]) -> None:
    """R-OPS-4"""
    process = serve(package, 1000, stderr=subprocess.PIPE)
    started.append(process)
    talk(process, 3)
    _, err = process.communicate(timeout=10)
    records = [json.loads(line) for line in err.splitlines()]
    lost = sum(line["data"]["count"] for line in records if "lost" in line["message"])
    written = [line["data"]["number"] for line in records if "lost" not in line["message"]]
    assert len(written) > 1000
    assert written[:1000] == list(range(1000))
    assert len(written) + lost <= 3000


def test_what_was_recorded_last_is_written_before_the_process_ends(package: Path, started: list[Any]) -> None:
    """R-OPS-4"""
    process = serve(package, 20, stderr=subprocess.PIPE)
    started.append(process)
    talk(process, 1)
    _, err = process.communicate(timeout=10)
    assert err.count(b'"number"') == 20
