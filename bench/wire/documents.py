"""The documents of a corpus as other projects' servers read them: OpenAPI 3 in one file, without what stops them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from aqlgen.document.read.limits import Limits
from aqlgen.document.read.yaml_parser import parse
from bench.support.documents import Entry
from bench.wire.refusals import is_there

LIMIT = 900
STOPPER = re.compile(r"error\[(E\d+)\]: ([^\n]*)\n\s*--> #(\S*)")


class Node:
    """The folder where the npm packages are installed."""

    def __init__(self, folder: Path) -> None:
        self._bin = folder.resolve() / "node_modules" / ".bin"

    def command(self, tool: str, *arguments: str) -> list[str]:
        """Return the command line of a tool."""
        return [str(self._bin / tool), *arguments]

    def run(self, tool: str, *arguments: str) -> None:
        """Run a tool to its end. Raises CalledProcessError."""
        subprocess.run(self.command(tool, *arguments), check=True, capture_output=True, timeout=LIMIT)

    def one_file(self, entry: Entry, scratch: Path) -> Path:
        """Return a document as OpenAPI 3 in one file."""
        document = entry.path
        if "multifile" in entry.name:
            bundled = scratch / "bundled.json"
            self.run("redocly", "bundle", str(document), "-o", str(bundled), "--ext", "json")
            document = bundled
        if entry.openapi.startswith("2"):
            upgraded = scratch / "openapi3.json"
            self.run("swagger2openapi", "--patch", "--warnOnly", str(document), "-o", str(upgraded))
            document = upgraded
        return document


def load(path: Path) -> dict[str, Any]:
    """Read JSON or YAML; dates stay text."""
    if path.suffix == ".json":
        document: dict[str, Any] = json.loads(path.read_bytes())
        return document
    parsed: dict[str, Any] = parse(path.name, path.read_text("utf-8"), Limits())[0]
    return parsed


def repaired(document: Any, log: str) -> int:
    """Remove from a document what a server stops for, by its log; return the number of places.

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


def without_dangling(document: Any) -> int:
    """Replace every reference of a document in one file that leads nowhere by any value; return how many there were."""
    places, nodes = 0, [document]
    while nodes:
        node = nodes.pop()
        below = list(node.values()) if isinstance(node, dict) else list(node) if isinstance(node, list) else []
        nodes += below
        target = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(target, str) and not (target.startswith("#") and is_there(document, target)):
            node.clear()
            places += 1
    return places
