# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings in force: the environment first, then `adapter.toml`, then the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from . import profiles
from .settings import MIB, SETTINGS

__all__ = ["SETTINGS", "Config", "ConfigError", "load"]

CONFIG_FILE_VARIABLE = "MCP_AQL_CONFIG"


class ConfigError(Exception):
    """A setting that cannot be used. The message is one line and names the key or the variable."""


class Config(NamedTuple):
    """The settings in force. `sources` says, by attribute, where each came from: environment, a file or default."""

    base_url: str | None = None
    mode: str = "semantic"
    tool_prefix: str = ""
    timeout: float = 30.0
    retries: int = 2
    log_level: str = "warning"
    policy: str = "standard"
    trust_level: str = "generated"
    max_request_size: int = MIB
    max_response_size: int = 10 * MIB
    max_string_length: int = MIB
    max_array_elements: int = 10_000
    max_nesting_depth: int = 32
    confirmation_ttl: int = 300
    confirmation_skew: int = 30
    confirmation_rate: int = 60
    state_url: str = ""
    audit_path: str = ""
    files_folder: str = ""
    files_max_size: int = 256 * MIB
    stream_events: int = 1000
    stream_seconds: float = 20.0
    forward_header: tuple[tuple[str, str], ...] = ()
    exchange_url: str = ""
    exchange_scheme: str = ""
    exchange_audience: str = ""
    exchange_scope: str = ""
    server_variables: Mapping[str, str] = MappingProxyType({})
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
