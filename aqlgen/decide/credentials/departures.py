"""The codes of the notes on credentials that a document names badly or leaves out."""

from __future__ import annotations

from typing import Final

__all__ = ["ASSUMED", "DEPARTURES", "LIFTED", "NO_SCHEME", "PARAMETER", "SIGNED"]

NO_SCHEME: Final = "no-security-scheme"
PARAMETER: Final = "credential-parameter"
ASSUMED: Final = "security-assumed"
LIFTED: Final = "security-lifted"
SIGNED: Final = "signed-requests"
DEPARTURES: Final = frozenset({PARAMETER, ASSUMED, LIFTED, SIGNED})
