"""Completion in shells: what each of them is given for a word that somebody has begun."""

from __future__ import annotations

import pytest

from aqlgen.cli import COMMANDS, register
from aqlgen.cli.app import app


def completed(line: str, shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the command prints when a shell asks it to complete a line."""
    words = line.split(" ")
    monkeypatch.setenv("_AQLGEN_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_WORD_TO_COMPLETE", words[-1])
    register(*COMMANDS)
    with pytest.raises(SystemExit):
        app(prog_name="aqlgen")
    return capsys.readouterr().out.replace("\\", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("aqlgen exp", ["explain"]),
        ("aqlgen explain --quest", ["--questions"]),
        ("aqlgen explain --output-format j", ["json"]),
        ("aqlgen from-openapi --include t", ["tag:"]),
        ("aqlgen check --test PH-1", ["PH-1"]),
    ],
)
def test_commands_options_and_their_values_are_completed(
    line: str, offered: list[str], shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = completed(line, shell, monkeypatch, capsys)
    assert all(word in output for word in offered)
    assert "reversible" not in output


def test_where_a_file_is_meant_the_shell_offers_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completed("aqlgen from-openapi ope", "bash", monkeypatch, capsys).strip() == ""
