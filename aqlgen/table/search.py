"""The index of operations that `introspect` searches: the words of each row, weighted by where they stand.

A word counts by where it stands (`postings.WEIGHTS`): names, summary and path tell operations apart, tags, parameters
and the fields of requests and answers bring in what the names do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from aqlgen.ir import Json
from aqlgen.runtime.introspection.postings import WEIGHTS, Entry, index_text, name_weights
from aqlgen.runtime.introspection.synonyms import FINDS
from aqlgen.runtime.introspection.terms import terms
from aqlgen.runtime.table import Parameter, Row
from aqlgen.table.model import DecidedRow, Schema, Table

__all__ = ["entries", "search_index"]

_DEEPER = 0.75
"""The share of the weight that a field has one level deeper."""
_DEEPEST = 2
_HOLDING = frozenset({"$ref", "properties", "items", "additionalProperties", "allOf", "anyOf", "oneOf"})
"""Keywords under which a schema has fields."""
_MOST_TERMS = 200
_MOST_FIELDS = 600
_MOST_OPEN = 16
_MOST_VALUES = 40
_DESCRIPTION = 600
_STRING_QUERIES = frozenset({"q", "query", "search", "keyword", "keywords", "text", "term", "search_query"})


def search_index(table: Table) -> str:
    """Return the text of the index."""
    return index_text(entries(table))


def entries(table: Table) -> Iterator[Entry]:
    """Yield every row as it is indexed."""
    fields = _Fields(table.types)
    titles = {name: section.title for name, section in table.adapter.apis.items()}
    for decided in table.rows:
        row = decided.row
        yield Entry(
            row.name,
            row.family,
            row.danger,
            row.resource,
            row.summary,
            _weights(decided, fields, titles),
            tuple(dict.fromkeys(_needs(row.path))),
            tuple(_finds(row)),
            tuple(_reads(row)),
            tuple(_lists(row)),
            tuple(dict.fromkeys(_takes(row))),
        )


class _Fields:
    """The fields of schemas as terms, each with the depth at which it stands first."""

    def __init__(self, types: Mapping[str, Schema]) -> None:
        self._types = types
        self._of_type = cache(self._read_type)
        self._open: set[tuple[str, int]] = set()

    def terms_of(self, schema: Json) -> Mapping[str, int]:
        depths: dict[str, int] = {}
        if _holds_fields(schema):
            self._collect(schema, 0, depths, 0)
        return depths

    def _read_type(self, name: str, depth: int) -> Mapping[str, int]:
        depths: dict[str, int] = {}
        if depth < _DEEPEST and (name, depth) not in self._open and len(self._open) < _MOST_OPEN:
            self._open.add((name, depth))
            self._collect(self._types.get(name, {}), depth, depths, 0)
            self._open.remove((name, depth))
        return depths

    def _collect(self, schema: Json, depth: int, depths: dict[str, int], level: int) -> None:
        if not isinstance(schema, dict) or depth >= _DEEPEST or level > 24 or len(depths) > _MOST_FIELDS:
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if level < 16:
                for term, deep in self._of_type(reference.rsplit("/", 1)[-1], depth).items():
                    depths[term] = min(deep, depths.get(term, deep))
            return
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name, inner in properties.items():
                _note(str(name), depth, depths)
                if isinstance(inner, dict):
                    for value in _values(inner):
                        _note(value, depth + 1, depths)
                if _holds_fields(inner):
                    self._collect(inner, depth + 1, depths, level + 1)
        for key in ("items", "additionalProperties"):
            if _holds_fields(inner := schema.get(key)):
                self._collect(inner, depth, depths, level + 1)
        for key in ("allOf", "anyOf", "oneOf"):
            options = schema.get(key)
            for option in options[:20] if isinstance(options, list) else ():
                self._collect(option, depth, depths, level + 1)


def _holds_fields(schema: Json) -> bool:
    return isinstance(schema, dict) and not _HOLDING.isdisjoint(schema)


def _note(text: str, depth: int, depths: dict[str, int]) -> None:
    for term in terms(text[:100]):
        depths[term] = min(depth, depths.get(term, depth))


def _values(schema: Mapping[str, Json]) -> Iterator[str]:
    values = schema.get("enum")
    if isinstance(values, list):
        yield from (value for value in values[:_MOST_VALUES] if isinstance(value, str))


def _weights(decided: DecidedRow, fields: _Fields, titles: Mapping[str, str]) -> dict[str, int]:
    """Return the terms of a row with their weights, the heaviest first if there are too many.

    `titles` are those of several APIs by their names.
    """
    row = decided.row
    weights = name_weights(row.name, row.resource, row.summary, row.path)
    if _is_me(row):
        _put(weights, _ASKER, WEIGHTS["operation id"])
    _put(weights, terms((row.operation_id or "")[:100]), WEIGHTS["operation id"])
    if row.api:
        _put(weights, terms(f"{row.api} {titles[row.api]}"[:100]), WEIGHTS["resource"])
    for tag in decided.decision.operation.tags[:10]:
        _put(weights, terms(str(tag)[:100]), WEIGHTS["tags"])
    _put(weights, terms(row.description[:_DESCRIPTION]), WEIGHTS["description"])
    for name, parameter in row.shown_parameters.items():
        _put_parameter(weights, name, parameter, fields)
    for status, response in row.responses.items():
        if status[:1] == "2":
            _put_fields(weights, fields.terms_of(response.get("schema")), WEIGHTS["answer"])
    heaviest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TERMS]
    return {term: max(1, round(weight)) for term, weight in heaviest}


def _put(weights: dict[str, float], added: Iterable[str], weight: float) -> None:
    for term in added:
        if weights.get(term, 0) < weight:
            weights[term] = weight


def _put_fields(weights: dict[str, float], depths: Mapping[str, int], weight: float) -> None:
    by_depth = [weight * _DEEPER**depth for depth in range(_DEEPEST + 1)]
    for term, depth in depths.items():
        if weights.get(term, 0) < by_depth[depth]:
            weights[term] = by_depth[depth]


def _put_parameter(weights: dict[str, float], name: str, parameter: Parameter, fields: _Fields) -> None:
    if parameter.location == "adapter":
        return
    _put(weights, terms(name), WEIGHTS["parameter"])
    _put(weights, terms(parameter.description[:200]), WEIGHTS["parameter text"])
    for value in _values(parameter.schema):
        _put(weights, terms(value[:100]), WEIGHTS["parameter"])
    _put_fields(weights, fields.terms_of(parameter.schema), WEIGHTS["request"])


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _needs(path: str) -> Iterator[str]:
    """Yield the things whose ids a path has: the last words of the segments before its placeholders."""
    before = ""
    for segment in _segments(path):
        if "{" in segment:
            yield from terms(before)[-1:]
        else:
            before = segment


def _takes(row: Row) -> Iterator[str]:
    """Yield the things of which an operation may take ids beside its path: the last words of its parameters."""
    for name, parameter in row.shown_parameters.items():
        if parameter.location not in ("adapter", "path"):
            yield from terms(name)[-1:]


def _things(row: Row) -> Iterator[str]:
    static = [segment for segment in _segments(row.path) if "{" not in segment]
    yield from dict.fromkeys((*terms(row.resource), *terms(" ".join(static[-1:])), *terms(row.returns["name"])))


def _finds(row: Row) -> Iterator[str]:
    """Yield the things that an operation finds by words."""
    by_words = any(
        name in _STRING_QUERIES and parameter.schema.get("type") == "string"
        for name, parameter in row.shown_parameters.items()
    )
    if (
        row.family == "read"
        and "{" not in row.path
        and (by_words or (row.verb if row.api else row.name.split("_")[0]) in FINDS)
    ):
        yield from ("", *_things(row))


def _reads(row: Row) -> Iterator[str]:
    """Yield the thing that an operation reads by its id alone."""
    needs = tuple(_needs(row.path))
    if row.family == "read" and len(needs) == 1 and row.path.endswith("}"):
        yield needs[0]


def _lists(row: Row) -> Iterator[str]:
    """Yield the things that an operation brings without an id."""
    if row.family == "read" and "{" not in row.path:
        if row.relative == "list":
            yield from terms(row.resource)[-1:]
        if _is_me(row):
            yield "user"


def _is_me(row: Row) -> bool:
    """Return True if an operation brings the one who asks."""
    return row.family == "read" and "{" not in row.path and "".join(_segments(row.path)[-1:]).lower() in _ME


_ME = frozenset({"me", "self", "whoami", "@me", "current", "myself", "current_user", "currentuser", "user"})
"""Last segments of the paths that bring the one who asks."""
_ASKER = terms("current user profile account")
"""What people say of the one who asks."""
