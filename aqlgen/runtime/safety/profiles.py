# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The settings of the autonomy evaluation that apply to one agent (specification, 8.7.4; R-LOOP-3).

In `adapter.toml` these are the keys of `[safety_loop]`, and of `[safety_loop.agents.NAME]` for one agent; for what an
agent's table leaves out, the adapter's value holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..settings.config import Config

__all__ = ["Profile", "profile", "shown"]


class Profile(NamedTuple):
    """How one agent's steps are evaluated. Patterns are globs over the whole of `nextActionHint`, case ignored."""

    max_autonomous_steps: int = 10
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] = ()


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
