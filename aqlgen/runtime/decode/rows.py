# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Tables of text as rows: CSV and TSV (RFC 4180; IANA, text/tab-separated-values).

Each row is an object under the names of the header line. Cells stay texts: "007" is no number.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from ..media import is_csv, media_type
from .attachments import CONTROLS

__all__ = ["read_rows"]

_DELIMITERS = (",", "\t", ";")
_MAX_CELLS = 200_000
_MAX_COLUMNS = 5_000
_FURTHER = "_further"
"""Key of the cells of a row that has more than the header line."""


def read_rows(text: str, content_type: str, promised: str) -> dict[str, Any] | None:
    """Return `{items}`, an object for each row, None for what is no table or too large for rows.

    Without a header line (`header=absent`) a row is an array. A table without rows has its `columns`.
    """
    if "\ufffd" in text or CONTROLS.search(text):
        return None
    delimiter = "\t" if "tab-separated" in media_type(content_type) else _sniffed(text)
    if text.count(delimiter) + text.count("\n") > _MAX_CELLS:
        return None
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return None
    if not rows or len(rows[0]) > _MAX_COLUMNS:
        return None
    if "header=absent" in content_type.replace(" ", "").lower():
        return {"items": rows}
    if len(rows) == 1:  # a header alone is a table where a table was promised, else it is any text
        return {"items": [], "columns": _columns(rows[0])} if is_csv(promised) and len(rows[0]) > 1 else None
    columns = _columns(rows[0])
    return {"items": [_as_object(columns, row) for row in rows[1:]]}


def _sniffed(text: str) -> str:
    """Return the delimiter that the header line has most of, outside quotes; a comma if it has none."""
    header = "".join(text.partition("\n")[0].split('"')[::2])
    return max(_DELIMITERS, key=header.count)


def _columns(header: Sequence[str]) -> list[str]:
    """Return the names of the columns: one without a name is called after its place, a repeated one gets a number."""
    columns: dict[str, None] = {}
    for place, cell in enumerate(header, 1):
        name = cell.strip() or f"column_{place}"
        if name in columns or name == _FURTHER:
            name = f"{name}_{place}"
        while name in columns:
            name += "_"
        columns[name] = None
    return list(columns)


def _as_object(columns: Sequence[str], row: Sequence[str]) -> dict[str, Any]:
    """Return a row by its columns; one that is shorter lacks the last of them."""
    item: dict[str, Any] = dict(zip(columns, row, strict=False))
    if len(row) > len(columns):
        item[_FURTHER] = list(row[len(columns) :])
    return item
