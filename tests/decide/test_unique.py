"""What holds for the names of any set of operations, however odd."""

from __future__ import annotations

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from operations import decided, names, operation

from aqlgen.decide.naming.spelling import RESERVED, is_valid
from aqlgen.decide.overrides import Override, Overrides
from aqlgen.ir import Operation
from aqlgen.runtime.text import folded
from tests.cases import each
from tests.examples import examples

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
    api = {}
    for _ in range(draw(st.integers(1, 8))):
        path = "/" + "/".join(draw(st.lists(SEGMENTS, max_size=5)))
        drawn_operation = operation(f"{draw(METHODS)} {path}", draw(IDS), summary=draw(st.text(max_size=20)))
        api[drawn_operation.key] = drawn_operation
    return list(api.values())


@given(operations())
@settings(max_examples=examples(400), deadline=None)
def test_names_are_unique_valid_and_not_the_protocols(api: list[Operation]) -> None:
    """R-NAME-3, R-REQ-8"""
    chosen = [decision.name for decision in decided(*api)]
    assert len(set(chosen)) == len(chosen) == len(api)
    assert all(
        is_valid(name) and re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name) and name not in RESERVED for name in chosen
    )


@given(operations(), st.randoms())
@settings(max_examples=examples(150), deadline=None)
def test_the_order_of_operations_changes_nothing(api: list[Operation], chance: random.Random) -> None:
    """R-NAME-3"""
    shuffled = list(api)
    chance.shuffle(shuffled)
    assert {decision.operation.key: decision for decision in decided(*api)} == {
        decision.operation.key: decision for decision in decided(*shuffled)
    }


@given(operations())
@settings(max_examples=examples(150), deadline=None)
def test_an_operation_is_named_as_if_it_were_alone_unless_another_would_be_named_the_same(
    api: list[Operation],
) -> None:
    """R-NAME-3: so what is added or removed renames at most those that would have its own name, or its operationId."""
    alone = {single.key: decided(single)[0].name for single in api}
    for decision in decided(*api):
        name = alone[decision.operation.key]
        theirs = {folded(other.id_as_name) for other in api if other.key != decision.operation.key}
        if list(alone.values()).count(name) == 1 and folded(name) not in theirs:
            assert decision.name == name


@given(operations())
@settings(max_examples=examples(200), deadline=None)
def test_no_name_is_the_operation_id_of_another_operation(api: list[Operation]) -> None:
    """R-NAME-3: who knows the API calls its operations by these."""
    for decision in decided(*api):
        users = [other.key for other in api if folded(other.id_as_name) == folded(decision.name)]
        assert not users or decision.operation.key in users


def test_a_name_that_is_an_operation_id_belongs_to_its_operation() -> None:
    """R-NAME-3: where the rules alone would give it to another, also while its own operation is hidden."""
    collection, records = "DELETE /collections/{name}", "POST /collections/{name}/delete"
    assert names(collection, records)[records] == "delete_collection"
    assert names((collection, "deleteCollection"), records) == {
        collection: "delete_collection",
        records: "delete_collection_by_name",
    }
    api = operation(collection, "delete-collection"), operation(records)
    spotsets, sets = "PUT /spotsets/{id}", "PUT /spots/{id}/sets/{setId}"
    assert names(spotsets, (sets, "updateSpotSet")) == {spotsets: "replace_spotset", sets: "update_spot_set"}
    (decision,) = decided(*api, overrides=Overrides({collection: Override(hidden=True)}))
    assert decision.name == "delete_collection_by_name"


NOUNS = st.sampled_from("pets orders owners visits invoices policies statuses photos".split())
ENDS = st.sampled_from(
    ("GET {}", "POST {}", "GET {}/{{id}}", "PATCH {}/{{id}}", "DELETE {}/{{id}}", "POST {}/{{id}}/cancel")
)


@st.composite
def apis(draw: st.DrawFn) -> list[Operation]:
    """Draw operations on collections and their items, up to two deep, as REST has them."""
    depth = st.lists(NOUNS, min_size=1, max_size=2, unique=True)
    paths = draw(st.lists(depth, min_size=2, max_size=8, unique_by=tuple))
    keys = [draw(ENDS).format("/" + "/{id}/".join(path)) for path in paths]
    return [operation(key) for key in dict.fromkeys(keys)]


@given(apis(), st.data())
@settings(max_examples=examples(200), deadline=None)
def test_adding_and_removing_operations_of_an_api_renames_no_other(api: list[Operation], data: st.DataObject) -> None:
    """R-NAME-3"""
    whole = {decision.operation.key: decision.name for decision in decided(*api)}
    kept = data.draw(st.lists(st.sampled_from(api), unique_by=lambda drawn_operation: drawn_operation.key))
    left = {decision.operation.key: decision.name for decision in decided(*kept)}
    assert whole | left == whole


@given(operations(), st.data())
@settings(max_examples=examples(100), deadline=None)
def test_hiding_an_operation_renames_no_other(api: list[Operation], data: st.DataObject) -> None:
    """R-NAME-3"""
    hidden = {
        drawn_operation.key: Override(hidden=True) for drawn_operation in data.draw(st.lists(st.sampled_from(api)))
    }
    whole = {decision.operation.key: decision.name for decision in decided(*api)}
    left = {decision.operation.key: decision.name for decision in decided(*api, overrides=Overrides(hidden))}
    assert whole | left == whole
    assert len(left) == len(api) - len(hidden)


HOSTILE = (
    "", " ", "\x00\x1b[2Jrm", "\u202egnp.exe", "\u2066\u2069", "a\nb\r\nc", "it's \"quoted\" `and` \\", "{{ 7*7 }}",
    "{% raw %}", "${HOME}", "<script>alert(1)</script>", "__import__('os')", "../../etc/passwd", "x" * 10_000,
    "longWord" * 1_250, "名" * 500, "\ud800", "lambda", "None", "9lives", "\u0301\u0301",
)  # fmt: skip


@each("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_never_breaks_out(text: str) -> None:
    """R-NAME-3"""
    decisions = decided(
        operation("GET /pets", text),
        operation(f"POST /{text.replace('/', '')}", text, summary=text, tags=(text,)),
        operation("DELETE /pets/{id}", f"delete{text}"),
        operation("PUT /{" + text + "}", None, extensions={"x-mcpaql-name": text}),
    )
    assert len({decision.name for decision in decisions}) == 4
    assert all(is_valid(decision.name) and decision.name not in RESERVED for decision in decisions)
    assert all(re.fullmatch(r"[a-z0-9_]*", decision.resource + decision.verb) for decision in decisions)


@given(operations(), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_every_name_given_by_an_override_sticks(api: list[Operation], data: st.DataObject) -> None:
    """R-NAME-3"""
    wanted = {}
    for drawn_operation in data.draw(
        st.lists(st.sampled_from(api), unique_by=lambda drawn_operation: drawn_operation.key)
    ):
        name = data.draw(st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True).filter(is_valid))
        if name not in RESERVED and name not in wanted.values():
            wanted[drawn_operation.key] = name
    overrides = Overrides({key: Override(name=name) for key, name in wanted.items()})
    chosen = {decision.operation.key: decision.name for decision in decided(*api, overrides=overrides)}
    assert chosen | wanted == chosen
    assert len(set(chosen.values())) == len(api)


def test_an_operation_keeps_its_name_when_an_unrelated_one_is_added_or_removed() -> None:
    """R-NAME-3"""
    few = names("GET /pets", "GET /pets/{id}", "POST /pets")
    more = names("GET /pets", "GET /owners/{id}/pets", "GET /pets/{id}", "POST /pets", "DELETE /owners/{id}")
    assert few | more == more


def test_where_two_names_meet_the_one_that_leaves_nothing_out_keeps_it() -> None:
    """R-NAME-3"""
    chosen = names(("GET /pods", "listPodForAllNamespaces"), ("GET /namespaces/{ns}/pods", "listNamespacedPod"))
    assert list(chosen.values()) == ["list_pods", "list_namespace_pods"]


def test_versions_of_one_operation_are_told_apart_by_their_version_not_by_a_number() -> None:
    """R-NAME-3"""
    assert list(names("GET /v2/pets", "GET /v1/pets").values()) == ["list_pets_v2", "list_pets"]
    assert list(names("GET /v2/pets/{id}", "GET /v1/pets/{id}").values()) == ["get_pet_v2", "get_pet"]


def test_a_very_long_path_gives_a_name_of_at_most_64_characters() -> None:
    """R-NAME-3"""
    (name,) = names(
        "GET /" + "/".join(f"administrative-{letter * 9}-resources/{{id}}" for letter in "abcdefgh")
    ).values()
    assert len(name) <= 64
