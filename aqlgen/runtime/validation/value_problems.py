"""Faults of values as problems, each with the value to give instead where that can be seen (R-ENV-5).

A value that fits none of its alternatives has the problems of the nearest one: by the value that names it, else by the
fields that were given.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import Code
from ..schema import Types, as_schema, json_type
from ..schema.notation import named
from ..schema.validators import stated_pattern
from ..schema.wording import MOST_OPTIONS, Group, choices, joined
from ..text import leaks, line, listed, shown
from .coercions import coercions
from .problems import Problem
from .walk import Fault, Place

_LONGEST_VALUE, _LONGEST_HINT, _MOST_TOLD = 100, 60, 5
_LIMITS = {
    "minimum": "has a minimum of {}",
    "maximum": "has a maximum of {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "minLength": "has a minimum length of {}",
    "maxLength": "has a maximum length of {}",
    "minItems": "needs a minimum of {} items",
    "maxItems": "takes a maximum of {} items",
    "minProperties": "needs a minimum of {} fields",
    "maxProperties": "takes a maximum of {} fields",
    "multipleOf": "must be a multiple of {}",
}
_FORMATS = {
    "date-time": "a date and time with a zone, such as '2026-01-31T12:00:00Z'",
    "date": "a date, such as '2026-01-31'",
    "time": "a time with a zone, such as '12:00:00Z'",
    "duration": "a duration, such as 'PT1H'",
    "uuid": "a UUID, such as '123e4567-e89b-12d3-a456-426614174000'",
    "email": "an e-mail address",
    "idn-email": "an e-mail address",
    "hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uri": "an absolute URI, such as 'https://example.com/a'",
    "uri-reference": "a URI reference",
    "regex": "a regular expression",
}
_RULES = {
    "uniqueItems": "must not hold the same item twice",
    "propertyNames": "has a field with a forbidden name",
    "falseSchema": "takes no value here",
    "depth": "is nested too deeply",
}
CLOSED = ("additionalProperties", "unevaluatedProperties")
"""The keywords by which an object takes no other fields."""
_UNIONS = ("anyOf", "oneOf")


def place_of(path: Sequence[str | int]) -> str:
    """Return the path of a value within the parameters as people write it: `input.tags[0]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explains the faults of one walk, without the values of `sensitive` parameters.

    `names` are the parameters that hold the fields of a body that several of them make, by the fields' names; empty if
    the parameters themselves were walked.
    """

    types: Types
    sensitive: Collection[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def problems(self, faults: Iterable[Fault]) -> list[Problem]:
        """Return the problems, in the order of the values; each place once per code."""
        problems: dict[tuple[Code, str], Problem] = {}
        for fault in faults:
            for problem in self._of(fault):
                problems.setdefault((problem.code, problem.name), problem)
        return list(problems.values())

    def _place(self, path: Place) -> str:
        return place_of([self.names.get(str(step), step) if not index else step for index, step in enumerate(path)])

    def _of(self, fault: Fault) -> Iterator[Problem]:
        keyword, expected, name = fault.keyword, fault.expected, self._place(fault.path)
        if keyword in _UNIONS:
            yield from self._of_union(fault, name)
        elif keyword == "required":
            lacking = self._place((*fault.path, expected))
            message = f"Missing required parameter '{lacking}'"
            yield Problem(Code.MISSING_PARAM, lacking, message, {"param_name": lacking})
        elif keyword == "type":
            yield self._of_type(fault, name, sorted(expected, key=lambda kind: kind == "null"))
        else:
            yield self._of_rule(fault, name)

    def _of_rule(self, fault: Fault, name: str) -> Problem:
        rule, details = _rule(fault)
        subject, name = (f"Parameter '{name}'", name) if name else ("The body", "params")
        message = f"{subject} {rule}"
        if leaks(message):
            message = f"{subject} has a value outside its allowed ones, see details"
        return Problem(Code.INVALID_VALUE, name, message, {"param_name": name, **details, **self._value(fault)})

    def _of_type(self, fault: Fault, name: str, types: Sequence[str]) -> Problem:
        expected, actual = " or ".join(types), json_type(fault.instance)
        details = {"param_name": name, "expected_type": expected, "actual_type": actual, **self._value(fault)}
        form = fault.schema.get("format")
        message = f"Parameter '{name}' expected '{expected}', got '{actual}'"
        if form in _FORMATS and "string" in types and isinstance(fault.instance, int | float):
            message = f"Parameter '{name}' must be {_FORMATS[form]}"
        elif not self._hides(fault):
            message += _hint(fault.instance, types)
        return Problem(Code.INVALID_TYPE, name, message, details)

    def _hides(self, fault: Fault) -> bool:
        return bool(fault.path) and fault.path[0] in self.sensitive

    def _value(self, fault: Fault) -> dict[str, Any]:
        value = fault.instance
        is_long = isinstance(value, (Mapping, list)) or (isinstance(value, str) and len(value) > _LONGEST_VALUE)
        return {} if is_long or self._hides(fault) else {"value": value}

    # Alternatives

    def _of_union(self, fault: Fault, name: str) -> Iterator[Problem]:
        """Yield the problems of the nearest alternative, the first of them with what all others demand."""
        branches = fault.branches()
        options = zip(fault.schema[fault.keyword], branches, strict=False)
        repairable = [str(as_schema(option).get("type", "")) for option, faults in options if not faults]
        if len(repairable) == 1 and repairable[0]:
            yield self._of_type(replace(fault, schema={}), name, repairable)
            return
        if repairable:
            message = f"{_fits(name)} more than one of the alternatives, give the fields of exactly one"
            details = {"param_name": name or "params", **self._value(fault)}
            yield Problem(Code.INVALID_VALUE, name or "params", message, details)
            return
        types = [_other_types(branch, fault.path) for branch in branches]
        others = sorted(frozenset().union(*types))
        fitting = [index for index, kinds in enumerate(types) if not kinds]
        if fitting:
            yield from self._of_nearest(fault, name, branches, fitting, [kind for kind in others if kind != "null"])
        else:
            yield self._of_type(replace(fault, schema={}), name, others)

    def _of_nearest(
        self, fault: Fault, name: str, branches: Sequence[Sequence[Fault]], fitting: Sequence[int], others: list[str]
    ) -> Iterator[Problem]:
        """Yield the problems of the nearest of the alternatives that are `fitting` by type; `others` are further types.

        The first of them names what each of the alternatives demands.
        """
        groups = self._groups(fault, fitting)
        nearest = min(fitting, key=lambda index: _distance(groups.get(index), branches[index], fault.instance))
        inner = [each for index, each in enumerate(branches[nearest]) if not index or each.keyword not in _UNIONS]
        first, *further = [problem for each in inner for problem in self._of(each)]
        if groups:
            group = groups[nearest]
            label = group.label or f"the one needing {joined(map(named, group.required))}"
            message = f"{_fits(name)} none of the alternatives. Nearest is {label}: {first.message}"
            details = {"alternatives": self._demands(groups, fault.path), "nearest": group.label, **first.details}
            first = replace(first, message=first.message if leaks(message) else message, details=details)
        elif first.name == name and others:
            hint = "" if self._hides(fault) else _hint(fault.instance, others)
            first = replace(first, message=f"{first.message}, or expected '{' or '.join(others)}'{hint}")
        yield from (first, *further)

    def _groups(self, fault: Fault, fitting: Sequence[int]) -> dict[int, Group]:
        """Return the alternatives for objects by index; none for fewer than two, or if one is not an object."""
        holder = fault.schema
        options = [holder[fault.keyword][index] for index in fitting[:MOST_OPTIONS]]
        union = {key: holder[key] for key in ("discriminator", "properties") if key in holder}
        groups = next(choices({**union, "anyOf": options}, self.types), [])
        is_whole = isinstance(fault.instance, Mapping) and len(groups) == len(fitting)
        return dict(zip(fitting, groups, strict=True)) if is_whole else {}

    def _demands(self, groups: Mapping[int, Group], path: Place) -> list[str]:
        """Return the demands of alternatives, each in a few words."""
        names = self.names if not path else {}
        demands = []
        for group in list(groups.values())[:_MOST_TOLD]:
            fields = joined(named(names.get(name, name)) for name in group.required if name not in group.tags)
            label = group.label if group.tags or not fields else ""
            demands.append(" with ".join(filter(None, (label, fields))) or "nothing else")
        return demands


def _fits(name: str) -> str:
    return f"Parameter '{name}' fits" if name else "The fields fit"


def _other_types(branch: Sequence[Fault], path: Place) -> frozenset[str]:
    """Return the types that an alternative demands instead of the value's; none if it is of the right one."""
    kinds = (inner.expected for inner in branch if inner.keyword == "type" and len(inner.path) == len(path))
    return frozenset(kind for listed in kinds for kind in listed)


def _distance(group: Group | None, branch: Sequence[Fault], value: Any) -> tuple[int, ...]:
    """Return how far a value is from an alternative: by its tags, the fields that it shares, then its faults."""
    if group is None:
        return (len(branch),)
    tags = [value[name] in values for name, values in group.tags.items() if name in value]
    return (tags.count(False), -tags.count(True), -len(value.keys() & {*group.fields}), len(branch))


def _rule(fault: Fault) -> tuple[str, dict[str, Any]]:
    keyword, value = fault.keyword, fault.expected
    if keyword == "enum":
        return f"must be one of {listed(value)}", {"allowed_values": list(value)[:100]}
    if keyword == "const":
        return f"must be {shown(value)}", {"allowed_values": [value]}
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(value), {keyword: value}
    if keyword == "pattern":
        pattern = stated_pattern(value)
        return f"must match the pattern {shown(pattern)}", {"pattern": pattern}
    if keyword == "format":
        return f"must be {_FORMATS.get(str(value), 'a ' + str(value))}", {"format": value}
    if keyword in CLOSED:
        names = [line(name, 100) for name in value[:100]]
        return f"has unknown fields: {listed([*names, *value[100:]])}", {"unknown_fields": names}
    return _RULES.get(keyword, f"breaks the rule '{keyword}'"), {}


def _hint(value: Any, types: Collection[str]) -> str:
    """Return the end of the message, such as ". Give 7, without quotes"; "" if it is not clear what was meant."""
    if value is None:
        return ". Give a value, or leave it out if it is optional"
    reading = next(coercions(value, types), None)
    is_json = isinstance(value, str) and value.strip()[:1] in ("{", "[")
    if is_json and {"object", "array"} & set(types):
        return ". Give the value, not its text"
    if reading is None or reading.kind not in _ADVICE:
        return ""
    quotes = ", without quotes" if isinstance(value, str) and reading.kind in ("number", "boolean") else ""
    text = f". Give {_ADVICE[reading.kind].format(json.dumps(reading.value, ensure_ascii=False))}{quotes}"
    return text if len(text) <= _LONGEST_HINT else ""


_ADVICE = {
    "number": "{}", "boolean": "{}", "list": "a list: {}", "divided": "a list: {}", "text": "{}, in quotes",
}  # fmt: skip
