"""Wall time and peak memory of `from-openapi`, beside the time that parsing the document alone takes.

usage: generate.py [DOCUMENT ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from projects import documents

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


def run(command: list[str]) -> tuple[float, float]:
    """Run to the end; give the wall time in seconds and the peak memory in MB. Raises SystemExit when it fails."""
    begin = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return perf_counter() - begin, usage.ru_maxrss / scale


def main() -> None:
    """Print one line for each document: medians of several runs, in turn."""
    given = {Path(one).name: Path(one) for one in sys.argv[1:]}
    for name, document in (given or documents()).items():
        parsed, made = [], []
        for _ in range(RUNS):
            parsed.append(run([sys.executable, "-c", PARSE, str(document)]))
            with tempfile.TemporaryDirectory() as scratch:
                target = str(Path(scratch) / "out")
                made.append(run([sys.executable, "-m", "aqlgen", "from-openapi", str(document), "-o", target, "-q"]))
        (wall, memory), (bare, floor) = (
            [median(column) for column in zip(*one, strict=True)] for one in (made, parsed)
        )
        print(f"{name:12} {wall:6.2f} s  {memory:5.0f} MB   parsing alone {bare:6.2f} s  {floor:5.0f} MB")


if __name__ == "__main__":
    main()
