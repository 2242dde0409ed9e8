"""A synthetic API document of any size, always the same for a size: resources with five operations each.

Schemas refer to one another as those of real APIs do: to their neighbours, to shared ones, to themselves.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

NOUNS = (
    "account invoice order product customer shipment payment refund report ticket comment project task user team "
    "group role policy device sensor alert message channel folder file image video album track playlist event"
).split()
PLACES = "eu us asia legacy internal public partner mobile web batch archive beta core edge lab".split()
WORDS = (
    "the a of for each when all its own value given by which state time owner last first total number returns "
    "changed created lists entries page filter key record service limit request answer"
).split()
PER_RESOURCE = 5


class Synthesizer:
    """A generator of one document; `words` is how many words a description has."""

    def __init__(self, operations: int, words: int) -> None:
        self._random = random.Random(operations)
        self._count = operations
        self._resources = -(-operations // PER_RESOURCE)
        self._words = words

    def prose(self, words: int | None = None) -> str:
        """Return a sentence."""
        chosen = self._random.choices(WORDS, k=self._words if words is None else words)
        return " ".join(chosen).capitalize() + "."

    def name(self, index: int) -> tuple[str, ...]:
        """Return the words that name a resource."""
        index, noun = divmod(index, len(NOUNS))
        words = [NOUNS[noun]]
        while index:
            index, place = divmod(index - 1, len(PLACES))
            words.insert(0, PLACES[place])
        return tuple(words)

    def document(self) -> Json:
        """Return the whole document."""
        paths: Json = {}
        for number, (path, method, operation) in enumerate(self._operations()):
            if number < self._count:
                paths.setdefault(path, {})[method] = operation
        return {
            "openapi": "3.1.0",
            "info": {"title": "Synthetic API", "version": "1.0.0", "description": self.prose()},
            "servers": [{"url": "https://api.example.com/v1"}],
            "security": [{"key": []}],
            "paths": paths,
            "components": {
                "schemas": {**SHARED, **{self._type(index): self._schema(index) for index in range(self._resources)}},
                "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
            },
        }

    def _type(self, index: int) -> str:
        return "".join(word.capitalize() for word in self.name(index))

    def _schema(self, index: int) -> Json:
        shuffled = self._random
        neighbour = self._type(max(0, index - shuffled.randint(1, 20)))
        return {
            "type": "object",
            "description": self.prose(),
            "required": ["id", "displayName"],
            "properties": {
                "id": {"type": "string", "format": "uuid", "readOnly": True},
                "displayName": {"type": "string", "maxLength": 200, "description": self.prose()},
                "state": {"type": "string", "enum": ["active", "paused", "closed"], "default": "active"},
                "createdAt": {"type": "string", "format": "date-time", "readOnly": True},
                "amount": {"$ref": "#/components/schemas/Money"},
                "parent": {"$ref": f"#/components/schemas/{self._type(index)}"},
                "related": {"type": "array", "items": {"$ref": f"#/components/schemas/{neighbour}"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "position": {"type": ["integer", "null"], "minimum": 0},
                f"{shuffled.choice(WORDS)}Count": {"type": "integer", "description": self.prose()},
            },
        }

    def _operations(self) -> Iterator[tuple[str, str, Json]]:
        for index in range(self._resources):
            words = self.name(index)
            noun, reference = self._type(index), {"$ref": f"#/components/schemas/{self._type(index)}"}
            base = "/" + "/".join((*words[:-1], f"{words[-1]}s"))
            item = f"{base}/{{{words[-1]}Id}}"
            key = {"name": f"{words[-1]}Id", "in": "path", "required": True, "schema": {"type": "string"}}
            body = {"required": True, "content": {"application/json": {"schema": reference}}}
            page = {"type": "object", "properties": {"items": {"type": "array", "items": reference}, "next": TEXT}}
            yield base, "get", self._operation(f"list{noun}s", words, [*PAGING], None, page)
            yield base, "post", self._operation(f"create{noun}", words, [], body, reference)
            yield item, "get", self._operation(f"get{noun}", words, [key], None, reference)
            yield item, "patch", self._operation(f"update{noun}", words, [key], body, reference)
            yield item, "delete", self._operation(f"delete{noun}", words, [key], None, None)

    def _operation(
        self, name: str, words: tuple[str, ...], parameters: list[Json], body: Json | None, answer: Json | None
    ) -> Json:
        good: Json = {"description": self.prose(3)}
        if answer is not None:
            good["content"] = {"application/json": {"schema": answer}}
        problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        return {
            "operationId": name,
            "summary": self.prose(5),
            "description": self.prose(),
            "tags": [words[0]],
            "parameters": parameters,
            **({"requestBody": body} if body else {}),
            "responses": {
                "204" if answer is None else "200": good,
                "400": {"description": self.prose(3), "content": problem},
                "404": {"description": self.prose(3), "content": problem},
            },
        }


TEXT = {"type": "string"}
PAGING = (
    {"name": "pageSize", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
    {"name": "pageToken", "in": "query", "schema": TEXT},
    {
        "name": "sortBy",
        "in": "query",
        "schema": {"type": "array", "items": {"enum": ["id", "state"]}},
        "explode": False,
    },
)
SHARED: Json = {
    "Money": {
        "type": "object",
        "required": ["currency", "value"],
        "properties": {"currency": {"type": "string", "pattern": "^[A-Z]{3}$"}, "value": {"type": "number"}},
    },
    "Problem": {
        "type": "object",
        "properties": {
            "code": TEXT,
            "message": TEXT,
            "causes": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}},
        },
    },
}


def document(operations: int, size: int = 0) -> bytes:
    """Return the document as JSON; of about `size` bytes, if given, by the length of its descriptions."""
    short, longer = (json.dumps(Synthesizer(operations, words).document()).encode() for words in (12, 24))
    if size <= len(short):
        return short
    words = 12 + round(12 * (size - len(short)) / (len(longer) - len(short)))
    return json.dumps(Synthesizer(operations, words).document()).encode()
