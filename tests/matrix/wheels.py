"""Two releases of aqlgen as real wheels. The templates of the second differ from those of the first in every way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from queue import SimpleQueue

from tests.checkouts import Checkout, compile_as_here
from tests.generator.commands import Run

OLD, NEW = "0.1.0", "0.2.0"
AT_ONCE = 1

PROJECT = "templates/project/"
RUNTIME = "src/{{package}}/runtime/"
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

GROWN = {
    RUNTIME + "__init__.py": "\n\nNEWLY = True\n",
    ".github/workflows/test.yml": "\n# newly\n",
    ".github/workflows/update-adapter.yml": "\n# newly\n",
    "tests/test_adapter.py.jinja": "\n# newly\n",
    "README.md.jinja": "\n## Newly\n\nA section of the second release.\n",
    "pyproject.toml.jinja": "\n[tool.newly]\nfresh = true\n",
    "Dockerfile.jinja": "# newly\n",
    "src/{{package}}/__main__.py": "\n# newly\n",
    "src/{{package}}/hooks.py": "\n# newly\n",
    "adapter.toml": "\n# newly\n",
    "overrides.yaml": "\n# newly\n",
}
"""Texts that the second release appends to files of the first; the user's own files must not get them."""

DROPPED = (RUNTIME + "dropped.py", "tests/dropped.py", "scripts/dropped.sh")
RENAMED = {
    RUNTIME + "formerly.py": RUNTIME + "lately/formerly.py",
    "tests/formerly.py": "tests/lately.py",
    "scripts/formerly.sh": "scripts/lately.sh",
}
ADDED = ("NEWS.md", RUNTIME + "newly.py", "tests/newly.py")


def lines(about: str, comment: str = "#") -> str:
    """Return a file of some length, each line of which occurs only there."""
    first = f"{comment} of the first release: {about}"
    return "\n".join([first, *(f"{comment} {about}, line {number}" for number in range(2, 41))]) + "\n"


class Aqlgen:
    """A wheel that is unpacked into a folder of its own, and processes that run its commands."""

    def __init__(self, version: str, site: Path) -> None:
        self.version = version
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        clean.pop("SOURCE_DATE_EPOCH", None)
        command = [sys.executable, "-I", str(Path(__file__).parent / "worker.py"), str(site)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        self._workers = [subprocess.Popen(command, env=clean | ISOLATED, **pipes) for _ in range(AT_ONCE)]
        self._idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def run(self, *arguments: str | Path) -> Run:
        """Run a command of this aqlgen."""
        worker = self._idle.get()
        try:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(json.dumps([str(argument) for argument in arguments]) + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
        finally:
            self._idle.put(worker)
        assert answer, "the process has ended"
        return Run(**json.loads(answer))

    def stop(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.communicate(timeout=20)


def build(folder: Path) -> tuple[Aqlgen, Aqlgen]:
    """Release this work tree twice, build the wheel of each release, and start both."""
    checkout = Checkout.make(folder / "aqlgen")
    for path in (*DROPPED, *RENAMED):
        _file(checkout, path).write_text(lines(path), encoding="utf-8")
    checkout.release(OLD)
    first = _wheel(checkout, folder / OLD)
    for path in DROPPED:
        _file(checkout, path).unlink()
    for path, name in RENAMED.items():
        _file(checkout, name).parent.mkdir(exist_ok=True)
        _file(checkout, path).rename(_file(checkout, name))
    for path in ADDED:
        _file(checkout, path).write_text(lines(path), encoding="utf-8")
    for path, text in GROWN.items():
        _file(checkout, path).write_text(_file(checkout, path).read_text("utf-8") + text, encoding="utf-8")
    checkout.release(NEW)
    second = _wheel(checkout, folder / NEW)
    return Aqlgen(OLD, first), Aqlgen(NEW, second)


def _file(checkout: Checkout, path: str) -> Path:
    """Return where a file of a project comes from; the runtime is a package, to which the template has a link."""
    if path.startswith(RUNTIME):
        return checkout.folder / "aqlgen/runtime" / path.removeprefix(RUNTIME)
    return checkout.folder / PROJECT / path


def _wheel(checkout: Checkout, folder: Path) -> Path:
    (wheel,) = checkout.build(folder / "dist", "wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    compile_as_here(folder / "site/aqlgen")
    return folder / "site"
