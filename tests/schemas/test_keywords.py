"""The translation of single keywords, and the intended leniencies."""

from __future__ import annotations

import json
import time
from typing import Any

from aqlgen.schemas.types import MAX_INLINE_VALUES
from tests.cases import each
from tests.documents import INTEGER, TEXT, list_of, object_of, ref
from tests.schemas.adapter import adapted


def refers(name: str) -> dict[str, str]:
    return ref(name)


@each(
    ("schema", "fits", "misfits"),
    [
        ({"type": ["string", "null"]}, [None, "a"], [1]),
        ({"const": None}, [None], ["a"]),
        ({"oneOf": [{"type": "null"}, list_of({"type": ["number", "null"]})]}, [None, [1, None]], ["a"]),
        ({"type": "array", "prefixItems": [TEXT], "items": False}, [["a"], []], [["a", 1], [1]]),
        ({"type": "array", "contains": {"const": 1}, "maxContains": 1}, [[1, 2], [2]], ["a"]),
        ({"type": "object", "propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
        ({"type": "object", "not": {"required": ["a"]}}, [{}, {"a": 1}], [1]),
        (
            {
                "type": "object",
                "properties": {"petKind": TEXT},
                "if": {"properties": {"petKind": {"const": "cat"}}},
                "then": {"required": ["huntSkill"], "properties": {"huntSkill": TEXT}},
                "unevaluatedProperties": False,
            },
            [{"petKind": "cat"}, {"petKind": "cat", "huntSkill": "lazy"}],
            [{"petKind": 1}],
        ),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {"a": 1}], [1]),
        (list_of([TEXT, INTEGER]), [["a", 1], ["a", 1, None]], [[1]]),
        ({"type": "array", "items": [], "additionalItems": INTEGER}, [[], ["a", 1]], [["a", "b"]]),
        ({"type": "object", "patternProperties": {"^x-": TEXT}}, [{"x-a": "b"}], [{"x-a": 1}]),
        (False, [], [1, None, {}]),
        (True, [1, None], []),
        ({"type": "array", "enum": ["a", "b"], "items": TEXT}, [["a"]], [["c"]]),
        ({"type": "string", "enum": [1.5, 2]}, ["1.5", "2"], ["3"]),
        ({"type": "integer", "enum": ["0", "10"]}, ["0"], [0, 1]),
        ({"type": "integer", "enum": [1, "two"]}, [1], ["two", 2]),
        ({"type": "integer", "enum": ["low", "high"]}, ["low"], [1]),
        ({"type": ["int", "string"]}, ["a"], [1]),
        ({"type": "string", "enum": [{"a": 1}, ["b"], "c", True, 5]}, ["c", "true", "5"], ["d", {"a": 1}]),
    ],
)
def test_keywords_keep_their_meaning(schema: Any, fits: list[Any], misfits: list[Any]) -> None:
    ours = adapted(schema)
    assert [value for value in fits if not ours.admits(value)] == []
    assert [value for value in misfits if ours.admits(value)] == []


def test_siblings_of_a_reference_count_in_3_1_and_not_in_3_0() -> None:
    components = {"Name": TEXT}
    schema = {**refers("Name"), "maxLength": 2}
    assert not adapted(schema, components).admits("abc")
    assert adapted(schema, components, openapi="3.0").admits("abc")
    assert adapted({**refers("Name"), "nullable": True}, components, openapi="3.0").admits(None)
    part = {"type": "string", "nullable": True}
    assert adapted({"allOf": [refers("Name"), part]}, components, openapi="3.0").admits(None)


def test_a_closed_branch_does_not_close_the_whole() -> None:
    closed = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}
    ours = adapted({"allOf": [refers("Closed"), {"properties": {"b": INTEGER}}]}, {"Closed": closed})
    assert ours.admits({"a": "x", "b": 1})
    assert not ours.admits({"a": "x", "b": "y"})


def test_unevaluated_properties_see_what_the_branches_declare() -> None:
    schema = {"allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": INTEGER}}], "unevaluatedProperties": False}
    assert adapted(schema).admits({"a": "x", "b": 1})
    assert not adapted(schema).admits({"c": 1})


def test_the_later_of_two_contradictory_branches_wins() -> None:
    base = object_of(kind={"type": "string", "enum": ["a", "b"]})
    ours = adapted({"allOf": [refers("Base"), {"properties": {"kind": {"enum": ["c"]}}}]}, {"Base": base})
    assert ours.admits({"kind": "c"})
    assert not ours.admits({"kind": "a"})


def test_bounds_of_branches_are_intersected() -> None:
    schema = {"allOf": [{"type": "number", "minimum": 1}, {"type": "integer", "minimum": 3}, {"maximum": 9}]}
    assert adapted(schema).schema == {"type": "integer", "minimum": 3, "maximum": 9}


def test_read_only_properties_are_hidden_through_a_reference_too() -> None:
    schema = object_of("id", "name", id=refers("Id"), name=TEXT)
    ours = adapted(schema, {"Id": {"type": "string", "readOnly": True}}, request=True)
    assert ours.types["Thing"]["properties"].keys() == {"name"}
    assert ours.types["Thing"]["x-read-only"] == ["id"]


def test_a_long_enumeration_is_a_type_of_its_own_and_holds_every_value() -> None:
    values = [f"value-{index}" for index in range(5000)]
    ours = adapted({"type": "string", "enum": values})
    assert ours.schema == {"$ref": "#/types/Thing"}
    assert ours.types["Thing"]["enum"] == values
    assert adapted({"type": "string", "enum": values[:MAX_INLINE_VALUES]}).types == {}


@each(
    ("schema", "code", "pointer"),
    [
        ({"type": "strng"}, "bad-schema", "/type"),
        ({"type": "integer", "default": "ten"}, "bad-default", "/default"),
        ({"type": "string", "pattern": "([a-z"}, "bad-pattern", "/pattern"),
        ({"type": "string", "enum": []}, "bad-schema", "/enum"),
        ({"type": "object", "required": True}, "bad-schema", "/required"),
        ({"type": "integer", "minimum": "one"}, "bad-schema", "/minimum"),
        ({"allOf": [1]}, "bad-schema", "/allOf"),
        ({"properties": {"a": []}}, "bad-schema", "/properties/a"),
        ({"patternProperties": {"(": {}}}, "bad-pattern", "/patternProperties/("),
    ],
)
def test_an_unusable_keyword_is_reported_with_its_place_and_rejects_nothing(
    schema: Any, code: str, pointer: str
) -> None:
    ours = adapted(schema)
    (finding,) = ours.findings
    assert (finding.code, finding.pointer) == (code, f"/x-schema{pointer}")
    assert ours.admits({"a": 1}) or ours.admits("a") or ours.admits(1)


@each(
    ("schema", "meant"),
    [
        ({"type": "integer", "default": "10"}, 10),
        ({"type": "boolean", "default": "false"}, False),
        ({"type": "string", "default": 79}, "79"),
        ({"type": "string", "default": True}, "true"),
        ({"type": "object", "default": "{}"}, {}),
        ({"anyOf": [INTEGER, {"enum": ["auto"]}], "default": "1"}, 1),
    ],
)
def test_a_default_of_another_type_is_converted_to_what_it_spells(schema: Any, meant: Any) -> None:
    ours = adapted(schema)
    assert ours.schema["default"] == meant
    (finding,) = ours.findings
    assert finding.message.endswith(f"taken as {json.dumps(meant)}")


def test_a_default_of_null_that_does_not_fit_means_no_default() -> None:
    ours = adapted({"type": "string", "default": None})
    assert ours.schema == TEXT
    assert ours.findings == []
    assert adapted({"type": ["string", "null"], "default": None}).schema["default"] is None


@each("pattern", ["a|" * 3000 + "b", "(?:a{1000}){1000}", r"(?<number>\d)(\g<number>"])
def test_an_unusable_pattern_is_reported(pattern: str) -> None:
    (finding,) = adapted({"type": "string", "pattern": pattern}).findings
    assert "is no regular expression of ECMA 262, or too large" in finding.message


def test_a_dropped_pattern_of_keys_opens_the_object() -> None:
    ours = adapted({"type": "object", "patternProperties": {"(": {}}, "additionalProperties": False})
    assert ours.admits({"anything": 1})


def test_recursive_schemas_of_every_kind_end() -> None:
    components: dict[str, Any] = {
        "Array": {"type": "array", "prefixItems": [refers("Array"), refers("Array")]},
        "Loop": {"allOf": [refers("Loop"), {"properties": {"a": TEXT}}]},
        "Either": {"anyOf": [refers("Either"), TEXT]},
        "Left": {"allOf": [refers("Right")], "properties": {"next": {"properties": {"x": refers("Left")}}}},
        "Right": {"properties": {"next": {"properties": {"x": refers("Right"), "y": refers("Left")}}}},
        "Test": {"not": {"properties": {"a": refers("Test"), "b": refers("Test")}}},
    }
    for level in range(30):  # each twice in the one before: a billion when written out
        components[f"Level{level}"] = {"type": "array", "prefixItems": [refers(f"Level{level + 1}")] * 2}
    components["Level30"] = TEXT
    begin = time.perf_counter()
    ours = adapted({"properties": {name: refers(name) for name in components}}, components)
    assert time.perf_counter() - begin < 5
    assert len(str(ours.types)) < 1_000_000
    assert ours.admits({"Array": [[], [[]]], "Loop": {"a": "x"}, "Left": {"next": {"x": {}}}})
    assert not ours.admits({"Loop": {"a": 1}})


def test_preserved_names_are_those_of_the_api_everywhere() -> None:
    schema = object_of("petId", petId={})
    assert adapted(schema, preserve=True).types["Thing"] == schema


def test_a_required_property_that_a_branch_redeclares_is_sent_although_another_branch_has_it_read_only() -> None:
    base = object_of(id={"type": "string", "readOnly": True}, kind={"readOnly": True})
    redeclaring = object_of("kind", kind={"enum": ["tag"]}, id={"minLength": 1})
    ours = adapted({"allOf": [base, redeclaring]}, request=True)
    written = ours.types["Thing"]
    assert written["properties"].keys() == {"kind"}
    assert written["required"] == ["kind"]
    assert written["x-read-only"] == ["id"]


def test_an_object_of_read_only_fields_is_read_only_unless_it_must_have_one_or_may_have_others() -> None:
    audit = object_of(at={"type": "string", "readOnly": True}, again=refers("Made"))
    shapes = {
        "made": refers("Made"),
        "other": {**audit, "required": ["at"]},
        "more": {**audit, "additionalProperties": {}},
    }
    ours = adapted({"properties": {"name": {}, **shapes}}, {"Made": audit}, request=True)
    assert ours.types["Thing"]["properties"].keys() == {"name", "made", "other", "more"}, "it may hold itself"
    audit["properties"].pop("again")
    ours = adapted({"properties": {"name": {}, **shapes}}, {"Made": audit}, request=True)
    assert ours.types["Thing"]["properties"].keys() == {"name", "other", "more"}
    assert ours.types["Thing"]["x-read-only"] == ["made"]


def test_a_property_that_is_read_only_in_every_declaration_stays_so_although_it_is_required() -> None:
    base = object_of("id", id={"type": "string", "readOnly": True})
    ours = adapted({"allOf": [base, {"properties": {"id": {"minLength": 1}, "name": {}}}]}, request=True)
    assert ours.types["Thing"]["properties"].keys() == {"name"}


@each(
    ("form", "pattern", "admitted"),
    [
        ("date-time", "YYYY-MM-DDThh:mm:ssZ", True),
        ("date", "yyyy-MM-dd", False),
        ("date-time", "^2026", True),
        ("password", "YYYY-MM-DD", False),
    ],
)
def test_a_date_mask_instead_of_a_pattern_is_left_out(form: str, pattern: str, admitted: bool) -> None:
    ours = adapted({"type": "string", "format": form, "pattern": pattern})
    assert ours.admits("2026-01-31T12:00:00Z") is admitted
    assert ("pattern" in ours.schema) is not (form in ("date", "date-time") and "^" not in pattern)


def test_a_closed_object_takes_the_fields_of_its_alternatives_and_no_others() -> None:
    raw_content, text = ({"properties": {name: TEXT}, "required": [name]} for name in ("rawContent", "text"))
    schema = {"type": "object", "properties": {"ok": {}}, "oneOf": [raw_content, text], "additionalProperties": False}
    ours = adapted(schema)
    assert ours.admits({"ok": 1, "rawContent": "a"})
    assert ours.admits({"text": "a"})
    assert not ours.admits({"ok": 1})
    assert not ours.admits({"text": "a", "more": 1})


def test_if_all_properties_are_read_only_the_required_ones_are_sent() -> None:
    reference = object_of("id", id={"type": "string", "readOnly": True}, url={"type": "string", "readOnly": True})
    schema = object_of(owner=refers("Owner"))
    base = {"Base": {"anyOf": [reference]}, "Owner": refers("Base/anyOf/0")}
    ours = adapted(schema, base, request=True)
    owner = next(schema for schema in ours.types.values() if "id" in schema.get("properties", {}))
    assert owner["properties"] == {"id": TEXT}
    assert owner["x-read-only"] == ["url"]


def test_enumerated_numbers_of_a_string_become_strings_even_beside_null() -> None:
    ours = adapted({"type": "string", "nullable": True, "enum": [3, 4.1, None]}, openapi="3.0")
    assert ours.schema["enum"] == ["3", "4.1", None]
    mixed = adapted({"type": "string", "enum": ["3_lite", 3, True]})
    assert mixed.schema["enum"] == ["3_lite", "3", "true"]


PETS: dict[str, Any] = {
    "Cat": object_of(petType=TEXT, livesLeft=INTEGER),
    "Dog": object_of(petType=TEXT, livesLeft=TEXT),
    "Lizard": object_of(petType={"const": "lizard!"}),
}
UNION = {
    "oneOf": [ref(name) for name in PETS],
    "discriminator": {"propertyName": "petType", "mapping": {"cat": "#/components/schemas/Cat", "dog": "Dog"}},
}


def test_a_discriminator_maps_by_reference_and_by_name_and_its_values_are_shown() -> None:
    union = adapted(UNION, PETS).types["Thing"]
    assert union["discriminator"] == {
        "propertyName": "pet_type",
        "mapping": {"cat": "#/types/Cat", "dog": "#/types/Dog", "lizard!": "#/types/Lizard"},
    }


def test_a_value_is_validated_against_the_branch_that_its_discriminator_names() -> None:
    pets = adapted(UNION, PETS)
    assert pets.admits({"petType": "cat", "livesLeft": 9})
    assert pets.admits({"petType": "dog", "livesLeft": "many"})
    assert not pets.admits({"petType": "dog", "livesLeft": 9})
    assert not pets.admits({"petType": "horse", "livesLeft": 9})


def test_a_branch_that_names_its_own_values_keeps_them() -> None:
    kinds = {"A": object_of("kind", kind={"enum": ["a", "b"]})}
    schema = {
        "oneOf": [ref("A"), {"type": "object", "required": ["size"]}],
        "discriminator": {"propertyName": "kind", "mapping": {"other": "#/components/schemas/A"}},
    }
    assert adapted(schema, kinds).admits({"kind": "b"})


def test_an_object_with_a_discriminator_names_the_schemas_that_extend_it() -> None:
    components = {
        "Pet": {"type": "object", "properties": {"petType": TEXT}, "discriminator": {"propertyName": "petType"}},
        "Cat": {"allOf": [ref("Pet"), {"properties": {"lives": INTEGER}}]},
    }
    types = adapted(ref("Pet"), components).types
    assert types["Pet"]["discriminator"] == {"propertyName": "pet_type", "mapping": {"Cat": "#/types/Cat"}}
    assert types["Cat"]["properties"].keys() == {"pet_type", "lives"}


def test_a_mapping_that_leads_nowhere_is_ignored() -> None:
    union = {**UNION, "discriminator": {"propertyName": "petType", "mapping": {"cat": "#/components/schemas/Gone"}}}
    assert adapted(union, PETS).admits({"petType": "cat", "livesLeft": 9})


def test_a_branch_leaves_the_values_that_the_mapping_gives_to_others_even_if_its_own_is_misspelt() -> None:
    def provider(field: str) -> dict[str, Any]:
        kind = {"enum": ["Apple", "OpenIDConnect"]}
        return {"type": "object", "properties": {"type": kind, field: TEXT}}

    references = {name: ref(name) for name in ("AppleKeys", "OpenKeys")}
    mapping = {"Apple": "AppleKeys", "OpenIdConnect": "OpenKeys"}
    union = {"oneOf": list(references.values()), "discriminator": {"propertyName": "type", "mapping": mapping}}
    keys = adapted(union, {"AppleKeys": provider("keyId"), "OpenKeys": provider("clientId")})
    shown = keys.types["Thing"]["discriminator"]["mapping"]
    assert shown == {"Apple": "#/types/AppleKeys", "OpenIDConnect": "#/types/OpenKeys"}
    assert keys.agents({"type": "Apple", "keyId": "1"}) == {"type": "Apple", "key_id": "1"}


def test_the_fields_of_an_alternative_within_an_alternative_have_its_names() -> None:
    """R-SEL-1"""
    shoes = object_of(kind={"const": "shoe"}, filters=object_of(room_id=TEXT))
    rooms = object_of(kind={"const": "room"}, filters=object_of(ROOM_ID=TEXT))
    thing = adapted({"anyOf": [object_of(name=TEXT, filters=object_of(size=TEXT)), {"anyOf": [shoes, rooms]}]})
    room = {"kind": "room", "filters": {"ROOM_ID": "x"}}
    assert thing.agents(room) == {"kind": "room", "filters": {"room_id": "x"}}
