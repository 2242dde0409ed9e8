"""What an operation's answer and its body say about it: many things or one, or nothing at all.

Schemas are raw JSON Schema; references are followed with the document's resolver, and only as far as the question asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import Json, Operation
from aqlgen.words import split

__all__ = ["answers_many", "answers_nothing", "body_fields", "sends_many"]

_LISTS: Final = frozenset(
    "data items results result records values value entries elements list rows content edges hits objects members"
    " collection resources".split()
)
"""What the property is called that holds the list, where it is not called like the things in it."""

_PAGING: Final = frozenset(
    (
        "next prev previous cursor page pages paging pagination total totals count has_more hasmore next_page links"
        " limit offset per_page page_size next_token total_count meta first last truncated incomplete_results"
    ).split()
)
"""Properties that stand beside a list."""

_WRAPS: Final = frozenset("data result results response payload".split())
"""What the property is called that the whole answer is wrapped in; else it is called like the noun."""

_BESIDE: Final = 4
"""How many properties may stand beside the paging ones before the answer is a thing that holds a list."""

_DEPTH: Final = 4


def answers_nothing(operation: Operation) -> bool:
    """Whether the operation succeeds without a body; False where no success is declared."""
    answers = [response for response in operation.responses if response.status.startswith("2")]
    return bool(answers) and not any(answer.media for answer in answers)


def answers_many(operation: Operation, nouns: tuple[str, ...], resolver: Resolver | None) -> bool | None:
    """Whether the answer is a list, bare or with what pages it; None where the document does not tell.

    `nouns` are the words of the path's last noun: a property called so holds the list.
    """
    for response in operation.responses:
        if not response.status.startswith("2"):
            continue
        for media in response.media:
            if "json" in media.content_type and isinstance(media.schema, dict):
                return _many(media.schema, nouns, resolver, _DEPTH)
        if response.media:
            return None
    return None


def sends_many(operation: Operation, resolver: Resolver | None) -> bool | None:
    """Whether what is sent is or holds a list; None where the document does not tell."""
    for media in operation.body.media if operation.body else ():
        schema = _follow(media.schema, resolver)
        if schema is None or "json" not in media.content_type:
            return None
        if _is_array(schema):
            return True
        properties = [_follow(one, resolver) for one in _properties(schema, resolver).values()]
        return any(one is not None and _is_array(one) for one in properties) if properties else None
    return None


def body_fields(operation: Operation, resolver: Resolver | None) -> Mapping[str, Json]:
    """Give the properties of the JSON that is sent; empty where the document does not tell."""
    for media in operation.body.media if operation.body else ():
        schema = _follow(media.schema, resolver)
        if schema is not None and "json" in media.content_type:
            return _properties(schema, resolver)
    return {}


def _many(schema: Json, nouns: tuple[str, ...], resolver: Resolver | None, depth: int) -> bool | None:
    schema = _follow(schema, resolver)
    if schema is None or depth == 0:
        return None
    if _is_array(schema):
        return True
    properties = _properties(schema, resolver)
    if not properties:
        branches = _branches(schema, "oneOf") or _branches(schema, "anyOf")
        return _many(branches[0], nouns, resolver, depth - 1) if branches else None
    followed = {name: _follow(one, resolver) for name, one in properties.items()}
    arrays = [name for name, one in followed.items() if one is not None and _is_array(one)]
    if arrays:
        if len(properties) == 1:
            return True
        if any(name.lower().lstrip("@_") in _LISTS for name in arrays):
            return True
        marks = {"_".join(split(name)) for name in properties}
        paging = {mark for mark in marks if mark in _PAGING or mark.split("_")[0] in ("next", "total", "page")}
        called = any(nouns and split(name)[-1:] == nouns[-1:] for name in arrays)
        return (called or bool(paging)) and len(marks - paging) <= _BESIDE
    inner = [
        one
        for name, one in followed.items()
        if one is not None
        and (name.lower() in _WRAPS or (nouns and split(name)[-1:] == nouns[-1:]))
        and _properties(one, resolver)
    ]
    if len(inner) == 1 and len(properties) < 6:
        return _many(inner[0], nouns, resolver, depth - 1)
    return False


def _follow(schema: Json, resolver: Resolver | None) -> Mapping[str, Json] | None:
    if isinstance(schema, dict) and "$ref" in schema:
        if resolver is None or not isinstance(schema["$ref"], str):
            return None
        try:
            schema, _ = resolver.follow(schema, "")
        except UnresolvedError:
            return None
    return schema if isinstance(schema, dict) else None


def _is_array(schema: Mapping[str, Json]) -> bool:
    kind = schema.get("type")
    return kind == "array" or (isinstance(kind, list) and "array" in kind) or (kind is None and "items" in schema)


def _branches(schema: Mapping[str, Json], word: str) -> list[Json]:
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _properties(schema: Mapping[str, Json], resolver: Resolver | None) -> dict[str, Json]:
    """Give the properties of a schema, with those of its allOf; each schema is looked at once."""
    found: dict[str, Json] = {}
    waiting, seen = [schema], {id(schema)}
    while waiting:
        one = waiting.pop()
        own = one.get("properties")
        found |= {str(name): value for name, value in own.items()} if isinstance(own, dict) else {}
        for part in _branches(one, "allOf"):
            followed = _follow(part, resolver)
            if followed is not None and id(followed) not in seen:
                seen.add(id(followed))
                waiting.append(followed)
    return found
