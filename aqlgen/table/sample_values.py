"""Sample values of finished schemas: their own examples if valid, else made up; always the same.

A call gets a small value that is valid, an answer nearly all that its schema declares, in the API's names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json import dumps

from aqlgen.ir import Json
from aqlgen.runtime.schema import STRUCTURE, alternatives, declared_types, only_type, parts, resolve
from aqlgen.schemas.all_of import combine
from aqlgen.schemas.keywords import has_type
from aqlgen.table.sample_scalars import matching_text, sample_number, sample_text
from aqlgen.words import split

Schemas = Mapping[str, Mapping[str, Json]]
Flat = dict[str, Json]

MAX_DEPTH = 8
"""How deep values nest by choice; what is required goes on, as far as the bound of all values lets it."""

MAX_VALUES = 2000
MAX_REQUIRED_DEPTH = 30
MAX_ITEMS = 200
MAX_TYPES = 100
"""The largest number of types that are merged for one value."""

VARIANTS = 6

SURFACE, DEEPEST_REQUIRED = 4, 8
"""How deep an answer has all its properties, and how deep the required ones."""
STRUCTURED = STRUCTURE | {"$ref"}

BRANCHING = frozenset({"$ref", "allOf", "anyOf"})


PLAIN_TYPES = frozenset({"string", "integer", "number"})
SPECIAL_WORDS = frozenset(
    "id ids gid uuid guid key token secret password hash signature date time at on ts timestamp instant epoch url uri"
    " version kind".split()
)
"""Words at the end of the name of a field that only the API or another call can fill."""


def is_plain(name: str, schema: Json, types: Schemas) -> bool:
    """Return True for a field that a person fills in: a text, a number or a choice, no identifier, date or flag."""
    for _ in range(MAX_DEPTH):
        schema = resolve(schema, types)
    if schema.get("deprecated") is True or schema.get("readOnly") is True:
        return False
    kind, words = only_type(schema, guess=False), split(name)
    return (
        kind in PLAIN_TYPES
        and not schema.keys() & {"contentEncoding", "contentMediaType"}
        and (kind != "string" or schema.get("format") in (None, "email"))
        and not (words and words[-1].lower() in SPECIAL_WORDS)
    )


def name_of(reference: str) -> str:
    """Return the name of the type that a reference leads to."""
    return reference.rsplit("/", 1)[-1]


class ValueMaker:
    """Makes values for schemas of one adapter; `types` are its finished types by name."""

    def __init__(self, types: Schemas) -> None:
        self._types = types
        self._answers: dict[tuple[str, int | None], Json] = {}

    def candidates(self, schema: Mapping[str, Json], least: int = 0) -> Iterator[Json]:
        """Yield values to try, the best first: from the schema's examples, then without them, then others.

        An object has at least `least` of its properties, where it has so many.
        """
        for variant in range(VARIANTS):
            yield _Variant(self._types, variant, least).make(schema, 0)

    def answer(self, schema: Mapping[str, Json], most: int | None = None) -> Json:
        """Return an answer in the API's names, the less deep, the fewer characters of JSON it may have."""
        key = (schema["$ref"], most) if schema.keys() == {"$ref"} else None
        if key is not None and key in self._answers:
            return self._answers[key]
        value: Json = None
        for surface in range(SURFACE, -1, -1):
            value = _Variant(self._types, 0, 0, surface).make(schema, 0)
            if most is None or len(dumps(value)) <= most:
                break
        if key is not None:
            self._answers[key] = value
        return value


@dataclass(frozen=True, slots=True)
class _Variant:
    """A strategy for values: variant 0 trusts examples and takes the first alternatives, the others vary."""

    types: Schemas
    variant: int
    least: int
    surface: int | None = None
    """How deep an answer has all its properties; None for the value of a call."""
    tally: list[None] = field(default_factory=list)
    """One entry for each value that was made, to bound their number."""

    def make(self, schema: Json, depth: int) -> Json:
        """Return a value of a schema."""
        self.tally.append(None)
        if not isinstance(schema, (dict, Mapping)):
            return "example"
        flat = self._flat(schema, set())
        if "const" in flat:
            return flat["const"]
        if self.variant == 0 and flat.get("default") is not None:
            return flat["default"]
        for example in flat.get("examples", ()) if self.variant == 0 else ():
            if "type" not in flat or any(has_type(kind, example) for kind in declared_types(flat)):
                return example  # one of an object may be written as a text of JSON, which is none
        if flat.get("enum"):
            return next((member for member in flat["enum"] if member not in ("", None)), flat["enum"][0])
        return self._of_type(flat, depth)

    def _of_type(self, flat: Flat, depth: int) -> Json:
        kind = flat.get("type")
        kind = next((name for name in kind if name != "null"), "null") if isinstance(kind, list) else kind
        if kind == "object" or (kind is None and flat.keys() & {"properties", "required", "additionalProperties"}):
            return self._object(flat, depth)
        if kind == "array" or (kind is None and flat.keys() & {"items", "prefixItems"}):
            return self._array(flat, depth)
        if kind in ("integer", "number"):
            return sample_number(flat, whole=kind == "integer")
        if kind is None and flat.keys() & {"minimum", "maximum", "multipleOf"}:
            return sample_number(flat, whole=False)
        if kind == "boolean":
            return True
        return None if kind == "null" else sample_text(flat)

    def _flat(self, schema: Mapping[str, Json], seen: set[int]) -> Flat:
        """Return a schema with references resolved, parts merged and one alternative chosen, each once."""
        if schema.keys().isdisjoint(BRANCHING):
            return dict(schema)
        flat: Flat = {}
        for part in parts(schema, self.types) if len(seen) < MAX_TYPES else ():
            if id(part) in seen:
                continue
            seen.add(id(part))
            _absorb(flat, {key: value for key, value in part.items() if key not in BRANCHING})
            if part.get("anyOf"):
                branch = self._choose(part["anyOf"])
                _absorb(flat, self._flat(branch, seen))
                _absorb(flat, _discriminated(part, branch, flat))
        return flat

    def _choose(self, branches: list[Mapping[str, Json]]) -> Mapping[str, Json]:
        if self.surface is not None:
            return (alternatives({"anyOf": branches}) or branches)[0]
        simple = [branch for branch in branches if branch.get("type") in ("string", "integer", "number", "boolean")]
        return simple[0] if simple and self.variant == 0 else branches[self.variant % len(branches)]

    def _answered(self, flat: Flat, depth: int, surface: int) -> Json:
        """Return an object in the API's names: all its properties near the surface, the required ones further down.

        Between them are those that are plain, since what a list refers to has its id.
        """
        members, required = {}, frozenset(flat.get("required", ()))
        for name, schema in flat.get("properties", {}).items():
            reach = DEEPEST_REQUIRED if name in required else surface - 1
            if depth < reach or (depth <= surface and STRUCTURED.isdisjoint(resolve(schema, self.types))):
                members[schema.get("x-name", name)] = self.make(schema, depth + 1)
        return members

    def _object(self, flat: Flat, depth: int) -> Json:
        properties: dict[str, Json] = flat.get("properties", {})
        required = dict.fromkeys(flat.get("required", ()))
        if depth > MAX_REQUIRED_DEPTH or len(self.tally) > MAX_VALUES:
            return {}
        if self.surface is not None:
            return self._answered(flat, depth, self.surface)
        least = self.least if depth <= 1 else 0
        more = max(self.variant, least, min(depth, 1))
        wanted = max(flat.get("minProperties", 0), more if not required and properties and depth <= MAX_DEPTH else 0)
        optional = [
            name
            for name, property_schema in properties.items()
            if name not in required and not _admits_nothing(property_schema)
        ]
        if least:
            optional.sort(key=lambda name: not is_plain(name, properties[name], self.types))
        wanted_more = optional[: max(0, wanted - len(required))]
        members = {name: self.make(properties.get(name, {}), depth + 1) for name in (*required, *wanted_more)}
        for index in range(min(max(flat.get("minProperties", 0), bool(wanted) and not properties) - len(members), 20)):
            name, schema = _undeclared_key(flat, index)
            members[name] = self.make(schema, depth + 1)
        return members

    def _array(self, flat: Flat, depth: int) -> Json:
        if depth > MAX_REQUIRED_DEPTH or len(self.tally) > MAX_VALUES:
            return []
        elements = [self.make(item, depth + 1) for item in flat.get("prefixItems", ())]
        most = min(flat.get("maxItems", MAX_ITEMS), MAX_ITEMS)
        if depth > MAX_DEPTH:
            return elements[:most]
        items = flat.get("items")
        wanted = min(max(flat.get("minItems", 0), 0 if elements else 1), most)
        schema = items if isinstance(items, Mapping) else {}
        is_silent = schema.keys() <= {"title", "description"}
        if self.surface is not None and not flat.get("minItems") and (is_silent or depth >= self.surface):
            return elements  # what is made up of nothing may not be what an update can write back
        if items is False or len(elements) >= wanted:
            return elements[:most]
        value = self.make(schema, depth + 1)
        if flat.get("uniqueItems") is True:
            inner = self._flat(schema, set())
            return elements + [_other(inner, value, index) for index in range(wanted - len(elements))]
        return elements + [value] * (wanted - len(elements))


def _admits_nothing(schema: Json) -> bool:
    return isinstance(schema, Mapping) and schema.get("not") == {}


def _discriminated(schema: Mapping[str, Json], chosen: Mapping[str, Json], flat: Flat) -> Flat:
    """Return the schema of the discriminator for the chosen alternative: its property, required, with its value."""
    discriminator = schema.get("discriminator", {})
    name = discriminator.get("propertyName")
    if name not in flat.get("properties", {}):
        return {}
    values = [value for value, target in discriminator.get("mapping", {}).items() if target == chosen.get("$ref")]
    return {"required": [name], **({"properties": {name: {"enum": values}}} if values else {})}


def _absorb(flat: Flat, more: Mapping[str, Json]) -> None:
    """Merge another schema of the same value into a flat one; in a contradiction it wins."""
    flat.update((None if flat.keys().isdisjoint(more) else combine(flat, dict(more), _both)) or more)


def _both(first: Json, second: Json, *, writable: bool = False) -> Json:  # noqa: ARG001 - a read-only field is made, too
    """Return the schema of what two schemas declare, under the name that the later one gives."""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return second
    spelled = {**first, **second}.get("x-name")
    return {"allOf": [first, second], **({} if spelled is None else {"x-name": spelled})}


def _undeclared_key(flat: Flat, index: int) -> tuple[str, Json]:
    """Return a key that no property declares, and its schema."""
    for pattern, schema in flat.get("patternProperties", {}).items():
        return (matching_text(pattern, index) or f"key{index}"), schema
    names = flat.get("propertyNames")
    if isinstance(names, Mapping) and names.get("enum"):
        return str(names["enum"][index % len(names["enum"])]), flat.get("additionalProperties", {})
    return f"key{index or ''}", flat.get("additionalProperties", {})


def _other(schema: Flat, value: Json, index: int) -> Json:
    """Return another value of the same kind for each index."""
    if schema.get("enum"):
        return schema["enum"][index % len(schema["enum"])]
    if index and schema.get("pattern") and isinstance(value, str):
        return matching_text(schema["pattern"], index) or value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + index * (schema.get("multipleOf") or 1)
    return f"{value}{index}" if isinstance(value, str) and index else value
