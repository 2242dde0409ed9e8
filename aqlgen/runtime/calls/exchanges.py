# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The exchanges with the API that one call needs, each through the owner's hooks, and the answer made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..hooks import Call, Hooks
    from ..paging.paging import Pager
    from ..state import State
    from ..table import Row, Table
    from ..warnings.collect import Board, Notices
    from ..wire import ApiRequest, ApiResponse
    from .selection import Selection

__all__ = ["ApiSide", "Exchanges", "Performer"]


class ApiSide(Protocol):
    """The API's side as the dispatcher uses it; `client.api.Api` implements it."""

    def validate(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters under agent names. Raises Failure, all problems in one."""
        ...

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build the request. Raises Failure when a credential or the base URL is missing."""
        ...

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send it. Raises Failure when the API cannot be reached."""
        ...

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Return the data under agent names. Raises Failure for an error of the API (R-ERR-2)."""
        ...

    def told(self, response: ApiResponse, row: Row) -> dict[str, str]:
        """Return the headers of an answer that the document declares and that carry information."""
        ...


class Notes(Protocol):
    """The part of a response's `_meta` that a call may add to; `dispatch.envelope.Stamp` has it."""

    notes: dict[str, Any] | None


class Exchanges:
    """Sends the requests of one call; `seconds` is the API's time for all of them, `last` its last answer."""

    __slots__ = ("_call", "_hooks", "api", "last", "seconds")

    def __init__(self, api: ApiSide, hooks: Hooks, call: Call | None) -> None:
        self.api = api
        self.seconds = 0.0
        self.last: ApiResponse | None = None
        self._hooks = hooks
        self._call = call

    async def send(
        self, row: Row, params: Mapping[str, Any], change: Callable[[ApiRequest], ApiRequest] | None = None
    ) -> ApiResponse:
        """Build a request, apply `change`, send it and return the answer.

        Raises Failure when the API cannot be reached.
        """
        api, call = self.api, self._call
        request = api.build(row, params)
        if change is not None:
            request = change(request)
        if call is not None:
            request = await self._hooks.on_send(request, call)
        begin = perf_counter()
        response = await api.send(request, row)
        self.seconds += perf_counter() - begin
        if call is not None:
            response = await self._hooks.on_response(response, call)
        self.last = response
        return response


class Performer:
    """Performs a call with what the adapter adds to it: pages, updates, chosen fields, warnings, a bounded answer."""

    def __init__(self, table: Table, board: Board, state: State | None) -> None:
        self._table = table
        self._board = board
        self._state = state

    @cached_property
    def _pager(self) -> Pager:
        from ..paging.paging import Pager

        return Pager(self._table, self._state)

    @cached_property
    def _selection(self) -> Selection:
        from .selection import Selection

        return Selection(self._table)

    async def perform(
        self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], notices: Notices | None, meta: Notes
    ) -> tuple[Any, Notices | None]:
        """Send what is needed, and return the data and the warnings."""
        options = {name: params[name] for name in row.own if name in params}  # for the adapter, not for the API
        if options:
            params = {name: value for name, value in params.items() if name not in options}
        page = None
        if row.pagination is not None:
            page = await self._pager.page(exchanges, row, params, options)
            data: Any = page.data()
        else:
            response = await self._response(exchanges, row, params, options)
            data = exchanges.api.decode(response, row, params)
            if isinstance(data, dict) and "etag" in response.headers and _shows_etag(row):
                data = {**data, "_etag": response.headers["etag"]}
        last = exchanges.last
        assert last is not None  # noqa: S101 - something was sent
        if "fields" in row.own:
            data = self._select(data, row, options, meta, paged=page is not None)
        notices = self._board.after(row, params, last, exchanges.seconds, notices)
        fitted, notices = self._board.fit(data, row, last, notices)
        if page is not None and isinstance(fitted, dict) and len(fitted.get("items", ())) < len(page.items):
            fitted = {**fitted, "pageInfo": page.info(len(fitted["items"]))}
        return fitted, notices

    async def _response(
        self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Any:
        if row.update is None and "if_match" not in options:
            return await exchanges.send(row, params)
        from .update import perform

        return await perform(exchanges, row, self._table, params, options.get("if_match"))

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
    return row.etag or bool((row.update or {}).get("etag"))
