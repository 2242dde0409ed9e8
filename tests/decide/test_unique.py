"""What holds for the names of any set of operations, however odd."""

from __future__ import annotations

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from operations import decided, names, operation

from aqlgen.decide import Override, Overrides
from aqlgen.decide.spelling import RESERVED, is_valid
from aqlgen.ir import Operation

SEGMENTS = st.one_of(
    st.sampled_from(
        "pets users {id} {petId} me v1 api search list items:cancel orders cancel by-name introspect class latest"
        " chat.postMessage {a},{b} pets.json settings user name bulk import {from} providers A.Web".split()
    ),
    st.text(max_size=8).filter(lambda text: "/" not in text),
)
METHODS = st.sampled_from(["get", "put", "post", "patch", "delete", "head", "options"])
IDS = st.one_of(
    st.none(), st.sampled_from("listPets getPet introspect Pets_Get class pets/list-for-x".split()), st.text()
)


@st.composite
def operations(draw: st.DrawFn) -> list[Operation]:
    made = {}
    for _ in range(draw(st.integers(1, 8))):
        path = "/" + "/".join(draw(st.lists(SEGMENTS, max_size=5)))
        one = operation(f"{draw(METHODS)} {path}", draw(IDS), summary=draw(st.text(max_size=20)))
        made[one.key] = one
    return list(made.values())


@given(operations())
@settings(max_examples=400, deadline=None)
def test_names_are_unique_valid_and_not_the_protocols(made: list[Operation]) -> None:
    """R-NAME-3, R-REQ-8"""
    found = [decision.name for decision in decided(*made)]
    assert len(set(found)) == len(found) == len(made)
    assert all(
        is_valid(name) and re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name) and name not in RESERVED for name in found
    )


@given(operations(), st.randoms())
@settings(max_examples=150, deadline=None)
def test_the_order_of_operations_changes_nothing(made: list[Operation], chance: random.Random) -> None:
    """R-NAME-3"""
    shuffled = list(made)
    chance.shuffle(shuffled)
    assert {one.operation.key: one for one in decided(*made)} == {one.operation.key: one for one in decided(*shuffled)}


@given(operations(), st.data())
@settings(max_examples=150, deadline=None)
def test_every_name_given_by_an_override_sticks(made: list[Operation], data: st.DataObject) -> None:
    """R-NAME-3"""
    wanted = {}
    for one in data.draw(st.lists(st.sampled_from(made), unique_by=lambda one: one.key)):
        name = data.draw(st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True).filter(is_valid))
        if name not in RESERVED and name not in wanted.values():
            wanted[one.key] = name
    overrides = Overrides({key: Override(name=name) for key, name in wanted.items()})
    found = {decision.operation.key: decision.name for decision in decided(*made, overrides=overrides)}
    assert found | wanted == found
    assert len(set(found.values())) == len(made)


def test_an_operation_keeps_its_name_when_an_unrelated_one_is_added_or_removed() -> None:
    """R-NAME-3"""
    few = names("GET /pets", "GET /pets/{id}", "POST /pets")
    more = names("GET /pets", "GET /owners/{id}/pets", "GET /pets/{id}", "POST /pets", "DELETE /owners/{id}")
    assert few | more == more


def test_where_two_names_meet_the_one_that_leaves_nothing_out_keeps_it() -> None:
    """R-NAME-3"""
    found = names(("GET /pods", "listPodForAllNamespaces"), ("GET /namespaces/{ns}/pods", "listNamespacedPod"))
    assert list(found.values()) == ["list_pods", "list_namespace_pods"]


def test_versions_of_one_operation_are_told_apart_by_their_version_not_by_a_number() -> None:
    """R-NAME-3"""
    assert set(names("GET /v1/pets", "GET /v2/pets").values()) == {"list_pets_v1", "list_pets_v2"}


def test_a_very_long_path_gives_a_name_of_at_most_64_characters() -> None:
    """R-NAME-3"""
    (name,) = names(
        "GET /" + "/".join(f"administrative-{letter * 9}-resources/{{id}}" for letter in "abcdefgh")
    ).values()
    assert len(name) <= 64
