"""The index of operations that `introspect` searches: the terms of each row, by field (`postings.FIELDS`).

Names, summary and path tell operations apart; descriptions, parameters and the fields of requests and answers bring
in what the names do not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from aqlgen.diagnostics.progress import counted
from aqlgen.ir import Json
from aqlgen.runtime.introspection.postings import FINDS, READS, Entry, Hit, index_text
from aqlgen.runtime.introspection.vocabulary import FINDING, terms
from aqlgen.runtime.table import Row
from aqlgen.table.model import DecidedRow, Schema, Table

__all__ = ["entries", "search_index"]

_STRING_QUERIES = frozenset("q query search keyword keywords text term search_query".split())
_DEEPEST = 2
_MOST_TERMS = 200
_MOST_FIELDS = 600
_MOST_OPEN = 16
_MOST_VALUES = 40
_DESCRIPTION = 600
_PLACEHOLDER = re.compile(r"\{[^{}]{0,200}+\}")


def search_index(table: Table) -> str:
    """Return the text of the index."""
    return index_text(entries(table))


def entries(table: Table) -> Iterator[Entry]:
    """Yield every row as it is indexed."""
    fields = _Fields(table.types)
    titles = {name: section.title for name, section in table.adapter.apis.items()}
    for decided in counted("rendering", table.rows):
        row = decided.row
        needs = tuple(dict.fromkeys(_needs(row.path)))
        hit = Hit(row.name, row.family, row.danger, row.resource, needs, row.summary)
        yield Entry(hit, _texts(decided, fields, titles))


class _Fields:
    """The names and values of the fields of schemas, two levels deep, as terms."""

    def __init__(self, types: Mapping[str, Schema]) -> None:
        self._types = types
        self._of_type = cache(self._read_type)
        self._open: set[tuple[str, int]] = set()

    def terms_of(self, schema: Json) -> dict[str, None]:
        collected: dict[str, None] = {}
        self._collect(schema, 0, collected, 0)
        return collected

    def _read_type(self, name: str, depth: int) -> dict[str, None]:
        collected: dict[str, None] = {}
        if depth < _DEEPEST and (name, depth) not in self._open and len(self._open) < _MOST_OPEN:
            self._open.add((name, depth))
            self._collect(self._types.get(name, {}), depth, collected, 0)
            self._open.remove((name, depth))
        return collected

    def _collect(self, schema: Json, depth: int, collected: dict[str, None], level: int) -> None:
        if not isinstance(schema, dict) or depth >= _DEEPEST or level > 24 or len(collected) > _MOST_FIELDS:
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if level < 16:
                collected |= self._of_type(reference.rsplit("/", 1)[-1], depth)
            return
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name, inner in properties.items():
                collected |= dict.fromkeys(terms(str(name)[:100]))
                if isinstance(inner, dict):
                    for value in _values(inner):
                        collected |= dict.fromkeys(terms(value[:100]))
                self._collect(inner, depth + 1, collected, level + 1)
        for key in ("items", "additionalProperties"):
            self._collect(schema.get(key), depth, collected, level + 1)
        for key in ("allOf", "anyOf", "oneOf"):
            options = schema.get(key)
            for option in options[:20] if isinstance(options, list) else ():
                self._collect(option, depth, collected, level + 1)


def _values(schema: Mapping[str, Json]) -> Iterator[str]:
    values = schema.get("enum")
    if isinstance(values, list):
        yield from (value for value in values[:_MOST_VALUES] if isinstance(value, str))


def _texts(decided: DecidedRow, fields: _Fields, titles: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """Return the terms of a row by field; `titles` are those of several APIs by their names."""
    row = decided.row
    tags = " ".join(str(tag)[:100] for tag in decided.decision.operation.tags[:10])
    api = f"{row.api} {titles[row.api]}"[:100] if row.api else ""
    name = terms(f"{row.name} {api}")
    summary, description = terms(row.summary[:300]), terms(row.description[:_DESCRIPTION])
    if set(summary) <= set(name) and description:
        summary, description = description, ()
    parameters = {name: item for name, item in row.shown_parameters.items() if item.location != "adapter"}
    names = [term for item in parameters for term in (*terms(item), *_whole(item))]
    described = [term for item in parameters.values() for term in terms(item.description[:200])]
    inner: dict[str, None] = {}
    for item in parameters.values():
        names.extend(term for value in _values(item.schema) for term in terms(value[:100]))
        inner |= fields.terms_of(item.schema)
    for status, response in row.responses.items():
        if status[:1] == "2":
            inner |= fields.terms_of(response.get("schema"))
    return {
        "name": name,
        "path": terms(_PLACEHOLDER.sub(" ", row.path)),
        "summary": summary,
        "description": () if description == summary else description,
        "operation id": terms((row.operation_id or "")[:100]),
        "tags": terms(f"{row.resource} {tags}"),
        "parameters": names[:_MOST_TERMS],
        "parameter texts": described[:_MOST_TERMS],
        "fields": (*tuple(inner)[:_MOST_TERMS], *_steps(row)),
    }


def _whole(name: str) -> Iterator[str]:
    """Yield a name of several words as one, for those who ask for exactly it."""
    parts = terms(name)
    if len(parts) > 1:
        yield "".join(parts)


def _needs(path: str) -> Iterator[str]:
    """Yield the things whose ids a path has: the last words of the segments before its placeholders."""
    before = ""
    for segment in path.split("/"):
        if "{" in segment:
            yield from terms(before)[-1:]
        else:
            before = segment or before


def _steps(row: Row) -> Iterator[str]:
    """Yield the marks of an operation that finds things by words, or reads one by its id alone."""
    if row.family != "read":
        return
    needs = tuple(_needs(row.path))
    if len(needs) == 1 and row.path.endswith("}"):
        yield READS + needs[0]
    by_words = any(
        name in _STRING_QUERIES and parameter.schema.get("type") == "string"
        for name, parameter in row.shown_parameters.items()
    )
    if "{" not in row.path and (by_words or not FINDING.isdisjoint(terms(row.name)[:1])):
        things = (*terms(row.resource), *terms(row.path.rsplit("/", 1)[-1]), *terms(row.returns["name"]))
        yield from (FINDS, *(FINDS + thing for thing in dict.fromkeys(things)))
