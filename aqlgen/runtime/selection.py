# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Field selection (R-SEL-2): a preset, or paths with dots; of a list each item. What is not found is skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .presets import Tree, items_path, minimal, standard
from .table import Row, Table

__all__ = ["Selection"]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the presets keep of an operation's answers, and where in them the things are."""

    path: tuple[str, ...]
    minimal: Tree | None
    standard: Mapping[str, Tree | bool | None] | None


class Selection:
    """Cuts answers down to fields; prepared for an operation at its first call that needs it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._plans: dict[str, _Plan] = {}

    def select(self, data: Any, row: Row, fields: str | Sequence[str], items: str | None = None) -> Any:
        """Give the data with these fields; `items` names the list of a page, where the data is one."""
        if fields == "full" or not isinstance(data, (dict, list)):
            return data
        plan = self._plans.get(row.name)
        if plan is None:
            plan = self._plans[row.name] = self._prepare(row)
        path = (items,) if items is not None else plan.path if isinstance(data, dict) else ()
        if isinstance(fields, str):
            return self._by_preset(data, path, plan, fields)
        tree = _tree(fields)
        if path and items is None and _at_top(data, path, tree):
            path = ()
        return _at(data, path, lambda one: _picked(one, tree))

    def _by_preset(self, data: Any, path: tuple[str, ...], plan: _Plan, preset: str) -> Any:
        if preset == "minimal" and plan.minimal is not None:
            tree = plan.minimal
            return _at(data, path, lambda one: _kept(one, tree))
        if preset == "standard" and plan.standard is not None:
            short = plan.standard
            return _at(data, path, lambda one: _shortened(one, short))
        return data

    def _prepare(self, row: Row) -> _Plan:
        good = sorted(status for status in row.responses if status.startswith("2")) or ["default"]
        schema = row.responses.get(good[0], {}).get("schema")
        if not isinstance(schema, Mapping):
            return _Plan((), None, None)
        path, item = items_path(self._table, schema)
        if row.pagination is not None:
            from .pointers import agent_path, schema_at

            path = agent_path(self._table, schema, row.pagination["items"])
            item = schema_at(self._table, schema, path, items=True)
        return _Plan(path, minimal(self._table, item, row.resource), standard(self._table, item))


def _at(data: Any, path: Sequence[str], change: Any) -> Any:
    """Give the data with the thing, or each of the things, at a path changed; what is around it stays."""
    if not path:
        return [change(one) for one in data] if isinstance(data, list) else change(data)
    if not isinstance(data, dict) or path[0] not in data:
        return data
    return {**data, path[0]: _at(data[path[0]], path[1:], change)}


def _tree(fields: Sequence[str]) -> Tree:
    tree: Tree = {}
    for path in fields:
        here = tree
        steps = [step for step in path.split(".") if step]
        for step in steps[:-1]:
            inner = here.setdefault(step, {})
            if inner is None:  # the whole of it is asked for already
                break
            here = inner
        else:
            if steps:
                here[steps[-1]] = None
    return tree


def _at_top(data: Any, path: Sequence[str], tree: Tree) -> bool:
    """Whether paths begin at the envelope rather than at the thing in it."""
    inner = data
    for step in path:
        inner = inner.get(step) if isinstance(inner, dict) else None
    first = inner[0] if isinstance(inner, list) and inner else inner
    return any(name in data and not (isinstance(first, dict) and name in first) for name in tree)


def _picked(value: Any, tree: Tree) -> Any:
    if isinstance(value, list):
        return [_picked(one, tree) for one in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, one in value.items():
        if key in tree:
            inner = tree[key]
            if inner is None or one is None:
                out[key] = one
            elif isinstance(one, (dict, list)):
                out[key] = _picked(one, inner)
    return out


def _kept(value: Any, tree: Tree) -> Any:
    """Pick what identifies a thing; one that has nothing of it stays whole."""
    if isinstance(value, list):
        return [_kept(one, tree) for one in value]
    return _picked(value, tree) or value


def _shortened(value: Any, short: Mapping[str, Tree | bool | None]) -> Any:
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, one in value.items():
        rule = short.get(key)
        if rule is False:
            continue
        out[key] = _kept(one, rule) if isinstance(rule, dict) and one is not None else one
    return out
