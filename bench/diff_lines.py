"""Count the lines of diff in a project when two operations are added to GitHub's document.

The document is used as it is and with two operations added to its text, which keeps its layout; the goal is fewer than
60 lines added and removed in the whole project.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.support.arguments import parser
from bench.support.processes import generate

GOAL = 60

ADDED = {
    "/repos/{owner}/{repo}/mascot": {
        "get": {
            "summary": "Get a repository mascot",
            "operationId": "repos/get-mascot",
            "tags": ["repos"],
            "parameters": [{"$ref": "#/components/parameters/owner"}, {"$ref": "#/components/parameters/repo"}],
            "responses": {
                "200": {
                    "description": "Response",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/simple-user"}}},
                }
            },
        },
        "delete": {
            "summary": "Delete a repository mascot",
            "operationId": "repos/delete-mascot",
            "tags": ["repos"],
            "parameters": [{"$ref": "#/components/parameters/owner"}, {"$ref": "#/components/parameters/repo"}],
            "responses": {"204": {"description": "Response"}},
        },
    }
}


def main(argv: Sequence[str]) -> int:
    """Generate both projects and count the lines that differ, by file; return 1 if they are too many."""
    options = parser(__name__, __doc__)
    options.add_argument("document", type=Path, help="GitHub's document, github.json")
    text = options.parse_args(argv).document.read_text(encoding="utf-8")
    document = json.loads(text)
    document["paths"].update(ADDED)
    indent = None if text.count("\n") < 2 else 2
    separators = (",", ":") if indent is None else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "old.json").write_text(text, encoding="utf-8")
        newer = json.dumps(document, indent=indent, separators=separators, ensure_ascii=False)
        (folder / "new.json").write_text(newer, encoding="utf-8")
        for side in ("old", "new"):
            generate(folder / f"{side}.json", folder / side, "--name", "github")
        command = ["git", "diff", "--no-index", "--numstat", "old", "new"]
        shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    print(shown, end="")
    lines = sum(int(number) for line in shown.splitlines() for number in line.split("\t")[:2])
    print(f"{lines} lines")
    return 0 if lines < GOAL else 1
