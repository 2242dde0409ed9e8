"""Mistakes that models make in calls: each turns valid parameters into ones that mean the same to a reader."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from aqlgen.runtime.schema import fixed_values, follow, union_of
from aqlgen.runtime.table import Row, Table

Params: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]
DEEPEST = 6
WORD = re.compile(r"[A-Za-z0-9]+")
MIDNIGHT = "2026-01-31T00:00:00Z"
DIGITS = "4815162342"


@dataclass(frozen=True)
class Leaf:
    """A value within a call, with the schema that it has there."""

    path: Path
    value: Any
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Mutated:
    """A call that is meant, and as it is written by mistake; `meant` is the value at the place of the mistake."""

    base: Params
    params: Params
    place: Path
    meant: Any = None


@dataclass(frozen=True)
class Case:
    """A valid call of an operation, to be mutated."""

    table: Table
    row: Row
    params: Params
    random: Random

    def leaves(self) -> list[Leaf]:
        """Return every value of the call."""
        collected: list[Leaf] = []
        for name, value in self.params.items():
            collected += self._within((name,), value, self.row.parameters[name].schema)
        return collected

    def _within(self, path: Path, value: Any, schema: Mapping[str, Any]) -> Iterator[Leaf]:
        schema = follow(schema, self.table.types)
        yield Leaf(path, value, schema)
        shape = union_of(self.table.types, schema)
        if len(path) > DEEPEST:
            return
        if isinstance(value, dict):
            for key, inner in value.items():
                declared = shape.properties.get(key)
                yield from self._within((*path, key), inner, declared[1] if declared else {})
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self._within((*path, index), inner, shape.items[0] if shape.items else {})

    def chosen(self, admitted: Callable[[Leaf], bool]) -> Leaf | None:
        """Return one of the values for which a mistake is possible."""
        leaves = [leaf for leaf in self.leaves() if admitted(leaf)]
        return self.random.choice(leaves) if leaves else None

    def replaced(self, leaf: Leaf, value: Any, meant: Any = None) -> Mutated:
        """Return the call with another value; with `meant` the call that is meant has that one there."""
        base = self.params if meant is None else put(self.params, leaf.path, meant)
        return Mutated(base, put(base, leaf.path, value), leaf.path, leaf.value if meant is None else meant)


Mutation: TypeAlias = Callable[[Case], Mutated | None]


def put(params: Params, path: Path, value: Any) -> Params:
    """Return parameters with another value at a path."""
    copied = copy.deepcopy(params)
    node: Any = copied
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return copied


def _is_file(schema: Mapping[str, Any]) -> bool:
    return "contentEncoding" in schema or "x-file" in schema


def quoted(case: Case) -> Mutated | None:
    """Put a number or a boolean in quotes."""
    leaf = case.chosen(lambda leaf: isinstance(leaf.value, (bool, int, float)))
    if leaf is None:
        return None
    text = json.dumps(leaf.value)
    return case.replaced(leaf, case.random.choice([text, text.capitalize(), f" {text} "]))


def stringified(case: Case) -> Mutated | None:
    """Write an object or a list as JSON text."""
    leaf = case.chosen(lambda leaf: isinstance(leaf.value, (dict, list)) and bool(leaf.value))
    return None if leaf is None else case.replaced(leaf, json.dumps(leaf.value))


def wrong_case(case: Case) -> Mutated | None:
    """Write a member of an enumeration in another case."""

    def listed(leaf: Leaf) -> bool:
        return (
            isinstance(leaf.value, str)
            and leaf.value.swapcase() != leaf.value
            and bool(fixed_values(leaf.schema, case.table.types))
        )

    leaf = case.chosen(listed)
    if leaf is None:
        return None
    forms = {leaf.value.upper(), leaf.value.lower(), leaf.value.capitalize()} - {leaf.value}
    return case.replaced(leaf, case.random.choice(sorted(forms)))


def other_names(case: Case) -> Mutated | None:
    """Write the name of a parameter or a field in another style."""
    places = [leaf.path for leaf in case.leaves() if isinstance(leaf.path[-1], str)]
    styles = {path: _styles(str(path[-1])) for path in places}
    places = [path for path in places if styles[path]]
    if not places:
        return None
    path = case.random.choice(places)
    name = case.random.choice(styles[path])
    params = copy.deepcopy(case.params)
    node: Any = params
    for step in path[:-1]:
        node = node[step]
    if name in node or (len(path) == 1 and name in case.row.wire_names):
        return None  # the API's own name of another parameter means that one
    renamed = {name if key == path[-1] else key: value for key, value in node.items()}
    node.clear()
    node.update(renamed)
    return Mutated(case.params, params, path)


def _styles(name: str) -> list[str]:
    words = [word.lower() for word in WORD.findall(name)]
    if len(words) < 2:
        return [name.capitalize()] if name.isalpha() and name.islower() else []
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    pascal = "".join(word.capitalize() for word in words)
    return sorted({camel, pascal, "-".join(words), "_".join(words)} - {name})


def single_for_list(case: Case) -> Mutated | None:
    """Replace a list of one by its item."""
    leaf = case.chosen(lambda leaf: isinstance(leaf.value, list) and len(leaf.value) == 1 and leaf.value[0] is not None)
    return None if leaf is None else case.replaced(leaf, leaf.value[0])


def list_for_single(case: Case) -> Mutated | None:
    """Replace a value by a list of one."""
    leaf = case.chosen(lambda leaf: isinstance(leaf.value, (str, int, float)) and not isinstance(leaf.path[-1], int))
    return None if leaf is None else case.replaced(leaf, [leaf.value])


def text_for_list(case: Case) -> Mutated | None:
    """Write several items of a list as one text with commas."""

    def several(leaf: Leaf) -> bool:
        return (
            isinstance(leaf.value, list)
            and len(leaf.value) > 1
            and all(isinstance(item, (str, int)) and "," not in str(item) and str(item).strip() for item in leaf.value)
        )

    leaf = case.chosen(several)
    if leaf is None:
        return None
    return case.replaced(leaf, case.random.choice([",", ", "]).join(map(_text, leaf.value)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def too_deep(case: Case) -> Mutated | None:
    """Put the parameters, or those of the body, one level too deep."""
    body = {name: value for name, value in case.params.items() if case.row.parameters[name].location == "body"}
    rest = {name: value for name, value in case.params.items() if name not in body}
    ways: list[Params] = [{key: dict(case.params)} for key in ("params", "parameters", "arguments")]
    if body:
        ways += [{**rest, "body": body}, {**rest, "data": body}]
    if rest:
        ways.append({"query": rest, **body})
    ways += [
        {**case.params, name: {key: value}}
        for name, value in body.items()
        if isinstance(value, dict) and value
        for key in (name, "body")
    ]
    way = case.random.choice(ways) if case.params else None
    return None if way is None else Mutated(case.params, copy.deepcopy(way), ())


def too_shallow(case: Case) -> Mutated | None:
    """Put the fields of an object of the body beside the parameters, or a parameter within that object."""
    homes = [
        name
        for name, value in case.params.items()
        if case.row.parameters[name].location == "body" and isinstance(value, dict) and value
    ]
    if not homes:
        return None
    home = case.random.choice(homes)
    value = case.params[home]
    rest = {name: item for name, item in case.params.items() if name != home}
    ways = []
    if not rest.keys() & value.keys():
        ways.append({**rest, **value})
    outside = [name for name in rest if case.row.parameters[name].location in ("path", "query", "header")]
    declared = union_of(case.table.types, case.row.parameters[home].schema).properties
    if outside and not rest.keys() & (value.keys() | declared.keys()):
        moved = {name: rest[name] for name in outside}
        ways.append({**{name: item for name, item in rest.items() if name not in moved}, home: {**value, **moved}})
    return Mutated(case.params, copy.deepcopy(case.random.choice(ways)), (home,)) if ways else None


def null_for_absent(case: Case) -> Mutated | None:
    """Write null for a parameter that is meant to be left out."""
    absent = [
        name for name, parameter in case.row.shown_parameters.items()
        if name not in case.params and not parameter.required and parameter.location != "adapter"
    ]  # fmt: skip
    if not absent:
        return None
    name = case.random.choice(absent)
    return Mutated(case.params, {**case.params, name: None}, (name,))


def spaces(case: Case) -> Mutated | None:
    """Put spaces around a value that can have none."""

    def tight(leaf: Leaf) -> bool:
        return isinstance(leaf.value, str) and (
            bool(fixed_values(leaf.schema, case.table.types))
            or leaf.schema.get("format") in ("uuid", "date", "date-time", "email", "uri")
        )

    leaf = case.chosen(tight)
    return None if leaf is None else case.replaced(leaf, case.random.choice([f" {leaf.value}", f"{leaf.value} "]))


def number_for_text(case: Case) -> Mutated | None:
    """Write digits without quotes where a text is wanted."""
    plain = ("format", "enum", "pattern", "const", "maxLength", "minLength")
    leaf = case.chosen(
        lambda leaf: isinstance(leaf.value, str) and not leaf.schema.keys() & set(plain) and not _is_file(leaf.schema)
    )
    return None if leaf is None else case.replaced(leaf, int(DIGITS), meant=DIGITS)


def date_for_time(case: Case) -> Mutated | None:
    """Write a date where a date and time is wanted."""
    leaf = case.chosen(lambda leaf: isinstance(leaf.value, str) and leaf.schema.get("format") == "date-time")
    return None if leaf is None else case.replaced(leaf, MIDNIGHT[:10], meant=MIDNIGHT)


MUTATIONS: dict[str, Mutation] = {
    mutation.__name__.replace("_", " "): mutation
    for mutation in (
        quoted,
        stringified,
        wrong_case,
        other_names,
        single_for_list,
        list_for_single,
        text_for_list,
        too_deep,
        too_shallow,
        null_for_absent,
        spaces,
        number_for_text,
        date_for_time,
    )
}
"""Every mistake by its name."""
