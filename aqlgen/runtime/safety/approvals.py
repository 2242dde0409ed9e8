# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Approvals of calls: of one, bound to its request, or of a batch's calls of one kind and the calls of a plan together.

What is sent is what was approved. The digest covers method, address, headers and content, files included; credentials
do not count, since they may be renewed. It is taken of the request that the parameters make, before an update is merged
into what was read and before the owner's hooks; what these hooks change is recorded.

One question lists every call with its request and values, each line as it stands in the question about that call alone
(R-BAT-2, R-STEP-2). The confirmation is bound to the requests of all, in their order, and each is used up by its own
call.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..errors import Code, Failure
from ..exact_json import fingerprint
from ..redaction import redact
from ..state.tickets import Holder

if TYPE_CHECKING:
    from ..hooks import Call, GateDecision
    from ..state.custody import State
    from ..table import Row
    from ..wire import ApiRequest, Spending
    from .loop.reports import PlanReport

__all__ = [
    "Approval",
    "Declined",
    "Grant",
    "Pending",
    "changed",
    "fingerprint_of",
    "fitting",
    "keys_of",
    "pending_call",
    "question_about",
    "reasons_of",
    "request_digest",
]


def request_digest(request: ApiRequest) -> str:
    """Return the SHA-256 of a request without its credentials."""
    secrets = request.secrets
    headers = [(name.lower(), redact(value, secrets)) for name, value in request.headers]
    content = None if request.content is None else hashlib.sha256(request.content).hexdigest()
    text = json.dumps([request.method, redact(request.url, secrets), sorted(headers), content])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Approval:
    """The approval of the call; `altered_by` lists the owner's hooks that changed the request afterwards."""

    __slots__ = ("_address", "_digest", "_row", "altered_by")

    def __init__(self, row: Row, request: ApiRequest) -> None:
        self._row = row
        self._digest: str | None = request_digest(request)
        self._address = _address(request)
        self.altered_by: list[str] = []

    @property
    def digest(self) -> str:
        """The digest of the approved request, "" once it is the owner's."""
        return self._digest or ""

    def check(self, row: Row, request: ApiRequest) -> None:
        """Raise Failure for a request of the approved operation that is another one than was approved.

        A page's request differs from it by its query: method, host and path are compared.
        """
        if self._digest is None or row.name != self._row.name:
            return
        same = _address(request) == self._address if row.paging else request_digest(request) == self._digest
        if not same:
            raise changed(row)

    def altered(self, hook: str, *, parameters: bool = False) -> None:
        """Record that a hook changed the call; with `parameters` the request is the owner's from here on."""
        self.altered_by.append(hook)
        if parameters:
            self._digest = None


def changed(row: Row) -> Failure:
    """Return the refusal of a request that is another one than was approved."""
    return Failure(
        Code.PERMISSION_DENIED,
        "Permission denied: the request is another one than was approved, since something changed in between, "
        "such as a file. Nothing was sent; call it again.",
        {"operation": row.name, "reason": "changed after it was approved"},
    )


def _address(request: ApiRequest) -> tuple[str, str]:
    return request.method, redact(request.url, request.secrets).partition("?")[0]


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


def pending_call(row: Row, call: Call, decision: GateDecision, request: ApiRequest) -> Pending:
    """Return a call that has to be confirmed, with its digest."""
    digest = f"{fingerprint(row.name, call.params)} {request_digest(request)}"
    return Pending(row, call, decision, request, digest)


@dataclass(slots=True)
class Grant:
    """What was decided about the calls of one batch or plan before their turn. `token` is the one sent beside them.

    `quota_token` is that of a quota, `spending` what the calls spend of the owner's quotas together, and `plan` the
    report to the safety loop under which the calls of a plan run.
    """

    token: object = None
    quota_token: object = None
    spending: Spending | None = None
    plan: PlanReport | None = None
    _confirmed: Counter[str] = field(default_factory=Counter)
    _refused: dict[str, Failure] = field(default_factory=dict)

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


_DECLINED_SECONDS = 1800
_DECLINED = "declined"


class Declined:
    """The calls that persons have declined, which are refused for a while, without another question (R-SAFE-4).

    A no is kept for the caller, or the session of one who is not known. A call is known again by its parameters and by
    its request: another name of the operation, a default that is spelled out, another key of idempotency or another
    order make no other call. Several calls that were declined together are known again together, in any order, and a
    call that was declined alone is declined among others, too. Methods raise StoreAway.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    async def keep(self, session_id: str | None, keys: Iterable[str]) -> None:
        """Remember a person's no, so that what has one of the keys is not asked about again."""
        store, owner = self._state.of(session_id).store, Holder.of("", session_id).owner
        for key in keys:
            await store.put(_DECLINED, f"{owner}:{_hash([key])}", 1, _DECLINED_SECONDS)

    async def holds(self, session_id: str | None, keys: Iterable[str]) -> bool:
        """Return True if a person has said no to what has one of the keys."""
        store, owner = self._state.of(session_id).store, Holder.of("", session_id).owner
        for key in dict.fromkeys(keys):
            if await store.get(_DECLINED, f"{owner}:{_hash([key])}") is not None:
                return True
        return False


def keys_of(calls: Sequence[Pending]) -> Iterator[str]:
    """Yield the keys of calls that are asked about together: of their parameters, and of their requests."""
    for marks in zip(*map(_marks, calls), strict=True):
        yield _hash(sorted(marks))


def _marks(pending: Pending) -> tuple[str, str]:
    row, request, key = pending.row, pending.request, pending.row.idempotency
    params = dict(pending.call.params)
    for name in params.keys() & row.parameters.keys():
        parameter = row.parameters[name]
        is_key = key is not None and parameter.wire == key.parameter
        if is_key or parameter.location == "adapter" or params[name] == parameter.schema.get("default", ...):
            del params[name]
    if key is not None and key.header is not None:
        kept = [header for header in request.headers if header[0].lower() != key.header.lower()]
        request = replace(request, headers=type(request.headers)(kept))
    return fingerprint(row.name, params), request_digest(request)


def _hash(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode("utf-8", "surrogatepass")).hexdigest()
