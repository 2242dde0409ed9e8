"""The rules by which aqlgen decides, each taken away on request: rows of tables, and lists of words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import aqlgen.decide


def rules() -> Iterator[str]:
    """Yield every rule as `naming.number:response` (a row) or `credentials.names:_SECRET` (a list of words)."""
    for entry in walk_packages(aqlgen.decide.__path__, "aqlgen.decide."):
        for name in _without(import_module(entry.name)):
            yield f"{entry.name.removeprefix('aqlgen.decide.')}:{name}"


def leave_out(rule: str) -> None:
    """Take a rule away wherever it is read; LookupError if there is none of this name."""
    module, _, name = rule.partition(":")
    try:
        old, new = _without(import_module(f"aqlgen.decide.{module}"))[name]
    except (ImportError, KeyError):
        raise LookupError(f"there is no rule {rule!r}; `--without list` shows them") from None
    for loaded in [loaded for name, loaded in sys.modules.items() if name.startswith("aqlgen")]:
        for key, value in list(vars(loaded).items()):
            if value is old:
                setattr(loaded, key, new)


def _without(module: ModuleType) -> dict[str, tuple[object, object]]:
    """Return each list of a module with what is left of it, by the name of what is taken away."""
    left: dict[str, tuple[object, object]] = {}
    for name, value in vars(module).items():
        if not name.isupper() or not value:
            continue
        if isinstance(value, frozenset | dict):
            left[name] = value, type(value)()
        elif isinstance(value, tuple):
            for index, row in enumerate(value):
                row_name = getattr(row, "name", None) or getattr(row, "__name__", None)
                if row_name:
                    left[row_name] = value, value[:index] + value[index + 1 :]
    return left
