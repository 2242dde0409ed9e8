"""An update that is ended on its way leaves the project as it was, or wholly updated; and it can be run again."""

from __future__ import annotations

import os
import shutil
import signal as signals
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.update.repos import ISOLATED, ROOT, Repo, Templates, grown, operation
from tests.update.test_stored_forms import files

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("forked")]

Spec = Callable[[Any], Path]
GIT = """#!/bin/sh
case " $* " in *" {command} "*) kill -{signal} $PPID {also} ;; esac
exec '{git}' "$@"
"""


def ended(repo: Repo, spec: Path, folder: Path, command: str, signal: str, *, also: str = "") -> int:
    """Update by a git that sends a signal to whoever runs a command of it, and perhaps to itself."""
    file = folder / "bin" / "git"
    file.parent.mkdir()
    file.write_text(GIT.format(command=command, signal=signal, also=also, git=shutil.which("git")), encoding="utf-8")
    file.chmod(0o755)
    command_line = [sys.executable, "-m", "aqlgen", "update", str(repo.folder), "--spec", str(spec)]
    paths = {"PATH": f"{file.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command_line,
        env={**os.environ, **ISOLATED, **paths},
        capture_output=True,
        check=False,
        preexec_fn=_heed_interrupts if os.name == "posix" else None,
    )
    return done.returncode


def _heed_interrupts() -> None:
    """Undo what a shell does to commands in the background: they ignore Ctrl-C, and so would what they start."""
    signals.signal(signals.SIGINT, signals.SIG_DFL)


@pytest.mark.parametrize("signal", ["INT", "TERM", "KILL"])
def test_before_anything_is_written_nothing_is_changed(repo: Repo, spec: Spec, tmp_path: Path, signal: str) -> None:
    document = spec(grown(orders={"get": operation("listOrders")}))
    before = files(repo)
    assert ended(repo, document, tmp_path, "ls-tree", signal) != 0
    assert files(repo) == before
    assert repo.status() == []
    assert repo.update("--spec", document).code == 0


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_what_is_being_written_is_written_to_the_end(repo: Repo, spec: Spec, tmp_path: Path, signal: str) -> None:
    """As when somebody presses Ctrl-C, which reaches git too."""
    document = spec(grown(orders={"get": operation("listOrders")}))
    assert ended(repo, document, tmp_path, "update-index", signal, also="$$") == 0
    assert "list_orders" in repo.read("src/shop_adapter/operations/read.json")
    assert repo.git("diff", "--name-only") == ""
    assert not (repo.top / ".git/MERGE_MSG").exists()
    repo.commit()
    assert repo.update().code == 0


def test_files_that_were_written_in_part_are_in_nobodys_way(repo: Repo, newer: Templates) -> None:
    """As the power cut leaves it: one file half there, one whole, and the tracked ones taken back."""
    newer.add("docs/USING.md", "# Using it\n\nAt length.\n")
    newer.add("docs/MORE.md", "# More of it\n")
    repo.write("docs/USING.md", "# Using")
    repo.write("docs/MORE.md", "# More of it\n")
    assert repo.update().code == 0
    assert repo.read("docs/USING.md") == "# Using it\n\nAt length.\n"
    assert repo.git("diff", "--name-only") == ""
