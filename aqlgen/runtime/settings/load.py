# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The reading of the owner's values: settings from the environment and `adapter.toml`, variables also from files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import parsers
from .config import SETTINGS, Config
from .http import HTTP_SETTINGS, HttpSettings
from .project import settings_beside

__all__ = ["ConfigError", "Variables", "load", "settings_file"]

CONFIG_FILE_VARIABLE = "MCP_AQL_CONFIG"
_MAX_BYTES = 1024 * 1024
_SECRET_SETTING = re.compile(r"(MCP_AQL_[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|KEY)S?)(?:_FILE)?")


class ConfigError(Exception):
    """A setting that cannot be used. The message is one line and names the key or the variable."""


def load(folder: Path, environ: Mapping[str, str]) -> Config:
    """Read the settings of the package in `folder`. Raises ConfigError for an unknown key and for a bad value."""
    file, written = _read_file(folder, environ)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for item in SETTINGS:
        in_file = item.key in written
        raw = written.pop(item.key, None)
        if environ.get(item.variable):
            raw, name, source = environ[item.variable], item.variable, "environment"
        elif in_file:
            name, source = f"'{item.key}' in {file.name}", file.name
        else:
            sources[item.attribute] = "default"
            continue
        try:
            values[item.attribute], sources[item.attribute] = item.parse(raw), source
        except ValueError as problem:
            raise ConfigError(f"{name} {problem}; it is {raw!r}") from None
    if written:
        raise _unknown_key(written, file)
    http = {item.attribute: values.pop(item.attribute) for item in HTTP_SETTINGS if item.attribute in values}
    http_settings = HttpSettings(**{attribute.removeprefix("http."): value for attribute, value in http.items()})
    return Config(**values, http=http_settings, sources=sources)


def _unknown_key(keys: Mapping[str, Any], file: Path) -> ConfigError:
    for key in sorted(keys):
        if key in parsers.REFUSED:
            return ConfigError(f"'{key}' in {file.name} {parsers.REFUSED[key]}")
    from difflib import get_close_matches

    known, unknown = [item.key for item in SETTINGS], min(keys)
    nearest = get_close_matches(unknown, known, 1, 0.75)
    hint = f", did you mean '{nearest[0]}'?" if nearest else ";"
    return ConfigError(f"'{unknown}' in {file.name} is no setting{hint} the settings are {', '.join(known)}")


def settings_file(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the file that the settings of the package in `folder` are read from, None if there is none."""
    return next((path for path in _candidates(folder, environ) if path.exists()), None)


def _candidates(folder: Path, environ: Mapping[str, str]) -> list[Path]:
    chosen = environ.get(CONFIG_FILE_VARIABLE)
    return [Path(chosen)] if chosen else settings_beside(folder)


def _read_file(folder: Path, environ: Mapping[str, str]) -> tuple[Path, dict[str, Any]]:
    chosen, candidates = environ.get(CONFIG_FILE_VARIABLE), _candidates(folder, environ)
    for path in candidates:
        try:
            content = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as problem:
            raise ConfigError(f"cannot read {path}: {problem.strerror}") from None
        return path, _parse_toml(path, content)
    if chosen:
        raise ConfigError(f"{CONFIG_FILE_VARIABLE} names a file that does not exist: {chosen}")
    return candidates[-1], {}


def _parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    """Return the values by their dotted keys."""
    import tomllib  # here, since most adapters have no file to read

    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ConfigError(f"{path.name} is not valid TOML: {problem}") from None
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{name}": item for name, item in value.items()})
        else:
            flat[key] = value
    return flat


class Variables:
    """The values of variables from the environment, or from the file that `…_FILE` names, without trailing line breaks.

    A file is read again when it changes.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._files: dict[str, tuple[object, str | None]] = {}

    def value(self, name: str) -> str | None:
        """Return a variable's value, None if it is not set."""
        value = self._environ.get(name)
        path = None if value else self._environ.get(f"{name}_FILE")
        if path:
            value = self._read(path)
        return None if value is None else value.rstrip("\r\n")

    def secret_settings(self) -> list[str]:
        """Return the variables of settings whose names are those of secrets, without `_FILE`."""
        return sorted({match[1] for match in map(_SECRET_SETTING.fullmatch, self._environ) if match is not None})

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return those that are not set or are empty."""
        return [name for name in names if not self.value(name)]

    def steady(self, names: Iterable[str]) -> bool:
        """Return True if none of them comes from a file, which may change."""
        return all(self._environ.get(name) or not self._environ.get(f"{name}_FILE") for name in names)

    def unreadable(self, names: Iterable[str]) -> list[str]:
        """Return the `…_FILE` variables whose file cannot be read."""
        file_variables = [f"{name}_FILE" for name in names if not self._environ.get(name)]
        return [name for name in file_variables if self._environ.get(name) and self._read(self._environ[name]) is None]

    def _read(self, path: str) -> str | None:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        version: object = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if not stat.S_ISREG(status.st_mode):
            version = "once"  # a pipe can be read only once
        cached = self._files.get(path)
        if cached is None or cached[0] != version:
            cached = self._files[path] = (version, _read(path))
        return cached[1]


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_BYTES + 1)
        return content.decode("utf-8-sig") if len(content) <= _MAX_BYTES else None
    except (OSError, ValueError):
        return None
