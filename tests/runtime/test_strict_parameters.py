"""What an operation accepts is what introspection shows: all parameters of the adapter × all kinds of operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from local import Answer, Running, serving

from aqlgen.runtime.introspection.introspect import Introspection
from tests.cases import each
from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate

THING = object_of(id=TEXT, name=TEXT, size=INTEGER)
LIST = list_of(THING)
PAGE = object_of(items=LIST, total=INTEGER)
NUMBERS = [parameter(name, schema=INTEGER) for name in ("limit", "offset")]
OPERATIONS = {
    "GET /things": {"parameters": NUMBERS, "responses": replies(PAGE)},
    "POST /things": {"requestBody": body_of(THING), "responses": replies(THING, "201")},
    "GET /things/{id}": {"responses": replies(THING, "200", "ETag")},
    "PUT /things/{id}": {"requestBody": body_of(THING), "responses": replies(THING)},
    "DELETE /things/{id}": {"responses": replies(status="204")},
    "POST /things/{id}/start": {"responses": replies(status="204")},
    "GET /parts": {"responses": replies(LIST)},
    "GET /version": {"responses": replies(TEXT)},
}
VALUES: dict[str, Any] = {
    "fields": "full", "first": 1, "after": "x", "last": 1, "before": "x", "where": {"name": "a"}, "aggregate": "count",
    "dry_run": True, "if_match": '"v"', "confirmation_token": "conf_" + "a" * 40, "as": "json", "all": True,
    "query": "operations", "search": "things", "steps": [], "return": "all", "wait": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tabulate(tmp_path_factory.mktemp("document"), api(OPERATIONS)).write(tmp_path_factory.mktemp("package"))


OWN = {"run_steps", "confirm_operation"}
"""Operations of the adapter's own that take a token."""


def described(introspection: Introspection) -> tuple[dict[str, set[str]], dict[str, dict[str, Any]]]:
    """Return the parameters that each operation shows, and those of its example that it needs."""
    shown, needed = dict[str, set[str]](), dict[str, dict[str, Any]]()
    for entry in introspection.answer({"query": "operations", "all": True}, None)["data"]["operations"]:
        name = entry["name"]
        details = introspection.answer({"query": "operations", "name": name}, None)["data"]["operation"]
        required = {parameter["name"] for parameter in details["parameters"] if parameter["required"]}
        shown[name] = {parameter["name"] for parameter in details["parameters"]}
        example = details["examples"][0]["request"]["params"]
        needed[name] = {key: value for key, value in example.items() if key in required or key not in VALUES}
    return shown, needed


def refused(running: Running, operations: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    """Return the parameters of `VALUES` that each operation does not know, each given alone with what it needs."""

    async def run() -> dict[str, set[str]]:
        unknown: dict[str, set[str]] = {name: set() for name in operations}
        for name, needed in operations.items():
            for key in VALUES.keys() - needed:
                params = {**needed, key: VALUES[key]}
                answer = await running.parts.dispatcher.handle(None, {"operation": name, "params": params})
                error = answer.get("error", {})
                if error.get("code") == "VALIDATION_UNKNOWN_PARAM" and key in error["message"]:
                    unknown[name].add(key)
        return unknown

    return running.run(run())


RULE = """
[[policy.rules]]
id = "some-things"
operations = ["get_thing"]
when = { id = "8" }
action = "confirm"
"""


@each(
    ("settings", "asking"),
    [
        ({"MCP_AQL_POLICY": "open"}, set()),
        ({"MCP_AQL_POLICY": "standard"}, {"delete_thing", "start_thing"}),
        ({"MCP_AQL_POLICY": "open", "MCP_AQL_CONFIG": RULE}, {"get_thing"}),
    ],
)
def test_what_introspection_does_not_show_is_refused_by_its_name_and_what_it_shows_is_known(
    package: Path, tmp_path: Path, settings: dict[str, str], asking: set[str]
) -> None:
    """R-REQ-3, R-INT-4: `confirmation_token` is taken where a call may have to be confirmed by one."""
    if "MCP_AQL_CONFIG" in settings:
        (tmp_path / "adapter.toml").write_text(settings["MCP_AQL_CONFIG"], encoding="utf-8")
        settings = {**settings, "MCP_AQL_CONFIG": str(tmp_path / "adapter.toml")}
    with serving(lambda _: Answer({"id": "7", "name": "a", "size": 1, "items": [], "total": 0})) as local:
        environ = {"MCP_AQL_BASE_URL": local.url, **settings}
        shown, needed = described(Running(package, environ).parts.dispatcher.introspection)
        unknown = refused(Running(package, environ), needed)
    assert {name: known & VALUES.keys() for name, known in shown.items()} == {
        name: VALUES.keys() - unknown[name] for name in shown
    }
    assert {name for name, known in shown.items() if "confirmation_token" in known} - OWN == asking
