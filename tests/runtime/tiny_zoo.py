"""A tiny adapter, written by hand in the form of the package's data files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aqlgen.runtime.table import row_of
from aqlgen.table.responses import sampled
from aqlgen.table.sample_values import ValueMaker

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

OPERATIONS: dict[str, dict[str, Any]] = {
    "create": {
        "create_animal": {
            "summary": "Take an animal into the zoo",
            "method": "POST",
            "path": "/animals",
            "resource": "animal",
            "verb": "create",
            "danger": "reversible",
            "parameters": {
                "name": {"in": "body", "required": True, "schema": {"type": "string", "minLength": 1, "maxLength": 40}},
                "species": {"in": "body", "required": True, "schema": {"$ref": "#/types/Species"}},
                "keeper": {"in": "body", "schema": {"anyOf": [{"$ref": "#/types/Keeper"}, {"type": "null"}]}},
                "tags": {
                    "in": "body",
                    "schema": {"type": "array", "maxItems": 5, "items": {"type": "string", "pattern": "^[a-z]+$"}},
                },
                "notes": {"in": "body", "schema": {"type": "object", "additionalProperties": True}},
                "secret_word": {"in": "body", "name": "secretWord", "sensitive": True, "schema": {"type": "string"}},
            },
            "body": {
                "content_type": "application/json",
                "required": True,
                "shape": "fields",
                "schema": {"$ref": "#/types/NewAnimal"},
            },
            "responses": {"201": {"content_type": "application/json", "schema": {"$ref": "#/types/Animal"}}},
            "returns": {"name": "Animal", "kind": "object"},
            "example": {"name": "Ada", "species": "lion"},
        }
    },
    "read": {
        "list_animals": {
            "summary": "List the animals",
            "description": "List the animals, the newest first.\n\nPages hold 20.",
            "method": "GET",
            "path": "/animals",
            "resource": "animal",
            "verb": "list",
            "danger": "safe",
            "parameters": {
                "limit": {
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                    "description": "How many",
                },
                "born_after": {"in": "query", "name": "bornAfter", "schema": {"type": "string", "format": "date"}},
            },
            "returns": {"name": "array", "kind": "scalar", "description": "An array of Animal"},
            "example": {},
        },
        "get_animal": {
            "summary": "Show one animal",
            "operation_id": "showAnimal",
            "method": "GET",
            "path": "/animals/{animalId}",
            "resource": "animal",
            "verb": "get",
            "danger": "safe",
            "deprecated": True,
            "parameters": {"animal_id": ID},
            "returns": {"name": "Animal", "kind": "object"},
            "example": {"animal_id": 7},
        },
        "list_keepers": {
            "summary": "List the people who feed animals",
            "method": "GET",
            "path": "/keepers",
            "resource": "keeper",
            "verb": "list",
            "danger": "safe",
            "parameters": {},
            "returns": {"name": "array", "kind": "scalar", "description": "An array of Keeper"},
            "example": {},
        },
    },
    "update": {
        "update_animal": {
            "summary": "Change an animal",
            "method": "PATCH",
            "path": "/animals/{animalId}",
            "resource": "animal",
            "verb": "update",
            "danger": "reversible",
            "parameters": {
                "animal_id": ID,
                "input": {"in": "body", "required": True, "schema": {"$ref": "#/types/NewAnimal"}},
            },
            "body": {
                "content_type": "application/json",
                "required": True,
                "shape": "whole",
                "parameter": "input",
                "schema": {"$ref": "#/types/NewAnimal"},
            },
            "returns": {"name": "Animal", "kind": "object"},
            "example": {"animal_id": 7, "input": {"name": "Ada"}},
        }
    },
    "delete": {
        "delete_animal": {
            "summary": "Give an animal away",
            "method": "DELETE",
            "path": "/animals/{animalId}",
            "resource": "animal",
            "verb": "delete",
            "danger": "destructive",
            "parameters": {"animal_id": ID},
            "returns": {"name": "Anyone", "kind": "object"},
            "example": {"animal_id": 7},
        }
    },
    "execute": {},
}

TYPES: dict[str, Any] = {
    "Species": {"type": "string", "enum": ["lion", "newt"], "description": "What kind of animal"},
    "Keeper": {
        "type": "object",
        "description": "Feeds animals",
        "required": ["full_name"],
        "properties": {"full_name": {"type": "string", "x-name": "fullName"}},
    },
    "NewAnimal": {
        "type": "object",
        "x-read-only": ["id"],
        "properties": {"name": {"type": "string"}, "species": {"$ref": "#/types/Species"}},
    },
    "Animal": {
        "allOf": [
            {"$ref": "#/types/NewAnimal"},
            {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "exclusiveMinimum": 0}}},
        ],
        "properties": {
            "mother": {"$ref": "#/types/Animal", "x-name": "theMother"},
            "age": {"type": ["integer", "null"]},
            "weights": {"type": "array", "items": {"$ref": "#/types/Weight"}},
            "lair": {"oneOf": [{"type": "string"}, {"$ref": "#/types/Keeper"}]},
        },
    },
    "Weight": {"type": "number", "description": "In kilograms"},
    "Herd": {"type": "array", "items": {"$ref": "#/types/Animal"}},
    "Resident": {"oneOf": [{"$ref": "#/types/Animal"}, {"$ref": "#/types/Keeper"}, {"type": "null"}]},
    "MaybeKeeper": {"anyOf": [{"$ref": "#/types/Keeper"}, {"type": "null"}]},
    "Anyone": {"type": "object", "anyOf": [{"$ref": "#/types/Animal"}, {"$ref": "#/types/Keeper"}]},
    "Loop": {"$ref": "#/types/Loop"},
    "Labels": {"type": "object", "additionalProperties": {"type": "string"}},
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
