"""The way of a request from its arguments to its envelope (specification, 3.2; R-REQ-1 to 6, R-BAT-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from . import arguments as form
from .arguments import Request
from .config import Config
from .envelope import Envelope, Stamp, success
from .errors import Code, Failure
from .hooks import Call, Hooks
from .introspection import Introspection
from .limits import Limits
from .log import Logger
from .session import Session
from .table import Adapter, Row, Table
from .tools import tool_name

if TYPE_CHECKING:
    from .wire import ApiRequest, ApiResponse

__all__ = ["ApiSide", "Dispatcher"]


class ApiSide(Protocol):
    """What the dispatcher needs of the API's side; `api.Api` is it."""

    def validate(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Give the parameters under agent names with defaults applied. Raises Failure, all problems in one."""
        ...

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Make the request. Raises Failure when a credential or the base URL is missing."""
        ...

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send it. Raises Failure when the API cannot be reached."""
        ...

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Give the data under agent names. Raises Failure for an error of the API (R-ERR-2)."""
        ...


class Dispatcher:
    """Answers every call of every tool. One instance serves all sessions, concurrently."""

    def __init__(
        self,
        adapter: Adapter,
        table: Table,
        api: ApiSide,
        config: Config,
        hooks: Hooks | None = None,
        logger: Logger | None = None,
    ) -> None:
        self.adapter = adapter
        self.table = table
        self.config = config
        self.introspection = Introspection(adapter, table, config)
        self._api = api
        self._hooks = hooks or Hooks()
        self._log = logger or Logger(config.log_level)
        self._limits = Limits(config)

    async def handle(
        self, family: str | None, arguments: Mapping[str, Any] | None, session: Session | None = None
    ) -> Envelope:
        """Answer the call of one tool; `family` is None for the tool of every operation. Never raises Exception."""
        stamp = Stamp()
        arguments = arguments or {}
        session = session or Session()
        try:
            self._limits.check(arguments)
            batch = form.batch(arguments)
            if batch is not None:
                return await self._batch(family, batch, stamp, session)
            request = form.single(arguments)
        except Failure as failure:
            return failure.envelope()
        return await self._answer(family, request, stamp, session)

    async def _answer(
        self, family: str | None, request: Request, stamp: Stamp, session: Session, *, inner: bool = False
    ) -> Envelope:
        """Answer one operation; `inner` when it stands in a batch, whose results carry no `_meta`."""
        try:
            if request.operation == "introspect":
                self._check_family(family, request.operation, "read")
                return self.introspection.answer(request.params, session.id)
            row = self._find(family, request.operation)
            data = await self._call(row, request, stamp, session)
        except Failure as failure:
            return failure.envelope()
        except Exception as error:  # noqa: BLE001 - the one place where the unexpected ends
            self._log.exception(
                "unexpected failure",
                error,
                request_id=stamp.request_id,
                operation=request.operation,
                session_id=session.id,
            )
            return _internal(stamp).envelope()
        return success(data, None if inner else stamp.meta())

    async def _call(self, row: Row, request: Request, stamp: Stamp, session: Session) -> Any:
        api, hooks = self._api, self._hooks
        params = api.validate(row, request.for_row(row))
        if not hooks:
            return api.decode(await api.send(api.build(row, params), row), row, params)
        call = Call(row.name, params, row.family, stamp.request_id, session.id, request.metadata(row))
        changed = await hooks.on_call(call)
        if changed is not call:
            call, params = changed, api.validate(row, changed.params)
        sent = await hooks.on_send(api.build(row, params), call)
        response = await hooks.on_response(await api.send(sent, row), call)
        return api.decode(response, row, params)

    def _find(self, family: str | None, operation: str) -> Row:
        row = self.introspection.find(operation, family)
        if row is None:
            raise self.introspection.unknown(operation)
        self._check_family(family, row.name, row.family)
        return row

    def _check_family(self, family: str | None, operation: str, expected: str) -> None:
        if family is None or family == expected:
            return
        right, wrong = tool_name(self.config, expected), tool_name(self.config, family)
        raise Failure(
            Code.ENDPOINT_MISMATCH,
            f"Operation '{operation}' must be called through '{right}', not '{wrong}'",
            {"operation": operation, "expected_endpoint": expected.upper(), "actual_endpoint": family.upper()},
        )

    async def _batch(self, family: str | None, batch: list[Any], stamp: Stamp, session: Session) -> Envelope:
        """Answer a batch in order; an operation that fails does not stop those after it."""
        results: list[dict[str, Any]] = []
        succeeded = 0
        for index, item in enumerate(batch):
            named = item.get("operation") if isinstance(item, Mapping) else None
            operation = named if isinstance(named, str) else ""
            try:
                result = await self._answer(family, form.item(item), stamp, session, inner=True)
            except Failure as failure:
                result = failure.envelope()
            succeeded += result["success"]
            results.append({"index": index, "operation": operation, "result": result})
        envelope = success(None, stamp.meta())
        envelope["results"] = results
        envelope["summary"] = {"total": len(batch), "succeeded": succeeded, "failed": len(batch) - succeeded}
        return envelope


def _internal(stamp: Stamp) -> Failure:
    return Failure(
        Code.INTERNAL_ERROR,
        "Internal error: the adapter could not finish this call. If it stays, tell the adapter's owner the request_id.",
        {"request_id": stamp.request_id},
    )
