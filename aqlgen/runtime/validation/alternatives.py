# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Problems with the fields of an object taken together: an alternative that is not whole, a field that needs another.

The validator says that none of the alternatives fits. The caller is told the nearest one, by the value that names it,
else by the fields that were given, and what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import Code
from ..schema.groups import MOST_OPTIONS, Group, choices
from ..schema.reader import Types, as_schema, union_of
from ..schema.wording import joined, named
from ..table import JsonSchema
from ..text import leaks
from .problems import Problem
from .value_problems import FORMATS, lacks_only

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["Together"]

_MOST, _MOST_NAMES = 5, 20
_NOTHING: Mapping[str, str] = MappingProxyType({})
_CLOSED = frozenset({"additionalProperties", "unevaluatedProperties"})

Describe = Callable[["ValidationError"], Problem | None]


class Together:
    """Explains the errors of one validator.

    `schema` is what was compiled. `names` are the parameters that hold the fields of a body that several of them make,
    by the fields' names; empty if the parameters themselves were validated. With `partial`, `input` may lack fields.
    """

    def __init__(
        self, schema: JsonSchema, types: Types, names: Mapping[str, str] = _NOTHING, *, partial: bool = False
    ) -> None:
        self._schema = schema
        self._types = types
        self._names = names
        self._partial = partial

    def problem(self, error: ValidationError, describe: Describe) -> Problem | None:
        """Return the problem of an error; None if it is not about fields taken together. `describe` has the others."""
        keyword = error.schema_path[-1] if error.schema_path else None
        if keyword in ("anyOf", "oneOf"):
            return self._nearest(error, describe)
        place = _place(error.instance_path)
        if keyword == "dependentRequired":
            holder = self._at(error.schema_path[:-1])
            needing = [
                name
                for name, others in as_schema(holder.get(keyword)).items()
                if error.kind.value in others and name in as_schema(error.instance)
            ]
            lacking = self._within(place, error.kind.value)
            message = f"'{lacking}' is needed with {joined(named(self._name(place, name)) for name in needing)}"
            return Problem(Code.MISSING_PARAM, lacking, message, {"param_name": lacking})
        if keyword in ("minProperties", "maxProperties"):
            return self._counted(error, place, str(keyword))
        if keyword == "type" and isinstance(error.instance, int | float):
            form, problem = self._at(error.schema_path[:-1]).get("format"), describe(error)
            if problem is not None and form in FORMATS and "string" in error.kind.value:
                return replace(problem, message=f"Parameter '{problem.name}' must be {FORMATS[form]}")
        if keyword == "required" and not place and self._names:
            lacking = self._within(place, error.kind.value)
            message = f"Missing required parameter '{lacking}'"
            return Problem(Code.MISSING_PARAM, lacking, message, {"param_name": lacking})
        return None

    def _counted(self, error: ValidationError, place: str, keyword: str) -> Problem | None:
        """Return the problem of an object with too few or too many fields, if it is known which it may have."""
        fields = list(union_of(self._types, self._at(error.schema_path[:-1])).properties)
        if not fields:
            return None
        names = [named(self._name(place, name)) for name in fields if place or not self._names or name in self._names]
        limit: Any = error.kind.value
        amount = "one" if limit == 1 else str(limit)
        bound = f"needs {amount} or more" if keyword == "minProperties" else f"takes no more than {amount}"
        subject = f"Parameter '{place}'" if place else "The body"
        message = f"{subject} {bound} of {', '.join(names[:_MOST_NAMES])}"
        message += f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return Problem(Code.INVALID_VALUE, place or "params", message, {"param_name": place or "params"})

    # The nearest alternative

    def _nearest(self, error: ValidationError, describe: Describe) -> Problem | None:
        value = error.instance
        if not isinstance(value, Mapping) or not all(error.kind.value):
            return None
        groups, branches = self._candidates(error)
        if not groups:
            return None
        place = _place(error.instance_path)
        nearest = min(range(len(groups)), key=lambda index: _distance(groups[index], branches[index], error))
        group, demands = groups[nearest], [self._demanded(other, place) for other in groups[:_MOST]]
        details: dict[str, Any] = {"param_name": place or "params", "alternatives": demands}
        subject = f"Parameter '{place}' fits" if place else "The fields fit"
        if not _is_told_by(group, value, groups):
            message = f"{subject} none of the alternatives. Give one of: {'; '.join(demands)}"
            message = f"{subject} none of the alternatives, see details" if leaks(message) else message
            return Problem(Code.MISSING_PARAM, place or "params", message, details)
        faults = [inner for inner in branches[nearest] if _is_of(inner, error)]
        lacking = [self._within(place, inner.kind.value) for inner in faults if inner.kind.name == "required"]
        strange = [name for inner in faults if inner.kind.name in _CLOSED for name in inner.kind.value]
        other = next((inner for inner in branches[nearest] if inner.kind.name not in _CLOSED | {"required"}), None)
        further = None if other is None else self.problem(other, describe) or describe(other)
        says = [f"it lacks {_quoted(lacking)}"] if lacking else []
        says += [f"it does not take {_quoted(self._within(place, name) for name in strange)}"] if strange else []
        says += [further.message[:1].lower() + further.message[1:]] if further else []
        label = group.label or f"the one needing {joined(map(named, group.required))}"
        message = f"{subject} none of the alternatives. Nearest is {label}: {', and '.join(says) or 'see details'}"
        if leaks(message):
            message = f"{subject} none of the alternatives, see details"
        details["nearest"] = label
        if lacking:
            details["missing_params"] = lacking
        if strange:
            details["unknown_fields"] = strange
        if lacking and len(says) == 1:
            return Problem(Code.MISSING_PARAM, lacking[0], message, {**details, "param_name": lacking[0]})
        return Problem(Code.INVALID_VALUE, place or "params", message, details)

    def _candidates(self, error: ValidationError) -> tuple[list[Group], list[Sequence[ValidationError]]]:
        """Return the alternatives for objects, each with its errors; none if there are no two of them."""
        *path, keyword = error.schema_path
        holder = self._at(path)
        pairs = [
            (option, branch)
            for option, branch in zip(holder.get(str(keyword), ()), error.kind.value, strict=False)
            if not any(inner.kind.name == "type" and _is_of(inner, error) for inner in branch)
        ][:MOST_OPTIONS]
        union = {key: holder[key] for key in ("discriminator", "properties") if key in holder}
        groups = next(choices({**union, "anyOf": [option for option, _ in pairs]}, self._types), [])
        if len(groups) != len(pairs):
            return [], []
        return groups, [[inner for inner in branch if not (self._partial and lacks_only(inner))] for _, branch in pairs]

    def _demanded(self, group: Group, place: str) -> str:
        """Return what an alternative needs, in a few words."""
        fields = [named(self._name(place, name)) for name in group.required if name not in group.tags]
        if not fields:
            return group.label or "nothing else"
        return f"{group.label} with {joined(fields)}" if group.tags else joined(fields)

    def _name(self, place: str, field: str) -> str:
        return field if place else self._names.get(field, field)

    def _within(self, place: str, field: str) -> str:
        """Return the path of a field within the value at a place; the fields of a body are parameters."""
        return f"{place}.{field}" if place else self._name(place, field) if self._names else f"params.{field}"

    # The schema behind an error

    def _at(self, path: Sequence[str | int]) -> JsonSchema:
        """Return the schema at a path of the validator, which names types by `types`."""
        node: Any = {**self._schema, "types": self._types} if path and path[0] == "types" else self._schema
        try:
            for step in path:
                node = node[step]
        except (KeyError, IndexError, TypeError):  # a type of the protocol, or a document that had to be repaired
            return {}
        return as_schema(node)


def _place(path: Sequence[str | int]) -> str:
    first, *rest = path or [""]
    return str(first) + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in rest)


def _is_of(inner: ValidationError, error: ValidationError) -> bool:
    """Return True if an error of an alternative is about the whole value."""
    return len(inner.instance_path) == len(error.instance_path)


def _quoted(names: Iterable[str]) -> str:
    return joined(f"'{name}'" for name in names)


def _distance(group: Group, branch: Sequence[ValidationError], error: ValidationError) -> tuple[int, ...]:
    """Return how far a value is from an alternative: by its tags, the fields that it shares, then its errors."""
    value: Any = error.instance
    tags = [value[name] in values for name, values in group.tags.items() if name in value]
    return (tags.count(False), -tags.count(True), -len(value.keys() & {*group.fields}), len(branch))


def _is_told_by(group: Group, value: Mapping[str, Any], groups: Sequence[Group]) -> bool:
    """Return True if anything given speaks for one alternative rather than for the others."""
    common = frozenset.intersection(*(frozenset(other.fields) for other in groups))
    if any(value.get(name) in values for name, values in group.tags.items() if name in value):
        return True
    return any(name in value and name not in common for name in group.fields)
