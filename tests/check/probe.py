"""The table and the sessions by which `check` tests the runtime, and what has passed: `python -m tests.check.probe`.

To add a step to a session, add a line with what is given to `sessions.jsonl`; what comes of it is written behind it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aqlgen.check import sessions
from aqlgen.check.checks.probe import PASSED
from aqlgen.check.runner import Chosen, check_adapter
from aqlgen.document.request import Request
from aqlgen.options import Options
from aqlgen.pipeline import prepare
from aqlgen.table.model import table_files
from bench.support.processes import generate

PROBE = Path(__file__).parents[2] / "aqlgen/check/probe"


def files() -> dict[str, bytes]:
    """Return the files of the table as they follow from the document."""
    request = Request(str(PROBE / "openapi/openapi.yaml"))
    options = Options((request,), name="probe", overrides=PROBE / "overrides.yaml")
    return dict(table_files(prepare(options, lambda _: None).table))


def played(project: Path, package: str) -> str:
    """Play the sessions with the runtime of a project, and return their file as it follows from that."""
    steps: dict[str, list[dict[str, Any]]] = {}

    async def play(run: Any, session: sessions.Session) -> list[dict[str, Any]]:
        inputs = [{name: step[name] for name in sessions.INPUTS if name in step} for step in session.steps]
        steps[session.head["session"]] = shown = await sessions.played(run, sessions.Session(session.head, inputs))
        return shown

    with patch("aqlgen.check.checks.probe.played", play):
        check_adapter(project, package, Chosen(only=["WI-3"]))
    entries = [entry for session in sessions.recorded() for entry in (session.head, *steps[session.head["session"]])]
    return "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in entries)


if __name__ == "__main__":
    for name, content in files().items():
        (PROBE / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (PROBE / "src" / name).write_bytes(content)
    shutil.rmtree(PASSED, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        generate(PROBE.parents[2] / "fixtures" / "petstore.yaml", project := Path(folder) / "project")
        os.environ["AQLGEN_CACHE"] = ""  # which keeps no steps
        sessions.FILE.write_text(played(project, "petstore_adapter"), encoding="utf-8")
        os.environ["AQLGEN_CACHE"] = folder
        check_adapter(project, "petstore_adapter", Chosen(only=["WI-3"]))
        shutil.copytree(folder, PASSED, ignore=lambda _, names: [name for name in names if name[-5:] != ".json"])
