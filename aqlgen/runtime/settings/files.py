# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The text of the owner's file of settings: `adapter.toml`, or a policy in JSON under the protocol's names.

The protocol writes a policy as `{"deny": […], "requiresApproval": […], "autoApprove": […], "maxAutonomousSteps": 20}`
(execution safety loop document, 5.2 and 8.2; specification, 8.7.4).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["POLICY_KEYS", "SettingsFileError", "is_policy", "parse_settings"]

POLICY_KEYS: Mapping[str, str] = {
    "deny": "safety_loop.deny",
    "requiresApproval": "safety_loop.requires_approval",
    "autoApprove": "safety_loop.auto_approve",
    "maxAutonomousSteps": "safety_loop.max_autonomous_steps",
    "riskTolerance": "safety_loop.risk_tolerance",
    "safetyLoop.mode": "safety_loop.mode",
}
"""The keys of a policy in JSON, each with the setting that it is."""
_POLICY = "policy"


class SettingsFileError(ValueError):
    """A text that cannot be read. `line` and `column` are from 1, 0 where they are not known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def is_policy(name: str) -> bool:
    """Return True if a file of this name holds a policy in JSON."""
    return name.lower().endswith(".json")


def parse_settings(name: str, content: bytes) -> dict[str, Any]:
    """Return the values of a file by the dotted keys that stand in it. Raises SettingsFileError."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        form = "JSON" if is_policy(name) else "TOML"
        raise SettingsFileError(f"is not valid {form}: {problem}") from None
    if is_policy(name):
        return _of_json(text)
    return _of_toml(text)


def _of_toml(text: str) -> dict[str, Any]:
    import tomllib  # here, since most adapters have no file to read

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        short = re.search(r"(?m)^policy[ \t]{0,20}=", text) and "[policy" in text
        hint = "; beside [policy] or [[policy.rules]] the policy's name is [policy] name" if short else ""
        place = re.search(r"\(at line (\d{1,9}), column (\d{1,9})\)", str(problem))
        line, column = (int(place[1]), int(place[2])) if place is not None else (0, 0)
        raise SettingsFileError(f"is not valid TOML: {problem}{hint}", line, column) from None
    except (RecursionError, ValueError):
        raise SettingsFileError("is not valid TOML: it nests too deeply, or a number is too long") from None
    if _POLICY in tables and not isinstance(tables[_POLICY], dict):
        tables[_POLICY] = {"name": tables[_POLICY]}  # the short form
    return _flat(tables)


def _of_json(text: str) -> dict[str, Any]:
    try:
        entries = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as problem:
        raise SettingsFileError(f"is not valid JSON: {problem}", problem.lineno, problem.colno) from None
    except SettingsFileError:
        raise
    except (RecursionError, ValueError):
        raise SettingsFileError("is not valid JSON: it nests too deeply, or a number is too long") from None
    if not isinstance(entries, dict):
        raise SettingsFileError(f"must be a JSON object with keys such as {', '.join(list(POLICY_KEYS)[:3])}")
    return _flat(entries)


def _flat(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of tables by dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{name}": item for name, item in value.items()})
        else:
            flat[key] = value
    return flat


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises SettingsFileError for a key that is given twice: of two lists one would not hold."""
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise SettingsFileError(f"gives '{key[:64]}' a second time")
        entries[key] = value
    return entries
