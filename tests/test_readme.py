"""Every command that the README shows is run, in its order, as a reader would; only the network is kept out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import ROOT, Reader

pytestmark = pytest.mark.long

NOT_RUN = frozenset({"python3 -m venv .venv && . .venv/bin/activate"})
"""What a new environment would install comes from the network: the reader has an environment already."""
OFFLINE = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]


class Installing(Reader):
    """A reader who installs what the README says, as far as that needs no network, and uses what is installed."""

    in_process = False

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.site = home / "site"
        self.environment["PATH"] = f"{self.site / 'bin'}:{self.environment['PATH']}"
        self.environment["PYTHONPATH"] = f"{self.site}:{self.environment['PYTHONPATH']}"

    def install(self, words: list[str]) -> None:
        """Install the project of this folder; of aqlgen, look only whether it could be installed."""
        source = ROOT if self.folder == self.home else self.folder
        more = ["--dry-run"] if source is ROOT else ["--target", str(self.site)]
        self.done([sys.executable, "-m", "pip", "install", *OFFLINE, *more, str(source)])

    def done(self, words: list[str], folder: Path | None = None) -> None:
        """Run a command, which has to succeed."""
        ran = subprocess.run(
            words,
            cwd=folder or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert ran.returncode == 0, f"{' '.join(words)}\n{ran.stdout}\n{ran.stderr}"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Installing]:
    reader = Installing(tmp_path / "home")
    yield reader
    reader.leave()


def test_every_command_of_the_readme_works(reader: Installing) -> None:
    shutil.copy(ROOT / "fixtures/petstore.yaml", reader.home / "openapi.yaml")
    reader.read(ROOT / "README.md", skipped=NOT_RUN)


def test_the_demo_talks_to_the_petstore_in_both_modes(reader: Installing) -> None:
    shutil.copy(ROOT / "fixtures/petstore.yaml", reader.home / "openapi.yaml")
    reader.type("aqlgen from-openapi openapi.yaml -o petstore-adapter")
    reader.type("cd petstore-adapter")
    reader.type("pip install .")
    command = reader.home / "petstore"  # a client gives a server it starts no PYTHONPATH
    command.write_text(f'#!/bin/sh\nPYTHONPATH={reader.site} exec {reader.site}/bin/petstore-adapter "$@"\n')
    command.chmod(0o755)
    reader.done([sys.executable, "-m", "bench", "demo", str(command)], ROOT)
