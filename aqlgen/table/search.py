"""The index of operations that `introspect` searches: the terms of each row, by field (`postings.FIELDS`).

Names, summary and path tell operations apart; descriptions, parameters and the fields of requests and answers bring
in what the names do not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from aqlgen.diagnostics.progress import counted
from aqlgen.ir import Json
from aqlgen.runtime.introspection.postings import Entry, Hit, index_text
from aqlgen.runtime.introspection.vocabulary import terms
from aqlgen.runtime.schema import union_of
from aqlgen.runtime.table import Row
from aqlgen.table.model import DecidedRow, Schema, Table

_DEEPEST = 2
_MOST_TERMS = 200
_MOST_VALUES = 40
_DESCRIPTION = 600
_PLACEHOLDER = re.compile(r"\{[^{}]{0,200}+\}")


def search_index(table: Table) -> str:
    """Return the text of the index."""
    return index_text(entries(table))


def entries(table: Table) -> Iterator[Entry]:
    """Yield every row as it is indexed."""
    titles = {name: section.title for name, section in table.adapter.apis.items()}
    field_terms = _field_terms(table.types)
    for decided in counted("rendering", table.rows):
        row = decided.row
        needs = tuple(dict.fromkeys(_needs(row.path)))
        hit = Hit(row.name, row.family, row.danger, row.resource, needs, row.summary)
        yield Entry(hit, _texts(decided, field_terms, f"{row.api} {titles[row.api]}"[:100] if row.api else ""))


def _field_terms(types: Mapping[str, Schema]) -> Callable[[Json, int], Mapping[str, None]]:
    """Return a function for the terms of the names and values of a schema's fields, so many levels deep."""

    @cache
    def of_type(name: str, depth: int) -> Mapping[str, None]:
        return collect(types.get(name.rsplit("/", 1)[-1]), depth)

    def collect(schema: Json, depth: int) -> Mapping[str, None]:
        collected: dict[str, None] = {}
        whole = union_of(types, schema)
        for shape in (
            [whole] if whole.properties else [union_of(types, inner) for inner in (*whole.items, *whole.extra)]
        ):
            for name, (_, inner) in shape.properties.items():
                collected |= dict.fromkeys((*terms(name[:100]), *_values(inner)))
                if depth > 1:
                    collected |= of_schema(inner, depth - 1)
        return collected

    def of_schema(schema: Json, depth: int) -> Mapping[str, None]:
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        return of_type(reference, depth) if isinstance(reference, str) else collect(schema, depth)

    return of_schema


def _values(schema: Json) -> Iterator[str]:
    """Yield the terms of the texts that a schema lists."""
    values = schema.get("enum") if isinstance(schema, Mapping) else None
    for value in values[:_MOST_VALUES] if isinstance(values, list) else ():
        yield from terms(value[:100]) if isinstance(value, str) else ()


def _texts(
    decided: DecidedRow, field_terms: Callable[[Json, int], Mapping[str, None]], api: str
) -> dict[str, Sequence[str]]:
    """Return the terms of a row by field; `api` is the name and title of its API, where there are several."""
    row = decided.row
    name, summary, description = (
        terms(f"{row.name} {api}"),
        terms(row.summary[:300]),
        terms(row.description[:_DESCRIPTION]),
    )
    if set(summary) <= set(name) and description:
        summary, description = description, ()
    parameters = {name: item for name, item in row.shown_parameters.items() if item.location != "adapter"}
    described = [term for item in parameters.values() for term in terms(item.description[:200])]
    return {
        "name": (*name, *terms(_PLACEHOLDER.sub(" ", row.path)), *terms((row.operation_id or "")[:100])),
        "summary": summary,
        "parameters": [
            term
            for name, item in parameters.items()
            for term in ((*_names(name), *_values(item.schema)) if name != "input" else field_terms(item.schema, 1))
        ][:_MOST_TERMS],
        "texts": [*(() if description == summary else description), *described[:_MOST_TERMS]],
        "fields": _fields(row, [item.schema for item in parameters.values()], field_terms),
    }


def _fields(
    row: Row, schemas: Sequence[Json], field_terms: Callable[[Json, int], Mapping[str, None]]
) -> tuple[str, ...]:
    """Return the terms of the fields of parameters and answers."""
    answers = [answer.get("schema") for status, answer in row.responses.items() if status[:1] == "2"]
    return tuple({term: None for schema in (*schemas, *answers) for term in field_terms(schema, _DEEPEST)})[
        :_MOST_TERMS
    ]


def _names(name: str) -> tuple[str, ...]:
    """Return the terms of a name, and one of several words as one too, for those who ask for exactly it."""
    parts = terms(name)
    return (*parts, "".join(parts)) if len(parts) > 1 else parts


def _needs(path: str) -> Iterator[str]:
    """Yield the things whose ids a path has: the last words of the segments before its placeholders."""
    before = ""
    for segment in path.split("/"):
        if "{" in segment:
            yield from terms(before)[-1:]
        else:
            before = segment or before
