"""Evidence in request and response schemas: a list, one thing, or no body."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

from aqlgen.decide.schemas import Schemas
from aqlgen.document.positions import escape
from aqlgen.ir import Json, Operation
from aqlgen.runtime.wire import JSON_PATCH, media_type
from aqlgen.words import split

Schema: TypeAlias = Mapping[str, Json]

_LISTS: Final = frozenset(
    "data items results result records values value entries elements list rows content edges hits objects members"
    " collection resources".split()
)
"""Names of the property that holds the list, other than the name of the things in it."""

_PAGING: Final = frozenset(
    (
        "next prev previous cursor page pages paging pagination total totals count has_more hasmore next_page links"
        " limit offset per_page page_size next_token total_count meta first last truncated incomplete_results"
    ).split()
)
"""Properties that accompany a list."""

_WRAPPERS: Final = frozenset("data result results response payload".split())
"""Names of the property that wraps the whole response, other than the name of the noun."""

_EXTRAS: Final = 4
"""How many properties besides paging a list may have before the response is a thing that holds a list."""

_NOTICES: Final = frozenset("errors messages warnings notices".split())
"""Lists in an envelope that say nothing of what it wraps."""

_WRAPPER_SIZE: Final = 6
"""A response with this many properties or more is no wrapper."""

_DEPTH: Final = 4
_LIST: Final = frozenset({"array"})
_STRUCTURE: Final = frozenset({"properties", "items", "additionalProperties", "allOf", "oneOf", "anyOf"})
_MOST_OBJECTS, _DEEPEST_OBJECT = 200, 6
"""How many objects of a request body are looked at, and how deep they may lie."""


def answers_nothing(operation: Operation) -> bool:
    """Return True if a success is declared and none has a body."""
    successes = [response for response in operation.responses if response.status.startswith("2")]
    return bool(successes) and not any(response.media for response in successes)


def answers_list(operation: Operation, nouns: tuple[str, ...], schemas: Schemas) -> bool | None:
    """Return True if the response is a list, bare or with paging properties; None where the document does not say.

    `nouns` are the words of the path's last noun: a property of that name holds the list.
    """
    for response in operation.responses:
        if not response.status.startswith("2"):
            continue
        for media in response.media:
            if "json" in media.content_type and isinstance(media.schema, dict):
                return _is_list(media.schema, nouns, schemas, _DEPTH)
        if response.media:
            return None
    return None


def sends_list(operation: Operation, schemas: Schemas) -> bool | None:
    """Return True if a request body is or holds a list; None where the document does not say."""
    answer: bool | None = None
    for schema in _bodies(operation):
        fields = schemas.properties(schema).values()
        if any(schemas.kinds(each) == _LIST for each in (schema, *fields)):
            return True
        if fields and not any(_is_file(schemas.resolve(field)) for field in fields):
            answer = False
    return answer


def is_sent_as_list(operation: Operation, schemas: Schemas) -> bool:
    """Return True if a request body is a list itself."""
    return any(schemas.kinds(schema) == _LIST for schema in _bodies(operation))


def body_objects(operation: Operation, schemas: Schemas) -> Iterator[tuple[str, Json]]:
    """Yield the objects that a request body may hold, the nearest first: the pointer to each, and its schema.

    In the pointer `*` stands for every item. Of alternatives all are there. Those that lie too deep are left out.
    """
    waiting = deque(("", schema) for schema in _bodies(operation))
    for _ in range(_MOST_OBJECTS):
        if not waiting:
            return
        pointer, schema = waiting.popleft()
        yield pointer, schema
        if pointer.count("/") < _DEEPEST_OBJECT:
            inner_objects = schemas.once("inner objects", schema, partial(_inner_objects, schema, schemas))
            waiting += [(pointer + step, inner) for step, inner in inner_objects]


def _inner_objects(schema: Json, schemas: Schemas) -> list[tuple[str, Schema]]:
    """Return the schemas of the fields and items of an object, where they have a structure, with their steps."""
    inner: list[tuple[str, Json]] = []
    for part in schemas.parts(schema):
        declared = part.get("properties")
        if isinstance(declared, dict):
            inner += [(f"/{escape(str(name))}", declared[name]) for name in schemas.sent(declared)]
        inner += [("/*", part[key]) for key in ("items", "additionalProperties") if key in part]
    followed = ((step, schemas.resolve(field)) for step, field in inner)
    return [(step, field) for step, field in followed if not _STRUCTURE.isdisjoint(field)]


def _bodies(operation: Operation) -> Iterator[Json]:
    """Yield the schemas of a request body in all its media types, except patch scripts, which name no fields."""
    for media in operation.body.media if operation.body else ():
        if isinstance(media.schema, dict) and media_type(media.content_type) != JSON_PATCH:
            yield media.schema


def _is_list(schema: Json, nouns: tuple[str, ...], schemas: Schemas, depth: int) -> bool | None:
    if depth == 0:
        return None
    if schemas.kinds(schema) == _LIST:
        return True
    target = schemas.resolve(schema)
    branches = target.get("oneOf") or target.get("anyOf")
    if branches and isinstance(branches, list) and "properties" not in target and "allOf" not in target:
        return _is_list(branches[0], nouns, schemas, depth - 1)
    properties = schemas.properties(schema)
    return _is_list_in(properties, nouns, schemas, depth) if properties else None


def _is_list_in(properties: Schema, nouns: tuple[str, ...], schemas: Schemas, depth: int) -> bool | None:
    """Return True if an object with these properties is a page of a list, or wraps one; None if it does not say."""
    arrays = [name for name, field in properties.items() if schemas.kinds(field) == _LIST]
    wrappers = [field for name, field in properties.items() if name.lower() in _WRAPPERS]
    if arrays and not (wrappers and set(map(str.lower, arrays)) <= _NOTICES):
        return _is_page(properties, arrays, nouns)
    wrapped = _wrapped(properties, nouns, schemas) if len(properties) < _WRAPPER_SIZE else None
    if wrapped is not None:
        return _is_list(wrapped, nouns, schemas, depth - 1)
    return None if any(_is_open(schemas.resolve(field)) for field in wrappers) else False


def _is_page(properties: Schema, arrays: list[str], nouns: tuple[str, ...]) -> bool:
    """Return True if an object with these properties is a page of a list rather than a thing that holds one."""
    if len(properties) == 1 or any(name.lower().lstrip("@_") in _LISTS for name in arrays):
        return True
    keys = {"_".join(split(name)) for name in properties}
    paging = {key for key in keys if key in _PAGING or key.split("_")[0] in ("next", "total", "page")}
    return (bool(paging) or any(_is_called(name, nouns) for name in arrays)) and len(keys - paging) <= _EXTRAS


def _wrapped(fields: Schema, nouns: tuple[str, ...], schemas: Schemas) -> Json:
    """Return the schema of the only property that wraps the whole response, None where there is no such property.

    `_embedded` of HAL wraps it where all that stands beside it is paging.
    """
    if "_embedded" in fields and all("_".join(split(name)) in _PAGING for name in fields if name != "_embedded"):
        return fields["_embedded"]
    names = [name for name in fields if name.lower() in _WRAPPERS or _is_called(name, nouns)]
    wrapped = [fields[name] for name in names if schemas.properties(fields[name])]
    return wrapped[0] if len(wrapped) == 1 else None


def _is_file(schema: Schema) -> bool:
    """Return True if a field takes a file, which may hold a list."""
    return schema.get("format") == "binary" or not {"contentMediaType", "contentEncoding"}.isdisjoint(schema)


def _is_open(schema: Schema) -> bool:
    """Return True if a schema says neither list nor one thing: the `result` of an envelope that all answers share."""
    return not schema.keys() & {"type", "properties", "allOf", "$ref"}


def _is_called(name: str, nouns: tuple[str, ...]) -> bool:
    return bool(nouns) and split(name)[-1:] == nouns[-1:]
