"""The page docs/settings.md, from the fields of `aqlgen.runtime.settings.config.Config`.

`python -m aqlgen.render.settings_texts > docs/settings.md` writes it again, in a clone of aqlgen.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise
from typing import Any

from pydantic import TypeAdapter

from aqlgen.runtime.settings import VARIABLES
from aqlgen.runtime.settings.config import SETTINGS, Config, Setting

_DOCUMENT = re.compile(r"docs/([\w-]+)\.md(#[\w-]+)?")
"""A page that a description names: the page of settings has a link in its place."""
_SMALL = 2
"""The settings of a table that needs no section of its own on the page."""

_PAGE_HEAD = """\
# Settings of an adapter

Change a setting in the file `adapter.toml`, or by an environment variable. The variable wins over the file. Without
both, the default applies. The adapter reads the first of these files that exists:

1. the file that the variable `MCP_AQL_CONFIG` names
2. `adapter.toml` in the project's folder, from which the adapter runs, or was installed
3. the copy of `adapter.toml` in the installed package

The adapter does not look into the working directory, because clients start adapters in any folder. The command
`<name>-adapter doctor --all` shows the file in use, and each setting with its source. With an unknown key, or an
unknown variable that begins with `MCP_AQL`, the adapter does not start. So you notice a misspelt setting. Keys, tokens
and passwords cannot be in `adapter.toml`. They have their own variables, which `doctor` lists.
"""


def page() -> str:
    """Return the text of docs/settings.md."""
    large = {table: settings for table, settings in _tables() if len(settings) > _SMALL}
    sections = [_section(f"`[{table}]`" if table else "Top-level keys", settings) for table, settings in large.items()]
    small = [setting for table, settings in _tables() if table not in large for setting in settings]
    return "\n".join((_PAGE_HEAD, *sections, _section("Other tables", small, in_table=True), *_other_variables()))


def _other_variables() -> Iterator[str]:
    yield "## Only as variables"
    yield ""
    yield "`adapter.toml` cannot set these variables."
    yield ""
    yield "| variable | meaning |"
    yield "|---|---|"
    for entry in VARIABLES:
        name = f"`{entry.name}`" + (f", or a file in `{entry.name}_FILE`" if entry.from_file else "")
        yield f"| {name} | {entry.description} |"
    yield ""


def _tables() -> Iterator[tuple[str, list[Setting]]]:
    for table, settings in groupby(SETTINGS, lambda setting: setting.key.rpartition(".")[0]):
        yield table, list(settings)


@cache
def _texts(owner: type[Any]) -> dict[str, str]:
    """Return the text below each field of a class."""
    (definition,) = ast.parse(inspect.getsource(owner)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - what it is by its type
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def description(setting: Setting) -> str:
    """Return the description of a setting, with the values that its type allows."""
    part, _, field = setting.attribute.rpartition(".")
    owner: Any = type(getattr(Config(), part)) if part else Config
    schema = TypeAdapter(setting.kind).json_schema()
    schema = schema.get("anyOf", [schema])[0]
    bounds = f"{schema.get('minimum')} to {schema.get('maximum')}"
    allowed = ", ".join(schema["enum"]) if "enum" in schema else bounds
    return _texts(owner)[field].replace("{allowed}", allowed)


def _section(title: str, settings: list[Setting], *, in_table: bool = False) -> str:
    rows = [f"## {title}", "", "| key | variable | default | meaning |", "|---|---|---|---|"]
    for setting in settings:
        form = f", {setting.names.form}" if setting.names.form else ""
        default = "" if setting.default is None or setting.default == {} else f"`{json.dumps(setting.default)}`"
        text = _DOCUMENT.sub(r"[\1](\1.md\2)", description(setting)).replace("|", "\\|")
        name = f"[{setting.key.replace('.', '] ')}" if in_table else setting.key.rpartition(".")[2]
        rows.append(f"| `{name}` | `{setting.variable}`{form} | {default} | {text} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
