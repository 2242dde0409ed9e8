"""A small shop, and the changes that edits of its document make."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, ref, replies
from tests.generator.commands import Run, api, run

Json = dict[str, Any]
Edit = Callable[[Json], object]


PET_ID = parameter("pet_id", "path", INTEGER)
NEW_PET = object_of("name", name={**TEXT, "maxLength": 80}, kind=ref("Kind"), tags=list_of(TEXT), home=ref("Address"))
SHOP = api(
    {
        "GET /pets": {
            "operationId": "listPets",
            "parameters": [
                parameter("status", schema={**TEXT, "enum": ["free", "taken"]}),
                parameter("order", schema={**TEXT, "default": "name"}),
                parameter("most", schema={**INTEGER, "maximum": 100}),
            ],
            "responses": replies(list_of(ref("Pet"))),
        },
        "POST /pets": {
            "operationId": "createPet",
            "requestBody": body_of(NEW_PET),
            "responses": replies(ref("Pet"), "201"),
        },
        "GET /pets/{pet_id}": {"operationId": "getPet", "responses": replies(ref("Pet"))},
        "PATCH /pets/{pet_id}": {
            "operationId": "updatePet",
            "requestBody": body_of(ref("PetChange")),
            "responses": replies(ref("Pet")),
        },
        "DELETE /pets/{pet_id}": {"operationId": "deletePet", "responses": replies(status="204")},
        "POST /pets/{pet_id}/archive": {"operationId": "archivePet", "responses": replies(status="204")},
    },
    info={"title": "Shop", "version": "1.0.0"},
    servers=[{"url": "https://shop.example"}],
    components={
        "schemas": {
            "Kind": {"type": "string", "enum": ["cat", "dog"]},
            "Address": object_of("street", street=TEXT, city=TEXT),
            "Owner": object_of(name=TEXT, home=ref("Address")),
            "Pet": object_of(
                "id",
                "name",
                id=INTEGER,
                name=TEXT,
                kind=ref("Kind"),
                born={**TEXT, "format": "date"},
                owner=ref("Owner"),
            ),
            "PetChange": object_of(name=TEXT, kind=ref("Kind"), home=ref("Address")),
        }
    },
)
for _path in ("/pets/{pet_id}", "/pets/{pet_id}/archive"):
    SHOP["paths"][_path]["parameters"] = [PET_ID]


def edited(*edits: Edit, shop: Json = SHOP) -> Json:
    """Return the shop's document with edits."""
    document: Json = json.loads(json.dumps(shop))  # parts that are written once are apart here
    for edit in edits:
        edit(document)
    return document


def operation(document: Json, key: str) -> Json:
    method, path = key.split(" ")
    return document["paths"][path][method.lower()]


def schema(document: Json, name: str) -> Json:
    return document["components"]["schemas"][name]


def fields(document: Json, name: str) -> Json:
    return schema(document, name)["properties"]


def parameter_of(document: Json, name: str) -> Json:
    """Return a parameter of the list of pets."""
    return next(entry for entry in operation(document, "GET /pets")["parameters"] if entry["name"] == name)


def body(document: Json, key: str = "POST /pets") -> Json:
    return operation(document, key)["requestBody"]["content"]["application/json"]["schema"]


def diff(folder: Path, old: Json, new: Json, *options: str) -> Run:
    """Run the command on two documents."""
    for name, document in (("old", old), ("new", new)):
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return run("diff", folder / "old.json", folder / "new.json", *options)


def changes(folder: Path, *edits: Edit, shop: Json = SHOP) -> list[Json]:
    """Return the changes that edits of the shop's document make."""
    done = diff(folder, shop, edited(*edits, shop=shop), "--output-format", "json", "--fail-on", "never")
    assert done.code == 0, done.out
    return done.json["changes"]


def summaries(entries: list[Json]) -> list[tuple[str, str, str, list[str]]]:
    """Return the rule, the level, the message and the operations of each change."""
    return [(entry["rule"], entry["level"], entry["message"], entry["operations"]) for entry in entries]
