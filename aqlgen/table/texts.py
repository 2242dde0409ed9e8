"""All that agents read of an API through its adapter: names, texts, and values as they are shown.

The hash of it stands in the provenance of a project, so that other words in a regenerated project are noticed although
no schema and no code changed.
"""

from __future__ import annotations

from aqlgen.ir import Json
from aqlgen.runtime.table import encode
from aqlgen.table.model import DecidedRow, Table

__all__ = ["agent_texts"]

_KEYS = ("summary", "description", "confirmation", "deprecation", "aliases", "parameters", "returns", "example")
"""The texts of a row that introspection shows, with its defaults, listed values and examples."""


def agent_texts(table: Table) -> dict[str, Json]:
    """Return what agents read: of the adapter, by operation, and by type."""
    adapter = encode(table.adapter)
    return {
        "adapter": {key: adapter.get(key) for key in ("name", "title", "description", "servers")},
        "operations": {row.name: _of_row(row) for row in table.rows},
        "types": dict(table.types),
    }


def _of_row(row: DecidedRow) -> dict[str, Json]:
    entry = row.as_json()
    return {"category": row.family} | {key: entry[key] for key in _KEYS if key in entry}
