"""Executions: work of the API that goes on after a call, as an agent follows it (R-LOOP-1; specification, 8.4).

What begins work returns a handle. What is asked with it takes the path of any call: the operation that tells the state,
or cancels, passes limits, gatekeeper, hooks and hosts as if it were called alone. A wait is bounded, and asks no sooner
than the API wants it. The work is the API's: it goes on when a session ends, and what ends with that is the waiting.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from ..calls import Exchanges
from ..decode.headers import retry_after
from ..encode.urls import counterparts
from ..envelope import Envelope, Stamp
from ..errors import Code, Failure
from ..executions.handles import BEGUN, Handle, Handles, Progress
from ..executions.places import cancel_of, named_place, target_at, target_of
from ..executions.states import ENDED, Condition, condition_of
from ..hooks import Call
from ..safety.operations import LONGEST_WAIT, STATUS
from ..state.custody import row_name
from ..table import Row
from ..text import iso_time
from ..warnings.ceiling import fit
from ..wire import at_host_of
from . import ToolCall
from .arguments import TOKEN, Request

if TYPE_CHECKING:
    from ..protocol_operations import Person
    from ..session import Session
    from ..table import LongRunning
    from ..wire import ApiRequest, ApiResponse
    from . import Calls

_PAUSES = (1, 2, 3, 5, 8)
"""Seconds between two questions where the API says nothing, the last again and again."""
_LONGEST_PAUSE = 3600
_FAILED = ("status: failed", "status: failure")
"""What declares a success to be a failure, and is of the work rather than of the question."""
_MOST_WAITING = 100
"""Calls that wait at a time; a further one is answered at once."""


class Executions:
    """The handles of what calls began, and the two operations that take them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._api = calls.api
        self._hooks = calls.hooks
        self._handles = Handles(calls.state.shared)
        self._waiting = 0

    async def begun(self, row: Row, params: Mapping[str, Any], exchanges: Exchanges, data: Any) -> Any:
        """Return the data of a call that began work, with its execution; the same data if nothing goes on.

        Where the API sent no data, the execution is the data. It stands in `_execution` of an object, beside the API's
        own fields. Whatever happens here, the call was carried out, and its data are returned.
        """
        request, response, work = exchanges.request, exchanges.last, row.long_running
        if request is None or response is None or work is None:
            return data
        try:
            execution = await self._execution(row, params, request, response, work)
        except Exception as error:  # a call that was carried out is no failure
            self._calls.log.exception("the work of a call cannot be followed", error, operation=row.name)  # noqa: TRY401
            return data
        if execution is None:
            return data
        if (begun := BEGUN.get()) is not None:
            begun.append(execution)
        if not response.content:
            return {**execution, **{key: value for key, value in (data or {}).items() if key not in execution}}
        return {"_execution": execution, **data} if isinstance(data, dict) else {**execution, "data": data}

    async def _execution(
        self, row: Row, params: Mapping[str, Any], request: ApiRequest, response: ApiResponse, work: LongRunning
    ) -> dict[str, Any] | None:
        """Return the execution that an answer begins; None if nothing goes on, or nothing says what to ask."""
        whole = self._api.of(row).decode(response, row, params) if response.content else None
        place = named_place(response.headers, accepted=response.status == 202)
        condition = _begun(response.status, condition_of(response.status, whole, work.state), work, place)
        if condition is None:
            return None
        target = None if place is None else target_at(place, row, request, self._calls.table)
        target = target or target_of(row, params, whole, self._calls.table)
        if target is None:
            return None
        handle = Handle(row.name, int(time.time()), *target)
        text = await self._handles.write(handle)
        if text is None:
            return None
        condition = condition._replace(wait=_wait_of(response))
        return {**self._told(text, handle, condition), "follow_with": STATUS}

    async def status(self, params: dict[str, Any], session: Session, person: Person | None) -> dict[str, Any]:
        """Answer get_execution_status. Raises Failure where the API cannot be asked, or no more about this.

        Of a batch only the first operation waits, so that the whole of it takes no longer than a call.
        """
        text = params["execution_id"]
        handle = await self._handles.read(text, time.time())
        until = anyio.current_time() + min(params.get("wait_seconds", 0), LONGEST_WAIT)
        look = await self._look(handle, session, person)
        batched = person is not None and person.batched
        if until > anyio.current_time() and self._waiting < _MOST_WAITING and not batched:
            self._waiting += 1
            try:
                look = await self._wait(text, handle, look, until, session, person)
            finally:
                self._waiting -= 1
        return {"operation": handle.operation, **self._told(text, handle, self._bounded(look))}

    async def cancel(self, params: dict[str, Any], session: Session, person: Person | None) -> dict[str, Any]:
        """Answer cancel_execution. Raises Failure where the API cannot cancel it, or did not."""
        text = params["execution_id"]
        handle = await self._handles.read(text, time.time())
        row, arguments = self._cancelling(handle, session)
        beside = {TOKEN: params[TOKEN]} if TOKEN in params else {}
        stamp = Stamp()
        call = ToolCall(None, Request(row.name, arguments, beside), stamp, session, person)
        data = _data(await self._calls.answer(call))
        condition = condition_of(200 if stamp.last is None else stamp.last.status, data)
        if not condition.stated or condition.status == "completed":  # `success` is of the call
            try:
                condition = await self._look(handle, session, person)
            except Failure as failure:
                is_gone = failure.code is Code.NOT_FOUND_RESOURCE  # it was cancelled, and is not there any more
                condition = Condition("cancelled" if is_gone else "running", stated=False)
        shown = self._told(text, handle, self._bounded(condition))
        if shown["status"] not in ENDED:
            shown["progress"] = {**shown.get("progress", {}), "message": "The API has accepted the cancellation"}
        return {"operation": handle.operation, "cancelled_by": row.name, **shown}

    async def _wait(
        self, text: str, handle: Handle, look: Condition, until: float, session: Session, person: Person | None
    ) -> Condition:
        """Ask until the work has ended or the time is up, and return what was told last."""
        progress, pauses = Progress(), iter(_PAUSES)
        await progress.tell(self._told(text, handle, look))
        while look.status not in ENDED:
            pause = look.wait or next(pauses, _PAUSES[-1])
            if anyio.current_time() + pause >= until:
                break
            await anyio.sleep(pause)
            try:
                with anyio.move_on_after(until - anyio.current_time()):
                    look = await self._look(handle, session, person)
            except Failure:  # what was told before still counts
                break
            await progress.tell(self._told(text, handle, look))
        return look

    async def _look(self, handle: Handle, session: Session, person: Person | None) -> Condition:
        """Ask the API about the work once. Raises Failure."""
        try:
            asking = self._exchange(handle, session) if handle.url else self._called(handle, session, person)
            response, data, pointer = await asking
        except Failure as failure:
            if failure.details.get("declared_by") not in _FAILED:
                raise
            return Condition("failed", stated=True, error=failure.details.get("upstream"))
        if response is None:
            return condition_of(200, data, pointer)
        return condition_of(response.status, data, pointer)._replace(wait=_wait_of(response))

    async def _called(
        self, handle: Handle, session: Session, person: Person | None
    ) -> tuple[ApiResponse | None, Any, str | None]:
        """Call the operation that tells of the work; also return the pointer to what it tells, where that is known."""
        stamp = Stamp()
        monitor = self._calls.find("read", handle.monitor, session, stamp)
        params = {**handle.params, **({monitor.selector: "full"} if monitor.selector else {})}
        call = ToolCall("read", Request(monitor.name, params, {}), stamp, session, person)
        data = _data(await self._calls.answer(call))
        started = self._calls.table.find(handle.operation)
        work = None if started is None else started.long_running
        known = work is not None and work.monitor == monitor.name
        return stamp.last, data, work.monitor_state if known and work is not None else None

    async def _exchange(self, handle: Handle, session: Session) -> tuple[ApiResponse | None, Any, str | None]:
        """Get the address that the API has named for the work, with the credentials of what began it."""
        stamp = Stamp()
        row = _reading(self._calls.find(None, handle.operation, session, stamp))
        call = None
        if self._hooks:
            call = await self._hooks.on_call(Call(row.name, {}, row.family, stamp.request_id, session.id))
        exchanges = Exchanges(self._api, self._hooks, call, gate=self._calls.gatekeeper)

        def change(request: ApiRequest) -> ApiRequest:
            url = at_host_of(request, handle.url) if handle.url.startswith("/") else handle.url
            return replace(request, url=url)

        response = await exchanges.send(row, {}, change)
        return response, await exchanges.decode(response, row, {}), None

    def _cancelling(self, handle: Handle, session: Session) -> tuple[Row, dict[str, Any]]:
        """Return the operation that cancels the work, with its parameters. Raises Failure if there is none."""
        table = self._calls.table
        started, monitor = table.find(handle.operation), table.find(handle.monitor) if handle.monitor else None
        work = None if started is None else started.long_running
        row = None
        if work is not None and work.cancel is not None and work.monitor == handle.monitor:
            row = self._calls.find(None, work.cancel, session, Stamp())
        elif monitor is not None:
            row = cancel_of(monitor, table)
        if row is None or monitor is None:
            raise Failure(
                Code.INVALID_VALUE,
                f"The work of '{handle.operation}' cannot be cancelled: the API has no known operation for it. "
                f"{STATUS} reports its end.",
                {"operation": handle.operation, "reason": "the API cannot cancel it"},
            )
        shared = counterparts(row, monitor)
        return row, {name: handle.params[source] for name, source in shared.items() if source in handle.params}

    def _told(self, text: str, handle: Handle, condition: Condition) -> dict[str, Any]:
        """Return an execution as it is shown, and report it to operators."""
        execution, activity = _shown(text, handle, condition), self._calls.activity
        if activity is not None and execution["status"] in ENDED:
            activity.ended(row_name(text))
        elif activity is not None:
            activity.work(row_name(text), handle.operation, execution["status"], execution.get("progress", {}))
        return execution

    def _bounded(self, condition: Condition) -> Condition:
        """Return a condition with its result and its error in at most the tokens of an answer."""
        most = self._calls.config.max_answer_tokens
        (result, _), (error, _) = fit(condition.result, most), fit(condition.error, most // 2)
        return condition._replace(result=result, error=error)


def _shown(text: str, handle: Handle, condition: Condition) -> dict[str, Any]:
    """Return an execution as the specification has it (8.4.3)."""
    started = iso_time(handle.started)
    execution: dict[str, Any] = {"execution_id": text, "status": condition.status, "started_at": started}
    if condition.finished_at:
        execution["finished_at"] = condition.finished_at
    if condition.progress:
        execution["progress"] = dict(condition.progress)
    if condition.status == "failed":
        message = f"The work of '{handle.operation}' failed, by the API's answer"
        execution["error"] = {"code": Code.INTERNAL_ERROR.value, "message": message}
        if condition.error is not None:
            execution["error"]["details"] = {"upstream": condition.error}
    if condition.result is not None and condition.status == "completed":
        execution["result"] = condition.result
    if condition.wait is not None and condition.status not in ENDED:
        execution["retry_after_seconds"] = condition.wait
    if handle.monitor:
        execution["monitor"] = handle.monitor
    return execution


def _wait_of(response: ApiResponse) -> int | None:
    """Return the seconds after which the API wants to be asked again; None if it does not say."""
    value = response.headers.get("retry-after")
    seconds = None if value is None else retry_after(value, time.time())
    return None if seconds is None else min(max(1, seconds), _LONGEST_PAUSE)


def _data(envelope: Envelope) -> Any:
    """Return the data of an answer. Raises Failure for an answer that is one."""
    if not envelope["success"]:
        raise Failure.of(envelope)
    return envelope["data"]


def _reading(row: Row) -> Row:
    """Return the row of a GET with the credentials and headers of another row, and with nothing else of it."""
    return Row(
        name=f"{row.name} status",
        family="read",
        summary=row.summary,
        description=row.description,
        method="GET",
        path="/",
        api=row.api,
        resource=row.resource,
        danger="safe",
        security=row.security,
        scopes=row.scopes,
        servers=row.servers,
        headers=row.headers,
        returns=row.returns,
    )


def _begun(status: int, condition: Condition, work: LongRunning, place: str | None) -> Condition | None:
    """Return the condition of work that an answer of a status begins; None if nothing goes on.

    Something goes on where the answer announces it, states it, or has by the document what to ask with.
    """
    announced = status == 202 or place is not None
    if condition.stated and condition.status in ENDED:
        if status != 202 or work.state is not None:
            return None
        condition = Condition("running", stated=False)  # with 202, `success` is of the call
    identified = work.state is None and work.arguments is not None and work.status in (str(status), "default")
    if condition.stated or announced:
        return condition
    return condition._replace(status="running") if identified else None
