"""The check of the safety server's policy: every wrong key and value of it, each with its position."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.document.positions import Position, find, join
from aqlgen.runtime.settings import ConfigError, Setting, refusal
from aqlgen.runtime.settings.config import SETTINGS
from aqlgen.runtime.settings.load import POLICY_KEYS, is_policy, parse_settings

__all__ = ["SETTINGS_OF_POLICIES", "check_policy"]

_TABLES: Final = frozenset({"safety_loop", "state", "audit", "limits", "telemetry", "http"})
_ALONE: Final = frozenset({"endpoint_mode", "tool_prefix", "log_level", "introspection.max_list"})
_MAX_BYTES: Final = 1024 * 1024
_CODE: Final = "bad-policy"

SETTINGS_OF_POLICIES: Final[dict[str, Setting]] = {
    setting.key: setting for setting in SETTINGS if setting.key in _ALONE or setting.key.partition(".")[0] in _TABLES
}
"""The settings of adapters that mean something where there is no API."""
_OTHERS: Final = frozenset(setting.key for setting in SETTINGS) - SETTINGS_OF_POLICIES.keys()


def check_policy(path: Path) -> frozenset[str]:
    """Return the settings that a policy sets. Raises FileError, and OptionError with all that is wrong with it."""
    content = _content(path)
    try:
        values = parse_settings(path.name, content)
    except ConfigError as problem:
        raise OptionError.of(
            _CODE, f"the policy {problem}", file=str(path), line=problem.line, column=problem.column, help=_help(path)
        ) from None
    known = POLICY_KEYS if is_policy(path.name) else {key: key for key in SETTINGS_OF_POLICIES}
    mistakes = {key: mistake for key, raw in values.items() if (mistake := _mistake(key, raw, known)) is not None}
    if mistakes:
        text = content.decode("utf-8-sig")
        positions = _positions(path, text, list(mistakes))
        findings = [
            Diagnostic(
                _CODE,
                Severity.ERROR,
                message,
                file=str(path),
                line=positions[key][0],
                column=positions[key][1],
                help=advice,
            )
            for key, (message, advice) in mistakes.items()
        ]
        raise OptionError(*sorted(findings, key=lambda finding: (finding.line, finding.column)))
    return frozenset(known[key] for key in values)


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe could be read once, and the runtime reads it again
        raise FileError.of("file-unreadable", f"the policy {path} is not a file", help="Write it into a file.")
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise FileError.of(
            "file-not-found", f"there is no policy {path}", help="Give --policy the path of one."
        ) from None
    except OSError as problem:
        raise FileError.of("file-unreadable", f"the policy {path} cannot be read: {problem.strerror}") from None
    if len(content) > _MAX_BYTES:
        raise OptionError.of(_CODE, f"the policy has more than {_MAX_BYTES} bytes", file=str(path))
    return content


def _help(path: Path) -> str:
    return f"A policy is {'a JSON object' if is_policy(path.name) else 'TOML'}; docs/safety-server.md shows one."


def _mistake(key: str, raw: Any, known: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with a key or its value, and what helps; None if nothing is."""
    if key in known:
        try:
            SETTINGS_OF_POLICIES[known[key]].parse(raw)
        except ValueError as problem:
            return f"'{key}' {problem}", "Correct the value; docs/safety-server.md shows a policy."
        return None
    if refusal(key):
        return f"'{key}' {refusal(key)}", "Take it out of the policy."
    if key in _OTHERS:
        return (
            f"'{key}' concerns operations of an API; a safety server has none",
            "Take it out; it belongs to an adapter.",
        )
    nearest = difflib.get_close_matches(key, known, 1, 0.6)
    tables = dict.fromkeys(name.partition(".")[0] for name in known)
    advice = f"A policy has {', '.join(tables)}; see docs/safety-server.md."
    return f"'{key}' is not a key of a policy", f"Did you mean '{nearest[0]}'?" if nearest else advice


def _positions(path: Path, text: str, keys: list[str]) -> dict[str, Position]:
    """Return where each key stands."""
    if is_policy(path.name):
        pointers = {key: join(key.split(".")) for key in keys}
        places = find(text, "json", pointers.values())
        return {key: places[pointer] for key, pointer in pointers.items()}
    return _positions_in_toml(text, keys)


def _positions_in_toml(text: str, keys: list[str]) -> dict[str, Position]:
    """Return the first line that gives each dotted key: under its table, or its table where it is one; (0, 0) if none.

    The text is valid TOML, so that a line is enough; one within a text of several lines may be taken for a key.
    """
    places: dict[str, Position] = dict.fromkeys(keys, (0, 0))
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            name = table = _plain(stripped.strip("[").partition("]")[0])
        else:
            name = ".".join(filter(None, (table, _plain(stripped.partition("=")[0]))))
        for key, place in places.items():
            if place == (0, 0) and (name == key or name.startswith(f"{key}.")):
                places[key] = number, len(line) - len(line.lstrip()) + 1
    return places


def _plain(name: str) -> str:
    """Return a dotted name without quotes and blanks."""
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
