# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
r"""Variables from the file that `MCP_AQL_ENV_FILE` names; no other file is read, wherever it lies.

A line is `NAME=VALUE`, with or without `export` before it; blank lines and those that begin with `#` are passed over.
A value stands as it is up to the end of the line, without blanks around it. Within single quotes it may begin and end
with blanks; within double quotes `\"`, `\\` and `\n` are read, too. Nothing is expanded: `$` is a character. What
could be read in two ways is refused: a blank and `#` behind an unquoted value, a name that is given twice.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from .load import CONFIG_FILE_VARIABLE, ConfigError

__all__ = ["VARIABLE", "exposed", "read_env_file", "variables_of"]

VARIABLE = "MCP_AQL_ENV_FILE"
_MAX_BYTES = 1024 * 1024
_LINE = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\["\\n])*)"')
_SINGLE = re.compile(r"'([^']*)'")
_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n"}
_ELSEWHERE = frozenset({VARIABLE, CONFIG_FILE_VARIABLE})
"""Variables that say where to read: they stand beside the command that starts the adapter."""


def variables_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the file that the environment names, without those that are set. Raises ConfigError."""
    path = environ.get(VARIABLE)
    if not path:
        return {}
    return {name: value for name, value in read_env_file(Path(path)).items() if not environ.get(name)}


def read_env_file(path: Path) -> dict[str, str]:
    """Return the variables in a file. Raises ConfigError, which names the line and never what stands in it."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{VARIABLE}: cannot read {path}: {error.strerror}") from None
    if len(content) > _MAX_BYTES:
        raise ConfigError(f"{VARIABLE}: {path} has more than {_MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{VARIABLE}: {path} is not UTF-8") from None
    variables: dict[str, str] = {}
    for number, line in enumerate(re.split(r"\r\n?|\n", text), 1):
        stripped = line.strip(" \t")
        if not stripped or stripped.startswith("#"):
            continue
        name, value, problem = _parsed(stripped)
        if not problem and name in variables:
            problem = f"gives '{name}' a second time"
        if not problem and name in _ELSEWHERE:
            problem = f"sets '{name}', which belongs into the environment of the command"
        if problem:
            raise ConfigError(f"line {number} of {path} {problem}")
        variables[name] = value
    return variables


def _parsed(line: str) -> tuple[str, str, str]:
    """Return name and value of a line, and what is wrong with it."""
    match = _LINE.fullmatch(line)
    if match is None:
        return "", "", "is not NAME=VALUE"
    name, text = match[1], match[2]
    if "\x00" in text:
        return name, "", "holds a null character"
    if text[:1] == '"':
        quoted = _DOUBLE.fullmatch(text)
        value = "" if quoted is None else re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], quoted[1])
    elif text[:1] == "'":
        quoted = _SINGLE.fullmatch(text)
        value = "" if quoted is None else quoted[1]
    else:
        comment = re.search(r"(?:^|[ \t])#", text)
        return name, text, "" if comment is None else "has a '#' behind a blank: put the value into single quotes"
    return name, value, "" if quoted is not None else "has a quoted value that does not end with the line"


def exposed(path: Path) -> bool:
    """Return True if other users can read or write the file; never on Windows, which has no such mode."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return os.name != "nt" and bool(mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP))
