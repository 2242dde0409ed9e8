# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Faults of values as problems, each with the value to give instead where that can be seen (R-ENV-5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ..errors import Code
from ..schema.reader import json_type
from ..schema.validators import stated_pattern
from ..text import leaks, listed, shown
from .coercions import coercions, dated
from .problems import Problem
from .walk import Fault

__all__ = ["FORMATS", "place_of", "problems_of"]

Together: TypeAlias = "Callable[[Fault, Callable[[Fault], Problem | None]], Problem | None]"

_LONGEST_VALUE, _LONGEST_HINT = 100, 60
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
FORMATS = {
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
    "contains": "misses an item of the kind it must contain",
    "propertyNames": "has a field whose name is not allowed",
    "falseSchema": "takes no value here",
    "depth": "is nested too deeply",
}


def problems_of(faults: Iterable[Fault], sensitive: frozenset[str], together: Together | None = None) -> list[Problem]:
    """Return the problems with a parameters object, in the order of its values; each place once per code.

    `together` explains those with fields taken together.
    """
    problems: list[Problem] = []
    seen: set[tuple[Code, str]] = set()
    for fault in faults:
        problem = None if together is None else together(fault, lambda inner: _described(inner, sensitive))
        problem = problem or _described(fault, sensitive)
        if (problem.code, problem.name) not in seen:
            seen.add((problem.code, problem.name))
            problems.append(problem)
    return problems


def _described(fault: Fault, sensitive: frozenset[str]) -> Problem:
    return _problem(fault, hide=bool(fault.path) and fault.path[0] in sensitive)


def _problem(fault: Fault, *, hide: bool, nested: int = 0) -> Problem:
    """Return the problem of a fault, without the value if `hide`; `nested` counts the alternatives around it."""
    keyword, path = fault.keyword, fault.path
    name = place_of(str(path[0]), path[1:]) if path else "params"
    if keyword == "required":
        missing = f"{name}.{fault.expected}"
        return Problem(Code.MISSING_PARAM, missing, f"Missing required parameter '{missing}'", {"param_name": missing})
    if keyword == "type":
        return _type_problem(fault.instance, name, sorted(fault.expected, key=lambda name: name == "null"), hide=hide)
    if keyword in ("oneOf", "anyOf"):
        return _alternatives_problem(fault, name, hide=hide, nested=nested)
    rule, rule_details = _rule(fault)
    message = f"Parameter '{name}' {rule}"
    if keyword == "format" and not hide and isinstance(fault.instance, str):
        moment = dated(fault.instance, str(fault.expected))
        message += "" if moment is None else _if_short(f". Give {json.dumps(moment.value)}")
    if leaks(message):
        message = f"Parameter '{name}' has a value outside its allowed ones, see details"
    details = {"param_name": name, **rule_details, **_value(fault.instance, hide=hide)}
    return Problem(Code.INVALID_VALUE, name, message, details)


def place_of(name: str, path: Sequence[str | int]) -> str:
    """Return the path of a value within parameter `name` as people write it: `input.tags[0]`."""
    return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


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
        return f"must be {FORMATS.get(str(value), 'a ' + str(value))}", {"format": value}
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        return f"has unknown fields: {listed(value)}", {"unknown_fields": list(value)}
    return _RULES.get(keyword, f"breaks the rule '{keyword}'"), {}


# Alternatives


def _alternatives_problem(fault: Fault, name: str, *, hide: bool, nested: int) -> Problem:
    """Explain why none fits, by the nearest alternative: with the fewest faults among those of the same type."""
    branches = fault.branches()
    failed = [branch for branch in branches if branch]
    details: dict[str, Any] = {"param_name": name}
    if len(failed) < len(branches):
        message = f"Parameter '{name}' fits more than one of its alternatives, give the fields of exactly one"
        return Problem(Code.INVALID_VALUE, name, message, {**details, **_value(fault.instance, hide=hide)})
    types = _only_types(fault, failed)
    if types:
        return _type_problem(fault.instance, name, types, hide=hide)
    fitting = [branch for branch in failed if not _is_other_type(branch, fault)]
    if len(fitting) == 1 and fault.path:
        inner = _problem(fitting[0][0], hide=hide, nested=nested + 1)
        return inner if inner.name != name else replace(inner, message=inner.message + _or_else(fault, failed, hide))
    listed_branches = (fitting or failed)[:5] if nested < 2 else []
    reasons = [_problem(branch[0], hide=hide, nested=nested + 2).message for branch in listed_branches]
    message = f"Parameter '{name}' fits none of its alternatives, see details"
    if fault.instance is None:
        message += ". Leave it out, or give a value"
    details |= {"alternatives": reasons, **_value(fault.instance, hide=hide)}
    return Problem(Code.INVALID_VALUE, name, message, details)


def _only_types(fault: Fault, failed: Sequence[list[Fault]]) -> list[str]:
    """Return the types of all alternatives, if a value is of another type than each of them, and nothing else."""
    if not all(len(branch) == 1 and _is_other_type(branch, fault) for branch in failed):
        return []
    return sorted({kind for branch in failed for kind in branch[0].expected})


def _or_else(fault: Fault, failed: Sequence[list[Fault]], hide: bool) -> str:
    """Describe which other types are possible for a value whose own type fits one alternative only."""
    others = [branch for branch in failed if _is_other_type(branch, fault)]
    types = sorted({kind for branch in others for kind in branch[0].expected if kind != "null"})
    if not types:
        return ""
    return f", or expected '{' or '.join(types)}'{'' if hide else _hint(fault.instance, types)}"


def _is_other_type(branch: list[Fault], fault: Fault) -> bool:
    return any(inner.keyword == "type" and len(inner.path) == len(fault.path) for inner in branch)


# Types


def _type_problem(value: Any, name: str, types: Sequence[str], *, hide: bool) -> Problem:
    expected, actual = " or ".join(types), json_type(value)
    details = {"param_name": name, "expected_type": expected, "actual_type": actual, **_value(value, hide=hide)}
    message = f"Parameter '{name}' expected '{expected}', got '{actual}'{'' if hide else _hint(value, types)}"
    return Problem(Code.INVALID_TYPE, name, message, details)


def _value(value: Any, *, hide: bool) -> dict[str, Any]:
    if hide or isinstance(value, (Mapping, list)) or (isinstance(value, str) and len(value) > _LONGEST_VALUE):
        return {}
    return {"value": value}


def _hint(value: Any, types: Collection[str]) -> str:
    """Return the end of the message, such as ". Give 7, without quotes"; "" if it is not clear what was meant."""
    if value is None:
        return ". Leave it out, or give a value"
    reading = next(coercions(value, types), None)
    if reading is None:
        is_json = isinstance(value, str) and value.strip()[:1] in ("{", "[")
        return ". Give it as it is, not as the text of it" if is_json and {"object", "array"} & set(types) else ""
    text = json.dumps(reading.value, ensure_ascii=False)
    if reading.kind == "json":
        return ". Give it as it is, not as the text of it"
    if reading.kind in ("number", "boolean"):
        return _if_short(f". Give {text}" + (", without quotes" if isinstance(value, str) else ""))
    if reading.kind in ("list", "divided"):
        return _if_short(f". Give a list: {text}") or ". Give a list"
    if reading.kind == "text":
        return _if_short(f". Give {text}, in quotes")
    return ""


def _if_short(text: str) -> str:
    return text if len(text) <= _LONGEST_HINT else ""
