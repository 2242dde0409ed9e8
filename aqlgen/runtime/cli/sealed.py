"""The command `runtime`: what the archive of the runtime holds, and whether what runs is what was sealed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from .. import SEAL


def shown(path: str) -> str | None:
    """Return the text of a file of the runtime; None if there is no such file."""
    file = dict(_files()).get(path)
    return None if file is None else file.read_text(encoding="utf-8")


def listing() -> str:
    """Return the hash and the path of every file, a line each."""
    return "\n".join(f"{digest}  {path}" for path, digest in sorted(_hashes().items()))


def verified() -> tuple[str, bool]:
    """Return a sentence about the runtime, and whether it is as it was sealed."""
    home, seal = _home(), shown(SEAL)
    if seal is None:
        return f"{home} is source in the project; `aqlgen check --pristine` compares it with the generated one.", True
    sealed = {path: digest for digest, _, path in (line.partition("  ") for line in seal.splitlines())}
    hashes = _hashes()
    differing = sorted(path for path in sealed.keys() | hashes.keys() if sealed.get(path) != hashes.get(path))
    identity = f"Runtime {sha256(seal.encode()).hexdigest()[:16]}, {len(sealed)} files in {home}"
    if differing:
        return f"{identity}: not as sealed are {', '.join(differing)}.", False
    return f"{identity}: all as sealed.", True


def _home() -> Traversable:
    return files(__package__.rpartition(".")[0])


def _hashes() -> dict[str, str]:
    return {path: sha256(file.read_bytes()).hexdigest() for path, file in _files() if path != SEAL}


def _files(folder: Traversable | None = None, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files of the runtime by their paths, without bytecode."""
    for file in (folder or _home()).iterdir():
        if file.is_dir() and file.name != "__pycache__":
            yield from _files(file, f"{prefix}{file.name}/")
        elif file.is_file():
            yield f"{prefix}{file.name}", file
