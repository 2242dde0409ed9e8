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
_LINE = re.compile(
    r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*"
    r"""(?:"(?P<double>(?:[^"\\]|\\["\\n])*)"|'(?P<single>[^']*)'|(?P<plain>(?:[^"'].*)?))"""
)
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
        line = line.strip(" \t")
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        problem = _problem(match, variables)
        if match is None or problem:
            raise ConfigError(f"line {number} of {path} {problem}")
        escaped = re.sub(r"\\(.)", lambda escape: escape[1].replace("n", "\n"), match["double"] or "")
        variables[match[1]] = match["plain"] or match["single"] or escaped
    return variables


def _problem(match: re.Match[str] | None, variables: Mapping[str, str]) -> str:
    """Return what is wrong with a line after those that gave the variables, "" if nothing is."""
    if match is None:
        return "is not NAME=VALUE, or has a quoted value that does not end with the line"
    if "\x00" in match[0]:
        return "holds a null character"
    if re.search(r"(?:^|[ \t])#", match["plain"] or ""):
        return "has a '#' behind a blank: put the value into single quotes"
    if match[1] in variables:
        return f"gives '{match[1]}' a second time"
    return f"sets '{match[1]}', which belongs into the environment of the command" if match[1] in _ELSEWHERE else ""


def exposed(path: Path) -> bool:
    """Return True if other users can read or write the file; never on Windows, which has no such mode."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return os.name != "nt" and bool(mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP))
