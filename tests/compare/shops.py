"""A small shop, and the changes that edits of its document make."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.generator.commands import Run, run

Json = dict[str, Any]
Edit = Callable[[Json], object]


def _answer(schema: Json, status: str = "200") -> Json:
    return {status: {"description": "fine", "content": {"application/json": {"schema": schema}}}}


def _body(schema: Json) -> Json:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


PET_ID = {"name": "pet_id", "in": "path", "required": True, "schema": {"type": "integer"}}

SHOP: Json = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1.0.0"},
    "servers": [{"url": "https://shop.example"}],
    "paths": {
        "/pets": {
            "get": {
                "operationId": "listPets",
                "parameters": [
                    {"name": "status", "in": "query", "schema": {"type": "string", "enum": ["free", "taken"]}},
                    {"name": "order", "in": "query", "schema": {"type": "string", "default": "name"}},
                    {"name": "most", "in": "query", "schema": {"type": "integer", "maximum": 100}},
                ],
                "responses": _answer({"type": "array", "items": ref("Pet")}),
            },
            "post": {
                "operationId": "createPet",
                "requestBody": _body(
                    {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "maxLength": 80},
                            "kind": ref("Kind"),
                            "tags": {"type": "array", "items": {"type": "string"}},
                            "home": ref("Address"),
                        },
                    }
                ),
                "responses": _answer(ref("Pet"), "201"),
            },
        },
        "/pets/{pet_id}": {
            "parameters": [PET_ID],
            "get": {"operationId": "getPet", "responses": _answer(ref("Pet"))},
            "patch": {
                "operationId": "updatePet",
                "requestBody": _body(ref("PetChange")),
                "responses": _answer(ref("Pet")),
            },
            "delete": {"operationId": "deletePet", "responses": {"204": {"description": "gone"}}},
        },
        "/pets/{pet_id}/archive": {
            "parameters": [PET_ID],
            "post": {"operationId": "archivePet", "responses": {"204": {"description": "kept"}}},
        },
    },
    "components": {
        "schemas": {
            "Kind": {"type": "string", "enum": ["cat", "dog"]},
            "Address": {
                "type": "object",
                "required": ["street"],
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
            "Owner": {"type": "object", "properties": {"name": {"type": "string"}, "home": ref("Address")}},
            "Pet": {
                "type": "object",
                "required": ["id", "name"],
                "properties": {
                    "id": {"type": "integer"},
                    "name": {"type": "string"},
                    "kind": ref("Kind"),
                    "born": {"type": "string", "format": "date"},
                    "owner": ref("Owner"),
                },
            },
            "PetChange": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "kind": ref("Kind"), "home": ref("Address")},
            },
        }
    },
}


def edited(*edits: Edit, shop: Json = SHOP) -> Json:
    """Return the shop's document with edits."""
    document = copy.deepcopy(shop)
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


def parameter(document: Json, name: str) -> Json:
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
