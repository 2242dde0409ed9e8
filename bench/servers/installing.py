"""Servers in a cache: what pip, npm and apt bring, each server in a folder named after the versions that it wants."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import venv
from pathlib import Path

from bench.servers.model import Server


def cache() -> Path:
    """Return the folder where servers are kept unless another one is named."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "aqlgen-servers"


def installed(name: str, server: Server, folder: Path) -> Path:
    """Install a server unless it is there; return its folder."""
    wanted = json.dumps([list(server.pip), dict(server.npm), list(server.apt)])
    home = folder / f"{name}-{hashlib.sha256(wanted.encode()).hexdigest()[:8]}"
    if (home / ".installed").exists():
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    if server.pip:
        venv.create(home, with_pip=True)
        _run(home, str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", *server.pip)
    if server.npm:
        (home / "package.json").write_text(json.dumps({"private": True, "dependencies": dict(server.npm)}))
        _run(home, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
    if server.apt:  # unpacked, so that neither root nor the machine's own packages are touched
        _run(home, "apt-get", "download", *server.apt)
        for package in home.glob("*.deb"):
            _run(home, "dpkg-deb", "-x", package.name, "root")
    (home / ".installed").touch()
    return home


def _run(folder: Path, *command: str) -> None:
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(finished.stderr or finished.stdout)[-2000:]}")
