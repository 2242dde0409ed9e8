"""Parameters and fields of requests, at any depth, that agents are shown and whose last words are those of a secret.

What can hold no free text (a number, an enumeration) is left out. Each line says what was decided, and why.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aqlgen.decide.credentials.effective import PARAMETER
from aqlgen.decide.credentials.names import is_of_something_else, is_text
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.table import Row
from aqlgen.words import split

__all__ = ["shown_lines"]

_SECRET: Final = re.compile(
    r"(^|_)(key|token|secret|secret_id|password|passwd|passphrase|pwd|credentials?|signature|auth|authorization|jwt|bearer"
    r"|assertion|pat|sid|appid)s?$"
)
_MAX_DEPTH: Final = 8


@dataclass
class _Use:
    operations: list[str] = field(default_factory=list)
    description: str = ""


def shown_lines(name: str, spec: Path) -> Iterator[str]:
    """Yield the lines about a document: what was taken for a credential, and what is shown all the same."""
    prepared = prepare(Options(Request(str(spec)), "api"), lambda _: None)
    uses: dict[tuple[str, str], _Use] = defaultdict(_Use)
    for decided in prepared.table.rows:
        row = decided.row
        for place, path, schema, description in _fields(row, prepared.table.types):
            leaf = ".".join(path.split(".")[-2:])
            use = uses[place, leaf]
            use.description = use.description or description
            key = f"{row.method} {row.path}"
            if key not in use.operations and is_text(_target(schema, prepared.table.types)):
                use.operations.append(key)
    total = len(prepared.table.rows)
    yield f"{name}: {total} operations"
    for note in prepared.diagnostics:
        if note.code == PARAMETER:
            yield f"        hidden {note.message}"
    for (place, leaf), use in sorted(uses.items(), key=lambda item: -len(item[1].operations)):
        count = len(use.operations)
        if count:
            text = " ".join(use.description.split())[:90]
            decision = _decision(place, leaf, count, total)
            yield f"  {count:5} shown {place} {leaf}: {decision}; {use.operations[0]}; {text}"


def _target(schema: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return dict(types.get(str(reference).rsplit("/", 1)[-1], {}) if reference else schema)


def _fields(row: Row, types: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any], str]]:
    parameters = dict(row.shown_parameters)
    for choice in row.choices.values():
        for kind in choice.kinds.values():
            parameters |= kind.parameters
    for parameter in parameters.values():
        if parameter.location == "adapter":
            continue
        if _speaks(parameter.wire):
            yield parameter.location, parameter.wire, parameter.schema, parameter.description
        for path, schema in _within(parameter.schema, types, parameter.wire, 0, frozenset()):
            yield parameter.location, path, schema, str(schema.get("description", ""))


def _within(
    schema: Any, types: Mapping[str, Any], path: str, depth: int, seen: frozenset[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.rsplit("/", 1)[-1]
        if name not in seen:
            yield from _within(types.get(name), types, path, depth, seen | {name})
    for name, inner in schema.get("properties", {}).items():
        inner_path = f"{path}.{inner.get('x-name', name)}"
        if _speaks(inner_path.rpartition(".")[2]):
            yield inner_path, inner
        yield from _within(inner, types, inner_path, depth + 1, seen)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            yield from _within(part, types, path, depth + 1, seen)
    for keyword in ("items", "additionalProperties"):
        yield from _within(schema.get(keyword), types, path, depth + 1, seen)


def _speaks(name: str) -> bool:
    words = "_".join(split(name))
    return bool(_SECRET.search(words)) or words.endswith(("apikey", "pubkey", "authtoken", "accesstoken"))


def _decision(place: str, leaf: str, count: int, total: int) -> str:
    """Return why it was not taken for a credential of the caller."""
    if is_of_something_else("_".join(split(leaf.rpartition(".")[2]))):
        return "a key or token of something else"
    return "a part of the address" if place == "path" else f"data, since {count} of {total} operations have it"
