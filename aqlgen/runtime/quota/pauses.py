# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The pause of a quota: a person says to go on, or the agent by a token (rate limiting document, 4.3 and 4.4).

A token is a ticket, good for one call of the caller and in the session that it was issued to, and for the quotas that
were paused. Every replica can check it, and one call alone uses it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..state.tickets import Holder, Tickets
from ..text import iso_time
from .counting import Quotas, Use, scope_text, seconds_until
from .limits import amount_text

if TYPE_CHECKING:
    from ..protocol_operations import Person
    from ..session import Session
    from ..table import Row

__all__ = ["Pauses"]

_KIND, _PREFIX = "quota", "quota_continue_"
_KEY = 8
"""Bytes of the mark of each quota."""
_ADVICE = "Nothing was sent. Call the operation again without _quota_continue to get a new one."
_UNSENT = {"sent": False}


class Pauses:
    """Settles the pauses of one call; with `ask` a person may be asked now, else in the next call."""

    def __init__(self, quotas: Quotas, session: Session, row: Row, *, ask: bool) -> None:
        self._quotas = quotas
        self._row = row
        self._ask = ask
        self._holder = Holder.of(quotas.adapter, session.id)
        config = quotas.config
        bounds: dict[str, Any] = {"per_minute": config.confirmation.per_minute, "skew": config.confirmation.skew}
        self._tickets = Tickets(_KIND, _PREFIX, name="quota token", advice=_ADVICE, **bounds)

    async def settle(self, uses: Sequence[Use], keys: Sequence[str], tokens: list[str], person: Person | None) -> str:
        """Return "token" or "person" if one said that the call may go on. Raises Failure if not, and StoreAway."""
        by_person = self._quotas.config.confirmation.approval != "agent"
        if tokens and not by_person:
            await self._redeem(tokens.pop(0), keys)
            return "token"
        if person is not None and person.reachable:
            if not self._ask:
                raise self._paused(uses[0], "A person is asked whether to go on when it is called again.")
            if await person.ask(self._question(uses)):
                return "person"
            raise self._paused(uses[0], "The person who was asked did not say to go on; do not try again.")
        if by_person:
            raise self._paused(uses[0], "Only a person may say to go on, and this client has no way to ask one.")
        raise await self._issue(uses, keys)

    def _question(self, uses: Sequence[Use]) -> str:
        """Return the question, which is the same for the same call until the quota begins anew."""
        currency = self._quotas.config.quota.currency
        lines = [
            f"{use.limit.metric}{scope_text(use.limit)}: more than {amount_text(use.limit, use.limit.pause, currency)} "
            f"of {amount_text(use.limit, use.limit.most, currency)} are used, until {iso_time(use.window.ends)}"
            for use in uses
        ]
        return "\n".join([f"Quota nearly used up. Continue with '{self._row.name}'?", *lines])

    async def _issue(self, uses: Sequence[Use], keys: Sequence[str]) -> Failure:
        """Return the pause with a token for it. Raises Failure for one token too many."""
        quotas = self._quotas
        bound = [(key, _KEY) for key in keys]
        seconds = quotas.config.confirmation.ttl
        token = await self._tickets.issue(quotas.custody, self._holder, bound, seconds, _UNSENT)
        advice = "To go on, call it again with _quota_continue; do so only if your user wants this."
        return self._paused(uses[0], advice, {"confirmation_token": token.text, "expires_at": token.expires_at})

    async def _redeem(self, text: str, keys: Sequence[str]) -> None:
        """Use up a token. Raises Failure if it is not good for this."""
        custody = self._quotas.custody
        token = await self._tickets.open(custody, text, self._holder, _UNSENT)
        if not all(token.fits(key, _KEY) for key in keys):
            raise self._tickets.refused(Code.TOKEN_SCOPE_MISMATCH, "was issued for another quota", _UNSENT)
        await self._tickets.use(custody, token, _UNSENT)

    def _paused(self, use: Use, advice: str, token: dict[str, str] | None = None) -> Failure:
        limit, currency = use.limit, self._quotas.config.quota.currency
        details: dict[str, Any] = {
            "metric": limit.metric,
            "current": limit.shown(use.window.used),
            "pause_threshold": limit.shown(limit.pause),
            "hard_stop_threshold": limit.shown(limit.most),
            **(token or {}),
            "resets_at": iso_time(use.window.ends),
            "retry_after_seconds": seconds_until(use.window.ends),
            "sent": False,
            **limit.label(currency),
        }
        text = (
            f"Quota pause threshold reached: {amount_text(limit, use.window.used, currency)} of "
            f"{amount_text(limit, limit.most, currency)} {limit.metric}{scope_text(limit)} are used. "
            f"Nothing was sent. {advice}"
        )
        return Failure(Code.QUOTA_PAUSE, text, details)
