"""The limits that apply to an operation, by the owner's settings (rate limiting document, 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..settings.load import ConfigError
from ..settings.tables import QuotaSettings
from ..text import did_you_mean

if TYPE_CHECKING:
    from ..settings.config import Config
    from ..table import Row, Table

CALLER = "caller"
"""The scope of limits that count for each caller alone."""

_METRICS = {
    "per_minute": ("requests_per_minute", 60),
    "per_hour": ("requests_per_hour", 3600),
    "per_day": ("requests_per_day", 86400),
}
"""The metric and the window in seconds of each key of the settings."""


class Pattern:
    """A pattern over operations: a name, or a method and a path, with `*` for any part; case is ignored.

    Of several APIs, `api:NAME` is for all operations of one, and `NAME:` before a method narrows it to one. Several `*`
    are matched in one pass, each as early as possible.
    """

    def __init__(self, text: str) -> None:
        self._parts = text.lower().split("*")
        self._by_path = " " in text
        self._by_api = ":" in text.partition(" ")[0]

    def fits(self, name: str, method: str, path: str, api: str = "") -> bool:
        """Return True for an operation of that name, method, path and API."""
        if self._by_path:
            return self.fits_text(f"{api}:{method} {path}" if self._by_api else f"{method} {path}")
        return bool(api) and self.fits_text(f"api:{api}") if self._by_api else self.fits_text(name)

    def fits_text(self, text: str) -> bool:
        """Return True for a text that is as the pattern."""
        text = text.lower()
        first, *rest = self._parts
        if not rest:
            return text == first
        last = rest.pop()
        if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
            return False
        position, end = len(first), len(text) - len(last)
        for part in rest:
            found_at = text.find(part, position, end)
            if found_at < 0:
                return False
            position = found_at + len(part)
        return True


class Limit(NamedTuple):
    """A limit of a metric in a window of seconds. `most`, `warn` and `pause` are numbers of requests.

    `scope` is "" for the adapter, CALLER, or the pattern of the operations that share it.
    """

    metric: str
    window: int
    most: int
    warn: int
    pause: int
    scope: str

    def key(self, caller: str) -> str:
        """Return the key of its count; `caller` counts only for a limit of callers."""
        whose = f"{CALLER} {caller}" if self.scope == CALLER else f"operations {self.scope}" if self.scope else "all"
        return f"quota {self.metric} {whose}"

    @property
    def label(self) -> dict[str, str]:
        """The details that are no numbers: its scope."""
        return {"scope": self.scope} if self.scope else {}

    def __str__(self) -> str:
        scope = "each caller" if self.scope == CALLER else self.scope
        return f"{self.metric} for {scope}" if scope else self.metric


class Limits:
    """The limits of the settings, those of an operation found at its first request."""

    def __init__(self, settings: QuotaSettings) -> None:
        defaults = {"warn_percent": settings.warn_percent, "pause_percent": settings.pause_percent}
        self._everywhere = (
            *_limits_of(settings._asdict(), ""),
            *_limits_of({**defaults, **settings.callers}, CALLER),
        )
        self._patterns = [
            (Pattern(text), tuple(_limits_of({**defaults, **limits}, text)))
            for text, limits in settings.operations.items()
        ]
        self._known: dict[tuple[str, str], tuple[Limit, ...]] = {}

    @property
    def all(self) -> tuple[Limit, ...]:
        """Every limit there is, those of the adapter first."""
        return (*self._everywhere, *(limit for _, limits in self._patterns for limit in limits))

    def of(self, row: Row) -> tuple[Limit, ...]:
        """Return the limits that a request of an operation counts against."""
        key = (row.family, row.name)
        known = self._known.get(key)
        if known is None:
            of_row = row.name, row.method, row.path, row.api
            fitting = (limit for pattern, limits in self._patterns if pattern.fits(*of_row) for limit in limits)
            known = self._known[key] = (*self._everywhere, *fitting)
        return known


def check_patterns(config: Config, table: Table) -> None:
    """Raise ConfigError for a pattern of the settings that fits no operation of a table."""
    operations = list(table.values("method", "path", "api"))
    for text in config.quota.operations:
        pattern = Pattern(text)
        if text != "*" and not any(pattern.fits(name, *values) for name, _, values in operations):
            hint = did_you_mean(text, (name for name, *_ in operations))
            place = config.place("quota.operations", "quota.operations")
            raise ConfigError(f"{place}: '{text}' fits no operation{hint and '. '}{hint}")


def _limits_of(table: Mapping[str, Any], scope: str) -> Iterator[Limit]:
    for key, (metric, window) in _METRICS.items():
        most = table.get(key)
        if most is not None:
            warn, pause = (-(-most * table[f"{step}_percent"] // 100) for step in ("warn", "pause"))
            yield Limit(metric, window, most, warn, pause, scope)
