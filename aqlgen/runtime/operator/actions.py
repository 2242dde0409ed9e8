"""What an operator can do: approve, deny, show a code, unblock, revoke. Each is in the audit log before it is done.

A decision of the page names the item and the digest of what it showed of it. It is refused if the item is another one
now, or gone: nothing is approved that nobody has seen (R-OPS-1, R-SAFE-3, R-SAFE-5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from secrets import compare_digest
from typing import TYPE_CHECKING, Any

from ..state import StoreAway
from ..text import line
from .reading import Reading, read, shown

if TYPE_CHECKING:
    from .reading import Source

_LEAST_REASON, _MOST_REASON = 3, 500


class Refused(Exception):
    """An action that is not done; the message is a sentence for the operator."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class _Kind:
    """An action: the section of its item, what the audit log calls it, what it does, and what is said when it is done.

    `step` returns something empty for an item that is gone, and the code where one is shown.
    """

    section: str
    event: str
    step: Callable[[Source, Any, str], Awaitable[Any]]
    done: str
    decision: str = ""
    needs_reason: bool = False
    needs_whole: bool = False


class Actions:
    """The actions of one operator; `by` is how the audit log calls them."""

    def __init__(self, source: Source, by: str) -> None:
        self._source = source
        self.by = by

    async def act(self, request: Any) -> dict[str, Any]:
        """Perform the action of a request of the page, `{do, id, digest, reason?}`. Raises Refused."""
        do, item_id, digest, reason = self._parsed(request)
        try:
            target = self._target(_KINDS[do], await read(self._source), item_id, digest)
            return await self._do(_KINDS[do], target, reason)
        except StoreAway as away:
            message = "The store of this adapter cannot be reached. Whether the decision took effect is not certain."
            raise Refused(503, "store_away", message) from away

    async def _do(self, kind: _Kind, target: Any, reason: str) -> dict[str, Any]:
        """Do an action about an item that the operator has seen. Raises Refused and StoreAway."""
        self._record(kind, target, reason)
        result = await kind.step(self._source, target, self.by)
        if not result:
            self._record(kind, target, "it was decided or gone before", failed=True)
            raise Refused(409, "gone", "This was decided elsewhere, or is gone. Nothing was changed.")
        return {"message": kind.done, "code": result} if isinstance(result, str) else {"message": kind.done}

    @staticmethod
    def _parsed(request: Any) -> tuple[str, str, str, str]:
        names = ("do", "id", "digest", "reason")
        values = [request.get(name, "") for name in names] if isinstance(request, Mapping) else []
        is_formed = values and request.keys() <= set(names) and all(isinstance(value, str) for value in values)
        kind = _KINDS.get(values[0]) if is_formed else None
        if kind is None or not all(values[1:3]):
            raise Refused(400, "invalid_request", "The page does not send such a request.")
        do, item_id, digest, reason = values
        reason = line(reason, _MOST_REASON)
        if kind.needs_reason and len(reason) < _LEAST_REASON:
            raise Refused(400, "reason_needed", "Give a short reason for the audit log.")
        return do, item_id, digest, reason if kind.needs_reason else ""

    @staticmethod
    def _target(kind: _Kind, reading: Reading, item_id: str, digest: str) -> Any:
        """Return the item as it is now, if it is the one that was shown. Raises Refused."""
        target = reading.objects.get((kind.section, item_id))
        if target is None:
            if reading.problem and not reading.sections:
                raise Refused(503, "store_away", reading.problem)
            raise Refused(409, "gone", "This was decided elsewhere, or is gone. Nothing was changed.")
        item = shown(kind.section, target)
        if not compare_digest(item["digest"].encode(), digest.encode("utf-8", "surrogatepass")):
            raise Refused(409, "changed", "This changed since you saw it, and nothing was done. Read it again.")
        if kind.needs_whole and not item["whole"]:
            raise Refused(409, "too_long", "This is too long to show in full, so it cannot be approved here.")
        return target

    def _record(self, kind: _Kind, target: Any, reason: str, *, failed: bool = False) -> None:
        """Write to the audit log of the adapter. Raises Refused if that cannot be written: then nothing is done."""
        details: dict[str, Any] = {
            "operator": self.by,
            "decision": kind.decision or None,
            "item": str(target.id),
            **details_of(target),
            "reason": reason or None,
        }
        try:
            self._source.audit.write(f"{kind.event}_VOID" if failed else kind.event, **details)
        except OSError:
            message = "The audit log cannot be written, so nothing was done."
            raise Refused(500, "audit_failed", message) from None


def details_of(target: Any) -> dict[str, Any]:
    """Return the audit log's details of an operator's target: a question, challenge, block or approval."""
    operations: tuple[str, ...] = getattr(target, "operations", None) or (getattr(target, "operation", ""),)
    kind = getattr(target, "kind", None)
    return {
        "kind": None if kind == "session" else kind,
        "operation": operations[0] or None if len(operations) == 1 else None,
        "operations": list(operations[:50]) if len(operations) > 1 else None,
        "element_name": getattr(target, "agent", "") or None,
        "session_id": getattr(target, "session", "") or None,
        "for_caller": getattr(target, "caller", "") or None,
    }


_KINDS = {
    "approve": _Kind(
        "matters",
        "OPERATOR_DECISION",
        lambda source, item, by: source.questions.decide(item.id, "approved", by),
        "Approved, once.",
        "approved once",
        needs_whole=True,
    ),
    "deny": _Kind(
        "matters",
        "OPERATOR_DECISION",
        lambda source, item, by: source.questions.decide(item.id, "denied", by),
        "Denied.",
        "denied",
    ),
    "reveal": _Kind(
        "challenges",
        "OPERATOR_CODE_SHOWN",
        lambda source, item, _: source.questions.reveal(item.id),
        "The code is shown. It is good for one try.",
    ),
    "unblock": _Kind(
        "blocks",
        "OPERATOR_UNBLOCK",
        lambda source, item, _: source.board.unblock(item.id),
        "Unblocked.",
        "unblocked",
        needs_reason=True,
    ),
    "revoke": _Kind(
        "approvals",
        "OPERATOR_REVOKE",
        lambda source, item, _: source.questions.revoke(item.id),
        "Revoked.",
        "revoked",
    ),
}
