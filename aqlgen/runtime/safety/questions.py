"""Questions to people, and the approvals that they become: one sealed row each (R-OPS-1, R-SAFE-3).

The adapter asks, finds what was decided, and takes it by using it. A row permits only while it is there: one that is
gone, expired, used, or sealed with another key permits nothing. The doors to a yes differ only in who said it: an
operator on the page or in the terminal, a person by confirm_operation, a person or an operator for a session.

Operators decide in another process, which an agent cannot reach. Whoever can write to the store, but has no key,
approves nothing. The code of a challenge is made when an operator looks at it, and shown there alone: the store has a
salted digest of it, and a code that is shown again is another one (specification, 8.8.2, 8.8.4; R-LOOP-5).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..session import TERMINAL, current_caller
from ..state import StoreAway

if TYPE_CHECKING:
    from ..state.custody import Custody, State

Verdict = Literal["", "approved", "denied"]
_QUESTION, _CHALLENGE = KINDS = ("question", "challenge")
_DECIDED, _DECIDED_FORBIDDEN = 300.0, 120.0
"""Seconds for which a decision holds at least, so that the caller can come back for it."""
_ID = 10
"""Letters of an id: 50 bits, which only the adapter can compute."""
_LEAST = 1.0
_CODE_BYTES = 20
"""Bytes of a code: 160 random bits."""
_GROUP = 4


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a person can decide, and the approval that it becomes. Times are in seconds since the epoch.

    `id` says which call, step or start it is about: the same one asked again is the same question. `title` is the
    question in one line of words, `question` all of it. `digest` is that of everything that an approval covers, the
    caller and the session included. An approval for a session is a question of its own kind, which is decided already.
    `is_asked` says that the person behind the client is being asked. `confirmed` is the ticket, the end and the short
    text of the token by which confirm_operation has confirmed it; an operator may still decide otherwise.
    """

    id: str
    kind: Literal["call", "plan", "start", "step", "session"]
    title: str
    question: str
    operations: tuple[str, ...]
    danger: str
    asked: float
    expires: float
    reasons: tuple[str, ...] = ()
    agent: str = ""
    caller: str = ""
    session: str = ""
    verdict: Verdict = ""
    by: str = ""
    digest: str = ""
    is_asked: bool = False
    confirmed: tuple[str, float, str] = ("", 0.0, "")

    def permits(self, now: float) -> bool:
        """Return True if it is an approval."""
        return (self.verdict == "approved" or self.confirmed[1] >= now) and self.expires > now


@dataclass(frozen=True, slots=True)
class Challenge:
    """A verification of an agent by a person outside of everything that the agent can read (8.8.2).

    `id` is a UUID. `digest` is that of the code with `salt`, empty while no code is good. A code is good for one try.
    """

    id: str
    agent: str
    caller: str
    tier: Literal["verify", "danger_zone"]
    action: str
    reason: str
    asked: float
    expires: float
    factors: tuple[str, ...] = ()
    salt: str = ""
    digest: str = ""


Item = TypeVar("Item", Question, Challenge)


class QuestionStore:
    """The questions and challenges of one adapter. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody, clock: Callable[[], float] = time.time) -> None:
        self._custody = custody
        self.clock = clock

    # For the adapter

    async def id_of(self, digest: str) -> str:
        """Return the id of the question with this digest, in hexadecimal. Nobody without the keys can compute it."""
        sealed = (await self._custody.sealer()).wrap("question.id", bytes.fromhex(digest))
        letters = base64.b32encode(hashlib.sha256(sealed.encode()).digest()).decode().lower()
        return letters[:_ID]

    async def ask(self, question: Question) -> None:
        """Put a question until it expires; one that an operator has decided stays as it is.

        One that is asked again was asked when it was asked first.
        """

        def put(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            new, now = question, self.clock()
            if values is not None and values["expires"] > now and values["digest"] == question.digest:
                old = _restored(Question, values)
                new = replace(question, asked=old.asked, confirmed=old.confirmed)
                is_fresh = question.expires - old.expires < (question.expires - question.asked) / 4
                if old.verdict or (is_fresh and question.is_asked == old.is_asked):
                    return None
            return asdict(new), max(_LEAST, new.expires - now)

        await self._custody.change(_QUESTION, question.id, put)

    async def keep(self, item: Question | Challenge) -> None:
        """Keep an approval for a session, in the place of one for the same calls, or a challenge."""
        kind = _QUESTION if isinstance(item, Question) else _CHALLENGE
        await self._custody.keep(kind, item.id, asdict(item), max(_LEAST, item.expires - self.clock()))

    async def asked(self, digest: str) -> Question | None:
        """Return the question with a digest, decided or not; None if there is none."""
        question = await self.question(await self.id_of(digest))
        return question if question is not None and question.digest == digest else None

    async def question(self, id: str) -> Question | None:
        """Return a question with its verdict so far; None for one that is not there, or has expired."""
        values = await self._custody.kept(_QUESTION, id)
        question = None if values is None else _restored(Question, values)
        return None if question is None or question.expires <= self.clock() else question

    async def confirm(self, id: str, ticket: str, until: float, token: str) -> bool:
        """Approve a question by the token of its call, in place of another token; False if it is gone or decided."""

        def write(question: Question, _: float) -> Question | None:
            return None if question.verdict else replace(question, confirmed=(ticket, until, token))

        return await self._changed(Question, id, write) is not None

    async def use(self, id: str, digest: str) -> Question | None:
        """Use an approval with this digest. Of all who try, one gets it; None for the others."""

        def spend(question: Question, now: float) -> Question | None:
            is_usable = question.digest == digest and question.permits(now)
            return replace(question, verdict="", expires=now) if is_usable else None

        return await self._changed(Question, id, spend)

    async def settle(self, digest: str) -> None:
        """Take back the question with a digest, which was decided elsewhere, if it can be; a denial stays."""
        with suppress(StoreAway):
            question = await self.asked(digest)
            if question is not None and question.verdict != "denied":
                await self.withdraw(question.id)

    async def withdraw(self, id: str) -> bool:
        """Take a question or approval back: decided elsewhere, used, or ended. False if it is gone."""
        return await self._custody.remove(_QUESTION, id)

    async def verify(self, id: str, code: str) -> bool:
        """Return True if the code is that of the challenge; it is good for this one try, right or wrong.

        A challenge that was met is gone; one that was not needs another code.
        """
        matched = False

        def use(challenge: Challenge, _: float) -> Challenge | None:
            nonlocal matched
            matched = bool(challenge.digest) and secrets.compare_digest(_digest(challenge.salt, code), challenge.digest)
            return replace(challenge, salt="", digest="") if challenge.digest else None

        if await self._changed(Challenge, id, use) is None or not matched:
            return False
        return await self.drop_challenge(id)

    async def drop_challenge(self, id: str) -> bool:
        """Take a challenge back; False if it is gone."""
        return await self._custody.remove(_CHALLENGE, id)

    # For the operator

    async def questions(self) -> list[Question]:
        """Return the questions, the oldest first, decided or not."""
        return [question for question in await self._all(_QUESTION, Question) if question.kind != "session"]

    async def approvals(self) -> list[Question]:
        """Return the approvals for sessions, the oldest first."""
        return [question for question in await self._all(_QUESTION, Question) if question.kind == "session"]

    async def challenges(self) -> list[Challenge]:
        """Return the challenges, the oldest first; none of them has its code with it."""
        return await self._all(_CHALLENGE, Challenge)

    async def decide(self, id: str, verdict: Literal["approved", "denied"], by: str) -> bool:
        """Decide a question. False if it is gone, has expired, or was decided before.

        A decision holds for five minutes, or for two where an operation is forbidden, and until the question expires.
        """

        def write(question: Question, now: float) -> Question | None:
            if question.verdict:
                return None
            holds = _DECIDED_FORBIDDEN if question.danger == "forbidden" else _DECIDED
            return replace(question, verdict=verdict, by=by, expires=max(question.expires, now + holds))

        return await self._changed(Question, id, write) is not None

    async def revoke(self, id: str) -> bool:
        """End an approval for a session, from the next call on; False if there is none with this id."""
        return any(item.id == id for item in await self.approvals()) and await self.withdraw(id)

    async def reveal(self, id: str) -> str | None:
        """Return a new code for a challenge, which a person may show to nobody but the client; None if it is gone.

        A code that was shown before is void from here on.
        """
        code, salt = _new_code(), secrets.token_hex(16)
        digest = _digest(salt, code)
        shown = await self._changed(Challenge, id, lambda challenge, _: replace(challenge, salt=salt, digest=digest))
        return None if shown is None else code

    async def _all(self, kind: str, form: type[Item]) -> list[Item]:
        now = self.clock()
        items = (_restored(form, values) for values in await self._custody.all_kept(kind))
        return sorted((item for item in items if item.expires > now), key=lambda item: item.asked)

    async def _changed(self, form: type[Item], id: str, step: Callable[[Item, float], Item | None]) -> Item | None:
        """Return the item as a step changes it, atomically; None for an expired item, or if the step returns None."""
        changed: Item | None = None

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            nonlocal changed
            item, now = None if values is None else _restored(form, values), self.clock()
            changed = None if item is None or item.expires <= now else step(item, now)
            return None if changed is None else (asdict(changed), max(_LEAST, changed.expires - now))

        kind = _QUESTION if form is Question else _CHALLENGE
        return changed if await self._custody.change(kind, id, write) else None


class SessionQuestions:
    """Where the questions about the calls of each session are, and their end with it.

    They are in the store that the adapter shares with its operators; with state in memory no operator sees them. With
    `stays` those of a session of nobody in particular stay in its process if that store is away for the first of them.
    """

    def __init__(self, state: State, *, stays: bool) -> None:
        self.for_operators = state.shared.store.shared
        self.shared = QuestionStore(state.shared)
        self._local = QuestionStore(state.local)
        self._of_process = None if stays else self.shared
        self._ended: set[tuple[QuestionStore, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def of(self, session_id: str | None) -> QuestionStore:
        """Return the store of the present caller's questions in a session. Raises StoreAway."""
        if session_id in (None, TERMINAL) or current_caller() is not None:
            return self.shared
        if self._of_process is None:
            self._of_process = self._local
            with suppress(StoreAway):
                await self.shared.questions()
                self._of_process = self.shared
        return self._of_process

    async def undecided(self, session_id: str | None) -> list[Question]:
        """Return the questions about the present caller's calls that nobody has decided. Raises StoreAway."""
        owner, now = (session_id or "", current_caller() or ""), self.shared.clock()
        return [
            question
            for question in (await (await self.of(session_id)).questions() if any(owner) else ())
            if question.kind in ("call", "plan") and (question.session, question.caller) == owner
            if not (question.verdict or question.is_asked or question.permits(now))
        ]

    def end(self, ended: set[tuple[QuestionStore, str]]) -> None:
        """Withdraw what a session has had there: now if something still runs, else before the adapter ends."""
        self._ended |= ended
        with suppress(RuntimeError):
            task = asyncio.get_running_loop().create_task(self.flush())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def flush(self) -> None:
        """Withdraw the questions and approvals of sessions that have ended."""
        while self._ended:
            store, question_id = self._ended.pop()
            with suppress(StoreAway):
                await store.withdraw(question_id)

    async def close(self) -> None:
        """Withdraw them for good."""
        while self._tasks:
            await asyncio.wait(self._tasks)
            await asyncio.sleep(0)
        await self.flush()


def _restored(form: type[Item], values: dict[str, Any]) -> Item:
    known = values.keys() & form.__dataclass_fields__.keys()  # an earlier release may have kept more
    fields: dict[str, Any] = {name: tuple(item) if isinstance(item := values[name], list) else item for name in known}
    return form(**fields)


def _new_code() -> str:
    """Return a code of 160 random bits: eight groups of four letters and digits, none of which looks like another."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    text = "".join(secrets.choice(letters) for _ in range(_CODE_BYTES * 8 // 5))
    return "-".join(text[begin : begin + _GROUP] for begin in range(0, len(text), _GROUP))


def _digest(salt: str, code: str) -> str:
    """Return the digest of a code as a person may type it: case, blanks and hyphens make no difference."""
    typed = "".join(code.split()).replace("-", "").upper()
    return hashlib.sha256(f"{salt} {typed}".encode("utf-8", "surrogatepass")).hexdigest()
