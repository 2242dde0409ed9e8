"""What an agent feels of parameters, fields and types: narrower inputs break, and so do answers that lack something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.compare.shops import PET_ID, Edit, body, changes, edited, fields, operation, parameter, ref, schema, told

ANSWERED = ["create_pet", "get_pet", "list_pets", "update_pet"]
GIVEN = ["create_pet", "update_pet"]

Expected = tuple[str, str, str, list[str]]


def parameters(document: dict[str, Any]) -> list[dict[str, Any]]:
    return operation(document, "GET /pets")["parameters"]


INPUTS: list[tuple[str, Edit, Expected]] = [
    (
        "gone",
        lambda one: parameters(one).pop(0),
        ("parameter-removed", "breaking", "the parameter `status` is gone", ["list_pets"]),
    ),
    (
        "new",
        lambda one: parameters(one).append({"name": "colour", "in": "query", "schema": {"type": "string"}}),
        ("parameter-added", "compatible", "the parameter `colour` is new", ["list_pets"]),
    ),
    (
        "new and required",
        lambda one: parameters(one).append(
            {"name": "shop", "in": "query", "required": True, "schema": {"type": "string"}}
        ),
        ("required-parameter-added", "breaking", "the parameter `shop` is new and must be given", ["list_pets"]),
    ),
    (
        "required",
        lambda one: parameter(one, "status").update(required=True),
        ("parameter-required", "breaking", "the parameter `status` must be given now", ["list_pets"]),
    ),
    (
        "another type",
        lambda one: parameter(one, "most")["schema"].update(type="string"),
        ("type-changed", "breaking", "the parameter `most` is `string` now, not `integer`", ["list_pets"]),
    ),
    (
        "a wider type",
        lambda one: parameter(one, "most")["schema"].update(type="number"),
        ("type-widened", "compatible", "the parameter `most` may also be `number`", ["list_pets"]),
    ),
    (
        "a value less",
        lambda one: parameter(one, "status")["schema"]["enum"].remove("taken"),
        ("values-removed", "breaking", "the parameter `status` no longer takes `taken`", ["list_pets"]),
    ),
    (
        "a value more",
        lambda one: parameter(one, "status")["schema"]["enum"].append("lost"),
        ("values-added", "compatible", "the parameter `status` also takes `lost`", ["list_pets"]),
    ),
    (
        "only some values",
        lambda one: parameter(one, "order")["schema"].update(enum=["name", "age"]),
        ("values-limited", "breaking", "the parameter `order` takes only `name` and `age` now", ["list_pets"]),
    ),
    (
        "any value",
        lambda one: parameter(one, "status")["schema"].pop("enum"),
        ("values-freed", "compatible", "the parameter `status` takes any value now", ["list_pets"]),
    ),
    (
        "another default",
        lambda one: parameter(one, "order")["schema"].update(default="age"),
        (
            "default-changed",
            "attention",
            "the parameter `order` means `age` now when left out, not `name`",
            ["list_pets"],
        ),
    ),
    (
        "a tighter limit",
        lambda one: parameter(one, "most")["schema"].update(maximum=50),
        ("limit-tightened", "breaking", "the parameter `most` must be at most `50` now", ["list_pets"]),
    ),
    (
        "a looser limit",
        lambda one: parameter(one, "most")["schema"].update(maximum=500),
        ("limit-loosened", "compatible", "the parameter `most` may be at most `500` now", ["list_pets"]),
    ),
    (
        "no limit",
        lambda one: parameter(one, "most")["schema"].pop("maximum"),
        ("limit-removed", "compatible", "the parameter `most` need not be at most `100` any more", ["list_pets"]),
    ),
    (
        "a pattern",
        lambda one: parameter(one, "order")["schema"].update(pattern="^[a-z]+$"),
        ("pattern-changed", "breaking", "the parameter `order` must match `^[a-z]+$` now", ["list_pets"]),
    ),
    (
        "a format",
        lambda one: parameter(one, "order")["schema"].update(format="uuid"),
        ("format-required", "breaking", "the parameter `order` must be written as `uuid` now", ["list_pets"]),
    ),
    (
        "deprecated",
        lambda one: parameter(one, "order").update(deprecated=True),
        ("field-deprecated", "attention", "the parameter `order` is deprecated", ["list_pets"]),
    ),
    (
        "a field of the body is gone",
        lambda one: body(one)["properties"].pop("tags"),
        ("parameter-removed", "breaking", "the parameter `tags` is gone", ["create_pet"]),
    ),
    (
        "a field of the body must be given",
        lambda one: body(one)["required"].append("kind"),
        ("parameter-required", "breaking", "the parameter `kind` must be given now", ["create_pet"]),
    ),
    (
        "items of another type",
        lambda one: body(one)["properties"]["tags"]["items"].update(type="integer"),
        ("type-changed", "breaking", "the parameter `tags[]` is `integer` now, not `string`", ["create_pet"]),
    ),
    (
        "another body altogether",
        lambda one: fields(one, "PetChange").pop("name"),
        ("field-removed", "breaking", "`name` of `PetChange` is no longer taken", ["update_pet"]),
    ),
]


@pytest.mark.parametrize(("edit", "expected"), [one[1:] for one in INPUTS], ids=[one[0] for one in INPUTS])
def test_a_change_of_what_is_given_is_told_for_what_it_means(tmp_path: Path, edit: Edit, expected: Expected) -> None:
    assert told(changes(tmp_path, edit)) == [expected]


OUTPUTS: list[tuple[str, Edit, Expected]] = [
    (
        "gone",
        lambda one: fields(one, "Pet").pop("born"),
        ("field-removed", "breaking", "`born` of `Pet` is no longer answered", ANSWERED),
    ),
    (
        "new",
        lambda one: fields(one, "Pet").update(photo={"type": "string"}),
        ("field-added", "compatible", "`photo` of `Pet` is new", ANSWERED),
    ),
    (
        "another type",
        lambda one: fields(one, "Pet")["id"].update(type="string"),
        ("type-changed", "breaking", "`id` of `Pet` is `string` now, not `integer`", ANSWERED),
    ),
    (
        "null",
        lambda one: fields(one, "Pet")["name"].update(type=["string", "null"]),
        ("null-answered", "attention", "`name` of `Pet` may be null now", ANSWERED),
    ),
    (
        "missing",
        lambda one: schema(one, "Pet").update(required=["id"]),
        ("field-optional", "attention", "`name` of `Pet` may be missing now", ANSWERED),
    ),
    (
        "another format",
        lambda one: fields(one, "Pet")["born"].update(format="date-time"),
        ("format-changed", "attention", "`born` of `Pet` is `date-time` now, not `date`", ANSWERED),
    ),
    (
        "within a type of a type",
        lambda one: fields(one, "Owner").pop("name"),
        ("field-removed", "breaking", "`name` of `Owner` is no longer answered", ANSWERED),
    ),
    (
        "something else",
        lambda one: operation(one, "GET /pets/{pet_id}")["responses"]["200"]["content"]["application/json"].update(
            schema=ref("Address")
        ),
        ("type-replaced", "breaking", "the answer is `Address` now, not `Pet`", ["get_pet"]),
    ),
    (
        "nothing",
        lambda one: operation(one, "GET /pets/{pet_id}").update(responses={"204": {"description": ""}}),
        ("answer-removed", "breaking", "answers with nothing now", ["get_pet"]),
    ),
    (
        "described otherwise",
        lambda one: schema(one, "Pet").update(description="An animal."),
        ("types-reworded", "compatible", "types described in other words: `Pet`", []),
    ),
]


@pytest.mark.parametrize(("edit", "expected"), [one[1:] for one in OUTPUTS], ids=[one[0] for one in OUTPUTS])
def test_a_change_of_what_is_answered_is_told_for_what_it_means(tmp_path: Path, edit: Edit, expected: Expected) -> None:
    assert told(changes(tmp_path, edit)) == [expected]


UNFELT: list[tuple[str, Edit]] = [
    ("a component is renamed", lambda one: one["components"]["schemas"].update(Unused={"type": "object"})),
    ("a limit of what is answered", lambda one: fields(one, "Pet")["name"].update(maxLength=10)),
    ("a field is always answered", lambda one: schema(one, "Pet")["required"].append("born")),
    ("a number's width", lambda one: fields(one, "Pet")["id"].update(format="int64")),
    ("an example", lambda one: fields(one, "Pet")["name"].update(example="Rosa")),
    ("the version of the document", lambda one: one["info"].update(version="1.0.1")),
    ("another status of success", lambda one: _status(operation(one, "POST /pets")["responses"])),
    ("a path item's own parameters", lambda one: one["paths"]["/pets/{pet_id}/archive"].update(parameters=[PET_ID])),
    ("a type that has another name", lambda one: _renamed(one)),
]


@pytest.mark.parametrize("edit", [one[1] for one in UNFELT], ids=[one[0] for one in UNFELT])
def test_what_no_agent_feels_is_not_told(tmp_path: Path, edit: Edit) -> None:
    assert changes(tmp_path, edit) == []


def _status(responses: dict[str, Any]) -> None:
    responses["200"] = responses.pop("201")


def _renamed(document: dict[str, Any]) -> None:
    import json

    text = json.dumps(document).replace("schemas/Owner", "schemas/Keeper").replace('"Owner":', '"Keeper":')
    document.clear()
    document.update(json.loads(text))


def test_a_shared_type_is_told_once_with_all_that_it_reaches_both_ways(tmp_path: Path) -> None:
    found = changes(tmp_path, lambda one: fields(one, "Address").pop("city"))
    assert told(found) == [("field-removed", "breaking", "`city` of `Address` is gone", sorted({*ANSWERED, *GIVEN}))]
    assert found[0]["directions"] == ["input", "partial", "output"]


def test_a_value_that_is_new_both_ways_is_to_be_looked_at_for_the_answer(tmp_path: Path) -> None:
    assert told(changes(tmp_path, lambda one: schema(one, "Kind")["enum"].append("bird"))) == [
        ("values-added", "attention", "the type `Kind` may also be `bird`", ANSWERED),
        ("values-added", "compatible", "the parameter `kind` also takes `bird`", ["create_pet"]),
    ]


def test_what_an_update_may_leave_out_need_not_be_given_when_it_becomes_required(tmp_path: Path) -> None:
    assert changes(tmp_path, lambda one: schema(one, "PetChange").update(required=["name"])) == []


def test_the_same_change_of_many_parameters_is_told_once(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        for one in parameters(document):
            one["required"] = True

    assert told(changes(tmp_path, edit)) == [
        (
            "parameter-required",
            "breaking",
            "the parameters `most`, `order` and `status` must be given now",
            ["list_pets"],
        )
    ]


def test_a_type_that_becomes_one_of_several_keeps_what_it_took(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        body(document)["properties"]["home"] = {"anyOf": [ref("Address"), {"type": "string"}]}

    assert told(changes(tmp_path, edit)) == [
        ("alternative-added", "compatible", "the type `CreatePetHome` also takes `string`", ["create_pet"])
    ]


def test_an_answer_that_takes_several_forms_loses_only_what_is_in_none_of_them(tmp_path: Path) -> None:
    def field(*names: str, kind: str) -> dict[str, Any]:
        fields = {name: {"type": "string"} for name in names}
        return {
            "type": "object",
            "properties": {**fields, "form": {"type": "string", "enum": [kind]}},
            "required": ["form", "color"],
        }

    shop = edited(lambda document: document["components"]["schemas"].update(Paint=PAINT))
    operation(shop, "GET /pets/{pet_id}")["responses"]["200"]["content"]["application/json"]["schema"] = ref("Paint")

    def edit(document: dict[str, Any]) -> None:
        forms = {"Plain": field("color", kind="plain"), "Shaded": field("color", "angle", kind="shaded")}
        union = {"oneOf": [ref("Plain"), ref("Shaded")]}
        document["components"]["schemas"] |= {**forms, "Paint": union}

    found = {(rule, message) for rule, _, message, _ in told(changes(tmp_path, edit, shop=shop))}
    assert ("field-removed", "`image` of `Paint` is no longer answered") in found
    assert ("field-optional", "`angle` of `Paint` may be missing now") in found
    assert len({rule for rule, _ in found if rule == "field-removed"}) == 1
    assert not any("color" in message for _, message in found)


PAINT = {
    "type": "object",
    "required": ["form", "color", "angle"],
    "properties": {
        "form": {"type": "string", "enum": ["plain", "shaded"]},
        "color": {"type": "string"},
        "angle": {"type": "string"},
        "image": {"type": "string"},
    },
}
