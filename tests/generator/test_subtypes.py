"""A base with a discriminator stands for the schemas that extend it by `allOf` (OpenAPI 3.1.1, 4.8.25)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.client import Api
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from aqlgen.runtime.wire import ApiResponse
from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, ref, replies
from tests.generator.commands import Tabulation, api, posting, tabulate

MAPPING = {"cat": "#/components/schemas/Cat", "dog": "Dog"}


def shop(tmp_path: Path, tag: Any = TEXT, **discriminator: Any) -> Tabulation:
    """Return the table of an API of owners, each with a pet that is a cat or a dog."""
    base = {**object_of("petType", petType=tag, petName=TEXT), "discriminator": {"propertyName": "petType"}}
    base["discriminator"] |= discriminator
    schemas = {
        "Pet": base,
        "Cat": {"allOf": [ref("Pet"), object_of("livesLeft", livesLeft=INTEGER)]},
        "Dog": {"allOf": [ref("Pet"), object_of(barkVolume=INTEGER)]},
        "Puppy": {"allOf": [ref("Dog"), object_of(ageInWeeks=INTEGER)]},
    }
    owner = object_of(pets=list_of(ref("Pet")), dog=ref("Dog"))
    paths = {
        "POST /owners": {"requestBody": body_of(owner), "responses": replies(owner)},
        "POST /pets": {"requestBody": body_of(ref("Pet")), "responses": replies(ref("Pet"))},
    }
    servers = [{"url": "https://shop.example"}]
    return tabulate(tmp_path, api(paths, "3.0.3", components={"schemas": schemas}, servers=servers))


def sent(table: Tabulation, tmp_path: Path, *pets: dict[str, Any]) -> Any:
    return json.loads(table.request(tmp_path, "create_owner", {"pets": list(pets)}).content or b"")["pets"]


def refused(table: Tabulation, tmp_path: Path, name: str, params: dict[str, Any]) -> Failure:
    with pytest.raises(Failure) as caught:
        table.request(tmp_path, name, params)
    return caught.value


def test_a_body_takes_the_fields_of_the_subtypes_under_the_agents_names(tmp_path: Path) -> None:
    table = shop(tmp_path, mapping=MAPPING)
    pets = sent(table, tmp_path, {"pet_type": "cat", "lives_left": 9}, {"pet_type": "dog", "bark_volume": 3})
    assert pets == [{"petType": "cat", "livesLeft": 9}, {"petType": "dog", "barkVolume": 3}]
    failure = refused(table, tmp_path, "create_owner", {"pets": [{"pet_type": "cat"}]})
    assert (failure.code, failure.details["param_name"]) == (Code.MISSING_PARAM, "pets[0].lives_left")
    assert table.request(tmp_path, "create_pet", {"pet_type": "dog", "bark_volume": 3}).content


@pytest.mark.parametrize(
    ("discriminator", "tag", "tags"),
    [
        ({"mapping": MAPPING}, TEXT, ["cat", "dog", "Puppy"]),
        ({"mapping": {**MAPPING, "pet": "Pet"}}, TEXT, ["cat", "dog", "Puppy", "pet"]),
        ({}, TEXT, ["Cat", "Dog", "Puppy", "Pet"]),
        ({}, {"type": "string", "enum": ["Cat", "Dog", "Fish"]}, ["Cat", "Dog", "Fish"]),
    ],
)
def test_a_tag_that_no_subtype_has_is_refused_with_the_ones_that_there_are(
    tmp_path: Path, discriminator: dict[str, Any], tag: Any, tags: list[str]
) -> None:
    table = shop(tmp_path, tag, **discriminator)
    for name, params in (("create_pet", {}), ("create_owner", {"pets": [{"pet_type": "horse"}]})):
        failure = refused(table, tmp_path, name, params or {"pet_type": "horse"})
        assert (failure.code, failure.details["allowed_values"]) == (Code.INVALID_VALUE, tags)
    last = tags[-1]  # the base itself, or a subtype of a subtype
    assert sent(table, tmp_path, {"pet_type": last, "pet_name": "x"}) == [{"petType": last, "petName": "x"}]


def test_a_subtype_with_subtypes_takes_their_fields_and_no_others(tmp_path: Path) -> None:
    table = shop(tmp_path, mapping=MAPPING)
    dog = {"dog": {"pet_type": "Puppy", "age_in_weeks": 7}}
    assert b'"ageInWeeks":7' in (table.request(tmp_path, "create_owner", dog).content or b"")
    failure = refused(table, tmp_path, "create_owner", {"dog": {"pet_type": "cat"}})
    assert failure.details["allowed_values"] == ["Puppy", "dog"]


def test_a_reference_beside_fields_extends_its_target_since_3_1(tmp_path: Path) -> None:
    base = {**object_of("petType", petType=TEXT), "discriminator": {"propertyName": "petType", "mapping": MAPPING}}
    schemas = {
        "Pet": base,
        "Cat": {**ref("Pet"), **object_of("livesLeft", livesLeft=INTEGER)},
        "Dog": {**ref("Pet"), "properties": {"barkVolume": INTEGER}},
        "Animal": ref("Pet"),
    }
    servers = [{"url": "https://shop.example"}]
    table = tabulate(tmp_path, posting(ref("Pet"), components={"schemas": schemas}, servers=servers))
    params = {"pet_type": "cat", "lives_left": 9}
    assert table.request(tmp_path, "create_thing", params).content == b'{"petType":"cat","livesLeft":9}'
    assert refused(table, tmp_path, "create_thing", {"pet_type": "Animal"}).details["allowed_values"] == ["cat", "dog"]


def test_a_base_without_a_name_takes_the_fields_of_what_its_mapping_names(tmp_path: Path) -> None:
    base = {**object_of("petType", petType=TEXT), "discriminator": {"propertyName": "petType", "mapping": MAPPING}}
    schemas = {"Cat": object_of("petType", petType=TEXT, livesLeft=INTEGER), "Dog": object_of(barkVolume=INTEGER)}
    servers = [{"url": "https://shop.example"}]
    table = tabulate(tmp_path, posting(object_of(pet=base), components={"schemas": schemas}, servers=servers))
    request = table.request(tmp_path, "create_thing", {"pet": {"pet_type": "cat", "livesLeft": 9}})
    assert request.content == b'{"pet":{"petType":"cat","livesLeft":9}}'


def test_an_answer_has_the_agents_names_of_the_subtype_that_its_tag_names(tmp_path: Path) -> None:
    table = shop(tmp_path, mapping=MAPPING)
    rows = Table(table.write(tmp_path / "package"))
    side, row = Api(Adapter.load(tmp_path / "package"), rows, None, Config(), environ={}), rows.find("create_owner")
    assert row is not None
    pets = [{"petType": "cat", "livesLeft": 9}, {"petType": "horse", "petName": "x", "other_One": 1}]
    content = json.dumps({"pets": pets}).encode()
    assert side.decode(ApiResponse(200, {"content-type": "application/json"}, content), row, {}) == {
        "pets": [{"pet_type": "cat", "lives_left": 9}, {"pet_type": "horse", "pet_name": "x", "other_One": 1}]
    }


def test_introspection_shows_the_subtypes_with_their_tags_and_fields(tmp_path: Path) -> None:
    table = shop(tmp_path, mapping=MAPPING)
    details, shown = table.details("create_pet"), table.described("Pet")
    names = [entry["name"] for entry in details["parameters"]]
    assert {"pet_type", "pet_name", "lives_left", "bark_volume", "age_in_weeks"} <= set(names)
    assert "pet_type 'cat' with lives_left; or pet_type 'dog' with optionally bark_volume" in details["description"]
    assert details["examples"][0]["request"]["params"] == {"pet_type": "cat", "lives_left": 1}
    tags, *_ = shown["fields"]
    assert (tags["name"], tags["enum"]) == ("pet_type", ["cat", "dog", "Puppy"])
    assert {field["name"] for field in shown["fields"]} == {*names} - {"dry_run", "fields"}
