"""Every command that the README shows is run, in its order, as a reader would; only the network is kept out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
OFFLINE = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]


def commands() -> list[str]:
    """Return the commands of the README's blocks, without comments."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    lines = (line.split("#")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line]


class Reader:
    """Somebody who types the commands: where they are, and what they have installed."""

    def __init__(self, home: Path) -> None:
        self.folder = home
        self.site = home / "site"
        bins = [str(self.site / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        person = {f"GIT_{who}_{what}": "reader" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own_git = person | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.environment = os.environ | own_git | {"PATH": os.pathsep.join(bins), "PYTHONPATH": str(self.site)}

    def type(self, command: str) -> None:
        words = shlex.split(command)
        if words[0] == "make":
            self.run(["make", "--dry-run", *words[1:]], ROOT)
        elif words[0] == "cd":
            self.folder /= words[1]
        elif words[:2] == ["pip", "install"]:
            source = ROOT if self.folder == self.site.parent else self.folder
            target = [] if source is ROOT else ["--target", str(self.site)]
            dry = ["--dry-run"] if source is ROOT else []
            self.run([sys.executable, "-m", "pip", "install", *OFFLINE, *dry, *target, str(source)])
        elif "http" in words:
            self.serve([word if word != "8000" else "0" for word in words])
        else:
            self.run(words)

    def run(self, words: list[str], folder: Path | None = None) -> None:
        where = folder or self.folder
        done = subprocess.run(
            words,
            cwd=where,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"

    def serve(self, words: list[str]) -> None:
        """Start a server, wait until it says where it serves, and end it."""
        with subprocess.Popen(
            words, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stderr is not None
            line = server.stderr.readline()
            server.terminate()
            try:
                assert server.wait(20) == 0
            finally:
                server.kill()
        assert "Serving MCP on http://127.0.0.1:" in line


def test_every_command_of_the_readme_works(tmp_path: Path) -> None:
    shutil.copy(ROOT / "fixtures/petstore.yaml", tmp_path / "openapi.yaml")
    reader = Reader(tmp_path)
    for command in commands():
        reader.type(command)


def test_the_demo_talks_to_the_petstore_in_both_modes(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.run(
        ["aqlgen", "from-openapi", str(ROOT / "fixtures/petstore.yaml"), "-o", str(tmp_path / "petstore-adapter")]
    )
    reader.folder = tmp_path / "petstore-adapter"
    reader.type("pip install .")
    command = tmp_path / "petstore"  # a client gives a server it starts no PYTHONPATH
    command.write_text(f'#!/bin/sh\nPYTHONPATH={reader.site} exec {reader.site}/bin/petstore-adapter "$@"\n')
    command.chmod(0o755)
    reader.run([sys.executable, "-m", "bench", "demo", str(command)], ROOT)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 5])
def test_the_readme_explains_every_exit_code(code: int) -> None:
    assert f"\n| {code} | " in (ROOT / "README.md").read_text(encoding="utf-8")
