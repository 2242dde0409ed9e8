# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The rules that find a call's warnings (R-WARN-1).

The rules are in modules of their own, imported when first needed: `deprecation`, `thresholds`, `truncation`;
`suppression` selects what an envelope shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..settings.config import Config
from ..wire import QUOTA_HEADERS
from .collector import Warnings

if TYPE_CHECKING:
    from ..session import Session
    from ..table import Row, Table
    from ..wire import ApiResponse
    from .deprecation import Deprecations

__all__ = ["WarningRules"]

_DEPRECATIONS = frozenset({"deprecation", "sunset"})
_WATCHED = frozenset({"ratelimit", *QUOTA_HEADERS, *_DEPRECATIONS})
"""Headers of an answer that a rule reads."""


class WarningRules:
    """Applies the rules to calls, and selects the warnings that are shown. One instance serves all sessions.

    A call without a warning costs less than a microsecond.
    """

    def __init__(self, config: Config, table: Table | None = None) -> None:
        self._config = config
        self._table = table
        self._slow = config.warn_slow_ms / 1000
        self._max_response = config.max_response_size
        self._deprecations: dict[str, Deprecations | None] = {}

    def before(self, row: Row, params: Mapping[str, Any]) -> Warnings | None:
        """Return the warnings that the call itself causes: a deprecated operation, parameter or field."""
        try:
            deprecations = self._deprecations[row.name]
        except KeyError:
            from .deprecation import deprecations_of

            deprecations = self._deprecations[row.name] = deprecations_of(row, self._table)
        if deprecations is None:
            return None
        return Warnings(deprecations.warnings(row, params, self._table)) or None

    def after(self, row: Row, response: ApiResponse, seconds: float, warnings: Warnings | None) -> Warnings | None:
        """Add the warnings that the answer causes; `seconds` is how long the API took."""
        if seconds > self._slow:
            from .thresholds import slow_warning

            warnings = warnings or Warnings()
            warnings.extend([slow_warning(row, seconds, self._config.warn_slow_ms)])
        if _WATCHED.isdisjoint(response.headers):
            return warnings
        return self._by_headers(row, response.headers, warnings or Warnings()) or None

    def fit(self, data: Any, row: Row, response: ApiResponse, warnings: Warnings | None) -> tuple[Any, Warnings | None]:
        """Return the data cut to `max_response_size`, if its body was longer. Raises Failure when it cannot be cut."""
        if response.cut:
            from .truncation import stream_warning

            warnings = warnings or Warnings()
            warnings.extend([stream_warning(response.cut, data)])
        if len(response.content) <= self._max_response:
            return data, warnings
        from .truncation import truncate

        data, warning = truncate(data, self._max_response, performed=row.family != "read")
        if warning is not None:
            warnings = warnings or Warnings()
            warnings.extend([warning])
        return data, warnings

    def select(self, warnings: Warnings | None, session: Session) -> list[dict[str, Any]]:
        """Return what the envelope of a successful call shows, the most urgent first."""
        if not warnings:
            return []
        from .suppression import select_warnings

        return select_warnings(warnings, self._config, session.state)

    def _by_headers(self, row: Row, headers: Mapping[str, str], warnings: Warnings) -> Warnings:
        from .thresholds import quota_warning

        if not _DEPRECATIONS.isdisjoint(headers):
            from .deprecation import CODE, headers_warning

            deprecation = headers_warning(row, headers)
            if deprecation is not None:
                warnings.discard(CODE, type="operation", deprecated_item=row.name)
                warnings.extend([deprecation])
        quota = quota_warning(headers, self._config.warn_quota_percent)
        if quota is not None:
            warnings.extend([quota])
        return warnings
