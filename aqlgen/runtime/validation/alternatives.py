# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Problems with the fields of an object taken together: an alternative that is not whole, a field that needs another.

None of the alternatives fits. The caller is told the nearest one, by the value that names it,
else by the fields that were given, and what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from ..errors import Code
from ..schema.groups import MOST_OPTIONS, Group, choices
from ..schema.reader import Types, as_schema, union_of
from ..schema.wording import joined, named
from ..text import leaks
from .problems import Problem
from .value_problems import FORMATS
from .walk import Fault

__all__ = ["Together"]

_MOST, _MOST_NAMES = 5, 20
_NOTHING: Mapping[str, str] = MappingProxyType({})
_CLOSED = frozenset({"additionalProperties", "unevaluatedProperties"})

Describe: TypeAlias = "Callable[[Fault], Problem | None]"


class Together:
    """Explains the faults of one walk.

    `names` are the parameters that hold the fields of a body that several of them make, by the fields' names; empty if
    the parameters themselves were walked.
    """

    def __init__(self, types: Types, names: Mapping[str, str] = _NOTHING) -> None:
        self._types = types
        self._names = names

    def problem(self, fault: Fault, describe: Describe) -> Problem | None:
        """Return the problem of a fault; None if it is not about fields taken together. `describe` has the others."""
        keyword = fault.keyword
        if keyword in ("anyOf", "oneOf"):
            return self._nearest(fault, describe)
        place = _place(fault.path)
        if keyword == "dependentRequired":
            return self._needed(fault, place)
        if keyword in ("minProperties", "maxProperties"):
            return self._counted(fault, place)
        if keyword == "type" and isinstance(fault.instance, int | float):
            form, problem = fault.schema.get("format"), describe(fault)
            if problem is not None and form in FORMATS and "string" in fault.expected:
                return replace(problem, message=f"Parameter '{problem.name}' must be {FORMATS[form]}")
        if keyword == "required" and not place and self._names:
            lacking = self._within(place, fault.expected)
            message = f"Missing required parameter '{lacking}'"
            return Problem(Code.MISSING_PARAM, lacking, message, {"param_name": lacking})
        return None

    def _needed(self, fault: Fault, place: str) -> Problem:
        """Return the problem of a field that others which were given need."""
        needing = [
            name
            for name, others in as_schema(fault.schema.get(fault.keyword)).items()
            if fault.expected in others and name in as_schema(fault.instance)
        ]
        lacking = self._within(place, fault.expected)
        message = f"'{lacking}' is needed with {joined(named(self._name(place, name)) for name in needing)}"
        return Problem(Code.MISSING_PARAM, lacking, message, {"param_name": lacking})

    def _counted(self, fault: Fault, place: str) -> Problem | None:
        """Return the problem of an object with too few or too many fields, if it is known which it may have."""
        fields = list(union_of(self._types, fault.schema).properties)
        if not fields:
            return None
        names = [named(self._name(place, name)) for name in fields if place or not self._names or name in self._names]
        limit: Any = fault.expected
        amount = "one" if limit == 1 else str(limit)
        bound = f"needs {amount} or more" if fault.keyword == "minProperties" else f"takes no more than {amount}"
        subject = f"Parameter '{place}'" if place else "The body"
        message = f"{subject} {bound} of {', '.join(names[:_MOST_NAMES])}"
        message += f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return Problem(Code.INVALID_VALUE, place or "params", message, {"param_name": place or "params"})

    # The nearest alternative

    def _nearest(self, fault: Fault, describe: Describe) -> Problem | None:
        value = fault.instance
        if not isinstance(value, Mapping) or not all(fault.expected):
            return None
        groups, branches = self._candidates(fault)
        if not groups:
            return None
        place = _place(fault.path)
        nearest = min(range(len(groups)), key=lambda index: _distance(groups[index], branches[index], value))
        demands = [self._demanded(other, place) for other in groups[:_MOST]]
        details: dict[str, Any] = {"param_name": place or "params", "alternatives": demands}
        if _is_told_by(groups[nearest], value, groups):
            return self._missed(fault, groups[nearest], branches[nearest], details, describe)
        message = _without_leaks(f"{_none_fits(place)}. Give one of: {'; '.join(demands)}", place)
        return Problem(Code.MISSING_PARAM, place or "params", message, details)

    def _missed(
        self, fault: Fault, group: Group, branch: Sequence[Fault], details: dict[str, Any], describe: Describe
    ) -> Problem:
        """Return what an object lacks, and what it has too much, for the alternative that it is nearest to."""
        place = _place(fault.path)
        faults = [inner for inner in branch if len(inner.path) == len(fault.path)]
        lacking = [self._within(place, inner.expected) for inner in faults if inner.keyword == "required"]
        strange = [name for inner in faults if inner.keyword in _CLOSED for name in inner.expected]
        says = [f"it lacks {_quoted(lacking)}"] if lacking else []
        says += [f"it does not take {_quoted(self._within(place, name) for name in strange)}"] if strange else []
        says += self._further(branch, describe)
        label = group.label or f"the one needing {joined(map(named, group.required))}"
        message = f"{_none_fits(place)}. Nearest is {label}: {', and '.join(says) or 'see details'}"
        findings = {"nearest": label, "missing_params": lacking, "unknown_fields": strange}
        details |= {key: value for key, value in findings.items() if value}
        if lacking and len(says) == 1:
            details["param_name"] = lacking[0]
            return Problem(Code.MISSING_PARAM, lacking[0], _without_leaks(message, place), details)
        return Problem(Code.INVALID_VALUE, place or "params", _without_leaks(message, place), details)

    def _further(self, branch: Sequence[Fault], describe: Describe) -> list[str]:
        """Return the first other fault of an alternative, as a part of a sentence."""
        others = (fault for fault in branch if fault.keyword not in _CLOSED | {"required"})
        problem = next((self.problem(other, describe) or describe(other) for other in others), None)
        return [problem.message[:1].lower() + problem.message[1:]] if problem else []

    def _candidates(self, fault: Fault) -> tuple[list[Group], list[Sequence[Fault]]]:
        """Return the alternatives for objects, each with its faults; none if there are no two of them."""
        holder = fault.schema
        pairs = [
            (option, branch)
            for option, branch in zip(holder.get(fault.keyword, ()), fault.branches(), strict=False)
            if not any(inner.keyword == "type" and len(inner.path) == len(fault.path) for inner in branch)
        ][:MOST_OPTIONS]
        union = {key: holder[key] for key in ("discriminator", "properties") if key in holder}
        groups = next(choices({**union, "anyOf": [option for option, _ in pairs]}, self._types), [])
        return (groups, [branch for _, branch in pairs]) if len(groups) == len(pairs) else ([], [])

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


def _none_fits(place: str) -> str:
    return f"Parameter '{place}' fits none of the alternatives" if place else "The fields fit none of the alternatives"


def _without_leaks(message: str, place: str) -> str:
    return f"{_none_fits(place)}, see details" if leaks(message) else message


def _place(path: Sequence[str | int]) -> str:
    first, *rest = path or [""]
    return str(first) + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in rest)


def _quoted(names: Iterable[str]) -> str:
    return joined(f"'{name}'" for name in names)


def _distance(group: Group, branch: Sequence[Fault], value: Mapping[str, Any]) -> tuple[int, ...]:
    """Return how far a value is from an alternative: by its tags, the fields that it shares, then its faults."""
    tags = [value[name] in values for name, values in group.tags.items() if name in value]
    return (tags.count(False), -tags.count(True), -len(value.keys() & {*group.fields}), len(branch))


def _is_told_by(group: Group, value: Mapping[str, Any], groups: Sequence[Group]) -> bool:
    """Return True if anything given speaks for one alternative rather than for the others."""
    common = frozenset.intersection(*(frozenset(other.fields) for other in groups))
    if any(value.get(name) in values for name, values in group.tags.items() if name in value):
        return True
    return any(name in value and name not in common for name in group.fields)
