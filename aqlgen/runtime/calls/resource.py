"""A resource as it is read and as it is written: its place in an answer, and what of it can be written back (R-UPD-2).

All keys are the API's own; paths of fields that agents see have the agents' names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from ..schema import MISSING, Shape, Types, at, declared_types, follow, json_type, nullable, parts, union_of
from ..table import JsonSchema
from ..text import folded, line

_DEEPEST = 40
_WRAPPERS = 3
_MOST_PLACES = 200
_NOTHING: JsonSchema = {}
_FURTHER = ("additionalProperties", "unevaluatedProperties")
_MASKED = re.compile(r"[*•●∙█]{3,1000}|[*•●∙█]{3,1000}[\w-]{1,8}|[\w-]{1,8}[*•●∙█]{3,1000}[\w-]{0,8}")
_MASKING_WORDS = frozenset({"redacted", "filtered", "hidden", "masked", "sensitive", "secret", "obfuscated", "removed"})
_IDENTIFIERS = frozenset({"id", "gid", "uuid", "guid"})
_COMPUTED = frozenset((
    "id", "uuid", "guid", "self", "href", "links", "etag", "createdat", "createdon", "created",
    "creationdate", "creationtime", "datecreated", "updatedat", "updatedon", "updated", "lastupdated",
    "lastupdatedat", "modified", "modifiedat", "modifiedon", "lastmodified", "lastmodifiedat", "datemodified",
    "dateupdated", "deletedat", "createdby", "updatedby", "modifiedby",
))  # fmt: skip
"""Names, folded, of what an API computes: identifiers, links, and times of changes."""


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field of what was read: its path by the API's names, and by the agent's.

    `label` ends with the last name that the document declares: no message has a name that only an answer has.
    """

    path: tuple[str, ...]
    label: str

    def is_named(self, change: Any) -> bool:
        """Return True if a change says what becomes of the field."""
        for key in self.path:
            if not isinstance(change, Mapping):
                return True
            if key not in change:
                return False
            change = change[key]
        return True


@dataclass(slots=True)
class Carried:
    """What of a resource is written back.

    `masked` are secrets that the API does not show, `unfit` values that it gives in another form than it takes.
    """

    value: Any = None
    masked: list[FieldPath] = field(default_factory=list)
    unfit: list[FieldPath] = field(default_factory=list)


def located(answer: Any, steps: Sequence[str] | None, names: Collection[str]) -> tuple[str, ...] | None:
    """Return the path of the resource in an answer: `steps` if it is there, else where most of the names are.

    None if no object of the answer has one of the names; an answer of which nothing is declared is the resource itself.
    """
    if steps is not None and isinstance(at(answer, steps), dict):
        return tuple(steps)
    best: tuple[str, ...] | None = None
    most = 0
    for path, fields in _objects(answer):
        shared = sum(1 for name in names if name in fields)
        if shared > most:
            best, most = path, shared
    return best if best is not None or steps is not None or not isinstance(answer, dict) else ()


def _objects(value: Any) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the objects of an answer with their paths, the outermost first."""
    level: list[tuple[tuple[str, ...], Any]] = [((), value)]
    for _ in range(_WRAPPERS + 1):
        objects = [(path, fields) for path, fields in level if isinstance(fields, dict)][:_MOST_PLACES]
        yield from objects
        level = [((*path, key), inner) for path, fields in objects for key, inner in fields.items()]


def nested(value: Any, steps: Sequence[str]) -> Any:
    """Return a value within objects, so that it is at a path."""
    for step in reversed(steps):
        value = {step: value}
    return value


def is_masked(value: Any) -> bool:
    """Return True if a value stands for a secret that is not shown, such as `***`, `••••1234` or `[REDACTED]`."""
    if not isinstance(value, str) or not 3 <= len(value) <= 1000:
        return False
    if _MASKED.fullmatch(value):
        return True
    return value[0] in "<[(" and value[-1] in ">])" and folded(value[1:-1].strip()) in _MASKING_WORDS


def carried(types: Types, value: Any, written: JsonSchema, read: JsonSchema) -> Carried:
    """Return the part of a resource that an update writes back, by the schemas of its request and of its read.

    What is left out: fields that only `read` declares; those that a schema without them does not take, or that are
    computed; nulls that are not taken; secrets. A field that neither schema declares stays otherwise.
    """
    carrier = _Carrier(types)
    kept = carrier.value(value, written, read, ())
    carrier.result.value = {} if kept is MISSING else kept
    return carrier.result


class _Carrier:
    """The walk through a value with both of its schemas. A step of a path is (API's name, agent's name or "")."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self.result = Carried()

    def value(self, value: Any, written: JsonSchema, read: JsonSchema, path: tuple[tuple[str, str], ...]) -> Any:
        """Return the part of a value that is written back, MISSING for none."""
        if len(path) > _DEEPEST:
            return value
        hides = written.get("writeOnly") is True or follow(written, self._types).get("writeOnly") is True
        if is_masked(value) or (path and hides):
            self.result.masked.append(_dropped(path))
            return MISSING
        target = union_of(self._types, written)
        kinds = _kinds(written, target, self._types)
        # what the own schema of an answer does not admit tells nothing
        if not _fits(value, kinds) and _fits(value, _kinds(read, union_of(self._types, read), self._types)):
            identifier = _identifier(value, kinds)
            if identifier is MISSING:
                self.result.unfit.append(_dropped(path))
            return identifier
        if isinstance(value, dict):
            return self._object(value, written, read, path)
        if isinstance(value, list) and target.items:
            return self._array(value, target.items[0], next(iter(union_of(self._types, read).items), _NOTHING), path)
        return value

    def _object(
        self, value: Mapping[str, Any], written: JsonSchema, read: JsonSchema, path: tuple[tuple[str, str], ...]
    ) -> dict[str, Any]:
        target = union_of(self._types, written)
        declared = {wire: (name, schema) for name, (wire, schema) in target.properties.items()}
        readable = dict(union_of(self._types, read).properties.values())
        is_closed = any(part.get(key) is False for part in parts(written, self._types) for key in _FURTHER)
        unwritten = _COMPUTED.union(map(folded, target.hidden), map(folded, readable))
        kept: dict[str, Any] = {}
        for key, inner in value.items():
            name, schema = declared.get(key, ("", next(iter(target.extra), _NOTHING)))
            if key in declared and inner is None:
                if name in target.required or nullable(schema, self._types):
                    kept[key] = None
                continue
            if declared and key not in declared and (is_closed or key[:1] in "_@$" or folded(key) in unwritten):
                continue
            part = self.value(inner, schema, readable.get(key, _NOTHING), (*path, (key, name)))
            if part is not MISSING:
                kept[key] = part
        return kept

    def _array(
        self, value: Sequence[Any], items: JsonSchema, read: JsonSchema, path: tuple[tuple[str, str], ...]
    ) -> Any:
        """Return the items; a list is written whole or not at all."""
        inner = _Carrier(self._types)
        kept = [inner.value(item, items, read, path) for item in value]
        lacking = _never_read(items, read, self._types)
        is_lacking = any(isinstance(item, dict) and not lacking <= item.keys() for item in kept)
        if inner.result.masked or inner.result.unfit or is_lacking:
            self.result.unfit.append(_dropped(path))
            return MISSING
        return kept


def _never_read(written: JsonSchema, read: JsonSchema, types: Types) -> set[str]:
    """Return the fields that have to be written and that an answer, which declares its fields, never has."""
    target, source = union_of(types, written), union_of(types, read)
    readable = {wire for wire, _ in source.properties.values()}
    needed = {wire for name, (wire, _) in target.properties.items() if name in target.required}
    return needed - readable if readable and not source.extra else set()


def _dropped(path: tuple[tuple[str, str], ...]) -> FieldPath:
    names = takewhile(bool, (name for _, name in path))
    return FieldPath(tuple(wire for wire, _ in path), ".".join(("input", *names)))


def field_path(types: Types, schema: JsonSchema, steps: Sequence[str]) -> FieldPath:
    """Return a field of a resource by its path in the API's names; where none is declared, the label has the first."""
    path: list[tuple[str, str]] = []
    declares = bool(union_of(types, schema).properties)
    for step in steps:
        properties = union_of(types, schema).properties.items()
        known = ((name, inner) for name, (wire, inner) in properties if wire == step)
        name, schema = next(known, ("", _NOTHING))
        path.append((step, name if declares or path else line(step, 100)))
    return _dropped(tuple(path))


def _identifier(value: Any, kinds: frozenset[str]) -> Any:
    """Return the identifier of what is read as an object and written by its identifier; MISSING if there is none."""
    if not isinstance(value, dict) or kinds.isdisjoint({"string", "integer"}):
        return MISSING
    fitting = [inner for key, inner in value.items() if folded(key) in _IDENTIFIERS and _fits(inner, kinds)]
    return fitting[0] if len(fitting) == 1 and fitting[0] is not None else MISSING


def _kinds(schema: JsonSchema, shape: Shape, types: Types) -> frozenset[str]:
    """Return the JSON types that a schema admits; none if it does not say, or says it in alternatives."""
    target = follow(schema, types)
    declared = declared_types(target)
    if declared:
        return frozenset(declared)
    if shape.alternatives or "allOf" in target:
        return frozenset()
    return frozenset({"object"} if shape.properties else {"array"} if shape.items else ())


def _fits(value: Any, kinds: frozenset[str]) -> bool:
    if not kinds or value is None:
        return True
    kind = json_type(value)
    if kind in ("integer", "number"):
        return not kinds.isdisjoint({"integer", "number"})
    return kind in kinds
