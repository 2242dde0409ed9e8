# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The pause of a quota: a person says to go on, or the agent by a token (rate limiting document, 4.3 and 4.4).

A token is random and good for one call, of the caller and in the session that it was issued to, and for the quotas
that were paused. The store knows its digest, so that every replica knows it and one call alone uses it up.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..session import current_caller
from ..state.store import Counter
from .counting import Quotas, Use, iso_time, scope_text, seconds_until
from .limits import amount_text

if TYPE_CHECKING:
    from ..protocol_operations import Person
    from ..session import Session
    from ..table import Row

__all__ = ["Pauses"]

_SPACE = "quota_token"
_REMEMBERED = 600.0
"""Seconds for which a token is known as expired or used."""
_AGAIN = "Call the operation again without _quota_continue to get a new one."


class Pauses:
    """Settles the pauses of one call."""

    def __init__(self, quotas: Quotas, session: Session, row: Row) -> None:
        self._quotas = quotas
        self._session = session
        self._row = row

    async def settle(self, uses: Sequence[Use], keys: Sequence[str], tokens: list[str], person: Person | None) -> None:
        """Return if the call may go on. Raises Failure if it may not, and StoreAway."""
        by_person = self._quotas.config.approval == "person"
        if tokens and not by_person:
            await self._redeem(tokens.pop(0), keys)
            return
        if person is not None and person.reachable:
            if await person.ask(self._question(uses)):
                return
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
        """Return the pause with a token for it, or the refusal of one more token."""
        quotas, now = self._quotas, time.time()
        whose = hashlib.sha256(repr((current_caller(), self._session.id)).encode("utf-8", "replace")).hexdigest()
        most = quotas.config.confirmation_rate
        issued = await quotas.store.spend([Counter(f"{quotas.adapter} quota tokens {whose}", 60, 1, most)])
        if not issued.admitted:
            wait = seconds_until(issued.counts[0].ends)
            text = f"Too many tokens were asked for: {most} a minute is the most. Wait {wait} seconds."
            return Failure(Code.RATE_LIMIT_EXCEEDED, text, {"limit": most, "retry_after_seconds": wait, "sent": False})
        token = f"quota_continue_{secrets.token_hex(32)}"
        seconds = quotas.config.confirmation_ttl
        record = {**self._binding(), "keys": sorted(keys), "expires": round(now + seconds, 3), "used": False}
        await quotas.store.put(_SPACE, _digest(token), record, seconds + _REMEMBERED)
        advice = "To go on, call it again with _quota_continue; do so only if your user wants this."
        return self._paused(uses[0], advice, {"confirmation_token": token, "expires_at": iso_time(now + seconds)})

    async def _redeem(self, token: str, keys: Sequence[str]) -> None:
        """Use up a token. Raises Failure if it is not good for this."""
        store, digest = self._quotas.store, _digest(token)
        record = await store.get(_SPACE, digest)
        if record is None:
            raise _refused(Code.TOKEN_INVALID, "is not valid")
        if any(record[name] != value for name, value in self._binding().items()):
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued to another caller or in another session")
        if not set(keys) <= set(record["keys"]):
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued for another quota")
        if record["used"]:
            raise _refused(Code.TOKEN_ALREADY_USED, "was used before")
        now = time.time()
        if now > record["expires"]:
            raise _refused(Code.TOKEN_EXPIRED, "has expired")
        if not await store.swap(_SPACE, digest, record, {**record, "used": True}, _REMEMBERED):
            raise _refused(Code.TOKEN_ALREADY_USED, "was used before")

    def _binding(self) -> dict[str, Any]:
        return {"adapter": self._quotas.adapter, "session": self._session.id, "caller": current_caller()}

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


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _refused(code: Code, problem: str) -> Failure:
    return Failure(code, f"Quota token {problem}. Nothing was sent. {_AGAIN}", {"sent": False})
