# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The API's own limits of calls, kept: a request that would exceed one is refused before it is sent (R-RATE-2).

What an answer tells of a quota counts for the origin and the credential that it was given to. APIs may have several
quotas: an operation that was told of one goes by that, any other goes by the only one that is known.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from .errors import Code, Failure
from .notices import QUOTAS
from .wire import ApiRequest, ApiResponse

__all__ = ["Meter"]

_EVERY = ""
"""The quota of an answer 429 that names none."""
_MOST_CALLERS = 256
_LONGEST = 3600.0
"""However far the end of a quota is, after this time one request finds out whether it still holds."""
_TOLD = frozenset({"ratelimit", *QUOTAS})


@dataclass(slots=True)
class _Quota:
    """What is left until `ends`, as the API last told; `under_way` are requests that it has not answered yet."""

    left: int
    ends: float
    limit: int = 0
    under_way: int = 0


@dataclass(slots=True)
class _Caller:
    """The quotas of one origin and credential by name, and by operation the names of those it was told of."""

    quotas: dict[str, _Quota] = field(default_factory=dict)
    operations: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, operation: str) -> list[_Quota]:
        """Give the quotas that an operation counts against."""
        names = self.operations.get(operation)
        if names is None:
            names = tuple(self.quotas) if len(self.quotas) == 1 else ()
        found = [self.quotas[name] for name in names if name in self.quotas]
        every = self.quotas.get(_EVERY)
        return found if every is None or every in found else [*found, every]


class Meter:
    """Reads what answers tell of quotas. `now` gives seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._callers: OrderedDict[tuple[str, frozenset[str]], _Caller] = OrderedDict()

    @contextmanager
    def admitted(self, request: ApiRequest, operation: str) -> Iterator[None]:
        """Count a request as under way. Raises Failure (RATE_LIMIT_EXCEEDED) when it would exceed a quota."""
        caller = self._callers.get(_key(request))
        held = caller.of(operation) if caller is not None else []
        now = self._now()
        for one in held:
            if one.ends > now and one.left - one.under_way <= 0:
                raise _exceeded(ceil(one.ends - now), one.limit)
        for one in held:
            one.under_way += 1
        try:
            yield
        finally:
            for one in held:
                one.under_way -= 1

    def note(self, request: ApiRequest, operation: str, response: ApiResponse) -> None:
        """Remember what an answer tells."""
        headers = response.headers
        limited = response.status == 429
        if not limited and _TOLD.isdisjoint(headers):
            return
        now = self._now()
        told = dict(_told(headers, now))
        if limited:
            self._blocked(headers, told, now)
        if not told:
            return
        key = _key(request)
        caller = self._callers.setdefault(key, _Caller())
        self._callers.move_to_end(key)
        while len(self._callers) > _MOST_CALLERS:
            self._callers.popitem(last=False)
        for name, quota in told.items():
            known = caller.quotas.get(name)
            if known is not None:
                quota.under_way = known.under_way
                known.left, known.ends, known.limit = quota.left, quota.ends, quota.limit
            else:
                caller.quotas[name] = quota
        names = tuple(name for name in told if name != _EVERY)
        if names:
            caller.operations[operation] = names

    @staticmethod
    def _blocked(headers: Mapping[str, str], told: dict[str, _Quota], now: float) -> None:
        """Take an answer 429: nothing is left of the quota that it names, or of all."""
        from .retries import retry_after

        wait = retry_after(headers.get("retry-after", ""), now)
        spent = [one for one in told.values() if one.left <= 0]
        if wait is None:
            return
        if not spent and len(told) == 1:
            spent = list(told.values())
        for one in spent:
            one.left, one.ends = 0, now + min(wait, _LONGEST)
        if not spent:
            told[_EVERY] = _Quota(0, now + min(wait, _LONGEST))


def _told(headers: Mapping[str, str], now: float) -> Iterator[tuple[str, _Quota]]:
    """Give every quota that has an end, by a name that tells it from others."""
    if _TOLD.isdisjoint(headers):
        return
    from .quota import quotas, resets_in

    for one in quotas(headers):
        seconds = resets_in(one.reset, _clock(headers, now)) if one.reset else None
        if seconds is not None:
            name = f"{one.name}/{one.limit}/{one.window or ''}"
            yield name, _Quota(one.remaining, now + min(seconds, _LONGEST), one.limit)


def _clock(headers: Mapping[str, str], now: float) -> float:
    """Give the API's own time, so that clocks that differ do no harm."""
    from email.utils import parsedate_to_datetime

    try:
        told = parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        return now
    return told


def _key(request: ApiRequest) -> tuple[str, frozenset[str]]:
    scheme, _, rest = request.url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}", request.secrets


def _exceeded(seconds: int, limit: int) -> Failure:
    details: dict[str, Any] = {"retry_after_seconds": seconds, "remaining": 0, "sent": False}
    if limit:
        details["limit"] = limit
    message = f"API rate limit exceeded: nothing was sent, try again in {seconds} seconds"
    return Failure(Code.RATE_LIMIT_EXCEEDED, message, details)
