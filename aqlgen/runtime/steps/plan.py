"""A plan as an agent gives it, read and checked whole before anything is sent (R-STEP-1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..calls.conditions import MOST_FIELDS, OPERATORS, compile_condition
from ..errors import Code, Failure, invalid
from ..protocol_operations import MAX_STEPS
from ..schema import parts, union_of
from ..text import ended, letters, line, listed
from .references import Reference, is_reference, references_in

if TYPE_CHECKING:
    from ..schema import Types
    from ..table import JsonSchema, Row

LOCAL = ("item", "index")
"""The names that a step has within `foreach`."""
_KEYS = ("id", "operation", "params", "foreach", "where", "fields")
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_PRESETS = ("minimal", "standard", "full")
_MOST_REFERENCES = 200
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `number` counts from 1."""

    number: int
    id: str | None
    operation: str
    params: Mapping[str, Any]
    foreach: Any
    where: Mapping[str, Mapping[str, Any]] | None
    """Conditions in their long form: field → operator → value."""
    fields: str | Sequence[str] | None

    @property
    def label(self) -> dict[str, Any]:
        """The step as answers name it."""
        name = {} if self.id is None else {"id": self.id}
        return {"step": self.number, **name, "operation": self.operation}

    def references(self) -> Iterator[Reference]:
        """Yield every reference. Raises Failure for one that is none."""
        yield from references_in(self.foreach)
        yield from references_in(self.where)
        yield from references_in(self.params)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order, and what is asked for as the answer; `returns` is None for every step's data."""

    steps: tuple[Step, ...]
    returns: Mapping[str, Any] | None

    def step_of(self, reference: Reference) -> Step | None:
        """Return the step that a reference begins with, None if there is none."""
        root = reference.root
        if root.isdecimal():
            return next((step for step in self.steps if step.number == int(root)), None)
        return next((step for step in self.steps if step.id == root), None)


def read_plan(steps: Any, returns: Any) -> Plan:
    """Read a plan. Raises Failure if its form is wrong."""
    if not isinstance(steps, list) or not steps:
        raise Failure(
            Code.MISSING_PARAM,
            "Missing required parameter 'steps': a list of {operation, params}, or 'continue'",
            {"param_name": "steps"},
        )
    if len(steps) > MAX_STEPS:
        raise Failure(
            Code.PAYLOAD_TOO_LARGE,
            f"A plan has no more than {MAX_STEPS} steps; this one has {len(steps)}. Use foreach, or several plans.",
            {"limit_type": "steps", "limit_value": MAX_STEPS, "actual_value": len(steps)},
        )
    read = []
    for number, value in enumerate(steps, 1):
        try:
            read.append(_read_step(number, value))
        except Failure as failure:
            raise _in_step(failure, number) from None
    counts = Counter(step.id for step in read if step.id is not None)
    if counts and max(counts.values()) > 1:
        raise _invalid("id", f"Two steps have the id '{counts.most_common(1)[0][0]}'")
    return Plan(tuple(read), returns)


def _read_step(number: int, value: Any) -> Step:
    if not isinstance(value, Mapping):
        raise _invalid("steps", "A step is an object: {operation, params}", Code.INVALID_TYPE)
    unknown = [line(str(key), 64) for key in value if key not in _KEYS]
    if unknown:
        raise Failure(
            Code.UNKNOWN_PARAM,
            f"Unknown key(s): {', '.join(unknown[:_MOST_PROBLEMS])}. A step has {listed(_KEYS)}; an operation's "
            "parameters are in params.",
            {"unknown_params": unknown[:_MOST_PROBLEMS], "valid_params": list(_KEYS)},
        )
    if not isinstance(value.get("operation"), str):
        raise _invalid("operation", "Missing required parameter 'operation'", Code.MISSING_PARAM)
    for key, (is_valid, message, code) in _FORMS.items():
        if value.get(key) is not None and not is_valid(value[key]):
            raise _invalid(key, message, code)
    where = None if value.get("where") is None else _read_where(value["where"])
    params = value.get("params") or {}
    return Step(number, value.get("id"), value["operation"], params, value.get("foreach"), where, value.get("fields"))


_FORMS: Mapping[str, tuple[Callable[[Any], bool], str, Code]] = {
    "id": (
        lambda name: isinstance(name, str) and _ID.fullmatch(name) is not None and name not in LOCAL,
        "An id is a word of letters, digits, _ and -, and neither item nor index",
        Code.INVALID_VALUE,
    ),
    "params": (
        lambda params: isinstance(params, Mapping) and not is_reference(params),
        "params is an object of parameters, each a value or a reference",
        Code.INVALID_TYPE,
    ),
    "foreach": (
        lambda foreach: is_reference(foreach) or isinstance(foreach, list),
        "foreach is a reference to a list, such as {$ref: 'find.items'}",
        Code.INVALID_TYPE,
    ),
    "fields": (
        lambda fields: _are_fields(fields),
        f"fields is a list of paths, or one of {', '.join(_PRESETS)}",
        Code.INVALID_VALUE,
    ),
}
"""What the optional keys of a step may be, with what is said of anything else."""


def _read_where(where: Any) -> dict[str, dict[str, Any]]:
    """Return conditions in their long form. Raises Failure if they are none.

    What is an operator is decided here, before references are resolved: data of the API are values.
    """
    if not isinstance(where, Mapping) or is_reference(where) or len(where) > MOST_FIELDS:
        compile_condition(None)
    lists = {field: wanted for field, wanted in where.items() if isinstance(wanted, list)}
    if lists:
        compile_condition(lists)
    conditions = {
        field: {"eq": wanted} if not isinstance(wanted, Mapping) or is_reference(wanted) else dict(wanted)
        for field, wanted in where.items()
    }
    known = {field: _known_part(wanted) if wanted else wanted for field, wanted in conditions.items()}
    compile_condition(known)
    return conditions


def _known_part(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a condition without the operators whose values are known only when the plan runs."""
    known = {
        key: value for key, value in wanted.items() if key not in OPERATORS or next(references_in(value), None) is None
    }
    return known or {"eq": None}


def _are_fields(fields: Any) -> bool:
    if isinstance(fields, str):
        return fields in _PRESETS
    return isinstance(fields, list) and bool(fields) and all(isinstance(path, str) for path in fields)


def check_plan(
    plan: Plan,
    find: Callable[[str], Row],
    problem_of: Callable[[Row, Mapping[str, Any], frozenset[str]], Failure | None],
    types: Types,
) -> dict[int, Row]:
    """Check a plan and return each step's row. Raises Failure that tells every problem; the first decides its code.

    `find` raises Failure for an operation that no step may perform; `problem_of` returns what is wrong with parameters,
    of which no more than the names may be known.
    """
    problems: list[Failure] = []
    rows: dict[int, Row] = {}
    count = 0
    for step in plan.steps:
        try:
            row = rows[step.number] = find(step.operation)
            references = list(step.references())
            count += len(references)
            for reference in references:
                _check_reference(plan, step, reference, rows, types)
            open_params = frozenset(
                name for name, value in step.params.items() if next(references_in(value), None) is not None
            )
            problem = problem_of(row, step.params, open_params)
            if problem is not None:
                raise problem
        except Failure as failure:
            problems.append(_in_step(failure, step.number))
    try:
        references = list(references_in(plan.returns))
        count += len(references)
        for reference in references:
            _check_reference(plan, None, reference, rows, types)
        if count > _MOST_REFERENCES:
            raise _invalid("$ref", f"A plan has no more than {_MOST_REFERENCES} references; this one has {count}")
    except Failure as failure:
        problems.append(Failure(failure.code, f"return: {failure.message}", failure.details))
    if problems:
        raise _together(problems)
    return rows


def _check_reference(
    plan: Plan, step: Step | None, reference: Reference, rows: Mapping[int, Row], types: Types
) -> None:
    """Raise Failure for a reference to what is not known at its step, or that its answer is known not to have."""
    if reference.root in LOCAL:
        if step is None or step.foreach is None:
            raise _invalid("$ref", f"'{line(reference.text, 80)}' has a meaning only in a step with foreach")
        return
    target = plan.step_of(reference)
    if target is None or (step is not None and target.number >= step.number):
        known = [str(other.id or other.number) for other in plan.steps if step is None or other.number < step.number]
        raise invalid(
            "$ref",
            f"'{line(reference.text, 80)}' begins with no earlier step. "
            + (f"Earlier ones: {listed(known)}" if known else "The first step has no earlier ones"),
            available=known,
        )
    if target.number in rows and reference.path:
        _check_first(target, reference, rows[target.number], types)


def _check_first(target: Step, reference: Reference, row: Row, types: Types) -> None:
    """Compare the first step of a path with the answer that is declared, where that leaves no other."""
    first, text = reference.path[0], line(reference.text, 80)
    if first == "items":
        return  # the list, whatever it is called
    if target.foreach is not None:
        if isinstance(first, str):
            raise _invalid(
                "$ref", f"'{text}' refers to a step with foreach, which returns a list: begin with [0] or [*]"
            )
        return
    if row.paging is not None:
        if not isinstance(first, str):
            index = "*" if first is None else first
            raise _invalid("$ref", f"'{text}': the answer is a page; its list is items, so begin with .items[{index}]")
        return
    answers = [answer.get("schema") for status, answer in row.responses.items() if status.startswith("2")]
    if len(answers) == 1 and isinstance(answers[0], Mapping):
        problem = _misfit(first, answers[0], types)
        if problem:
            raise _invalid("$ref", f"'{text}': {problem}")


def _misfit(first: str | int | None, answer: JsonSchema, types: Types) -> str:
    """Return why the first step of a path is none of the only answer that is declared, "" if it may be."""
    shape = union_of(types, answer)
    if not isinstance(first, str):
        known = listed(shape.properties, 20) if shape.properties and not shape.items else ""
        return f"the answer is an object; it has {known}" if known else ""
    if shape.items:
        return "" if shape.properties or shape.extra else "the answer is a list, so begin with [0] or [*]"
    closed = any(part.get("additionalProperties") is False for part in parts(answer, types))
    if closed and letters(first) not in {letters(name) for name in (*shape.properties, "_etag")}:
        return f"the answer has no '{line(first, 64)}', but {listed(shape.properties, 20)}"
    return ""


def _together(problems: Sequence[Failure]) -> Failure:
    first, rest = problems[0], problems[1 : _MOST_PROBLEMS + 1]
    message = ended(first.message)
    details = dict(first.details)
    if rest:
        details["problems"] = [
            {"code": problem.code.value, "message": problem.message} for problem in rest
        ] + details.get("problems", [])
        message = f"{first.message} (and {len(problems) - 1} more, see details.problems)."
    return Failure(first.code, f"{message} Nothing was sent.", details)


def _in_step(failure: Failure, number: int) -> Failure:
    message = failure.message.rstrip(".")
    return Failure(failure.code, f"Step {number}: {message}", {"step": number, **failure.details})


def _invalid(name: str, message: str, code: Code = Code.INVALID_VALUE) -> Failure:
    return Failure(code, message, {"param_name": name})
