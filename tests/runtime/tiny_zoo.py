"""A tiny adapter, written by hand in the form of the package's data files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aqlgen.runtime.table import row_of
from aqlgen.table.responses import sampled
from aqlgen.table.sample_values import ValueMaker
from tests.documents import TEXT, list_of, object_of

ADAPTER: dict[str, Any] = {
    "format": 1,
    "name": "zoo",
    "package": "zoo_adapter",
    "title": "Zoo API",
    "description": "Animals and their keepers",
    "version": "0.1.0",
    "api_version": "2.3.1",
    "spec_version": "1.0.0-draft",
    "generator": "aqlgen 0.1.0",
    "field_case": "snake",
    "servers": [{"url": "https://zoo.example/v1"}],
    "security": [["api_key"]],
    "security_schemes": {
        "api_key": {
            "type": "apiKey",
            "in": "header",
            "name": "X-Key",
            "variables": ["ZOO_API_KEY"],
            "description": "Ask the warden",
        }
    },
    "counts": {"create": 1, "read": 3, "update": 1, "delete": 1, "execute": 0},
    "quick_start": {
        "create": "create_animal",
        "read": "list_animals",
        "update": "update_animal",
        "delete": "delete_animal",
    },
}

ID = {"in": "path", "name": "animalId", "required": True, "schema": {"type": "integer", "minimum": 1}}


def type_of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/types/{name}"}


def row(key: str, summary: str, danger: str, returns: Any, example: Any, **more: Any) -> dict[str, Any]:
    """Return a row; its resource and verb are those of its key, `METHOD /path resource verb`."""
    method, path, resource, verb = key.split()
    entry = {"summary": summary, "method": method, "path": path, "resource": resource, "verb": verb, "danger": danger}
    return entry | {"parameters": {}, "returns": returns, "example": example} | more


BODY = {"content_type": "application/json", "required": True, "schema": type_of("NewAnimal")}
ANIMAL, ANIMAL_LIST = {"name": "Animal", "kind": "object"}, {"name": "array", "kind": "scalar"}
OPERATIONS: dict[str, dict[str, Any]] = {
    "create": {
        "create_animal": row(
            "POST /animals animal create",
            "Take an animal into the zoo",
            "reversible",
            ANIMAL,
            {"name": "Ada", "species": "lion"},
            parameters={
                "name": {"in": "body", "required": True, "schema": {**TEXT, "minLength": 1, "maxLength": 40}},
                "species": {"in": "body", "required": True, "schema": type_of("Species")},
                "keeper": {"in": "body", "schema": {"anyOf": [type_of("Keeper"), {"type": "null"}]}},
                "tags": {"in": "body", "schema": {**list_of({**TEXT, "pattern": "^[a-z]+$"}), "maxItems": 5}},
                "notes": {"in": "body", "schema": {"type": "object", "additionalProperties": True}},
                "secret_word": {"in": "body", "name": "secretWord", "sensitive": True, "schema": TEXT},
            },
            body={**BODY, "shape": "fields"},
            responses={"201": {"content_type": "application/json", "schema": type_of("Animal")}},
        )
    },
    "read": {
        "list_animals": row(
            "GET /animals animal list",
            "List the animals",
            "safe",
            {**ANIMAL_LIST, "description": "An array of Animal"},
            {},
            description="List the animals, the newest first.\n\nPages hold 20.",
            parameters={
                "limit": {
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                    "description": "How many",
                },
                "born_after": {"in": "query", "name": "bornAfter", "schema": {**TEXT, "format": "date"}},
            },
        ),
        "get_animal": row(
            "GET /animals/{animalId} animal get",
            "Show one animal",
            "safe",
            ANIMAL,
            {"animal_id": 7},
            operation_id="showAnimal",
            deprecated=True,
            parameters={"animal_id": ID},
        ),
        "list_keepers": row(
            "GET /keepers keeper list",
            "List the people who feed animals",
            "safe",
            {**ANIMAL_LIST, "description": "An array of Keeper"},
            {},
        ),
    },
    "update": {
        "update_animal": row(
            "PATCH /animals/{animalId} animal update",
            "Change an animal",
            "reversible",
            ANIMAL,
            {"animal_id": 7, "input": {"name": "Ada"}},
            parameters={"animal_id": ID, "input": {"in": "body", "required": True, "schema": type_of("NewAnimal")}},
            body={**BODY, "shape": "whole", "parameter": "input"},
        )
    },
    "delete": {
        "delete_animal": row(
            "DELETE /animals/{animalId} animal delete",
            "Give an animal away",
            "destructive",
            {"name": "Anyone", "kind": "object"},
            {"animal_id": 7},
            parameters={"animal_id": ID},
        )
    },
    "execute": {},
}

TYPES: dict[str, Any] = {
    "Species": {"type": "string", "enum": ["lion", "newt"], "description": "What kind of animal"},
    "Keeper": object_of("full_name", full_name={**TEXT, "x-name": "fullName"}) | {"description": "Feeds animals"},
    "NewAnimal": object_of(name=TEXT, species=type_of("Species")) | {"x-read-only": ["id"]},
    "Animal": {
        "allOf": [type_of("NewAnimal"), object_of("id", id={"type": "integer", "exclusiveMinimum": 0})],
        "properties": {
            "mother": {"$ref": "#/types/Animal", "x-name": "theMother"},
            "age": {"type": ["integer", "null"]},
            "weights": list_of(type_of("Weight")),
            "lair": {"oneOf": [TEXT, type_of("Keeper")]},
        },
    },
    "Weight": {"type": "number", "description": "In kilograms"},
    "Herd": list_of(type_of("Animal")),
    "Resident": {"oneOf": [type_of("Animal"), type_of("Keeper"), {"type": "null"}]},
    "MaybeKeeper": {"anyOf": [type_of("Keeper"), {"type": "null"}]},
    "Anyone": {"type": "object", "anyOf": [type_of("Animal"), type_of("Keeper")]},
    "Loop": type_of("Loop"),
    "Labels": {"type": "object", "additionalProperties": TEXT},
}


def write_package(
    folder: Path,
    adapter: Mapping[str, Any] = ADAPTER,
    operations: Mapping[str, Any] = OPERATIONS,
    types: Mapping[str, Any] = TYPES,
    mock: Mapping[str, Any] | None = None,
) -> Path:
    """Write the data files of a package and return its folder."""
    (folder / "operations").mkdir(parents=True)
    (folder / "adapter.json").write_text(json.dumps(adapter))
    for family, rows in operations.items():
        (folder / "operations" / f"{family}.json").write_text(json.dumps(rows))
    (folder / "types.json").write_text(json.dumps(types))
    (folder / "mock.json").write_text(json.dumps(mock or mocks_of(operations, types)))
    return folder


def mocks_of(operations: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the responses in mock mode as a generated adapter has them; `operations` are entries by family."""
    maker = ValueMaker(types)
    rows = (row_of(name, family, entry) for family, rows in operations.items() for name, entry in rows.items())
    return {row.name: sampled(row, maker.answer) for row in rows}
