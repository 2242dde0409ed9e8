"""The declaration of a setting, as a field of a named tuple, and its reading by pydantic from the field's type.

A guard that is misspelt would be no guard, so that a variable `MCP_AQL_…` that nobody reads stops the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_type_hints

from pydantic import TypeAdapter, ValidationError

from ..text import did_you_mean


class ConfigError(Exception):
    """A setting that cannot be used. The message is one line and names the key, the variable or the file.

    `line` and `column` are those of a file that cannot be read as a whole, from 1; 0 where they are not known.
    `free_of_values` says that the message quotes no value, so that no word of it is masked as a secret.
    """

    free_of_values = False

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Names(NamedTuple):
    """What the annotation of a field says beside its type: that it is a setting, with its names.

    Without a `key` in adapter.toml it is the field's name in the table of its class. `form` says how the variable's
    text differs from the TOML value.
    """

    variable: str
    key: str = ""
    form: str = ""


class Setting(NamedTuple):
    """What is known about one setting, beside the text below its field, which the documentation shows.

    `attribute` leads to its value from `Config`, with a dot for a part of it. `key` is its dotted name in adapter.toml.
    `kind` is the annotation that pydantic reads it by.
    """

    attribute: str
    key: str
    variable: str
    default: Any
    kind: Any
    names: Names

    def parse(self, raw: Any) -> Any:
        """Return the value of text or of a TOML value.

        Raises ValueError with the end of a sentence that begins with the setting's name. An empty text is the default
        of what is empty by default.
        """
        if raw == "" and self.default in (None, "", (), {}):
            return self.default
        try:
            return TypeAdapter(self.kind).validate_python(raw)
        except ValidationError as error:
            raise ValueError(problem_of(error)) from None


def settings_of(owner: Any, attribute: str = "", table: str = "") -> tuple[Setting, ...]:
    """Return the settings that a class declares, which is an attribute of `Config` and a table of adapter.toml."""
    before, within = (f"{name}." if name else "" for name in (attribute, table))
    kinds = get_type_hints(owner, include_extras=True).items()
    return tuple(
        Setting(
            f"{before}{field}",
            names.key or f"{within}{field}",
            f"MCP_AQL_{names.variable}",
            owner._field_defaults[field],
            kind,
            names,
        )
        for field, kind in kinds
        for names in getattr(kind, "__metadata__", ())
        if isinstance(names, Names)
    )


_WORDS = {
    "missing": "is missing",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
}


def problem_of(error: ValidationError) -> str:
    """Return the first problem, as the end of a sentence: where within the value, and what it must be."""
    first = error.errors(include_url=False)[0]
    steps = [f"entry {step + 1}" if isinstance(step, int) else f"'{step}'" for step in first["loc"] if step != "[key]"]
    message = re.sub(r"^\w+ should ", "must ", first["msg"].removeprefix("Value error, "))
    where = f"at {', '.join(steps)}: " if steps else ""
    return where + _WORDS.get(first["type"], message)


_OURS = re.compile(r"MCP[_-]?AQL(?:[_-].*)?", re.IGNORECASE | re.DOTALL)


class Variable(NamedTuple):
    """A variable with what it is for. With `from_file`, the same name with `_FILE` names a file with the value."""

    name: str
    description: str
    from_file: bool = False


VARIABLES = (
    Variable("MCP_AQL_CONFIG", "Settings file to use instead of the project's `adapter.toml`."),
    Variable("MCP_AQL_HTTP_TOKEN", "Tokens for the HTTP endpoint, one per line.", from_file=True),
    Variable(
        "MCP_AQL_STATE_KEY", "Keys for stored values, one per line. The first encrypts, all decrypt.", from_file=True
    ),
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
        sentences = (f"the variable {name} is not a setting.", did_you_mean(name, sorted(known)))
        return " ".join((*filter(None, sentences), "unset it; `doctor --all` lists the variables"))
    return None


def refusal(key: str) -> str:
    """Return why a key of adapter.toml never stands there, since it is a secret; "" for any other."""
    name = f"MCP_AQL_{key.replace('.', '_').upper().removesuffix('_FILE')}"
    is_secret = any(entry.name == name and entry.from_file for entry in VARIABLES)
    return f"is a secret and not allowed here: set {name}, or {name}_FILE for a file" if is_secret else ""
