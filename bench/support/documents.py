"""The documents that are measured, and the adapters generated from them."""

from __future__ import annotations

import compileall
import csv
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.support.arguments import CORPUS
from bench.support.processes import ROOT, generate

PETSTORE = ROOT / "fixtures" / "petstore.yaml"


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a corpus; `openapi` is the version that it is written in."""

    name: str
    path: Path
    openapi: str
    size: int


def index_rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a folder's INDEX.tsv."""
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def entries(corpus: Path, only: str) -> list[Entry]:
    """Return the documents of a corpus whose names match a regular expression; of several files, the root."""
    rows = [row for row in index_rows(corpus) if re.search(only, row["name"])]
    return [Entry(row["name"], corpus / row["name"], row["openapi"], int(row["bytes"])) for row in rows]


def samples() -> dict[str, Path]:
    """Return the petstore's document, and GitHub's when the corpus has it, by name."""
    github = Path(os.environ.get(CORPUS, os.devnull)) / "github.json"
    return {"petstore": PETSTORE} | ({"github": github} if github.is_file() else {})


@contextmanager
def adapters(folders: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """Yield projects by name: those given, or those of the samples, generated with bytecode for as long as needed."""
    if folders:
        yield {folder.name: folder.resolve() for folder in folders}
        return
    with tempfile.TemporaryDirectory() as scratch:
        projects = {}
        for name, document in samples().items():
            projects[name] = Path(scratch) / name
            generate(document, projects[name])
            compileall.compile_dir(projects[name] / "src", quiet=2)
        yield projects


def package_of(project: Path) -> Path:
    """Return the folder of the Python package that a project holds."""
    return next(project.glob("src/*/adapter.json")).parent
