# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How the steps of an agent are evaluated: its limits, patterns and tolerance (8.7.4; R-LOOP-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...settings.config import Config

__all__ = ["THRESHOLDS", "Profile", "profile_of"]

THRESHOLDS: Mapping[str, int] = {"conservative": 25, "moderate": 50, "aggressive": 75}
"""The risk above which an action pauses, by tolerance (8.7.2, stage 5)."""


class Profile(NamedTuple):
    """How the steps of one agent are evaluated.

    The patterns are globs over the whole of `nextActionHint`, and over the names of operations; case is ignored.
    """

    max_autonomous_steps: int = 10
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    risk_tolerance: str = "moderate"


def profile_of(config: Config, agent: str | None = None) -> Profile:
    """Return the profile of an agent, or the adapter's; what an agent's settings leave out is the adapter's.

    A name that looks like that of an agent of the settings has its profile.
    """
    default = Profile(
        config.max_autonomous_steps,
        config.requires_approval,
        config.auto_approve,
        config.loop.deny,
        config.loop.risk_tolerance,
    )
    return default if agent is None else default._replace(**_settings_of(config, agent))


def _settings_of(config: Config, agent: str) -> Mapping[str, Any]:
    agents = config.loop.agents
    if agent in agents or not agents:
        return agents.get(agent, {})
    from .lookalikes import agent_key  # here, since most adapters name no agents

    key = agent_key(agent)
    return next((table for name, table in agents.items() if agent_key(name) == key), {})
