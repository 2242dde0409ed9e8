"""What is approved: the request of a call, the calls of a batch or plan together, or calls of a shape in a session.

What is sent is what was approved. The digest covers method, address, headers and content, files included; credentials
do not count, since they may be renewed. It is taken of the request that the parameters make, before an update is merged
into what was read and before the owner's hooks; what these hooks change is recorded.

One question lists every call with its request and values, each line as it stands in the question about that call alone
(R-BAT-2, R-STEP-2). The confirmation is bound to the requests of all, in their order, and each is used up by its own
call.

An operation that nothing proves harmless is asked about once in a session: the first yes is for all its calls. There is
none where there is neither a session nor a known caller.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from ..exact_json import fingerprint
from ..redaction import redact
from ..session import TERMINAL, current_caller
from ..state.tickets import owner_of
from .policy import FIRST_USE, LEVELS
from .questions import Question
from .refusals import refused

if TYPE_CHECKING:
    from ..errors import Failure
    from ..hooks import Call, GateDecision
    from ..state import Store
    from ..state.custody import State
    from ..table import Row
    from ..wire import ApiRequest, Spending
    from .loop.reports import PlanReport


def digest_of(*values: Any) -> str:
    """Return the SHA-256 of values of JSON."""
    return hashlib.sha256(json.dumps(values).encode("utf-8", "surrogatepass")).hexdigest()


def request_digest(request: ApiRequest) -> str:
    """Return the SHA-256 of a request without its credentials."""
    secrets = request.secrets
    headers = [(name.lower(), redact(value, secrets)) for name, value in request.headers]
    content = None if request.content is None else hashlib.sha256(request.content).hexdigest()
    return digest_of(request.method, redact(request.url, secrets), sorted(headers), content)


class Approval:
    """The approval of the call."""

    __slots__ = ("_digest", "_row")

    def __init__(self, row: Row, request: ApiRequest) -> None:
        self._row = row
        self._digest: str | None = request_digest(request)

    @property
    def digest(self) -> str:
        """The digest of the approved request, "" once it is the owner's."""
        return self._digest or ""

    def check(self, row: Row, request: ApiRequest) -> None:
        """Raise Failure for a request of the approved operation that is another one than was approved."""
        if self._digest is not None and row.name == self._row.name and request_digest(request) != self._digest:
            raise refused(row, "changed after it was approved")

    def release(self) -> None:
        """Let another request be sent: a hook changed the parameters, and the request is the owner's from here on."""
        self._digest = None


_DECLINED_SECONDS = 1800
_MOST_REASONS = 20
_LONGEST = 16_000
"""The most characters of a question about several calls; those that do not fit are asked about later."""


@dataclass(frozen=True)
class HeldCall:
    """A call that has to be confirmed. `text` is the question about it, `name` that of the thing, where it is known.

    With `any` it is the first use of an operation: its request is not known yet, and none runs by this yes alone.
    """

    row: Row
    call: Call
    decision: GateDecision
    request: ApiRequest
    text: str = ""
    any: bool = False
    name: str = ""

    @cached_property
    def digest(self) -> str:
        """The digest of its operation and parameters, a blank, and that of its request."""
        return f"{fingerprint(self.row.name, self.call.params)} {request_digest(self.request)}"

    def prepared(self) -> Self:
        """Return it with its digest and its marks made."""
        _ = self.digest, self.marks
        return self

    @cached_property
    def marks(self) -> tuple[str, str]:
        """The marks by which a call that was declined is known again (`keys_of`)."""
        return _marks(self)


@dataclass(slots=True)
class Approvals:
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

    def confirm(self, calls: Sequence[HeldCall]) -> None:
        """Let each of the calls run once."""
        self._confirmed.update(call.digest for call in calls if not call.any)

    def refuse(self, calls: Sequence[HeldCall], failure: Failure) -> None:
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
                raise refused(row, "changed after it was approved")
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


# The question about calls


def gravest(calls: Sequence[HeldCall]) -> HeldCall:
    """Return the call whose operation is the most dangerous."""
    return max(calls, key=lambda call: LEVELS.index(call.row.danger) if call.row.danger in LEVELS else len(LEVELS))


def reasons_of(calls: Sequence[HeldCall]) -> list[str]:
    """Return why calls have to be confirmed, each reason once."""
    return list(dict.fromkeys(reason for call in calls for reason in call.decision.reasons))


def question_of(calls: Sequence[HeldCall], adapter: str, session_id: str | None) -> Question:
    """Return the question about calls, as it is before it is put."""
    names = tuple(dict.fromkeys(call.row.name for call in calls))
    return Question(
        id="",
        kind="call" if len(calls) == 1 else "plan",
        title="",
        question="",
        operations=names,
        danger=gravest(calls).row.danger,
        asked=0.0,
        expires=0.0,
        reasons=tuple(reasons_of(calls)[:_MOST_REASONS]),
        caller=current_caller() or "",
        session=session_id or "",
        digest=digest_of(names, [call.digest for call in calls], adapter, session_id, current_caller()),
    )


def fitting(calls: Sequence[HeldCall]) -> Sequence[HeldCall]:
    """Return the first calls whose question is not too long, at least one."""
    count = len(calls)
    while count > 1 and len(question_about(calls[:count])) > _LONGEST:
        count = count * 3 // 4
    return calls[:count]


def question_about(calls: Sequence[HeldCall]) -> str:
    """Return the question about all calls. What is the same for all calls of an operation is said once."""
    if len(calls) == 1:
        return calls[0].text
    kinds: dict[str, list[tuple[int, HeldCall]]] = {}
    for number, call in enumerate(calls, 1):
        kinds.setdefault(call.row.name, []).append((number, call))
    from .question_texts import key_literal, title_of_all

    lines = [title_of_all([(call.row, call.call.params) for call in calls], [call.name for call in calls])]
    for name, numbered in kinds.items():
        count = len(numbered)
        lines += [f"{key_literal(name)}, {count} {'call' if count == 1 else 'calls'}:", *_lines_of_kind(numbered)]
    return "\n".join(lines)


def _lines_of_kind(numbered: Sequence[tuple[int, HeldCall]]) -> list[str]:
    """Return the lines of all calls of an operation, those that all share first."""
    texts = [call.text.splitlines() for _, call in numbered]
    everywhere = set(texts[0][2:]).intersection(*(text[2:] for text in texts[1:])) if len(texts) > 1 else set[str]()
    lines = [line for line in texts[0][2:] if line in everywhere]
    for (number, call), (_, request, *rest) in zip(numbered, texts, strict=True):
        lines.append(f"{number}) {request}{f' ({call.name})' if call.name else ''}")
        lines += [f"   {line}" for line in rest if line not in everywhere]
    return lines


def keys_of(calls: Sequence[HeldCall]) -> Iterator[str]:
    """Yield the keys by which calls that a person declined are known again: of their parameters, and their requests.

    Another name of the operation, a default that is spelled out, another key of idempotency or another order make no
    other call.
    """
    for marks in zip(*(call.marks for call in calls), strict=True):
        yield digest_of(*sorted(marks))


def _marks(held: HeldCall) -> tuple[str, str]:
    row, request, key = held.row, held.request, held.row.idempotency
    params = dict(held.call.params)
    for name in params.keys() & row.parameters.keys():
        parameter = row.parameters[name]
        is_key = key is not None and parameter.wire == key.parameter
        if is_key or parameter.location == "adapter" or params[name] == parameter.schema.get("default", ...):
            del params[name]
    if key is not None and key.header is not None:
        kept = [header for header in request.headers if header[0].lower() != key.header.lower()]
        request = replace(request, headers=type(request.headers)(kept))
    return fingerprint(row.name, params), request_digest(request)


class Declined:
    """What persons have declined, which is refused for a while, without another question (R-SAFE-4).

    A no is kept for the caller, or the session of one who is not known; whoever types a command again is asked again.
    Methods raise StoreAway.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    async def keep(self, session_id: str | None, keys: Iterable[str]) -> None:
        """Remember a person's no, so that what has one of the keys is not asked about again."""
        for key in keys:
            await self._store(session_id).put(*_declined(session_id, key), 1, _DECLINED_SECONDS)

    async def holds(self, session_id: str | None, keys: Iterable[str]) -> bool:
        """Return True if a person has said no to what has one of the keys."""
        store = self._store(session_id)
        return any([await store.get(*_declined(session_id, key)) is not None for key in dict.fromkeys(keys)])

    def _store(self, session_id: str | None) -> Store:
        return (self._state.local if session_id == TERMINAL else self._state.of(session_id)).store


def _declined(session_id: str | None, key: str) -> tuple[str, str]:
    return "declined", f"{owner_of(session_id)}:{digest_of(key)}"


def first_use(call: HeldCall, about: Question, *, bare: bool = False) -> Question | None:
    """Return the approval of an operation that nothing proves harmless, for all its calls of a session.

    It is for calls that send the fields that this one sends of those for which it is asked; if `bare`, none of them.
    `about` is the question about the call. None where another decision holds it back, or nobody is known.
    """
    if call.decision.rule != FIRST_USE or (about.session in ("", TERMINAL) and not about.caller):
        return None
    from .question_texts import fields_of_reason  # only for calls that are asked about

    fields = [name for name, sent in fields_of_reason(call.row, call.call.params).items() if sent and not bare]
    digest = digest_of(FIRST_USE, about.session, about.caller, call.row.cache_key, list(call.decision), fields)
    return replace(about, kind="session", title=call.row.name, question="", reasons=(), digest=digest)
