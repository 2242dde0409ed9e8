"""The last stage: the exchanges of a call, then its answer with pages, chosen fields and warnings, bounded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..calls import Exchanges, apart
from ..envelope import CallWarning
from ..errors import invalid
from ..schema import at
from ..table import Row
from ..text import line, tokens_of
from . import ToolCall

if TYPE_CHECKING:
    from ..calls.selection import Selected, Selection
    from ..paging.listing import ListQuery
    from ..paging.page import Page
    from ..paging.pager import Pager
    from ..state.locks import Turns
    from ..wire import ApiResponse
    from . import Calls

_SMALL = 200
"""Tokens of an answer that no default cuts."""

_LONGEST_TOKEN = 16
"""Bytes a token from which on an answer is not small, whatever is in it."""

_MOST_PATHS = 8
_MOST_FIELDS, _LONGEST_PATH = 500, 200

_QUERYING = frozenset({"where", "order_by", "aggregate"})
"""The parameters that ask something of a list beside its page."""


class Performer:
    """Performs calls that were let through; what comes `after` an answer may add to its data."""

    def __init__(self, calls: Calls, after: Sequence[Callable[[ToolCall, Exchanges, Any], Awaitable[Any]]]) -> None:
        self._api, self._hooks, self._table = calls.api, calls.hooks, calls.table
        self._rules, self._gate, self._state = calls.rules, calls.gatekeeper, calls.state
        self._after = after

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
        from ..calls.selection import Selection

        return Selection(self._table)

    async def perform(self, call: ToolCall) -> Any:
        """Send what is needed, if it is what was approved, and return the data in the tokens that they may have."""
        row, params = call.row, call.params
        exchanges = Exchanges(self._api, self._hooks, call.hooked, call.approval, self._gate, call.altered_by)
        call.exchanges = exchanges
        call.warnings.extend(self._rules.before(row, params) or ())
        # Parameters for the adapter, not for the API; one gives way to the API's of its name, which keeps it.
        options = {row.parameters[name].wire: params[name] for name in row.adapter_parameters if name in params}
        _check_fields(options.get("fields"))
        params = row.api_params(params)
        answer = _Answer(self._query(options, row))
        if row.paging is not None:
            await self._read_pages(answer, row, params, options, exchanges)
        else:
            response = await self._answered(exchanges, call, params, options)
            answer.data = await exchanges.decode(response, row, params)
            if row.adapter_parameters or row.update is not None:
                await self._read_whole(answer, row, params, exchanges)
        fitted = self._shaped(answer, call, options, exchanges)
        page = answer.page
        if page is not None and isinstance(fitted, dict) and fitted is not answer.data:
            await page.prepare()
            fitted = {**fitted, "pageInfo": page.info(len(fitted["items"]))}
        for add in self._after:
            fitted = await add(call, exchanges, fitted)
        if row.has_header_metadata or row.family != "read":
            self._note_headers(call, exchanges.last, fitted)
        return fitted

    def _note_headers(self, call: ToolCall, last: ApiResponse | None, data: Any) -> None:
        headers = {} if last is None else self._api.of(call.row).told_headers(last, call.row, data)
        if headers:
            call.notes["headers"] = headers

    def _answered(
        self, exchanges: Exchanges, call: ToolCall, params: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Awaitable[ApiResponse]:
        """Return the API's answer to a call that has no pages."""
        etag = options.get("if_match")
        if call.row.update is None and etag is None:
            return exchanges.send(call.row, params)
        return self._updated(exchanges, call, params, etag)

    async def _updated(
        self, exchanges: Exchanges, call: ToolCall, params: Mapping[str, Any], etag: str | None
    ) -> ApiResponse:
        """Return the API's answer to an update, or to a call about a certain version."""
        row = call.row
        from ..calls.update import perform

        response, warnings = await perform(exchanges, row, self._table, params, etag, self._turns)
        call.warnings.extend(warnings)
        return response

    async def _read_pages(
        self, answer: _Answer, row: Row, params: Mapping[str, Any], options: Mapping[str, Any], exchanges: Exchanges
    ) -> None:
        """Get the page, or the pages that a query needs."""
        query = answer.query
        listing = self._pager.listing(exchanges, row, params, {} if query is None else query.asked)
        if query is None:
            page = await self._pager.page(listing, options)
            answer.page, answer.data, answer.signs = page, page.data(), page.signs
            return
        asked = {name: value for name, value in options.items() if name != "after" or query.order is None}
        pages = self._pager.pages(listing, asked)
        if query.aggregates is not None:
            answer.data = await query.aggregated(pages)
        else:
            answer.page = await (query.filtered if query.order is None else query.ordered)(pages)
            answer.data = answer.page.data()
        answer.signs = query.signs

    async def _read_whole(self, answer: _Answer, row: Row, params: Mapping[str, Any], exchanges: Exchanges) -> None:
        """Look at what is no page: its version, what speaks for more items, and what the query wants of them."""
        assert exchanges.last is not None  # noqa: S101 - something was sent
        headers, shows_etag = exchanges.last.headers, row.etag or (row.update is not None and row.update.etag)
        if isinstance(answer.data, dict) and "etag" in headers and shows_etag:
            answer.data = {"_etag": headers["etag"], **answer.data}  # a field of the API stays
        answer.signs = self._signs(answer.data, row, params, exchanges)
        if answer.query is not None:
            queried = partial(self._queried, answer.data, row, answer.query)
            answer.data = await apart(len(exchanges.last.content), queried)

    def _shaped(self, answer: _Answer, call: ToolCall, options: Mapping[str, Any], exchanges: Exchanges) -> Any:
        """Return the data in the fields asked for, bounded, and add the warnings about them."""
        row, last, query, rules = call.row, exchanges.last, answer.query, self._rules
        assert last is not None  # noqa: S101 - something was sent
        paged = answer.page is not None
        self._note_completeness(answer, call, last)
        selected = None
        fields = options.get("fields", row.default_fields)
        if row.selector and (query is None or query.aggregates is None):
            absent = self._absent(answer.data, row, options.get("fields"), paged=paged)
            if absent is not None:
                call.warn(absent)
            selected = self._select(answer, call, fields, len(last.content))
        rules.after(row, last, exchanges.seconds, call.warnings, call.params)
        call.stamp.last = last
        gathered, most = query is not None, call.request.max_tokens
        change = None if selected is None else selected.change
        fitted = rules.fit(
            answer.data, row, last, call.warnings, page=paged, gathered=gathered, most=most, change=change, asked=fields
        )
        if selected is not None:
            _note_fields(call, fields, selected)
        return fitted

    def _note_completeness(self, answer: _Answer, call: ToolCall, last: ApiResponse) -> None:
        """Note whether there may be more of a list, and what a query did not see of it."""
        query = answer.query
        if query is not None and query.aggregates is not None and (counted := self._selection.counted(call.row)):
            call.notes["counted"] = counted
        if query is not None and query.total is not None:
            call.notes["complete"] = False
            call.notes["totalCount"] = query.total
        if answer.signs:
            from ..paging.listing import partial_warning

            call.warn(partial_warning(answer.signs, counted=query is not None))
        more = query is not None and query.more
        if answer.signs or (more and answer.page is None):
            call.notes["complete"] = False if more else "unknown"
        if query is not None:
            call.warnings.extend(query.warnings(declares=lambda field: self._selection.declares(call.row, field)))
            if isinstance(query.only_item, str) and last.content[:1] not in (b"[", b"{"):
                from ..paging.listing import no_list

                raise no_list()  # a text in place of the list

    def _query(self, options: Mapping[str, Any], row: Row) -> ListQuery | None:
        """Return the query of a list in the options; None without one. Raises Failure if it cannot be read."""
        if not options.keys() & _QUERYING and (row.paging is not None or "first" not in options):
            return None
        from ..paging.listing import read_query

        return read_query(options, lambda path: self._selection.agent_path(row, path))

    def _signs(self, data: Any, row: Row, params: Mapping[str, Any], exchanges: Exchanges) -> Mapping[str, Any]:
        """Return the signs that the API has more items than a list in one answer, by their names."""
        holds_list = any(row.parameters[name].wire == "where" for name in row.adapter_parameters)
        if row.family != "read" or not (isinstance(data, list) or (isinstance(data, dict) and holds_list)):
            return {}
        path = self._selection.path_of_list(row) if isinstance(data, dict) else ()
        items = at(data, path)
        if not isinstance(items, list) or exchanges.last is None:
            return {}
        from ..paging import signs_of_bound, signs_of_more

        bounds = signs_of_bound(row, params, len(items))
        return {**bounds, **signs_of_more(data, path, len(items), exchanges.last, exchanges.request)}

    def _queried(self, data: Any, row: Row, query: ListQuery) -> Any:
        """Return the data of a whole list with the items that match, or the aggregates over them."""
        from ..paging.listing import at_list

        path = self._selection.path_of_list(row) if isinstance(data, dict) else ()
        data = at_list(data, path, query.over)
        return data if query.aggregates is None else {"aggregations": query.aggregates.results()}

    def _absent(self, data: Any, row: Row, fields: Any, *, paged: bool) -> CallWarning | None:
        """Return the warning about requested fields that are nowhere in the data, None if there are none."""
        if not isinstance(fields, list) or not isinstance(data, (dict, list)):
            return None
        absent = self._selection.absent(data, row, fields, "items" if paged else None)
        if not absent:
            return None
        from ..calls.absent import named_with_nearest
        from ..paging.listing import UNKNOWN_FIELD

        message = f"The answer has no field {named_with_nearest(absent)}"
        details = {"param_name": "fields", "fields": [line(name, 64) for name in absent]}
        return CallWarning(UNKNOWN_FIELD, message, "medium", details)

    def _select(self, answer: _Answer, call: ToolCall, fields: Any, length: int) -> Selected | None:
        """Cut the data down to the requested fields; `_meta` says what a default leaves out.

        The items of a long list are cut down as they are fitted into the answer: then the way is returned. A default
        cuts no small answer, left out or given, except secrets of a write that a read gives. `length` is that of
        the API's answer in bytes.
        """
        row, data = call.row, answer.data
        if fields == "full" or not data:
            return None
        changes = call.params.get("input") if row.family == "update" else None
        place = None if answer.page is None else "items"
        selected = self._selection.select(data, row, fields, place, changes)
        items = selected.data if place is None else selected.data[place]
        is_short = length <= _SMALL * _LONGEST_TOKEN
        if isinstance(items, list) and selected.path == ((place,) if place else ()) and not is_short:
            answer.data = selected.data
            return selected
        answer.data = selected.whole()
        # The estimate of tokens comes last: it costs more than the selection.
        if selected.differs and fields == row.default_fields and is_short:
            whole = data if row.family == "read" else self._selection.without_secrets(data, row)
            if tokens_of(whole) <= _SMALL:
                answer.data = whole
                selected.differs = whole != data
        _note_fields(call, fields, selected)
        return None


@dataclass(slots=True)
class _Answer:
    """The answer of the API as it is read; `signs` speak for more items than it has."""

    query: ListQuery | None
    data: Any = None
    page: Page | None = None
    signs: Mapping[str, Any] = field(default_factory=dict)


def _check_fields(fields: Any) -> None:
    """Raise Failure for more, or longer, paths of fields than an answer is searched for."""
    if isinstance(fields, list) and (len(fields) > _MOST_FIELDS or max(map(len, fields), default=0) > _LONGEST_PATH):
        raise invalid("fields", f"Parameter 'fields' takes up to {_MOST_FIELDS} paths of {_LONGEST_PATH} characters")


def _note_fields(call: ToolCall, fields: Any, selected: Selected) -> None:
    """Note in `_meta` which fields a default or a preset left out."""
    row, is_default = call.row, fields == call.row.default_fields
    if not selected.differs or not (is_default or selected.shortened):
        return
    note = f"{fields}, the default" if is_default else f"{fields}"
    if row.family != "read":
        call.notes["fields"] = f"{note} of a write: read it for the rest"
        return
    if selected.shortened:
        paths = sorted(selected.shortened)
        note += f", shortens {', '.join(paths[:_MOST_PATHS])}{', …' if len(paths) > _MOST_PATHS else ''}"
    call.notes["fields"] = f"{note}: {row.selector} 'full' has all"
