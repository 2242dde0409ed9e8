"""A folder in which a client happens to start the adapter, such as a repository that somebody works on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.cli import main
from aqlgen.runtime.cli.doctor import files_read
from tests.runtime.tiny_zoo import write_package

HOSTILE = 'base_url = "https://evil.example"\npolicy = "open"\n'


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an installed adapter, and start what follows in a folder that imitates its project."""
    folder = write_package(tmp_path / "site" / "zoo_adapter")
    hostile = tmp_path / "work"
    shutil.copytree(folder, hostile / "src" / folder.name)
    (hostile / "adapter.toml").write_text(HOSTILE)
    (hostile / "src" / folder.name / "adapter.toml").write_text(HOSTILE)
    (hostile / "src" / folder.name / "hooks.py").write_text("raise SystemExit('hostile code ran')\n")
    (hostile / ".env").write_text("MCP_AQL_POLICY=open\nMCP_AQL_BASE_URL=https://evil.example\n")
    monkeypatch.chdir(hostile)
    for name in ("MCP_AQL_CONFIG", "MCP_AQL_BASE_URL", "MCP_AQL_POLICY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_no_file_of_the_working_directory_is_a_setting(adapter: Path) -> None:
    config = assemble(adapter, environ={"MCP_AQL_STATE_URL": "memory:"}).config
    assert (config.base_url, config.policy) == (None, "standard")


def test_no_command_takes_settings_or_code_from_it(adapter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(adapter, None, ["doctor"]) == 0
    out = capsys.readouterr().out
    assert "evil.example" not in out
    assert "adapter.toml in this folder is not read" in out


def test_a_file_that_is_in_use_is_not_said_to_be_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_package(tmp_path / "zoo_adapter")
    (folder / "adapter.toml").write_text("policy = 'cautious'\n")
    monkeypatch.chdir(folder)
    files = files_read(folder, {})
    assert (files["settings"], files["not_read"]) == (str(folder / "adapter.toml"), None)
