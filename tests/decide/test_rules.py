"""The tables of rules, whose properties belong to their rows, and siblings that confirm what a rule says."""

from __future__ import annotations

import ast
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operations import answer, decided, operation

import aqlgen.decide
from aqlgen.decide.category import rules
from aqlgen.decide.decision import Decision, Reason
from aqlgen.decide.effects import stage as effects
from aqlgen.decide.naming import candidates, number, verb_rules, wording
from tests.cases import each
from tests.examples import examples
from tests.generator.commands import api, tabulate

TABLES: dict[str, tuple[Any, ...]] = {
    "category": rules.RULES,
    "danger": effects.RULES,
    "verb": verb_rules.VERB_RULES,
    "number": number.NUMBER_RULES,
    "noun": wording.NOUN_RULES,
    "candidate": candidates.CANDIDATES,
}
PLACES = (
    (rules, "RULES"),
    (effects, "RULES"),
    (verb_rules, "VERB_RULES"),
    (number, "NUMBER_RULES"),
    (wording, "NOUN_RULES"),
)
LIST = {"type": "array"}
OPERATIONS = (
    operation("GET /pets"),
    operation("GET /pets/{id}", "getPet"),
    operation("GET /cache", "flushCache"),
    operation("GET /feedback", responses=(answer("200", LIST),)),
    operation("GET /releases/latest", "getRelease"),
    operation("GET /stops-for-route/{routeId}"),
    operation("GET /user/starred"),
    operation("HEAD /pets"),
    operation("PUT /pets/{id}"),
    operation("PUT /things/{id}/lists"),
    operation("GET /things/{id}/lists"),
    operation("PUT /messages/{id}/read"),
    operation("PUT /teams/{id}/members/{user}", responses=(answer("204"),)),
    operation("PATCH /devices/{id}", None, summary="Complete the registration of a device"),
    operation("DELETE /pets"),
    operation("DELETE /users/{id}/reputation"),
    operation("DELETE /jobs/{id}", "cancelJob"),
    operation("POST /pets"),
    operation("POST /pets/{id}"),
    operation("POST /users/{id}/preferences"),
    operation("POST /auth/login"),
    operation("POST /orders/{id}/cancel"),
    operation("POST /databases/{id}/migrate", "databases_update_region"),
    operation("POST /databases/{id}/reset", "resetDatabase"),
    operation("POST /assets/{id}/materialise", "materialiseAsset", summary="Materialise an asset"),
    operation("POST /reports", "searchReports"),
    operation("POST /files/reparse", "reparseFile", summary="Reparse a file"),
    operation("POST /messages", "sendMessage", summary="Creates a message"),
    operation("POST /chat.postMessage"),
    operation("POST /validate/job", "PostJobValidateRequest"),
    operation("POST /payments/reports", extensions={"x-readonly": True}),
    operation("POST /x/things", None, summary="Modifies an assistant"),
    operation("POST /hooks/{id}/pings", "pingHook", summary="Ping a hook"),
    operation("POST /users/submit_delete_job"),
)


def without_rules(decision: Decision) -> Decision:
    def nameless(reason: Reason) -> Reason:
        return replace(reason, rule="")

    return replace(
        decision,
        category_reason=nameless(decision.category_reason),
        name_reason=nameless(decision.name_reason),
        danger_reason=nameless(decision.danger_reason),
        verb_rule="",
        noun_rule="",
    )


def renamed(rule: Any) -> Any:
    name = f"{rule.name}-renamed"
    return rule._replace(name=name) if hasattr(rule, "_replace") else replace(rule, name=name)


@each("table", TABLES)
def test_a_rule_has_a_name_of_its_own(table: str) -> None:
    names = [rule.name for rule in TABLES[table]]
    assert len(set(names)) == len(names)


def test_a_renamed_rule_decides_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    before = decided(*OPERATIONS)
    for module, name in PLACES:
        monkeypatch.setattr(module, name, tuple(map(renamed, getattr(module, name))))
    after = decided(*OPERATIONS)
    assert list(map(without_rules, after)) == list(map(without_rules, before))
    assert all(decision.category_reason.rule.endswith("-renamed") for decision in after)


def test_no_rule_is_named_beside_its_table() -> None:
    names = Counter(rule.name for table in TABLES.values() for rule in table if {"-", " "} & set(rule.name))
    literals = Counter(
        node.value
        for path in Path(aqlgen.decide.__path__[0]).rglob("*.py")
        if "traits" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    )
    assert literals == names


def test_a_decision_tells_which_rules_chose_its_verb_and_its_nouns() -> None:
    """R-NAME-4"""
    chosen = {decision.operation.key: (decision.verb_rule, decision.noun_rule) for decision in decided(*OPERATIONS)}
    assert chosen["GET /pets"] == ("plural-noun", "path")
    assert chosen["POST /orders/{id}/cancel"] == ("path-action", "action and item")
    assert chosen["POST /messages"] == ("described-verb", "path and operationId")
    assert chosen["PUT /messages/{id}/read"] == ("marked-item", "action and item")


def first(*keys: str) -> Decision:
    return decided(*map(operation, keys))[0]


def doubts(decision: Decision) -> list[str]:
    return [concern.text for concern in decision.concerns if concern.subject != "danger"]


@each(
    "keys",
    [
        ("POST /things", "GET /things"),
        ("POST /things/", "GET /things"),
        ("POST /news", "GET /news", "GET /news/{id}"),
        ("PUT /things/{thing}", "GET /things/{id}"),
        ("POST /Things.json", "GET /Things.json"),
    ],
)
def test_what_can_be_read_where_it_is_written_needs_no_look_though_nobody_else_speaks(keys: tuple[str, ...]) -> None:
    """R-NAME-4"""
    assert doubts(first(keys[0]))
    together = first(*keys)
    assert not doubts(together)
    assert together.category_reason.note.endswith("while GET reads the same")


@each(
    "keys",
    [
        ("POST /things", "DELETE /things/{id}"),
        ("POST /news", "GET /news"),
        ("PUT /things/{id}/lists", "GET /things/{id}/lists"),
        ("POST /reports/trigger", "GET /reports/trigger"),
    ],
)
def test_neighbours_that_say_nothing_of_it_change_nothing(keys: tuple[str, ...]) -> None:
    """R-NAME-4"""
    assert doubts(first(*keys))


@pytest.mark.parametrize(("answered", "family"), [("Pairing", "UPDATE"), ("Bus", "EXECUTE")])
def test_a_put_of_what_a_get_of_its_path_answers_is_an_update_under_any_name(
    tmp_path: Path, answered: str, family: str
) -> None:
    put, get = (
        {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}} for name in ("Pairing", answered)
    )
    path = {
        "put": {"operationId": "openPairing", "requestBody": {"required": True, "content": put}, "responses": {}},
        "get": {"operationId": "pairing", "responses": {"200": {"description": "", "content": get}}},
    }
    schemas = {name: {"type": "object", "properties": {name: {"type": "string"}}} for name in ("Pairing", "Bus")}
    table = tabulate(tmp_path, {**api({"/pairing": path}), "components": {"schemas": schemas}}).table
    assert [family for name, family in table.names() if name.startswith("open")] == [family.lower()]


KEYS = [
    f"{method} {path}"
    for path in ("/things", "/things/{id}", "/things/{id}/parts", "/news", "/news/{id}", "/things/{id}/stage")
    for method in ("GET", "POST", "PUT", "DELETE")
]


@settings(max_examples=examples(50))
@given(st.sets(st.sampled_from(KEYS), min_size=1), st.randoms())
def test_neighbours_never_change_a_category(keys: set[str], chance: random.Random) -> None:
    """R-NAME-1"""
    all_categories = {decision.operation.key: decision.category for decision in decided(*map(operation, KEYS))}
    order = sorted(keys)
    chance.shuffle(order)
    assert all(
        decision.category is all_categories[decision.operation.key] for decision in decided(*map(operation, order))
    )


@each(
    ("key", "called", "summary"),
    [
        ("POST /rerank", None, ""),
        ("DELETE /users/{id}/reputation", None, ""),
        ("DELETE /groups/{id}/roles/{role}", "unassign-group-role", "Unassigns a role"),
        ("POST /embeddings", "createEmbeddings", "Submit an embedding request"),
        ("POST /hooks/{id}/pings", "pingHook", "Ping a hook"),
    ],
)
def test_what_errs_more_often_than_others_wants_a_look(key: str, called: str | None, summary: str) -> None:
    """R-NAME-4"""
    assert doubts(decided(operation(key, called, summary=summary))[0])


@each("key", ["POST /files/upload", "POST /users/bulk/delete", "POST /events/tags/create"])
def test_a_plain_verb_at_the_end_needs_no_look(key: str) -> None:
    """R-NAME-4"""
    assert not doubts(first(key))
