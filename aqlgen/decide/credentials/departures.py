"""The codes of the notes on credentials that a document names badly or leaves out."""

from __future__ import annotations

from typing import Final

__all__ = ["ASSUMED", "DEPARTURES", "FORMAT", "LIFTED", "NO_SCHEME", "PARAMETER", "SIGNED", "UNSTATED"]

NO_SCHEME: Final = "no-security-scheme"
PARAMETER: Final = "credential-parameter"
ASSUMED: Final = "security-assumed"
LIFTED: Final = "security-lifted"
SIGNED: Final = "signed-requests"
FORMAT: Final = "key-format"
UNSTATED: Final = "security-unstated"
DEPARTURES: Final = frozenset({PARAMETER, ASSUMED, LIFTED, SIGNED, UNSTATED})
