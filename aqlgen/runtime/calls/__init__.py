# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The exchanges with the API that one call needs, each through the owner's hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import Failure
from ..wire import QuotaPaused, current_spending

if TYPE_CHECKING:
    from ..client import ApiSide
    from ..hooks import Call, Hooks
    from ..table import Row
    from ..wire import ApiRequest, ApiResponse

__all__ = ["Approved", "Exchanges"]


class Approved(Protocol):
    """The approval of a call; `safety.approvals.Approval` implements it."""

    def check(self, row: Row, request: ApiRequest) -> None:
        """Raise Failure for a request of the approved operation that is another one than was approved."""
        ...

    def altered(self, hook: str) -> None:
        """Record that a hook of the owner changed the request."""
        ...


class Exchanges:
    """Sends the requests of one call; `seconds` is the API's time for all of them, `last` its answer to `request`.

    `admit` is asked about each request that another was made of, such as the whole of an update; it raises Failure.
    """

    __slots__ = ("_admit", "_approved", "_call", "_hooks", "api", "last", "request", "seconds")

    def __init__(
        self,
        api: ApiSide,
        hooks: Hooks,
        call: Call | None,
        approved: Approved | None = None,
        admit: Callable[[Row, Mapping[str, Any], ApiRequest, ApiRequest], None] | None = None,
    ) -> None:
        self.api = api
        self.seconds = 0.0
        self.last: ApiResponse | None = None
        self.request: ApiRequest | None = None
        self._hooks = hooks
        self._call = call
        self._approved = approved
        self._admit = admit

    async def send(
        self,
        row: Row,
        params: Mapping[str, Any],
        change: Callable[[ApiRequest], ApiRequest] | None = None,
        *,
        aside: bool = False,
    ) -> ApiResponse:
        """Build a request, apply `change`, send it and return the answer, which is not the call's if it is `aside`.

        Raises Failure when the API cannot be reached, and when the request is not the one that was approved. Where a
        write may have been carried out all the same, it says how to find out. Raises QuotaPaused for a request aside
        that somebody would have to be asked about.
        """
        api, call = self.api, self._call
        request = api.build(row, params)
        if self._approved is not None:
            self._approved.check(row, request)
        if change is not None:
            first, request = request, change(request)
            if self._admit is not None:
                self._admit(row, params, first, request)
        if call is not None:
            hooked = await self._hooks.on_send(request, call)
            if self._approved is not None and hooked != request:
                self._approved.altered("before_send")
            request = hooked
        if row.idempotency is not None:
            from ..client.idempotency import with_idempotency_key

            request = with_idempotency_key(request, row)
        begin, spending, response = perf_counter(), current_spending(), None
        try:
            while response is None:
                try:
                    response = await api.send(request, row)
                except QuotaPaused as paused:  # it is sent once somebody says so, and nobody is asked for one aside
                    if aside or spending is None:
                        raise
                    await spending.go_on(row, paused)
        except Failure as failure:
            raise self._advised(failure, row, params, request) from None
        self.seconds += perf_counter() - begin
        if call is not None:
            response = await self._hooks.on_response(response, call)
        if not aside:
            self.last, self.request = response, request
        return response

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Return the data of an answer that was sent for. Raises Failure for an error of the API, as `send` does."""
        try:
            return self.api.decode(response, row, params)
        except Failure as failure:
            raise self._advised(failure, row, params, self.request) from None

    def _advised(self, failure: Failure, row: Row, params: Mapping[str, Any], request: ApiRequest | None) -> Failure:
        """Return a failure with how to find out whether a write was carried out, and the key that it was sent with."""
        if "outcome" not in failure.details:
            return failure
        from ..decode.outcome import with_advice

        return with_advice(failure, row, params, self.api.table, "" if request is None else request.idempotency_key)
