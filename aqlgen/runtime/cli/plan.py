# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command `plan`: check a plan of `run_steps` and show its requests, or write it out as Arazzo; nothing is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import Failure
from ..exact_json import read_float
from ..protocol_operations import RUN_STEPS
from ..steps.arazzo import arazzo_document
from ..steps.plan import read_plan
from ..table import Adapter, Table
from .operations import call

__all__ = ["plan", "problem_of"]

_LARGEST = 1_000_000


async def plan(
    folder: Path,
    hooks: object | None,
    file: str,
    environ: Mapping[str, str],
    *,
    mock: bool,
    name: str | None,
    url: str,
) -> dict[str, Any]:
    """Return the answer to a plan's dry run, or with a `name` the Arazzo document, if the plan is valid.

    `file` holds the parameters of `run_steps`; `-` is standard input. Raises OSError, ValueError or Failure.
    """
    text = sys.stdin.read(_LARGEST) if file == "-" else Path(file).read_text(encoding="utf-8")
    params = json.loads(text, parse_float=read_float)
    if isinstance(params, list):
        params = {"steps": params}
    if not isinstance(params, dict):
        raise ValueError("the plan is neither an object nor a list of steps")  # noqa: TRY004 - the file is wrong
    answer = await call(folder, hooks, RUN_STEPS, {**params, "dry_run": True}, environ, mock=mock)
    if not answer["success"] or name is None:
        return answer
    table = Table(folder)
    read = read_plan(params["steps"], params.get("return"))
    rows = {step.number: row for step in read.steps if (row := table.find(step.operation)) is not None}
    if len(rows) < len(read.steps):
        raise ValueError("give operations by the names that introspection shows")
    return arazzo_document(Adapter.load(folder), table, read, rows, name=name, url=url)


def problem_of(error: Exception) -> str:
    """Return what is wrong with a plan's file, in a line."""
    if isinstance(error, Failure):
        return error.message
    if isinstance(error, OSError):
        return f"the plan cannot be read ({error.strerror or type(error).__name__})"
    return "the plan is no JSON" if isinstance(error, json.JSONDecodeError) else str(error)
