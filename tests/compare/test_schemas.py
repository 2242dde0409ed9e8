"""Changes of parameters, fields and types: narrower inputs break an agent, and so do answers that lack something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.compare.shops import (
    PET_ID,
    Edit,
    body,
    changes,
    edited,
    fields,
    operation,
    parameter_of,
    ref,
    schema,
    summaries,
)

ANSWERED = ["create_pet", "get_pet", "list_pets", "update_pet"]
SENT = ["create_pet", "update_pet"]

Expected = tuple[str, str, str, list[str]]


def parameters(document: dict[str, Any]) -> list[dict[str, Any]]:
    return operation(document, "GET /pets")["parameters"]


INPUTS: list[tuple[str, Edit, Expected]] = [
    (
        "gone",
        lambda document: parameters(document).pop(0),
        ("parameter-removed", "breaking", "the parameter `status` is gone", ["list_pets"]),
    ),
    (
        "new",
        lambda document: parameters(document).append({"name": "colour", "in": "query", "schema": {"type": "string"}}),
        ("parameter-added", "compatible", "the parameter `colour` is new", ["list_pets"]),
    ),
    (
        "new and required",
        lambda document: parameters(document).append(
            {"name": "shop", "in": "query", "required": True, "schema": {"type": "string"}}
        ),
        ("required-parameter-added", "breaking", "the parameter `shop` is new and must be given", ["list_pets"]),
    ),
    (
        "required",
        lambda document: parameter_of(document, "status").update(required=True),
        ("parameter-required", "breaking", "the parameter `status` must be given now", ["list_pets"]),
    ),
    (
        "another type",
        lambda document: parameter_of(document, "most")["schema"].update(type="string"),
        ("type-changed", "breaking", "the parameter `most` is `string` now, not `integer`", ["list_pets"]),
    ),
    (
        "a wider type",
        lambda document: parameter_of(document, "most")["schema"].update(type="number"),
        ("type-widened", "compatible", "the parameter `most` may also be `number`", ["list_pets"]),
    ),
    (
        "a value more",
        lambda document: parameter_of(document, "status")["schema"]["enum"].append("lost"),
        ("values-added", "texts", "the parameter `status` also takes `lost`", ["list_pets"]),
    ),
    (
        "only some values",
        lambda document: parameter_of(document, "order")["schema"].update(enum=["name", "age"]),
        ("values-limited", "breaking", "the parameter `order` takes only `name` and `age` now", ["list_pets"]),
    ),
    (
        "any value",
        lambda document: parameter_of(document, "status")["schema"].pop("enum"),
        ("values-freed", "compatible", "the parameter `status` takes any value now", ["list_pets"]),
    ),
    (
        "another default",
        lambda document: parameter_of(document, "order")["schema"].update(default="age"),
        ("default-changed", "attention", "the parameter `order` has the default `age` now, not `name`", ["list_pets"]),
    ),
    (
        "a tighter limit",
        lambda document: parameter_of(document, "most")["schema"].update(maximum=50),
        ("limit-tightened", "breaking", "the parameter `most` must be at most `50` now", ["list_pets"]),
    ),
    (
        "a looser limit",
        lambda document: parameter_of(document, "most")["schema"].update(maximum=500),
        ("limit-loosened", "compatible", "the parameter `most` may be at most `500` now", ["list_pets"]),
    ),
    (
        "no limit",
        lambda document: parameter_of(document, "most")["schema"].pop("maximum"),
        ("limit-removed", "compatible", "the parameter `most` need not be at most `100` any more", ["list_pets"]),
    ),
    (
        "a pattern",
        lambda document: parameter_of(document, "order")["schema"].update(pattern="^[a-z]+$"),
        ("pattern-changed", "breaking", "the parameter `order` must match `^[a-z]+$` now", ["list_pets"]),
    ),
    (
        "a format",
        lambda document: parameter_of(document, "order")["schema"].update(format="hostname"),
        ("format-required", "breaking", "the parameter `order` must be written as `hostname` now", ["list_pets"]),
    ),
    (
        "deprecated",
        lambda document: parameter_of(document, "order").update(deprecated=True),
        ("field-deprecated", "attention", "the parameter `order` is deprecated", ["list_pets"]),
    ),
    (
        "a field of the body is gone",
        lambda document: body(document)["properties"].pop("tags"),
        ("parameter-removed", "breaking", "the parameter `tags` is gone", ["create_pet"]),
    ),
    (
        "a field of the body must be given",
        lambda document: body(document)["required"].append("kind"),
        ("parameter-required", "breaking", "the parameter `kind` must be given now", ["create_pet"]),
    ),
    (
        "items of another type",
        lambda document: body(document)["properties"]["tags"]["items"].update(type="integer"),
        ("type-changed", "breaking", "the parameter `tags[]` is `integer` now, not `string`", ["create_pet"]),
    ),
    (
        "another body altogether",
        lambda document: fields(document, "PetChange").pop("name"),
        ("field-removed", "breaking", "`name` of `PetChange` is no longer taken", ["update_pet"]),
    ),
]


OUTPUTS: list[tuple[str, Edit, Expected]] = [
    (
        "gone",
        lambda document: fields(document, "Pet").pop("born"),
        ("field-removed", "breaking", "`born` of `Pet` is no longer answered", ANSWERED),
    ),
    (
        "new",
        lambda document: fields(document, "Pet").update(photo={"type": "string"}),
        ("field-added", "compatible", "`photo` of `Pet` is new", ANSWERED),
    ),
    (
        "another type",
        lambda document: fields(document, "Pet")["id"].update(type="string"),
        ("type-changed", "breaking", "`id` of `Pet` is `string` now, not `integer`", ANSWERED),
    ),
    (
        "null",
        lambda document: fields(document, "Pet")["name"].update(type=["string", "null"]),
        ("null-answered", "attention", "`name` of `Pet` may be null now", ANSWERED),
    ),
    (
        "missing",
        lambda document: schema(document, "Pet").update(required=["id"]),
        ("field-optional", "attention", "`name` of `Pet` may be missing now", ANSWERED),
    ),
    (
        "another format",
        lambda document: fields(document, "Pet")["born"].update(format="date-time"),
        ("format-changed", "attention", "`born` of `Pet` is `date-time` now, not `date`", ANSWERED),
    ),
    (
        "within a type of a type",
        lambda document: fields(document, "Owner").pop("name"),
        ("field-removed", "breaking", "`name` of `Owner` is no longer answered", ANSWERED),
    ),
    (
        "nothing",
        lambda document: operation(document, "GET /pets/{pet_id}").update(responses={"204": {"description": ""}}),
        ("answer-removed", "breaking", "answers with nothing now", ["get_pet"]),
    ),
    (
        "described otherwise",
        lambda document: schema(document, "Pet").update(description="An animal."),
        ("text-added", "texts", "the description of the type `Pet` is new", []),
    ),
    (
        "an example",
        lambda document: fields(document, "Pet")["name"].update(example="Rosa"),
        ("text-added", "texts", "the examples of `name` in the type `Pet` are new", []),
    ),
]


@each(("edit", "expected"), [case[1:] for case in (*INPUTS, *OUTPUTS)], ids=[case[0] for case in (*INPUTS, *OUTPUTS)])
def test_a_change_of_a_schema_is_reported_by_its_effect(tmp_path: Path, edit: Edit, expected: Expected) -> None:
    assert summaries(changes(tmp_path, edit)) == [expected]


def test_a_value_that_goes_is_reported_where_it_is_taken_and_where_it_is_answered(tmp_path: Path) -> None:
    assert summaries(changes(tmp_path, lambda document: schema(document, "Kind")["enum"].pop())) == [
        (
            "values-removed",
            "breaking",
            "the type `Kind` no longer takes `dog`",
            ["create_pet", "get_pet", "list_pets", "update_pet"],
        ),
        ("values-removed", "breaking", "the parameter `kind` no longer takes `dog`", ["create_pet"]),
    ]


UNNOTICED: list[tuple[str, Edit]] = [
    ("a component is renamed", lambda document: document["components"]["schemas"].update(Unused={"type": "object"})),
    ("a limit of what is answered", lambda document: fields(document, "Pet")["name"].update(maxLength=10)),
    ("a field is always answered", lambda document: schema(document, "Pet")["required"].append("born")),
    ("a number's width", lambda document: fields(document, "Pet")["id"].update(format="int64")),
    ("the version of the document", lambda document: document["info"].update(version="1.0.1")),
    ("another status of success", lambda document: _status(operation(document, "POST /pets")["responses"])),
    (
        "a path item's own parameters",
        lambda document: document["paths"]["/pets/{pet_id}/archive"].update(parameters=[PET_ID]),
    ),
    ("a type that has another name", lambda document: _renamed(document)),
]


@pytest.mark.parametrize("edit", [case[1] for case in UNNOTICED], ids=[case[0] for case in UNNOTICED])
def test_what_no_agent_notices_is_not_reported(tmp_path: Path, edit: Edit) -> None:
    assert changes(tmp_path, edit) == []


def _status(responses: dict[str, Any]) -> None:
    responses["200"] = responses.pop("201")


def _renamed(document: dict[str, Any]) -> None:
    import json

    text = json.dumps(document).replace("schemas/Owner", "schemas/Keeper").replace('"Owner":', '"Keeper":')
    document.clear()
    document.update(json.loads(text))


def test_a_shared_type_is_reported_once_with_all_operations_of_both_directions(tmp_path: Path) -> None:
    differences = changes(tmp_path, lambda document: fields(document, "Address").pop("city"))
    assert summaries(differences) == [
        ("field-removed", "breaking", "`city` of `Address` is gone", sorted({*ANSWERED, *SENT}))
    ]
    assert differences[0]["directions"] == ["input", "partial", "output"]


def test_an_answer_of_another_type_names_the_fields_that_are_gone_and_new(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        answer = operation(document, "GET /pets/{pet_id}")["responses"]["200"]
        answer["content"]["application/json"]["schema"] = ref("Address")

    gone = "`born`, `id`, `kind`, `name` and `owner` of `Address` are no longer answered"
    assert summaries(changes(tmp_path, edit)) == [
        ("field-removed", "breaking", gone, ["get_pet"]),
        ("field-added", "compatible", "`city` and `street` of `Address` are new", ["get_pet"]),
    ]


def test_a_value_that_is_new_both_ways_is_to_be_looked_at_for_the_answer(tmp_path: Path) -> None:
    assert summaries(changes(tmp_path, lambda document: schema(document, "Kind")["enum"].append("bird"))) == [
        ("values-added", "attention", "the type `Kind` may also be `bird`", ANSWERED),
        ("values-added", "texts", "the parameter `kind` also takes `bird`", ["create_pet"]),
    ]


def test_what_an_update_may_leave_out_need_not_be_given_when_it_becomes_required(tmp_path: Path) -> None:
    assert changes(tmp_path, lambda document: schema(document, "PetChange").update(required=["name"])) == []


def test_the_same_change_of_many_parameters_is_reported_once(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        for entry in parameters(document):
            entry["required"] = True

    assert summaries(changes(tmp_path, edit)) == [
        ("parameter-required", "breaking", "the parameters `most` and `status` must be given now", ["list_pets"])
    ]


def test_a_type_that_becomes_one_of_several_keeps_what_it_took(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        body(document)["properties"]["home"] = {"anyOf": [ref("Address"), {"type": "string"}]}

    assert summaries(changes(tmp_path, edit)) == [
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

    differences = {(rule, message) for rule, _, message, _ in summaries(changes(tmp_path, edit, shop=shop))}
    assert ("field-removed", "`image` of `Paint` is no longer answered") in differences
    assert ("field-optional", "`angle` of `Paint` may be missing now") in differences
    assert len({rule for rule, _ in differences if rule == "field-removed"}) == 1
    assert not any("color" in message for _, message in differences)


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
