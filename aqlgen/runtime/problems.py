# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""One thing wrong with a parameter, as a code and a sentence that can be acted on (R-ENV-5, R-ERR-1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .errors import Code, Failure
from .instead import instead
from .schemas import type_named
from .speech import leaks, listed, shown
from .table import JsonSchema

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["Problem", "expectation", "failure", "place", "problems_of", "type_of"]

_SHORT = 100
_MOST = 20
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
_PLAIN = {
    Code.MISSING_PARAM: "Missing required parameter(s), see details",
    Code.UNKNOWN_PARAM: "Unknown parameter(s), see details",
    Code.UNKNOWN_FIELD: "Unknown field(s) in input, see details",
    Code.READ_ONLY_FIELD: "Read-only field(s) in input, see details",
    Code.INVALID_TYPE: "A parameter has the wrong type, see details",
}
_FORMATS = {
    "date-time": "a date and time with a zone, such as '2026-01-31T12:00:00Z'",
    "date": "a date, such as '2026-01-31'",
    "time": "a time with a zone, such as '12:00:00Z'",
    "duration": "a duration, such as 'P3DT12H'",
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


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the parameter or field `name` (a path such as `input.tags[0]`)."""

    code: Code
    name: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


def failure(problems: Sequence[Problem]) -> Failure:
    """Make one answer of all problems: the first decides code and message, the rest stand in `details.problems`."""
    first, rest = problems[0], problems[1:]
    details = dict(first.details)
    message = _safe(first)
    if rest:
        details["problems"] = [
            {"code": one.code.value, "param_name": one.name, "message": _safe(one)} for one in rest[:_MOST]
        ]
        message = f"{message} (and {len(rest)} more, see details.problems)"
    return Failure(first.code, message, details)


def _safe(problem: Problem) -> str:
    """Give the message, but for one that reads like a trace because of a name or value in it."""
    return problem.message if not leaks(problem.message) else _PLAIN.get(problem.code, "A value is not valid")


def type_of(value: Any) -> str:
    """Give the JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (Mapping, "object")):
        if isinstance(value, kind):
            return name
    return "array"


def place(name: str, path: Sequence[str | int]) -> str:
    """Give the path of a value within parameter `name` as people write it: `input.tags[0]`."""
    return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def expectation(schema: JsonSchema) -> str:
    """Say in a word or two what a schema wants, for one who left it out; empty when it does not say."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        text = "one of " + listed(options, 10)
        return "" if leaks(text) else text
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(one) for one in kind)
    ref = schema.get("$ref")
    if not kind and isinstance(ref, str):
        text = f"type {type_named(ref)}"
        return "" if leaks(text) else text
    return str(kind) if kind else ""


def problems_of(errors: Iterator[ValidationError], sensitive: frozenset[str]) -> list[Problem]:
    """Turn what the validator says of a parameters object into problems, in its order, each place once or twice."""
    found: list[Problem] = []
    seen: set[tuple[Code, str]] = set()
    for error in errors:
        path = list(error.instance_path)
        problem = _problem(error, path, hide=bool(path) and path[0] in sensitive)
        if problem is not None and (problem.code, problem.name) not in seen:
            seen.add((problem.code, problem.name))
            found.append(problem)
    return found


def _problem(error: ValidationError, path: list[str | int], *, hide: bool) -> Problem | None:
    kind = error.kind
    keyword = kind.name
    name = place(str(path[0]), path[1:]) if path else "params"
    if type(kind).__name__ in ("BacktrackLimitExceeded", "RegexEngineFailure"):
        return None  # the check could not be made, which says nothing about the value
    if keyword == "enum" and not kind.value:
        return None  # a document that admits no value means that it does not know them
    if keyword == "required":
        missing = f"{name}.{kind.value}"
        return Problem(Code.MISSING_PARAM, missing, f"Missing required parameter '{missing}'", {"param_name": missing})
    details: dict[str, Any] = {"param_name": name}
    if keyword == "type":
        return _wrong_type(error.instance, name, sorted(kind.value, key=lambda one: one == "null"), hide=hide)
    if keyword in ("oneOf", "anyOf"):
        return _alternatives(error, name, details, hide=hide)
    rule, more = _rule(error)
    details |= {**more, **_value(error.instance, hide=hide)}
    message = f"Parameter '{name}' {rule}"
    if leaks(message):
        message = f"Parameter '{name}' has a value outside its allowed ones, see details"
    return Problem(Code.INVALID_VALUE, name, message, details)


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
        return f"must match the pattern {shown(value)}", {"pattern": value}
    if keyword == "format":
        return f"must be {_FORMATS.get(str(value), 'a ' + str(value))}", {"format": value}
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        return f"has unknown fields: {listed(value)}", {"unknown_fields": list(value)}
    if keyword == "uniqueItems":
        return "must not hold the same item twice", {}
    if keyword == "contains":
        return "misses an item of the kind it must contain", {}
    if keyword == "propertyNames":
        return "has a field whose name is not allowed", {}
    if keyword == "falseSchema":
        return "takes no value here", {}
    return f"breaks the rule '{keyword}'", {}


def _alternatives(error: ValidationError, name: str, details: dict[str, Any], *, hide: bool) -> Problem:
    """Say why no alternative fits, by the one that comes nearest: the fewest problems, the deepest first."""
    kind = error.kind
    branches: list[list[ValidationError]] = kind.value
    failed = [branch for branch in branches if branch]
    if len(failed) < len(branches):
        message = f"Parameter '{name}' fits more than one of its alternatives, give the fields of exactly one"
        return Problem(Code.INVALID_VALUE, name, message, {**details, **_value(error.instance, hide=hide)})
    types = [branch[0].kind.value for branch in failed if len(branch) == 1 and branch[0].kind.name == "type"]
    here = [branch for branch in failed if len(branch[0].instance_path) == len(error.instance_path)]
    if failed and len(types) == len(failed) == len(here):
        return _wrong_type(error.instance, name, sorted({one for some in types for one in some}), hide=hide)
    fitting = [branch for branch in failed if not _other_type(branch, error)]
    nearest = min(fitting or failed, key=len)
    if len(fitting) == 1:
        path = list(nearest[0].instance_path)
        inner = _problem(nearest[0], path, hide=hide)
        if inner is not None and path:
            return (
                inner if inner.name != name else replace(inner, message=inner.message + _or_else(error, failed, hide))
            )
    reasons = []
    for branch in (fitting or failed)[:5]:
        inner = _problem(branch[0], list(branch[0].instance_path), hide=hide)
        if inner is not None:
            reasons.append(inner.message)
    details |= {"alternatives": reasons, **_value(error.instance, hide=hide)}
    return Problem(Code.INVALID_VALUE, name, f"Parameter '{name}' fits none of its alternatives, see details", details)


def _wrong_type(value: Any, name: str, types: Sequence[str], *, hide: bool) -> Problem:
    expected, actual = " or ".join(types), type_of(value)
    details = {"param_name": name, "expected_type": expected, "actual_type": actual, **_value(value, hide=hide)}
    message = f"Parameter '{name}' expected '{expected}', got '{actual}'{'' if hide else instead(value, types)}"
    return Problem(Code.INVALID_TYPE, name, message, details)


def _or_else(error: ValidationError, failed: Sequence[list[ValidationError]], hide: bool) -> str:
    """Say which other types a value may have whose own type fits one alternative alone."""
    others = [branch for branch in failed if _other_type(branch, error)]
    types = sorted({kind for branch in others for kind in branch[0].kind.value if kind != "null"})
    if not types:
        return ""
    return f", or expected '{' or '.join(types)}'{'' if hide else instead(error.instance, types)}"


def _other_type(branch: list[ValidationError], error: ValidationError) -> bool:
    return any(one.kind.name == "type" and len(one.instance_path) == len(error.instance_path) for one in branch)


def _value(value: Any, *, hide: bool) -> dict[str, Any]:
    if hide or isinstance(value, (Mapping, list)) or (isinstance(value, str) and len(value) > _SHORT):
        return {}
    return {"value": value}
