# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The pace of requests to a bucket whose size the API does not tell: learnt from its refusals (429).

Between two refusals an API that counts in windows, or by a leaky bucket, has let through as many requests as it lets
through in that time. After the first refusal one request at a time goes on until the second; then they go at nine tenths
of that rate, with equal spaces. A later refusal slows them down, and a long time without one speeds them up, ever more.
"""

from __future__ import annotations

__all__ = ["Pace"]

_BELOW = 0.92
_SLOWER = 0.9
_LONG_RUN = 250
"""Requests without a refusal after which the rate is raised."""
_FIRST_STEP, _MOST_STEP = 0.02, 0.32
_POLL = 0.01
"""Seconds until a request looks again whether the one before it is answered."""
_LONGEST_LEARNING = 100
"""Requests one at a time after which their own rate is enough."""
_TOO_LONG = 60.0
"""Seconds between two refusals, beyond the time that the first one demanded, after which they do not belong together."""
_FORGOTTEN = 600.0


class Pace:
    """The pace of one bucket. Times are seconds since the epoch, rates are requests a second."""

    __slots__ = ("_accepted", "_floor", "_next", "_refused_at", "_resumes", "_run", "_step", "rate")

    def __init__(self) -> None:
        self.rate: float | None = None
        self._floor = 0.0
        self._accepted = 0
        self._refused_at = 0.0
        self._resumes = 0.0
        self._next = 0.0
        self._run = 0
        self._step = _FIRST_STEP

    def wait(self, now: float, under_way: int) -> float:
        """Return the seconds until a request may be sent; 0 takes the turn. While learning it has to ask again."""
        if now > self._refused_at + _FORGOTTEN + self._resumes - self._refused_at and self._run == 0:
            return 0.0
        if self.rate is None:
            return _POLL if under_way else 0.0
        return max(0.0, self._next - now)

    def take(self, now: float) -> float:
        """Reserve the next turn and return the seconds until it."""
        assert self.rate is not None  # noqa: S101 - turns are spaced by it
        turn = max(now, self._next)
        self._next = turn + 1 / self.rate
        return turn - now

    def accepted(self, now: float) -> None:
        """Take note of a response that is no refusal."""
        self._accepted += 1
        self._run += 1
        if self.rate is None:
            if self._accepted >= _LONGEST_LEARNING:
                self.rate = max(self._floor, self._accepted / max(0.1, now - self._resumes))
                self._run, self._step = 0, _MOST_STEP
        elif self._run >= _LONG_RUN:
            self.rate *= 1 + self._step
            self._run, self._step = 0, min(_MOST_STEP, self._step * 2)

    def refused(self, now: float, seconds: float, sent_at: float) -> None:
        """Take note of a refusal that demands to wait so long; one sent before the last refusal tells nothing new."""
        if self._refused_at and sent_at <= self._refused_at:
            return
        self._floor = 1 / max(1.0, seconds)
        elapsed = now - self._refused_at
        belongs = self._refused_at and now - self._resumes <= _TOO_LONG
        if belongs and self._accepted:
            measured = self._accepted / max(0.1, elapsed) * _BELOW
            self.rate = max(self._floor, measured if self.rate is None else min(measured, self.rate * _SLOWER))
        elif self.rate is not None:
            self.rate = max(self._floor, self.rate * _SLOWER)
        self._refused_at, self._resumes = now, now + seconds
        self._next = self._resumes
        self._accepted, self._run, self._step = 0, 0, _FIRST_STEP
