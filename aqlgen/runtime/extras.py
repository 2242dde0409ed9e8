# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Calls that are more than one exchange, or give less than the whole answer: pages, updates, chosen fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .envelope import Stamp
    from .exchanges import Exchanges
    from .notices import Board, Notices
    from .paging import Pager
    from .selection import Selection
    from .state import State
    from .table import Row, Table

__all__ = ["Extras"]


class Extras:
    """Performs what the adapter adds to an operation; each part is made when first needed."""

    def __init__(self, table: Table, board: Board, state: State | None) -> None:
        self._table = table
        self._board = board
        self._state = state

    @cached_property
    def _pager(self) -> Pager:
        from .paging import Pager

        return Pager(self._table, self._state)

    @cached_property
    def _selection(self) -> Selection:
        from .selection import Selection

        return Selection(self._table)

    async def perform(
        self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], notices: Notices | None, stamp: Stamp
    ) -> tuple[Any, Notices | None]:
        """Send what is needed, and give the data with the warnings that there is reason for."""
        own = {name: params[name] for name in row.own if name in params}
        if own:
            params = {name: value for name, value in params.items() if name not in own}
        page = None
        if row.pagination is not None:
            page = await self._pager.page(exchanges, row, params, own)
            data: Any = page.data()
        else:
            response = await self._response(exchanges, row, params, own)
            data = exchanges.api.decode(response, row, params)
            if isinstance(data, dict) and "etag" in response.headers and _tagged(row):
                data = {**data, "_etag": response.headers["etag"]}
        last = exchanges.last
        assert last is not None  # noqa: S101 - something was sent
        if "fields" in row.own:
            data = self._chosen(data, row, own, stamp, paged=page is not None)
        notices = self._board.after(row, params, last, exchanges.seconds, notices)
        fitted, notices = self._board.fit(data, row, last, notices)
        if page is not None and isinstance(fitted, dict) and len(fitted.get("items", ())) < len(page.items):
            fitted = {**fitted, "pageInfo": page.info(len(fitted["items"]))}
        return fitted, notices

    async def _response(self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
        if row.update is None and "if_match" not in own:
            return await exchanges.send(row, params)
        from .update import perform

        return await perform(exchanges, row, self._table, params, own.get("if_match"))

    def _chosen(self, data: Any, row: Row, own: Mapping[str, Any], stamp: Stamp, *, paged: bool) -> Any:
        """Give the data with the fields that are asked for; what a default leaves out is told in `_meta`."""
        fields = own.get("fields")
        usual = fields if fields is not None else row.parameters["fields"].schema.get("default", "full")
        if usual == "full" or not data:
            return data
        chosen = self._selection.select(data, row, usual, "items" if paged else None)
        if fields is None and chosen != data:
            stamp.notes = {"fields": f"{usual}, the default: give fields 'full' for all of them"}
        return chosen


def _tagged(row: Row) -> bool:
    return row.etag or bool((row.update or {}).get("etag"))
