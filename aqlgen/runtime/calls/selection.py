"""Field selection (R-SEL-2): a preset, or dotted paths; of a list each item. What is not found is skipped.

Presets are chosen from the schema of what is returned. `minimal` is what identifies a thing: identifiers and names; of
a write it is what `identity` keeps. `standard` is all but what is heavy: of nested things only what identifies them, no
links of the API to itself, and of long texts, long lists and deep values only the beginning.

A path may end with a part of a text or a list, as `body[2000:]`; `[100:]` alone is a part of the whole list or text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..schema import MISSING, Shape, Types, agent_path, at, follow, is_shaped, only_type, referred, schema_at, union_of
from ..table import JsonSchema, Row, Table, first_success
from ..text import folded
from . import (
    IDENTIFIERS,
    IDENTIFYING,
    NAMES,
    PAGES_OF_PEOPLE,
    Echo,
    identifying,
    identity,
    key_names,
    shortened,
    without_secrets,
)

Tree: TypeAlias = "dict[str, Tree | slice | None]"
"""The fields to keep, with what to keep within each; None keeps all of it, a slice a part of a text or a list."""

_LINKS = ("_url", "_urls", "_uri", "_href", "_links")
_FEW = 3
_DIGITS = 10
_DEEPEST = 6
_PLURAL = re.compile(r"(?:ies|s)$")
_PAGES = frozenset(f"{plural}{kind}" for plural in ("", "y", "s", "ies") for kind in ("list", "page")) | {"s", "ies"}
"""Endings of the name of a page behind the noun of its list (`topic_list` of `topics`)."""
_PAYLOADS = frozenset({"data", "result", "results", "items", "value", "values", "entries", "records", "response"})


@dataclass(frozen=True, slots=True)
class _Presets:
    """The fields that the presets keep of an operation's answers, and where in an answer the things are.

    `schemas` are those of a thing and of the answer.
    """

    path: tuple[str, ...]
    minimal: Tree | None
    standard: Mapping[str, Tree | bool | None] | None
    item: JsonSchema
    """The schema of one of the things."""
    schemas: tuple[JsonSchema, ...] = ()
    """That schema, and the one of the whole answer."""
    readable: frozenset[str] = frozenset()
    """Its fields, and those of objects in it, that a read gives where the answer is that of a write."""


@dataclass(slots=True)
class Selected:
    """The fields to keep of the things at a path of the data; `choose` cuts one thing down to them.

    `shortened` takes the paths that `standard` shortens; `differs` says that a thing lost something.
    """

    data: Any
    path: tuple[str, ...]
    choose: Callable[[Any], Any]
    shortened: set[str]
    differs: bool = False

    def change(self, thing: Any) -> Any:
        """Return one thing cut down."""
        chosen = self.choose(thing)
        self.differs = self.differs or chosen != thing
        return chosen

    def whole(self) -> Any:
        """Return all of the data cut down."""
        return _at(self.data, self.path, self.change)


class Selection:
    """Cuts answers down to fields; prepared for an operation at its first call that needs it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._presets: dict[str, _Presets] = {}

    def select(
        self, data: Any, row: Row, fields: str | Sequence[str], items: str | None = None, changes: Any = None
    ) -> Selected:
        """Return how the data are cut down to these fields.

        `items` names the list of a page, if the data is one. `changes` are what an update was asked for.
        """
        shortened_paths: set[str] = set()
        presets = self._presets_of(row)
        path = (items,) if items is not None else presets.path if isinstance(data, dict) else ()
        if fields == "full" or not isinstance(data, (dict, list, str)):
            return Selected(data, (), lambda thing: thing, shortened_paths)
        if isinstance(fields, str):
            choose = self._preset(row, presets, fields, changes, shortened_paths)
            return Selected(data, path, choose, shortened_paths)
        part, fields = _part_of_whole(fields)
        is_part = part is not None and items is None
        if part is not None and is_part:
            data = _at(data, path, lambda thing: _branch(thing, part), each=False)
        if not fields:
            return Selected(data, (), lambda thing: thing, shortened_paths, is_part)
        path, tree = self._chosen(data, row, fields, items)
        return Selected(data, path, lambda thing: _picked(thing, tree), shortened_paths, is_part)

    def path_of_list(self, row: Row) -> tuple[str, ...]:
        """Return where the list is in an answer that is one, or holds one."""
        return self._presets_of(row).path

    def counted(self, row: Row) -> str:
        """Return where the list is in an answer that holds another list, or an object with it; "" for any other."""
        presets, types = self._presets_of(row), self._table.types
        beside = union_of(types, presets.schemas[-1]).properties.items() if presets.path else ()
        several = (
            len(presets.path) > 1 or sum(only_type(follow(inner, types)) == "array" for _, (_, inner) in beside) > 1
        )
        return ".".join(presets.path) if several else ""

    def fields(self, row: Row) -> tuple[list[str], str | None]:
        """Return the fields of the things that an operation answers with, as it does by default, and their type's name.

        Links of the API to itself are left out.
        What identifies a thing comes first, then plain values, then objects and lists.
        """
        presets, types = self._presets_of(row), self._table.types
        rules, identifying, fields = (
            presets.standard or {},
            presets.minimal or {},
            union_of(types, presets.item).properties,
        )
        names = [name for name in fields if rules.get(name) is not False]
        names.sort(key=lambda name: (name not in identifying, _is_structured(types, fields[name][1])))
        if row.default_fields == "minimal":
            plain = {name: name for name in names if name in identifying or not _is_structured(types, fields[name][1])}
            names = list(identity(plain, key_names(row.resource, row.keys), _echo(row, presets, None)))
        return names, referred(presets.item)

    def agent_path(self, row: Row, path: str) -> str:
        """Return a path with dots, of a thing in an answer or of the answer, in the agent's names."""
        types = self._table.types
        for schema in self._presets_of(row).schemas:
            for steps in ([path], path.split(".")):
                names = _agent_names(types, schema, steps)
                if names[0] in union_of(types, schema).properties:
                    return ".".join(names)
        return path

    def declares(self, row: Row, field: str) -> bool:
        """Return True if the document declares a field of the things that an operation answers with."""
        presets = self._presets_of(row)
        steps = tuple(step for step in field.split(".") if step)
        schema, types = presets.item, self._table.types
        for step in (
            steps[len(presets.path) :] if presets.path and steps[: len(presets.path)] == presets.path else steps
        ):
            shape = union_of(types, schema)
            if shape.items and step not in shape.properties:
                shape = union_of(types, shape.items[0])
            if step not in shape.properties:
                return False
            schema = shape.properties[step][1]
        return bool(steps)

    def absent(self, data: Any, row: Row, fields: Sequence[str], items: str | None = None) -> dict[str, str | None]:
        """Return the paths that lead to nothing in the data and that the document does not declare."""
        from .absent import absent_fields  # only for calls that select fields

        path, tree = self._chosen(data, row, _part_of_whole(fields)[1], items)
        things = at(data, path)
        things = things if isinstance(things, list) else [] if things is MISSING else [things]
        return {
            field: near
            for field, near in absent_fields(things, _paths_in(tree)).items()
            if not self.declares(row, field)
        }

    def _chosen(self, data: Any, row: Row, fields: Sequence[str], items: str | None) -> tuple[tuple[str, ...], Tree]:
        """Return where in the data the things are that paths are about, and the fields to keep of them."""
        tree = _tree([self.agent_path(row, field) for field in fields])
        if items is not None:
            return (items,), tree
        path = self.path_of_list(row) if isinstance(data, dict) else ()
        return () if path and _starts_at_envelope(data, path, tree) else path, tree

    def _presets_of(self, row: Row) -> _Presets:
        presets = self._presets.get(row.cache_key)
        if presets is None:
            presets = self._presets[row.cache_key] = self._prepare(row)
        return presets

    def without_secrets(self, data: Any, row: Row) -> Any:
        """Return the answer to a write without the secrets that a read gives."""
        presets = self._presets_of(row)
        echo = _echo(row, presets, None)
        return _at(data, presets.path if isinstance(data, dict) else (), lambda thing: without_secrets(thing, echo))

    def _preset(
        self, row: Row, presets: _Presets, preset: str, changes: Any, shortened_paths: set[str]
    ) -> Callable[[Any], Any]:
        """Return the function that cuts a thing down to a preset."""
        if preset == "minimal" and row.family != "read":
            echo, names = _echo(row, presets, changes), key_names(row.resource, row.keys)
            return lambda thing: identity(thing, names, echo)
        tree = presets.minimal
        if preset == "minimal" and tree is not None:
            return lambda thing: _picked_or_whole(thing, tree)
        rules = presets.standard or {}

        def chosen(thing: Any) -> Any:
            short = identifying(thing) if preset == "minimal" else {}
            return short or shortened(_without_heavy(thing, rules), shortened_paths)

        return chosen

    def _prepare(self, row: Row) -> _Presets:
        schema = first_success(row.responses).get("schema")
        if not isinstance(schema, Mapping):
            return _Presets((), None, None, {})
        types = self._table.types
        path, item = items_path(types, schema)
        if row.paging is not None:
            path = agent_path(types, schema, row.paging.items or "")
            item = schema_at(types, schema, path, items=True)
        fields = union_of(types, item).properties
        inner = {name for _, schema in fields.values() for name in union_of(types, schema).properties}
        readable = inner.union(fields) - set(row.only_here) if row.default_fields == "minimal" else set()
        presets = minimal(types, item, key_names(row.resource, row.keys)), standard(types, item)
        return _Presets(path, *presets, item, (item, schema), frozenset(readable))


def _echo(row: Row, presets: _Presets, changes: Any) -> Echo:
    asked = changes if isinstance(changes, Mapping) else {}
    return Echo(frozenset(row.only_here), presets.readable, asked)


def _agent_names(types: Types, schema: JsonSchema, steps: Sequence[str]) -> list[str]:
    """Return the steps of a path in the agent's names, in whichever spelling they came; none for items of a list.

    A step that no schema declares is left as it is.
    """
    names: list[str] = []
    for step in steps:
        if not schema:
            return [*names, *steps[len(names) :]]
        shape = union_of(types, schema)
        for _ in range(_DEEPEST):
            if shape.properties or not shape.items:
                break
            shape = union_of(types, shape.items[0])
        wires = {wire: name for name, (wire, _) in shape.properties.items()}
        name = step if step in shape.properties else wires.get(step, step)
        schema = shape.properties[name][1] if name in shape.properties else next(iter(shape.extra), {})
        names.append(name)
    return names


# The presets of a schema


def items_path(types: Types, schema: JsonSchema) -> tuple[tuple[str, ...], JsonSchema]:
    """Return where in an answer the things are, in the agent's names, and the schema of one of them.

    In an envelope they are its list, the page that bears its name (`topic_list` with `topics`) or, under a name such as
    `data`, its object. What has an identity, or a name and one list, is a thing itself.
    """
    path: tuple[str, ...] = ()
    for _ in range(_DEEPEST):
        shape = union_of(types, schema)
        if shape.items:
            return path, shape.items[0]
        payload = None if _is_identified(shape) else _payload(types, shape, *path[-1:])
        if payload is None:
            break
        path, schema = (*path, payload), shape.properties[payload][1]
    return path, schema


def _payload(types: Types, shape: Shape, within: str = "") -> str | None:
    """Return the field of an envelope that holds the things, None for any other object."""
    lists = [name for name, (_, inner) in shape.properties.items() if is_shaped(inner) and union_of(types, inner).items]
    return next((name for rule in _PAYLOAD_RULES for name in rule(types, shape, lists, within)), None)


def _fields_of_usual_name(types: Types, shape: Shape, lists: Sequence[str], _: str) -> Sequence[str]:
    """Return the fields under a name such as `data`."""
    names = [name for name in shape.properties if folded(name) in _PAYLOADS]
    if _is_named(types, shape):  # a map under such a name is a part of the thing
        names = [name for name in names if not union_of(types, shape.properties[name][1]).extra]
    if len(lists) > 1:  # the columns of a table are no list
        names = [name for name in names if name not in lists or _item_size(types, shape, name)]
    return names


def _list_of_page(_types: Types, _shape: Shape, lists: Sequence[str], within: str) -> Sequence[str]:
    """Return the list that the object is named after."""
    return [name for name in lists if names_page(within, name)]


def _field_of_small_object(types: Types, shape: Shape, lists: Sequence[str], _: str) -> Sequence[str]:
    """Return the field that is named after a list in it, else the only list of an object without a name.

    A list whose items say less than those of a list within another field may be what those refer to: it is left.
    """
    if len(shape.properties) > _FEW + 2 or _is_named(types, shape):
        return ()
    others = {name: union_of(types, inner) for name, (_, inner) in shape.properties.items() if name not in lists}
    sizes = {
        (name, each): _item_size(types, other, each) for name, other in others.items() for each in other.properties
    }
    pages = [name for (name, each), size in sizes.items() if size and names_page(name, each)]
    if pages or len(lists) != 1:
        return pages
    return lists if _item_size(types, shape, lists[0]) >= max(sizes.values(), default=0) else ()


_PAYLOAD_RULES = (_fields_of_usual_name, _list_of_page, _field_of_small_object)
"""Rules of the field that holds the things of an envelope; the first that finds one wins."""


def names_page(page: str, items: str) -> bool:
    """Return True if an object is named after the list in it: `topic_list`, `topics_page` or `topics` of `topics`."""
    return folded(page).removeprefix(_PLURAL.sub("", folded(items)) or " ") in _PAGES


def minimal(types: Types, schema: JsonSchema, identifying: frozenset[str] = IDENTIFYING) -> Tree | None:
    """Return the fields that identify a thing; None if the schema declares none."""
    shape = union_of(types, schema)
    names = [name for name in shape.properties if folded(name) in identifying]
    if not names:
        plain = [name for name, (_, inner) in shape.properties.items() if not _is_structured(types, inner)]
        names = [name for name in plain if name in shape.required][:_FEW] or plain[:_FEW]
    return dict.fromkeys(names) if names else None


def standard(types: Types, schema: JsonSchema) -> dict[str, Tree | bool | None] | None:
    """Return the rules that shorten a thing: False drops a field, a tree keeps its fields; None without rules."""
    shape = union_of(types, schema)
    links = [name for name in shape.properties if name.endswith(_LINKS) and name not in PAGES_OF_PEOPLE]
    rules: dict[str, Tree | bool | None] = dict.fromkeys(links, False) if len(links) > _FEW else {}
    trees = {name: _nested_tree(types, inner) for name, (_, inner) in shape.properties.items() if name not in rules}
    rules |= {name: tree for name, tree in trees.items() if tree is not None}
    return rules or None


def _nested_tree(types: Types, schema: JsonSchema) -> Tree | None:
    """Return the fields to keep of an object or a list of objects within a thing; None for all."""
    shape = union_of(types, schema)
    if shape.items:
        return _nested_tree(types, shape.items[0])
    if shape.extra or len(shape.properties) <= _FEW or not _is_identified(shape):
        return None
    return minimal(types, schema)


def _is_identified(shape: Shape) -> bool:
    return any(folded(name) in IDENTIFIERS for name in shape.properties)


def _is_named(types: Types, shape: Shape) -> bool:
    """Return True if a thing has a name, also within its `metadata`."""
    if any(folded(name) in NAMES for name in shape.properties):
        return True
    _, metadata = shape.properties.get("metadata", (None, None))
    return metadata is not None and not union_of(types, metadata).properties.keys().isdisjoint(IDENTIFIERS | NAMES)


def _item_size(types: Types, shape: Shape, name: str) -> int:
    """Return how many fields are declared of the items of a list; 0 for a field that is none."""
    items = union_of(types, shape.properties[name][1]).items
    return max((len(union_of(types, item).properties) for item in items), default=0)


def _is_structured(types: Types, schema: JsonSchema) -> bool:
    shape = union_of(types, schema) if is_shaped(schema) else None
    return shape is not None and bool(shape.properties or shape.items or shape.extra)


# Cutting a value


def _at(data: Any, path: Sequence[str], change: Callable[[Any], Any], *, each: bool = True) -> Any:
    """Return the data with the thing, or with `each` each of the things, at a path changed; the rest stays."""
    if not path:
        return [change(thing) for thing in data] if each and isinstance(data, list) else change(data)
    if not isinstance(data, dict) or path[0] not in data:
        return data
    return {**data, path[0]: _at(data[path[0]], path[1:], change, each=each)}


def _tree(fields: Sequence[str]) -> Tree:
    tree: Tree = {}
    for path in fields:
        branch, steps = tree, [step for step in path.split(".") if step]
        if not steps:
            continue
        name, part = _with_part(steps[-1])
        tree[".".join((*steps[:-1], name))] = part  # the name of a field may have dots
        for step in steps[:-1]:
            inner = branch.setdefault(step, {})
            if not isinstance(inner, dict):  # the whole of it is asked for already
                break
            branch = inner
        else:
            branch[name] = part
    return tree


def _paths_in(tree: Tree, prefix: str = "") -> list[str]:
    """Return the paths of the fields to keep."""
    paths: list[str] = []
    for name, inner in tree.items():
        paths += _paths_in(inner, f"{prefix}{name}.") if isinstance(inner, dict) else [f"{prefix}{name}"]
    return paths


def _part_of_whole(fields: Sequence[str]) -> tuple[slice | None, Sequence[str]]:
    """Return the part of the whole that paths begin with, as `[100:]`, and the other paths."""
    parts = [part for name, part in map(_with_part, fields) if not name and part is not None]
    return (parts[0], [path for path in fields if not path.startswith("[")]) if parts else (None, fields)


def _with_part(step: str) -> tuple[str, slice | None]:
    """Return the name of a step, and the part that follows it in brackets: `body[100:]`, `body[:100]`."""
    name, bracket, rest = step.rpartition("[")
    begin, colon, end = rest.removesuffix("]").partition(":")
    numbers = all(not number or (number.isdecimal() and len(number) < _DIGITS) for number in (begin, end))
    if not bracket or not colon or not rest.endswith("]") or not numbers:
        return step, None
    return name, slice(int(begin) if begin else None, int(end) if end else None)


def _starts_at_envelope(data: Any, path: Sequence[str], tree: Tree) -> bool:
    """Return True if paths begin at the envelope rather than at the thing in it."""
    inner = at(data, path)
    first = inner[0] if isinstance(inner, list) and inner else inner
    parts = ({name: branch} for name, branch in tree.items() if name in data)
    return any(_picked(data, part) and not (isinstance(first, dict) and _picked(first, part)) for part in parts)


def _picked(value: Any, tree: Tree) -> Any:
    if isinstance(value, list):
        return [_picked(item, tree) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _branch(inner, tree[key])
        for key, inner in value.items()
        if key in tree and (inner is None or isinstance(inner, (dict, list)) or not isinstance(tree[key], dict))
    }


def _branch(value: Any, branch: Tree | slice | None) -> Any:
    if isinstance(branch, slice):
        return value[branch] if isinstance(value, (list, str)) else value
    return _picked(value, branch) if branch is not None else value


def _picked_or_whole(value: Any, tree: Tree) -> Any:
    """Return the identifying fields of a thing, or the whole thing without any."""
    if isinstance(value, list):
        return [_picked_or_whole(item, tree) for item in value]
    return _picked(value, tree) or value


def _without_heavy(value: Any, rules: Mapping[str, Tree | bool | None]) -> Any:
    if not isinstance(value, dict) or not rules:
        return value
    return {
        key: _picked_or_whole(inner, rule) if isinstance(rule, dict) and inner is not None else inner
        for key, inner in value.items()
        if (rule := rules.get(key)) is not False
    }
