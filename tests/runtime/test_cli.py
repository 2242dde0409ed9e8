from __future__ import annotations

import io
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from local import Answer, serving
from mcp import Client, StdioServerParameters

from aqlgen.runtime.cli import main
from aqlgen.runtime.hooks import Call, Refuse
from tests.cases import each
from tests.documents import INTEGER, TEXT, object_of, replies
from tests.generator.commands import api, tabulate

RUNTIME = Path(__file__).parents[2]
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(RUNTIME)!r}); from pathlib import Path; from aqlgen.runtime.cli import main; "
)


def command(package: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-c", f"{PROGRAM}sys.exit(main(Path({str(package)!r})))", *arguments]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MCP_AQL_BASE_URL", "MCP_AQL_ENDPOINT_MODE", "MCP_AQL_TOOL_PREFIX", "MCP_AQL_CONFIG", "ZOO_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def run(
    package: Path,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
    hooks: object = None,
    at_terminal: bool = False,
) -> tuple[int, str, str]:
    with patch.object(sys.stdout, "isatty", lambda: at_terminal):
        code = main(package, hooks, arguments)
    out, err = capsys.readouterr()
    return code, out, err


@each("missing", ["pydantic", "anyio", "mcp"])
def test_a_missing_dependency_is_an_error_in_a_line(package: Path, missing: str) -> None:
    program = (
        f"import sys; sys.path[:0] = [{str(RUNTIME)!r}, {str(package.parent)!r}]; sys.modules[{missing!r}] = None; "
        "from aqlgen.runtime import start; start.__name__ = sys.argv.pop(1) + '.runtime.start'; sys.exit(start.main())"
    )
    (package / "__init__.py").touch()
    command = [sys.executable, "-c", program, package.name]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (1, "", 1)
    assert "Install the adapter again" in ended.stderr
    assert missing in ended.stderr


def test_operations_lists_searches_and_narrows(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(package, capsys, "operations")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 6
    assert "CREATE   create_animal  Take an animal into the zoo" in out
    _, out, _ = run(
        package, capsys, "operations", "--category", "READ", "--search", "keepers", "--output-format", "json"
    )
    (only,) = json.loads(out)["operations"]
    assert only == {
        "name": "list_keepers",
        "semantic_category": "READ",
        "endpoint": "read",
        "description": "List the people who feed animals",
        "method": "GET",
        "path": "/keepers",
        "resource": "keeper",
        "danger": "safe",
    }


def test_call_prints_the_envelope_and_its_success_is_the_exit_code(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(package, capsys, "call", "get_animal", '{"animal_id": 7}', "--mock")
    assert code == 0
    assert json.loads(out)["success"] is True
    code, out, _ = run(package, capsys, "--mock", "call", "get_animal")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "VALIDATION_MISSING_PARAM"
    code, out, _ = run(package, capsys, "call", "introspect", '{"query": "types", "name": "Species"}')
    assert code == 0
    assert json.loads(out)["data"]["type"]["values"] == ["lion", "newt"]


def test_call_asks_the_person_at_the_terminal(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-SAFE-4, R-SAFE-5"""
    monkeypatch.setenv("MCP_AQL_LOG_LEVEL", "notice")  # with --mock the audit log goes to the log
    call = ("call", "delete_animal", '{"animal_id": 7}', "--mock")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    code, out, _ = run(package, capsys, *call)
    assert (code, json.loads(out)["error"]["code"]) == (1, "CONFIRMATION_REQUIRED")
    code, _, log = run(package, capsys, *call, "--yes")
    assert code == 0
    for typed, expected in (("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True, readline=lambda typed=typed: typed))
        code, _, err = run(package, capsys, *call)
        assert (code, "Delete animal 7? This cannot be undone." in err) == (expected, True)
        log += err
    assert log.count("OPERATION_PERFORMED") == 2


def test_doctor_says_what_is_held_back_and_where_it_is_written(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """R-SAFE-1, R-SAFE-5, R-LOOP-6, R-OPS-3"""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    hooks = SimpleNamespace(on_decision=print)
    _, out, _ = run(package, capsys, "doctor", "--output-format", "json", hooks=hooks)
    report = json.loads(out)
    place = tmp_path / "zoo-adapter"
    assert report["hooks"] == ["on_decision"]
    assert report["safety"] == {
        "policy": "standard",
        "trust_level": "generated",
        "rules": 0,
        "untold": [],
        "approval": "agent",
        "read_only": False,
        "asks_about": 1,
        "asks_at_first_use": 0,
        "refuses": 0,
        "safety_loop": "disabled",
        "audit": {"place": str(place / "audit.jsonl"), "writable": True},
        "state": {
            "place": str(place / "state.sqlite3"),
            "writable": True,
            "store": "sqlite",
            "answers": None,
            "key": "the store",
        },
    }
    _, out, _ = run(package, capsys, "doctor", hooks=hooks)
    assert "standard: confirmation for 1 operation, 0 refused" in out
    assert str(place / "audit.jsonl") in out
    assert not place.exists()


@pytest.mark.parametrize("params", ["{", "[" * 5000, "nonsense"])
def test_call_refuses_what_is_no_json(package: Path, capsys: pytest.CaptureFixture[str], params: str) -> None:
    code, out, err = run(package, capsys, "call", "get_animal", params, "--mock")
    assert (code, out) == (2, "")
    assert err.startswith("Error: PARAMS is not valid JSON (")


def test_doctor_says_when_what_destroys_would_be_refused(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-SAFE-5: what cannot be written into the audit log is not done."""
    monkeypatch.setattr("os.access", lambda *_: False)
    _, out, _ = run(package, capsys, "doctor")
    assert "audit.jsonl: cannot be written, set MCP_AQL_AUDIT_PATH" in out
    assert "\nNot ready: the audit log cannot be written" in out


def test_parameters_of_a_call_come_as_json_as_names_and_values_or_from_standard_input(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"name": "Ada", "species": "lion", "tags": ["old"]}'))
    for arguments in (
        ['{"name": "Ada", "species": "lion", "tags": ["old"]}', "--mock"],
        ["name=Ada", "species=lion", 'tags=["old"]', "--mock"],
        ["--mock", "name=Ada", "species=lion"],
        ["-", "--mock"],
    ):
        code, out, _ = run(package, capsys, "call", "create_animal", *arguments)
        assert (code, json.loads(out)["success"]) == (0, True), arguments
    code, _, err = run(package, capsys, "call", "get_animal", "7", "animal_id=7", "--mock")
    assert (code, err[:29]) == (2, "Error: PARAMS is not an objec")
    code, _, err = run(package, capsys, "call", "get_animal", "animal_id", "7", "--mock")
    assert (code, err[:58]) == (2, "Error: PARAMS has 2 arguments without a name: animal_id 7;")
    _, _, err = run(package, capsys, "call", "get_animal", '{"animal_id": 7', "--mock")
    assert "line 1 column 16" in err
    copy = shutil.copytree(package, tmp_path / "copy")
    (copy / "types.json").unlink()
    code, _, err = run(copy, capsys, "call", "get_animal", "animal_id=7", "--mock")
    assert (code, "types.json is missing" in err) == (1, True), err
    code, out, err = run(package, capsys, "call", "get_animal", "7", "--mock")
    assert (code, out) == (2, "")
    assert "id=1" in err


def test_a_list_that_may_be_a_preset_takes_one_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pet = object_of("id", id=INTEGER, name=TEXT, age=INTEGER)
    package = tabulate(tmp_path, api({"/pet": {"get": {"responses": replies(pet)}}})).write(tmp_path)
    for fields, names in (("name", ["name"]), ("id,name", ["id", "name"]), ("minimal", ["id", "name"])):
        code, out, _ = run(package, capsys, "call", "get_pet", f"fields={fields}", "--mock")
        assert (code, sorted(json.loads(out).get("data", []))) == (0, names), out


def test_describe_shows_what_an_operation_takes(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for at_terminal in (True, False):
        code, out, _ = run(package, capsys, "describe", "createAnimal", at_terminal=at_terminal)
        (operation,) = json.loads(out)["data"]["operations"]
        assert (code, operation["name"]) == (0, "create_animal")
        assert operation["params"]["name*"].startswith("string(1..40)")
    code, out, err = run(package, capsys, "describe", "fetch_animal")
    assert (code, out) == (1, "")
    assert err.startswith("Error: there is no operation or type 'fetch_animal'")


def test_a_search_that_finds_nothing_says_so(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(package, capsys, "operations", "--search", "submarine")
    assert (code, out, len(err.splitlines())) == (0, "", 1)


def test_call_runs_the_owners_hooks(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """R-LOOP-6"""

    def before_call(call: Call) -> None:
        raise Refuse("closed today")

    hooks = SimpleNamespace(before_call=before_call)
    code, out, _ = run(package, capsys, "call", "list_keepers", "--mock", hooks=hooks)
    assert code == 1
    assert json.loads(out)["error"]["message"] == "Permission denied: closed today"
    code, _, err = run(package, capsys, "call", "list_keepers", "--mock", hooks=SimpleNamespace(before_send=1))
    assert (code, err) == (2, "Error: before_send in hooks.py is not a function of (request, call)\n")
    code, _, err = run(package, capsys, "doctor", hooks=SimpleNamespace(before_sned=print))
    assert (code, err.partition(" is not a hook")[0]) == (2, "Error: before_sned in hooks.py")


@each(
    ("source", "message"),
    [
        ("def before_call(call)\n    ...", "hooks.py:1: SyntaxError: expected ':'"),
        ("\nimport requestsx", "hooks.py:2: ModuleNotFoundError: No module named 'requestsx'"),
        ("import os\n\nLIMIT = int(os.environ['ZOO_API_KEY'])", "hooks.py:3: ValueError: invalid literal for int()"),
        ("def before_send(call): ...", "before_send in hooks.py is not a function of (request, call)"),
    ],
)
def test_an_error_in_the_owners_hooks_is_one_line_with_its_place(
    tmp_path: Path, package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: str,
    message: str,
) -> None:  # fmt: skip
    """R-LOOP-6"""
    monkeypatch.setenv("ZOO_API_KEY", "sesame-open-4711")
    monkeypatch.delitem(sys.modules, "hooks", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hooks.py").write_text(source)
    code, out, err = run(package, capsys, "doctor", hooks="hooks")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"Error: {message}")
    assert "sesame" not in err


PRINTING = "print('imported')\n\ndef before_call(call):\n    print('called', call.operation)\n"


@each(
    "arguments", [("call", "list_keepers", "--mock"), ("describe", "list_keepers"), ("doctor", "--output-format=json")]
)
def test_what_hooks_print_goes_to_standard_error(
    tmp_path: Path, package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:  # fmt: skip
    """R-LOOP-6"""
    monkeypatch.delitem(sys.modules, "hooks", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hooks.py").write_text(PRINTING)
    code, out, err = run(package, capsys, *arguments, hooks="hooks")
    assert code == 0
    assert json.loads(out)
    assert err.splitlines() == ["imported", *["called list_keepers"] * (arguments[0] == "call")]


def test_what_hooks_print_is_no_message_of_the_protocol(tmp_path: Path, package: Path) -> None:
    """R-LOOP-6: neither while serving, nor what is left in a buffer at the end."""
    (tmp_path / "hooks.py").write_text(PRINTING)
    start = (
        f"{PROGRAM}sys.path.insert(0, {str(tmp_path)!r}); sys.exit(main(Path({str(package)!r}), 'hooks', ['--mock']))"
    )
    listing = {"name": "mcp_aql_read", "arguments": {"operation": "list_keepers"}}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": listing},
    ]
    lines = "".join(f"{json.dumps({'jsonrpc': '2.0', **message})}\n" for message in messages)
    done = subprocess.run([sys.executable, "-c", start], input=lines, capture_output=True, text=True, check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert "imported\n" in done.stderr
    assert "called list_keepers\n" in done.stderr


def test_doctor_says_what_is_configured_and_never_a_secret(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-OWN-3"""
    code, out, _ = run(package, capsys, "doctor", "--output-format", "json")
    report = json.loads(out)
    assert code == 0
    assert set(report) == {
        "address",
        "adapter",
        "base_url",
        "callable",
        "credentials",
        "demanding",
        "encrypted",
        "files",
        "hooks",
        "hosts",
        "http",
        "next",
        "safety",
        "servers",
        "settings",
    }
    assert report["base_url"] == "https://zoo.example/v1"
    assert report["callable"] == {"operations": 6, "with_credentials": 0, "with_address": 0, "accepted": 6, "ready": 0}
    assert report["credentials"] == [
        {
            "scheme": "api_key",
            "type": "apiKey",
            "variables": ["ZOO_API_KEY"],
            "set": False,
            "sent": "header X-Key: {key}",
            "state": "needed",
            "operations": {"naming": 6, "needing": 6, "using": 0, "lacking": 6},
        }
    ]
    assert report["next"][1] == "Set ZOO_API_KEY for 6 operations"
    monkeypatch.setenv("ZOO_API_KEY", "sesame")
    monkeypatch.setenv("MCP_AQL_BASE_URL", "https://api.zoo.dev/v1")
    monkeypatch.setenv("MCP_AQL_ENDPOINT_MODE", "single")
    for form in ("json", "human"):
        _, out, _ = run(package, capsys, "doctor", "--output-format", form)
        assert "sesame" not in out
    assert "endpoint_mode single environment MCP_AQL_ENDPOINT_MODE" in " ".join(out.split())
    assert "timeout" not in out
    assert out.endswith("Ready: nothing is missing for any of 6 operations.\n")
    _, out, _ = run(package, capsys, "doctor", "--all")
    assert "MCP_AQL_TIMEOUT" in out
    _, out, _ = run(package, capsys, "doctor", "--output-format", "json")
    report = json.loads(out)
    assert report["credentials"][0]["set"] is True
    assert report["settings"]["endpoint_mode"] == {
        "value": "single",
        "source": "environment",
        "variable": "MCP_AQL_ENDPOINT_MODE",
    }


@pytest.mark.parametrize("arguments", [(), ("doctor",), ("call", "list_keepers", "--mock"), ("--transport", "http")])
def test_a_bad_setting_stops_with_one_line_and_code_2(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """R-REQ-7"""
    monkeypatch.setenv("MCP_AQL_TOOL_PREFIX", "Zoo")
    code, out, err = run(package, capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Error: MCP_AQL_TOOL_PREFIX must be")
    assert len(err.splitlines()) == 1


def test_bad_arguments_are_refused_with_code_2(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = (["--port", "99999"], ["--port", "9"], ["--mock", "--host", "::1"], ["nonsense"], ["call"])
    for arguments in (*refused, ["--transport", "smoke"]):
        with pytest.raises(SystemExit) as caught:
            main(package, None, arguments)
        assert caught.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_version_and_help(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for argument, part in (("--version", "zoo-adapter 0.1.0"), ("--help", "doctor")):
        with pytest.raises(SystemExit) as caught:
            main(package, None, [argument])
        assert caught.value.code == 0
        assert part in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}"])
def test_a_damaged_project_is_one_line(package: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    (package / "adapter.json").write_text(damage)
    code, _, err = run(package, capsys, "doctor")
    assert code == 1
    assert len(err.splitlines()) == 1


def test_a_key_that_is_a_word_of_the_message_about_it_masks_nothing(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_AQL_STATE_KEY", "short")
    assert run(package, capsys, "doctor")[2].startswith("Error: the key in MCP_AQL_STATE_KEY is too short: at least 32")


@each("command_name", ["operations", "doctor"])
@each("name", ["adapter.json", "operations/read.json"])
def test_a_missing_file_of_the_project_is_one_line_with_what_restores_it(
    package: Path, capsys: pytest.CaptureFixture[str], name: str, command_name: str
) -> None:
    content = (package / name).read_bytes()
    (package / name).unlink()
    answer = run(package, capsys, command_name)
    (package / name).write_bytes(content)
    assert answer == (1, "", f"Error: {package / name} is missing; `aqlgen update` or `git checkout` restores it\n")


def test_what_people_ask_does_not_load_mcp(package: Path) -> None:
    asked = [["operations"], ["doctor"], ["describe", "get_animal"], ["call", "list_keepers", "--mock"]]
    program = f"{PROGRAM}[main(Path({str(package)!r}), None, words) for words in {asked}]; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.usefixtures("forked")
def test_a_reader_that_stops_reading_is_no_traceback(package: Path) -> None:
    line = f"{shlex.join(command(package, 'operations'))} | true"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_without_a_command_it_serves_over_stdio(package: Path, preloaded: Path, era: str) -> None:
    """R-REQ-5"""
    words = command(package, "--mock")
    python = words[0] if era == "auto" else str(preloaded)
    server = StdioServerParameters(command=python, args=words[1:], env={"MCP_AQL_ENDPOINT_MODE": "single"})
    async with Client(server, mode=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["mcp_aql"]
        result: Any = await client.call_tool("mcp_aql", {"operation": "get_animal", "params": {"animal_id": 7}})
        assert result.structured_content["success"] is True


def test_a_refused_call_says_to_a_person_what_to_do(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(tmp_path / "audit.jsonl"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    delete = ("call", "delete_animal", "animal_id=7", "--mock")
    assert "--yes" in run(package, capsys, *delete, at_terminal=True)[2]
    monkeypatch.setenv("MCP_AQL_APPROVAL", "person")
    _, out, err = run(package, capsys, *delete, "--yes", at_terminal=True)
    assert json.loads(out)["error"]["code"] == "PERMISSION_DENIED"
    assert "--yes confirms nothing here" in err


def test_an_agent_in_a_shell_finds_calls_and_confirms_in_lines_of_json(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each command is a process of its own: what is confirmed is kept in between (R-SAFE-3)."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))

    def answered(*words: str) -> tuple[int, Any]:
        code, out, err = run(package, capsys, *words)
        assert (len(out.splitlines()), err) == (1, "")
        return code, json.loads(out)

    _, matches = answered("search", "delete", "an", "animal")
    assert "delete_animal" in {operation["name"] for operation in matches["data"]["operations"]} | {
        *matches["data"].get("others", ())
    }
    assert answered("describe", "delete_animal")[1]["data"]["operations"][0]["params"] == {"animal_id*": "int ≥1"}
    assert answered("call", "introspect", "query=search", "search=delete an animal") == (0, matches)
    monkeypatch.setenv("ZOO_API_KEY", "key")
    with serving(lambda _: Answer(status=204)) as api:
        monkeypatch.setenv("MCP_AQL_BASE_URL", api.url)
        delete = ("call", "delete_animal", "animal_id=7")
        code, question = answered(*delete)
        assert (code, question["error"]["code"], api.asked) == (1, "CONFIRMATION_REQUIRED", [])
        token = f"confirmation_token={question['confirmation']['token']}"
        assert answered("call", "delete_animal", "animal_id=8", token)[1]["error"]["code"].startswith("TOKEN_")
        assert answered("call", "delete_animal", '{"animal_id": 7}', token)[0] == 0
        assert answered(*delete, token)[1]["error"]["code"] == "TOKEN_ALREADY_USED"
    assert [request.method for request in api.asked] == ["DELETE"]


def test_serving_on_a_terminal_says_how_to_connect_and_nothing_on_standard_output(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqlgen.runtime.server.stdio.serve_stdio", lambda *_, **__: 0)
    monkeypatch.setattr(sys, "argv", ["/anywhere/zoo_adapter/__main__.py"])
    for terminal in (True, False):
        monkeypatch.setattr("aqlgen.runtime.cli.serving.adopt_libraries", lambda _: None)  # it is for a whole process
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda terminal=terminal: terminal))
        code, out, err = run(package, capsys, "--mock")
        assert (code, out) == (0, "")
        assert (f"claude mcp add zoo -- {sys.executable} -P -m zoo_adapter --mock" in err) is terminal
        assert ('"mcpServers": {"zoo"' in err) is terminal


def test_doctor_says_which_files_it_read(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name, text in (("adapter.toml", 'policy = "open"\n'), (".env", "ZOO_API_KEY=sesame\n")):
        (elsewhere / name).write_text(text)
    monkeypatch.chdir(elsewhere)
    project = package.parent.parent
    (project / "adapter.toml").write_text('policy = "strict"\n')
    report = json.loads(run(package, capsys, "doctor", "--output-format", "json")[1])
    assert report["safety"]["policy"] == "strict"
    assert report["files"]["settings"] == str(project / "adapter.toml")
    assert report["credentials"][0]["set"] is False
