# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The declaration of a setting, as the default of a field of a named tuple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

__all__ = ["Setting", "collected", "setting"]

Value = TypeVar("Value")


class Setting(NamedTuple):
    """What is known about one setting.

    `attribute` leads to its value from `Config`, with a dot for a part of it. `key` is its dotted name in adapter.toml.
    `parse` turns text or a TOML value into the setting's value and raises ValueError with the end of a sentence that
    begins with the setting's name. `form` says how the variable's text differs from the TOML value; `example` is shown
    in adapter.toml.
    """

    attribute: str
    key: str
    variable: str
    default: Any
    parse: Callable[[Any], Any]
    description: str
    form: str = ""
    example: tuple[str, ...] = ()


_declared: list[Setting] = []
"""What the class being defined has declared so far, in the order of its fields."""


def setting(
    default: Value,
    key: str,
    variable: str,
    parse: Callable[[Any], Value],
    description: str,
    *,
    form: str = "",
    example: str = "",
) -> Value:
    """Declare a field and return its default. `{allowed}` in the description: what the parser allows."""
    text = description.replace("{allowed}", getattr(parse, "allowed", ""))
    lines = tuple(example.splitlines())
    _declared.append(Setting("", key, f"MCP_AQL_{variable}", default, parse, text, form, lines))
    return default


def collected(fields: Sequence[str], prefix: str = "") -> tuple[Setting, ...]:
    """Return what a class has declared, whose first fields these are; `prefix` is put before each attribute."""
    settings = tuple(
        entry._replace(attribute=f"{prefix}{field}") for field, entry in zip(fields, _declared, strict=False)
    )
    _declared.clear()
    return settings
