# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operator's desk: what waits for a person, in the store that adapter and operator share (R-OPS-1).

The adapter puts matters and challenges on the desk, and asks what became of them. The operator's page and terminal are
another process, which an agent cannot reach: they list, approve, deny and show codes. Everything is sealed with the
adapter's keys, so that whoever can write to the store, but has no key, approves nothing.

The code of a challenge is made when an operator looks at it, and shown there alone: the store has a salted digest of
it, and a code that is shown again is another one (specification, 8.8.2, 8.8.4; R-LOOP-5).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..state.custody import Custody

__all__ = ["Challenge", "Desk", "Matter", "SessionApproval", "Verdict"]

Verdict = Literal["", "approved", "denied"]
_MATTER, _CHALLENGE, _APPROVAL = "desk.matter", "desk.challenge", "desk.approval"
_DECIDED, _DECIDED_FORBIDDEN = 300.0, 120.0
"""Seconds for which a decision holds at least, so that the caller can come back for it."""
_ID = 10
"""Letters of an id: 50 bits, which only the adapter can compute."""
_SPENT = 1.0
_CODE_BYTES = 20
"""Bytes of a code: 160 random bits."""
_GROUP = 4


@dataclass(frozen=True, slots=True)
class Matter:
    """A question that an operator can decide. Times are in seconds since the epoch.

    `id` says which call, step or start it is about: the same one asked again is the same matter. `title` is the
    question in one line of words, `question` all of it. `scope` is how far an approval reaches. `reach` says in words
    what an approval for the session would cover; it is empty where there is no such approval. `digest` is that of
    everything that the matter is about, and `cooldown` the seconds between the question and the run.
    """

    id: str
    kind: Literal["call", "plan", "start", "step"]
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
    scope: Literal["once", "session"] = "once"
    by: str = ""
    reach: str = ""
    digest: str = ""
    cooldown: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionApproval:
    """The approval of calls of one shape for the rest of a session. `reach` says in words what it covers.

    `shape` is the digest of the calls that it covers, their session and caller included. `left` counts those to come.
    """

    id: str
    shape: str
    operation: str
    reach: str
    by: str
    granted: float
    expires: float
    left: int
    caller: str = ""
    session: str = ""


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


class Desk:
    """The matters and challenges of one adapter. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody, clock: Callable[[], float] = time.time) -> None:
        self._custody = custody
        self._clock = clock

    # For the adapter

    async def id_of(self, digest: str) -> str:
        """Return the id of the matter with this digest, in hexadecimal. Nobody without the keys can compute it."""
        sealed = (await self._custody.sealer()).wrap("desk.id", bytes.fromhex(digest))
        letters = base64.b32encode(hashlib.sha256(sealed.encode()).digest()).decode().lower()
        return letters[:_ID]

    async def ask(self, matter: Matter) -> None:
        """Put a matter on the desk until it expires; one that an operator has decided stays as it is.

        One that is asked again was asked when it was asked first.
        """

        def put(old: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            asked = matter.asked
            if old is not None and old["expires"] > self._clock() and old["digest"] == matter.digest:
                asked = old["asked"]
                if old["verdict"] or matter.expires - old["expires"] < (matter.expires - matter.asked) / 4:
                    return None
            return asdict(replace(matter, asked=asked)), self._left(matter.expires)

        await self._custody.change(_MATTER, matter.id, put)

    async def use(self, id: str, digest: str) -> Matter | None:
        """Use up the approval of the matter with this digest. Of all who try, one gets it; None for the others."""
        approved: Matter | None = None

        def spend(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            nonlocal approved
            matter, now = None if values is None else _matter(values), self._clock()
            is_good = matter is not None and matter.verdict == "approved" and matter.expires > now
            approved = matter if is_good and matter is not None and matter.digest == digest else None
            return None if approved is None else (asdict(replace(approved, verdict="", expires=now)), _SPENT)

        return approved if await self._custody.change(_MATTER, id, spend) else None

    async def grant(self, approval: SessionApproval) -> None:
        """Keep an approval for a session, in the place of one for the same calls."""
        await self._custody.keep(_APPROVAL, approval.shape, asdict(approval), self._left(approval.expires))

    async def approval(self, shape: str) -> SessionApproval | None:
        """Return the approval of calls of this shape; None where there is none, or none any more."""
        values = await self._custody.kept(_APPROVAL, shape)
        approval = None if values is None else SessionApproval(**values)
        return None if approval is None or approval.left < 1 or approval.expires <= self._clock() else approval

    async def spend(self, shape: str, calls: int) -> SessionApproval | None:
        """Count so many calls of an approval; None where it does not cover as many."""
        used: SessionApproval | None = None

        def count(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            nonlocal used
            used = None
            approval = None if values is None else SessionApproval(**values)
            if approval is None or approval.left < calls or approval.expires <= self._clock():
                return None
            used = replace(approval, left=approval.left - calls)
            return asdict(used), self._left(approval.expires)

        return used if await self._custody.change(_APPROVAL, shape, count) else None

    async def matter(self, id: str) -> Matter | None:
        """Return a matter with its verdict so far; None for one that is not there, or has expired."""
        values = await self._custody.kept(_MATTER, id)
        matter = None if values is None else _matter(values)
        return None if matter is None or matter.expires <= self._clock() else matter

    async def withdraw(self, id: str) -> bool:
        """Take a matter off the desk: it was decided elsewhere, or its approval is used. False if it is gone."""
        return await self._custody.remove(_MATTER, id)

    async def challenge(self, challenge: Challenge) -> None:
        """Put a challenge on the desk until it expires. It has no code yet."""
        await self._custody.keep(_CHALLENGE, challenge.id, asdict(challenge), self._left(challenge.expires))

    async def verify(self, id: str, code: str) -> bool:
        """Return True if the code is that of the challenge; it is good for this one try, right or wrong.

        A challenge that was met is gone; one that was not needs another code.
        """
        matched = False

        def use(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            nonlocal matched
            matched = False
            if values is None:
                return None
            challenge = _challenge(values)
            if not challenge.digest or challenge.expires <= self._clock():
                return None
            matched = secrets.compare_digest(_digest(challenge.salt, code), challenge.digest)
            return asdict(replace(challenge, salt="", digest="")), self._left(challenge.expires)

        if not await self._custody.change(_CHALLENGE, id, use) or not matched:
            return False
        return await self._custody.remove(_CHALLENGE, id)

    async def drop_challenge(self, id: str) -> bool:
        """Take a challenge off the desk; False if it is gone."""
        return await self._custody.remove(_CHALLENGE, id)

    async def end(self, shape: str) -> bool:
        """End the approval of calls of a shape; False if there is none."""
        return await self._custody.remove(_APPROVAL, shape)

    # For the operator

    async def matters(self) -> list[Matter]:
        """Return what is on the desk, the oldest first, decided or not."""
        matters = [_matter(values) for values in await self._custody.all_kept(_MATTER)]
        return sorted((matter for matter in matters if matter.expires > self._clock()), key=lambda matter: matter.asked)

    async def decide(
        self, id: str, verdict: Literal["approved", "denied"], by: str, scope: Literal["once", "session"] = "once"
    ) -> bool:
        """Decide a matter. False if it is gone, has expired, was decided before, or cannot be approved that far.

        A decision holds for five minutes, or for two where an operation is forbidden, and until the matter expires.
        """

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            matter, now = None if values is None else _matter(values), self._clock()
            if matter is None or matter.verdict or matter.expires <= now or (scope == "session" and not matter.reach):
                return None
            holds = _DECIDED_FORBIDDEN if matter.danger == "forbidden" else _DECIDED
            expires = max(matter.expires, now + holds)
            return asdict(replace(matter, verdict=verdict, by=by, scope=scope, expires=expires)), self._left(expires)

        return await self._custody.change(_MATTER, id, write)

    async def approvals(self) -> list[SessionApproval]:
        """Return the approvals for sessions, the oldest first."""
        approvals = [SessionApproval(**values) for values in await self._custody.all_kept(_APPROVAL)]
        now = self._clock()
        return sorted((item for item in approvals if item.left and item.expires > now), key=lambda item: item.granted)

    async def revoke(self, id: str) -> SessionApproval | None:
        """End an approval for a session, from the next call on; None if there is none with this id."""
        for approval in await self.approvals():
            if approval.id == id and await self.end(approval.shape):
                return approval
        return None

    async def challenges(self) -> list[Challenge]:
        """Return the challenges, the oldest first; none of them has its code with it."""
        challenges = [_challenge(values) for values in await self._custody.all_kept(_CHALLENGE)]
        now = self._clock()
        return sorted((item for item in challenges if item.expires > now), key=lambda item: item.asked)

    async def reveal(self, id: str) -> str | None:
        """Return a new code for a challenge, which a person may show to nobody but the client; None if it is gone.

        A code that was shown before is void from here on.
        """
        code = _new_code()

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            challenge = None if values is None else _challenge(values)
            if challenge is None or challenge.expires <= self._clock():
                return None
            salt = secrets.token_hex(16)
            shown = replace(challenge, salt=salt, digest=_digest(salt, code))
            return asdict(shown), self._left(challenge.expires)

        return code if await self._custody.change(_CHALLENGE, id, write) else None

    def _left(self, expires: float) -> float:
        return max(1.0, expires - self._clock())


def _matter(values: dict[str, Any]) -> Matter:
    return Matter(**{**values, "operations": tuple(values["operations"]), "reasons": tuple(values["reasons"])})


def _challenge(values: dict[str, Any]) -> Challenge:
    return Challenge(**{**values, "factors": tuple(values["factors"])})


def _new_code() -> str:
    """Return a code of 160 random bits: eight groups of four letters and digits, none of which looks like another."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    text = "".join(secrets.choice(letters) for _ in range(_CODE_BYTES * 8 // 5))
    return "-".join(text[begin : begin + _GROUP] for begin in range(0, len(text), _GROUP))


def _digest(salt: str, code: str) -> str:
    """Return the digest of a code as a person may type it: case, blanks and hyphens make no difference."""
    typed = "".join(code.split()).replace("-", "").upper()
    return hashlib.sha256(f"{salt} {typed}".encode("utf-8", "surrogatepass")).hexdigest()
