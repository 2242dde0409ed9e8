"""The file of variables that `MCP_AQL_ENV_FILE` names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aqlgen.runtime.settings.env_file import exposed, read_env_file, variables_of
from aqlgen.runtime.settings.load import ConfigError

TEXT = r"""
# a comment
PLAIN=abc
export EXPORTED = with blanks between
HASH=a#b
DOLLAR=$HOME/${HOME}
EQUALS=a=b
EMPTY=
SINGLE=' a "b" $c \n # '
DOUBLE="a\nb\\ \"c\" # d"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "secrets.env"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_values_stand_as_they_are_and_nothing_is_expanded(tmp_path: Path, line_end: str) -> None:
    assert read_env_file(write(tmp_path, TEXT.replace("\n", line_end))) == {
        "PLAIN": "abc",
        "EXPORTED": "with blanks between",
        "HASH": "a#b",
        "DOLLAR": "$HOME/${HOME}",
        "EQUALS": "a=b",
        "EMPTY": "",
        "SINGLE": ' a "b" $c \\n # ',
        "DOUBLE": 'a\nb\\ "c" # d',
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sesame", "is not NAME=VALUE"),
        ("1A=sesame", "is not NAME=VALUE"),
        ("A=sesame # note", "single quotes"),
        ("A='sesame", "does not end with the line"),
        ('A="sesame" # note', "does not end with the line"),
        ('A="ses\\tame"', "does not end with the line"),
        ("B=sesame", "gives 'B' a second time"),
        ("MCP_AQL_CONFIG=sesame", "belongs into the environment"),
        ("MCP_AQL_ENV_FILE=sesame", "belongs into the environment"),
        ("A=ses\0ame", "null character"),
    ],
)
def test_what_has_two_readings_is_refused_by_its_line_without_its_value(
    tmp_path: Path, line: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_env_file(write(tmp_path, f"B=1\n{line}\n"))
    assert str(caught.value).startswith("line 2 of ")
    assert message in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_only_the_named_file_is_read_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("A=from the folder\n")
    monkeypatch.chdir(tmp_path)
    assert variables_of({}) == {}
    named = {"MCP_AQL_ENV_FILE": str(write(tmp_path, "A=1\nB=2\n")), "A": "set", "B": ""}
    assert variables_of(named) == {"B": "2"}
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(ConfigError, match="MCP_AQL_ENV_FILE: cannot read"):
            variables_of({"MCP_AQL_ENV_FILE": str(path)})


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize(("mode", "expected"), [(0o600, False), (0o640, False), (0o644, True), (0o620, True)])
def test_a_file_that_others_can_read_or_write_is_exposed(tmp_path: Path, mode: int, expected: bool) -> None:
    path = write(tmp_path, "A=1\n")
    path.chmod(mode)
    assert exposed(path) is expected
