# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The text of the owner's file of settings: `adapter.toml`, or a policy in JSON under the protocol's names.

The protocol writes a policy as `{"deny": […], "requiresApproval": […], "autoApprove": […], "maxAutonomousSteps": 20}`
(execution safety loop document, 5.2 and 8.2; specification, 8.7.4).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .setting import ConfigError

__all__ = ["POLICY_KEYS", "is_policy", "parse_settings"]

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


def is_policy(name: str) -> bool:
    """Return True if a file of this name holds a policy in JSON."""
    return name.lower().endswith(".json")


def parse_settings(name: str, content: bytes) -> dict[str, Any]:
    """Return the values of a file by the dotted keys that stand in it. Raises ConfigError."""
    try:
        return _flat(_of_json(name, content) if is_policy(name) else _of_toml(name, content))
    except (RecursionError, ValueError) as problem:
        form = "JSON" if is_policy(name) else "TOML"
        reason = (
            str(problem) if isinstance(problem, UnicodeDecodeError) else "it nests too deeply, or a number is too long"
        )
        raise ConfigError(f"{name} is not valid {form}: {reason}") from None


def _of_toml(name: str, content: bytes) -> dict[str, Any]:
    import tomllib  # here, since most adapters have no file to read

    text = content.decode("utf-8-sig")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        short = re.search(r"(?m)^policy[ \t]{0,20}=", text) and "[policy" in text
        hint = "; beside [policy] or [[policy.rules]] the policy's name is [policy] name" if short else ""
        place = re.search(r"\(at line (\d{1,9}), column (\d{1,9})\)", str(problem))
        line, column = (int(place[1]), int(place[2])) if place is not None else (0, 0)
        raise ConfigError(f"{name} is not valid TOML: {problem}{hint}", line, column) from None
    if not isinstance(tables.get(_POLICY, {}), dict):
        tables[_POLICY] = {"name": tables[_POLICY]}  # the short form
    return tables


def _of_json(name: str, content: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return an object. Raises ConfigError for a key that is given twice: of two lists one would not hold."""
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        if twice:
            raise ConfigError(f"{name} gives '{twice[0][:64]}' a second time")
        return dict(pairs)

    try:
        entries = json.loads(content.decode("utf-8-sig"), object_pairs_hook=unique)
    except json.JSONDecodeError as problem:
        raise ConfigError(f"{name} is not valid JSON: {problem}", problem.lineno, problem.colno) from None
    if not isinstance(entries, dict):
        raise ConfigError(f"{name} must be a JSON object with keys such as {', '.join(list(POLICY_KEYS)[:3])}")
    return entries


def _flat(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of tables by dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{name}": item for name, item in value.items()})
        else:
            flat[key] = value
    return flat
