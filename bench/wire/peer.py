"""Hold FastMCP's `from_openapi` against Steady as `steady.py` holds an adapter: every tool, required and all.

    python bench/wire/peer.py CORPUS --node NODE --python FASTMCP_PYTHON [--only REGEX] [--output DIR]

FASTMCP_PYTHON is the interpreter of an environment with fastmcp. It is given the same document in one file that Steady
serves. Values are made from the tools' input schemas alone, by this repository's maker of examples. What is refused is
held against the same classes (`explained.py`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from aqlgen.table.checking import Checker  # noqa: E402
from aqlgen.table.values import ValueMaker  # noqa: E402
from bench.wire.documents import Node, entries, load  # noqa: E402
from bench.wire.steady import Count, report, steady, totals  # noqa: E402

CALLING = Path(__file__).with_name("peer_calling.py")


def prepared(schema: Any) -> Any:
    """Give a schema as the maker of values knows it: alternatives under one name, references by the type's name."""
    if isinstance(schema, list):
        return [prepared(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        ("anyOf" if key == "oneOf" and isinstance(one, list) else key): prepared(one) for key, one in schema.items()
    }


def arguments(schema: dict[str, Any], given: str) -> dict[str, Any]:
    """Give the arguments of a call with the required fields, or with all."""
    whole = prepared(schema)
    types = whole.get("$defs", {})
    maker, checker = ValueMaker(types), Checker(types)
    wanted = whole.get("required", ()) if given == "required" else whole.get("properties", {})
    found = {}
    for name in wanted:
        one = whole.get("properties", {}).get(name, {})
        candidates = list(maker.candidates(one, 1))
        found[name] = next((value for value in candidates if checker.valid(one, value)), candidates[0])
    return found


def measure(document: Path, base: str, python: str, lines: Path) -> None:
    """Call every tool, a line of JSON each."""
    command = [python, str(CALLING), str(document), base]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told = process.stdout.readline()
        if not told:
            raise RuntimeError("it does not take the document")
        with lines.open("w", encoding="utf-8") as output:
            for tool in json.loads(told):
                for given in ("required", "all"):
                    line = {"operation": tool["name"], "given": given, "row": [tool["method"], tool["path"]]}
                    params = arguments(tool["schema"], given)
                    process.stdin.write(json.dumps([tool["name"], params]) + "\n")
                    process.stdin.flush()
                    answer = json.loads(process.stdout.readline())
                    error = {"code": "refused", "message": answer["error"]}
                    output.write(json.dumps({**line, "exchanges": answer["exchanges"], "error": error}) + "\n")
    finally:
        process.kill()
        process.wait()


def main() -> int:
    """Print a line for each document, then the sums."""
    parser = argparse.ArgumentParser(description="Hold FastMCP's requests against Steady.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    node, total = Node(options.node), Count()
    for entry in entries(options.corpus, options.only):
        count = Count()
        lines = output / (entry.name.replace("/", "_") + ".jsonl")
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            try:
                with steady(node, node.one_file(entry, scratch), scratch, count) as (base, served):
                    document = load(served)
                    single = scratch / "single.json"
                    single.write_text(json.dumps(document, default=str), "utf-8")
                    measure(single, base, options.python, lines)
                    for line in lines.read_text("utf-8").splitlines():
                        count.add(json.loads(line), document)
            except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
                count.error = f"{type(error).__name__}: {error}"
        report(entry.name, count)
        total.gather(count)
    totals(total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
