"""The counting of requests against the owner's quotas, before they are sent (rate limiting document, 4.3; R-RATE-1).

A request is counted in all of its limits in one step of the store, or in none. From the pause threshold on a call goes
on only when a person says so, or when its agent brings the token that it was given: `_quota_continue` (4.4). Then all
of the call's requests go on, a batch's and a plan's included, up to the hard stop. While the store is away nothing is
counted: nothing is sent, or, if the owner wants that, it is sent with a warning.

A token is a ticket, good for one call of the caller and in the session that it was issued to, and for the quotas that
were paused. Every replica can check it, and one call alone uses it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..envelope import CallWarning
from ..errors import IF_AGREED, Code, Failure
from ..state import Counter, StoreAway
from ..text import iso_time
from ..warnings.thresholds import QUOTA
from ..wire import QuotaPaused
from .counting import Quotas, Use, caller_id
from .limits import Limit

if TYPE_CHECKING:
    from ..protocol_operations import Person
    from ..session import Session
    from ..table import Row

UNCOUNTED = "RATE_LIMIT_UNCOUNTED_WARNING"
"""Code of the warning that a call was not counted."""

_URGENT = 0.9
_UNSENT = {"sent": False}


class CallSpending:
    """The spending of one call of a tool: an operation, or all of a batch or plan. `tokens` came with the call."""

    def __init__(self, quotas: Quotas, session: Session, person: Person | None) -> None:
        self.tokens: list[str] = []
        self._quotas = quotas
        self._session = session
        self._person = person
        self._continued: set[str] = set()
        self._refused: dict[str, Failure] = {}
        """Why the call may not go on, by the key of a limit: nobody is asked twice."""
        self._warnings: dict[str, CallWarning] = {}

    def offer(self, token: object) -> None:
        """Take a token that came with the call or a part of it."""
        if isinstance(token, str) and token not in self.tokens:
            self.tokens.append(token)

    def take_warnings(self) -> list[CallWarning]:
        """Return the warnings since the last time."""
        warnings, self._warnings = list(self._warnings.values()), {}
        return warnings

    async def admit(self, row: Row, *, again: bool = False) -> None:
        """Count a request. Raises Failure if it must not be sent, and QuotaPaused unless `again`."""
        limits = self._quotas.limits.of(row)
        if not limits:
            return
        keys = self._keys(limits)
        bounds = [
            limit.most if again or key in self._continued else min(limit.most, limit.pause)
            for key, limit in zip(keys, limits, strict=True)
        ]
        counters = [Counter(key, limit.window, 1, most) for key, limit, most in zip(keys, limits, bounds, strict=True)]
        spent = await self._quotas.spend(counters)
        if spent is None:
            self._go_uncounted()
            return
        uses = list(map(Use, limits, spent.counts))
        if not spent.admitted:
            raise self._refusal(uses, bounds)
        for key, use in zip(keys, uses, strict=True):
            if use.window.used >= use.limit.warn:
                self._warnings[key] = _warning(use)
            if use.window.used in (use.limit.pause, use.limit.warn):  # this very request has reached it
                step = "pause" if use.window.used == use.limit.pause else "warn"
                self._quotas.note(f"reached_{step}", use.limit)

    async def go_on(self, row: Row, paused: QuotaPaused) -> None:
        """Return if the call may go on. Raises Failure if nobody said so."""
        uses = [use for use in paused.quotas if isinstance(use, Use)]
        keys = self._keys([use.limit for use in uses])
        try:
            await self._agreed(row, uses, keys)
            self._quotas.note("continued", uses[0].limit)
        except StoreAway:
            self._go_uncounted()
        except Failure as refusal:
            self._quotas.note("paused", uses[0].limit)
            if refusal.code is Code.QUOTA_PAUSE:
                self._refused |= dict.fromkeys(keys, refusal)
            raise
        self._continued.update(keys)

    async def _agreed(self, row: Row, uses: Sequence[Use], keys: Sequence[str]) -> None:
        """Return if a token or a person said that the call may go on. Raises Failure if not, and StoreAway."""
        tokens, settings = self._quotas.tokens, self._quotas.config.confirmation
        by_person, person, session = settings.approval != "agent", self._person, self._session
        refusal = next((self._refused[key] for key in keys if key in self._refused), None)
        if self.tokens and not by_person:
            await tokens.use(session.id, await tokens.open(session.id, self.tokens.pop(0), _UNSENT, keys), _UNSENT)
        elif refusal is not None:
            raise Failure(refusal.code, refusal.message, dict(refusal.details))
        elif person is not None and person.reachable:
            if not await person.ask(_question(row, uses)):
                raise _paused(uses[0], "The person did not agree to continue; do not try again.")
        elif by_person:
            raise _paused(uses[0], "Only a person can agree to continue, and this client cannot ask one.")
        else:
            token = await tokens.issue(session.id, keys, settings.ttl, _UNSENT)
            raise _paused(
                uses[0],
                f"{IF_AGREED}_quota_continue added to its params.",
                confirmation_token=token.text,
                expires_at=token.expires_at,
            )

    def _keys(self, limits: Sequence[Limit]) -> list[str]:
        caller = caller_id()
        return [limit.key(caller) for limit in limits]

    def _refusal(self, uses: Sequence[Use], bounds: Sequence[int]) -> Failure | QuotaPaused:
        """Return why a request is not sent; `bounds` are what its call may use of each limit."""
        spent = [use for use in uses if use.window.used >= use.limit.most]
        if spent:
            use = max(spent, key=lambda use: use.window.ends)
            self._quotas.note("exhausted", use.limit)
            details = use.refused
            text = (
                f"Quota exhausted: {use.limit} is limited to {use.limit.most} by the adapter's owner. "
                f"Nothing was sent; try again in {details['retry_after_seconds']} seconds."
            )
            return Failure(Code.QUOTA_EXHAUSTED, text, details)
        return QuotaPaused(tuple(use for use, most in zip(uses, bounds, strict=True) if use.window.used >= most))

    def _go_uncounted(self) -> None:
        """Warn that a request is not counted. Raises Failure unless the owner wants such requests sent."""
        if self._quotas.open_when_away:
            text = "The owner's quotas are not counted now: their store cannot be reached"
            self._warnings[UNCOUNTED] = CallWarning(UNCOUNTED, text, "medium")
            self._quotas.note("uncounted")
            return
        self._quotas.note("refused_uncounted")
        text = (
            "Internal error: the store of the owner's quotas is down, so nothing was sent. Try again "
            "in a while, and tell the adapter's owner if it stays."
        )
        details = {"reason": "the store is down", "retry_after_seconds": 1, "sent": False}
        raise Failure(Code.INTERNAL_ERROR, text, details)


def _warning(use: Use) -> CallWarning:
    limit, used = use.limit, use.window.used
    paused_before = used < limit.pause < limit.most
    ahead = {"pause_threshold": limit.pause} if paused_before else {"hard_stop_threshold": limit.most}
    severity = "high" if used > limit.most * _URGENT else "medium"
    details = {**use.details, "warn_threshold": limit.warn, **ahead}
    return CallWarning(QUOTA, "Approaching quota limit", severity, details)


def _paused(use: Use, advice: str, **token: str) -> Failure:
    text = (
        f"Quota pause threshold reached: {use.window.used} of {use.limit.most} {use.limit} are used. "
        f"Nothing was sent. {advice}"
    )
    return Failure(Code.QUOTA_PAUSE, text, {**use.refused, "pause_threshold": use.limit.pause, **token})


def _question(row: Row, uses: Sequence[Use]) -> str:
    """Return the question, which is the same for the same call until the quota starts again."""
    lines = [
        f"{use.limit}: more than {use.limit.pause} of {use.limit.most} are used, until {iso_time(use.window.ends)}"
        for use in uses
    ]
    return "\n".join([f"Quota nearly used up. Continue with '{row.name}'?", *lines])
