# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Settings of the safety loop's evaluation, verification and single agents (specification, 8.7.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import parsers
from .parsers import Whole
from .setting import collected, setting

__all__ = ["LOOP_SETTINGS", "LoopSettings"]


class LoopSettings(NamedTuple):
    """The settings under `[safety_loop]` that concern the risk of actions and the verification by a person."""

    deny: tuple[str, ...] = setting(
        (),
        "safety_loop.deny",
        "SAFETY_LOOP_DENY",
        parsers.patterns,
        "Actions that block the agent until a person has verified it with a code that an operator is shown "
        '(docs/safety-loop.md), such as ["drop_*", "delete_all*", "rm -rf*"]. They go before the other patterns.',
        form="divided by ';'",
    )
    risk_tolerance: str = setting(
        "moderate",
        "safety_loop.risk_tolerance",
        "SAFETY_LOOP_RISK_TOLERANCE",
        parsers.tolerance,
        'What an agent may risk without a person, from 0 to 100: "conservative": actions above 25 pause; "moderate": '
        'above 30; "aggressive": above 60. From 61 on a person verifies the agent, from 86 on it is blocked until '
        "then.",
    )
    challenge_ttl: int = setting(
        300,
        "safety_loop.challenge_ttl",
        "SAFETY_LOOP_CHALLENGE_TTL",
        Whole(30, 3600),
        "Seconds that a verification waits for a person's code, {allowed}.",
    )
    report_ttl: int = setting(
        600,
        "safety_loop.report_ttl",
        "SAFETY_LOOP_REPORT_TTL",
        Whole(10, 3600),
        "Seconds within which an operation that was reported, and may run, has to be called, {allowed}.",
    )
    agents: Mapping[str, Mapping[str, Any]] = setting(
        {},
        "safety_loop.agents",
        "SAFETY_LOOP_AGENTS",
        parsers.agents,
        "Steps, patterns and tolerance of one agent, by its element_name; what is left out is as above.",
        form="as JSON",
        example="[safety_loop.agents.researcher]\nmax_autonomous_steps = 50",
    )


LOOP_SETTINGS = collected(LoopSettings._fields, "loop.")
"""The settings of `Config.loop`."""
