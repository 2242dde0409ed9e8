# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The pace of requests to a bucket whose size the API does not tell: learnt from its refusals (429).

Between two refusals an API that counts in windows, or by a leaky bucket, has let through as many requests as it lets
through in that time. After the first refusal one request at a time goes on until the second; then they go a little
slower than that, with equal spaces. A later refusal slows them down, and a long time without one speeds them up, ever
more. Ten minutes without a request forget it all.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Pace", "Turn"]

_BELOW, _SLOWER, _MUCH_SLOWER = 0.92, 0.9, 0.5
_SOON = 10
"""Requests since the last refusal; fewer mean that the pace is far too high."""
_LONG_RUN = 250
"""Requests without a refusal after which the rate is raised."""
_FIRST_STEP, _MOST_STEP = 0.02, 0.32
_POLL = 0.01
"""Seconds until a request looks again whether the one before it is answered."""
_LONGEST_LEARNING = 100
"""Requests one at a time after which their own rate is enough."""
_TOGETHER = 60.0
"""Most seconds between two refusals that measure a rate, beyond those that the first one demanded to wait."""
_FORGOTTEN = 600.0


class Turn(NamedTuple):
    """The seconds until a request's turn; if it is not `reserved` the request has to ask again then."""

    seconds: float
    reserved: bool


class Pace:
    """The pace of one bucket. Times are seconds since the epoch, rates are requests a second."""

    __slots__ = ("_accepted", "_floor", "_next", "_refused_at", "_resumes", "_run", "_step", "_used_at", "rate")

    def __init__(self) -> None:
        self.rate: float | None = None
        self._floor = 0.0
        self._accepted = 0
        self._refused_at = 0.0
        self._resumes = 0.0
        self._next = 0.0
        self._run = 0
        self._step = _FIRST_STEP
        self._used_at = 0.0

    def is_forgotten(self, now: float) -> bool:
        """Return True if the pace was not used for so long that it says nothing any more."""
        return now > max(self._used_at, self._resumes) + _FORGOTTEN

    def turn(self, now: float, under_way: int, patience: float) -> Turn:
        """Return the turn of a request, which is reserved if it comes within `patience` (seconds)."""
        if self.rate is None:
            return Turn(_POLL if under_way else 0.0, not under_way)
        turn = max(now, self._next)
        if turn - now > patience:
            return Turn(turn - now, reserved=False)
        self._used_at = now
        self._next = turn + 1 / self.rate
        return Turn(turn - now, reserved=True)

    def accepted(self, now: float) -> None:
        """Take note of a response that is no refusal."""
        self._accepted += 1
        self._run += 1
        self._used_at = now
        if self.rate is None:
            if self._accepted >= _LONGEST_LEARNING:
                self.rate = max(self._floor, self._accepted / max(0.1, now - self._resumes))
                self._run, self._step = 0, _MOST_STEP
        elif self._run >= _LONG_RUN:
            self.rate *= 1 + self._step
            self._run, self._step = 0, min(_MOST_STEP, self._step * 2)

    def refused(self, now: float, seconds: float, sent_at: float) -> None:
        """Take note of a refusal that demands to wait so long; one sent before the last refusal tells nothing new."""
        if sent_at <= self._refused_at:
            return
        self._floor = 1 / max(1.0, seconds)
        if self.rate is not None:
            self.rate = max(self._floor, self.rate * (_SLOWER if self._accepted >= _SOON else _MUCH_SLOWER))
        elif self._refused_at and now - self._resumes <= _TOGETHER:
            self.rate = max(self._floor, self._accepted / max(0.1, now - self._refused_at) * _BELOW)
        self._refused_at, self._resumes = now, now + seconds
        self._next = self._resumes
        self._accepted, self._run, self._step = 0, 0, _FIRST_STEP
