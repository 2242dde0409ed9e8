"""docs/policies.md is true: each example is loaded as an owner would write it, and each call under it is made."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from stand_in import FakeApi
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.safety.policy import LEVELS, by_level
from aqlgen.runtime.safety.rules.rules import check_rules
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.load import load
from aqlgen.runtime.settings.trust import TRUST_LEVELS
from aqlgen.runtime.settings.types import BUILT_IN, Comparisons, PolicyRule
from aqlgen.runtime.table import Adapter, Table

pytestmark = pytest.mark.anyio
PAGE = (Path(__file__).parents[3] / "docs/policies.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```toml\n(.*?)```\n\n\| call [^\n]*\n\|[-|]*\n((?:\|[^\n]*\n)+)", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE)
CALL = re.compile(r"\| `(\w+)` \| `(.*?)` \| (\w+) \| ([\w-]*) ?\|")
OUTCOMES = {
    "CONFIRMATION_REQUIRED": "confirm",
    "PERMISSION_DANGER_LEVEL_DENIED": "refuse",
    "PERMISSION_DENIED": "refuse",
}
TEXT = {"in": "body", "schema": {"type": "string"}}


def operation(method: str, path: str, danger: str, **more: Any) -> dict[str, Any]:
    row = {"summary": "Do it", "method": method, "path": path, "resource": "thing", "verb": "do", "danger": danger}
    return {**row, "parameters": {}, "returns": {"name": "object", "kind": "object"}, **more}


NAME = {"name": {"in": "path", "required": True, "schema": {"type": "string"}}}
OPERATIONS: dict[str, Any] = {
    "create": {
        "create_repository": operation("POST", "/repositories", "reversible", parameters={"name": TEXT}),
        "write_file": operation("POST", "/files", "reversible", parameters={"path": TEXT}, tags=["files"]),
        "create_payment": operation(
            "POST", "/payments", "dangerous", effects=("money",),
            parameters={"amount": {"in": "body", "schema": {"type": "number"}}, "currency": TEXT, "recipient": TEXT},
        ),
    },
    "read": {"list_repositories": operation("GET", "/repositories", "safe")},
    "update": {
        "update_repository": operation(
            "PATCH", "/repositories/{name}", "reversible", update={"strategy": "patch"},
            parameters={**NAME, "input": {"in": "body", "schema": {"properties": {"visibility": {"type": "string"}}}}},
            body={"content_type": "application/json", "shape": "whole", "parameter": "input"},
        )
    },
    "delete": {
        "delete_repository": operation(
            "DELETE", "/repositories/{name}", "destructive",
            parameters={**NAME, "force": {"in": "query", "schema": {"type": "boolean"}}},
        )
    },
    "execute": {
        "archive_repositories": operation(
            "POST", "/repositories/archive", "reversible",
            parameters={"ids": {"in": "body", "schema": {"type": "array", "items": {"type": "string"}}}},
        )
    },
}  # fmt: skip


def test_the_page_has_examples_for_all_that_it_speaks_of() -> None:
    """R-SAFE-1, R-SAFE-2"""
    assert len(EXAMPLES) == PAGE.count("```toml") == 4
    assert sum(len(CALL.findall(calls)) for _, calls in EXAMPLES) == PAGE.count("` | `{")
    for word in (*PolicyRule.__annotations__, *Comparisons.__annotations__, *BUILT_IN):
        assert f"`{word}`" in PAGE or f"{{ {word} = " in PAGE, word


@pytest.mark.parametrize(("settings", "calls"), EXAMPLES)
async def test_each_example_decides_as_the_page_says(tmp_path: Path, settings: str, calls: str) -> None:
    """R-SAFE-1, R-SAFE-2"""
    package = write_package(tmp_path / "src" / "zoo_adapter", ADAPTER, OPERATIONS, {})
    (tmp_path / "adapter.toml").write_text(settings)
    config, table = load(package, {}), Table(package)
    check_rules(config, table)
    dispatcher = Dispatcher(Adapter.load(package), table, FakeApi(), config)
    for name, params, outcome, rule in CALL.findall(calls):
        call = {"operation": name, "params": json.loads(params)}
        answer: Any = await dispatcher.handle(None, call, Session("s"))
        assert ("allow" if answer["success"] else OUTCOMES[answer["error"]["code"]]) == outcome, (call, answer)
        if outcome == "refuse":
            assert answer["error"]["details"]["rule"] == rule, call
        elif outcome == "confirm":
            row = table.find(name)
            build = partial(FakeApi().build, row, call["params"])
            decision = dispatcher.gatekeeper._policy.decide(row, call["params"], build)  # type: ignore[arg-type]
            assert decision.rule == rule, call


def test_the_tables_of_the_policies_are_what_they_decide() -> None:
    """R-SAFE-1, R-SAFE-2: danger levels 4.1."""
    rows = re.findall(r"^\| (safe|reversible|destructive|dangerous|forbidden) \| (.*) \|$", PAGE, re.MULTILINE)
    assert [level for level, _ in rows[-5:]] == list(LEVELS)
    for level, cells in rows[-5:]:
        assert cells.split(" | ") == [by_level("strict", level, trust).outcome for trust in TRUST_LEVELS]
    decided = re.findall(r"^\| (?!call)([a-z, ]+) \| (\w+) \| (\w+) \| (\w+) \|$", PAGE, re.MULTILINE)
    assert ", ".join(levels for levels, *_ in decided) == ", ".join(LEVELS)
    for levels, *outcomes in decided:
        for level in levels.split(", "):
            assert outcomes == [by_level(each, level, "generated").outcome for each in ("standard", "strict", "open")]
