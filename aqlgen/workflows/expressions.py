"""Runtime expressions of Arazzo as references of a plan (Arazzo 1.0, Runtime Expressions), and what it cannot say.

A plan halts where a call fails, and every status from 200 to 299 is a success to it. Success criteria (Arazzo 1.0,
Criterion Object) may say the same.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aqlgen.document.positions import escape, split
from aqlgen.ir import Json
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.steps.references import INPUTS, read_reference
from aqlgen.runtime.table import Row

BODY: Final = "$response.body"
STATUS: Final = "$statusCode"
DEPTH: Final = 64
_BEGINNINGS: Final = (
    "$url",
    "$method",
    STATUS,
    "$request.",
    "$response.",
    "$inputs.",
    "$outputs.",
    "$steps.",
    "$workflows.",
    "$sourceDescriptions.",
    "$components.",
)
_ADVICE: Final = "A plan refers to inputs ($inputs.name) and to outputs of earlier steps that are of the answer's body."


class UnsayableError(Exception):
    """A part of a workflow that `run_steps` has no form for, with its JSON pointer in the document, and advice."""

    def __init__(self, message: str, pointer: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer
        self.help = help


@dataclass(frozen=True, slots=True)
class DoneStep:
    """An earlier step: how references begin that lead to it, its operation, and its outputs as they are written."""

    root: str
    row: Row
    outputs: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions can name: inputs by the document's names, each with the agent's, and the steps before."""

    inputs: Mapping[str, str]
    steps: dict[str, DoneStep] = field(default_factory=dict)

    def value(self, value: Json, pointer: str, depth: int = 0) -> Json:
        """Return a value of the document as a value of a plan. Raises UnsayableError."""
        if depth > DEPTH:
            raise UnsayableError(f"a value is nested deeper than {DEPTH} levels", pointer)
        if isinstance(value, str):
            return self._text(value, pointer)
        if isinstance(value, dict):
            if set(value) == {"$ref"}:
                raise UnsayableError("an object with the single key $ref would be a reference", pointer)
            return {key: self.value(inner, member(pointer, key), depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner, member(pointer, str(index)), depth + 1) for index, inner in enumerate(value)]
        return value

    def _text(self, text: str, pointer: str) -> Json:
        inner = text[1:-1] if text.startswith("{$") and text.endswith("}") else text
        if "{$" in inner:
            raise UnsayableError(
                "an expression is inside a text, and a plan cannot join texts",
                pointer,
                "Make the whole value one expression.",
            )
        return {"$ref": self.reference(inner, pointer)} if is_expression(inner) else text

    def reference(self, expression: str, pointer: str) -> str:
        """Return an expression as a reference. Raises UnsayableError."""
        source, hash_mark, inner = expression.partition("#")
        tokens = split(inner) if hash_mark else []
        parts = source.split(".")
        if parts[0] == "$inputs":
            return self._input(source.removeprefix("$inputs."), tokens, pointer)
        if parts[0] == "$steps" and len(parts) >= 4 and parts[2] == "outputs":
            return self._output(parts[1], ".".join(parts[3:]), tokens, pointer)
        raise UnsayableError(f"a plan cannot express {_shown(expression)}", pointer, _ADVICE)

    def _input(self, name: str, tokens: list[str], pointer: str) -> str:
        if name not in self.inputs:
            raise UnsayableError(f"there is no input {_shown(name)}", pointer, "Declare it in the inputs' properties.")
        return reference(INPUTS, (self.inputs[name], *tokens), pointer)

    def _output(self, step: str, name: str, tokens: list[str], pointer: str) -> str:
        done = self.steps.get(step)
        if done is None:
            raise UnsayableError(f"there is no earlier step {_shown(step)}", pointer)
        output = done.outputs.get(name)
        if not isinstance(output, str):
            raise UnsayableError(f"step {_shown(step)} has no output {_shown(name)}", pointer)
        source, _, inner = output.partition("#")
        if source != BODY:
            raise UnsayableError(
                f"the output {_shown(name)} of step {_shown(step)} is {_shown(output)}, and not of the answer's body",
                pointer,
                _ADVICE,
            )
        return reference(done.root, path_in_answer(done.row, [*split(inner), *tokens], pointer), pointer)


def is_expression(text: str) -> bool:
    """Return True for a text that is a runtime expression, whether or not a plan can say it."""
    return text.startswith(_BEGINNINGS)


def path_in_answer(row: Row, tokens: Sequence[str], pointer: str) -> Sequence[str]:
    """Return where a part of the API's answer stands in what the adapter answers. Raises UnsayableError."""
    if row.paging is None:
        return tokens
    items = split(row.paging.items or "")
    if list(tokens[: len(items)]) != items:
        raise UnsayableError(
            f"{row.name} answers in pages, of which a plan sees the items alone",
            pointer,
            f"Refer to $response.body{''.join(f'/{item}' for item in items)} or a part of it.",
        )
    return ["items", *tokens[len(items) :]]


def reference(root: str, tokens: Sequence[str], pointer: str) -> str:
    """Return the text of a reference. Raises UnsayableError for names that no reference can have."""
    text = root
    for token in tokens:
        if token.isascii() and token.isdecimal():
            text += f"[{token}]"
        else:
            text += f'["{token}"]' if set(token) & set(".[]") else f".{token}"
    try:
        read_reference({"$ref": text})
    except Failure as failure:
        raise UnsayableError(failure.message, pointer) from None
    return text


def member(pointer: str, key: str) -> str:
    """Return the pointer of a member."""
    return f"{pointer}/{escape(key)}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_HELP: Final = "A plan takes simple comparisons of $statusCode, joined by &&."
_SUCCESSES: Final = range(200, 300)
_COMPARISON: Final = re.compile(
    r"\s*(?P<left>\$[^\s=!<>&|()']+)\s*(?P<sign>[=!<>]=|[<>])\s*(?P<right>'(?:[^']|'')*'|[^\s=!<>&|()']+)\s*(?:$|&&)"
)


def check_criteria(criteria: Json, row: Row, pointer: str) -> None:
    """Raise UnsayableError unless the criteria hold for every answer that is a success to the adapter."""
    for index, criterion in enumerate(criteria if isinstance(criteria, list) else []):
        place = member(pointer, str(index))
        if not isinstance(criterion, dict) or not isinstance(criterion.get("condition"), str):
            raise UnsayableError("a criterion has no condition", place)
        if criterion.get("type", "simple") != "simple":
            raise UnsayableError("a condition is not of the type simple", member(place, "type"), _HELP)
        place = member(place, "condition")
        for left, sign, right in _comparisons(criterion["condition"], place):
            if left != STATUS:
                raise UnsayableError("a condition is about something else than the status", place, _HELP)
            _check_status(row, sign, right, place)


def _comparisons(text: str, pointer: str) -> Iterator[tuple[str, str, str]]:
    """Yield (expression, operator, value) of each comparison."""
    end = 0
    while match := _COMPARISON.match(text, end):
        yield match["left"], match["sign"], match["right"]
        end = match.end()
    if end < len(text) or not text.strip():
        raise UnsayableError("a condition is more than comparisons that all must hold", pointer, _HELP)


def _check_status(row: Row, sign: str, right: str, pointer: str) -> None:
    """Raise UnsayableError unless the condition holds for every answer that is a success to the adapter."""
    if not (right.isascii() and right.isdecimal() and len(right) == 3):
        raise UnsayableError("$statusCode is compared with something else than a status", pointer, _HELP)
    declared = [int(status) for status in row.responses if status.isdecimal() and int(status) in _SUCCESSES]
    failing = [status for status in declared or _SUCCESSES if not _COMPARE[sign](status, int(right))]
    if failing:
        raise UnsayableError(
            f"{row.name} may also answer {failing[0]}, which is a success to a plan",
            pointer,
            "Leave the condition out, or make it hold for every success that the API's document declares.",
        )
