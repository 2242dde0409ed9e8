"""Changes of operations: gone, new, renamed, moved, more dangerous, deprecated, with other access."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import aqlgen.compare
from aqlgen.compare import Level, Surface, compare
from aqlgen.compare.rules import RULES
from aqlgen.runtime.table import ADAPTER, Adapter, Parameter, Workflow
from tests.cases import each
from tests.compare.shops import SHOP, Edit, changes, diff, edited, operation, summaries
from tests.generator.commands import run
from tests.runtime.tiny_zoo import ADAPTER as ZOO

ALL = ["archive_pet", "create_pet", "delete_pet", "get_pet", "list_pets", "update_pet"]


def test_a_document_and_itself_differ_in_nothing(tmp_path: Path) -> None:
    done = diff(tmp_path, SHOP, SHOP)
    assert (done.code, done.out) == (
        0,
        f"From {tmp_path}/old.json to {tmp_path}/new.json:\nNothing changed for an agent.\n",
    )


def test_an_operation_that_is_gone_breaks_and_a_new_one_does_not(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        del document["paths"]["/pets/{pet_id}/archive"]
        document["paths"]["/owners"] = {"get": {"operationId": "listOwners", "responses": {"204": {"description": ""}}}}

    assert summaries(changes(tmp_path, edit)) == [
        ("operation-removed", "breaking", "removed", ["archive_pet"]),
        ("operation-added", "compatible", "new operation in read", ["list_owners"]),
    ]


def test_what_is_added_one_way_is_gone_the_other_way(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        del document["paths"]["/pets/{pet_id}/archive"]

    less = edited(edit)
    done = diff(tmp_path, less, SHOP, "--output-format", "json")
    assert done.code == 0
    assert summaries(done.json["changes"]) == [
        ("operation-added", "compatible", "new operation in update", ["archive_pet"])
    ]


def test_a_new_operation_that_destroys_is_for_a_person_to_look_at(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["paths"]["/pets"]["delete"] = {"operationId": "deletePets", "responses": {"204": {"description": ""}}}

    [(rule, level, message, operations)] = summaries(changes(tmp_path, edit))
    assert (rule, level, operations) == ("operation-added-grave", "attention", ["delete_pets"])
    assert message.startswith("new operation in delete, d")


def test_operations_keep_their_names_as_an_update_keeps_them(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        operation(document, "POST /pets/{pet_id}/archive")["operationId"] = "archiveOnePet"

    assert changes(tmp_path, edit) == []


def test_today_s_names_can_be_asked_for_and_then_a_name_may_change(tmp_path: Path) -> None:
    document = edited(lambda shop: operation(shop, "GET /pets/{pet_id}").update(operationId="readOnePet"))
    renamed = diff(tmp_path, SHOP, document, "--rename", "--output-format", "json").json["changes"]
    for change in renamed:
        assert (change["rule"], change["level"]) == ("operation-renamed", "breaking")
        assert change["operations"] == ["get_pet"]


def test_an_operation_with_another_version_in_its_path_is_the_same_one(tmp_path: Path) -> None:
    def versioned(document: dict[str, Any], version: str) -> None:
        document["paths"] = {f"/{version}{path}": item for path, item in document["paths"].items()}
        for item in document["paths"].values():
            for entry in item.values():
                entry.pop("operationId", None) if isinstance(entry, dict) else None

    old = edited(lambda document: versioned(document, "v1"))
    differences = changes(tmp_path, lambda document: versioned(document, "v2") or document, shop=edited())
    assert all(change["rule"] == "address-changed" for change in differences)
    new = edited(lambda document: versioned(document, "v2"))
    done = diff(tmp_path, old, new, "--output-format", "json")
    assert summaries(done.json["changes"]) == [("address-changed", "compatible", "call `v2` now instead of `v1`", ALL)]


def test_a_renamed_placeholder_is_felt_as_the_parameter_that_it_is(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        item = document["paths"].pop("/pets/{pet_id}/archive")
        item["parameters"] = [{**item["parameters"][0], "name": "animal"}]
        document["paths"]["/pets/{animal}/archive"] = item

    differences = changes(tmp_path, edit)
    assert "operation-removed" not in [change["rule"] for change in differences]
    assert differences[0]["level"] == "breaking"
    assert differences[0]["operations"] == ["archive_pet"]


def test_a_name_that_calls_something_else_now_comes_first(tmp_path: Path) -> None:
    keys, names = ("GET /pets/{pet_id}", "PATCH /pets/{pet_id}"), ("one", "another")
    folders = []
    for order in (1, -1):
        text = "".join(f"{key}:\n  name: {name}\n" for key, name in zip(keys, names[::order], strict=True))
        folders.append(_generated(tmp_path, f"side{order}", text))
    done = run("diff", *folders, "--output-format", "json")
    assert done.code == 1
    assert [change["rule"] for change in done.json["changes"]] == ["name-reused"] * 2 + ["operation-renamed"] * 2


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        (
            "danger: dangerous",
            ("confirmation-asked", "attention", "asks for a confirmation: dangerous now, not reversible"),
        ),
        ("danger: forbidden", ("operation-forbidden", "breaking", "forbidden now, and refused")),
        ("danger: safe", ("danger-lowered", "compatible", "safe now, not reversible")),
        ("category: UPDATE", ("category-changed", "breaking", "called by the tool for update now, not for create")),
        ("description: Bring a pet", ("text-added", "texts", "the description of the operation is new")),
    ],
)
def test_a_decision_that_was_overruled_is_felt(tmp_path: Path, override: str, expected: tuple[str, str, str]) -> None:
    differences = _overruled(tmp_path, f"POST /pets:\n  {override}\n")
    assert expected in [(change["rule"], change["level"], change["message"]) for change in differences]


def test_an_old_name_that_still_answers_does_not_break_until_it_is_gone(tmp_path: Path) -> None:
    named = "GET /pets/{pet_id}:\n  name: fetch_pet\n"
    kept = _generated(tmp_path, "kept", f"{named}  aliases: [{{name: get_pet, until: 2100-01-01}}]\n")
    sides = _generated(tmp_path, "before", ""), kept, _generated(tmp_path, "dropped", named)
    steps = [run("diff", *both, "--output-format", "json").json["changes"] for both in (sides[:2], sides[1:])]
    assert [summaries(step) for step in steps] == [
        [
            (
                "operation-alias",
                "attention",
                "renamed, now `fetch_pet`; the old name answers until `2100-01-01`",
                ["get_pet"],
            )
        ],
        [("alias-removed", "breaking", "no longer answers to `get_pet`", ["fetch_pet"])],
    ]


def test_fields_that_move_into_one_parameter_are_reported_as_that(tmp_path: Path) -> None:
    differences = _overruled(tmp_path, "POST /pets:\n  category: UPDATE\n  name: create_pet\n")
    assert [(change["rule"], change["message"]) for change in differences] == [
        ("category-changed", "called by the tool for update now, not for create"),
        ("body-reshaped", "takes the fields of its body within `input` now"),
    ]


def test_a_higher_danger_is_for_a_person_to_look_at_also_where_calls_were_asked_about_before(tmp_path: Path) -> None:
    [change] = _overruled(tmp_path, "POST /pets/{pet_id}/archive:\n  danger: destructive\n")
    assert (change["rule"], change["level"]) == ("danger-raised", "attention")
    assert change["message"].startswith("asks for a confirmation each time, not only at first: destructive now, not")


def test_no_longer_asking_for_a_confirmation_is_for_a_person_to_look_at(tmp_path: Path) -> None:
    [change] = _overruled(tmp_path, "DELETE /pets/{pet_id}:\n  danger: reversible\n")
    assert (change["rule"], change["level"]) == ("confirmation-dropped", "attention")


def test_a_question_at_the_first_use_that_goes_is_for_a_person_to_look_at(tmp_path: Path) -> None:
    """R-EFF-2"""
    [change] = _overruled(tmp_path, "POST /pets/{pet_id}/archive:\n  danger: reversible\n")
    assert (change["rule"], change["level"]) == ("confirmation-dropped", "attention")
    assert change["message"] == "no longer asks for a confirmation: reversible, at its first call in a session"


def _overruled(tmp_path: Path, overrides: str) -> list[dict[str, Any]]:
    folders = [_generated(tmp_path, "old", ""), _generated(tmp_path, "new", overrides)]
    return run("diff", *folders, "--output-format", "json").json["changes"]


def _generated(tmp_path: Path, name: str, overrides: str) -> Path:
    document, file = tmp_path / "shop.json", tmp_path / "overrides.yaml"
    document.write_text(json.dumps(SHOP), encoding="utf-8")
    file.write_text(overrides, encoding="utf-8")
    assert run("from-openapi", document, "-o", tmp_path / name, "--overrides", file, "-q").code == 0
    return tmp_path / name


def test_a_deprecated_operation_says_what_to_use_and_until_when(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        operation(document, "POST /pets/{pet_id}/archive").update({"deprecated": True, "x-sunset": "2030-01-01"})

    assert summaries(changes(tmp_path, edit)) == [
        ("operation-deprecated", "attention", "deprecated, to be removed on `2030-01-01`", ["archive_pet"])
    ]


def test_credentials_scopes_and_servers_are_reported_once(tmp_path: Path) -> None:
    """R-TRUST-2"""

    def edit(document: dict[str, Any]) -> None:
        document["servers"] = [{"url": "https://other.example"}]
        document["security"] = [{"key": []}]
        document["components"]["securitySchemes"] = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}

    assert summaries(changes(tmp_path, edit)) == [
        (
            "server-changed",
            "breaking",
            "calls and credentials would go to `https://other.example` now, not to `https://shop.example`",
            [],
        ),
        ("credentials-needed", "breaking", "need `key` now", ALL),
        ("credentials-changed", "attention", "the credential `key` is new: SHOP_KEY", []),
    ]


def secured(schemes: dict[str, Any], security: list[Any]) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        document["security"] = security
        document["components"]["securitySchemes"] = schemes

    return edit


KEY: dict[str, Any] = {"type": "apiKey", "in": "header", "name": "X-Key"}
FLOW = {"tokenUrl": "https://shop.example/token", "scopes": {"r": "", "w": ""}}
OAUTH = {"type": "oauth2", "flows": {"clientCredentials": FLOW}}


@each(
    ("before", "after", "breaking"),
    [
        ([], [{"key": []}], "need `key` now"),
        ([{}, {"key": []}], [{"key": []}], "need `key` now"),
        ([{"key": []}, {"oauth": []}], [{"oauth": []}], "need `oauth` now"),
        ([{"key": []}], [{"key": [], "oauth": []}], "need `key and oauth` now"),
        ([{"oauth": ["r"]}], [{"oauth": ["r", "w"]}], "need the scopes `w` now"),
        ([{"key": [], "oauth": []}], [{"key": []}], ""),
        ([{"key": []}], [{"key": []}, {"oauth": []}], ""),
        ([{"key": []}], [], ""),
        ([{"oauth": ["r", "w"]}], [{"oauth": ["r"]}], ""),
        ([{"oauth": ["r"]}], [{}, {"oauth": ["r", "w"]}], ""),
    ],
)
def test_what_a_call_needs_more_than_before_breaks_and_what_it_needs_less_does_not(
    before: list[Any], after: list[Any], breaking: str, tmp_path: Path
) -> None:
    schemes = {"key": KEY, "oauth": OAUTH}
    old, new = (
        secured({name: schemes[name] for needed in security for name in needed}, security)
        for security in (before, after)
    )
    differences = changes(tmp_path, new, shop=edited(old))
    broken = [change for change in summaries(differences) if change[1] == "breaking" and change[3]]
    assert [(change[2], change[3]) for change in broken] == ([(breaking, ALL)] if breaking else [])


@each(
    ("scheme", "breaking"),
    [
        ({"key": {**KEY, "name": "X-Other"}}, ["the credential `key` is of another kind: SHOP_KEY"]),
        ({"key": {"type": "http", "scheme": "bearer"}}, ["the credential `key` is of another kind: SHOP_KEY"]),
        ({"Key": KEY}, []),
        ({"token": KEY}, ["need `token` now"]),
        ({"key": {**KEY, "description": "Ask for one"}}, []),
    ],
)
def test_a_credential_that_changed_breaks_the_calls_that_need_it(
    scheme: dict[str, Any], breaking: list[str], tmp_path: Path
) -> None:
    old, new = (secured(schemes, [{name: []} for name in schemes]) for schemes in ({"key": KEY}, scheme))
    differences = changes(tmp_path, new, shop=edited(old))
    assert [change[2] for change in summaries(differences) if change[1] == "breaking"] == breaking


@each(
    ("before", "after", "rule"),
    [
        ("https://shop.example/v1", "https://shop.example/v2", "server-changed"),
        ("/v1", "/v2", "server-changed"),
        ("https://shop.example/v1", "https://shop.example/v1/", ""),
    ],
)
def test_another_base_path_breaks(before: str, after: str, rule: str, tmp_path: Path) -> None:
    def served(url: str) -> Edit:
        return lambda document: document.update(servers=[{"url": url}])

    differences = changes(tmp_path, served(after), shop=edited(served(before)))
    assert [change[0] for change in summaries(differences) if change[1] == "breaking"] == ([rule] if rule else [])


def test_operations_that_need_no_credentials_any_more_are_reported(tmp_path: Path) -> None:
    def closed(document: dict[str, Any]) -> None:
        document["security"] = [{"key": []}]
        document["components"]["securitySchemes"] = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}

    differences = changes(tmp_path, lambda document: document.update(security=[]), shop=edited(closed))
    assert ("credentials-unneeded", "compatible", "need no credentials any more", ALL) in summaries(differences)
    assert {change["level"] for change in differences} <= {"compatible", "attention"}


def test_an_operation_that_is_called_by_another_method_keeps_its_name(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        item = document["paths"]["/pets/{pet_id}/archive"]
        item["put"] = item.pop("post")

    rules = {summary[0] for summary in summaries(changes(tmp_path, edit))}
    assert "address-changed" in rules
    assert not {"operation-renamed", "operation-removed", "operation-added"} & rules


def test_paging_that_the_adapter_takes_over_changes_what_is_answered(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        operation(document, "GET /pets")["parameters"] += [
            {"name": "page", "in": "query", "schema": {"type": "integer"}},
            {"name": "per_page", "in": "query", "schema": {"type": "integer"}},
        ]

    assert summaries(changes(tmp_path, edit)) == [
        ("paging-changed", "breaking", "now answers page by page: items and pageInfo", ["list_pets"])
    ]


def test_pages_of_something_else_are_reported_as_that(tmp_path: Path) -> None:
    def edit(document: dict[str, Any], lists: tuple[str, ...]) -> None:
        listing = operation(document, "GET /pets")
        listing["parameters"] += [
            {"name": "page", "in": "query", "schema": {"type": "integer"}},
            {"name": "per_page", "in": "query", "schema": {"type": "integer"}},
        ]
        items = {"pets": "Pet", "owners": "Owner"}
        fields = {name: {"type": "array", "items": {"$ref": f"#/components/schemas/{items[name]}"}} for name in lists}
        content = listing["responses"]["200"]["content"]["application/json"]
        content["schema"] = {"type": "object", "properties": fields}

    old, new = (edited(lambda document, name=name: edit(document, (name,))) for name in ("pets", "owners"))
    done = diff(tmp_path, old, new, "--output-format", "json")
    assert summaries(done.json["changes"]) == [
        ("paging-changed", "breaking", "answers pages of `owners` now, not of `pets`", ["list_pets"])
    ]


MODULES = [
    ast.parse(path.read_text(encoding="utf-8"))
    for path in Path(aqlgen.compare.__file__).parent.glob("*.py")
    if path.name != "rules.py"
]


def used() -> set[str]:
    """Return the texts that are the first argument of `Difference` or `add`, also one of two."""
    rules: set[str] = set()
    for node in (node for tree in MODULES for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("Difference", "add"):
            choices = [node.args[0]]
            if isinstance(choices[0], ast.IfExp):
                choices = [choices[0].body, choices[0].orelse]
            rules |= {choice.value for choice in choices if isinstance(choice, ast.Constant)}
    return rules


def test_every_rule_that_is_used_is_in_the_table() -> None:
    assert used() - RULES.keys() == set()


def test_every_rule_of_the_table_can_be_used() -> None:
    texts = {
        node.value
        for tree in MODULES
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert RULES.keys() - texts == set()


def test_every_rule_has_a_title_and_words() -> None:
    for name, rule in RULES.items():
        assert rule.title, name
        assert rule.wording or rule.on_input or rule.on_output, name


NUMBER = Parameter(name="number", location=ADAPTER, wire="number", required=True, schema={"type": "integer"})
OURS = Workflow(
    name="ours",
    workflow_id="ours",
    family="read",
    summary="Look",
    description="Look",
    danger="safe",
    danger_reason="get_animal is safe",
    inputs={"number": NUMBER},
    steps=[{"operation": "get_animal", "params": {"animal_id": {"$ref": "inputs.number"}}}],
    outputs={"name": {"$ref": "1.name"}},
)


def surface(*workflows: Workflow) -> Surface:
    return Surface({}, {}, Adapter.of(ZOO), {item.name: item for item in workflows})


def workflow_changes(old: Surface, new: Surface) -> Mapping[str, Level]:
    return {change.rule: change.level for change in compare(old, new).changes}


@each(
    ("change", "rules"),
    [
        ({}, {}),
        ({"inputs": {}}, {"workflow-changed": Level.BREAKING}),
        ({"inputs": {"number": replace(NUMBER, schema={})}}, {"workflow-changed": Level.BREAKING}),
        ({"outputs": {}, "steps": []}, {"workflow-changed": Level.BREAKING}),
        ({"steps": []}, {"workflow-steps": Level.ATTENTION}),
        ({"summary": "See"}, {"text-changed": Level.TEXTS}),
        ({"family": "update"}, {"category-changed": Level.BREAKING}),
    ],
)
def test_a_change_of_a_workflow_is_told(change: dict[str, Any], rules: dict[str, Level]) -> None:
    """R-STEP-3"""
    assert workflow_changes(surface(OURS), surface(replace(OURS, **change))) == rules


def test_a_workflow_that_comes_or_goes_is_told() -> None:
    grave = replace(OURS, danger="destructive", family="delete")
    assert workflow_changes(surface(), surface(OURS)) == {"operation-added": Level.COMPATIBLE}
    assert workflow_changes(surface(), surface(grave)) == {"operation-added-grave": Level.ATTENTION}
    assert workflow_changes(surface(OURS), surface()) == {"operation-removed": Level.BREAKING}
