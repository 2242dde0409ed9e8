"""Where the parameters that a rule speaks of stand in an operation, and the values that a call has there.

A request is also read as the API reads it: its body, its form and its query, by the API's names. The operations of a
patch (RFC 6902; RFC 7644, 3.5.2) are read as changes of a field that a rule speaks of.

An operation that puts a value at the field, or at what holds it, says the value. Any other that touches the field, what
holds it or what is in it (`move`, `copy`, `remove`, one whose path cannot be read) cannot be told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote

from ...errors import Failure
from ...exact_json import ExactFloat
from ...schema import steps_of
from ...table import JsonSchema, Parameter, Row
from ...text import letters
from ...wire import FORM, is_json, media_type

if TYPE_CHECKING:
    from ...wire import ApiRequest

Spellings: TypeAlias = frozenset[str]
"""The names of one field, the agent's and the API's, each as its letters."""

HIDDEN = object()
"""Stands for what is sent and cannot be looked into, such as an object as text."""
MISSING = object()
"""Stands for the value that an item of a list lacks."""
_MOST_VALUES = 20_000
_MOST_PARTS = 2_000


class Place(NamedTuple):
    """Where a value stands: the parameter, and the names of the fields within it.

    `declared` says that the API's document knows it there, with `defaults` for a call that leaves it out; `patches`
    that only the operations of a patch can name it there.
    """

    parameter: str
    within: tuple[Spellings, ...]
    declared: bool
    defaults: tuple[Any, ...] = ()
    patches: bool = False

    def values(self, params: Mapping[str, Any], *, of_lists: bool) -> list[Any]:
        """Return every value that a call has here, or HIDDEN, or MISSING; with `of_lists` lists are values."""
        if self.parameter not in params or self.patches:
            return []
        values: list[Any] = []
        for value in walk(params[self.parameter], self.within, of_lists=of_lists):
            values.append(value)
            if len(values) > _MOST_VALUES:
                return [HIDDEN]
        return values


def walk(value: Any, path: Sequence[Spellings], *, of_lists: bool, is_item: bool = False) -> Iterator[Any]:
    """Yield the values at a path; lists on the way are of what it goes through."""
    if isinstance(value, list | tuple) and not (of_lists and not path):
        for item in value:
            yield from walk(item, path, of_lists=of_lists, is_item=True)
    elif not path:
        yield HIDDEN if value is None else value
    elif isinstance(value, Mapping):
        if len(value) > _MOST_VALUES:
            yield HIDDEN
            return
        is_known = False
        for steps in range(1, len(path) + 1):  # also `a.b` and `a[b]`, as some APIs write what is within `a`
            names = joined(tuple(path[:steps]))
            for key, inner in value.items():
                if spelled(str(key)) in names:
                    is_known = True
                    yield from walk(inner, path[steps:], of_lists=of_lists, is_item=is_item)
        if is_item and not is_known and not is_operation(value):
            yield MISSING
    else:
        yield HIDDEN


def is_operation(value: Mapping[str, Any]) -> bool:
    """Return True for an operation of a patch, which is no item that may lack a field."""
    names = {letters(str(key)) for key in value}
    return "op" in names and not names.isdisjoint(("path", "from", "value"))


@lru_cache(maxsize=1_000)
def joined(path: tuple[Spellings, ...]) -> Spellings:
    """Return the names of the fields of a path as one name, in each spelling."""
    return frozenset("".join(names) for names in product(*path))


def spelled(name: str) -> str:
    """Return the letters and digits of a name; the name itself if it has none."""
    return letters(name) or name


def places_of(row: Row, path: Sequence[str], types: Mapping[str, JsonSchema]) -> tuple[Place, ...]:
    """Return where a dotted path may lead in an operation: to a parameter of that name, or into its body."""
    places = []
    for name, parameter in row.sent_parameters.items():
        if spelled(path[0]) in (spelled(name), spelled(parameter.wire)):
            within, schemas = _descend(parameter.schema, path[1:], types)
            places.append(Place(name, within, True, _defaults(schemas) if _is_made_whole(row, name) else ()))
        elif parameter.location in ("body_rest", "querystring") or _is_whole(row, name) or _spreads(parameter, types):
            within, schemas = _descend(parameter.schema, path, types)
            defaults = _defaults(schemas) if _is_made_whole(row, name) else ()
            places.append(Place(name, within, bool(schemas), defaults))
        elif parameter.location == "body" and _holds_patches(parameter.schema, types):
            places.append(Place(name, _descend({}, path, types)[0], False, patches=True))
    return tuple(places)


def field_names(row: Row, path: Sequence[str], places: Sequence[Place]) -> tuple[Spellings, ...]:
    """Return the names of the fields of a dotted path in the request that is sent."""
    names = [frozenset({spelled(name)}) for name in path]
    for place in places:
        parameter = row.sent_parameters[place.parameter]
        within = place.within
        if len(within) < len(path):
            within = (frozenset({spelled(parameter.name), spelled(parameter.wire)}), *within)
        names = [known | more for known, more in zip(names, within, strict=True)]
    return tuple(names)


def _is_made_whole(row: Row, name: str) -> bool:
    """Return True if the API puts a declared default in place of a field that is left out: not in a change."""
    is_change = row.method == "PATCH" or (row.update is not None and not row.update.replaces)
    return not is_change or not _is_whole(row, name)


def _spreads(parameter: Parameter, types: Mapping[str, JsonSchema]) -> bool:
    """Return True if the fields of a parameter are sent as parameters of their own."""
    is_exploded = parameter.location in ("query", "cookie") or parameter.stated_style is not None
    if not is_exploded or parameter.style != "form" or not parameter.explode:
        return False
    keys = ("properties", "additionalProperties")
    return any(part.get("type") == "object" or any(map(part.get, keys)) for part in _parts([parameter.schema], types))


def _holds_patches(schema: Any, types: Mapping[str, JsonSchema]) -> bool:
    """Return True for a schema of the operations of a patch."""
    tables = (part.get("properties") or () for part in _parts([schema], types))
    return any({"op", "path"} <= {letters(key) for key in table} for table in tables)


def _defaults(schemas: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(schema["default"] for schema in schemas if schema.get("default") is not None)


def is_open(row: Row, types: Mapping[str, JsonSchema]) -> bool:
    """Return True if a call may send fields that the document does not declare."""
    return any(
        parameter.location == "body_rest" or (_is_whole(row, name) and not _is_closed(parameter.schema, types))
        for name, parameter in row.parameters.items()
    )


def _is_whole(row: Row, name: str) -> bool:
    parameter = row.parameters.get(name)
    return parameter is not None and (
        (row.body is not None and row.body.parameter == name) or (name == "input" and row.update is not None)
    )


def _is_closed(schema: Any, types: Mapping[str, JsonSchema]) -> bool:
    parts = list(_parts([schema], types))
    return any("properties" in part and not part.get("additionalProperties", False) for part in parts)


def _descend(
    schema: Any, path: Sequence[str], types: Mapping[str, JsonSchema]
) -> tuple[tuple[Spellings, ...], list[Mapping[str, Any]]]:
    """Return the spellings of the names of a path in a schema, and the schemas at its end in any of its parts."""
    level, spellings = list(_parts([schema], types)), []
    for segment in path:
        name = spelled(segment)
        names, inner_schemas = {name}, []
        for part in level:
            for key, inner in (part.get("properties") or {}).items():
                wire = inner.get("x-name") if isinstance(inner, Mapping) else None
                known = (spelled(key),) if wire is None else (spelled(key), spelled(str(wire)))
                if name in known:
                    names.update(known)
                    inner_schemas.append(inner)
        spellings.append(frozenset(names))
        level = list(_parts(inner_schemas, types))
    return tuple(spellings), level


def _parts(schemas: Iterable[Any], types: Mapping[str, JsonSchema]) -> Iterator[Mapping[str, Any]]:
    """Yield schemas, those that they refer to, their alternatives and their items, each once."""
    left, seen = list(schemas), set[int]()
    while left and len(seen) < _MOST_PARTS:
        schema = left.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str):
            left.append(types.get(reference.rpartition("/")[2]))
        for key in ("allOf", "anyOf", "oneOf"):
            left += schema.get(key) or ()
        left.append(schema.get("items"))


_OPEN = frozenset({"body_rest", "querystring"})
_PLAIN = frozenset({"string", "integer", "number", "boolean"})


def _is_plain(schema: Any) -> bool:
    """Return True for a schema of which it is plain that no fields are in its values."""
    items = schema.get("items") if isinstance(schema, Mapping) and schema.get("type") == "array" else schema
    types = items.get("type") if isinstance(items, Mapping) else None
    names = {types} if isinstance(types, str) else set(types or ())
    return bool(names) and names <= {*_PLAIN, "null"}


def is_text(entry: Mapping[str, Any]) -> bool:
    """Return True if the body of an operation is one text, by its entry in the table."""
    parameter = (entry.get("parameters") or {}).get((entry.get("body") or {}).get("parameter") or "")
    return parameter is not None and (parameter.get("schema") or {}).get("type") == "string"


def spoken_parameters(entry: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """Return the names of an operation's parameters, as letters, from its entry in the table; and if it has a body.

    The body is one whose fields are no parameters by themselves, or a parameter that may hold further ones. Nothing is
    decoded.
    """
    tables = [entry, entry.get("pagination") or {}, entry.get("update") or {}]
    tables += [kind for choice in (entry.get("choices") or {}).values() for kind in choice.get("kinds", {}).values()]
    names, has_body = set(), "update" in entry or any((table.get("body") or {}).get("parameter") for table in tables)
    for table in tables:
        for key in ("parameters", "fixed"):
            for name, parameter in (table.get(key) or {}).items():
                names |= {spelled(name), spelled(str(parameter.get("name", name)))}
                has_body = has_body or parameter.get("in") in _OPEN or not _is_plain(parameter.get("schema"))
    return frozenset(names), has_body


_MOST_PAIRS = 20_000
_LONGEST = 2_000
_PUTS = frozenset({"add", "replace", "set", "test"})
_DIVIDED = re.compile(r"[/.:\[\]\s]+")
_INDEX = re.compile(r"-|[0-9]+")
_NUMBER = re.compile(r"\[[0-9]+\]|\.[0-9]+(?=[.\[]|$)")
"""The number of an item in the name of a pair: `labels[0]`, `lines.0.price`."""


def patched(value: Any, path: Sequence[Spellings], *, of_lists: bool) -> Iterator[Any]:
    """Yield the values that patch operations anywhere in a value put at a path, HIDDEN for an unclear one."""
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        count += 1
        if count > _MOST_PAIRS:
            yield HIDDEN
            return
        if isinstance(item, list | tuple):
            waiting += item
        elif isinstance(item, Mapping):
            if is_operation(item):
                yield from _operation(item, path, of_lists=of_lists)
            waiting += item.values()


def _operation(operation: Mapping[str, Any], path: Sequence[Spellings], *, of_lists: bool) -> Iterator[Any]:
    """Yield the values that one patch operation puts at a path, by each of its repeated fields."""
    fields: dict[str, list[Any]] = {}
    for key, inner in operation.items():
        fields.setdefault(letters(str(key)), []).append(inner)
    kinds = {letters(kind) if isinstance(kind, str) else "" for kind in fields["op"]}
    puts = kinds <= _PUTS and "value" in fields
    targets = fields.get("path", [""])
    if kinds != {"copy"}:
        targets = [*targets, *fields.get("from", ())]
    for target in targets:
        depth = _depth(target, path)
        if depth is None:
            continue
        is_item = of_lists and isinstance(target, str) and _INDEX.fullmatch(target.rpartition("/")[2]) is not None
        if depth > len(path) or not puts or is_item:
            yield HIDDEN
        else:
            for value in fields["value"]:
                yield from walk(value, path[depth:], of_lists=of_lists)


def _depth(target: Any, path: Sequence[Spellings]) -> int | None:
    """Return how many names of a path an operation's target has; more than there are for one below it or unreadable.

    None for a target elsewhere. A target that is not a pointer may begin anywhere, as after the URN of a schema.
    """
    beyond = len(path) + 1
    if isinstance(target, list) and all(isinstance(step, str) for step in target):
        return _along(target, path)
    if not isinstance(target, str) or len(target) > _LONGEST:
        return beyond
    text = unquote(target.strip().removeprefix("#"))
    if not text or text.startswith("/"):
        return _along(steps_of(text), path)
    steps = [step for step in _DIVIDED.split(text) if letters(step)]
    depths = (_along(steps[begin:], path) for begin in range(len(steps)))
    return next((depth for depth in depths if depth is not None), None if steps else beyond)


def _along(steps: Sequence[str], path: Sequence[Spellings]) -> int | None:
    """Return the same for the steps of a target, of which those that choose an item of a list are left out."""
    has_numbers = any(name.isdigit() for names in path for name in names)
    names = [letters(step) for step in steps if has_numbers or not _INDEX.fullmatch(step)]
    whole = "".join(names)
    for depth in range(len(path) + 1):
        if whole in joined(tuple(path[:depth])):
            return depth
    ends = joined(tuple(path))
    return len(path) + 1 if any("".join(names[:end]) in ends for end in range(1, len(names))) else None


class Sent(NamedTuple):
    """The decoded parts of a request."""

    body: Any
    pairs: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, build: Callable[[], ApiRequest]) -> Sent | None:
        """Return the decoded parts of a request; None for one that cannot be built, and so is not sent."""
        try:
            request = build()
        except Failure:
            return None
        pairs = parse_qsl(request.url.partition("?")[2], keep_blank_values=True)
        body: Any = None
        try:
            if request.content is not None and is_json(request.content_type):
                body = json.loads(request.content)
            elif request.content is not None and media_type(request.content_type) == FORM:
                pairs += parse_qsl(request.content.decode(), keep_blank_values=True)
        except (ValueError, RecursionError):
            body = None
        return cls(body, pairs)

    def values(self, path: Sequence[Spellings], known: Sequence[Any], *, of_lists: bool) -> Iterator[Any]:
        """Yield the values at a path besides those that are `known` from the parameters."""
        if self.body is not None and not isinstance(self.body, str | int | float):
            for value in walk(self.body, path, of_lists=of_lists):
                if value is not MISSING:
                    yield value
            yield from patched(self.body, path, of_lists=of_lists)
        names = joined(tuple(path))
        texts = [text for name, text in self.pairs if spelled(_NUMBER.sub("", name)) in names]
        if len(texts) > 1 or not known:
            written = {text for value in known for text in _texts(value)}
            more = [text for text in texts if text not in written]
            yield from [texts] if of_lists and more else more


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, ExactFloat):
        yield value.text
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)
