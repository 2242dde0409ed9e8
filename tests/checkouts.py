"""A checkout of aqlgen with releases of its own: this work tree copied, committed and tagged as a test wants it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from aqlgen.render.provenance import RUNTIME

ROOT = Path(__file__).parent.parent
PARTS = (
    "aqlgen",
    "templates",
    "copier.yml",
    "hatch_build.py",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    ".gitignore",
)
CACHES = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")
CARRIED = "template"
"""What a build put into `aqlgen/`, where this work tree is that of an sdist."""


def compile_as_here(folder: Path, original: Path = ROOT / "aqlgen") -> None:
    """Place the bytecode of the modules here, where they are compiled, beside the same modules in a folder.

    A process that starts there would compile each of them, which takes as long as its work. The bytecode names the hash
    of its source, and Python passes it over when the module is another.
    """
    for module in folder.rglob("*.py"):
        source = original / module.relative_to(folder)
        compiled = Path(importlib.util.cache_from_source(str(source)))
        if not source.is_file() or not compiled.is_file():
            continue
        text, code, written = source.read_bytes(), compiled.read_bytes(), source.stat()
        of_source = b"".join(
            number.to_bytes(4, "little") for number in (0, int(written.st_mtime) & 0xFFFFFFFF, len(text) & 0xFFFFFFFF)
        )
        if code[:16] == importlib.util.MAGIC_NUMBER + of_source and module.read_bytes() == text:
            place = Path(importlib.util.cache_from_source(str(module)))
            place.parent.mkdir(exist_ok=True)
            by_hash = importlib.util.MAGIC_NUMBER + (3).to_bytes(4, "little") + importlib.util.source_hash(text)
            place.write_bytes(by_hash + code[16:])


def unpack_runtime(package: Path) -> None:
    """Unpack the runtime of a generated package as its first start does, with the bytecode that is here."""
    archive = package.parents[1] / RUNTIME
    place = package / "__pycache__" / f"runtime-{sha256(archive.read_bytes()).hexdigest()[:16]}"
    zipfile.ZipFile(archive).extractall(place)
    compile_as_here(place / "runtime", ROOT / "aqlgen/runtime")


URL = "https://git.example/aqlgen.git"
"""The address of the repository that the build is set to."""


@dataclass(frozen=True)
class Checkout:
    """A repository of aqlgen, and the environment in which its public address leads to it, with no network."""

    folder: Path
    environment: dict[str, str]

    @classmethod
    def make(cls, folder: Path) -> Checkout:
        """Copy the work tree; nothing is committed yet."""
        folder.mkdir(parents=True)
        for part in PARTS:
            source, target = ROOT / part, folder / part
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(*CACHES, CARRIED))
            else:
                shutil.copy(source, target)
        project = folder / "pyproject.toml"
        project.write_text(project.read_text(encoding="utf-8").replace('address = ""', f'address = "{URL}"'), "utf-8")
        compile_as_here(folder / "aqlgen")
        home = folder.parent / f"{folder.name}-home"
        home.mkdir()
        settings = f'[user]\nname = U\nemail = u@example.org\n[url "{folder}"]\ninsteadOf = {URL}\n'
        (home / ".gitconfig").write_text(f"{settings}[init]\ndefaultBranch = main\n", encoding="utf-8")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        places = {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
        paths = os.pathsep.join([str(Path(sys.executable).parent), sysconfig.get_path("scripts"), clean["PATH"]])
        more = {"COPIER_CACHE_DIR": str(home / "copier"), "PYTHONPATH": str(folder), "PATH": paths}
        checkout = cls(folder, clean | places | more)
        checkout.git("init", "--quiet")
        return checkout

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git in this repository, or in another folder in its environment."""
        return self.run("git", *arguments, cwd=cwd or self.folder).stdout.strip()

    def python(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run Python with the modules of this checkout."""
        return self.run(sys.executable, *arguments, cwd=cwd)

    def run(self, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command that must not fail, with nobody there to answer it."""
        done = subprocess.run(
            command,
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace what stands in a file once or more."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    def release(self, version: str) -> None:
        """Commit everything as a version, and tag it."""
        file = self.folder / "aqlgen/__init__.py"
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', text), encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", version)
        self.git("tag", f"v{version}")

    def build(self, folder: Path, *kinds: str, source: Path | None = None) -> list[Path]:
        """Build the wheel, the sdist or both into a folder; sorted by name."""
        targets = [word for kind in kinds for word in ("-t", kind)]
        self.python("-m", "hatchling", "build", "-d", str(folder), *targets, cwd=source or self.folder)
        return sorted(folder.iterdir())
