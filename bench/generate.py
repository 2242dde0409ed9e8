"""Measure wall time and peak memory of `from-openapi`, and of parsing the document alone."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.support.arguments import CORPUS, parser
from bench.support.documents import samples
from bench.support.processes import AQLGEN, Finished, run

RUNS = 5
PARSE = """
import json, sys
text = open(sys.argv[1], 'rb').read()
if text.lstrip()[:1] in (b'{', b'['):
    json.loads(text)
else:
    import yaml
    yaml.load(text, yaml.CSafeLoader)
"""


def checked(command: Sequence[str]) -> Finished:
    """Run a command to its end. Raises SystemExit if it fails."""
    finished = run(command)
    if finished.code:
        raise SystemExit(f"{command} ended with {finished.code}: {finished.output[-500:]}")
    return finished


def medians(runs: Sequence[Finished]) -> str:
    """Return the median of time and memory as text."""
    seconds, megabytes = median(run.seconds for run in runs), median(run.megabytes for run in runs)
    return f"{seconds:6.2f} s  {megabytes:5.0f} MB"


def main(argv: Sequence[str]) -> None:
    """Print a line for each document: medians of several runs, alternating."""
    options = parser(__name__, __doc__)
    text = f"default: the petstore's, and GitHub's when {CORPUS} has github.json"
    options.add_argument("documents", type=Path, nargs="*", metavar="DOCUMENT", help=text)
    documents = {path.name: path for path in options.parse_args(argv).documents} or samples()
    for name, document in documents.items():
        parsed, generated = [], []
        for _ in range(RUNS):
            parsed.append(checked([sys.executable, "-c", PARSE, str(document)]))
            with tempfile.TemporaryDirectory() as scratch:
                project = str(Path(scratch) / "out")
                generated.append(checked([*AQLGEN, "from-openapi", str(document), "-o", project, "-q"]))
        print(f"{name:12} {medians(generated)}   parsing alone {medians(parsed)}", flush=True)
