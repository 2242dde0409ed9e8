"""One walk of values along their schemas: what is wrong, and what can be put right (R-REQ-4, R-ENV-5).

Explaining costs no more than validating: each pair of a value and a schema is looked at once, whatever the
alternatives, and the pairs of one call are counted. A validator judges the keywords of one schema about one value; the
walk goes on to properties, items and alternatives by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import filterfalse, islice
from typing import Any, TypeAlias

from ..schema import MISSING, Types, as_schema, json_type, parts, resolve, union_of
from ..table import JsonSchema
from ..text import letters
from .coercions import Coercion, Members, coercions, dated, same
from .leaves import MOST_FAULTS, Leaves

Place: TypeAlias = "tuple[str | int, ...]"

_MOST_STEPS = {"NOTHING": 10_000, "SURE": 10_000, "LIKELY": 2_000}
"""Pairs of a value and a schema; what is likely is proposed, and a proposal is short."""
_OF_A_STEP = 100
"""Fields or items that are looked over in the time of a pair."""
_MATCHES_OF_A_STEP = 20
_MOST_CHANGES, _MOST_OPTIONS = 1000, 200
_DEEPEST = 64
_ROUNDS = 3
_PRESENCE = frozenset({"required", "minProperties"})


class Allowed(Enum):
    """The changes that a walk may make: none, those that are sure, or all that are likely."""

    NOTHING = 0
    SURE = 1
    LIKELY = 2


class TooMuch(Exception):
    """The values have more parts than are looked at."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A keyword of `schema` that the value `instance` at `path` does not satisfy.

    `expected` is what the keyword demands; of anyOf and oneOf the faults of each alternative, from the same value on.
    """

    path: Place
    keyword: str
    expected: Any
    instance: Any
    schema: JsonSchema

    def branches(self) -> list[list[Fault]]:
        """Return the faults of each alternative with their whole paths."""
        return [[replace(inner, path=self.path + inner.path) for inner in branch] for branch in self.expected]


@dataclass(frozen=True, slots=True)
class Change:
    """A value that was put right: `before` and `now`, MISSING for none.

    `moved` is the place that the value came from.
    """

    before: Any
    now: Any
    moved: Place | None = None


@dataclass(slots=True)
class Reading:
    """A value as it was read, its changes by their place, and what is still wrong.

    `unchecked` says that a keyword could not be checked: the target API has the last word on it.
    """

    value: Any
    changes: dict[Place, Change] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    unchecked: bool = False

    def note(self, place: Place, change: Change) -> None:
        """Add a change to the earlier ones of its place. Raises TooMuch."""
        earlier = self.changes.get(place)
        if len(self.changes) >= _MOST_CHANGES and earlier is None:
            raise TooMuch
        if earlier is not None:
            change = Change(earlier.before, change.now, earlier.moved or change.moved)
        self.changes[place] = change

    def put(self, key: str | int, child: Reading) -> None:
        """Take over what was read of the value under a key."""
        if child.changes:
            value = self.value[key]
            if value is not child.value:
                self.value = dict(self.value) if isinstance(self.value, dict) else list(self.value)
                self.value[key] = child.value
            for place, change in child.changes.items():
                moved = None if change.moved is None else (key, *change.moved)
                self.note((key, *place), replace(change, moved=moved))
        self.add_faults(replace(fault, path=(key, *fault.path)) for fault in child.faults)

    def take(self, other: Reading) -> None:
        """Take over another reading of the same value."""
        self.value = other.value
        self.add_faults(other.faults)
        for place, change in other.changes.items():
            self.note(place, change)

    def add_faults(self, faults: Iterable[Fault]) -> None:
        """Add faults, as many as are ever listed."""
        self.faults += islice(faults, max(0, MOST_FAULTS - len(self.faults)))


class Walk:
    """A walk of the values of one call."""

    def __init__(self, types: Types, leaves: Leaves, allowed: Allowed) -> None:
        self.unchecked = False
        self._types = types
        self._leaves = leaves
        self._sure = allowed is Allowed.SURE
        self._drops = allowed is Allowed.LIKELY
        self._steps = _MOST_STEPS[allowed.name]
        self._changes = 0 if allowed is Allowed.NOTHING else _MOST_CHANGES
        self._readings: dict[tuple[int, int, bool], tuple[Any, Any, Reading]] = {}
        self._depth = 0

    def read(self, value: Any, schema: JsonSchema, *, partial: bool = False) -> Reading:
        """Return the reading of a value; with `partial` an object may lack fields, and null removes one (R-UPD-2).

        Raises TooMuch where the steps of the walk are used up.
        """
        if len(schema) == 1:
            schema = resolve(schema, self._types)  # one type is one schema, wherever it is referred to
        key = (id(schema), id(value), partial)
        known = self._readings.get(key)
        if known is not None:
            return known[2]
        self._spend(1 + (len(value) // _OF_A_STEP if isinstance(value, (dict, list)) else 0))
        endless = Reading(value, faults=[Fault((), "depth", _DEEPEST, value, schema)])
        self._readings[key] = (schema, value, endless)  # both are kept, so that their ids stay theirs
        if self._depth >= _DEEPEST:
            return endless
        self._depth += 1
        reading = Reading(value)
        for part in parts(schema, self._types):
            self._apply(reading, part, partial)
        self._depth -= 1
        self._readings[key] = (schema, value, reading)
        return reading

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise TooMuch

    def _errors(self, part: JsonSchema, value: Any) -> list[tuple[str, Any]]:
        errors = self._leaves.errors(part, value)
        self.unchecked = self.unchecked or errors is None
        return errors or []

    def _apply(self, reading: Reading, part: JsonSchema, partial: bool) -> None:
        errors = self._errors(part, reading.value)
        for _ in range(_ROUNDS):
            coercion = self._coercion(reading.value, errors, part)
            if coercion is None:
                break
            self._changes -= 1
            reading.note((), Change(reading.value, coercion.value))
            reading.value = coercion.value
            errors = self._errors(part, reading.value)
        reading.add_faults(
            Fault((), keyword, demand, reading.value, part)
            for keyword, demand in errors
            if not (partial and keyword in _PRESENCE)
        )
        if any(keyword == "type" for keyword, _ in errors):
            return
        if isinstance(reading.value, dict):
            self._fields(reading, part, partial)
        elif isinstance(reading.value, list):
            self._items(reading, part)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(part.get(keyword), list):
                self._union(reading, part, keyword, partial)

    # One value

    def _coercion(self, value: Any, errors: Sequence[tuple[str, Any]], part: JsonSchema) -> Coercion | None:
        """Return the coercion of a value that breaks these keywords to the one meant, None where that is not known."""
        broken = dict(errors)
        if not broken or value is None or self._changes <= 0:
            return None
        for keyword in ("enum", "const"):
            if keyword in broken and not isinstance(value, (list, dict)):
                members = Members([part["const"]]) if keyword == "const" else self._leaves.members(part["enum"])
                return self._first([members.find(value)])
            if keyword in broken and "type" not in broken:
                return self._first(coercions(value, ()))
        if "type" in broken:
            return self._first(coercions(value, frozenset(broken["type"]))) if self._may_be_meant(value, part) else None
        if isinstance(value, str) and not {"format", "pattern"}.isdisjoint(broken):
            return self._first([dated(value, str(broken.get("format", "")))])
        return None

    def _may_be_meant(self, value: Any, part: JsonSchema) -> bool:
        """Return False for a number where a file is wanted, and for an object that is none of the things in a list."""
        if isinstance(value, dict):
            items = (union_of(self._types, item).properties for item in union_of(self._types, part).items)
            return any(value.keys() <= fields.keys() for fields in items)
        return not ("contentEncoding" in part and isinstance(value, (bool, int, float)))

    def _first(self, candidates: Iterable[Coercion | None]) -> Coercion | None:
        return next((item for item in candidates if item is not None and (item.sure or not self._sure)), None)

    # Objects and lists

    def _schemas_of(
        self, key: str, properties: Mapping[str, JsonSchema], patterns: Mapping[str, JsonSchema]
    ) -> list[JsonSchema]:
        """Return the schemas that a field has to fit by its name: its own, and those of patterns that it matches."""
        schemas = [properties[key]] if key in properties else []
        return [*schemas, *(patterns[pattern] for pattern in patterns if self._leaves.matches(pattern, key))]

    def _fields(self, reading: Reading, part: JsonSchema, partial: bool) -> None:
        properties, patterns = as_schema(part.get("properties")), as_schema(part.get("patternProperties"))
        extra, required = part.get("additionalProperties"), part.get("required", ())
        further = [extra] if isinstance(extra, Mapping) else []
        known = reading.value if patterns or further else properties
        self._spend(len(patterns) * len(reading.value) // _MATCHES_OF_A_STEP)
        fewer, more = sorted((reading.value, known), key=len)
        for key in list(filter(more.__contains__, fewer)):
            schemas = self._schemas_of(key, properties, patterns) or further
            if not partial or reading.value[key] is not None:
                self._field(reading, key, schemas, partial, drops=key not in required)
            if len(reading.faults) >= MOST_FAULTS:
                break
        if extra is False:
            undeclared = filterfalse(properties.__contains__, reading.value)
            unknown = [key for key in undeclared if not (patterns and self._schemas_of(key, {}, patterns))]
            reading.faults += [Fault((), "additionalProperties", unknown, reading.value, part)] if unknown else []

    def _field(self, reading: Reading, key: str, schemas: Iterable[Any], partial: bool, *, drops: bool) -> None:
        """Read a field as each of its schemas; a null that does not fit one is left out where that may be."""
        for schema in map(as_schema, schemas):
            value = reading.value[key]
            child = self.read(value, schema, partial=partial)
            if child.faults and value is None and drops and self._drops:
                reading.note((key,), Change(None, MISSING))
                reading.value = {name: item for name, item in reading.value.items() if name != key}
                return
            reading.put(key, child)

    def _items(self, reading: Reading, part: JsonSchema) -> None:
        prefix, items = part.get("prefixItems"), part.get("items")
        first = prefix if isinstance(prefix, list) else []
        if items is False and len(reading.value) > len(first):
            reading.faults.append(Fault((), "maxItems", len(first), reading.value, part))
        for index, value in enumerate(reading.value):
            schema = first[index] if index < len(first) else items
            if not isinstance(schema, Mapping) or len(reading.faults) >= MOST_FAULTS:
                break
            reading.put(index, self.read(value, schema))

    # Alternatives

    def _union(self, reading: Reading, part: JsonSchema, keyword: str, partial: bool) -> None:
        value = reading.value
        options = [as_schema(option) for option in part[keyword][:_MOST_OPTIONS]]
        attempts = [self._attempt(value, option, partial) for option in options]
        fitting = [attempt for attempt in attempts if not attempt.faults and not attempt.changes]
        if len(fitting) == 1 or (fitting and (keyword == "anyOf" or partial)) or not options:
            return
        chosen = None if fitting else self._chosen(value, attempts)
        if chosen is not None:
            reading.take(chosen)
        else:
            faults = tuple(tuple(attempt.faults) for attempt in attempts)
            reading.faults.append(Fault((), keyword, faults, value, part))

    def _attempt(self, value: Any, option: JsonSchema, partial: bool) -> Reading:
        """Read a value as an alternative: not at all where a value that tells alternatives apart names another."""
        self._steps -= 1
        for name, schema, fixed in self._leaves.tags(option, self._types) if isinstance(value, dict) else ():
            tag = value.get(name)
            if tag is not None and tag not in fixed and not self._leaves.members(fixed).find(tag):
                return Reading(value, faults=[Fault((name,), "enum", fixed, tag, schema)])
        return self.read(value, option, partial=partial)

    def _chosen(self, value: Any, attempts: Sequence[Reading]) -> Reading | None:
        """Return the one attempt that puts a value right."""
        meant = [attempt for attempt in attempts if not attempt.faults]
        listed = any(fault.keyword in ("enum", "const") for attempt in attempts for fault in attempt.faults)
        if self._sure and listed and not isinstance(value, (list, dict)):  # or it is a member, with a mistake
            meant = [attempt for attempt in meant if not isinstance(attempt.value, list)]
        alike = [attempt for attempt in meant if json_type(attempt.value) == json_type(value)]
        return least(alike if _is_wrong_within(value, attempts) else alike or meant)


def _is_wrong_within(value: Any, attempts: Sequence[Reading]) -> bool:
    """Return True for an object or a list of the right kind whose mistakes are all inside: it is meant as that."""
    readings = attempts if isinstance(value, (list, dict)) else ()
    return any(reading.faults and all(fault.path for fault in reading.faults) for reading in readings)


def least(readings: Sequence[Reading]) -> Reading | None:
    """Return the only reading, or the one that changes least if all others change the same and more; else None."""
    for reading in readings:
        if all(reading is other or same(reading.value, other.value) or _within(reading, other) for other in readings):
            return reading
    return None


def _within(reading: Reading, other: Reading) -> bool:
    if isinstance(other.value, list) and len(other.value) == 1 and same(other.value[0], reading.value):
        return True
    return len(reading.changes) < len(other.changes) and all(
        place in other.changes and same(change.now, other.changes[place].now)
        for place, change in reading.changes.items()
    )


def renames(value: Mapping[str, Any], declared: Iterable[str]) -> dict[str, str]:
    """Return the declared name for each undeclared key that can only be another spelling of it."""
    known = set(declared)
    wanted: dict[str, list[str]] = {}
    for name in known:
        wanted.setdefault(letters(name), []).append(name)
    spellings: dict[str, list[str]] = {}
    for key in value:
        names = wanted.get(letters(key), ()) if key not in known else ()
        if len(names) == 1 and names[0] not in value:
            spellings.setdefault(names[0], []).append(key)
    return {keys[0]: name for name, keys in spellings.items() if len(keys) == 1}
