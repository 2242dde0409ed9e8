"""Settings: the environment first, then `adapter.toml`, then the defaults. `SETTINGS` is the only list of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from . import profiles
from .log import LEVELS

__all__ = ["SETTINGS", "Config", "ConfigError", "Setting", "load"]

CONFIG_FILE_VARIABLE = "MCP_AQL_CONFIG"
_PREFIX = re.compile(r"[a-z0-9_]{1,19}_")
TRUST_LEVELS = ("untested", "generated", "validated", "community_reviewed", "certified")
_MODES = {"semantic": "semantic", "crude": "semantic", "single": "single", "all": "all"}
_KIB, _MIB = 1024, 1024 * 1024


class ConfigError(Exception):
    """A setting that cannot be used. The message is one line and names the key or the variable."""


class Setting(NamedTuple):
    """One setting: its attribute of Config, its dotted key in adapter.toml, its variable, default, and what it does.

    `parse` turns text or a TOML value into the setting's value; it raises ValueError with the end of a sentence that
    begins with the setting's name.
    """

    attribute: str
    key: str
    variable: str
    default: Any
    help: str
    parse: Callable[[Any], Any]


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        text = str(value).strip()
        if isinstance(value, (bool, float)) or not re.fullmatch(r"[0-9]{1,12}", text):
            raise ValueError(f"must be a whole number from {least} to {most}")
        number = int(text)
        if not least <= number <= most:
            raise ValueError(f"must be from {least} to {most}")
        return number

    return parse


def _seconds(value: Any) -> float:
    message = "must be a number of seconds above 0, 3600 or less"
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if isinstance(value, bool) or not 0 < seconds <= 3600:
        raise ValueError(message)
    return seconds


def _mode(value: Any) -> str:
    mode = _MODES.get(str(value).strip().lower())
    if mode is None:
        raise ValueError("must be semantic, single or all")
    return mode


def _prefix(value: Any) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _PREFIX.fullmatch(value):
        raise ValueError("must be 1 to 19 lower-case letters, digits or underscores, followed by an underscore")
    return value


def _base_url(value: Any) -> str | None:
    if value == "":
        return None
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/?#][^\s?#]*", value):
        raise ValueError("must be an http or https address without a query, such as https://api.example.com/v1")
    return value


def _level(value: Any) -> str:
    level = str(value).strip().lower()
    if level not in LEVELS:
        raise ValueError(f"must be one of {', '.join(LEVELS)}")
    return level


def _codes(value: Any) -> tuple[str, ...]:
    codes = tuple(value) if isinstance(value, list) else tuple(str(value).replace(",", " ").split())
    if not all(isinstance(one, str) and re.fullmatch(r"[A-Z][A-Z0-9_]{1,63}", one) for one in codes):
        raise ValueError("must be codes such as DEPRECATION_WARNING, or categories such as PERFORMANCE_")
    return codes


def _policy(value: Any) -> str:
    policy = str(value).strip().lower()
    if policy == "strict":
        raise ValueError("must be standard or open: 'strict' needs trust levels with promotion, and comes with them")
    if policy not in ("standard", "open"):
        raise ValueError("must be standard or open")
    return policy


def _trust(value: Any) -> str:
    level = str(value).strip().lower() or TRUST_LEVELS[0]
    if level not in TRUST_LEVELS:
        raise ValueError(f"must be one of {', '.join(TRUST_LEVELS)}")
    return level


def _state_url(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"|memory:|sqlite:///.+", value):
        raise ValueError("must be sqlite:/// and a file, such as sqlite:////var/lib/adapter.sqlite3, or memory:")
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or "\x00" in value:
        raise ValueError("must be the path of a file")
    return value


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "base_url", "base_url", "MCP_AQL_BASE_URL", None, "address of the API; empty: the document's own", _base_url
    ),
    Setting(
        "mode",
        "endpoint_mode",
        "MCP_AQL_ENDPOINT_MODE",
        "semantic",
        "tools offered: semantic (five), single, all",
        _mode,
    ),
    Setting(
        "tool_prefix", "tool_prefix", "MCP_AQL_TOOL_PREFIX", "", "begins every tool name, such as github_", _prefix
    ),
    Setting("timeout", "timeout", "MCP_AQL_TIMEOUT", 30.0, "seconds to wait for the API", _seconds),
    Setting("log_level", "log_level", "MCP_AQL_LOG_LEVEL", "warning", "least severe record on standard error", _level),
    Setting(
        "policy",
        "policy",
        "MCP_AQL_POLICY",
        "standard",
        "what is asked about: standard (destructive and worse), open (nothing)",
        _policy,
    ),
    Setting("trust_level", "trust_level", "MCP_AQL_TRUST_LEVEL", "generated", "who vouches for the adapter", _trust),
    Setting(
        "max_request_size",
        "limits.max_request_size",
        "MCP_AQL_MAX_REQUEST_SIZE",
        _MIB,
        "bytes of a request",
        _whole(64 * _KIB, 10 * _MIB),
    ),
    Setting(
        "max_response_size",
        "limits.max_response_size",
        "MCP_AQL_MAX_RESPONSE_SIZE",
        10 * _MIB,
        "bytes of the API's response",
        _whole(_MIB, 100 * _MIB),
    ),
    Setting(
        "max_string_length",
        "limits.max_string_length",
        "MCP_AQL_MAX_STRING_LENGTH",
        _MIB,
        "bytes of one string of a request",
        _whole(64 * _KIB, 10 * _MIB),
    ),
    Setting(
        "max_array_elements",
        "limits.max_array_elements",
        "MCP_AQL_MAX_ARRAY_ELEMENTS",
        10_000,
        "elements of one array of a request",
        _whole(100, 100_000),
    ),
    Setting(
        "max_nesting_depth",
        "limits.max_nesting_depth",
        "MCP_AQL_MAX_NESTING_DEPTH",
        32,
        "levels of objects and arrays of a request",
        _whole(8, 64),
    ),
    Setting(
        "confirmation_ttl",
        "confirmation.ttl",
        "MCP_AQL_CONFIRMATION_TTL",
        300,
        "seconds that a confirmation token is good for",
        _whole(10, 900),
    ),
    Setting(
        "confirmation_skew",
        "confirmation.skew",
        "MCP_AQL_CONFIRMATION_SKEW",
        30,
        "seconds of grace behind that",
        _whole(0, 300),
    ),
    Setting(
        "confirmation_rate",
        "confirmation.per_minute",
        "MCP_AQL_CONFIRMATION_RATE",
        60,
        "most confirmation tokens a minute of one session",
        _whole(1, 10_000),
    ),
    Setting(
        "state_url",
        "state.url",
        "MCP_AQL_STATE_URL",
        "",
        "where durable state is kept: sqlite:///FILE, memory:; empty: a file in the user's state folder",
        _state_url,
    ),
    Setting(
        "audit_path",
        "audit.path",
        "MCP_AQL_AUDIT_PATH",
        "",
        "the audit log; empty: audit.jsonl beside the state, with state in memory the log",
        _path,
    ),
    Setting(
        "max_list",
        "introspection.max_list",
        "MCP_AQL_MAX_LIST",
        250,
        "longest whole list that introspection gives",
        _whole(10, 10_000),
    ),
    Setting(
        "warn_slow_ms",
        "warnings.slow_ms",
        "MCP_AQL_WARN_SLOW_MS",
        2000,
        "milliseconds that the API may take before a warning says so",
        _whole(1, 3_600_000),
    ),
    Setting(
        "warn_quota_percent",
        "warnings.quota_percent",
        "MCP_AQL_WARN_QUOTA_PERCENT",
        80,
        "per cent of the API's own limit of calls before a warning says so",
        _whole(1, 100),
    ),
    Setting("warn_most", "warnings.most", "MCP_AQL_WARN_MOST", 10, "most warnings of one response", _whole(1, 100)),
    Setting(
        "warn_repeat_after",
        "warnings.repeat_after",
        "MCP_AQL_WARN_REPEAT_AFTER",
        300,
        "seconds before a session is given the same warning again; 0: always",
        _whole(0, 86_400),
    ),
    Setting(
        "warn_suppress",
        "warnings.suppress",
        "MCP_AQL_WARN_SUPPRESS",
        (),
        "codes of warnings not to give; one that ends with _ stands for its category",
        _codes,
    ),
    Setting(
        "safety_loop",
        "safety_loop.mode",
        "MCP_AQL_SAFETY_LOOP",
        "disabled",
        "safety loop of agents: enforcing, monitoring, logging, disabled",
        profiles.mode,
    ),
    Setting(
        "loop_approval",
        "safety_loop.approval",
        "MCP_AQL_SAFETY_LOOP_APPROVAL",
        "person",
        "who confirms what paused: person (asked by the client), client (its own approval of a call is enough)",
        profiles.approval,
    ),
    Setting(
        "max_autonomous_steps",
        "safety_loop.max_autonomous_steps",
        "MCP_AQL_SAFETY_LOOP_STEPS",
        10,
        "steps of an agent before it must pause",
        profiles.steps,
    ),
    Setting(
        "requires_approval",
        "safety_loop.requires_approval",
        "MCP_AQL_SAFETY_LOOP_REQUIRES_APPROVAL",
        (),
        "patterns of actions that always pause",
        profiles.patterns,
    ),
    Setting(
        "auto_approve",
        "safety_loop.auto_approve",
        "MCP_AQL_SAFETY_LOOP_AUTO_APPROVE",
        (),
        "patterns of actions that go on without further evaluation",
        profiles.patterns,
    ),
    Setting(
        "loop_agents",
        "safety_loop.agents",
        "MCP_AQL_SAFETY_LOOP_AGENTS",
        {},
        "the same for single agents: [safety_loop.agents.NAME]",
        profiles.agents,
    ),
)


class Config(NamedTuple):
    """The settings in force. `sources` says, by attribute, where each came from: environment, a file or default."""

    base_url: str | None = None
    mode: str = "semantic"
    tool_prefix: str = ""
    timeout: float = 30.0
    log_level: str = "warning"
    policy: str = "standard"
    trust_level: str = "generated"
    max_request_size: int = _MIB
    max_response_size: int = 10 * _MIB
    max_string_length: int = _MIB
    max_array_elements: int = 10_000
    max_nesting_depth: int = 32
    confirmation_ttl: int = 300
    confirmation_skew: int = 30
    confirmation_rate: int = 60
    state_url: str = ""
    audit_path: str = ""
    max_list: int = 250
    warn_slow_ms: int = 2000
    warn_quota_percent: int = 80
    warn_most: int = 10
    warn_repeat_after: int = 300
    warn_suppress: tuple[str, ...] = ()
    safety_loop: str = "disabled"
    loop_approval: str = "person"
    max_autonomous_steps: int = 10
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] = ()
    loop_agents: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    sources: Mapping[str, str] = MappingProxyType({})

    def limits(self) -> dict[str, int]:
        """Give the limits as `_protocol.limits` shows them (specification, 4.7.5)."""
        return {
            "max_request_size": self.max_request_size,
            "max_response_size": self.max_response_size,
            "max_string_length": self.max_string_length,
            "max_array_elements": self.max_array_elements,
            "max_nesting_depth": self.max_nesting_depth,
        }


def load(folder: Path, environ: Mapping[str, str]) -> Config:
    """Read the settings of the package in `folder`. Raises ConfigError for an unknown key and for a bad value."""
    file, written = _file(folder, environ)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for setting in SETTINGS:
        if environ.get(setting.variable):
            raw, name, source = environ[setting.variable], setting.variable, "environment"
        elif setting.key in written:
            raw, name, source = written.pop(setting.key), f"'{setting.key}' in {file.name}", file.name
        else:
            values[setting.attribute], sources[setting.attribute] = setting.default, "default"
            continue
        written.pop(setting.key, None)
        try:
            values[setting.attribute], sources[setting.attribute] = setting.parse(raw), source
        except ValueError as problem:
            raise ConfigError(f"{name} {problem}; it is {raw!r}") from None
    for key in sorted(written):
        if key in profiles.REFUSED:
            raise ConfigError(f"'{key}' in {file.name} {profiles.REFUSED[key]}")
    if written:
        known = ", ".join(setting.key for setting in SETTINGS)
        raise ConfigError(f"'{min(written)}' in {file.name} is no setting; the settings are {known}")
    return Config(**values, sources=sources)


def _file(folder: Path, environ: Mapping[str, str]) -> tuple[Path, dict[str, Any]]:
    chosen = environ.get(CONFIG_FILE_VARIABLE)
    places = [Path(chosen)] if chosen else [folder.parent.parent / "adapter.toml", folder / "adapter.toml"]
    for place in places:
        try:
            text = place.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as problem:
            raise ConfigError(f"cannot read {place}: {problem.strerror}") from None
        return place, _flat(place, text)
    if chosen:
        raise ConfigError(f"{CONFIG_FILE_VARIABLE} names a file that does not exist: {chosen}")
    return places[-1], {}


def _flat(place: Path, text: bytes) -> dict[str, Any]:
    import tomllib  # here, since most adapters have no file to read

    try:
        tables = tomllib.loads(text.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ConfigError(f"{place.name} is not valid TOML: {problem}") from None
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{inner}": one for inner, one in value.items()})
        else:
            flat[key] = value
    return flat
