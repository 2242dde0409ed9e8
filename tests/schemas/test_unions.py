"""Unions: a discriminator is shown, selects the branch for validation, and decides the names of fields."""

from __future__ import annotations

from typing import Any

from tests.schemas.adapter import adapted

PETS: dict[str, Any] = {
    "Cat": {"type": "object", "properties": {"petType": {"type": "string"}, "livesLeft": {"type": "integer"}}},
    "Dog": {"type": "object", "properties": {"petType": {"type": "string"}, "livesLeft": {"type": "string"}}},
    "Lizard": {"type": "object", "properties": {"petType": {"const": "lizard!"}}},
}
UNION = {
    "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in PETS],
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
    kinds = {"A": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}, "required": ["kind"]}}
    schema = {
        "oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "object", "required": ["size"]}],
        "discriminator": {"propertyName": "kind", "mapping": {"other": "#/components/schemas/A"}},
    }
    assert adapted(schema, kinds).admits({"kind": "b"})


def test_an_object_with_a_discriminator_names_the_schemas_that_extend_it() -> None:
    components = {
        "Pet": {
            "type": "object",
            "properties": {"petType": {"type": "string"}},
            "discriminator": {"propertyName": "petType"},
        },
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"lives": {"type": "integer"}}}]},
    }
    types = adapted({"$ref": "#/components/schemas/Pet"}, components).types
    assert types["Pet"]["discriminator"] == {"propertyName": "pet_type", "mapping": {"Cat": "#/types/Cat"}}
    assert types["Cat"]["properties"].keys() == {"pet_type", "lives"}


def test_a_mapping_that_leads_nowhere_is_ignored() -> None:
    union = {**UNION, "discriminator": {"propertyName": "petType", "mapping": {"cat": "#/components/schemas/Gone"}}}
    assert adapted(union, PETS).admits({"petType": "cat", "livesLeft": 9})


def test_a_branch_leaves_the_values_that_the_mapping_gives_to_others_even_if_its_own_is_misspelt() -> None:
    def provider(field: str) -> dict[str, Any]:
        kind = {"enum": ["Apple", "OpenIDConnect"]}
        return {"type": "object", "properties": {"type": kind, field: {"type": "string"}}}

    references = {name: {"$ref": f"#/components/schemas/{name}"} for name in ("AppleKeys", "OpenKeys")}
    mapping = {"Apple": "AppleKeys", "OpenIdConnect": "OpenKeys"}
    union = {"oneOf": list(references.values()), "discriminator": {"propertyName": "type", "mapping": mapping}}
    keys = adapted(union, {"AppleKeys": provider("keyId"), "OpenKeys": provider("clientId")})
    shown = keys.types["Thing"]["discriminator"]["mapping"]
    assert shown == {"Apple": "#/types/AppleKeys", "OpenIDConnect": "#/types/OpenKeys"}
    assert keys.agents({"type": "Apple", "keyId": "1"}) == {"type": "Apple", "key_id": "1"}
