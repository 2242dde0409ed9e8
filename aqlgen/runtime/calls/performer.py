# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Performing a call with what the adapter adds to it: pages, updates, chosen fields, warnings, a bounded answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ..warnings.collector import CallWarning, Warnings

if TYPE_CHECKING:
    from ..paging.pager import Pager
    from ..state import State
    from ..table import Row, Table
    from ..warnings.rules import WarningRules
    from ..wire import ApiResponse
    from .exchanges import Exchanges
    from .selection import Selection
    from .turns import Turns

__all__ = ["Performer"]


class Notes(Protocol):
    """The part of a response's `_meta` that a call may add to; `dispatch.envelope.Stamp` has it."""

    notes: dict[str, Any] | None


class Performer:
    """Performs calls that are more than one exchange, or return less than the whole answer."""

    def __init__(self, table: Table, board: WarningRules, state: State | None) -> None:
        self._table = table
        self._board = board
        self._state = state

    @cached_property
    def _pager(self) -> Pager:
        from ..paging.pager import Pager

        return Pager(self._table, self._state)

    @cached_property
    def _turns(self) -> Turns:
        from .turns import Turns

        return Turns()

    @cached_property
    def _selection(self) -> Selection:
        from .selection import Selection

        return Selection(self._table)

    async def perform(
        self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], notices: Warnings | None, meta: Notes
    ) -> tuple[Any, Warnings | None]:
        """Send what is needed, and return the data and the warnings."""
        # Parameters for the adapter, not for the API.
        options = {name: params[name] for name in row.adapter_parameters if name in params}
        if options:
            params = {name: value for name, value in params.items() if name not in options}
        page = None
        if row.paging is not None:
            page = await self._pager.page(exchanges, row, params, options)
            data: Any = page.data()
        else:
            response, added = await self._response(exchanges, row, params, options)
            if added:
                notices = notices or Warnings()
                notices.extend(added)
            data = exchanges.api.decode(response, row, params)
            if isinstance(data, dict) and "etag" in response.headers and _shows_etag(row):
                data = {"_etag": response.headers["etag"], **data}  # a field of the API stays
        last = exchanges.last
        assert last is not None  # noqa: S101 - something was sent
        if "fields" in row.adapter_parameters:
            data = self._select(data, row, options, meta, paged=page is not None)
        notices = self._board.after(row, last, exchanges.seconds, notices)
        fitted, notices = self._board.fit(data, row, last, notices)
        if page is not None and isinstance(fitted, dict) and len(fitted.get("items", ())) < len(page.items):
            fitted = {**fitted, "pageInfo": page.info(len(fitted["items"]))}
        return fitted, notices

    async def _response(
        self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], options: Mapping[str, Any]
    ) -> tuple[ApiResponse, Sequence[CallWarning]]:
        if row.update is None and "if_match" not in options:
            return await exchanges.send(row, params), ()
        from .update import perform

        return await perform(exchanges, row, self._table, params, options.get("if_match"), self._turns)

    def _select(self, data: Any, row: Row, options: Mapping[str, Any], meta: Notes, *, paged: bool) -> Any:
        """Return the data with the requested fields; `_meta` says what a default leaves out."""
        requested = options.get("fields")
        fields = requested if requested is not None else row.parameters["fields"].schema.get("default", "full")
        if fields == "full" or not data:
            return data
        selected = self._selection.select(data, row, fields, "items" if paged else None)
        if requested is None and selected != data:
            meta.notes = {"fields": f"{fields}, the default: give fields 'full' for all of them"}
        return selected


def _shows_etag(row: Row) -> bool:
    return row.etag or (row.update is not None and row.update.etag)
