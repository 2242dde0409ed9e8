"""The arguments that several measurements have: a parser named after the command, a corpus, adapters to measure."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

CORPUS = "AQLGEN_CORPUS"


def parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a measurement, from its `__name__` and `__doc__`."""
    return argparse.ArgumentParser(
        prog=f"python -m {module.replace('.', ' ', 1)}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_corpus(options: argparse.ArgumentParser) -> None:
    """Add the folder of documents, which the environment variable AQLGEN_CORPUS gives too."""
    default = os.environ.get(CORPUS)
    text = f"a folder of API documents with an INDEX.tsv; default: the variable {CORPUS}"
    options.add_argument("corpus", type=Path, nargs="?" if default else None, default=default, help=text)


def add_only(options: argparse.ArgumentParser) -> None:
    """Add the choice of documents."""
    options.add_argument("--only", default="", metavar="REGEX", help="only documents whose name matches REGEX")


def add_adapters(options: argparse.ArgumentParser) -> None:
    """Add the adapters to measure, for `bench.support.documents.adapters`."""
    text = f"projects; default: the petstore's, and GitHub's when {CORPUS} has github.json, generated for this run"
    options.add_argument("adapters", type=Path, nargs="*", metavar="ADAPTER", help=text)
