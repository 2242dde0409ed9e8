# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's variables: from the environment, or from the file that `…_FILE` names, read again when it changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping

__all__ = ["Variables"]

_LONGEST = 1024 * 1024


class Variables:
    """Values by the names of their variables, without line breaks behind them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._files: dict[str, tuple[object, str | None]] = {}

    def value(self, name: str) -> str | None:
        """Give a variable's value, or that of the file named by `…_FILE`; None when it is not set."""
        value = self._environ.get(name)
        path = None if value else self._environ.get(f"{name}_FILE")
        if path:
            value = self._held(path)
        return None if value is None else value.rstrip("\r\n")

    def missing(self, names: Iterable[str]) -> list[str]:
        """Give those that are not set, or are empty."""
        return [name for name in names if not self.value(name)]

    def steady(self, names: Iterable[str]) -> bool:
        """Whether none of them comes from a file, which may change."""
        return all(self._environ.get(name) or not self._environ.get(f"{name}_FILE") for name in names)

    def unreadable(self, names: Iterable[str]) -> list[str]:
        """Give the `…_FILE` variables that name a file which cannot be read."""
        named = [f"{name}_FILE" for name in names if not self._environ.get(name)]
        return [name for name in named if self._environ.get(name) and self._held(self._environ[name]) is None]

    def _held(self, path: str) -> str | None:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        mark: object = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if not stat.S_ISREG(status.st_mode):
            mark = "once"  # a pipe gives what it has one time only
        known = self._files.get(path)
        if known is None or known[0] != mark:
            known = self._files[path] = (mark, _read(path))
        return known[1]


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST + 1)
        return content.decode("utf-8-sig") if len(content) <= _LONGEST else None
    except (OSError, ValueError):
        return None
