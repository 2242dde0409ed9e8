"""The reading of the owner's values: settings from the environment and `adapter.toml`, variables also from files.

`adapter.toml` stands in the owner's project: the folder that the package stands in, or from which it was installed.
Nothing is taken from the working directory as such: an MCP client may start the adapter in any folder, such as the
repository that somebody works on, and what lies there must not choose an address or switch off a guard.

The keys that seal what callers bring back are secrets, from MCP_AQL_STATE_KEY or the file of MCP_AQL_STATE_KEY_FILE.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..redaction import is_credential_header
from ..text import did_you_mean
from . import ConfigError, refusal, unknown_variable
from .config import SETTINGS, Config
from .tables import quota_problem
from .trust import TRUST_FILE, is_there, read_trust

__all__ = [
    "SETTINGS_FILE",
    "STATE_KEY",
    "ConfigError",
    "StateKeys",
    "Variables",
    "load",
    "parse_settings",
    "project_of",
    "settings_file",
    "trust_file",
]

_POLICY = "policy"


def parse_settings(name: str, content: bytes) -> dict[str, Any]:
    """Return the values of a file by the dotted keys that stand in it. Raises ConfigError."""
    import tomllib  # here, since most adapters have no file to read

    try:
        text = content.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        short = re.search(r"(?m)^policy[ \t]{0,20}=", text) and "[policy" in text
        hint = "; beside [policy] or [[policy.rules]] the policy's name is [policy] name" if short else ""
        place = re.search(r"\(at line (\d{1,9}), column (\d{1,9})\)", str(problem))
        line, column = (int(place[1]), int(place[2])) if place is not None else (0, 0)
        raise ConfigError(f"{name} is not valid TOML: {problem}{hint}", line, column) from None
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{name} is not valid TOML: {problem}") from None
    except (RecursionError, ValueError):
        raise ConfigError(f"{name} is not valid TOML: it nests too deeply, or a number is too long") from None
    if not isinstance(tables.get(_POLICY, {}), dict):
        tables[_POLICY] = {"name": tables[_POLICY]}  # the short form
    return _flat(tables)


def _flat(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of tables by dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{name}": item for name, item in value.items()})
        else:
            flat[key] = value
    return flat


SETTINGS_FILE = "adapter.toml"


def project_of(folder: Path) -> Path | None:
    """Return the project of the package in `folder`, None if there is none at hand.

    A package that was installed from a folder has a record of it (PEP 610), which the installer wrote.
    """
    if folder.parent.name == "src":
        return folder.parent.parent
    for record in folder.parent.glob(f"{folder.name}-*.dist-info/direct_url.json"):
        project = _recorded_folder(record)
        if project is not None and (project / "src" / folder.name / "adapter.json").is_file():
            return project
    return None


def _recorded_folder(record: Path) -> Path | None:
    """Return the folder that a package was installed from, None if it came from elsewhere."""
    from urllib.parse import unquote, urlsplit

    try:
        entry = json.loads(record.read_bytes())
        url = urlsplit(str(entry["url"])) if "dir_info" in entry else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if url is None or url.scheme != "file" or url.netloc not in ("", "localhost"):
        return None
    path = unquote(url.path)
    return Path(path.lstrip("/") if os.name == "nt" else path)


CONFIG_FILE_VARIABLE = "MCP_AQL_CONFIG"
_MAX_BYTES = 1024 * 1024
_SECRET_SETTING = re.compile(r"(MCP_AQL_[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|KEY)S?)(?:_FILE)?")


def load(folder: Path, environ: Mapping[str, str]) -> Config:
    """Read the settings of the package in `folder`. Raises ConfigError for an unknown name and a bad value."""
    file, written = _read_file(folder, environ)
    parts: dict[str, dict[str, Any]] = defaultdict(dict)
    sources: dict[str, str] = {}
    for item in SETTINGS:
        in_file = item.key in written
        raw = written.pop(item.key, None)
        if environ.get(item.variable):
            raw, name, source = environ[item.variable], item.variable, "environment"
        elif in_file:
            name, source = f"'{item.key}' in {file}", file
        else:
            sources[item.attribute] = "default"
            continue
        part, _, field = item.attribute.rpartition(".")
        try:
            parts[part][field], sources[item.attribute] = item.parse(raw), source
        except ValueError as problem:
            shown = "" if str(problem).startswith("at ") else f"; it is {raw!r}"  # whose place is within the value
            raise ConfigError(f"{name} {problem}{shown}") from None
    written.pop("check.known", None)  # what `aqlgen check` leaves out
    if written:
        raise _unknown_key(written, file)
    unknown = unknown_variable(environ, (item.variable for item in SETTINGS), folder.name)
    if unknown is not None:
        raise ConfigError(unknown)
    config = Config(sources=sources, **parts.pop("", {}))
    config = config._replace(**{part: getattr(config, part)._replace(**values) for part, values in parts.items()})
    conflict = quota_problem(config.quota)
    if conflict:
        raise ConfigError(conflict)
    beside = trust_file(folder, environ)
    with suppress(OSError):  # files whose names the API chooses would lie beside `adapter.toml` and `trust.json`
        if config.files_folder and Path(config.files_folder).samefile(beside.parent):
            text = f"'files.folder' is {beside.parent}: files of the API would mix with yours; give a separate folder"
            raise ConfigError(text)
    trust = read_trust(beside)
    if trust is not None and sources["trust_level"] == "default":
        sources["trust_level"] = TRUST_FILE
        config = config._replace(trust_level=trust.in_force)
    return config if trust is None else config._replace(trust=trust)


def _unknown_key(keys: Mapping[str, Any], file: str) -> ConfigError:
    secret = next(filter(refusal, sorted(keys)), None)
    if secret is not None:
        return ConfigError(f"'{secret}' in {file} {refusal(secret)}")
    known, unknown = [item.key for item in SETTINGS], min(keys)
    tables = dict.fromkeys(key.partition(".")[0] for key in known if "." in key)
    hint = did_you_mean(unknown, [*known, *tables])
    if (unknown.isupper() and not unknown.startswith("MCP_AQL_")) or (not hint and is_credential_header(unknown)):
        hint = "Credentials belong in environment variables, which `doctor` lists"
    return ConfigError(f"'{unknown}' in {file} is not a setting. {hint or 'The settings are ' + ', '.join(known)}")


def _candidates(folder: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return where the settings may stand: in the file that was chosen, or in the project, then beside the code."""
    if environ.get(CONFIG_FILE_VARIABLE):
        return [Path(environ[CONFIG_FILE_VARIABLE])]
    return [place / SETTINGS_FILE for place in (project_of(folder), folder) if place is not None]


def settings_file(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the file that the settings of the package in `folder` are read from, None if there is none."""
    return next((path for path in _candidates(folder, environ) if is_there(path)), None)


def trust_file(folder: Path, environ: Mapping[str, str]) -> Path:
    """Return the file with the trust in the package in `folder`: the one there is, else where it would be written."""
    paths = [path.with_name(TRUST_FILE) for path in _candidates(folder, environ)]
    return next((path for path in paths if is_there(path)), paths[0])


def _read_file(folder: Path, environ: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Return the name of the file of settings, and its values by the dotted keys of settings."""
    path = settings_file(folder, environ)
    if path is None:
        if environ.get(CONFIG_FILE_VARIABLE):
            raise ConfigError(
                f"{CONFIG_FILE_VARIABLE} names a file that does not exist: {environ[CONFIG_FILE_VARIABLE]}"
            )
        return SETTINGS_FILE, {}
    try:
        return path.name, parse_settings(path.name, path.read_bytes())
    except OSError as problem:
        raise ConfigError(f"cannot read {path}: {problem.strerror}") from None


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


STATE_KEY = "MCP_AQL_STATE_KEY"
_HINT = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


class StateKeys:
    """The owner's keys, one a line, the first of which seals; none if the store keeps one itself.

    A file is read again when it changes; keys that are no good do not replace those that were.
    """

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self._text: str | None = None
        self._keys: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        """Return the keys as they are now."""
        text = self._variables.value(STATE_KEY)
        if text != self._text:
            keys, problem = _keys_in(text)
            if not problem:
                self._text, self._keys = text, keys
        return self._keys

    def check(self, needed_by: str = "") -> None:
        """Raise ConfigError if keys are set that are no good, or none is and one is needed. A key is never shown."""
        for variable in self._variables.unreadable([STATE_KEY]):
            raise ConfigError(f"{variable} names a file that cannot be read")
        text = self._variables.value(STATE_KEY)
        if text or (text is not None and not self._variables.steady([STATE_KEY])):
            problem = _keys_in(text)[1]
            if problem:
                error = ConfigError(f"{problem}; {_HINT}")
                error.free_of_values = True
                raise error
        if needed_by and not self():
            raise ConfigError(
                f"{needed_by} needs a key of yours in {STATE_KEY} or the file of {STATE_KEY}_FILE; {_HINT}"
            )

    @property
    def source(self) -> str:
        """The name of the variable that the keys come from, '' if there are none."""
        if not self():
            return ""
        return STATE_KEY if self._variables.steady([STATE_KEY]) else f"{STATE_KEY}_FILE"


def _keys_in(text: str | None) -> tuple[tuple[str, ...], str]:
    """Return the keys of a text, and what is wrong with them, "" if nothing is."""
    keys = tuple(line.strip() for line in (text or "").splitlines() if line.strip())
    if not 0 < len(keys) <= 20:
        return keys, f"{STATE_KEY} must hold keys, one a line, 20 at most"
    short = next((number for number, key in enumerate(keys, 1) if len(key) < 32), 0)
    which = f"key {short} of {len(keys)}" if len(keys) > 1 else "the key"
    return keys, f"{which} in {STATE_KEY} is too short: at least 32 characters" if short else ""
