"""Observations from the notes that an adapter kept while it ran (`learn.notes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from ..decode import declared_response
from ..dispatch.notes import Note, read_notes
from ..schema import admitted_types, as_schema, union_of
from ..settings.load import load
from ..state.custody import open_store
from ..table import Adapter, Row, Table
from ..text import listed
from .answers import of_updates
from .model import Fact, Observation
from .report import Report

_MOST_NAMED = 10


async def report_of_notes(folder: Path, environ: Mapping[str, str]) -> Report:
    """Return the observations of an adapter's notes; nothing is sent to the API. Raises ValueError without notes."""
    store = open_store(load(folder, environ).state_url, Adapter.load(folder).name, environ)
    try:
        observations = list(observations_of_notes(Table(folder), await read_notes(store)))
    finally:
        await store.close()
    if not observations:
        raise ValueError("there are no notes: set `learn.notes = true`, and let the adapter work")
    return Report(observations)


def observations_of_notes(table: Table, notes: Iterable[Note]) -> Iterator[Observation]:
    """Yield the observations of notes; those of operations that the adapter no longer has are left out."""
    rows = {row.key: row for name, family in table.names() if (row := table.find(name, family)) is not None}
    known = sorted(note for note in notes if note.key in rows)
    for (key, fact), group in groupby(known, lambda note: (note.key, note.fact)):
        of_fact = list(group)
        when = f"from {min(note.first for note in of_fact)} to {max(note.last for note in of_fact)}"
        names = listed([note.path for note in of_fact], _MOST_NAMED)
        if fact == "types":
            texts = [f"'{note.path or 'the answer'}' is {note.kind} {note.count} times" for note in of_fact]
            yield Observation(key, Fact.TYPES, f"{', '.join(texts[:_MOST_NAMED])}, {when}")
            yield from of_updates(table, rows[key], {(note.path, note.kind) for note in of_fact})
        elif fact == "update":
            yield Observation(key, Fact.UPDATE, f"{names} changed with it unnamed, {when}")
        else:
            says = f"{names} led on, which the adapter does not follow, {when}"
            yield Observation(key, Fact.PAGES, says, _followed(table, rows[key], of_fact[0]), certain=False)


def _followed(table: Table, row: Row, note: Note) -> dict[str, Any]:
    """Return the `pagination` that follows an address; {} without one, or without exactly one list in the document."""
    schema = as_schema(declared_response(row, 200).get("schema"))
    fields = dict(union_of(table.types, schema).properties.values())
    arrays = [f"/{wire}" for wire, inner in fields.items() if "array" in admitted_types(inner, table.types)]
    places = [""] if "array" in admitted_types(schema, table.types) else arrays
    if len(places) != 1 or not note.kind.startswith("address"):
        return {}
    by_header = {"style": "link", "next": note.path.title(), "next_in": "header"}
    by_field = {"style": "next_url", "next": "/" + note.path.replace(".", "/")}
    return {"pagination": {**(by_header if note.kind.endswith("header") else by_field), "items": places[0]}}
