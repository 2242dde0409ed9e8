"""References to earlier answers, `{"$ref": "find.items[0].id"}`, and to the inputs of a workflow (R-STEP-1, R-STEP-3).

A reference is a step's id or number, `item` or `index`, then a path, in which `[*]` stands for each item of a list:
`find.items[*].id` is the list of the ids, null for an item that has none; it leads nowhere if no item has one. Only
what the agent wrote is searched for references: data of the API are values, whatever they look like.

A call of a workflow stands for a plan: its steps with the values of its inputs. Inputs are values, too: one that has
the form of a reference is refused. What an input that is not given stands for is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from ..errors import Code, Failure, invalid, too_large
from ..exact_json import size_of
from ..table import Workflow
from ..text import letters, line

_ROOT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
_STEP = re.compile(r'\.([^.\[\]"]{1,200})|\[(-?\d{1,6}|\*)\]|\["([^"]{1,200})"\]')
_LONGEST = 1000
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference: `root` is what it begins with, `path` the names and indices after it, None for each item."""

    text: str
    root: str
    path: tuple[str | int | None, ...]


def is_reference(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Return True for an object whose only key is `$ref`."""
    return isinstance(value, Mapping) and len(value) == 1 and "$ref" in value


def read_reference(value: Mapping[str, Any]) -> Reference:
    """Read a reference. Raises Failure if it is none."""
    text = value["$ref"]
    root = _ROOT.match(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if root is None:
        raise _wrong(text)
    path: list[str | int | None] = []
    position = root.end()
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            raise _wrong(text)
        index = None if step[2] in (None, "*") else int(step[2])
        path.append(index if step[2] is not None else step[1] or step[3])
        position = step.end()
    return Reference(text, root[0], tuple(path))


def _wrong(text: Any) -> Failure:
    shown = line(text, 80) if isinstance(text, str) else type(text).__name__
    return invalid(
        "$ref", f"'{shown}' is not a reference. Give a step's id or number, then a path, such as find.items[0].id"
    )


def references_in(value: Any) -> Iterator[Reference]:
    """Yield the references within a value. Raises Failure for one that is none."""
    if is_reference(value):
        yield read_reference(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from references_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references_in(inner)


class Budget:
    """The characters that the values of references may have together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def spend(self, value: Any) -> Any:
        """Count a value and return it. Raises Failure if it is too much."""
        self._left -= size_of(value, self._left)
        if self._left < 0:
            message = f"The values of references are more than {self._limit} characters: refer to less"
            raise too_large(message, "references", self._limit, "characters")
        return value


def resolve(value: Any, look_up: Callable[[Reference], Any]) -> Any:
    """Return a value with its references replaced. Raises Failure for one that leads nowhere."""
    if is_reference(value):
        return look_up(read_reference(value))
    if isinstance(value, Mapping):
        return {key: resolve(inner, look_up) for key, inner in value.items()}
    return [resolve(inner, look_up) for inner in value] if isinstance(value, list) else value


def pick(data: Any, reference: Reference, begin: int = 0) -> Any:
    """Return the value at a reference's path, from a part of it on.

    Raises Failure (VALIDATION_INVALID_VALUE) if it leads nowhere.
    """
    for depth, step in enumerate(reference.path[begin:], begin):
        if not isinstance(step, str):
            if not isinstance(data, list):
                raise _nowhere(reference, depth, f"is {_kind(data)}, no list", data)
            if step is None:
                return _pick_each(data, reference, depth + 1)
            if not -len(data) <= step < len(data):
                raise _nowhere(reference, depth, f"has {len(data)} items", data)
            data = data[step]
            continue
        if step == "items" and _is_of_answer(reference, depth):
            data, step = _listed(data)
            if step is None:
                continue
        if not isinstance(data, Mapping):
            hint = ": give an index, such as [0]" if isinstance(data, list) else ""
            raise _nowhere(reference, depth, f"is {_kind(data)}{hint}", data)
        if step not in data:
            wanted = letters(step)
            alike = [key for key in data if letters(str(key)) == wanted]
            if len(alike) != 1:
                raise _nowhere(reference, depth, f"has no '{line(step, 64)}'", data)
            step = alike[0]
        data = data[step]
    return data


def _listed(data: Any) -> tuple[Any, str | None]:
    """Return where the list of an answer is: in the answer, or under a name. `items` means it whatever it is called."""
    if isinstance(data, list):
        return data, None
    if isinstance(data, Mapping) and "items" not in data:
        lists = [key for key, value in data.items() if isinstance(value, list)]
        if len(lists) == 1:
            return data, lists[0]
    return data, "items"


def _is_of_answer(reference: Reference, depth: int) -> bool:
    """Return True for the first name of a path into an answer, or into each of the answers of a step with foreach."""
    return reference.root != "item" and not any(isinstance(step, str) for step in reference.path[:depth])


def _pick_each(items: Sequence[Any], reference: Reference, begin: int) -> list[Any]:
    """Return the value at the rest of a path in each item, null where nowhere. Raises Failure if it is in none."""
    values: list[Any] = []
    nowhere: list[Failure] = []
    for item in items:
        try:
            values.append(pick(item, reference, begin))
        except Failure as failure:
            values.append(None)
            nowhere.append(failure)
    if nowhere and len(nowhere) == len(items):
        raise nowhere[0]
    return values


def _kind(data: Any) -> str:
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(data), "a single value")


def _nowhere(reference: Reference, depth: int, why: str, data: Any) -> Failure:
    details: dict[str, Any] = {"reference": reference.text}
    if isinstance(data, Mapping):
        details["available"] = [line(str(key), 64) for key in list(data)[:_MOST_NAMED]]
    at = reference.root + "".join(
        f".{step}" if isinstance(step, str) else "[*]" if step is None else f"[{step}]"
        for step in reference.path[:depth]
    )
    return Failure(Code.INVALID_VALUE, f"'{line(reference.text, 120)}' leads nowhere: {line(at, 120)} {why}", details)


INPUTS: Final = "inputs"
"""What a reference to an input begins with, in the steps of a workflow."""
_ABSENT: Final = object()


def written_plan(workflow: Workflow, params: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any] | None]:
    """Return the steps of a call, and what it returns, as `run_steps` takes them. Raises Failure for an odd input."""
    for name, value in params.items():
        if _has_reference(value):
            raise invalid(name, f"Parameter '{name}' is a value of a workflow: an object {{$ref: …}} is not taken")
    inputs = {name: item.schema["default"] for name, item in workflow.inputs.items() if "default" in item.schema}
    inputs |= params
    steps = [_filled(step, inputs) for step in workflow.steps]
    outputs = workflow.outputs
    if outputs is None:
        return steps, None
    values = {name: _filled(value, inputs) for name, value in outputs.items()}
    return steps, {name: None if value is _ABSENT else value for name, value in values.items()}


def _filled(value: Any, inputs: Mapping[str, Any]) -> Any:
    """Return a part of a plan with the values of inputs; _ABSENT for one that has none."""
    if is_reference(value):
        reference = read_reference(value)
        if reference.root != INPUTS:
            return value
        try:
            return pick(inputs, reference)
        except Failure:
            return _ABSENT
    if isinstance(value, Mapping):
        filled = {key: _filled(inner, inputs) for key, inner in value.items()}
        return {key: inner for key, inner in filled.items() if inner is not _ABSENT}
    if isinstance(value, list):
        return [inner for inner in (_filled(item, inputs) for item in value) if inner is not _ABSENT]
    return value


def _has_reference(value: Any) -> bool:
    if isinstance(value, Mapping):
        return is_reference(value) or any(map(_has_reference, value.values()))
    return isinstance(value, list) and any(map(_has_reference, value))
