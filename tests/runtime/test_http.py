from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.types import ElicitResult
from tiny_zoo import write_package

from aqlgen.runtime.server.http import BindError, bind

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
PROGRAM = """
import sys
from pathlib import Path
sys.path[:0] = [{here!r}, {runtime!r}]
from stand_in import FakeApi
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.http import bind, serve_http
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.table import Adapter, Table
folder = Path(sys.argv[1])
async def stopped(): print("teardown ran", file=sys.stderr)
class Noting(Dispatcher):
    async def handle(self, family, arguments, session, *more):
        if not session.callbacks:
            session.on_close(lambda: print("session ended", file=sys.stderr, flush=True))
        return await super().handle(family, arguments, session, *more)
server = build_server(Noting(Adapter.load(folder), Table(folder), FakeApi(), Config()), stopped)
sys.exit(serve_http(server, bind("127.0.0.1", 0), host="127.0.0.1", max_body=100_000))
"""


@contextmanager
def serving(package: Path, python: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    runtime = HERE.parents[1]
    program = PROGRAM.format(here=str(HERE), runtime=str(runtime))
    server = subprocess.Popen([python or sys.executable, "-c", program, str(package)], stderr=subprocess.PIPE)
    try:
        yield server
    finally:
        server.kill()
        server.communicate()


def url_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr
    match = re.search(rb"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
    assert match
    return match[0].decode()


@pytest.fixture
def process(package: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start an adapter for one test, which looks at its standard error or ends it."""
    with serving(package) as server:
        yield server


@pytest.fixture
def url(process: subprocess.Popen[bytes]) -> str:
    return url_of(process)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, preloaded: Path) -> Iterator[str]:
    """Start an adapter for all tests that only call it."""
    with serving(write_package(tmp_path_factory.mktemp("zoo") / "src" / "zoo_adapter"), preloaded) as server:
        yield url_of(server)


@pytest.mark.usefixtures("forked")
@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_sdks_client_speaks_with_it_in_both_eras(
    process: subprocess.Popen[bytes], url: str, era: str
) -> None:
    """R-OPS-2: protocol 2026-07-28 has no session over HTTP, as introspection says; a request's state ends with it."""
    async with Client(url, mode=era) as client:
        assert (client.protocol_version >= "2026") is (era == "auto")
        ids = set()
        for _ in range(2):
            arguments = {"operation": "introspect", "params": {"query": "operations"}}
            result = await client.call_tool("mcp_aql_read", arguments)
            assert result.structured_content
            ids.add(result.structured_content["data"]["_protocol"]["session_id"])
    assert len(ids) == 1
    assert (ids == {None}) is (era == "auto")
    assert process.stderr
    for _ in range(2 if era == "auto" else 1):
        assert process.stderr.readline() == b"session ended\n"


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_that_knows_the_tools_repeats_the_operation_in_a_header(shared: str, era: str) -> None:
    """R-REQ-11: with and without it the same calls are answered, batches and odd names included."""
    async with Client(shared, mode=era) as client:
        listed = await client.list_tools()
        if era == "auto":
            assert (listed.ttl_ms, listed.cache_scope) == (3_600_000, "private")
        for name in ("list_keepers", "no such öperation"):
            result = await client.call_tool("mcp_aql_read", {"operation": name})
            assert result.structured_content
            assert result.structured_content["success"] is (name == "list_keepers")
        result = await client.call_tool("mcp_aql_read", {"operations": [{"operation": "list_keepers"}]})
        assert result.structured_content
        assert result.structured_content["success"]


def test_a_large_body_and_another_path_are_refused(shared: str) -> None:
    """R-TRUST-3"""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "y" * 200_000}
    assert httpx2.post(shared, json=ping, headers={"accept": "application/json"}).status_code == 413
    assert httpx2.get(shared.removesuffix("mcp")).status_code == 404


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(package: Path, preloaded: Path, number: signal.Signals) -> None:
    with serving(package, preloaded if number == signal.SIGINT else None) as process:
        assert httpx2.get(url_of(process)).status_code >= 400
        process.send_signal(number)
        assert process.wait(10) == 0
        assert process.stderr
        log = process.stderr.read().decode()
    assert "teardown ran" in log
    assert "Traceback" not in log


def test_an_address_that_cannot_be_used_is_one_clear_line() -> None:
    with pytest.raises(BindError, match=r"cannot listen on 203\.0\.113\.1 port 80: "):
        bind("203.0.113.1", 80)
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(BindError, match="choose another with --port"):
            bind("127.0.0.1", taken.getsockname()[1])


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_delete_is_confirmed_by_a_person_or_a_token(shared: str, era: str) -> None:
    """R-SAFE-3, R-SAFE-4: JSON responses leave no way to ask with earlier protocols, and a token is given instead."""

    async def person(_: object, __: object) -> ElicitResult:
        return ElicitResult(action="accept")

    for callback in (person, None):
        async with Client(shared, mode=era, elicitation_callback=callback) as client:
            arguments = {"operation": "delete_animal", "params": {"animal_id": 7}}
            envelope = (await client.call_tool("mcp_aql_delete", arguments)).structured_content
            assert envelope
            if callback is not None and era == "auto":
                assert envelope["success"]
                continue
            token = {"confirmation_token": envelope["confirmation"]["token"]}
            for code in (None, "TOKEN_ALREADY_USED"):
                envelope = (await client.call_tool("mcp_aql_delete", {**arguments, **token})).structured_content
                assert envelope
                assert envelope.get("error", {}).get("code") == code
