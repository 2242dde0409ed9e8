"""The command line run in this process and watched: what it opens, prints, writes, and how long it takes."""

from __future__ import annotations

import ast
import gc
import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import yaml

from aqlgen.cli import main
from bench.mutate.bases import Mutant
from bench.support.processes import ROOT
from bench.support.terminal import CONTROL

FILE = re.compile(r"[A-Za-z0-9._/-]+")
_TOOL = re.compile(r"^(uname -p|git (-c \S+ )*(rev-parse|diff|ls-files) .*|\S+ -P -m aqlgen\.(\w+\.)*templating \S+)$")
"""The processes that generating starts; none gets text of the document."""
WHOLE = ("empty-document", "document-too-large", "not-text", "bad-encoding")
"""Findings about a document that has no lines, or too many."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "shutil.rmtree")
CONNECTIONS = ("socket.connect", "socket.getaddrinfo", "os.system", "os.exec", "os.posix_spawn")


@dataclass(frozen=True)
class Verdict:
    """The result for a mutant. `fatal` tells that its process must not be used any more."""

    base: str = ""
    code: int | None = None
    problems: tuple[str, ...] = ()
    codes: frozenset[str] = frozenset()
    seconds: float = 0.0
    megabytes: int = 0
    fatal: bool = False


class Late(BaseException):
    """The time is up."""


class Watched:
    """A judge of mutants, each in a folder of its own below `scratch`."""

    def __init__(self, scratch: Path, seconds: float, megabytes: int) -> None:
        self._scratch, self._seconds = scratch.resolve(), seconds
        self._seen: list[str] | None = None
        temporary = self._scratch / "tmp"
        temporary.mkdir()
        tempfile.tempdir = str(temporary)
        os.environ["TMPDIR"] = os.environ["HOME"] = str(temporary)
        limit = megabytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        self._readable = tuple(
            {
                str(ROOT),
                sys.prefix,
                sys.base_prefix,
                "/proc/self",
                "/dev/null",
                "/usr",
                "/etc/ssl",
                "/etc/localtime",
                str(self._scratch),
            }
        )
        signal.signal(signal.SIGALRM, self._late)
        sys.addaudithook(self._audit)

    def judge(self, mutant: Mutant, *, whole: bool) -> Verdict:
        """Run a mutant; `whole` writes a project too and reads it back."""
        folder = self._scratch / "work"
        document, overlay = mutant.write(folder / "in")
        options = ["--overlay", str(overlay)] if overlay else []
        problems: list[str] = []
        begin = time.monotonic()
        budget = self._seconds + len(mutant.data) / 50_000
        with _within(folder):
            code, out, faults = self._run(["explain", str(document), "--output-format", "json", *options], budget)
            problems += faults
            if whole:
                generated, _, faults = self._run(["from-openapi", str(document), "-o", "out", "-v", *options], budget)
                problems += [
                    *faults,
                    *([f"explain ends with {code}, from-openapi with {generated}"] if generated != code else []),
                ]
                problems += _project(folder / "out") if generated == 0 else []
        seconds = time.monotonic() - begin
        codes, faults = _answer(code, out)
        problems += faults
        left = sorted(path.name for path in self._scratch.iterdir()) + sorted(path.name for path in folder.iterdir())
        if extra := set(left) - {"work", "tmp", "in", "out"}:
            problems.append(f"written beside the project: {sorted(extra)}")
        problems += [
            f"left in the temporary folder: {path.read_text()[-1500:]}" for path in (self._scratch / "tmp").iterdir()
        ]
        shutil.rmtree(folder)
        shutil.rmtree(self._scratch / "tmp")
        (self._scratch / "tmp").mkdir()
        gc.collect()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform != "darwin" else 1 << 20)
        return Verdict(
            mutant.base, code, tuple(problems), codes, seconds, peak, fatal=any("hangs" in text for text in problems)
        )

    def _run(self, arguments: list[str], seconds: float) -> tuple[int | None, str, list[str]]:
        out, err = io.StringIO(), io.StringIO()
        code: int | None = None
        problems: list[str] = []
        self._seen = []
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            with patch.object(sys, "argv", ["aqlgen", *arguments]), redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        except Late:
            problems.append(f"hangs: {arguments[0]} not finished in {seconds:.0f} s\n{traceback.format_exc()[-1500:]}")
        except BaseException:  # noqa: BLE001 - whatever it raises is a finding
            problems.append(f"a traceback of {arguments[0]}: {traceback.format_exc()[-1500:]}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            gc.enable()
        problems += [f"{arguments[0]} {event}" for event in dict.fromkeys(self._seen)]
        self._seen = None
        if code not in (0, 2) and not problems:
            problems.append(f"{arguments[0]} ends with {code}: {(err.getvalue() + out.getvalue())[:300]}")
        problems += [
            f"{arguments[0]} prints {match[0]!r}" for match in CONTROL.finditer(out.getvalue() + err.getvalue())
        ][:1]
        return code, out.getvalue(), problems

    def _late(self, _number: int, _frame: FrameType | None) -> None:
        raise Late

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what is written outside the scratch folder, read outside of what is installed, connected or started."""
        if self._seen is None:
            return
        if event == "open":
            self._audit_open(*arguments)
        elif event in CHANGES:
            for path in arguments[:2]:
                if isinstance(path, str) and not os.path.realpath(path).startswith(str(self._scratch)):
                    self._seen.append(f"{event} {path[:200]}")
        elif event in CONNECTIONS:
            self._seen.append(f"{event} {str(arguments)[:200]}")
        elif event == "subprocess.Popen" and not _TOOL.search(" ".join(map(str, arguments[1]))):
            self._seen.append(f"starts {str(arguments[1])[:200]}")

    def _audit_open(self, path: Any, mode: str | None, flags: int) -> None:
        if self._seen is None or not isinstance(path, (str, bytes)):
            return
        full = os.path.realpath(os.fsdecode(path))
        allowed = full.startswith((str(self._scratch), "/dev/null"))
        writes = bool(flags & WRITING) if mode is None else bool(set(str(mode)) & set("wax+"))
        if (writes and not allowed) or not full.startswith(self._readable):
            self._seen.append(f"opens {full[:200]}")


@contextmanager
def _within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _answer(code: int | None, out: str) -> tuple[frozenset[str], list[str]]:
    """Return the codes of a JSON answer, and what is wrong with it."""
    if code not in (0, 2):
        return frozenset(), []
    try:
        answer = json.loads(out)
    except ValueError:
        return frozenset(), [f"no JSON: {out[:200]!r}"]
    findings = answer["diagnostics"] if code == 0 else answer["error"]["details"]
    problems = [] if code == 0 or findings else ["refused without a reason"]
    lineless = [finding for finding in findings if not finding["line"] and finding["code"] not in WHOLE]
    problems += [f"no line: {finding['code']}: {finding['message'][:100]}" for finding in lineless[:1]]
    return frozenset(finding["code"] for finding in findings), problems


def _project(folder: Path) -> list[str]:
    """Return what is wrong with a project: names of files, data, code that does not parse, control characters."""
    problems = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not FILE.fullmatch(name):
            problems.append(f"a file named {name[:100]!r}")
        if path.is_dir() or name.startswith("openapi/"):
            continue
        text = path.read_bytes().decode("utf-8", "strict")
        control = CONTROL.search(text.replace("\t", ""))
        if control:
            problems.append(f"{name} holds {control[0]!r}")
        try:
            _READERS.get(path.suffix, str)(text)
        except (ValueError, SyntaxError, yaml.YAMLError) as error:
            problems.append(f"{name} cannot be read: {str(error)[:200]}")
    return problems


_READERS: dict[str, Any] = {
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".py": ast.parse,
    ".yaml": lambda text: yaml.load(text, yaml.CSafeLoader),
}
