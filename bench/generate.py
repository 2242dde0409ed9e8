"""Measure wall time, CPU time and peak memory of `from-openapi`, and of parsing the document alone.

Another checkout of aqlgen may run in turns with this one: machines are not equally fast all the time.
"""

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


def checked(command: Sequence[str], folder: Path | None = None) -> Finished:
    """Run a command to its end. Raises SystemExit if it fails."""
    finished = run(command, folder)
    if finished.code:
        raise SystemExit(f"{command} ended with {finished.code}: {finished.output[-500:]}")
    return finished


def medians(runs: Sequence[Finished]) -> str:
    """Return the medians of times and memory as text."""
    seconds, cpu, megabytes = (
        median(values) for values in zip(*((r.seconds, r.cpu, r.megabytes) for r in runs), strict=True)
    )
    return f"{seconds:6.2f} s  {cpu:6.2f} s of CPU  {megabytes:5.0f} MB"


def generated(document: Path, checkout: Path | None = None) -> Finished:
    """Generate a project by this aqlgen, or by that of another checkout."""
    with tempfile.TemporaryDirectory() as scratch:
        project = str(Path(scratch) / "out")
        return checked([*AQLGEN, "from-openapi", str(document.resolve()), "-o", project, "-q"], checkout)


def main(argv: Sequence[str]) -> None:
    """Print a line for each document: medians of several runs, alternating."""
    options = parser(__name__, __doc__)
    text = f"default: the petstore's, and GitHub's when {CORPUS} has github.json"
    options.add_argument("documents", type=Path, nargs="*", metavar="DOCUMENT", help=text)
    options.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another checkout, which runs in turns")
    chosen = options.parse_args(argv)
    documents = {path.name: path for path in chosen.documents} or samples()
    for name, document in documents.items():
        parsed, here, there = [], [], []
        for _ in range(RUNS):
            parsed.append(checked([sys.executable, "-c", PARSE, str(document)]))
            here.append(generated(document))
            there += [generated(document, chosen.beside)] if chosen.beside else []
        print(f"{name:12} {medians(here)}   parsing alone {medians(parsed)}", flush=True)
        if there:
            ratio = median(run.cpu for run in here) / median(run.cpu for run in there)
            print(f"{'':12} {medians(there)}   by the other checkout; CPU here {ratio:.2f} of it", flush=True)
