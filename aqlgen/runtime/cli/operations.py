# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What the command prints of operations: the pages of `describe`, the list of `operations`, and the answer of `call`.

Nothing here imports mcp. The page of an operation or a type says what it takes, with the fields of objects, in bounds.
"""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..exact_json import write_json
from ..introspection.introspect import Introspection
from ..introspection.type_info import type_details
from ..schema.reader import Types, alternatives, as_schema, follow, referred, shape_of, union_of
from ..schema.wording import shown_type
from ..settings.load import load
from ..table import Adapter, JsonSchema, Row, Table
from ..text import counted, escaped, line, terminal_text
from .guidance import YES_COUNTS_FOR_NOTHING

__all__ = [
    "Terminal",
    "as_json",
    "call",
    "describe",
    "knows",
    "list_operations",
    "nearest",
    "read_params",
    "render_description",
    "render_operations",
]

_WIDTH = 100
_FACTS = ("format", "minimum", "maximum", "minLength", "maxLength", "pattern")
_MOST_FIELDS = 80
"""The most fields that a page shows within its parameters; types have a page of their own."""
_MOST_INNER = 12
"""The most fields of an object within an object."""
_DEEPEST = 3
_MOST_VALUES = 20


def render_operation(details: Mapping[str, Any], command: str, row: Row | None, types: Types) -> str:
    """Return the page of an operation. `command` starts the adapter; the protocol's operations have no row."""
    summary = [details["semantic_category"]]
    if "path" in details:
        summary = [f"{details['method']} {details['path']}", *summary, details["danger"]]
    lines = [details["name"], f"  {', '.join(summary)}", *_wrapped(details["description"], "  "), "", "Parameters"]
    page = _Page(types)
    schemas = {} if row is None else {name: parameter.schema for name, parameter in row.parameters.items()}
    lines += page.fields(details["parameters"], schemas, 0, ())
    if not details["parameters"]:
        lines.append("  none")
    returned = details["returns"]["name"]
    lines += ["", f"Gives {returned}{f': {command} describe {returned}' if returned in types else ''}"]
    lines += page.more(command)
    for example in details.get("examples", ())[:1]:
        params = json.dumps(example["request"]["params"], ensure_ascii=False, separators=(",", ":"))
        lines += ["", f"Try  {command} call {details['name']} {shlex.quote(params)} --mock"]
    return "\n".join(lines)


def render_type(details: Mapping[str, Any], command: str, schema: JsonSchema, types: Types) -> str:
    """Return the page of a type: its fields, values or members."""
    lines = [details["name"], f"  {details['kind']}", *_wrapped(details.get("description", ""), "  ")]
    page = _Page(types)
    if "fields" in details:
        shape = shape_of(types, follow(schema, types))
        schemas = {name: inner for name, (_, inner) in shape.properties.items()}
        lines += ["", "Fields", *page.fields(details["fields"], schemas, 0, (details["name"],))]
    for key in ("values", "members"):
        if key in details:
            lines += ["", key.capitalize(), *_wrapped(", ".join(map(str, details[key])), "  ")]
    return "\n".join((*lines, *page.more(command)))


class _Object(NamedTuple):
    """The object that a parameter or a field holds, or each item of its list; `name` is that of its type, if any."""

    name: str | None
    schema: JsonSchema
    fields: list[dict[str, Any]]


class _Page:
    """The fields of one page, which are bounded together."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._left = _MOST_FIELDS
        self._cut: dict[str, None] = {}

    def fields(
        self, infos: list[dict[str, Any]], schemas: Mapping[str, JsonSchema], depth: int, above: tuple[str, ...]
    ) -> Iterator[str]:
        """Yield the lines of parameters or fields, and of the fields within them; `above` are the types around them."""
        margin = "  " * (depth + 1)
        most = _MOST_INNER if depth else _MOST_FIELDS
        shown = sorted(infos, key=lambda info: not info["required"])[:most] if len(infos) > most else infos
        width = max((len(info["name"]) for info in shown), default=0)
        for index, info in enumerate(shown):
            if depth and self._left <= 0:
                shown = shown[:index]
                break
            self._left -= 1
            yield from _facts(info, margin, width)
            inner = self._object(schemas.get(info["name"], {}))
            if inner is not None and inner.fields:
                yield from self._inner(inner, depth, above)
        if len(shown) < len(infos):
            yield f"{margin}… and {counted(len(infos) - len(shown), 'more field')}"

    def more(self, command: str) -> list[str]:
        """Return the lines that say where to read on, if a type was left out."""
        return ["", *(f"More  {command} describe {name}" for name in list(self._cut)[:5])] if self._cut else []

    def _inner(self, inner: _Object, depth: int, above: tuple[str, ...]) -> Iterator[str]:
        if depth + 1 >= _DEEPEST or inner.name in above or self._left <= 0:
            if inner.name is not None and inner.name not in above:
                self._cut[inner.name] = None
            return
        if inner.name is not None and len(inner.fields) > _MOST_INNER:
            self._cut[inner.name] = None
        shape = union_of(self._types, inner.schema)
        schemas = {name: schema for name, (_, schema) in shape.properties.items()}
        around = above if inner.name is None else (*above, inner.name)
        yield from self.fields(inner.fields, schemas, depth + 1, around)

    def _object(self, schema: JsonSchema) -> _Object | None:
        """Return the object behind a schema: its own, that of the items of a list, or that of a union of objects."""
        for _ in range(_DEEPEST):
            name, target = shown_type(schema), follow(schema, self._types)
            items = target.get("items")
            if items is None:
                break
            schema = as_schema(items)
        named = name if name in self._types else None
        details = type_details(name, target, self._types)
        fields = details.get("fields", [])
        if not fields and alternatives(target):
            known = {referred(option) for option in alternatives(target)} - {None}
            self._cut.update(dict.fromkeys(sorted(filter(None, known))))
        return _Object(named, target, fields)


def _facts(info: Mapping[str, Any], margin: str, width: int) -> Iterator[str]:
    """Yield the lines of one parameter or field: its name, type and bounds, then its description."""
    kind = str(info["type"])
    if kind == "array" and "items" in info:
        kind = f"list of {info['items']['type']}"
    facts = [kind, *(["required"] if info["required"] else [])]
    facts += [f"{key} {info[key]}" for key in _FACTS if key in info]
    if "default" in info:
        facts.append(f"default {json.dumps(info['default'], ensure_ascii=False)}")
    values = info.get("enum", info.get("items", {}).get("enum"))
    if values:
        more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        some = ", ".join(json.dumps(value, ensure_ascii=False) for value in values[:_MOST_VALUES])
        facts.append(f"one of {some}{more}")
    indent = " " * (len(margin) + width + 2)
    head, *rest = textwrap.wrap(", ".join(facts), max(_WIDTH - len(indent), 30)) or [""]
    yield f"{margin}{info['name']:<{width}}  {head}"
    yield from (indent + text for text in rest)
    most = 1000 if len(margin) == len("  ") else 200
    yield from _wrapped(line(info.get("description", ""), most), indent)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    for part in text.splitlines():
        yield from textwrap.wrap(part, max(_WIDTH, len(indent) + 30), initial_indent=indent, subsequent_indent=indent)


def _introspection(folder: Path, environ: Mapping[str, str]) -> tuple[Introspection, Table]:
    config = load(folder, environ)
    table = Table(folder, read_only=config.read_only)
    return Introspection(Adapter.load(folder), table, config), table


def describe(folder: Path, name: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the introspection of an operation, with its method, path and danger, or else of a type.

    None if there is neither.
    """
    introspection, table = _introspection(folder, environ)
    answer = introspection.answer({"query": "operations", "name": name}, None)
    details: dict[str, Any] | None = answer["data"]["operation"] if answer["success"] else None
    if details is None:
        answer = introspection.answer({"query": "types", "name": name, "all": True}, None)
        return answer["data"]["type"] if answer["success"] else None
    row = table.find(details["name"])
    return details if row is None else {**details, "method": row.method, "path": row.path, "danger": row.danger}


def render_description(folder: Path, details: Mapping[str, Any], command: str, environ: Mapping[str, str]) -> str:
    """Return the page for people of what `describe` returned. `command` is how the adapter is called."""
    table = Table(folder, read_only=load(folder, environ).read_only)
    if "semantic_category" in details:
        return render_operation(details, command, table.find(details["name"]), table.types)
    return render_type(details, command, table.types.get(details["name"], {}), table.types)


def nearest(folder: Path, name: str, environ: Mapping[str, str], *, types: bool = False) -> list[str]:
    """Return the operation that an unknown name may mean, and with `types` the type, as far as there are any."""
    from difflib import get_close_matches

    introspection, table = _introspection(folder, environ)
    near = list(introspection.unknown(name).details.get("available", ()))[:1]
    known = {kind.lower(): kind for kind in table.types} if types else {}
    return near + [known[kind] for kind in get_close_matches(name.lower(), known, 1, 0.75)]


def knows(folder: Path, name: str) -> bool:
    """Return True if the adapter has an operation of that name."""
    return Table(folder).find(name) is not None


def read_params(folder: Path, operation: str, pairs: Sequence[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """Read NAME=VALUE each, as the operation's schemas have them. Raises ValueProblem."""
    from .values import declared_parameters, read_pairs

    introspection, table = _introspection(folder, environ)
    return read_pairs(pairs, declared_parameters(introspection, table, operation))


def list_operations(
    folder: Path, environ: Mapping[str, str], *, category: str | None, search: str | None
) -> list[dict[str, Any]]:
    """Return the operations that are offered as introspection lists them, with method and path; workflows have none.

    Searched ones are in order, the best first.
    """
    from ..introspection.info import operation_info, workflow_operations
    from ..introspection.search import Search

    table = Table(folder, read_only=load(folder, environ).read_only)
    listed = {
        name: {
            "name": name,
            "semantic_category": family.upper(),
            "endpoint": family,
            "description": summary,
            "method": method,
            "path": path,
            "resource": resource,
            "danger": danger,
        }
        for name, family, (summary, method, path, resource, danger) in table.values(
            "summary", "method", "path", "resource", "danger"
        )
        if category is None or family == category.lower()
    }
    operations = list(workflow_operations(table))
    for operation in operations:
        if category is None or operation.family == category.lower():
            info = operation_info(operation.name, operation.family, operation.description)
            listed[operation.name] = {**info, "danger": table.workflows[operation.name].danger}
    if search is None:
        return list(listed.values())
    return [listed[hit.name] for hit in Search(table, operations).find(search, lambda hit: hit.name in listed).hits]


def render_operations(operations: list[dict[str, Any]]) -> str:
    """Return a table of operations for a terminal, a line each."""
    width = max((len(operation["name"]) for operation in operations), default=0)
    return "\n".join(
        f"{operation['semantic_category']:<7}  {operation['name']:<{width}}  {line(operation['description'], 120)}"
        for operation in operations
    )


async def call(
    folder: Path,
    hooks: object | None,
    operation: str,
    params: Any,
    environ: Mapping[str, str],
    *,
    mock: bool,
    yes: bool = False,
) -> dict[str, Any]:
    """Perform an operation as for an agent. Returns the envelope; the person at the terminal can confirm.

    `yes` confirms in advance, unless the owner demands a person.
    """
    from ..assembly import assemble
    from ..session import TERMINAL, Session

    parts = assemble(folder, hooks, environ=environ, mock=mock)
    by_person = parts.config.confirmation.approval != "agent"
    if yes and by_person:
        sys.stderr.write(f"{YES_COUNTS_FOR_NOTHING}\n")
    person = Terminal(yes=yes and not by_person)
    try:
        return await parts.dispatcher.handle(
            None, {"operation": operation, "params": params}, Session(TERMINAL), person
        )
    finally:
        await parts.close()


def as_json(value: Any) -> str:
    """Return JSON for people to read."""
    return escaped(write_json(value, json.JSONEncoder(indent=2, ensure_ascii=False).encode))


class Terminal:
    """The person at the terminal, whom `call` asks for a confirmation (R-SAFE-4). `yes` answers each question."""

    batched = False

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    @property
    def reachable(self) -> bool:
        """True if somebody can answer."""
        return self._yes or (sys.stdin is not None and sys.stdin.isatty())

    async def ask(self, question: str, _: str = "") -> bool:
        """Ask a question. Anything but a clear yes is a no, and it reaches no further than this call."""
        if self._yes:
            return True
        sys.stderr.write(f"{terminal_text(question)}\nGo on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    async def ask_text(self, question: str, name: str) -> str | None:
        """Ask for a text; None if nothing is typed, or nobody can answer."""
        if sys.stdin is None or not sys.stdin.isatty():
            return None
        sys.stderr.write(f"{terminal_text(question)}\n{name}: ")
        sys.stderr.flush()
        return sys.stdin.readline().strip() or None
