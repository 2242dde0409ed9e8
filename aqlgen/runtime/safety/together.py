# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Calls that are confirmed together: a batch's calls of one kind, the calls of a plan (R-BAT-2, R-STEP-2).

One question lists every call with its request and values, each line as it stands in the question about that call alone.
The confirmation is bound to the requests of all, in their order, and each is used up by its own call.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..errors import Failure
    from ..hooks import Call, GateDecision
    from ..table import Row
    from ..wire import ApiRequest, Spending
    from .loop.reports import PlanReport

__all__ = ["Grant", "Pending", "fingerprint_of", "fitting", "question_about", "reasons_of"]

_LONGEST = 16_000
"""The most characters of a question about several calls; those that do not fit are asked about later."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that has to be confirmed. `text` is the question about it.

    `digest` is that of its operation and parameters, a blank, and that of its request.
    """

    row: Row
    call: Call
    decision: GateDecision
    request: ApiRequest
    digest: str
    text: str = ""


class Grant:
    """What was decided about the calls of one batch or plan before their turn. `token` is the one sent beside them.

    `quota_token` is that of a quota, `spending` what the calls spend of the owner's quotas together, and `plan` the
    report to the safety loop under which the calls of a plan run.
    """

    __slots__ = ("_confirmed", "_refused", "plan", "quota_token", "spending", "token")

    def __init__(self, token: object = None, quota_token: object = None) -> None:
        self.token = token
        self.quota_token = quota_token
        self.spending: Spending | None = None
        self.plan: PlanReport | None = None
        self._confirmed: Counter[str] = Counter()
        self._refused: dict[str, Failure] = {}

    def confirm(self, calls: Sequence[Pending]) -> None:
        """Let each of the calls run once."""
        self._confirmed.update(call.digest for call in calls)

    def refuse(self, calls: Sequence[Pending], failure: Failure) -> None:
        """Refuse each of the calls for the same reason."""
        self._refused.update((call.digest, failure) for call in calls)

    def decided(self, digest: str) -> bool:
        """Return True if the call need not be asked about."""
        return self._confirmed[digest] > 0 or digest in self._refused or self._has_changed(digest)

    def use(self, row: Row, digest: str) -> bool:
        """Use up the confirmation of a call; False if there is none.

        Raises Failure if it was refused, and if the same call was confirmed with another request.
        """
        if digest in self._refused:
            raise self._refused[digest]
        if not self._confirmed[digest]:
            if self._has_changed(digest):
                from .approval import changed

                raise changed(row)
            return False
        self._confirmed[digest] -= 1
        return True

    def _has_changed(self, digest: str) -> bool:
        """Return True if the same call was confirmed with another request, and has not run."""
        call = digest.partition(" ")[0]
        return any(count and other.partition(" ")[0] == call for other, count in self._confirmed.items())

    def take_token(self) -> object:
        """Return the token that was sent, the first time."""
        token, self.token = self.token, None
        return token


def fingerprint_of(calls: Sequence[Pending]) -> str:
    """Return the digest that a confirmation is bound to; that of a single call is its own."""
    if len(calls) == 1:
        return calls[0].digest
    return hashlib.sha256("\n".join(call.digest for call in calls).encode()).hexdigest()


def reasons_of(calls: Sequence[Pending]) -> list[str]:
    """Return why calls have to be confirmed, each reason once."""
    return list(dict.fromkeys(reason for call in calls for reason in call.decision.reasons))


def fitting(calls: Sequence[Pending]) -> Sequence[Pending]:
    """Return the first calls whose question is not too long, at least one."""
    count = len(calls)
    while count > 1 and len(question_about(calls[:count])) > _LONGEST:
        count = count * 3 // 4
    return calls[:count]


def question_about(calls: Sequence[Pending]) -> str:
    """Return the question about all calls. What is the same for all calls of an operation is said once."""
    if len(calls) == 1:
        return calls[0].text
    kinds: dict[str, list[tuple[int, list[str]]]] = {}
    for number, call in enumerate(calls, 1):
        kinds.setdefault(call.row.name, []).append((number, call.text.splitlines()))
    from .literals import key_literal
    from .titles import title_of_all

    lines = [title_of_all([(call.row, call.call.params) for call in calls])]
    for name, texts in kinds.items():
        numbered = [(number, text[1], text[3:]) for number, text in texts]
        shared = [line for line in numbered[0][2] if all(line in rest for _, _, rest in numbered)]
        if len(texts) == 1:
            shared = []
        lines += [f"{key_literal(name)}, {len(texts)} {'call' if len(texts) == 1 else 'calls'}:", *shared]
        for number, request, rest in numbered:
            lines += [f"{number}) {request}", *(f"   {line}" for line in rest if line not in shared)]
    return "\n".join(lines)
