"""Functions of the runtime, called as no agent reaches them: what they return or raise."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

_PACKAGE = __name__.rpartition(".")[0]
_FROM = "at 0x"
"""The beginning of a memory address at the end of a text."""


async def called(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of expressions by their modules, in whose names they are; a definition adds a name."""
    shown = dict[str, Any]()
    for module, texts in order.items():
        names = {**vars(_module(module)), "runtime": _module}
        shown[module] = [await _value(text, names) for text in texts]
    return shown


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.runtime.{name}")


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
