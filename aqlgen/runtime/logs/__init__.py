# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Diagnostics outside of answers (R-OPS-4)."""

from __future__ import annotations

NUMBERS = {
    "debug": 10,
    "info": 20,
    "notice": 25,
    "warning": 30,
    "error": 40,
    "critical": 50,
    "alert": 60,
    "emergency": 70,
}
"""The eight levels of RFC 5424, the least severe first, with their numbers in Python's `logging`."""

LEVELS = tuple(NUMBERS)
