# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The declaration of a setting, as the default of a field of a named tuple, and the variables that are no settings.

A guard that is misspelt would be no guard, so that a variable `MCP_AQL_…` that nobody reads stops the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

__all__ = ["VARIABLES", "Setting", "Variable", "collected", "setting", "unknown_variable"]

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


_OURS = re.compile(r"MCP[_-]?AQL(?:[_-].*)?", re.IGNORECASE | re.DOTALL)


class Variable(NamedTuple):
    """A variable with what it is for. With `from_file`, the same name with `_FILE` names a file with the value."""

    name: str
    description: str
    from_file: bool = False


VARIABLES = (
    Variable(
        "MCP_AQL_CONFIG", "The file of settings to read instead of the project's `adapter.toml`, or a policy in JSON."
    ),
    Variable("MCP_AQL_ENV_FILE", "A file of variables to add to the environment."),
    Variable("MCP_AQL_HTTP_TOKEN", "Tokens of those who may use the adapter over HTTP, one a line.", from_file=True),
    Variable("MCP_AQL_STATE_KEY", "Keys that seal what callers keep, one a line; the first seals.", from_file=True),
    Variable("MCP_AQL_AUTH_EXCHANGE_CLIENT_ID", "The client that exchanges callers' tokens.", from_file=True),
    Variable("MCP_AQL_AUTH_EXCHANGE_CLIENT_SECRET", "The secret of that client.", from_file=True),
)


def unknown_variable(environ: Mapping[str, str], settings: Iterable[str], package: str) -> str | None:
    """Return the sentence about a variable that is set, looks like ours, and that nothing reads; None without one.

    `settings` are the variables of settings. Those of the credentials of an adapter begin with its package's name.
    """
    known = {*settings, *(entry.name for entry in VARIABLES)}
    known |= {f"{entry.name}_FILE" for entry in VARIABLES if entry.from_file}
    credentials = f"{package.removesuffix('_adapter').upper()}_"
    for name in sorted(environ):
        if name in known or not environ[name] or not _OURS.fullmatch(name) or name.startswith(credentials):
            continue
        from difflib import get_close_matches

        nearest = get_close_matches(name.upper(), sorted(known), 1, 0.6)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        return f"the variable {name} is no setting.{hint} adapter.toml names the variable of each; unset this one"
    return None
