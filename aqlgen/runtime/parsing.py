# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How the text or the TOML value of a setting becomes its value; ValueError says what it must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .log import LEVELS

TRUST_LEVELS = ("untested", "generated", "validated", "community_reviewed", "certified")
_PREFIX = re.compile(r"[a-z0-9_]{1,19}_")
_NOT_FORWARDED = frozenset({"authorization", "proxy-authorization", "cookie", "host", "content-type", "mcp-session-id"})
_MODES = {"semantic": "semantic", "crude": "semantic", "single": "single", "all": "all"}


def whole(least: int, most: int) -> Callable[[Any], int]:
    """Give a parser of whole numbers within bounds."""

    def parse(value: Any) -> int:
        text = str(value).strip()
        if isinstance(value, (bool, float)) or not re.fullmatch(r"[0-9]{1,12}", text):
            raise ValueError(f"must be a whole number from {least} to {most}")
        number = int(text)
        if not least <= number <= most:
            raise ValueError(f"must be from {least} to {most}")
        return number

    return parse


def seconds(value: Any) -> float:
    """Give a number of seconds, 3600 or less."""
    message = "must be a number of seconds above 0, 3600 or less"
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if isinstance(value, bool) or not 0 < seconds <= 3600:
        raise ValueError(message)
    return seconds


def mode(value: Any) -> str:
    """Give an endpoint mode; `crude` is another name of semantic."""
    mode = _MODES.get(str(value).strip().lower())
    if mode is None:
        raise ValueError("must be semantic, single or all")
    return mode


def prefix(value: Any) -> str:
    """Give what begins every tool name (R-REQ-7)."""
    if value == "":
        return ""
    if not isinstance(value, str) or not _PREFIX.fullmatch(value):
        raise ValueError("must be 1 to 19 lower-case letters, digits or underscores, followed by an underscore")
    return value


def base_url(value: Any) -> str | None:
    """Give the API's address, None for an empty one."""
    if value == "":
        return None
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/?#][^\s?#]*", value):
        raise ValueError("must be an http or https address without a query, such as https://api.example.com/v1")
    return value


def level(value: Any) -> str:
    """Give a level of RFC 5424."""
    level = str(value).strip().lower()
    if level not in LEVELS:
        raise ValueError(f"must be one of {', '.join(LEVELS)}")
    return level


def codes(value: Any) -> tuple[str, ...]:
    """Give codes of warnings, from a list or from text."""
    codes = tuple(value) if isinstance(value, list) else tuple(str(value).replace(",", " ").split())
    if not all(isinstance(one, str) and re.fullmatch(r"[A-Z][A-Z0-9_]{1,63}", one) for one in codes):
        raise ValueError("must be codes such as DEPRECATION_WARNING, or categories such as PERFORMANCE_")
    return codes


def policy(value: Any) -> str:
    """Give the gatekeeper's policy."""
    policy = str(value).strip().lower()
    if policy == "strict":
        raise ValueError("must be standard or open: 'strict' needs trust levels with promotion, and comes with them")
    if policy not in ("standard", "open"):
        raise ValueError("must be standard or open")
    return policy


def trust(value: Any) -> str:
    """Give a trust level; empty means untested."""
    level = str(value).strip().lower() or TRUST_LEVELS[0]
    if level not in TRUST_LEVELS:
        raise ValueError(f"must be one of {', '.join(TRUST_LEVELS)}")
    return level


def state_url(value: Any) -> str:
    """Give where durable state is kept."""
    if not isinstance(value, str) or not re.fullmatch(r"|memory:|sqlite:///.+", value):
        raise ValueError("must be sqlite:/// and a file, such as sqlite:////var/lib/adapter.sqlite3, or memory:")
    return value


def variables(value: Any) -> dict[str, str]:
    """Give values by name, from a table or from text such as `region=eu, tenant=acme`."""
    if isinstance(value, str) and value.strip() != "{}":
        pairs = [one.partition("=") for one in value.split(",") if one.strip()]
        if not all(name.strip() and equals for name, equals, _ in pairs):
            raise ValueError("must be NAME=VALUE, several of them with commas between")
        value = {name.strip(): one.strip() for name, _, one in pairs}
    elif isinstance(value, str):
        value = {}
    if not isinstance(value, dict) or not all(isinstance(one, str | int) for one in value.values()):
        raise ValueError("must be a table of texts")
    found = {str(name): str(one) for name, one in value.items()}
    if any(re.search(r"[\s?#]", one) for one in found.values()):
        raise ValueError("must not hold blanks, '?' or '#'")
    return found


def path(value: Any) -> str:
    """Give the path of a file."""
    if not isinstance(value, str) or "\x00" in value:
        raise ValueError("must be the path of a file")
    return value


def forwarded(value: Any) -> tuple[tuple[str, str], ...]:
    """Give headers with the security schemes that they fill, from a list or from text; empty where none is named."""
    listed = value if isinstance(value, list) else str(value).split(";")
    pairs = [tuple(part.strip() for part in str(one).partition("=")[::2]) for one in listed if str(one).strip()]
    for header, _ in pairs:
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", header):
            raise ValueError("must be the name of a header, or header=scheme, divided by ;")
        if header.lower() in _NOT_FORWARDED:
            raise ValueError(
                "must name a header of its own, such as X-Target-Authorization: what a client shows to the "
                "adapter itself is never sent on"
            )
    return tuple((header, scheme) for header, scheme in pairs)


def endpoint(value: Any) -> str:
    """Give the address of an endpoint; http is for one's own network."""
    if value == "":
        return ""
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s#]*)?", value):
        raise ValueError("must be an http or https address, such as https://login.example.com/oauth2/token")
    return value


def word(value: Any) -> str:
    """Give a text of one line."""
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("must be a text of one line")
    return value.strip()
