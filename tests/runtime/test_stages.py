"""The way of a call is a list of stages: as the docs show it, and only of what is switched on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.dispatch.dispatcher import Dispatcher

PAGE = Path(__file__).parent.parent.parent / "contributing/architecture.md"
CORE = [
    "Plans.first", "Dispatcher.operation", "Checking.parameters", "Checking.preview", "Dispatcher.gate",
    "Performer.perform",
]  # fmt: skip
EVERYTHING = {
    "MCP_AQL_SAFETY_LOOP": "enforcing",
    "MCP_AQL_CONCURRENCY": "serialized",
    "MCP_AQL_QUOTA_PER_MINUTE": "100",
}


class Owners:
    @staticmethod
    def before_call(call: Any) -> Any:
        return call


def names(dispatcher: Dispatcher) -> list[str]:
    return [stage.__qualname__ for stage in (*dispatcher.stages, dispatcher.perform)]  # type: ignore[attr-defined]


def test_what_is_switched_off_is_no_stage(package: Path) -> None:
    dispatcher = assemble(package, environ={"MCP_AQL_STATE_URL": "memory:"}, mock=True).dispatcher
    assert names(dispatcher) == CORE


def test_the_docs_show_the_stages_in_their_order(package: Path) -> None:
    """The gate comes after all that decides what a call asks for, and before everything that is sent."""
    environ = EVERYTHING | {"MCP_AQL_STATE_URL": "memory:"}
    dispatcher = assemble(package, Owners, environ=environ, mock=True).dispatcher
    section = PAGE.read_text(encoding="utf-8").partition("## The way of a call")[2].partition("\n### ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert names(dispatcher) == [re.findall(r"`([^`]+)`", row)[0] for row in rows]
    assert [name for row in rows if "always" in row for name in re.findall(r"`([^`]+)`", row)[:1]] == CORE
