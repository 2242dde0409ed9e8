"""How many lines of diff two operations cost that are added to GitHub's document, in the whole project.

    python bench/diff_lines.py /path/to/github.json

The document is given as it is and with two operations added to its text, which stays laid out as it was; the goal is
fewer than 60 lines added and removed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

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


def main(spec: Path) -> int:
    """Generate both projects and count the lines that differ, by file."""
    text = spec.read_text(encoding="utf-8")
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
            command = ["-m", "aqlgen", "from-openapi", f"{side}.json", "-o", side, "-q", "--name", "github"]
            subprocess.run([sys.executable, *command], cwd=folder, check=True)
        command = ["git", "diff", "--no-index", "--numstat", "old", "new"]
        shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    print(shown, end="")
    lines = sum(int(number) for line in shown.splitlines() for number in line.split("\t")[:2])
    print(f"{lines} lines")
    return 0 if lines < 60 else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
