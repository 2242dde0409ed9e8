"""The table and the sessions by which `check` tests the runtime, and what has passed: `python -m tests.check.probe`.

To add a step to a session, add a line with what is given to `sessions.jsonl`; what comes of it is written behind it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aqlgen.check import sessions
from aqlgen.check.checks.probe import PASSED
from aqlgen.check.runner import Chosen, check_adapter
from aqlgen.document.request import Request
from aqlgen.options import Options
from aqlgen.pipeline import prepare
from aqlgen.resources import files_in, seal
from aqlgen.runtime import SEAL
from aqlgen.table.model import table_files
from bench.support.processes import generate

LEAST = 20
"""Characters of a part that is shared."""
SHORTEST = 5
"""Characters of the name of one."""
PROBE = Path(__file__).parents[2] / "aqlgen/check/probe"


def files() -> dict[str, bytes]:
    """Return the files of the tables as they follow from the documents: of one API, and of several."""
    return {**_table(PROBE, "openapi.yaml"), **_table(PROBE / "several", "shop/openapi.yaml", "desk/openapi.yaml")}


def _table(project: Path, *documents: str) -> dict[str, bytes]:
    requests = tuple(Request(str(project / "openapi" / name), name=name.rpartition("/")[0]) for name in documents)
    options = Options(requests, name=project.name, overrides=project / "overrides.yaml")
    written = table_files(prepare(options, lambda _: None).table)
    return {f"{(project / 'src').relative_to(PROBE).as_posix()}/{name}": content for name, content in written}


def played(project: Path, package: str) -> str:
    """Play the sessions with the runtime of a project, and return their file as it follows from that."""
    steps: dict[str, list[dict[str, Any]]] = {}

    async def play(run: Any, session: sessions.Session) -> list[dict[str, Any]]:
        inputs = [{name: step[name] for name in sessions.INPUTS if name in step} for step in session.steps]
        shown = await sessions.played(run, sessions.Session(session.head, inputs))
        steps[session.head["session"]] = shown
        return shown[: len(session.steps)]

    with patch("aqlgen.check.checks.probe.played", play):
        check_adapter(project, package, Chosen(only=["WI-3"]))
    entries = [
        entry
        for session in sessions.recorded()
        for entry in (session.head, *steps.get(session.head["session"], session.steps))
    ]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return "".join(f"{encode(entry)}\n" for entry in _shared(entries))


def _shared(entries: list[Any]) -> Iterator[Any]:
    """Yield entries whose long parts that occur several times have a name, each behind its part on a line of its own.

    The name comes from the part's text, so that it changes with that alone.
    """
    counts, names = Counter[str](), dict[str, str]()

    def count(value: Any) -> None:
        counts[text := json.dumps(value, ensure_ascii=False)] += 1
        if len(text) >= LEAST and counts[text] == 1:  # what is within another is counted with that
            for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
                count(inner)

    def named(value: Any) -> Iterator[Any]:
        """Yield the new shared parts of a value as lines; returns the value with names for its parts."""
        text = json.dumps(value, ensure_ascii=False)
        if len(text) < LEAST or text in names:
            return {"@": names[text]} if text in names else value
        whole = value
        if isinstance(value, list):
            whole = []
            for item in value:
                whole.append((yield from named(item)))
        if isinstance(value, dict):
            whole = {}
            for key, item in value.items():
                whole[key] = yield from named(item)
        if counts[text] * (len(text) - 13) < len(text) + 20:  # a name costs 13 characters, a line 20 more
            return whole
        digest = urlsafe_b64encode(sha256(text.encode()).digest()).decode()
        sizes = range(SHORTEST, len(digest))
        names[text] = name = next(digest[:size] for size in sizes if digest[:size] not in names.values())
        yield {"@": name, "is": whole}
        return {"@": name}

    for entry in entries:
        count(list(entry.values()))
    for entry in entries:
        whole = {}
        for key, value in entry.items():
            whole[key] = yield from named(value)
        yield whole


if __name__ == "__main__":
    for name, content in files().items():
        (PROBE / name).parent.mkdir(parents=True, exist_ok=True)
        (PROBE / name).write_bytes(content)
    shutil.rmtree(PASSED, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        generate(PROBE.parents[2] / "fixtures" / "petstore.yaml", project := Path(folder) / "project")
        os.environ["AQLGEN_CACHE"] = ""  # which keeps no steps
        sessions.FILE.write_text(played(project, "petstore_adapter"), encoding="utf-8")
        os.environ["AQLGEN_CACHE"] = folder
        check_adapter(project, "petstore_adapter", Chosen(only=["WI-3"]))
        shutil.copytree(folder, PASSED, ignore=lambda _, names: [name for name in names if name[-5:] != ".json"])
    runtime = {path: file.read_bytes() for path, file in files_in(PROBE.parents[1] / "runtime")}
    (PASSED / SEAL).write_text(seal(runtime), encoding="utf-8")
