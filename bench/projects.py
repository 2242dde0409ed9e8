"""The adapters that are measured: the petstore's, and GitHub's when AQLGEN_CORPUS names a folder with github.json."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PETSTORE = Path(__file__).resolve().parent.parent / "fixtures" / "petstore.yaml"


def documents() -> dict[str, Path]:
    """Give the documents by name."""
    found = {"petstore": PETSTORE}
    corpus = os.environ.get("AQLGEN_CORPUS")
    if corpus:
        found["github"] = Path(corpus) / "github.json"
    return found


@contextmanager
def generated() -> Iterator[dict[str, Path]]:
    """Generate a project from each document, with compiled bytecode, for as long as the context lasts."""
    with tempfile.TemporaryDirectory() as scratch:
        projects = {}
        for name, document in documents().items():
            folder = Path(scratch) / name
            command = [sys.executable, "-m", "aqlgen", "from-openapi", str(document), "-o", str(folder), "-q"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            compileall.compile_dir(folder / "src", quiet=2)
            projects[name] = folder
        yield projects
