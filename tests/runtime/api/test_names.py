"""Agent names and wire names, both ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aqlgen.runtime.schema.field_names import Names, Way
from aqlgen.runtime.table import Table
from tests.documents import list_of, object_of

from .hand_made import STRING, make_package, operation


def names_of(folder: Path, types: dict[str, Any]) -> Names:
    return Names(make_package(folder, {"op": operation()}, types).table)


def renamed(wire: str, **schema: Any) -> dict[str, Any]:
    return {**(schema or STRING), "x-name": wire}


PET: dict[str, Any] = {"$ref": "#/types/Pet"}
TYPES: dict[str, Any] = {
    "Pet": object_of(
        pet_id=renamed("petId"),
        name=STRING,
        tags=list_of({"$ref": "#/types/Tag"}),
        by_name={"type": "object", "additionalProperties": {"$ref": "#/types/Tag"}, "x-name": "byName"},
        best_friend={"anyOf": [PET, {"type": "null"}], "x-name": "bestFriend"},
        free={"type": "object"},
    ),
    "Tag": object_of(tag_id=renamed("tagId"), colour=STRING),
    "Plain": object_of(name=STRING, next={"$ref": "#/types/Plain"}),
}
WIRE = {
    "petId": 1,
    "name": "Rex",
    "tags": [{"tagId": 2, "colour": "red"}],
    "byName": {"first_one": {"tagId": 3}, "tagId": {"tagId": 4}},
    "bestFriend": {"petId": 5, "bestFriend": None},
    "free": {"petId": 6, "someKey": 7},
    "undeclaredKey": 8,
}
AGENT = {
    "pet_id": 1,
    "name": "Rex",
    "tags": [{"tag_id": 2, "colour": "red"}],
    "by_name": {"first_one": {"tag_id": 3}, "tagId": {"tag_id": 4}},
    "best_friend": {"pet_id": 5, "best_friend": None},
    "free": {"petId": 6, "someKey": 7},
    "undeclaredKey": 8,
}


def test_declared_fields_are_renamed_everywhere_and_nothing_else_is(tmp_path: Path) -> None:
    """R-SEL-1: nested, in arrays, in maps, in nullable and recursive types; free-form values untouched."""
    names = names_of(tmp_path, TYPES)
    assert names.to_agent(WIRE, PET) == AGENT
    assert names.to_wire(AGENT, PET) == WIRE
    assert names.to_agent([WIRE], list_of(PET)) == [AGENT]


def test_a_type_that_renames_nothing_is_passed_through_uncopied(tmp_path: Path) -> None:
    names = names_of(tmp_path, TYPES)
    value = {"name": "x", "next": {"name": "y"}}
    assert names.renaming({"$ref": "#/types/Plain"}) is None
    assert names.to_agent(value, {"$ref": "#/types/Plain"}) is value


def test_values_that_miss_their_schema_are_passed_on(tmp_path: Path) -> None:
    names = names_of(tmp_path, TYPES)
    for value in (None, 3, "text", [1, None], {"tags": "none", "byName": [1]}):
        names.to_agent(value, PET)
    assert names.to_agent({"tags": "none"}, PET) == {"tags": "none"}


def test_an_undeclared_key_with_an_agents_name_loses_nothing(tmp_path: Path) -> None:
    names = names_of(tmp_path, TYPES)
    assert names.to_agent({"petId": 1, "pet_id": 2}, PET) == {"petId": 1, "pet_id": 2}


def test_names_that_change_places_are_kept_apart(tmp_path: Path) -> None:
    types = {"T": object_of(a=renamed("b"), b=renamed("a"))}
    names = names_of(tmp_path, types)
    assert names.to_agent({"a": 1, "b": 2}, {"$ref": "#/types/T"}) == {"b": 1, "a": 2}
    assert names.to_wire({"b": 1, "a": 2}, {"$ref": "#/types/T"}) == {"a": 1, "b": 2}


def test_parts_of_all_of_are_one_map(tmp_path: Path) -> None:
    types = {
        "Base": object_of(base_id=renamed("baseId")),
        "Both": {"allOf": [{"$ref": "#/types/Base"}, {"properties": {"own_id": renamed("ownId")}}]},
    }
    names = names_of(tmp_path, types)
    assert names.to_agent({"baseId": 1, "ownId": 2}, {"$ref": "#/types/Both"}) == {"base_id": 1, "own_id": 2}


DISAGREEING: dict[str, Any] = {
    "Cat": object_of("kind", kind={"const": "cat"}, size_cm=renamed("size")),
    "Dog": object_of("kind", kind={"const": "dog"}, weight=renamed("size")),
    "Animal": {"oneOf": [{"$ref": "#/types/Cat"}, {"$ref": "#/types/Dog"}]},
    "Told": {
        "oneOf": [{"$ref": "#/types/Fish"}, {"$ref": "#/types/Bird"}],
        "discriminator": {"propertyName": "type", "mapping": {"b": "#/components/schemas/Bird"}},
    },
    "Fish": object_of(type=STRING, depth=renamed("level")),
    "Bird": object_of(type=STRING, height=renamed("level")),
    "Held": {"oneOf": [object_of(it={"$ref": "#/types/Bird"}), object_of(it={"$ref": "#/types/Fish"})]},
}


def test_where_alternatives_disagree_the_one_that_fits_is_taken(tmp_path: Path) -> None:
    names = names_of(tmp_path, DISAGREEING)
    animal, discriminated = {"$ref": "#/types/Animal"}, {"$ref": "#/types/Told"}
    assert names.to_agent({"kind": "dog", "size": 1}, animal) == {"kind": "dog", "weight": 1}
    assert names.to_agent({"kind": "cat", "size": 1}, animal) == {"kind": "cat", "size_cm": 1}
    assert names.to_wire({"kind": "dog", "weight": 1}, animal) == {"kind": "dog", "size": 1}
    assert names.to_wire({"size_cm": 1}, animal) == {"size": 1}
    assert names.to_agent({"type": "b", "level": 2}, discriminated) == {"type": "b", "height": 2}
    assert names.to_agent({"type": "Fish", "level": 2}, discriminated) == {"type": "Fish", "depth": 2}
    assert names.to_wire([{"it": {"depth": 2}}], list_of({"$ref": "#/types/Held"})) == [{"it": {"level": 2}}]


def test_arrays_of_alternatives_that_hold_themselves_end(tmp_path: Path) -> None:
    types = {
        "A": {
            "anyOf": [
                list_of({"$ref": "#/types/A"}),
                list_of({"$ref": "#/types/B"}),
            ]
        },
        "B": object_of(b_id=renamed("bId"), all={"$ref": "#/types/A"}),
        "Loop": {"allOf": [{"$ref": "#/types/Loop"}, {"properties": {"x_y": renamed("xY")}}]},
    }
    names = names_of(tmp_path, types)
    assert names.to_agent([[{"bId": 1, "all": [{"bId": 2}]}]], {"$ref": "#/types/A"}) == [
        [{"b_id": 1, "all": [{"b_id": 2}]}]
    ]
    assert names.to_agent({"xY": 1}, {"$ref": "#/types/Loop"}) == {"x_y": 1}


def test_either_spelling_is_normalised(tmp_path: Path) -> None:
    """R-REQ-2."""
    renaming = names_of(tmp_path, TYPES).renaming(PET)
    assert renaming is not None
    mixed = {"petId": 1, "tags": [{"tag_id": 2}, {"tagId": 3}]}
    assert renaming.convert(mixed, Way.TO_AGENT_FROM_EITHER) == {"pet_id": 1, "tags": [{"tag_id": 2}, {"tag_id": 3}]}


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
FREE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
UNDECLARED = st.dictionaries(st.text(max_size=6).map(lambda text: "zz" + text), FREE, max_size=2)


def tags() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={"tag_id": SCALARS, "colour": SCALARS})


PETS = st.recursive(
    st.fixed_dictionaries({"pet_id": SCALARS}, optional={"name": SCALARS}),
    lambda inner: st.builds(
        lambda known, other: other | known,
        st.fixed_dictionaries(
            {},
            optional={
                "pet_id": SCALARS,
                "tags": st.lists(tags(), max_size=2),
                "by_name": st.dictionaries(st.text(max_size=4), tags(), max_size=2),
                "best_friend": st.none() | inner,
                "free": FREE,
            },
        ),
        UNDECLARED,
    ),
    max_leaves=4,
)


class InMemory(Table):
    types = TYPES  # type: ignore[assignment]


@given(PETS)
def test_what_goes_to_the_wire_comes_back_the_same(value: dict[str, Any]) -> None:
    """R-SEL-1: the mapping loses nothing."""
    names = Names(InMemory(Path()))
    assert names.to_agent(names.to_wire(value, PET), PET) == value
