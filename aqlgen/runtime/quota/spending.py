# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
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
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..state import Count, Counter, StoreAway
from ..text import iso_time
from ..warnings import CallWarning
from ..warnings.thresholds import QUOTA
from ..wire import QuotaPaused
from .counting import Quotas, Use, caller_id, scope_text, seconds_until
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
        quotas = self._quotas
        limits = quotas.limits.of(row)
        if not limits:
            return
        counters = self._counters(limits, again=again)
        spent = await quotas.spend(counters)
        if spent is None and not quotas.open_when_away:
            raise self._uncounted()
        if spent is None:
            text = "The owner's quotas are not counted now: their store cannot be reached"
            self._warnings[UNCOUNTED] = CallWarning(UNCOUNTED, text, "medium")
            quotas.note("uncounted")
        elif spent.admitted:
            for limit, counter, count in zip(limits, counters, spent.counts, strict=True):
                if count.used >= limit.warn:
                    self._warnings[counter.key] = self._warning(Use(limit, count))
                    self._note_reached(limit, count.used)
        else:
            raise self._refusal(limits, counters, spent.counts)

    async def go_on(self, row: Row, paused: QuotaPaused) -> None:
        """Return if the call may go on. Raises Failure if nobody said so."""
        uses = [use for use in paused.quotas if isinstance(use, Use)]
        caller = caller_id()
        keys = [self._quotas.key(use.limit, caller) for use in uses]
        try:
            await self._settle_pause(row, uses, keys)
            self._quotas.note("continued", uses[0].limit)
        except StoreAway:
            if not self._quotas.open_when_away:
                raise self._uncounted() from None
            self._quotas.note("uncounted")
        except Failure:
            self._quotas.note("paused", uses[0].limit)
            raise
        self._continued.update(keys)

    async def _settle_pause(self, row: Row, uses: Sequence[Use], keys: Sequence[str]) -> None:
        """Return if a token or a person said that the call may go on. Raises Failure if not, and StoreAway."""
        by_person, person, session = self._quotas.config.confirmation.approval != "agent", self._person, self._session
        if self.tokens and not by_person:
            tokens = self._quotas.tokens
            await tokens.use(session.id, await tokens.open(session.id, self.tokens.pop(0), _UNSENT, keys), _UNSENT)
        elif person is not None and person.reachable:
            if not await person.ask(self._question(row, uses)):
                raise self._paused(uses[0], "The person did not agree to continue; do not try again.")
        elif by_person:
            raise self._paused(uses[0], "Only a person can agree to continue, and this client cannot ask one.")
        else:
            raise await self._issue(uses, keys)

    def _counters(self, limits: Sequence[Limit], *, again: bool) -> list[Counter]:
        """Return what a request counts, up to the pause unless it goes on."""
        caller = caller_id()
        counters = []
        for limit in limits:
            key, most = self._quotas.key(limit, caller), limit.most
            if not again and key not in self._continued:
                most = min(most, limit.pause)  # what was used before has to be less than `pause`
            counters.append(Counter(key, limit.window, 1, most))
        return counters

    def _refusal(
        self, limits: Sequence[Limit], counters: Sequence[Counter], counts: Sequence[Count]
    ) -> Failure | QuotaPaused:
        """Return why a request is not sent."""
        uses = [Use(limit, count) for limit, count in zip(limits, counts, strict=True)]
        spent = [use for use in uses if use.window.used >= use.limit.most]
        if spent:
            use = max(spent, key=lambda use: use.window.ends)
            self._quotas.note("exhausted", use.limit)
            return self._exhausted(use)
        return QuotaPaused(
            tuple(
                use
                for use, counter in zip(uses, counters, strict=True)
                if counter.limit is not None and use.window.used + counter.amount > counter.limit
            )
        )

    def _uncounted(self) -> Failure:
        """Return the refusal of a request that cannot be counted."""
        self._quotas.note("refused_uncounted")
        text = (
            "Internal error: the store of the owner's quotas is down, so nothing was sent. Try again "
            "in a while, and tell the adapter's owner if it stays."
        )
        details = {"reason": "the store is down", "retry_after_seconds": 1, "sent": False}
        return Failure(Code.INTERNAL_ERROR, text, details)

    def _note_reached(self, limit: Limit, used: int) -> None:
        """Report a threshold that this very request has reached."""
        for step, threshold in (("reached_pause", limit.pause), ("reached_warn", limit.warn)):
            if used == threshold:
                self._quotas.note(step, limit)
                return

    def _warning(self, use: Use) -> CallWarning:
        limit, used = use.limit, use.window.used
        details: dict[str, Any] = {
            "metric": limit.metric,
            "current": used,
            "warn_threshold": limit.warn,
        }
        if used < limit.pause < limit.most:
            details["pause_threshold"] = limit.pause
        else:
            details["hard_stop_threshold"] = limit.most
        details |= limit.label
        return CallWarning(
            QUOTA, "Approaching quota limit", "high" if used > limit.most * _URGENT else "medium", details
        )

    def _exhausted(self, use: Use) -> Failure:
        limit = use.limit
        wait = seconds_until(use.window.ends)
        details: dict[str, Any] = {
            "metric": limit.metric,
            "current": use.window.used,
            "hard_stop_threshold": limit.most,
            "resets_at": iso_time(use.window.ends),
            "retry_after_seconds": wait,
            "sent": False,
        }
        text = (
            f"Quota exhausted: {limit.metric} is limited to {limit.most}"
            f"{scope_text(limit)} by the adapter's owner. Nothing was sent; try again in {wait} seconds."
        )
        return Failure(Code.QUOTA_EXHAUSTED, text, details | limit.label)

    def _question(self, row: Row, uses: Sequence[Use]) -> str:
        """Return the question, which is the same for the same call until the quota begins anew."""
        lines = [
            f"{use.limit.metric}{scope_text(use.limit)}: more than {use.limit.pause} "
            f"of {use.limit.most} are used, until {iso_time(use.window.ends)}"
            for use in uses
        ]
        return "\n".join([f"Quota nearly used up. Continue with '{row.name}'?", *lines])

    async def _issue(self, uses: Sequence[Use], keys: Sequence[str]) -> Failure:
        """Return the pause with a token for it. Raises Failure for one token too many."""
        quotas, seconds = self._quotas, self._quotas.config.confirmation.ttl
        token = await quotas.tokens.issue(self._session.id, keys, seconds, _UNSENT)
        advice = "If your user agrees, call it again with _quota_continue added to its params."
        return self._paused(uses[0], advice, {"confirmation_token": token.text, "expires_at": token.expires_at})

    def _paused(self, use: Use, advice: str, token: dict[str, str] | None = None) -> Failure:
        limit = use.limit
        details: dict[str, Any] = {
            "metric": limit.metric,
            "current": use.window.used,
            "pause_threshold": limit.pause,
            "hard_stop_threshold": limit.most,
            **(token or {}),
            "resets_at": iso_time(use.window.ends),
            "retry_after_seconds": seconds_until(use.window.ends),
            "sent": False,
            **limit.label,
        }
        text = (
            f"Quota pause threshold reached: {use.window.used} of "
            f"{limit.most} {limit.metric}{scope_text(limit)} are used. "
            f"Nothing was sent. {advice}"
        )
        return Failure(Code.QUOTA_PAUSE, text, details)
