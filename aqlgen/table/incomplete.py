"""Objects whose schemas lack fields, as the document's own examples show: further ones are taken there (R-REQ-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import MISSING, Json
from aqlgen.runtime.schema.reader import alternatives, parts, union_of
from aqlgen.runtime.text import folded
from aqlgen.table.rows import Draft

__all__ = ["open_by_examples"]

_MOST: Final = 10_000
"""How many values of examples are looked at."""
_SAID: Final = frozenset({"additionalProperties", "unevaluatedProperties"})

Types = Mapping[str, Mapping[str, Json]]


def open_by_examples(drafts: Iterable[Draft], types: Types, follow: Callable[[Json], tuple[Json, str]]) -> None:
    """Mark each schema within a body that lacks a field of the body's example as one that takes further fields.

    The body itself is not marked: a credential that the adapter sends may be in its example.
    """
    todo: list[tuple[Json, Json]] = []
    roots: set[int] = set()
    for draft in drafts:
        for example in _examples(draft, follow):
            for parameter in draft.parameters:
                if draft.body is not None and parameter.name == draft.body.parameter:
                    todo.append((parameter.schema, example))
                    roots.add(id(parameter.schema))
                elif parameter.location == "body" and isinstance(example, dict) and parameter.wire in example:
                    todo.append((parameter.schema, example[parameter.wire]))
    for _ in range(_MOST):
        if not todo:
            break
        schema, value = todo.pop()
        shape = union_of(types, schema)
        if isinstance(value, list):
            todo += ((shape.items[0], item) for item in value if shape.items)
        elif isinstance(value, dict) and shape.properties:
            declared = {wire: inner for name, (wire, inner) in shape.properties.items()}
            declared |= {name: inner for name, (_, inner) in shape.properties.items()}
            hidden = set(map(folded, shape.hidden))
            if id(schema) not in roots and any(key not in declared and folded(key) not in hidden for key in value):
                _open(schema, types)
            todo += ((declared[key], part) for key, part in value.items() if key in declared)


def _examples(draft: Draft, follow: Callable[[Json], tuple[Json, str]]) -> Iterator[Json]:
    """Yield the examples of an operation's body: that of its content, and those of its schemas."""
    body = draft.decision.operation.body
    if draft.body_example is not MISSING:
        yield draft.body_example
    for media in body.media if body is not None else ():
        with suppress(UnresolvedError):
            schema, _ = follow(media.schema)
            if isinstance(schema, dict) and "example" in schema:
                yield schema["example"]
            if isinstance(schema, dict) and isinstance(schema.get("examples"), list):
                yield from schema["examples"]


def _open(schema: Mapping[str, Json], types: Types) -> None:
    for option in (schema, *alternatives(schema)):
        for part in parts(option, types):
            if isinstance(part, dict) and "properties" in part and part.keys().isdisjoint(_SAID):
                part["additionalProperties"] = True
