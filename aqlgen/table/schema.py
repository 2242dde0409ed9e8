"""JSON Schemas and the documentation page of the table, derived from the types that write and read it.

`python -m aqlgen.table.schema` writes both into the folder of this repository; a test keeps them true.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from aqlgen.ir import Json
from aqlgen.runtime.table import Adapter, Row
from aqlgen.runtime.table.codec import columns

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS: Final = ("operations.schema.json", "adapter.schema.json", "types.schema.json")
SCALARS: Final[Mapping[Any, Mapping[str, Json]]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    date: {"type": "string", "format": "date"},
    Any: {},
}
KEYWORDS: Final = {"in": "Location of an API key: header, query or cookie."}
"""The description of a key that is a keyword of Python, so that no line of a class declares it."""


def schema_files() -> dict[str, str]:
    """Return the JSON Schemas of the table's files by their names in `schema/` of a project."""
    schemas = zip(SCHEMAS, (_operations(), _adapter(), _types()), strict=True)
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas}


def _operations() -> dict[str, Json]:
    definitions = _Definitions()
    rows = definitions.schema(Row)
    return _file(
        "operations/<family>.json",
        "The operations of one family by their names.",
        {"type": "object", "additionalProperties": rows, "$defs": definitions.sorted()},
    )


def _adapter() -> dict[str, Json]:
    definitions = _Definitions()
    whole = definitions.object(Adapter)
    return _file("adapter.json", str(whole.pop("description")), {**whole, "$defs": definitions.sorted()})


def _types() -> dict[str, Json]:
    described = "The types of the API by their names; `#/types/NAME` refers to one, in the operations too."
    return _file("types.json", described, {"type": "object", "additionalProperties": {"$ref": DIALECT}})


def _file(title: str, description: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    comment = "machine: describes the files of the operation table; never edit by hand."
    return {"$comment": comment, "$schema": DIALECT, "title": title, "description": description, **schema}


class _Definitions:
    """The definitions that a schema refers to, made while it is."""

    def __init__(self) -> None:
        self._made: dict[str, Json] = {}

    def sorted(self) -> dict[str, Json]:
        """Return the definitions by name."""
        return dict(sorted(self._made.items()))

    def schema(self, hint: Any, *, brief: bool = False) -> dict[str, Json]:
        """Return the schema of a type; objects become definitions."""
        hint = _bare(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in SCALARS:
            return dict(SCALARS[hint])
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if origin in (tuple, Sequence):
            return {"type": "array", "items": self.schema(arguments[0])}
        if origin is Mapping:
            return {"type": "object"} | _unless_empty("additionalProperties", self.schema(arguments[1], brief=brief))
        name = f"Brief{hint.__name__}" if brief else hint.__name__
        if name not in self._made:
            self._made[name] = {}  # it may refer to itself
            self._made[name] = self.object(hint, brief=brief)
        return {"$ref": f"#/$defs/{name}"}

    def object(self, cls: Any, *, brief: bool = False) -> dict[str, Json]:
        """Return the schema of a dataclass or TypedDict; of a brief one nothing is required."""
        described = _docstring(cls) + (" Only differences from the default." if brief else "")
        properties: dict[str, Json] = {}
        required = []
        for key, hint, description, needed, inner_brief in _entries(cls):
            properties[key] = self.schema(hint, brief=inner_brief) | {"description": description}
            if needed and not brief:
                required.append(key)
        whole: dict[str, Json] = {"description": described, "type": "object", "properties": properties}
        return whole | _unless_empty("required", required) | {"additionalProperties": False}


def _unless_empty(key: str, value: Json) -> dict[str, Json]:
    return {key: value} if value else {}


def _entries(cls: Any) -> Iterator[tuple[str, Any, str, bool, bool]]:
    """Yield key, type, description, whether it is always there, and whether what it holds is brief."""
    descriptions = _descriptions(cls)
    if isinstance(cls, type) and is_dataclass(cls):
        for key, column in columns(cls).items():
            hint = get_type_hints(cls)[column.attribute]
            yield key, hint, descriptions[column.attribute], column.always is True, column.brief
    else:
        for key, hint in get_type_hints(cls).items():
            yield key, hint, descriptions[key], key in cls.__required_keys__, False


def _bare(hint: Any) -> Any:
    """Return a type without what says that it may be missing."""
    if get_origin(hint) is NotRequired:
        return _bare(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (member for member in get_args(hint) if member is not NoneType)
    return hint


@cache
def _descriptions(cls: Any) -> Mapping[str, str]:
    """Return the docstrings behind the fields of a class, by field."""
    descriptions: dict[str, str] = dict(KEYWORDS) if is_typeddict(cls) else {}
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - the source of a class
    for statement, behind in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            assert isinstance(behind, ast.Expr)  # noqa: S101 - every field of the table has a docstring
            assert isinstance(behind.value, ast.Constant)  # noqa: S101
            descriptions[statement.target.id] = " ".join(str(behind.value.value).split())
    return descriptions


def _docstring(cls: Any) -> str:
    return " ".join((inspect.getdoc(cls) or "").split())


HEAD: Final = """# The operation table

The table is plain data in `src/<package>/`. Everything that the adapter does is read from it. Every `aqlgen update`
writes it; put your own decisions into `overrides.yaml`.

- `adapter.json` describes the adapter (`schema/adapter.schema.json`).
- `operations/<family>.json` have a row for each operation of a family, by name (`schema/operations.schema.json`).
- `types.json` has the API's types by name (`schema/types.schema.json`).
- `search.txt` is the index for `introspect`, from the same rows: a line for each operation, then a line for each word
  with its operations.
- `mock.json` has the answers of mock mode: the document's example, or a sample of the answer's schema.

Values with a capital, such as Server, are objects. The JSON Schemas describe them: `aqlgen add schemas` writes them to
`schema/`. Keys with default values are omitted. `format` in `adapter.json` is the version of all these files; adapters
and aqlgen refuse other versions.
"""


def page() -> str:
    """Return the page of the documentation: the keys of the two files; the schemas have those of the objects inside."""
    parts = [HEAD]
    for title, cls in (("adapter.json", Adapter), ("Row of an operation", Row)):
        parts.append(f"\n## {title}\n\n{_docstring(cls)}\n\n| key | value | meaning |\n|---|---|---|\n")
        for key, hint, description, needed, _ in _entries(cls):
            cell = description.replace("|", "\\|")
            parts.append(f"| `{key}`{'' if needed else ' (optional)'} | {_words(hint)} | {cell} |\n")
    return "".join(parts)


def _words(hint: Any) -> str:
    """Return a type in words."""
    hint = _bare(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ", ".join(f"`{argument}`" for argument in arguments)
    if origin in (tuple, Sequence):
        return f"list of {_words(arguments[0])}"
    if origin is Mapping:
        return "object" if arguments[1] is Any else f"{_words(arguments[1])} by name"
    if hint in SCALARS:
        return {str: "text", bool: "true or false", int: "whole number", float: "number", date: "date"}.get(hint, "any")
    return str(hint.__name__)


def write(folder: Path) -> None:
    """Write the page and the schemas into a checkout of this repository."""
    (folder / "docs" / "table.md").write_text(page(), encoding="utf-8")
    for name, text in schema_files().items():
        (folder / "templates" / "project" / "schema" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[2])
