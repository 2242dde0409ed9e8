# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The pace of requests to a bucket whose size the API does not tell: learnt from its refusals (429).

After the first refusal one request at a time goes on until the second. What the API let through between the two is at
most what it always lets through, so that requests go at that rate, with equal spaces, and soon at a higher one, until
it refuses again. Then the last rate that it took holds, a little less of it; it is raised after a long time without a
refusal, ever more. Refusals with nothing let through between them measure no rate: the API says how long to wait, and
no more. Ten minutes without a request forget it all.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Pace", "Turn"]

_BELOW = 0.92
"""The part of a rate that was measured or taken which is asked for."""
_SLOWER, _MUCH_SLOWER = 0.9, 0.5
_SOON = 10
"""Requests since the last refusal; fewer mean that the pace is far too high."""
_CLIMB, _CLIMB_RUN, _CLIMB_SECONDS = 0.3, 5, 3.0
"""By how much the rate is raised before it was refused once, and after how many requests and seconds."""
_FIRST_STEP, _MOST_STEP, _LONG_RUN = 0.05, 0.3, 200
"""By how much it is raised later, at first and at most, and after how many requests without a refusal."""
_UNSURE_SECONDS, _SURE_SECONDS = 3.0, 45.0
"""Or after how many seconds: few until a rate was refused right after it was raised, which shows the limit."""
_SHORTEST = 0.1
"""The shortest space between requests that a refusal can demand, by which the slowest pace is bounded."""
_CLOSEST = 0.7
"""The part of a space between two turns that is kept when the process was late for the first."""
_POLL = 0.02
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

    __slots__ = (
        "_accepted", "_climbs", "_floor", "_next", "_raised", "_refused_at", "_resumes", "_run", "_step", "_sure",
        "_used_at", "_went_at", "rate",
    )  # fmt: skip

    def __init__(self) -> None:
        self.rate: float | None = None
        self._floor = 0.0
        self._accepted = 0
        self._refused_at = 0.0
        self._resumes = 0.0
        self._next = 0.0
        self._run = 0
        self._climbs = True
        self._step = _CLIMB
        self._raised = 1.0
        self._sure = False
        self._used_at = 0.0
        self._went_at = 0.0

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

    def go(self, now: float) -> float:
        """Return the seconds that a request whose turn has come still waits for the one before it, which came late."""
        if self.rate is None:
            return 0.0
        gap = self._went_at + _CLOSEST / self.rate - now
        if gap <= 0:
            self._went_at = now
        return max(0.0, gap)

    def accepted(self, now: float, sharers: int = 1) -> None:
        """Take note of a response that is no refusal; of several paces, which may share a bucket, each climbs less."""
        self._accepted += 1
        self._run += 1
        self._used_at = now
        if self.rate is None:
            if self._accepted >= _LONGEST_LEARNING:
                self.rate = max(self._floor, self._accepted / max(0.1, now - self._resumes))
                self._run = 0
        elif self._run >= sharers * (max(_CLIMB_RUN, _CLIMB_SECONDS * self.rate) if self._climbs else self._long_run()):
            self._raised = 1 + self._step
            self.rate *= self._raised
            self._run = 0
            if not self._climbs:
                self._step = min(_MOST_STEP, self._step * 2)

    def _long_run(self) -> float:
        """Return the requests without a refusal after which the last rate that the API took is raised."""
        seconds = _SURE_SECONDS if self._sure else _UNSURE_SECONDS
        return min(_LONG_RUN, max(1.0, seconds * (self.rate or 0.0)))

    def refused(self, now: float, seconds: float, sent_at: float) -> None:
        """Take note of a refusal that demands to wait so long; one sent before the last refusal tells nothing new."""
        if sent_at <= self._refused_at:
            return
        self._floor = 1 / max(_SHORTEST, seconds)
        if not self._accepted:
            pass
        elif self.rate is not None:
            slower = _SLOWER if self._accepted >= _SOON else _MUCH_SLOWER
            self.rate = max(self._floor, self.rate * (slower if self._raised == 1.0 else _BELOW / self._raised))
            self._sure = self._raised > 1.0 or (self._sure and self._accepted >= _SOON)
            self._climbs, self._step = False, _FIRST_STEP
        elif self._refused_at and now - self._resumes <= _TOGETHER:
            self.rate = max(self._floor, self._accepted / max(0.1, now - self._refused_at) * _BELOW)
        self._refused_at, self._resumes = now, now + seconds
        self._next = self._resumes
        self._accepted, self._run, self._raised = 0, 0, 1.0
