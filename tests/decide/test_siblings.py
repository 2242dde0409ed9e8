from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operations import decided, operation

from aqlgen.decide.decision import Decision
from tests.cases import each
from tests.examples import examples
from tests.generator.commands import api, tabulate


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
