"""The adapter's trust level: the command `trust`, its file, and where the level is shown (R-SAFE-2)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.cli import main
from aqlgen.runtime.safety.policy import Policy
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.load import ConfigError, load
from aqlgen.runtime.table import Table

pytestmark = pytest.mark.anyio
CHANGE = {"from": "generated", "at": "2026-01-01", "by": "me"}
BY = ("--by", "Ada Lovelace", "--reason", "the tests passed")
CERTIFICATE = ("--authority", "Zoo Ltd", "--certificate-id", "Z-1")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def trust(package: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(package, None, ["trust", *arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def file_of(package: Path) -> Path:
    return package.parents[1] / "trust.json"


def test_it_is_promoted_and_demoted_one_step_at_a_time_with_who_when_and_why(trust: Any, package: Path) -> None:
    """R-SAFE-2: trust levels 4.1 and 4.3; 6.2 SHOULD 3 and 4."""
    assert trust() == (0, f"generated, the default: there is no {file_of(package)}\n")
    assert trust("promote", *BY)[0] == 0
    validated = json.loads(file_of(package).read_text())
    assert trust("promote", *BY)[0] == 0
    assert trust("demote", "--by", "harness", "--reason", "3 operations fail")[0] == 0
    record = json.loads(file_of(package).read_text())
    steps = [(change["from"], change["to"], change["by"], change["reason"]) for change in record["promotion_history"]]
    assert steps == [
        ("generated", "validated", "Ada Lovelace", "the tests passed"),
        ("validated", "community_reviewed", "Ada Lovelace", "the tests passed"),
        ("community_reviewed", "validated", "harness", "3 operations fail"),
    ]
    assert all(re.fullmatch(r"2[0-9]{3}-.{14}Z", change["at"]) for change in record["promotion_history"])
    assert (record["level"], record["validated_at"]) == ("validated", validated["validated_at"])
    code, shown = trust("show")
    assert code == 0
    assert shown.startswith(f"validated, by {file_of(package)}\n")
    assert "community_reviewed → validated  by harness: 3 operations fail" in shown


@pytest.mark.parametrize(
    ("steps", "arguments", "problem"),
    [
        ([], ("promote", "--by", "Ada"), "--reason is missing"),
        ([], ("promote", "--reason", "why"), "--by is missing"),
        ([], ("promote", "--by", "a\nb", "--reason", "why"), "--by is missing, or is not a line"),
        ([], ("promote", "--by", "Ada", "--reason", "x" * 501), "--reason is missing"),
        ([], ("promote", *BY, *CERTIFICATE), "a certification is of level 'certified' alone"),
        (["demote"], ("demote", *BY), "'untested' is the lowest level"),
        (["promote"] * 2, ("promote", *BY), "needs a certification: --authority and --certificate-id"),
        (["promote"] * 2, ("promote", *BY, "--authority", "Zoo Ltd"), "needs a certification"),
        (["promote"] * 2, ("promote", *BY, *CERTIFICATE, "--expires-at", "soon"), "'expires_at': must be a time"),
    ],
)
def test_another_change_is_refused_and_changes_nothing(
    trust: Any, package: Path, steps: list[str], arguments: tuple[str, ...], problem: str
) -> None:
    """R-SAFE-2: trust levels 4.1, no level is skipped."""
    for step in steps:
        assert trust(step, *BY)[0] == 0
    before = file_of(package).read_bytes() if steps else None
    code, output = trust(*arguments)
    assert code == 1
    assert problem in output
    assert (file_of(package).read_bytes() if file_of(package).exists() else None) == before
    assert [path.name for path in package.parents[1].iterdir() if path.name.startswith(".trust")] == []


def test_certified_names_its_certificate_which_may_expire(trust: Any, package: Path) -> None:
    """R-SAFE-2: trust levels 3.2.9 and 4.3."""
    for extra in ((), (), CERTIFICATE):
        assert trust("promote", *BY, *extra)[0] == 0
    assert load(package, {}).trust_level == "certified"
    code, output = trust("promote", *BY)
    assert (code, "'certified' is the highest level" in output) == (1, True)
    record = json.loads(file_of(package).read_text())
    assert (record["certification"]["authority"], record["certification"]["certificate_id"]) == ("Zoo Ltd", "Z-1")
    record["certification"]["expires_at"] = "2020-01-01"
    file_of(package).write_text(json.dumps(record))
    assert load(package, {}).trust_level == "community_reviewed"
    assert "Its certificate has expired: it is no longer certified" in trust()[1]


def test_a_setting_wins_over_the_file_and_is_told(trust: Any, package: Path) -> None:
    """R-SAFE-2"""
    assert trust("promote", *BY)[0] == 0
    config = load(package, {"MCP_AQL_TRUST_LEVEL": "certified"})
    assert (config.trust_level, config.sources["trust_level"]) == ("certified", "environment")
    config = load(package, {})
    assert (config.trust_level, config.sources["trust_level"]) == ("validated", "trust.json")
    package.parents[1].joinpath("adapter.toml").write_text('trust_level = "untested"\n')
    code, output = trust("promote", *BY)
    assert (code, "In force stays untested, by trust_level in adapter.toml" in output) == (0, True)
    assert trust()[1].startswith("untested, by trust_level in adapter.toml; trust.json says community_reviewed\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is not valid"),
        ("{", "is not valid"),
        ("[]", "must be a table"),
        ("[" * 100_000, "is not valid"),
        ("\ufffe", "is not valid"),
        ({"level": "trusted"}, "at 'level': must be 'untested', 'generated'"),
        ({"level": "CERTIFIED"}, "at 'level': must be 'untested'"),
        ({"level": ["certified"]}, "at 'level': must be 'untested'"),
        ({"level": "certified"}, "needs a certification"),
        ({"level": "certified", "certification": {}}, "at 'certification', 'authority': is missing"),
        ({"level": "certified", "certification": {"authority": "x"}}, "'certificate_id': is missing"),
        ({"trust": {"level": "certified"}}, "has no key 'trust'; there are level"),
        ({"level": "validated", "promotion_history": {}}, "at 'promotion_history': must be a list"),
        ({"level": "validated", "promotion_history": [{}]}, "at 'promotion_history', entry 1, 'from': is missing"),
        ({"level": "certified", "validated_at": "yesterday"}, "at 'validated_at': must be a time"),
        (
            {"level": "certified", "promotion_history": [{**CHANGE, "to": "certified"}]},
            "a promotion is one step",
        ),
        (
            {"level": "certified", "promotion_history": [{**CHANGE, "to": "validated"}]},
            "its level is 'certified', and its history ends at 'validated'",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_stops_the_start_with_help(package: Path, content: Any, problem: str) -> None:
    """R-SAFE-2: trust levels 6.1 MUST 2 and 3."""
    file_of(package).write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ConfigError) as caught:
        load(package, {})
    assert problem in str(caught.value)
    assert "restore it from version control" in str(caught.value)


class NextYear(datetime):
    """A clock that is a year ahead."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return datetime.now(tz) + timedelta(days=365)


def test_a_certificate_that_expires_while_the_adapter_runs_certifies_nothing(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-SAFE-2"""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    certification = {"authority": "Zoo Ltd", "certificate_id": "Z-1", "expires_at": tomorrow}
    file_of(package).write_text(json.dumps({"level": "certified", "certification": certification}))
    policy = Policy(load(package, {"MCP_AQL_POLICY": "strict"}), Table(package))
    assert policy.trust == "certified"
    monkeypatch.setattr("aqlgen.runtime.settings.trust.datetime", NextYear)
    assert policy.trust == "community_reviewed"


def test_a_file_that_is_a_link_to_nothing_stops_the_start(package: Path) -> None:
    file_of(package).symlink_to(package / "gone.json")
    with pytest.raises(ConfigError, match="cannot read"):
        load(package, {})


@pytest.mark.parametrize("content", ["{}", '{"promotion_history": []}'])
def test_a_file_without_a_level_is_untested_and_no_file_is_as_generated(package: Path, content: str) -> None:
    """R-SAFE-2: trust levels 6.1 MUST 1."""
    assert load(package, {}).trust_level == "generated"
    file_of(package).write_text(content)
    assert load(package, {}).trust_level == "untested"


def test_each_change_is_in_the_audit_log(trust: Any, state: Path) -> None:
    """R-SAFE-2, R-SAFE-5: trust levels 6.1 MUST 4."""
    trust("promote", *BY)
    trust("demote", *BY)
    entries = [json.loads(line) for line in (state / "zoo-adapter" / "audit.jsonl").read_text().splitlines()]
    assert [(entry["event"], entry["from"], entry["to"], entry["by"]) for entry in entries] == [
        ("TRUST_PROMOTED", "generated", "validated", "Ada Lovelace"),
        ("TRUST_DEMOTED", "validated", "generated", "Ada Lovelace"),
    ]


@pytest.mark.parametrize("level", ["environment", "trust.json"])
async def test_grave_calls_are_logged_with_the_level_and_the_setting_that_states_it(
    package: Path, state: Path, level: str
) -> None:
    """R-SAFE-2, R-SAFE-5: trust levels 6.1 MUST 4."""
    environ = {"XDG_STATE_HOME": str(state), "ZOO_API_KEY": "k"}
    if level == "environment":
        environ["MCP_AQL_TRUST_LEVEL"] = "validated"
    else:
        file_of(package).write_text('{"level": "validated"}')
    parts = assemble(package, environ=environ)
    answer = await parts.dispatcher.handle(None, {"operation": "delete_animal", "params": {"animal_id": 1}})
    await parts.close()
    assert answer["error"]["code"] == "CONFIRMATION_REQUIRED"
    (entry,) = [json.loads(line) for line in (state / "zoo-adapter" / "audit.jsonl").read_text().splitlines()]
    assert entry["adapter_trust"] == "validated"
    assert entry.get("trust_source") == ("environment" if level == "environment" else None)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_agents_are_shown_the_level_and_no_names_of_people(trust: Any, package: Path, era: str) -> None:
    """R-SAFE-2, R-INT-3: trust levels 6.2 SHOULD 2 and 6.4."""
    trust("promote", *BY)
    parts = assemble(package, environ={"MCP_AQL_STATE_URL": "memory:"})
    async with Client(build_server(parts.dispatcher), mode=era) as client:
        arguments = {"operation": "introspect", "params": {"query": "adapter_info"}}
        info: Any = (await client.call_tool("mcp_aql_read", arguments)).structured_content
        arguments = {"operation": "introspect", "params": {"query": "operations"}}
        listed: Any = (await client.call_tool("mcp_aql_read", arguments)).structured_content
    await parts.close()
    assert info["data"]["name"] == "zoo"
    assert set(info["data"]["trust"]) == {"level", "validated_at", "promoted_from"}
    assert info["data"]["trust"]["level"] == listed["data"]["_protocol"]["trust_level"] == "validated"
    assert "Lovelace" not in json.dumps(info)


PROMOTE = """import pathlib, sys
from aqlgen.runtime.cli import main
sys.stdin.read()
sys.exit(main(pathlib.Path(sys.argv[1]), None, ["trust", "promote", "--by", sys.argv[2], "--reason", "race"]))"""


@pytest.mark.usefixtures("forked")
def test_of_changes_that_race_none_is_lost(package: Path) -> None:
    """R-SAFE-2"""
    reading, writing = os.pipe()
    processes = []
    for number in range(4):
        command = [sys.executable, "-c", PROMOTE, str(package), f"p{number}"]
        processes.append(subprocess.Popen(command, stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    os.close(reading)
    os.close(writing)  # all of them begin
    codes = [process.wait() for process in processes]
    record = json.loads(file_of(package).read_text())
    assert sorted(codes) == [0, 0, 1, 1]  # validated, community_reviewed, then a certificate is missing
    assert [change["to"] for change in record["promotion_history"]] == ["validated", "community_reviewed"]


def test_a_place_that_cannot_be_written_is_said_in_a_line(trust: Any, package: Path) -> None:
    """R-SAFE-2"""
    file_of(package).mkdir()
    code, output = trust("promote", *BY)
    assert code == 2
    assert "trust.json" in output
    assert "Traceback" not in output


def test_files_of_the_api_are_not_saved_beside_it(package: Path, tmp_path: Path) -> None:
    """R-SAFE-2: an answer of the API would be a file of the owner's."""
    project = package.parents[1]
    (project / "link").symlink_to(project)
    for folder in (project, project / "src" / "..", project / "link"):
        with pytest.raises(ConfigError, match="files of the API would mix with yours"):
            load(package, {"MCP_AQL_FILES_FOLDER": str(folder)})
    assert load(package, {"MCP_AQL_FILES_FOLDER": str(project / "files")}).files_folder
