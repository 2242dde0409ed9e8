# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Warnings of a call: gathered on its way, then put in order, bounded and kept from repeating (R-WARN-1, R-WARN-6).

Any part of the runtime adds one with a line: `notices.add(code, message, severity=…, details={…})`. The rules that find
warnings stand in modules of their own, read when first needed: `deprecation`, `quota`, `slowness`, `truncation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .config import Config

if TYPE_CHECKING:
    from .deprecation import Plan
    from .session import Session
    from .table import Adapter, Row, Table
    from .wire import ApiResponse

__all__ = ["Board", "Notice", "Notices"]

QUOTAS = {
    f"{prefix}remaining{suffix}": (f"{prefix}limit{suffix}", f"{prefix}reset{suffix}", suffix)
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-", "rate-limit-")
    for suffix in ("", "-requests", "-second", "-minute", "-hour", "-day")
}
"""Headers that tell what is left of a quota, each with those of its size and its end, and what the name says of it."""

ABOUT_DATA = "VALIDATION_"
"""Category of the warnings that are about the very data of an answer."""

_DEPRECATIONS = frozenset({"deprecation", "sunset"})
_WATCHED = frozenset({"ratelimit", *QUOTAS, *_DEPRECATIONS})
"""Headers of an answer that a rule reads."""


class Notice(NamedTuple):
    """One warning. Without a severity it counts as medium."""

    code: str
    message: str
    severity: str | None = None
    details: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Give the warning as the envelope shows it."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            shown["details"] = dict(self.details)
        if self.severity is not None:
            shown["severity"] = self.severity
        return shown


class Notices:
    """The warnings of one call; false as long as there are none."""

    __slots__ = ("_found",)

    def __init__(self, found: Iterable[Notice] = ()) -> None:
        self._found = list(found)

    def add(
        self, code: str, message: str, *, severity: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        """Add a warning; severity is high, medium or low, `details` must be JSON and free of secrets."""
        self._found.append(Notice(code, message, severity, details))

    def extend(self, notices: Iterable[Notice]) -> None:
        """Add those of a rule or of another call."""
        self._found.extend(notices)

    def discard(self, code: str, **details: Any) -> None:
        """Drop the warnings of a code that have these details, since one that knows more takes their place."""
        self._found = [
            one
            for one in self._found
            if one.code != code or any((one.details or {}).get(key) != value for key, value in details.items())
        ]

    def of_data(self) -> Notices:
        """Take away the warnings that are about the data itself, and give them: in a batch they stay beside it."""
        found = Notices(one for one in self._found if one.code.startswith(ABOUT_DATA))
        self._found = [one for one in self._found if not one.code.startswith(ABOUT_DATA)]
        return found

    def __iter__(self) -> Iterator[Notice]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class Board:
    """Finds the warnings of calls by the rules, and decides which of them are shown. One serves all sessions.

    A call that nothing is to be said of costs less than a microsecond.
    """

    def __init__(self, adapter: Adapter, config: Config, table: Table | None = None) -> None:  # noqa: ARG002
        self._config = config
        self._table = table
        self._slow = config.warn_slow_ms / 1000
        self._max_response = config.max_response_size
        self._plans: dict[str, Plan | None] = {}

    def before(self, row: Row, params: Mapping[str, Any]) -> Notices | None:
        """Give the warnings that the call itself is reason for: a deprecated operation, parameter or field of one."""
        try:
            plan = self._plans[row.name]
        except KeyError:
            from .deprecation import plan_of

            plan = self._plans[row.name] = plan_of(row, self._table)
        if plan is None:
            return None
        return Notices(plan.notices(row, params, self._table)) or None

    def after(
        self,
        row: Row,
        params: Mapping[str, Any],  # noqa: ARG002 - rules to come read them
        response: ApiResponse,
        seconds: float,
        notices: Notices | None,
    ) -> Notices | None:
        """Add those that the answer is reason for; `seconds` is how long the API took."""
        if seconds > self._slow:
            from .slowness import slow_notice

            notices = notices or Notices()
            notices.extend([slow_notice(row, seconds, self._config.warn_slow_ms)])
        if _WATCHED.isdisjoint(response.headers):
            return notices
        return self._by_headers(row, response.headers, notices or Notices()) or None

    def fit(self, data: Any, row: Row, response: ApiResponse, notices: Notices | None) -> tuple[Any, Notices | None]:
        """Give the data cut to `max_response_size`, if its body was longer. Raises Failure when it cannot be cut."""
        if response.cut:
            from .truncation import stream_notice

            notices = notices or Notices()
            notices.extend([stream_notice(response.cut, data)])
        if len(response.content) <= self._max_response:
            return data, notices
        from .truncation import truncate

        data, notice = truncate(data, self._max_response, performed=row.family != "read")
        if notice is not None:
            notices = notices or Notices()
            notices.extend([notice])
        return data, notices

    def settle(self, notices: Notices | None, session: Session) -> list[dict[str, Any]]:
        """Give what the envelope shows, once it is known that the call succeeded: the most urgent first."""
        if not notices:
            return []
        from .settling import settle

        return settle(notices, self._config, session.state)

    def _by_headers(self, row: Row, headers: Mapping[str, str], notices: Notices) -> Notices:
        from .quota import quota_notice

        if not _DEPRECATIONS.isdisjoint(headers):
            from .deprecation import CODE, headers_notice

            notice = headers_notice(row, headers)
            if notice is not None:
                notices.discard(CODE, type="operation", deprecated_item=row.name)
                notices.extend([notice])
        quota = quota_notice(headers, self._config.warn_quota_percent)
        if quota is not None:
            notices.extend([quota])
        return notices
