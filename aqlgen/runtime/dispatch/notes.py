"""Notes of a running adapter about deviations of the API from its document, as an extension (`learn.notes`, R-LEARN-1).

A note has an operation, a path of names, a kind and a count: nothing of an answer's content. `aqlgen learn
--from-notes` turns notes into proposals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ..decode import declared_response
from ..envelope import CallWarning
from ..paging.listing import PARTIAL
from ..schema import JSON_TYPES, json_type
from ..schema.deviations import deviations
from ..state import StoreAway
from . import Extension, ToolCall

if TYPE_CHECKING:
    from ..calls import Exchanges
    from ..state import Store
    from . import Calls

_SPACE: Final = "learn_notes"
_MOST: Final = 500
"""Notes that are kept; one that comes again is counted."""
_LARGEST: Final = 1 << 20
"""Bytes of an answer that is compared with its type."""
_MOST_NAMED: Final = 10
_PLAIN: Final = re.compile(r"[A-Za-z_@$][A-Za-z0-9_.@$:\[\]-]{0,99}")


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """A deviation: the operation as `METHOD /path`, a fact (types, update or pages), a path, its kind, and when."""

    key: str
    fact: str
    path: str
    kind: str
    count: int
    first: str
    last: str


async def read_notes(store: Store) -> list[Note]:
    """Return the notes of a store, in the order of operations."""
    return sorted(Note(*value) for _, value in await store.items(_SPACE))


class Notes(Extension):
    """Keeps notes, and warns once of each difference from a declared type."""

    def __init__(self, calls: Calls) -> None:
        self._table = calls.table
        self._store = calls.state.shared.store
        self._warned: set[tuple[str, str, str]] = set()

    async def after(self, call: ToolCall, exchanges: Exchanges, data: Any) -> Any:
        """Note the deviations in an answer and in the warnings of its call, and return the data unchanged."""
        key = call.row.key
        differences = self._differences(call, exchanges)
        new = [pair for pair in differences if (key, *pair) not in self._warned]
        if new and len(self._warned) < _MOST:
            self._warned |= {(key, *pair) for pair in new}
            texts = ", ".join(f"'{path or 'the answer'}' is {kind}" for path, kind in new)
            message = f"The answer differs from its type in the API's document: {texts}"
            call.warn(CallWarning("VALIDATION_ANSWER_TYPE_WARNING", message, "low", {"operation": call.row.name}))
        noted = [("types", *pair) for pair in differences]
        noted += [note for note in _of_warnings(call.warnings, exchanges) if _PLAIN.fullmatch(note[1])]
        try:
            for note in noted:
                await self._keep(key, *note)
        except StoreAway:
            pass  # the call stands
        return data

    def _differences(self, call: ToolCall, exchanges: Exchanges) -> list[tuple[str, str]]:
        """Return the values of the last answer that differ from their type, as path and JSON type."""
        last = exchanges.last
        schema = None if last is None else declared_response(call.row, last.status).get("schema")
        if last is None or not schema or last.cut or len(last.content) > _LARGEST:
            return []
        try:
            seen = deviations(json.loads(last.content), schema, self._table)
        except (ValueError, RecursionError):
            return []
        return [pair for pair in seen.counts if pair[1] in JSON_TYPES][:_MOST_NAMED]

    async def _keep(self, key: str, fact: str, path: str, kind: str) -> None:
        """Count a note that is kept; keep another one while there is room."""
        name, today = "\n".join((key, fact, path, kind)), datetime.now(UTC).date().isoformat()
        while True:
            before = await self._store.get(_SPACE, name)
            if before is None and len(await self._store.items(_SPACE)) >= _MOST:
                return
            note = Note(key, fact, path, kind, 0, today, today) if before is None else Note(*before)
            if await self._store.swap(_SPACE, name, before, astuple(replace(note, count=note.count + 1, last=today))):
                return


def _of_warnings(warnings: list[CallWarning], exchanges: Exchanges) -> Iterator[tuple[str, str, str]]:
    """Yield the deviations of updates and lists that warnings name, as fact, path and kind."""
    for warning in warnings:
        details = warning.details or {}
        if warning.code == "VALIDATION_FIELDS_CHANGED_WARNING":
            yield from (("update", str(path), "changed") for path in details["fields"])
        elif warning.code == PARTIAL:
            signs = [(name, value) for name, value in details["signs"].items() if not name.startswith("parameter ")]
            for name, value in signs[:1]:
                is_address = str(value).startswith(("/", "?", "http://", "https://"))
                is_header = exchanges.last is not None and name in exchanges.last.headers
                yield "pages", name, f"address{' in a header' * is_header}" if is_address else json_type(value)
