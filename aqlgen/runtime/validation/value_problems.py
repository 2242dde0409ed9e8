# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The validator's errors as problems with values, with what to give instead where that can be seen (R-ENV-5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import Code
from ..schema.reader import json_type
from ..schema.validators import stated_pattern
from ..text import leaks, listed, shown
from .problems import Problem
from .readings import readings, timed

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

    Together = Callable[[ValidationError, Callable[[ValidationError], Problem | None]], Problem | None]

__all__ = ["FORMATS", "lacks_only", "place_of", "problems_of"]

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
}
_PRESENCE = frozenset({"required", "minProperties", "dependentRequired"})


def problems_of(
    errors: Iterator[ValidationError], sensitive: frozenset[str], together: Together | None = None
) -> list[Problem]:
    """Return the problems with a parameters object, in the validator's order; each place once per code.

    `together` explains those with fields taken together.
    """
    problems: list[Problem] = []
    seen: set[tuple[Code, str]] = set()
    for error in errors:
        problem = None if together is None else together(error, lambda inner: _described(inner, sensitive))
        problem = problem or _described(error, sensitive)
        if problem is not None and (problem.code, problem.name) not in seen:
            seen.add((problem.code, problem.name))
            problems.append(problem)
    return problems


def _described(error: ValidationError, sensitive: frozenset[str]) -> Problem | None:
    path = list(error.instance_path)
    return _problem(error, path, hide=bool(path) and path[0] in sensitive)


def lacks_only(error: ValidationError, place: Sequence[str | int] = ()) -> bool:
    """Return True if an error only says that something of `input` is missing, or is null so as to be removed.

    A change that is merged into the whole may lack that (R-UPD-2). Arrays are not merged: their items must be whole.
    `place` is where what was validated stands among the parameters.
    """
    path = [*place, *error.instance_path]
    if not path or path[0] != "input" or any(isinstance(step, int) for step in path):
        return False
    kind = error.kind
    if kind.name in _PRESENCE or (error.instance is None and len(path) > 1):
        return True
    if kind.name not in ("anyOf", "oneOf"):
        return False
    branches: Sequence[Sequence[ValidationError]] = kind.value
    return any(all(lacks_only(inner, place) for inner in branch) for branch in branches)


def _problem(error: ValidationError, path: list[str | int], *, hide: bool) -> Problem | None:
    """Return the problem of an error, without the value if `hide`; None if the error says nothing about the value."""
    kind = error.kind
    keyword = kind.name
    name = place_of(str(path[0]), path[1:]) if path else "params"
    if type(kind).__name__ in ("BacktrackLimitExceeded", "RegexEngineFailure"):
        return None  # the check could not be made
    if keyword == "enum" and not kind.value:
        return None  # a document that admits no value means that it does not know them
    if keyword == "required":
        missing = f"{name}.{kind.value}"
        return Problem(Code.MISSING_PARAM, missing, f"Missing required parameter '{missing}'", {"param_name": missing})
    if keyword == "type":
        return _type_problem(error.instance, name, sorted(kind.value, key=lambda name: name == "null"), hide=hide)
    if keyword in ("oneOf", "anyOf"):
        return _alternatives_problem(error, name, hide=hide)
    rule, rule_details = _rule(error)
    message = f"Parameter '{name}' {rule}"
    if keyword == "format" and not hide and isinstance(error.instance, str):
        moment = next(timed(error.instance, str(kind.value), start=False), None)
        message += "" if moment is None else _if_short(f". Give {json.dumps(moment.value)}")
    if leaks(message):
        message = f"Parameter '{name}' has a value outside its allowed ones, see details"
    details = {"param_name": name, **rule_details, **_value(error.instance, hide=hide)}
    return Problem(Code.INVALID_VALUE, name, message, details)


def place_of(name: str, path: Sequence[str | int]) -> str:
    """Return the path of a value within parameter `name` as people write it: `input.tags[0]`."""
    return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _rule(error: ValidationError) -> tuple[str, dict[str, Any]]:
    kind = error.kind
    keyword, value = kind.name, kind.value
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


def _alternatives_problem(error: ValidationError, name: str, *, hide: bool) -> Problem:
    """Explain why none fits, by the nearest alternative: with the fewest errors among those of the same type."""
    kind = error.kind
    branches: list[list[ValidationError]] = kind.value
    failed = [branch for branch in branches if branch]
    details: dict[str, Any] = {"param_name": name}
    if len(failed) < len(branches):
        message = f"Parameter '{name}' fits more than one of its alternatives, give the fields of exactly one"
        return Problem(Code.INVALID_VALUE, name, message, {**details, **_value(error.instance, hide=hide)})
    types = [branch[0].kind.value for branch in failed if len(branch) == 1 and branch[0].kind.name == "type"]
    at_top = [branch for branch in failed if len(branch[0].instance_path) == len(error.instance_path)]
    if failed and len(types) == len(failed) == len(at_top):
        return _type_problem(error.instance, name, sorted({name for names in types for name in names}), hide=hide)
    fitting = [branch for branch in failed if not _is_other_type(branch, error)]
    if len(fitting) == 1:
        first = fitting[0][0]
        path = list(first.instance_path)
        inner = _problem(first, path, hide=hide)
        if inner is not None and path:
            return (
                inner if inner.name != name else replace(inner, message=inner.message + _or_else(error, failed, hide))
            )
    problems = (_problem(branch[0], list(branch[0].instance_path), hide=hide) for branch in (fitting or failed)[:5])
    reasons = [problem.message for problem in problems if problem is not None]
    message = f"Parameter '{name}' fits none of its alternatives, see details"
    if error.instance is None:
        message += ". Leave it out, or give a value"
    details |= {"alternatives": reasons, **_value(error.instance, hide=hide)}
    return Problem(Code.INVALID_VALUE, name, message, details)


def _or_else(error: ValidationError, failed: Sequence[list[ValidationError]], hide: bool) -> str:
    """Describe which other types are possible for a value whose own type fits one alternative only."""
    others = [branch for branch in failed if _is_other_type(branch, error)]
    types = sorted({kind for branch in others for kind in branch[0].kind.value if kind != "null"})
    if not types:
        return ""
    return f", or expected '{' or '.join(types)}'{'' if hide else _hint(error.instance, types)}"


def _is_other_type(branch: list[ValidationError], error: ValidationError) -> bool:
    depth = len(error.instance_path)
    return any(inner.kind.name == "type" and len(inner.instance_path) == depth for inner in branch)


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
    reading = next(readings(value, types), None)
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
