"""What a page of the documentation has its reader type and save, and somebody who does it, from its top to its end.

A line of an `sh` block is a command, `# exit code 1` behind it its exit code; in a `console` block commands begin with
`$`. A `text` block right below a command is its output, in which `…` stands for anything. A block below a line that
ends in a file's name and a colon is that file, or its end if the line speaks of adding to the end.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from aqlgen.runtime.cli import main as adapter_main
from tests.generator.commands import run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMED_FILE = re.compile(r"`([\w./-]+\.\w+)`[^`]*:$")
ENDS_WITH = re.compile(r"# exit code (\d)")
COMMENT = re.compile(r"\s+#.*$")
ASSIGNMENT = re.compile(r"[A-Z_]+=")
BY_SHELL = re.compile(r"[|&;<>$`*]")
PORTS = (8000, 8080)
"""The ports of the pages; a reader takes free ones in their place."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a page shows: a `command`, an `output`, a `file`, the `end` of a file, or other `yaml`."""

    heading: str
    kind: str
    text: str
    file: str = ""

    @property
    def command(self) -> str:
        """The command without its comment."""
        return COMMENT.sub("", self.text)

    @property
    def code(self) -> int:
        """The exit code that the page tells of."""
        code = ENDS_WITH.search(self.text)
        return int(code[1]) if code else 0


def steps(page: Path) -> Iterator[Step]:
    """Yield what a page shows, in its order."""
    heading, before, after_command = "", "", False
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("```"):
            before = line.strip() or before
            after_command = after_command and not line.strip()
            continue
        block = []
        for inner in lines:
            if inner.startswith("```"):
                break
            block.append(inner)
        yield from _block(heading, line[3:].strip(), "\n".join(block), before, after_command=after_command)
        after_command, before = line[3:].strip() == "sh", ""


def _block(heading: str, language: str, text: str, before: str, *, after_command: bool) -> Iterator[Step]:
    named = NAMED_FILE.search(before)
    if language == "sh":
        for line in text.replace("\\\n", " ").splitlines():
            if line.strip() and not line.startswith("#"):
                yield Step(heading, "command", line)
    elif language == "console":
        output: list[str] = []
        for line in [*text.splitlines(), "$ "]:
            if not line.startswith("$ "):
                output.append(line)
                continue
            if output:
                yield Step(heading, "output", "\n".join(output))
            if line != "$ ":
                yield Step(heading, "command", line[2:])
            output = []
    elif language == "text" and after_command:
        yield Step(heading, "output", text)
    elif named and language:
        yield Step(heading, "end" if "end of" in before else "file", text + "\n", named[1])
    elif language == "yaml":
        yield Step(heading, "yaml", text + "\n")


def shows(output: str, shown: str) -> bool:
    """Return True if an output has the shown lines, one below the other; `…` stands for anything."""
    parts = [re.escape(line.rstrip()).replace("…", ".*") for line in shown.splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if part == ".*" else rf"{part}[ \t]*(?:\n|$)" for part in parts)
    return re.search(rf"^{pattern}", output, re.MULTILINE) is not None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def shell(command: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody would who types it in a folder; nobody answers its questions."""
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


class Reader:
    """Somebody who types the commands of a page, in a folder of their own and without a network.

    Simple commands of aqlgen and, with `in_process`, of the projects in the folder run in this process, all others by
    a shell.
    """

    in_process = True

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = self.folder = home
        tools = home / ".tools"
        tools.mkdir()
        (tools / "aqlgen").write_text(f'#!/bin/sh\nexec {sys.executable} -m aqlgen "$@"\n', encoding="utf-8")
        (tools / "aqlgen").chmod(0o755)
        person = {f"GIT_{who}_{what}": "reader" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own_git = person | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        installed = sysconfig.get_path("scripts")
        paths = os.pathsep.join([str(tools), str(Path(sys.executable).parent), installed, os.environ["PATH"]])
        state = {"XDG_STATE_HOME": str(home / ".state"), "PYTHONPATH": str(ROOT)}
        self.environment = dict(os.environ) | own_git | state | {"PATH": paths}
        self._ports = {str(port): str(free_port()) for port in PORTS}
        self._servers: list[subprocess.Popen[str]] = []
        self.output = ""

    def read(self, page: Path, *, skipped: frozenset[str] = frozenset()) -> None:
        """Do what a page shows, but the commands that are skipped."""
        typed = True
        for step in steps(page):
            match step.kind:
                case "command":
                    typed = step.command not in skipped
                    if typed:
                        self.type(step.command, step.code)
                case "output" if typed:
                    assert shows(self.output, self.here(step.text)), f"{step.text}\n--- is not in\n{self.output}"
                case "file" | "end":
                    file = self.folder / step.file
                    text = file.read_text(encoding="utf-8") if step.kind == "end" else ""
                    file.write_text(text + self.here(step.text), encoding="utf-8")

    def here(self, text: str) -> str:
        """Return a text of the page with the ports of this reader."""
        return re.sub(r"\b(8000|8080)\b", lambda port: self._ports[port[1]], text)

    def type(self, command: str, code: int = 0) -> None:
        """Type a command, which has to end with the code."""
        command = self.here(command)
        words = shlex.split(command)
        settings = dict(word.split("=", 1) for word in itertools.takewhile(ASSIGNMENT.match, words))
        del words[: len(settings)]
        if words[0] == "export":
            self.environment |= dict(word.split("=", 1) for word in words[1:])
        elif words[0] == "cd":
            self.folder = (self.folder / words[1]).resolve()
        elif words[0] == "make":
            self.run(f"make --dry-run -C {shlex.quote(str(ROOT))} {' '.join(words[1:])}", ["make"], {}, code)
        elif words[0] == "pip":
            self.install(words)
        elif words[-1] == "&":
            self.begin(command.removesuffix("&"))
        elif not {"http", "--http"}.isdisjoint(words):
            self.serve(words)
        else:
            self.run(command, words, settings, code)

    def install(self, words: list[str]) -> None:
        """Have the command of each project of this folder, without installing anything."""
        for package in self.home.glob("*/src/*_adapter"):
            name = package.name.replace("_", "-")
            program = self.home / ".tools" / name
            start = f'PYTHONPATH={package.parent} exec {sys.executable} -m {package.name} "$@"'
            program.write_text(f"#!/bin/sh\n{start}\n", encoding="utf-8")
            program.chmod(0o755)

    def run(self, command: str, words: list[str], settings: dict[str, str], code: int) -> None:
        """Run a command to its end, and keep what it printed."""
        package = next(self.home.glob(f"*/src/{words[0].replace('-', '_')}"), None) if self.in_process else None
        plain = not BY_SHELL.search(command)
        package = None if package and (package / "hooks.py").exists() else package  # a process of its own has hooks
        if plain and words[0] == "aqlgen" and words[1] not in ("safety", "serve"):  # which become the adapter
            with chdir(self.folder), patch.dict(os.environ, self.environment | settings, clear=True):
                done = run(*words[1:])
            ended, self.output = done.code, done.out + done.err
        elif plain and package and len([word for word in words[1:] if word != "--mock"]) > 0:
            ended = self._adapter(package, words[1:], settings)
        else:
            ran = shell(command, self.folder, self.environment)
            ended, self.output = ran.returncode, ran.stdout + ran.stderr
        assert ended == code, f"{command}: {ended}\n{self.output}"

    def _adapter(self, package: Path, words: list[str], settings: dict[str, str]) -> int:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        out.isatty = lambda: True  # type: ignore[method-assign]
        with (
            chdir(self.folder),
            patch.dict(os.environ, self.environment | settings, clear=True),
            patch.object(sys, "stdin", io.StringIO()),
            redirect_stdout(out),
            redirect_stderr(out),
        ):
            try:
                code = adapter_main(package, None, words)
            except SystemExit as ended:
                code = int(ended.code or 0)
        self.output = out.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]
        return code

    def begin(self, command: str) -> None:
        """Start a server that goes on, and wait until it listens."""
        server = subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._servers.append(server)
        deadline = time.monotonic() + 20
        while server.poll() is None and time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(self._ports["8080"]))) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError(command)

    def serve(self, words: list[str]) -> None:
        """Start an adapter over HTTP, wait until it says where it serves, and end it."""
        with subprocess.Popen(
            words, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, "")
            line = next((line for line in lines if "Serving MCP" in line), "")
            server.terminate()
            try:
                assert server.wait(20) == 0
            finally:
                server.kill()
        assert "Serving MCP on http://127.0.0.1:" in line

    def leave(self) -> None:
        """End what goes on."""
        for server in self._servers:
            server.kill()
            server.wait()
        shutil.rmtree(self.home, ignore_errors=True)
