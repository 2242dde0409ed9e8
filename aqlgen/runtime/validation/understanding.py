# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Values that are not valid, understood where they can mean one thing only.

The validator's errors lead: what it admits never changes, whatever else is wrong. Each error proposes a reading of the
value at its place, the result is validated again, and so on, until nothing is wrong or nothing helps. Of alternatives
each is tried alone; the reading that is taken is the only one, or the one that changes least, where all others change
the same and more. Values, errors, alternatives and rounds are bounded, and every round costs one validation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from ..schema.reader import MISSING, Types, as_schema, fixed_values, follow, json_type, union_of
from ..schema.validators import PROTOCOL_SCHEMAS
from ..table import JsonSchema
from ..text import letters, words
from .readings import Change, Outcome, Place, Reading, admitted_types, least, member, readings, structured, timed

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["WRAPPERS", "Errors", "Reader", "is_divided", "renames", "unwrapped"]

Errors: TypeAlias = "Callable[[Any], Iterable[ValidationError]]"

_MOST_VALUES = 1000
_MOST_ERRORS = 500
_MOST_ALTERNATIVES = 100
_ROUNDS = 8
_DEEPEST = 16
_DROPPED: Any = object()
_NAMES = frozenset({"additionalProperties", "unevaluatedProperties", "required"})
_COMMAS = re.compile(r"comma[- ]?(?:separated|delimited)|separated by (?:a )?commas?|comma list|\bcsv\b", re.IGNORECASE)
_STARTS = frozenset({"since", "from", "start", "begin", "before"})
"""Words of a filter's name for which a date is its first moment."""

WRAPPERS = frozenset(
    {
        "params",
        "parameters",
        "arguments",
        "args",
        "body",
        "query",
        "input",
        "data",
        "payload",
        "request",
        "json",
        "path",
    }
    | {"requestbody", "pathparams", "pathparameters", "queryparams", "queryparameters"}
)
"""Names, folded, under which models put parameters that stand by themselves."""


class Reader:
    """Reads the values of one call. With `sure` only what can mean one thing, else also what is merely likely.

    `compiled` returns the errors of a schema; `drops` says that null for an optional value may be left out; `commas`
    are the parameters whose values are divided by commas.
    """

    def __init__(
        self,
        types: Types,
        compiled: Callable[[JsonSchema], Errors | None],
        lacks: Callable[[ValidationError, Place], bool],
        *,
        drops: bool,
        reads: bool,
        sure: bool,
        commas: frozenset[str],
    ) -> None:
        self._types = types
        self._compiled = compiled
        self._lacks = lacks
        self._drops = drops
        self._reads = reads
        self._sure = sure
        self._commas = commas
        self._left = _MOST_VALUES

    def read(
        self,
        value: Any,
        root: JsonSchema,
        errors_of: Errors,
        place: Place = (),
        renamed: Callable[[Any], Any] | None = None,
    ) -> Outcome:
        """Return a value as it is understood. `root` is the schema of `errors_of`, `renamed` is applied in between."""
        outcome = Outcome(_copied(value))
        for _ in range(_ROUNDS):
            groups = self._groups(errors_of(outcome.value), place, 0)
            if not groups:
                outcome.complete = True
                return outcome
            if not self._repair(outcome, groups, root, place):
                break
            if renamed is not None:
                outcome.value = renamed(outcome.value)
        return outcome

    def _groups(
        self, errors: Iterable[ValidationError], place: Place, depth: int
    ) -> dict[Place, list[ValidationError]]:
        """Return the errors by their place within the value, which is `depth` deep for these errors."""
        groups: dict[Place, list[ValidationError]] = {}
        for error in islice(errors, _MOST_ERRORS):
            path = tuple(error.instance_path)[depth:]
            if not self._lacks(error, place[: len(place) - depth]):
                groups.setdefault(path, []).append(error)
        return groups

    def _repair(
        self, outcome: Outcome, groups: Mapping[Place, list[ValidationError]], root: JsonSchema, place: Place
    ) -> bool:
        """Read each wrong value anew; return False if nothing could be done."""
        holder = [outcome.value]
        changed = False
        for path, errors in groups.items():
            parent, key = _parent(holder, path)
            if parent is None or self._left <= 0:
                continue
            self._left -= 1
            before = parent[key]
            step = self._step(before, errors, root, place + path, outcome)
            if step is None:
                continue
            changed = True
            if step.value is _DROPPED:
                del parent[key]
                outcome.note(place + path, Change(before, MISSING, (step.kind,)))
                continue
            parent[key] = step.value
            if step.kind:
                outcome.note(place + path, Change(before, step.value, (step.kind,)))
        outcome.value = holder[0]
        return changed

    def _step(
        self, value: Any, errors: Sequence[ValidationError], root: JsonSchema, place: Place, outcome: Outcome
    ) -> Reading | None:
        """Return the next reading of a value; its kind is empty if the outcome has the changes already."""
        by_keyword = {error.kind.name: error for error in errors}
        if value is None:
            nothing = place and isinstance(place[-1], str) and (self._drops or not self._sure)
            return Reading(_DROPPED, "dropped") if nothing else None
        schema = self._schema(errors[0], root)
        for keyword in ("enum", "const"):
            if keyword in by_keyword and not isinstance(value, (list, dict)):
                stated = by_keyword[keyword].kind.value
                return self._first([member(value, stated if keyword == "enum" else [stated])])
            if keyword in by_keyword and "type" not in by_keyword:
                return self._first(readings(value, frozenset()))
        if "type" in by_keyword:
            return self._typed(value, by_keyword["type"], schema, place)
        for keyword in ("anyOf", "oneOf"):
            if keyword in by_keyword:
                return self._alternative(value, by_keyword[keyword], root, place, outcome)
        if isinstance(value, str):
            form = str(by_keyword["format"].kind.value) if "format" in by_keyword else ""
            if form or "pattern" in by_keyword:
                return self._first(timed(value, form, start=self._starts(place)))
        if isinstance(value, dict):
            return self._object(value, errors, root, place, outcome)
        return None

    def _schema(self, error: ValidationError, root: JsonSchema) -> JsonSchema:
        """Return the schema that an error is of, with all its parts."""
        path = list(error.schema_path)[:-1]
        while len(path) > 1 and path[-2] == "allOf":
            path = path[:-2]
        return _located(root, path, self._types)

    def _first(self, candidates: Iterable[Reading | None]) -> Reading | None:
        return next((item for item in candidates if item is not None and (item.sure or not self._sure)), None)

    def _starts(self, place: Place) -> bool:
        return self._reads and len(place) == 1 and not _STARTS.isdisjoint(words(str(place[0])))

    def _typed(self, value: Any, error: ValidationError, schema: JsonSchema, place: Place) -> Reading | None:
        if "contentEncoding" in schema and isinstance(value, (bool, int, float)):
            return None  # a number is no file
        if isinstance(value, dict) and place:
            inner = unwrapped(value, self._item_fields(schema), str(place[-1]))
            if inner is not None and json_type(inner) in error.kind.value:
                return Reading(inner, "unwrapped")
        return self._first(readings(value, frozenset(error.kind.value), commas=self._divides(schema, place)))

    def _item_fields(self, schema: JsonSchema) -> dict[str, Any]:
        """Return what the items of an array declare."""
        fields: dict[str, Any] = {}
        for item in union_of(self._types, schema).items:
            fields |= union_of(self._types, item).properties
        return fields

    def _divides(self, schema: JsonSchema, place: Place) -> bool:
        """Return True if commas divide the values at a place: by its documentation, or as no item can hold one."""
        described = schema.get("description")
        if (len(place) == 1 and place[0] in self._commas) or (isinstance(described, str) and is_divided(described)):
            return True
        items = [follow(item, self._types) for item in union_of(self._types, schema).items]
        return bool(items) and all(
            "string" not in admitted_types(item, self._types) or fixed_values(item, self._types) for item in items
        )

    def _alternative(
        self, value: Any, error: ValidationError, root: JsonSchema, place: Place, outcome: Outcome
    ) -> Reading | None:
        """Return the one reading for which an alternative admits the value."""
        keyword, branches = error.kind.name, list(error.kind.value)
        schema = _located(root, list(error.schema_path)[:-1], self._types)
        options = schema.get(keyword)
        if not isinstance(options, list) or len(options) != len(branches) or len(options) > _MOST_ALTERNATIVES:
            return None
        if not all(branches):
            return None  # it fits several
        depth = len(error.instance_path)
        outcomes: list[Outcome] = []
        for option, errors in zip(options, branches, strict=True):
            attempt = self._attempt(value, as_schema(option), errors, root, place, depth)
            if attempt is not None:
                outcomes.append(attempt)
        listed = any(error.kind.name in ("enum", "const") for errors in branches for error in errors)
        if self._sure and listed and not isinstance(value, (list, dict)):  # or it is a member, with a mistake
            outcomes = [attempt for attempt in outcomes if not isinstance(attempt.value, list)]
        alike = [attempt for attempt in outcomes if json_type(attempt.value) == json_type(value)]
        if not alike and isinstance(value, list) and len(value) == 1 and self._admits(schema, value[0]):
            return Reading(value[0], "item")
        chosen = least(alike or outcomes)
        if chosen is None:
            return None
        for inner, change in chosen.changes.items():
            outcome.note(inner, change)
        return Reading(chosen.value, "")

    def _admits(self, schema: JsonSchema, value: Any) -> bool:
        errors_of = self._compiled(schema)
        return errors_of is not None and next(iter(errors_of(value)), None) is None

    def _attempt(
        self,
        value: Any,
        option: JsonSchema,
        errors: Sequence[ValidationError],
        root: JsonSchema,
        place: Place,
        depth: int,
    ) -> Outcome | None:
        """Return a value as an alternative understands it; `errors` are those that its validator has found."""
        if len(place) > _DEEPEST:
            return None
        first = Outcome(_copied(value))
        groups = self._groups(errors, place, depth)
        if groups and not all(self._repair(first, {path: group}, root, place) for path, group in groups.items()):
            return None
        errors_of = self._compiled(option)
        if errors_of is None:
            return None
        rest = self.read(first.value, option, errors_of, place)
        for inner, change in rest.changes.items():
            first.note(inner, change)
        first.value, first.complete = rest.value, rest.complete
        return first if first.complete and first.value is not _DROPPED else None

    def _object(
        self,
        value: dict[str, Any],
        errors: Sequence[ValidationError],
        root: JsonSchema,
        place: Place,
        outcome: Outcome,
    ) -> Reading | None:
        """Return an object whose fields have their declared names, or the object within it."""
        declared: dict[str, Any] = {}
        for error in errors:
            if error.kind.name in _NAMES:
                declared |= union_of(self._types, self._schema(error, root)).properties
                if error.kind.name == "required":
                    declared.setdefault(str(error.kind.value), None)
        inner = unwrapped(value, declared, str(place[-1])) if declared and place else None
        if inner is not None:
            return Reading(inner, "unwrapped")
        names = renames(value, declared)
        for key, name in names.items():
            outcome.note((*place, name), Change(value[key], value[key], ("renamed",), (*place, key)))
        return Reading({names.get(key, key): item for key, item in value.items()}, "") if names else None


def is_divided(description: str) -> bool:
    """Return True if a text says that commas divide the values."""
    return _COMMAS.search(description[:2000]) is not None


def renames(value: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, str]:
    """Return the declared name for each undeclared key that can only be another spelling of it."""
    wanted: dict[str, list[str]] = {}
    for name in declared:
        wanted.setdefault(letters(name), []).append(name)
    spellings: dict[str, list[str]] = {}
    for key in value:
        names = wanted.get(letters(key), ())
        if key not in declared and len(names) == 1 and names[0] not in value:
            spellings.setdefault(names[0], []).append(key)
    return {keys[0]: name for name, keys in spellings.items() if len(keys) == 1}


def unwrapped(value: Mapping[str, Any], declared: Mapping[str, Any], own_name: str) -> Any:
    """Return what an object holds under one name that it does not declare: a wrapper's, or its own; else None."""
    if len(value) != 1:
        return None
    key, inner = next(iter(value.items()))
    if isinstance(inner, str) and (parsed := structured(inner)) is not MISSING:
        inner = parsed
    known = {letters(name) for name in declared}
    name = letters(key)
    stands_for = name in WRAPPERS or name == letters(own_name)
    return inner if stands_for and name not in known else None


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def _parent(holder: list[Any], path: Place) -> tuple[Any, Any]:
    """Return what holds the value at a path, and its key there; None if the path leads nowhere any more."""
    parent: Any = holder
    key: str | int = 0
    for step in path:
        parent, key = parent[key], step
        if isinstance(parent, dict) and isinstance(step, str) and step in parent:
            continue
        if isinstance(parent, list) and isinstance(step, int) and step < len(parent):
            continue
        return None, key
    return parent, key


def _located(root: JsonSchema, path: Sequence[str | int], types: Types) -> JsonSchema:
    """Return the schema at a path of a compiled document, which has the types under the key `types`."""
    node: Any = root
    steps: Iterator[str | int] = iter(path)
    if path and path[0] == "types" and "types" not in root:
        next(steps)
        name = str(next(steps, ""))
        node = types.get(name) or PROTOCOL_SCHEMAS.get(name, {})
    for step in steps:
        if isinstance(node, Mapping):
            node = node.get(str(step))
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            return {}
    return as_schema(node)
