# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A batch: operations in order, halted where one must be confirmed (R-BAT-1, R-BAT-2).

The calls of one operation that must be confirmed are asked about together: by one question to a person, or by one
token, which is sent back as `confirmation_token` beside `operations`. What a person refuses fails; the rest goes on.

The answers share one ceiling: what is small stays, what is large shares the room. What was cut a second time is warned
of once, and a page that was cut leads on behind its last item, or nowhere (R-WARN-3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..envelope import Envelope, success
from ..errors import Code, Failure
from ..safety.approvals import Approvals, HeldCall, fitting
from ..warnings import Warnings
from ..warnings.ceiling import CODE, cut_warnings, fit_together
from ..warnings.rules import repeated_by
from . import ToolCall
from .ahead import api_row, foresee, is_safe_read
from .arguments import Request, read_item

if TYPE_CHECKING:
    from ..envelope import Paged, Stamp
    from ..protocol_operations import Person
    from ..session import Session
    from ..table import Row
    from ..warnings import CallWarning
    from . import Calls

__all__ = ["Batch"]

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
        results: list[dict[str, Any]] = []
        succeeded, warnings, halted, answers = 0, Warnings(), False, Answers()
        for index, request in enumerate(requests):
            try:
                if isinstance(request, Failure):
                    raise request
                await self._confirm(requests[index:])
                result = await self.calls.answer(self._call(request), warnings)
                if self.person is not None and not is_safe_read(self.calls, request.operation, self.family):
                    self.person.batched = True  # from here on the question cannot be the result of all of it
            except Failure as failure:
                result = failure.envelope()
            row = None if isinstance(request, Failure) else api_row(self.calls, request.operation, self.family)
            answers.add(result, row, self.stamp.take_page())
            succeeded += result["success"]
            results.append({"index": index, "operation": _name(items[index]), "result": result})
            if not result["success"] and result["error"]["code"] == Code.CONFIRMATION_REQUIRED:
                halted = True
                break
        await answers.fit(
            self.calls.config.max_answer_tokens,
            lambda operation, cuts: self.calls.rules.remember(operation, cuts, self.session),
        )
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
            pending = await foresee(self.calls, self._call(request))
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
        message = error["message"].partition(" If your user agrees, ")[0]
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


# The ceiling of all answers together


class _Answer(NamedTuple):
    envelope: Envelope
    row: Row
    page: Paged | None


class Answers:
    """The answers of a batch. What the adapter itself answers is not cut."""

    def __init__(self) -> None:
        self._answers: list[_Answer] = []

    def add(self, envelope: Envelope, row: Row | None, page: Paged | None) -> None:
        """Add an answer of an operation of the API; `row` is None for any other."""
        if row is not None and envelope["success"]:
            self._answers.append(_Answer(envelope, row, page))

    async def fit(self, most: int, remember: Callable[[str, Iterable[CallWarning]], list[CallWarning]]) -> None:
        """Cut the data of the answers to `most` tokens together.

        `remember` takes the warnings of an operation, and returns those that are shown.
        """
        answers = self._answers
        if len(answers) < 2:
            return
        data = [answer.envelope["data"] for answer in answers]
        fitted = fit_together(data, [answer.page is not None for answer in answers], most)
        for answer, (shorter, cuts) in zip(answers, fitted, strict=True):
            if cuts:
                if answer.page is not None:
                    await answer.page.prepare()
                selector = repeated_by(answer.row)
                warnings = cut_warnings(cuts, most, page=answer.page is not None, selector=selector)
                _replace(answer, shorter, remember(answer.row.name, warnings))


def _replace(answer: _Answer, data: Any, cuts: Iterable[CallWarning]) -> None:
    envelope, _, page = answer
    if page is not None:
        data = {**data, "pageInfo": page.info(len(data["items"]))}
    warnings = envelope.get("warnings", [])
    before = {entry["details"]["field"]: entry for entry in warnings if entry["code"] == CODE}
    added = []
    for warning in cuts:
        entry = warning.as_json()
        earlier = before.get(entry["details"]["field"])
        if earlier is not None:
            entry["details"]["original_count"] = earlier["details"]["original_count"]
        added.append(entry)
    fields = {entry["details"]["field"] for entry in added}
    kept = [entry for entry in warnings if entry["code"] != CODE or entry["details"]["field"] not in fields]
    envelope["data"] = data
    if kept or added:
        envelope["warnings"] = [*kept, *added]
