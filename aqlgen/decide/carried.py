"""Operations that carry other operations: a batch of requests, or an action that each call chooses.

The evidence is the structure of the request: an object with a field for an HTTP method beside one for a path, a field
that chooses and whose values both delete and do something else, fields that are named by deleting and by creating, and
a batch whose parts the document does not declare. What a call then says is looked at when it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from aqlgen.decide.naming.verbs import leading_verb
from aqlgen.decide.payloads import body_objects
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.sentences import base_forms
from aqlgen.ir import Json, Location, Operation, Parameter
from aqlgen.runtime.table import READING_METHODS, CarriedPlace
from aqlgen.runtime.wire import is_json_lines, media_type
from aqlgen.words import singular, split

CHOOSERS: Final = frozenset(
    "action act op operation cmd command do task func function verb event mode submit method _method".split()
)
"""Parameters and fields whose value chooses what is done."""
_STATES: Final = frozenset({("status",), ("state",)})
"""Last words of fields that hold a state: an update to `deleted` deletes."""
DELETING: Final = frozenset(
    "delete remove destroy purge erase wipe revoke truncate deregister unregister terminate kill".split()
)
"""Verbs of a GET, or of a value, that is a DELETE."""

_METHODS: Final = frozenset("GET HEAD QUERY OPTIONS TRACE CONNECT POST PUT PATCH DELETE".split())
_METHOD_FIELDS: Final = frozenset({("method",), ("http", "method"), ("request", "method")})
_ADDRESSES: Final = frozenset("path url uri href endpoint".split())
_PATCHING: Final = frozenset("add remove replace move copy test".split())
"""The operations of JSON Patch (RFC 6902, 4)."""
_MAKING: Final = frozenset("create add insert update upsert put index set".split())
_UNREAD: Final = frozenset({"multipart/mixed", "multipart/batch", "application/http", "message/http"})
"""Media types that hold whole requests (RFC 2046, 5.1.3; RFC 9112, 10)."""
_BATCHES: Final = frozenset({("batch",), ("bulk",)})
_MOST_VALUES: Final = 500
_MOST_BESIDE: Final = 3
"""How many fields an object has at most whose list is a batch."""

_Schema: TypeAlias = Mapping[str, Json]
_Fields: TypeAlias = Mapping[str, list[_Schema]]
"""The schemas of each field, those of its alternatives included."""


@dataclass(frozen=True, slots=True)
class Carrying:
    """What an operation can carry, and where a call says it; no place where the document does not tell."""

    places: tuple[CarriedPlace, ...]
    note: str
    is_batch: bool
    """Whether the operation is there to carry others; not if it stores a thing with a detail that says so."""

    @property
    def takes_requests(self) -> bool:
        """True if many requests are carried, or nobody can tell what is."""
        return self.is_batch and (not self.places or any(place.address is not None for place in self.places))


def carrying(operation: Operation, schemas: Schemas, *, of_one: bool) -> Carrying | None:
    """Return the places where a request can carry other operations, None without any.

    With `of_one` the path names one resource. What is added to it and removed from it, as by JSON Patch, is an ordinary
    update of that resource then, and no other operation: it reaches nothing but what the path names.
    """
    places = [place for parameter in operation.parameters for place in _parameter(parameter, operation.method.upper())]
    sizes: dict[str, int] = {}
    for pointer, schema in body_objects(operation, schemas):
        end = _end(pointer)
        look = partial(_object, schema, schemas, end, of_one)
        size, places_of_object = schemas.once(f"carried {of_one} {end}", schema, look)
        sizes[pointer] = max(size, sizes.get(pointer, 0))
        places += [replace(place, at=pointer) for place in places_of_object]
    if places:
        first = places[0]
        is_batch = any(_is_batch(place, sizes) for place in places)
        return Carrying(tuple(dict.fromkeys(places)), f"{first.at}/{first.field} {_says(first)}", is_batch)
    if not _is_unread(operation, declared=any(sizes.values())):
        return None
    return Carrying((), "it carries undeclared actions", is_batch=True)


def _says(place: CarriedPlace) -> str:
    if place.address is not None:
        return f"says an HTTP method, and {place.address} its path"
    return "contains the deleted items" if place.holds else "may say that something is deleted"


def _is_batch(place: CarriedPlace, sizes: Mapping[str, int]) -> bool:
    """Return True if an operation is there to carry what it does: at the root, or in a list with few fields beside."""
    container, _, item = place.at.rpartition("/")
    if place.address is not None or _is_state(place.field):
        return place.address is not None and item == "*"
    return not place.at or (item == "*" and sizes.get(container.rpartition("/")[0], 0) <= _MOST_BESIDE)


def _is_unread(operation: Operation, *, declared: bool) -> bool:
    """Return True for a batch whose parts the document does not declare."""
    media = operation.body.media if operation.body else ()
    if any(media_type(item.content_type) in _UNREAD for item in media):
        return True
    segment = operation.path.rstrip("/").rsplit("/", 1)[-1]
    if not media or "{" in segment or split(segment) not in _BATCHES:
        return False
    return not declared or any(is_json_lines(item.content_type) for item in media)


def _end(pointer: str) -> str:
    """Return the kind of place that a pointer leads to: the root, an item of a named list, or a field."""
    container, _, item = pointer.rpartition("/")
    if item == "*":
        return container.rpartition("/")[2] + "/*"
    return "/field" if item else ""


def _object(schema: Json, schemas: Schemas, pointer: str, of_one: bool) -> tuple[int, tuple[CarriedPlace, ...]]:
    """Return how many fields an object has, and those that say what is done."""
    parts = list(schemas.parts(schema))
    fields = _fields(parts, schemas)
    places = (
        *_requests(pointer, fields),
        *_choices(pointer, fields, parts, of_one=of_one),
        *_holders(pointer, fields, of_one=of_one),
    )
    return len(fields), places


def _fields(parts: Iterable[_Schema], schemas: Schemas) -> _Fields:
    fields: dict[str, list[_Schema]] = {}
    for part in parts:
        declared = part.get("properties")
        for name, field in declared.items() if isinstance(declared, dict) else ():
            fields.setdefault(str(name), []).extend(schemas.parts(field))
    return fields


def _parameter(parameter: Parameter, method: str) -> Iterator[CarriedPlace]:
    """Find a parameter of a query that chooses what is done; for a GET the category looks at it."""
    if method == "GET" or parameter.location is not Location.QUERY or not isinstance(parameter.schema, dict):
        return
    values = _values([parameter.schema])
    if _chooses(parameter.name) and _both(values):
        harmless = _harmless(values)
        optional = not parameter.required and parameter.schema.get("default") in (None, *harmless)
        yield CarriedPlace(location="query", field=parameter.name, harmless=harmless, optional=optional)


def _requests(pointer: str, fields: _Fields) -> Iterator[CarriedPlace]:
    """Find an HTTP method beside a path: `{method, path}`, `{httpMethod, url, headers, body}`; no described link."""
    address = _address(fields)
    for name, schemas in fields.items() if address is not None else ():
        values = {value.upper() for value in _values(schemas)}
        is_called = split(name) in _METHOD_FIELDS and any(
            each.get("type") in ("string", None) and not _is_container(each) for each in schemas
        )
        is_listed = pointer.endswith("/*") and bool(values)
        if (is_called or is_listed) and values <= _METHODS and (not values or not values <= READING_METHODS):
            yield CarriedPlace(at=pointer, field=name, address=address, optional=not pointer.endswith("/*"))


def _address(fields: _Fields) -> str | None:
    """Return the field that is a path; None in a link that is described (RFC 8288), which nothing calls."""
    is_link = {"href", "rel"} <= fields.keys() and {"body", "data", "payload", "params"}.isdisjoint(fields)
    return None if is_link else next((name for name in fields if not _ADDRESSES.isdisjoint(split(name)[-1:])), None)


def _choices(pointer: str, fields: _Fields, parts: Iterable[_Schema], *, of_one: bool) -> Iterator[CarriedPlace]:
    """Find a field that chooses what is done: `{action: create | delete, entities}`."""
    required = {name for part in parts for name in _strings(part.get("required"))}
    kinds = _kind_fields(pointer, parts)
    for name, schemas in fields.items():
        values, is_state = _values(schemas), _is_state(name)
        chooses = is_state or name in kinds or _chooses(name)
        if not chooses or not _both(values, is_state=is_state) or set(map(str.upper, values)) <= _METHODS:
            continue
        if of_one and set(map(str.lower, values)) <= _PATCHING:
            continue
        harmless = _harmless(values, is_state=is_state)
        is_kept = is_state or any(schema.get("default") in harmless for schema in schemas)
        optional = name not in required and is_kept
        yield CarriedPlace(at=pointer, field=name, harmless=harmless, optional=optional)


def _kind_fields(pointer: str, parts: Iterable[_Schema]) -> set[str]:
    """Return the fields that say of which kind a body or an item is: discriminators, and `type` among actions."""
    container, _, item = pointer.rpartition("/")
    if item not in ("", "*"):
        return set()
    declared = (part.get("discriminator") for part in parts)
    kinds = {str(each.get("propertyName", "")) for each in declared if isinstance(each, dict)}
    listed = split(container.rpartition("/")[2])[-1:] if item else ()
    return kinds | {"type"} if CHOOSERS & set(map(singular, listed)) else kinds


def _holders(pointer: str, fields: _Fields, *, of_one: bool) -> Iterator[CarriedPlace]:
    """Find fields that are named by what is done to what they hold: `{create: […], delete: […]}`."""
    heads = {name: leading_verb(split(name)) for name, schemas in fields.items() if any(map(_is_container, schemas))}
    verbs = {name: head[0].word for name, head in heads.items() if head is not None}
    others = set(verbs.values()) & _MAKING
    for name, verb in verbs.items() if others else ():
        if verb in DELETING and not (of_one and verb == "remove" and "add" in others):
            yield CarriedPlace(at=pointer, field=name, holds=True, optional=True)


def _chooses(name: str) -> bool:
    return name.lower() in CHOOSERS or "_".join(split(name)) in CHOOSERS


def _is_state(name: str) -> bool:
    return split(name)[-1:] in _STATES


def _both(values: list[str], *, is_state: bool = False) -> bool:
    """Return True if some of the values delete and some do something else."""
    return 0 < len(_harmless(values, is_state=is_state)) < len(values)


def _harmless(values: Iterable[str], *, is_state: bool = False) -> tuple[str, ...]:
    return tuple(value for value in values if not _deletes(value, is_state=is_state))


def _deletes(value: str, *, is_state: bool) -> bool:
    words = split(value[:60])
    if is_state:
        return bool(words) and not DELETING.isdisjoint(base_forms(words[-1]))
    head = leading_verb(words)
    return bool(words) and (words[-1] in DELETING or (head is not None and head[0].word in DELETING))


def _values(schemas: Iterable[_Schema]) -> list[str]:
    """Return the strings that a field may be, where the document lists them."""
    values = [
        value for schema in schemas for value in (*_strings(schema.get("enum")), *_strings([schema.get("const")]))
    ]
    return list(dict.fromkeys(values))[:_MOST_VALUES]


def _strings(values: Json) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _is_container(schema: _Schema) -> bool:
    return schema.get("type") in ("array", "object") or not {"properties", "items"}.isdisjoint(schema)
