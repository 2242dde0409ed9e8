"""The documents of a corpus as other projects' servers read them: OpenAPI 3 in one file, without what stops them."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqlgen.document.read.limits import Limits
from aqlgen.document.read.yaml_parser import parse

LIMIT = 900
STOPPER = re.compile(r"error\[(E\d+)\]: ([^\n]*)\n\s*--> #(\S*)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the corpus."""

    name: str
    path: Path
    openapi: str

    @property
    def several(self) -> bool:
        """Whether it is of several files."""
        return "multifile" in self.name


def entries(corpus: Path, only: str) -> Iterator[Entry]:
    """Give the documents whose name matches a regular expression, the smallest first."""
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in sorted(rows, key=lambda one: int(one["bytes"])):
        if re.search(only, row["name"]):
            yield Entry(row["name"], corpus / row["name"], row["openapi"])


class Node:
    """The folder where the npm packages are installed."""

    def __init__(self, folder: Path) -> None:
        self._bin = folder.resolve() / "node_modules" / ".bin"

    def command(self, tool: str, *arguments: str) -> list[str]:
        """Give the command line of a tool."""
        return [str(self._bin / tool), *arguments]

    def run(self, tool: str, *arguments: str) -> None:
        """Run a tool to its end. Raises CalledProcessError."""
        subprocess.run(self.command(tool, *arguments), check=True, capture_output=True, timeout=LIMIT)

    def one_file(self, entry: Entry, scratch: Path) -> Path:
        """Give a document as OpenAPI 3 in one file."""
        document = entry.path
        if entry.several:
            bundled = scratch / "bundled.json"
            self.run("redocly", "bundle", str(document), "-o", str(bundled), "--ext", "json")
            document = bundled
        if entry.openapi.startswith("2"):
            turned = scratch / "openapi3.json"
            self.run("swagger2openapi", "--patch", "--warnOnly", str(document), "-o", str(turned))
            document = turned
        return document


def load(path: Path) -> dict[str, Any]:
    """Read JSON or YAML; dates stay text."""
    if path.suffix == ".json":
        document: dict[str, Any] = json.loads(path.read_bytes())
        return document
    found: dict[str, Any] = parse(path.name, path.read_text("utf-8"), Limits())[0]
    return found


def repaired(document: Any, log: str) -> int:
    """Take out of a document what the log says that a server stops for; gives how many places that were.

    A reference that leads nowhere becomes any value, an empty enumeration goes, an operation without success gets one.
    """
    places = 0
    if "error[E1002]" in log:  # an OpenAPI that the server does not know yet
        document["openapi"], places = "3.1.1", 1
    for code, _, pointer in STOPPER.findall(log):
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.strip("/").split("/")]
        node = document
        try:
            for step in steps[:-1]:
                node = node[int(step)] if isinstance(node, list) else node[step]
            last: Any = int(steps[-1]) if isinstance(node, list) else steps[-1]
            target = node[last]
        except (KeyError, IndexError, ValueError, TypeError):
            continue
        places += 1
        if code == "E1012" and isinstance(target, dict):
            target.pop("enum", None)
        elif code == "E1019" and isinstance(target, dict):
            target["200"] = {"description": "Added so that the server starts"}
        elif steps[0] == "servers":
            document["servers"] = []
        elif isinstance(target, dict):
            node[last] = {}
        elif isinstance(node, dict):
            del node[last]
    return places
