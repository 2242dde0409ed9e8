# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of confirmations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .parsers import Choice, Whole, from_json, parsed_table
from .policy import DANGER_LEVELS
from .setting import collected, setting

__all__ = ["CONFIRMATION_SETTINGS", "ConfirmationSettings"]

_WAIT = Whole(0, 300)


def _cooldown(value: Any) -> Mapping[str, int]:
    """Return the seconds of each level of danger that is named."""
    message = 'must be a table of levels of danger and seconds, such as {"dangerous": 5}'
    value = from_json(value, message) if value != "" else {}
    if not isinstance(value, Mapping):
        raise ValueError(message)  # noqa: TRY004 - what a parser raises
    return parsed_table(value, dict.fromkeys(DANGER_LEVELS[1:], _WAIT), "level of danger")


class ConfirmationSettings(NamedTuple):
    """The table `[confirmation]`."""

    approval: str = setting(
        "agent",
        "confirmation.approval",
        "APPROVAL",
        Choice(("agent", "person", "operator")),
        'Who confirms. "agent": the person behind the client where the client can ask one (MCP elicitation), otherwise '
        'the agent, by a second call with a token. "person": only a person, behind the client or an operator; where '
        'neither can be asked, what needs confirmation is refused. "operator": only an operator, at the command '
        "`operator` of the adapter or on its page, outside of everything that agents and clients reach; needs a "
        "state.url that is not memory. With the last two there are no tokens.",
    )
    ttl: int = setting(
        300,
        "confirmation.ttl",
        "CONFIRMATION_TTL",
        Whole(10, 900),
        "Seconds that a confirmation token is good for, and a question waits for an operator, {allowed} (forbidden "
        "operations: 120 or fewer).",
    )
    skew: int = setting(
        30,
        "confirmation.skew",
        "CONFIRMATION_SKEW",
        Whole(0, 300),
        "Seconds of grace behind that, for clocks that differ, {allowed}.",
    )
    per_minute: int = setting(
        60,
        "confirmation.per_minute",
        "CONFIRMATION_RATE",
        Whole(1, 10_000),
        "Most tokens that one caller is given in a minute, most questions that it puts before operators, and most "
        "tokens that it revokes, {allowed}; one who is not known is a session.",
    )
    cooldown: Mapping[str, int] = setting(
        {},
        "confirmation.cooldown",
        "CONFIRMATION_COOLDOWN",
        _cooldown,
        "Least seconds between the question and the call, by the operation's danger, each 0 to 300: a confirmation "
        "that comes sooner has to wait. `cooldown_seconds` in overrides.yaml sets those of one operation.",
        form="as JSON",
        example="cooldown = { dangerous = 5, forbidden = 30 }",
    )
    session_danger: str = setting(
        "destructive",
        "confirmation.session_danger",
        "CONFIRMATION_SESSION_DANGER",
        Choice(("none", "destructive", "dangerous")),
        "The gravest operations that a person or an operator may approve for the rest of a session, for further calls "
        'of the same shape: {allowed}; "none": every call is asked about.',
    )
    session_uses: int = setting(
        50,
        "confirmation.session_uses",
        "CONFIRMATION_SESSION_USES",
        Whole(1, 1000),
        "Calls that such an approval is good for, {allowed}.",
    )
    session_seconds: int = setting(
        1800,
        "confirmation.session_seconds",
        "CONFIRMATION_SESSION_SECONDS",
        Whole(60, 86_400),
        "Seconds that it is good for, {allowed}, and no longer than the session.",
    )


CONFIRMATION_SETTINGS = collected(ConfirmationSettings._fields, "confirmation.")
"""The settings of `Config.confirmation`."""
