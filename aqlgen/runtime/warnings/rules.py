"""The warnings of a response: which there are, which are shown, in what order (warnings document, 6; R-WARN-6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..envelope import CallWarning
from ..settings.config import Config
from ..text import line
from ..wire import JSON, QUOTA_NAMES
from . import ABOUT_DATA, Deprecations, Key, Warnings, deprecations_of, is_among, key_of, rank

if TYPE_CHECKING:
    from ..session import Session
    from ..table import Row, Table
    from ..validation.repair import Repaired
    from ..wire import ApiResponse
    from . import Histories, History

OMITTED = "META_WARNINGS_OMITTED_WARNING"
"""Code of the warning about omitted warnings."""

UNDERSTOOD = "VALIDATION_UNDERSTOOD_WARNING"
"""Code of the warning that a call was not valid as it stood, and was understood."""

MOST_UNDERSTOOD = 20
_LONGEST = 400

_STATE = "warnings"
_MOST_KNOWN = 256
_MOST = 10
"""Warnings of a response."""

_BEGINNINGS = frozenset({b"{", b"["})
"""First characters of JSON that holds data."""

_GROWTH = 2
"""How much longer data may be than the JSON that they are read from, in bytes: by names of fields, and by escapes."""


def select_warnings(warnings: Iterable[CallWarning], config: Config, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the warnings to show; `state` is the session's, which remembers them."""
    merged: dict[Key, CallWarning] = {}
    counts: dict[Key, int] = {}
    for warning in warnings:
        if is_among(warning.code, config.warn_suppress):
            continue
        key = key_of(warning)
        merged[key] = _merged(merged.get(key, warning), warning)
        counts[key] = counts.get(key, 0) + 1
    if config.warn_repeat_after:
        known: dict[Key, tuple[float, int]] = state.setdefault(_STATE, {})
        merged = {
            key: warning for key, warning in merged.items() if _is_news(key, warning, known, config.warn_repeat_after)
        }
    selected = [
        warning._replace(details={**(warning.details or {}), "occurrence_count": count}) if count > 1 else warning
        for warning, count in ((warning, counts[key]) for key, warning in merged.items())
    ]
    selected.sort(key=rank)
    if len(selected) > _MOST:
        rest = selected[_MOST - 1 :]
        details = {"omitted_count": len(rest), "limit": _MOST, "codes": sorted({warning.code for warning in rest})}
        omitted = CallWarning(OMITTED, f"{len(rest)} further warnings were left out", "low", details)
        silent = is_among(OMITTED, config.warn_suppress)
        selected = selected[:_MOST] if silent else [*selected[: _MOST - 1], omitted]
    return [warning.as_json() for warning in selected]


def understood_warning(understood: Sequence[Repaired]) -> CallWarning:
    """Return the warning that says what of a call was understood, and as what it was sent."""
    messages = [item.message for item in understood[:MOST_UNDERSTOOD]]
    details = {"understood": messages, "count": len(understood)}
    return CallWarning(UNDERSTOOD, line("Understood: " + "; ".join(messages), _LONGEST), "low", details)


def _merged(first: CallWarning, second: CallWarning) -> CallWarning:
    """Return the more urgent of two equal warnings, with the details that they share and the later use of a quota."""
    before, after = first.details or {}, second.details or {}
    shared = {name: value for name, value in after.items() if name == "current" or before.get(name) == value}
    return min(first, second, key=rank)._replace(details=shared)


def _is_news(key: Key, warning: CallWarning, known: dict[Key, tuple[float, int]], window: int) -> bool:
    """Return True if the session has not seen the warning within the window, or not as urgent; and remember it."""
    if warning.code.startswith(ABOUT_DATA):  # about this very data, so it is always news
        return True
    now, urgency = monotonic(), rank(warning)
    last_shown, last_urgency = known.get(key, (-float(window), urgency))
    if now - last_shown < window and urgency >= last_urgency:
        return False
    known.pop(key, None)
    if len(known) >= _MOST_KNOWN:
        known.pop(next(iter(known)))
    known[key] = (now, urgency)
    return True


_NO_PARAMS: Mapping[str, Any] = {}
_DEPRECATIONS = frozenset({"deprecation", "sunset"})
_WATCHED = QUOTA_NAMES | _DEPRECATIONS
"""Headers of an answer that a rule reads."""


def repeated_by(row: Row) -> str:
    """Return the parameter by which a call can be made again for what its answer left out, "" for none."""
    return row.selector if row.family == "read" else ""


class WarningRules:
    """Applies the rules to calls, and selects the warnings that are shown. One instance serves all sessions.

    A call without a warning costs less than a microsecond.
    """

    def __init__(self, config: Config, table: Table | None = None) -> None:
        self._config = config
        self._table = table
        self._slow = config.warn_slow_ms / 1000
        self._most = config.max_answer_tokens
        self._deprecations: dict[str, Deprecations | None] = {}

    def before(self, row: Row, params: Mapping[str, Any]) -> Iterable[CallWarning]:
        """Return the warnings that the call itself causes: a deprecated operation, parameter or field."""
        try:
            deprecations = self._deprecations[row.name]
        except KeyError:
            deprecations = self._deprecations[row.name] = deprecations_of(row, self._table)
        if deprecations is None:
            return ()
        from .deprecation import call_warnings

        return call_warnings(deprecations, row, params, self._table)

    def after(
        self,
        row: Row,
        response: ApiResponse,
        seconds: float,
        warnings: Warnings,
        params: Mapping[str, Any] = _NO_PARAMS,
    ) -> None:
        """Add the warnings that the answer causes; `seconds` is how long the API took for a call with `params`."""
        if seconds > self._slow:
            from .thresholds import slow_warning

            warnings.append(slow_warning(row, seconds, self._config.warn_slow_ms, params, self._table))
        if not _WATCHED.isdisjoint(response.headers):
            self._by_headers(row, response.headers, warnings)

    def fit(
        self,
        data: Any,
        row: Row,
        response: ApiResponse,
        warnings: Warnings,
        *,
        page: bool = False,
        gathered: bool = False,
        most: int | None = None,
        change: Callable[[Any], Any] | None = None,
        asked: Any = (),
    ) -> Any:
        """Return the data cut to `max_answer_tokens`, if the answer was long; what was cut is warned of.

        `page` says that the data are a page with its cursor, `gathered` that they come from several answers; `most` is
        another bound. `change` is applied to each item of a list that is shown; `asked` are the fields of the call.
        """
        most = most or self._most
        if (  # cheap, since every call asks: data of JSON that was called so need no second look
            data is None
            or data.__class__ is str
            or response.content[:1] not in _BEGINNINGS
            or not response.headers.get("content-type", JSON).startswith(JSON)
            or response.cut
        ):
            warning = self._about_content(data, row, response)
            if warning is not None:
                warnings.append(warning)
        elif len(response.content) * _GROWTH <= most and not gathered and change is None:
            return data
        from .ceiling import cut_warnings, fit

        data, cuts = fit(data, most, page=page, change=change)
        if cuts:
            warnings.extend(cut_warnings(cuts, most, page=page, selector=repeated_by(row), asked=asked))
        return data

    def _about_content(self, data: Any, row: Row, response: ApiResponse) -> CallWarning | None:
        """Return the warning about an answer that is not whole, or not what was asked for."""
        from .content import cut_warning, unexpected_content

        return cut_warning(row, response, data) if response.cut else unexpected_content(row, response, data)

    def select(self, warnings: Warnings | None, session: Session) -> list[dict[str, Any]]:
        """Return the warnings that the envelope of a successful call shows, the most urgent first."""
        return select_warnings(warnings, self._config, session.state) if warnings else []

    @cached_property
    def _histories(self) -> Histories:
        from . import Histories

        return Histories()

    def history(self, session: Session) -> History | None:
        """Return the warnings that a session or a known caller was given; None for a caller who is not known."""
        return self._histories.of(session)

    def remember(self, operation: str, warnings: Iterable[CallWarning], session: Session) -> list[CallWarning]:
        """Add the warnings of a call to the history, and return them; those that the owner suppresses are left out."""
        allowed = [warning for warning in warnings if not is_among(warning.code, self._config.warn_suppress)]
        history = self.history(session) if allowed else None
        if history is not None:
            history.add(operation, allowed)
        return allowed

    def _by_headers(self, row: Row, headers: Mapping[str, str], warnings: Warnings) -> None:
        from .thresholds import quota_warning

        if not _DEPRECATIONS.isdisjoint(headers):
            from .deprecation import headers_warning

            deprecation = headers_warning(row, headers)
            if deprecation is not None:
                warnings[:] = [*(each for each in warnings if key_of(each) != key_of(deprecation)), deprecation]
        quota = quota_warning(headers, self._config.warn_quota_percent)
        if quota is not None:
            warnings.append(quota)
