# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What of the autonomy evaluation can be set, per adapter and per agent (specification, 8.7.4; R-LOOP-3).

In `adapter.toml` these are the keys of `[safety_loop]`, and of `[safety_loop.agents.NAME]` for one agent; what an
agent's table leaves out is the adapter's. What needs a part that is not built yet is refused with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .config import Config

__all__ = [
    "APPROVALS",
    "MODES",
    "REFUSED",
    "Profile",
    "agents",
    "approval",
    "mode",
    "patterns",
    "profile",
    "shown",
    "steps",
]

MODES = ("enforcing", "monitoring", "logging", "disabled")
APPROVALS = ("person", "client")
_OUT_OF_BAND = "needs out-of-band verification, which this release does not have"
_LATER: Mapping[str, str] = {
    "deny": _OUT_OF_BAND,
    "verify": _OUT_OF_BAND,
    "danger_zone": _OUT_OF_BAND,
    "risk_tolerance": "needs the safety tiers, which this release does not have",
}
REFUSED: Mapping[str, str] = {f"safety_loop.{key}": reason for key, reason in _LATER.items()}
"""Keys of adapter.toml that nothing stands behind yet, and why."""


class Profile(NamedTuple):
    """How one agent's steps are evaluated. Patterns are globs over the whole of `nextActionHint`, case ignored."""

    max_autonomous_steps: int = 10
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] = ()


def mode(value: Any) -> str:
    """Parse the loop's mode. Raises ValueError."""
    chosen = str(value).strip().lower()
    if chosen not in MODES:
        raise ValueError(f"must be one of {', '.join(MODES)}")
    return chosen


def approval(value: Any) -> str:
    """Parse who confirms. Raises ValueError."""
    chosen = str(value).strip().lower()
    if chosen not in APPROVALS:
        raise ValueError(f"must be one of {', '.join(APPROVALS)}")
    return chosen


def steps(value: Any) -> int:
    """Parse the step limit. Raises ValueError."""
    text = str(value).strip()
    if isinstance(value, (bool, float)) or not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 10_000):
        raise ValueError("must be a whole number from 1 to 10000")
    return int(text)


def patterns(value: Any) -> tuple[str, ...]:
    """Parse a list of globs, in the environment divided by line breaks or semicolons. Raises ValueError."""
    globs = value.replace(";", "\n").splitlines() if isinstance(value, str) else value
    if not isinstance(globs, (list, tuple)) or not all(isinstance(one, str) for one in globs) or len(globs) > 200:
        raise ValueError("must be a list of patterns such as 'delete_*', 200 or fewer")
    found = tuple(one.strip() for one in globs if one.strip())
    if any(len(one) > 200 for one in found):
        raise ValueError("must be a list of patterns of 200 characters or fewer")
    return found


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "max_autonomous_steps": steps,
    "requires_approval": patterns,
    "auto_approve": patterns,
}


def agents(value: Any) -> Mapping[str, Mapping[str, Any]]:
    """Parse the tables of single agents, in the environment as JSON. Raises ValueError."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError("must be a JSON object of agents") from None
    if not isinstance(value, Mapping) or not all(isinstance(one, Mapping) for one in value.values()):
        raise ValueError("must hold a table for each agent, such as [safety_loop.agents.researcher]")
    return {str(name): _agent(str(name), table) for name, table in value.items()}


def _agent(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, raw in table.items():
        if key in _LATER:
            raise ValueError(f"for agent '{name}': '{key}' {_LATER[key]}")
        parse = _KEYS.get(key)
        if parse is None:
            raise ValueError(f"has no setting '{key}' for agent '{name}'; there are {', '.join(Profile._fields)}")
        try:
            found[key] = parse(raw)
        except ValueError as problem:
            raise ValueError(f"for agent '{name}': '{key}' {problem}") from None
    return found


def profile(config: Config, agent: str | None = None) -> Profile:
    """Give the profile of an agent, or the adapter's own."""
    own = Profile(config.max_autonomous_steps, config.requires_approval, config.auto_approve)
    return own._replace(**config.loop_agents.get(agent, {})) if agent is not None else own


def shown(config: Config) -> dict[str, Any]:
    """Show mode, defaults and options as introspection does (8.7.4), under the specification's own names."""
    return {
        "mode": config.safety_loop,
        "confirmed_by": config.loop_approval,
        "defaults": _as_json(profile(config)),
        "agents": {name: _as_json(profile(config, name)) for name in config.loop_agents},
        "options": ["maxAutonomousSteps", "requiresApproval", "autoApprove"],
    }


def _as_json(one: Profile) -> dict[str, Any]:
    return {
        "maxAutonomousSteps": one.max_autonomous_steps,
        "requiresApproval": list(one.requires_approval),
        "autoApprove": list(one.auto_approve),
    }
