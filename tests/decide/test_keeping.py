"""Names that agents know stay, and none of them comes to mean another operation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st
from operations import document, operation
from test_unique import apis, operations

from aqlgen.decide.decision import Decision, Evidence
from aqlgen.decide.naming.uniqueness import unused
from aqlgen.decide.overrides import Override, Overrides, parse
from aqlgen.decide.stage import Known, decide
from aqlgen.ir import Operation
from aqlgen.project.overriding import aliases
from tests.cases import each
from tests.examples import examples


def keeping(kept: Mapping[str, str], *api: Operation | str, overrides: str = "") -> dict[str, Decision]:
    listed = [operation(key) if isinstance(key, str) else key for key in api]
    return {
        decision.operation.key: decision for decision in decide(document(*listed), parse(overrides), known=Known(kept))
    }


def names(kept: Mapping[str, str], *api: Operation | str, overrides: str = "") -> dict[str, str]:
    return {key: decision.name for key, decision in keeping(kept, *api, overrides=overrides).items()}


def test_a_name_stays_whatever_would_be_chosen_today() -> None:
    """R-NAME-3"""
    (decision,) = keeping({"GET /pets": "fetch_pets"}, "GET /pets").values()
    assert decision.name == "fetch_pets"
    assert (decision.name_reason.rule, decision.name_reason.note) == ("kept", "it would be list_pets today")
    assert decision.name_reason.evidence is Evidence.RULE
    assert (decision.verb, decision.resource, decision.pinned) == ("fetch", "pets", True)


def test_a_name_that_would_be_chosen_today_is_not_said_to_be_kept() -> None:
    (decision,) = keeping({"GET /pets": "list_pets"}, "GET /pets").values()
    assert decision == keeping({}, "GET /pets")["GET /pets"]


def test_an_operation_with_a_better_claim_does_not_take_a_name_that_is_kept() -> None:
    """R-NAME-3"""
    alone = names({}, "GET /namespaces/{ns}/pods")
    kept = {"GET /namespaces/{ns}/pods": "list_pods"}
    assert alone != kept
    decisions = keeping(kept, "GET /pods", "GET /namespaces/{ns}/pods")
    assert decisions["GET /namespaces/{ns}/pods"].name == "list_pods"
    assert decisions["GET /pods"].name not in ("list_pods", "")


def test_a_new_operation_does_not_take_the_name_of_one_that_is_gone() -> None:
    """R-NAME-3: an agent that knows the name would call something else."""
    assert names({}, "GET /v1/animals") == {"GET /v1/animals": "list_animals"}
    chosen = names({"GET /zoo/animals": "list_animals"}, "GET /v1/animals")
    assert chosen["GET /v1/animals"] != "list_animals"


@each(
    ("before", "now"),
    [
        ("GET /pets/{petId}", "GET /pets/{pet_id}"),
        ("GET /v1/pets/{petId}", "GET /v2/pets/{petId}"),
        ("GET /pets/{petId}", "GET /api/v1/pets/{id}"),
        ("GET /2024-01-01/pets/{id}", "GET /2025-06-30/pets/{id}"),
        ("GET /pets/{id}", "GET /pets/{id}/"),
        ("GET /pet/{id}", "GET /pets/{petId}"),
        ("GET /pet-types/{id}", "GET /petTypes/{id}"),
    ],
)
def test_a_name_follows_an_operation_whose_parameters_or_version_changed(before: str, now: str) -> None:
    """R-NAME-3"""
    assert names({before: "fetch_pet"}, now) == {now: "fetch_pet"}


def test_a_name_follows_an_operation_whose_operation_id_says_that_it_moved() -> None:
    """R-NAME-3"""
    kept, ids = {"GET /users/{id}/mails": "list_mails"}, {"GET /users/{id}/mails": "listMails"}
    moved = (operation("GET /mail-box", "listMails"), operation("POST /mail-box", "sendMail"))
    (decision, _) = decide(document(*moved), Overrides(), known=Known(kept, ids))
    assert decision.name == "list_mails"
    twice = (operation("GET /mail-box", "listMails"), operation("GET /post-box", "listMails"))
    assert "list_mails" not in {
        decision.name for decision in decide(document(*twice), Overrides(), known=Known(kept, ids))
    }
    other = (operation("DELETE /mail-box", "listMails"),)
    assert "list_mails" not in {
        decision.name for decision in decide(document(*other), Overrides(), known=Known(kept, ids))
    }


def test_a_name_follows_an_operation_that_is_called_by_another_method() -> None:
    """R-NAME-3"""
    kept, ids = {"POST /pets/{id}": "refresh_pet"}, {"POST /pets/{id}": "refreshPet"}
    (decision,) = decide(document(operation("PUT /pets/{id}", "refreshPet")), Overrides(), known=Known(kept, ids))
    assert decision.name == "refresh_pet"
    (decision,) = decide(document(operation("PUT /pets/{id}", "replacePet")), Overrides(), known=Known(kept, ids))
    assert decision.name != "refresh_pet"


def test_a_name_does_not_follow_from_many_to_one() -> None:
    chosen = names({"GET /users": "list_users"}, "GET /user")
    assert chosen["GET /user"] != "list_users"


def test_a_name_does_not_follow_to_a_version_that_was_there_beside_the_old_one() -> None:
    kept = {"GET /v1/pets": "list_pets", "GET /v2/pets": "list_pets_v2"}
    assert names(kept, "GET /v2/pets") == {"GET /v2/pets": "list_pets_v2"}


def test_a_name_does_not_follow_where_two_could_be_meant() -> None:
    chosen = names({"GET /v1/pets": "fetch_pets"}, "GET /v2/pets", "GET /v3/pets")
    assert "fetch_pets" not in chosen.values()


def test_a_name_that_the_user_gives_wins_over_one_that_is_kept() -> None:
    decisions = keeping({"GET /pets": "fetch_pets"}, "GET /pets", overrides="GET /pets: {name: my_pets}")
    assert decisions["GET /pets"].name == "my_pets"
    assert not decisions["GET /pets"].pinned


def test_a_kept_name_that_the_user_gives_to_another_operation_moves_on() -> None:
    kept = {"GET /pets": "list_pets", "GET /owners": "list_owners"}
    chosen = names(kept, "GET /pets", "GET /owners", overrides="GET /owners: {name: list_pets}")
    assert chosen["GET /owners"] == "list_pets"
    assert chosen["GET /pets"] not in ("list_pets", "list_owners")


def test_the_name_that_an_operation_had_before_its_user_renamed_it_is_free_for_no_other() -> None:
    kept = {"GET /v1/pets": "list_pets"}
    chosen = names(kept, "GET /v1/pets", "GET /v2/pets", overrides="GET /v1/pets: {name: old_pets}")
    assert "list_pets" not in chosen.values()


def test_an_alias_is_free_for_no_operation_that_has_no_name_yet() -> None:
    chosen = names({}, "GET /pets", "GET /owners", overrides="GET /owners: {aliases: [list_pets]}")
    assert chosen["GET /owners"] == "list_owners"
    assert chosen["GET /pets"] not in ("list_pets", "")


def test_an_old_name_that_is_the_operation_id_of_another_operation_becomes_no_alias() -> None:
    """R-NAME-3"""
    api = operation("DELETE /pets/{id}", "deletePet"), operation("DELETE /owners/{id}")
    decisions = keeping({}, *api, overrides="DELETE /pets/{id}: {name: put_down}").values()
    former = {"DELETE /owners/{id}": "delete_pet"}
    assert aliases(former, {}, decisions, date.max) == {}
    former = {"DELETE /owners/{id}": "drop_owner"}
    assert list(aliases(former, {}, decisions, date.max)) == ["DELETE /owners/{id}"]


@each("name", ["", "List Pets", "introspect", "class", "x" * 65, 'a": {}', "list_owners"])
def test_what_can_be_no_name_is_not_kept(name: str) -> None:
    """R-NAME-3: whoever wrote it into the record."""
    kept = {"GET /pets": name, "GET /owners": "list_owners", "GET /vets": "fetch_vets"}
    chosen = names(kept, "GET /pets", "GET /owners", "GET /vets")
    assert chosen == {"GET /pets": "list_pets", "GET /owners": "list_owners", "GET /vets": "fetch_vets"}


def again(
    api: list[Operation], first: tuple[Decision, ...], overrides: Overrides, before: Mapping[str, str] | None = None
) -> None:
    """Check that neither all the names nor the pinned ones alone change a decision.

    `before` are the names that there were before these: those that stand for nothing any more are recorded.
    """
    retired = unused(before or {}, {}, (decision.name for decision in first))
    all_names = {decision.operation.key: decision.name for decision in first}
    pinned = {decision.operation.key: decision.name for decision in first if decision.pinned}
    for kept in (all_names, pinned):
        assert decide(document(*api), overrides, known=Known(kept, retired=retired)) == first


@given(operations(), st.data())
@settings(max_examples=examples(200), deadline=None)
def test_nothing_changes_when_nothing_changed(api: list[Operation], data: st.DataObject) -> None:
    """R-NAME-3: whatever was hidden."""
    hidden = data.draw(
        st.lists(st.sampled_from(api), unique_by=lambda drawn_operation: drawn_operation.key, max_size=2)
    )
    overrides = Overrides({drawn_operation.key: Override(hidden=True) for drawn_operation in hidden})
    again(api, decide(document(*api), overrides), overrides)


@given(st.one_of(operations(), apis()), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_names_stay_through_any_change_of_the_api(api: list[Operation], data: st.DataObject) -> None:
    """R-NAME-3: those of operations that stay are kept, those of operations that went are taken by none."""
    before = data.draw(
        st.lists(st.sampled_from(api), unique_by=lambda drawn_operation: drawn_operation.key, min_size=1)
    )
    now = data.draw(st.lists(st.sampled_from(api), unique_by=lambda drawn_operation: drawn_operation.key, min_size=1))
    old = {decision.operation.key: decision.name for decision in decide(document(*before), Overrides())}
    if data.draw(st.booleans()):
        keys = data.draw(st.permutations(list(old)))
        old = dict(zip(keys, old.values(), strict=True))  # as different as another release could have named them
    decisions = decide(document(*now), Overrides(), known=Known(old))
    today = {decision.operation.key: decision.name for decision in decisions}
    assert len(set(today.values())) == len(now)
    assert {key: name for key, name in today.items() if key in old} == {
        key: name for key, name in old.items() if key in today
    }
    new = {name for key, name in today.items() if key not in old}
    stayed = {name for key, name in old.items() if key in today}
    assert not new & stayed
    again(now, decisions, Overrides(), old)
