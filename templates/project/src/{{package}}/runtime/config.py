"""Settings: the environment first, then `adapter.toml`, then the defaults. `SETTINGS` is the only list of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from .log import LEVELS

__all__ = ["SETTINGS", "Config", "ConfigError", "Setting", "load"]

CONFIG_FILE_VARIABLE = "MCP_AQL_CONFIG"
_PREFIX = re.compile(r"[a-z0-9_]{1,19}_")
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
        "max_list",
        "introspection.max_list",
        "MCP_AQL_MAX_LIST",
        250,
        "longest whole list that introspection gives",
        _whole(10, 10_000),
    ),
)


class Config(NamedTuple):
    """The settings in force. `sources` says, by attribute, where each came from: environment, a file or default."""

    base_url: str | None = None
    mode: str = "semantic"
    tool_prefix: str = ""
    timeout: float = 30.0
    log_level: str = "warning"
    max_request_size: int = _MIB
    max_response_size: int = 10 * _MIB
    max_string_length: int = _MIB
    max_array_elements: int = 10_000
    max_nesting_depth: int = 32
    max_list: int = 250
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
