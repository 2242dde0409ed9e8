"""`aqlgen serve`: one command from the address of a running API, or a document, to a server (docs/running.md)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from aqlgen.render.provenance import FILE
from aqlgen.runtime.cli import main as adapter_main
from tests.generator.commands import FIXTURES, Run, api, run
from tests.read.test_places import serving

pytestmark = pytest.mark.long

PETSTORE = FIXTURES / "petstore.yaml"
LISTED: dict[str, Any] = {"responses": {"200": {"description": "all", "content": {"application/json": {}}}}}
SHOP = api(
    {
        "/things": {"get": {"operationId": "listThings", **LISTED}, "post": {"operationId": "addThing", **LISTED}},
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "delete": {"operationId": "deleteThing", **LISTED},
        },
    }
)
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
MESSAGES: tuple[dict[str, Any], ...] = (
    {"id": 1, "method": "initialize", "params": CLIENT},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "mcp_aql_read", "arguments": {"operation": "list_things"}}},
)
SESSION = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in MESSAGES)


@pytest.fixture(autouse=True)
def state(tmp_path: Path) -> Iterator[Path]:
    """Keep the state of this machine's user out, and their settings."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MCP_AQL_")}
    with patch.dict(os.environ, {**outside, "XDG_STATE_HOME": str(tmp_path / "state")}, clear=True):
        yield tmp_path / "state"


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "aqlgen", "serve", *map(str, words)]


def made(*words: str | Path) -> tuple[Path, dict[str, str], Run]:
    """Do all that comes before the start; return the package, the environment that it starts in, and the output."""
    starts: list[tuple[list[str], dict[str, str]]] = []

    def start(_: str, words: list[str], environ: dict[str, str]) -> None:
        starts.append((words, environ))
        raise SystemExit(0)

    with patch("os.execve", start):
        ran = run("serve", *words)
    assert ran.code == 0, ran.err
    ((words_started, environ),) = starts
    return Path(environ["PYTHONPATH"].split(os.pathsep)[0]) / words_started[3], environ, ran


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_one_command_leads_from_the_address_of_a_running_api_to_an_answer_of_it(tmp_path: Path, state: Path) -> None:
    pages = {"/openapi.json": json.dumps(SHOP), "/things": '[{"id": 1}]'}
    with serving(pages) as (origin, asked):
        ran = subprocess.run(command(origin), input=SESSION, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]  # nothing else may be there
    assert answers[-1]["result"]["structuredContent"] == {"success": True, "data": [{"id": 1}]}
    assert asked[-1] == "/things"
    assert "shop: 3 operations (1 create, 1 read, 1 delete)." in ran.stderr
    assert "Confirmations: 1 operation at each call; `aqlgen explain" in ran.stderr
    assert "Ready: nothing is missing for any of 3 operations" in ran.stderr  # of the address that the user typed
    assert list(tmp_path.iterdir()) == [state]


@pytest.mark.usefixtures("forked")
def test_over_http_it_serves_until_a_signal(tmp_path: Path) -> None:
    words = command(PETSTORE, "--http", "--port", "0", "--mock")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        assert server.stderr is not None
        lines = iter(server.stderr.readline, "")
        assert any("Serving MCP on http://127.0.0.1:" in line for line in lines)
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


def test_a_start_with_nothing_new_makes_nothing_again(tmp_path: Path) -> None:
    package, _, first = made(PETSTORE)
    written = {path: path.stat().st_mtime_ns for path in package.rglob("*")}
    again, _, second = made(PETSTORE)
    assert again == package
    assert {path: path.stat().st_mtime_ns for path in package.rglob("*")} == written
    assert "petstore: 15 operations" in first.err
    assert second.err == first.err.replace("\n\n", "\n")


@pytest.mark.usefixtures("forked")
def test_of_two_starts_at_once_both_serve() -> None:
    starts = [subprocess.Popen(command(PETSTORE, "--mock"), stdin=subprocess.DEVNULL) for _ in range(2)]
    assert [start.wait(60) for start in starts] == [0, 0]


def test_a_project_that_another_start_is_writing_or_left_behind_is_none_of_the_last(tmp_path: Path) -> None:
    document = tmp_path / "shop.json"
    document.write_text(json.dumps(SHOP))
    package, _, _ = made(document)
    project = package.parent.parent
    begun = project.parent / f".{project.name}-begun"
    begun.mkdir()
    (begun / FILE).write_bytes((project / FILE).read_bytes())
    assert made(document)[0] == package
    document.write_text(json.dumps({**SHOP, "info": {"title": "Shop", "version": "2"}}))
    assert made(document)[0] != package


@pytest.mark.usefixtures("forked")
def test_the_project_of_an_adapter_that_runs_is_never_removed(tmp_path: Path, state: Path) -> None:
    document = tmp_path / "shop.json"

    def start_and_end(version: str) -> None:
        document.write_text(json.dumps({**SHOP, "info": {"title": "Shop", "version": version}}))
        assert subprocess.run(command(document, "--mock", "-q"), stdin=subprocess.DEVNULL, check=False).returncode == 0

    document.write_text(json.dumps(SHOP))
    words = command(document, "--http", "--port", "0", "--mock")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert any("Serving MCP on http://127.0.0.1:" in line for line in iter(server.stderr.readline, ""))
        (folder,) = state.glob("aqlgen/served/*/*")
        os.utime(folder, (0, 0))
        start_and_end("2")
        is_left = folder.exists()
        server.terminate()
    assert is_left
    start_and_end("3")
    assert not folder.exists()


def test_a_document_that_changes_renames_nothing_and_gains_no_host(state: Path) -> None:
    pages = {"/openapi.json": json.dumps(SHOP), "/things": "[]"}
    with serving({"/things": "[]"}) as (elsewhere, stolen), serving(pages) as (origin, _):
        before, _, _ = made(origin, "--accept-hosts")
        hostile = json.loads(json.dumps(SHOP).replace("listThings", "fetchEverything"))
        pages["/openapi.json"] = json.dumps({**hostile, "servers": [{"url": elsewhere}]})
        after, environ, ran = made(origin, "--accept-hosts")
        assert after != before
        assert f"Not accepted, so that nothing is sent there: {elsewhere}" in ran.err
        with patch.dict(os.environ, environ):
            assert adapter_main(after, None, ["call", "list_things"]) == 1
    assert stolen == []


def test_a_server_that_is_down_at_the_next_start_is_served_by_the_last_project() -> None:
    pages: dict[str, str | int] = {"/openapi.json": json.dumps(SHOP)}
    with serving(pages) as (origin, _):
        package, _, _ = made(origin)
        pages["/openapi.json"] = "openapi: 3.1.0\npaths: []\n"
        assert run("serve", origin).code == 2  # a document that is there is never passed over
        pages["/openapi.json"] = 503
        assert made(origin)[0] == package
    again, _, ran = made(origin)
    assert again == package
    (warning,) = [line for line in ran.err.splitlines() if ": warning: " in line]
    assert warning.startswith(f"{origin}/: warning: cannot be fetched: the connection was refused")
    assert f"the project of {time.strftime('%Y-%m-%d')}" in warning
    assert "shop: 3 operations" in ran.err
    assert run("serve", origin, "--name", "other").code == 4


def test_what_a_changed_document_means_for_agents_is_told_at_the_start() -> None:
    pages = {"/openapi.json": json.dumps(SHOP)}
    with serving(pages) as (origin, _):
        made(origin)
        shop = json.loads(pages["/openapi.json"])
        del shop["paths"]["/things/{id}"]
        pages["/openapi.json"] = json.dumps(shop)
        _, _, changed = made(origin)
        assert "Since the last start: 1 breaking change" in changed.err
        assert "delete_thing" in changed.err
        assert "Since the last start" not in made(origin)[2].err


def test_the_address_that_the_user_typed_is_the_apis_if_the_document_names_it_too() -> None:
    pages: dict[str, str] = {}
    with serving(pages) as (origin, _):
        public, local = {"url": "https://api.shop.dev/v1"}, {"url": origin}
        pages["/openapi.json"] = json.dumps({**SHOP, "servers": [public, local]})
        assert "Ready: nothing is missing" in made(origin)[2].err
        pages["/openapi.json"] = json.dumps({**SHOP, "servers": [public]})
        for words, accepted in (([origin], False), ([origin, "--accept-hosts"], True)):
            _, _, ran = made(*words)
            assert f"set MCP_AQL_BASE_URL={origin} for that" in ran.err
            assert "https://api.shop.dev/v1" in ran.err
            assert ("Not ready: no host of the API is accepted" in ran.err) is not accepted
            assert "`Hosts`" not in ran.err


def test_what_an_agent_is_told_names_no_command_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    for security, advice in (({}, "start 'aqlgen serve' with --auth"), ({"security": [{"key": []}]}, "SHOP_KEY")):
        schemes = {"components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}}
        document = {**SHOP, **security, **(schemes if security else {})}
        with serving({"/openapi.json": json.dumps(document), "/things": 401}) as (origin, _):
            package, environ, _ = made(origin)
            with patch.dict(os.environ, environ):
                assert adapter_main(package, None, ["call", "list_things"]) == 1
        message = json.loads(capsys.readouterr().out)["error"]["message"]
        assert advice in message
        assert "doctor" not in message


def test_kept_it_is_the_project_that_from_openapi_writes_and_is_served_as_its_owner_has_it(tmp_path: Path) -> None:
    overrides, kept, generated = tmp_path / "own.yaml", tmp_path / "kept", tmp_path / "generated"
    overrides.write_text("GET /pets: {name: all_pets}\n", encoding="utf-8")
    package, _, _ = made(PETSTORE, "--overrides", overrides, "--keep", kept)
    assert package == kept / "src/petstore_adapter"
    assert run("from-openapi", PETSTORE, "--overrides", overrides, "-o", generated).code == 0
    assert contents(kept) == contents(generated)
    (kept / "adapter.toml").write_text("read_only = true\n", encoding="utf-8")
    served, _, ran = made(kept)
    assert served == kept / "src/petstore_adapter"
    assert "petstore: 7 operations (7 read)." in ran.err


def test_the_adapter_gets_the_settings_and_what_is_missing_is_named() -> None:
    with patch.dict(os.environ, {"MCP_AQL_BASE_URL": "https://pets.test"}):
        _, environ, ran = made(PETSTORE, "--read-only")
    assert environ["MCP_AQL_READ_ONLY"] == "true"
    assert "(7 read)" in ran.err
    assert "Set PETSTORE_API_KEY for" in ran.err


def test_under_uvx_the_settings_of_clients_name_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    class Installed:
        def read_text(self, _: str) -> str:
            return '{"url": "file:///wheels/aqlgen.whl", "archive_info": {}}'

    monkeypatch.setattr(sys, "prefix", "/home/anna/.cache/uv/archive-v0/Ddwm40w99xTNeWA8")
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    _, environ, _ = made(PETSTORE)
    assert environ["AQLGEN_STARTED_BY"] == f"uvx --from file:///wheels/aqlgen.whl aqlgen serve {PETSTORE}"


def test_no_header_is_shown_or_kept(state: Path) -> None:
    with serving({"/openapi.json": json.dumps(SHOP)}) as (origin, _):
        _, environ, ran = made(origin, "--header", "Authorization: Bearer s3cret")
    assert "s3cret" not in environ["AQLGEN_STARTED_BY"] + ran.err
    files = (path for path in state.rglob("*") if path.is_file())
    assert not any(b"s3cret" in path.read_bytes() for path in files)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-"], 3, "standard input is the client's"),
        ([str(PETSTORE), "--port", "9123"], 3, "--port needs --http"),
        (["http://127.0.0.1:9"], 4, "cannot be fetched"),
        (["missing.yaml"], 4, "no such file"),
        (["no-document.json"], 2, "openapi"),
        (["project", "--auth", "bearer"], 3, "--auth is for a document"),
        ([str(PETSTORE), "--keep", "project"], 4, "use `aqlgen update`"),
        (["project", "--name", "other"], 3, "--name is for a document, and project is a project"),
        (["project"], 4, "cannot be used"),
    ],
    ids=str,
)
def test_what_cannot_be_served_is_refused(
    words: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no-document.json").write_text("{}", encoding="utf-8")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / FILE).write_text("{}", encoding="utf-8")
    ran = run("serve", *words)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err


def test_a_wrong_setting_stops_the_start() -> None:
    with patch.dict(os.environ, {"MCP_AQL_MODE": "several"}):
        ran = run("serve", PETSTORE)
    assert ran.code == 3
    assert "MCP_AQL_MODE" in ran.err
