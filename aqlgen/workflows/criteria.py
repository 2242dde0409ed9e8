"""Success criteria of a step as what a plan expects of its answer (Arazzo 1.0, Criterion Object).

A plan halts where a call fails, and every status from 200 to 299 is a success to it. Of conditions it takes comparisons
that all must hold. Texts are compared exactly, where Arazzo compares them in any case: a plan rather halts.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from aqlgen.document.positions import split
from aqlgen.ir import Json
from aqlgen.runtime.schema.field_names import Names, Way, other_name
from aqlgen.runtime.table import Row
from aqlgen.workflows.expressions import BODY, STATUS, Scope, UnsayableError, is_expression, member

__all__ = ["expected"]

_OPERATORS: Final[Mapping[str, str]] = {"==": "eq", "!=": "ne", ">=": "gte", "<=": "lte", ">": "gt", "<": "lt"}
_MIRRORED: Final[Mapping[str, str]] = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_HELP: Final = "A plan takes simple comparisons, joined by &&: of $statusCode, or of $response.body#/… with a value."
_SUCCESSES: Final = range(200, 300)
_TOKEN: Final = re.compile(r"'[^']*'|&&|\|\||[=!<>]=|.", re.DOTALL)
_UNSAYABLE: Final = frozenset({*_OPERATORS, "||", "!", "(", ")", "="})


def expected(criteria: Json, row: Row, scope: Scope, names: Names, pointer: str) -> dict[str, Json]:
    """Return the conditions that the answer must meet, {} for none. Raises UnsayableError."""
    conditions: dict[str, Json] = {}
    for index, criterion in enumerate(criteria if isinstance(criteria, list) else []):
        place = member(pointer, str(index))
        if not isinstance(criterion, dict) or not isinstance(criterion.get("condition"), str):
            raise UnsayableError("a criterion has no condition", place)
        if criterion.get("type", "simple") != "simple":
            raise UnsayableError("a condition is not of the type simple", member(place, "type"), _HELP)
        place = member(place, "condition")
        for left, sign, right in _comparisons(criterion["condition"], place):
            if left == STATUS:
                _check_status(row, sign, right, place)
                continue
            field, key = _field(left, row, names, place), _OPERATORS[sign]
            tests = conditions.setdefault(field, {})
            if not isinstance(tests, dict) or key in tests:
                raise UnsayableError("a field is compared in the same way twice", place, _HELP)
            tests[key] = _value(right, scope, place)
    return conditions


def _comparisons(text: str, pointer: str) -> Iterator[tuple[str, str, str]]:
    """Yield (expression, operator, value) of each comparison, the expression of the answer first."""
    parts: list[list[str]] = [[""]]
    for piece in _TOKEN.findall(text):
        if piece == "&&":
            parts.append([""])
        elif piece in _OPERATORS and len(parts[-1]) == 1:
            parts[-1] += [piece, ""]
        elif piece in _UNSAYABLE:
            raise UnsayableError("a condition is more than comparisons that all must hold", pointer, _HELP)
        else:
            parts[-1][-1] += piece
    for part in parts:
        if len(part) == 1 or part[2].count("'") % 2:
            raise UnsayableError("a condition is not a comparison", pointer, _HELP)
        yield _ordered(part[0].strip(), part[1], part[2].strip())


def _ordered(left: str, sign: str, right: str) -> tuple[str, str, str]:
    if not left.startswith((STATUS, BODY)) and right.startswith((STATUS, BODY)):
        return right, _MIRRORED.get(sign, sign), left
    return left, sign, right


def _check_status(row: Row, sign: str, right: str, pointer: str) -> None:
    """Raise UnsayableError unless the condition holds for every answer that is a success to the adapter."""
    if not (right.isascii() and right.isdecimal() and len(right) == 3):
        raise UnsayableError("$statusCode is compared with something else than a status", pointer, _HELP)
    declared = [int(status) for status in row.responses if status.isdecimal() and int(status) in _SUCCESSES]
    ranges = any(status.upper() == "2XX" for status in row.responses)
    possible = _SUCCESSES if ranges or not declared else declared
    failing = [status for status in possible if not _COMPARE[sign](status, int(right))]
    if failing:
        raise UnsayableError(
            f"{row.name} may also answer {failing[0]}, which is a success to a plan",
            pointer,
            "Leave the condition out, or make it hold for every success that the API's document declares.",
        )


def _field(expression: str, row: Row, names: Names, pointer: str) -> str:
    source, hash_mark, inner = expression.partition("#")
    tokens = split(inner) if hash_mark else []
    if source != BODY or not tokens:
        raise UnsayableError(
            "a condition is about something else than the status or a field of the body", pointer, _HELP
        )
    if row.paging is not None:
        raise UnsayableError("a condition is about an answer in pages", pointer, _HELP)
    path = tokens
    if any(not token or "." in token or token.isdecimal() for token in path):
        raise UnsayableError("a condition concerns an item, or a field with dots in its name", pointer, _HELP)
    schema = next((answer.get("schema") for status, answer in row.responses.items() if status[:1] == "2"), None)
    plan = names.plan(schema) if isinstance(schema, Mapping) else None
    agents: list[str] = []
    for token in path:
        name, plan = other_name(plan, Way.TO_AGENT, token)
        agents.append(name)
    return ".".join(agents)


def _value(text: str, scope: Scope, pointer: str) -> Json:
    if is_expression(text):
        return {"$ref": scope.reference(text, pointer)}
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        value: Json = json.loads(text)
    except ValueError:
        value = []
    if isinstance(value, (list, dict)) or text.startswith('"'):
        raise UnsayableError("a condition compares with something else than a plain value", pointer, _HELP)
    return value
