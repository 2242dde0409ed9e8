"""Functions of the runtime, called as no agent reaches them: what they return or raise."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, tzinfo
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

_PACKAGE = __name__.rpartition(".")[0]
_FROM = "at 0x"
"""The beginning of a memory address at the end of a text."""
_LONGEST = 200
"""Characters of a constant that is shown."""
_SETTINGS = {
    "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_SERVER_VARIABLES": "port=80", "PROBE_KEY": "check-key-0123456789",
    "PROBE_SESSION": "check-session-0123456789", "MCP_AQL_LOG_LEVEL": "emergency",
}  # fmt: skip


async def called(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of expressions by their modules, in whose names they are; a definition adds a name."""
    shown = dict[str, Any]()
    for module, texts in order.items():
        names = {**vars(_module(module)), **_NAMES, "probe": _probe()}
        shown[module] = [await _value(text, names) for text in texts]
    return shown


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.runtime.{name}")


def _constants() -> dict[str, Any]:
    """Return the limits, tables and defaults of every module by their names, as far as they are short."""
    root = import_module(f"{_PACKAGE}.runtime")
    names = [each.name for each in walk_packages(root.__path__, f"{root.__name__}.") if ".testing" not in each.name]
    values = {name.removeprefix(f"{root.__name__}."): _constants_of(import_module(name)) for name in names}
    return {name: {key: value for key, value in each.items() if _is_constant(value)} for name, each in values.items()}


def _constants_of(module: Any) -> dict[str, Any]:
    """Return the short values of a module's names in capitals, and the defaults of its functions and classes."""
    values = {name: vars(module).get(name) for name in _assigned(module) if name.isupper()}
    values = {name: value for name, value in values.items() if len(repr(value)) < _LONGEST} | _defaults(module, module)
    for name, item in vars(module).items():
        if inspect.isclass(item) and item.__module__ == module.__name__:
            values |= {f"{name}.{key}": value for key, value in _defaults(item, module).items()}
    return values


def _assigned(module: Any) -> Iterator[str]:
    """Yield the names that a module itself assigns."""
    for statement in ast.parse(inspect.getsource(module)).body:
        for node in ast.walk(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _defaults(owner: Any, module: Any) -> dict[str, Any]:
    """Return the default values of the fields and functions of a class, or of a module's functions."""
    defaults = {"fields": getattr(owner, "_field_defaults", {}).values()}
    for name, item in vars(owner).items():
        if inspect.isfunction(item) and item.__module__ == module.__name__:
            defaults[f"{name}()"] = (*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values())
    return {name: tuple(value for value in values if _is_constant(value)) for name, values in defaults.items()}


def _is_constant(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_constant, value.values()))
    if type(value) in (tuple, list, set, frozenset):
        return bool(value) and all(map(_is_constant, value))
    return isinstance(value, str | int | float | re.Pattern) and value != ""


@cache
def _probe() -> Any:
    """Return an adapter of the probe's table, by its parts; nobody answers its requests."""
    folder = Path(import_module(_PACKAGE).__file__ or "").parent
    assembled = _module("assembly").assemble(folder, environ=_SETTINGS)
    return SimpleNamespace(
        assembled=assembled, table=assembled.table, adapter=assembled.adapter, row=assembled.table.find,
        settings=_SETTINGS,
    )  # fmt: skip


@contextmanager
def _clock(*modules: str) -> Iterator[Any]:
    """Stand in for the clock of modules of the runtime; it stands until a sequence sets its `now`."""
    clock: Any = SimpleNamespace(now=1e9)

    class _Datetime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.fromtimestamp(clock.now, tz)

    def now() -> Any:
        return clock.now

    clock.time = clock.monotonic = now
    stands = {"time": clock, "monotonic": now, "datetime": _Datetime}
    with ExitStack() as stack:
        for module in map(_module, modules):
            for name in stands.keys() & vars(module).keys():
                stack.enter_context(patch.object(module, name, stands[name]))
        yield clock


async def _tried(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return the result of one of several steps, or the error that it raises, with its details."""
    try:
        value = call(*arguments, **named)
        return await value if inspect.isawaitable(value) else value
    except Exception as problem:  # noqa: BLE001 - which is what the step shows
        details = getattr(problem, "details", None)
        return [f"{type(problem).__name__}: {str(problem).partition(_FROM)[0]}", *([details] if details else [])]


_NAMES = {"runtime": _module, "clock": _clock, "tried": _tried, "constants": _constants}
"""Names of ours in an expression, beside those of its module."""


async def _value(text: str, names: dict[str, Any]) -> Any:
    if text.startswith(("def ", "async def ")):
        exec(text, names)  # noqa: S102 - the definitions are ours
        return None
    try:
        value = eval(text, names)  # noqa: S307 - the expressions are ours
        return _shown(await value if inspect.isawaitable(value) else value)
    except Exception as problem:  # noqa: BLE001 - which is what the step shows
        return f"{type(problem).__name__}: {str(problem).partition(_FROM)[0]}"


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _shown(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if inspect.isgenerator(value) or type(value) in (list, tuple):
        return [_shown(inner) for inner in value]
    return value if isinstance(value, str | int | float | None) else str(value).partition(_FROM)[0]
