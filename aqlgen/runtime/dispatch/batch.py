"""A batch: operations in order, halted where one must be confirmed (R-BAT-1, R-BAT-2).

The calls of one operation that must be confirmed are asked about together: by one question to a person, or by one
token, which is sent back as `confirmation_token` beside `operations`. What a person refuses fails; the rest goes on.

The answers share one ceiling: each may have an equal part of what those before it left (R-WARN-3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..envelope import Envelope, success
from ..errors import IF_AGREED, Code, Failure
from ..safety.approvals import Approvals, HeldCall, fitting
from ..text import tokens_of
from ..warnings import Warnings
from . import ToolCall
from .arguments import Request, read_item

if TYPE_CHECKING:
    from ..envelope import Stamp
    from ..protocol_operations import Person
    from ..session import Session
    from . import Calls


_LEAST = 12
"""The fewest tokens that an answer may have."""

_HALTED = (
    "This and later operations did not run: send this operation and pending_operations again, with "
    "confirmation_token beside operations."
)


@dataclass
class Batch:
    """One batch, which is answered once."""

    calls: Calls
    family: str | None
    stamp: Stamp
    session: Session
    person: Person | None
    approvals: Approvals

    async def answer(self, items: Sequence[Any]) -> Envelope:
        """Answer a batch in order; an operation that fails does not stop those after it."""
        requests = [self._read(item) for item in items]
        api_row = self.calls.api_row  # None for an operation of another kind
        rows = [None if isinstance(each, Failure) else api_row(each.operation, self.family) for each in requests]
        results: list[dict[str, Any]] = []
        succeeded, warnings, halted, room = 0, Warnings(), False, self.calls.config.max_answer_tokens
        for index, row in enumerate(rows):
            share = room // (len(rows[index:]) - rows[index:].count(None) or 1)
            result = await self._result(requests[index:], max(share, _LEAST), warnings)
            if row is not None and result["success"] and index + 1 < len(items):
                room -= tokens_of(result["data"])
            succeeded += result["success"]
            results.append({"index": index, "operation": _name(items[index]), "result": result})
            if not result["success"] and result["error"]["code"] == Code.CONFIRMATION_REQUIRED:
                halted = True
                break
        envelope = success(None, self.stamp.meta(), self.calls.rules.select(warnings, self.session))
        failed = len(results) - succeeded - halted
        if halted:
            envelope["halted_at"] = _halted(results.pop())
            envelope["pending_operations"] = [
                _pending(index, items[index]) for index in range(len(results) + 1, len(items))
            ]
        envelope["results"] = results
        envelope["summary"] = {"total": len(items), "succeeded": succeeded, "failed": failed}
        if halted:
            envelope["summary"] |= {"halted": 1, "pending": len(envelope["pending_operations"])}
        return envelope

    async def _result(self, requests: Sequence[Request | Failure], most: int, warnings: Warnings) -> Envelope:
        """Return the answer of the first of these requests, in at most so many tokens."""
        request = requests[0]
        try:
            if isinstance(request, Failure):
                raise request
            await self._confirm(requests)
            result = await self.calls.answer(self._call(request._replace(max_tokens=most)), warnings)
        except Failure as failure:
            return failure.envelope()
        if self.person is not None and not self.calls.is_safe_read(request.operation, self.family):
            self.person.batched = True  # from here on the question cannot be the result of all of it
        return result

    def _read(self, item: Any) -> Request | Failure:
        try:
            return read_item(item, self.calls.is_known)._replace(approvals=self.approvals)
        except Failure as failure:
            return failure

    def _call(self, request: Request) -> ToolCall:
        return ToolCall(self.family, request, self.stamp, self.session, self.person)

    async def _confirm(self, requests: Sequence[Request | Failure]) -> None:
        """Have the first call confirmed, if it must be, with all later ones of its operation.

        Raises Failure (CONFIRMATION_REQUIRED) if the batch halts; any other failure is that of each of the calls.
        """
        group: list[HeldCall] = []
        for request in requests:
            if isinstance(request, Failure):
                continue
            pending = await self.calls.foresee(self._call(request))
            if not group and (pending is None or self.approvals.decided(pending.digest)):
                return
            if pending is not None and (not group or pending.row.name == group[0].row.name):
                group.append(pending)
        calls = fitting(group)
        try:
            asking, token = self.calls.gatekeeper.asking, self.approvals.take_token()
            await asking.confirm_calls(calls, token, self.session, self.person)
        except Failure as failure:
            if failure.code is Code.CONFIRMATION_REQUIRED:
                raise
            self.approvals.refuse(calls, failure)
        else:
            self.approvals.confirm(calls)


def _name(item: Any) -> str:
    name = item.get("operation") if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else ""


def _halted(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of the operation that halted a batch, with what to do; its question stands in the details."""
    error, question = entry["result"]["error"], entry["result"].get("confirmation")
    if question is not None:
        message = error["message"].partition(IF_AGREED)[0].rstrip()
        about = {"confirmation_message": question["message"]}
        details = {**about, "reasons": question["reasons"], "expires_at": question["expires_at"], **error["details"]}
        error = {
            "code": error["code"],
            "message": f"{message} {_HALTED} Do so only if your user agrees.",
            "details": details,
        }
    return {**entry, "result": {"success": False, "error": error}}


def _pending(index: int, item: Any) -> dict[str, Any]:
    """Return an operation that was not performed, as it is sent again."""
    entry: dict[str, Any] = {"index": index, "operation": _name(item)}
    if isinstance(item, Mapping):
        inside = item.get("params")
        beside = {key: value for key, value in item.items() if key not in ("operation", "params")}
        params = {**beside, **inside} if isinstance(inside, Mapping) else beside
        if params:
            entry["params"] = params
    return entry
