"""Running git as a command: the only module that does. The environment never changes the outcome.

Variables that point git elsewhere (as within a hook) are left out, the user's hooks, recorded resolutions and global
attributes are off, and no network is reached, not even to fetch what a partial clone lacks. In somebody's
repository only `rev-parse` and `config` run like this, which run no command that its configuration names; all else runs
by `isolation.py`, where that configuration is not in force.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from aqlgen.diagnostics.errors import FileError

OLDEST: Final = (2, 34)
"""The oldest supported git: since then it merges, and finds renames, as it does today."""

_KEPT: Final = re.compile(r"GIT_(CONFIG(_.*)?|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|TRACE.*)")
"""Variables of git about where git and its configuration are, not about the repository or the operation."""

_TERMINATION: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals by which a terminal or a service ends a process; git inherits that they are blocked."""

_SETTINGS: Final = {
    "advice.addEmbeddedRepo": "false",
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "gc.auto": "0",
    "init.templateDir": "",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "rerere.enabled": "false",
    "submodule.recurse": "false",
}

_ARGUMENTS: Final = tuple(argument for key, value in _SETTINGS.items() for argument in ("-c", f"{key}={value}"))

_ENVIRONMENT: Final = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
    "LANGUAGE": "",
}


_PATIENCE: Final = 600.0
"""Seconds that a command of git may take: at a named pipe it waits until something writes into the pipe."""


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a command of git: its exit code and its output."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """The output as text, without its last line end."""
        return os.fsdecode(self.out).rstrip("\n")


def run(*arguments: str, cwd: Path, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Done:
    """Run git in a folder. Raises FileError when git is missing or fails."""
    done = attempt(*arguments, cwd=cwd, stdin=stdin, env=env)
    if done.code:
        raise failed(arguments, done)
    return done


def attempt(*arguments: str, cwd: Path, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Done:
    """Run git in a folder, where it may fail. Raises FileError when git is missing, or never ends."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or _KEPT.fullmatch(key)}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *_ARGUMENTS, *arguments],  # noqa: S607 - the user's own git
            cwd=cwd,
            env={**inherited, **_ENVIRONMENT, **(env or {})},
            input=stdin,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        reason = f"not done within {_PATIENCE:g} seconds; is a .gitignore or .gitattributes a named pipe?"
        raise failed(arguments, Done(-1, b"", reason)) from None
    except FileNotFoundError:
        if not cwd.is_dir():
            raise FileError.of("file-not-found", f"{cwd} is not a folder", file=str(cwd)) from None
        raise FileError.of(
            "git-missing", "git is not installed, or not on the PATH", help="Install git, then run this again."
        ) from None
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip())


@contextmanager
def undisturbed() -> Iterator[None]:
    """Block the signals that end a process, so that git completes what it writes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _TERMINATION)
    try:
        yield
    finally:
        while pending := signal.sigpending() & set(_TERMINATION):
            signal.sigwait(pending)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def blobs(oids: Iterable[str], cwd: Path, env: Mapping[str, str]) -> dict[str, bytes]:
    """Return the contents of blobs; those that the repository lacks, as a partial clone does, are left out."""
    wanted = list(dict.fromkeys(oids))
    if not wanted:
        return {}
    out = run("cat-file", "--batch", cwd=cwd, stdin="".join(f"{oid}\n" for oid in wanted).encode(), env=env).out
    contents: dict[str, bytes] = {}
    start = 0
    for oid in wanted:
        end = out.index(b"\n", start)
        words = out[start:end].split(b" ")
        start = end + 1
        if len(words) == 3:  # else git says that it is missing
            stop = start + int(words[2])
            contents[oid] = out[start:stop]
            start = stop + 1
    return contents


def failed(arguments: tuple[str, ...], done: Done) -> FileError:
    """Build the error for a command of git that failed, with the message of git."""
    command = next((word for word in arguments if not word.startswith("-") and "=" not in word), "git")
    message = " ".join(line.strip() for line in done.err.splitlines() if not line.startswith("hint:"))
    return FileError.of(
        "git-failed",
        f"git {command} failed: {message[:500] or f'exit code {done.code}'}",
        help="Follow git's message, then run this again; nothing was changed.",
    )


def require() -> None:
    """Refuse a git that is missing or too old. Raises FileError."""
    version = _version()
    if version < OLDEST:
        shown, least = (".".join(map(str, numbers)) for numbers in (version, OLDEST))
        raise FileError.of(
            "git-too-old", f"git is of version {shown}, too old to merge with", help=f"Install git {least} or newer."
        )


@cache
def _version() -> tuple[int, ...]:
    numbers = re.search(r"(?<!\d)(\d{1,9})\.(\d{1,9})", run("version", cwd=Path.cwd()).text)
    return (int(numbers[1]), int(numbers[2])) if numbers else OLDEST
