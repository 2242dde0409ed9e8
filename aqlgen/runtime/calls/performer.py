# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Performing a call with what the adapter adds to it: pages, updates, chosen fields, warnings, a bounded answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ..schema.reader import at
from ..tokens import tokens_of
from ..warnings.collector import CallWarning, Warnings

if TYPE_CHECKING:
    from ..envelope import Paged
    from ..paging.pager import Pager
    from ..state.custody import State
    from ..state.locks import Turns
    from ..table import Row, Table
    from ..warnings.rules import WarningRules
    from ..wire import ApiResponse
    from .exchanges import Exchanges
    from .listing import ListQuery
    from .selection import Selection

__all__ = ["Performer"]

_SMALL = 200
"""Tokens of an answer that no default cuts."""

_LONGEST_TOKEN = 16
"""Bytes a token from which on an answer is not small, whatever is in it."""

_MOST_PATHS = 8


class Notes(Protocol):
    """The part of a response's `_meta` that a call may add to; `dispatch.envelope.Stamp` has it."""

    notes: dict[str, Any] | None
    page: Paged | None
    """The page that the answer is, which has a cursor behind each of its items."""


class Performer:
    """Performs calls that are more than one exchange, or return less than the whole answer."""

    def __init__(self, table: Table, board: WarningRules, state: State) -> None:
        self._table = table
        self._board = board
        self._state = state

    @cached_property
    def _pager(self) -> Pager:
        from ..paging.pager import Pager

        return Pager(self._table, self._state)

    @cached_property
    def _turns(self) -> Turns:
        from ..state.locks import Turns

        return Turns()

    @cached_property
    def _selection(self) -> Selection:
        from .selection import Selection

        return Selection(self._table)

    async def perform(
        self,
        exchanges: Exchanges,
        row: Row,
        params: Mapping[str, Any],
        notices: Warnings | None,
        meta: Notes,
        most: int | None = None,
    ) -> tuple[Any, Warnings | None]:
        """Send what is needed, and return the data in at most `most` tokens, if given, and the warnings."""
        # Parameters for the adapter, not for the API; one gives way to the API's of its name, which keeps it.
        call_params = params
        options = {row.parameters[name].wire: params[name] for name in row.adapter_parameters if name in params}
        if options:
            params = {name: value for name, value in params.items() if name not in row.adapter_parameters}
        query = self._query(options, row)
        page, more = None, False
        signs: Mapping[str, Any] = {}
        if row.paging is not None and query is not None:
            pages = self._pager.pages(exchanges, row, params, _for_pages(options))
            if query.aggregates is not None:
                data, more = await query.aggregated(pages)
                signs = query.signs
            else:
                page = await query.filtered(pages)
                data, more = page.data(), page.following is not None
        elif row.paging is not None:
            page = await self._pager.page(exchanges, row, params, options)
            data = page.data()
        else:
            response, added = await self._response(exchanges, row, params, options)
            if added:
                notices = notices or Warnings()
                notices.extend(added)
            data = exchanges.decode(response, row, params)
            if isinstance(data, dict) and "etag" in response.headers and _shows_etag(row):
                data = {"_etag": response.headers["etag"], **data}  # a field of the API stays
            signs = self._signs(data, row, params, exchanges)
            if query is not None:
                data = self._queried(data, row, query)
        last = exchanges.last
        assert last is not None  # noqa: S101 - something was sent
        signs = signs if page is None else page.signs
        if signs:
            from .listing import partial_warning

            notices = notices or Warnings()
            notices.extend([partial_warning(signs, counted=query is not None)])
        if signs or (more and page is None):
            meta.notes = {**(meta.notes or {}), "complete": False if more else "unknown"}
        if query is not None:
            notices = notices or Warnings()
            notices.extend(query.warnings(more=more, declares=lambda field: self._selection.declares(row, field)))
            if isinstance(query.only_item, str) and last.content[:1] not in (b"[", b"{"):
                from .listing import no_list

                raise no_list()  # a text in place of the list
        if row.selects and (query is None or query.aggregates is None):
            absent = self._absent(data, row, options.get("fields"), paged=page is not None)
            if absent is not None:
                notices = notices or Warnings()
                notices.extend([absent])
            changes = params.get("input") if row.family == "update" else None
            data = self._select(data, row, options, meta, len(last.content), changes, paged=page is not None)
        notices = self._board.after(row, last, exchanges.seconds, notices, call_params)
        whole, gathered = page is not None, query is not None
        fitted, notices = self._board.fit(data, row, last, notices, page=whole, gathered=gathered, most=most)
        meta.page = page
        if page is not None and isinstance(fitted, dict) and fitted is not data:
            await page.prepare()
            fitted = {**fitted, "pageInfo": page.info(len(fitted["items"]))}
        return fitted, notices

    def _query(self, options: Mapping[str, Any], row: Row) -> ListQuery | None:
        """Return what the options ask of a list; None if nothing. Raises Failure for what cannot be read."""
        if "where" not in options and "aggregate" not in options:
            return None
        from .listing import read_query

        return read_query(options, lambda path: self._selection.agent_path(row, path))

    def _signs(self, data: Any, row: Row, params: Mapping[str, Any], exchanges: Exchanges) -> Mapping[str, Any]:
        """Return what speaks for more items than a list has that the API gave in one answer."""
        if row.family != "read" or not (isinstance(data, list) or (isinstance(data, dict) and _lists(row))):
            return {}
        path = self._selection.path_of_list(row) if isinstance(data, dict) else ()
        items = at(data, path)
        if not isinstance(items, list) or exchanges.last is None:
            return {}
        from ..paging.signs import signs_of_bound, signs_of_more

        bounds = signs_of_bound(row, params, len(items))
        return {**bounds, **signs_of_more(data, path, len(items), exchanges.last, exchanges.request)}

    def _queried(self, data: Any, row: Row, query: ListQuery) -> Any:
        """Return the data of a whole list with the items that match, or the aggregates over them."""
        from .listing import at_list

        path = self._selection.path_of_list(row) if isinstance(data, dict) else ()
        data = at_list(data, path, query.over)
        return data if query.aggregates is None else {"aggregations": query.aggregates.results()}

    async def _response(
        self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], options: Mapping[str, Any]
    ) -> tuple[ApiResponse, Sequence[CallWarning]]:
        if row.update is None and "if_match" not in options:
            return await exchanges.send(row, params), ()
        from .update import perform

        return await perform(exchanges, row, self._table, params, options.get("if_match"), self._turns)

    def _absent(self, data: Any, row: Row, fields: Any, *, paged: bool) -> CallWarning | None:
        """Return the warning about requested fields that are nowhere in the data, None if there are none."""
        if not isinstance(fields, list) or not isinstance(data, (dict, list)):
            return None
        absent = self._selection.absent(data, row, fields, "items" if paged else None)
        if not absent:
            return None
        from .absent import named_with_nearest
        from .listing import UNKNOWN_FIELD

        message = f"The answer has no field {named_with_nearest(absent)}"
        return CallWarning(UNKNOWN_FIELD, message, "medium", {"param_name": "fields", "fields": list(absent)})

    def _select(
        self,
        data: Any,
        row: Row,
        options: Mapping[str, Any],
        meta: Notes,
        length: int,
        changes: Any = None,
        *,
        paged: bool,
    ) -> Any:
        """Return the data with the requested fields; `_meta` says what a default leaves out.

        A default cuts no small answer, left out or given, but for the secrets of a write that a read gives. `length` is
        that of the API's answer in bytes.
        """
        fields = options.get("fields", row.default_fields)
        by_default = fields == row.default_fields
        if fields == "full" or not data:
            return data
        selected, shortened = self._selection.select(data, row, fields, "items" if paged else None, changes)
        if selected == data or not (by_default or shortened):
            return selected
        # The estimate of tokens comes last: it costs more than the selection.
        if by_default and length <= _SMALL * _LONGEST_TOKEN:
            whole = data if row.family == "read" else self._selection.without_secrets(data, row)
            selected = whole if tokens_of(whole) <= _SMALL else selected
        if selected != data:
            meta.notes = {**(meta.notes or {}), "fields": _note(row, fields, shortened, default=by_default)}
        return selected


def _note(row: Row, fields: str | Sequence[str], shortened: frozenset[str], *, default: bool) -> str:
    """Return what `_meta` says of the fields that a preset leaves out."""
    note = f"{fields}, the default" if default else f"{fields}"
    if row.family != "read":
        return f"{note} of a write: read it for the rest, or give fields 'full' to the next"
    if shortened:
        paths = sorted(shortened)
        note += f", shortens {', '.join(paths[:_MOST_PATHS])}{', …' if len(paths) > _MOST_PATHS else ''}"
    return f"{note}: give fields 'full' for all of them"


def _for_pages(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in ("first", "after", "last", "before")}


def _lists(row: Row) -> bool:
    """Return True if the answer is a list, or holds one that items are chosen from."""
    return any(row.parameters[name].wire == "where" for name in row.adapter_parameters)


def _shows_etag(row: Row) -> bool:
    return row.etag or (row.update is not None and row.update.etag)
