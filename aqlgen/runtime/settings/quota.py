# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of the owner's quotas: how many requests the adapter sends, and what they may cost (R-RATE-1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, StringConstraints
from typing_extensions import TypedDict

from .setting import Names
from .types import Number, Stripped, Whole, Word, from_json, known_keys, matching, requiring

__all__ = ["MILLIONTHS", "QuotaSettings", "quota_problem"]

MILLIONTHS = 1_000_000
"""Costs are counted in millionths of the currency, so that sums are exact."""

Requests = Annotated[int, Whole(1, 1_000_000_000)]
Percent = Annotated[int, Whole(1, 100)]
Money = Annotated[
    float,
    Number,
    Field(gt=0, le=1_000_000_000),
    requiring(lambda amount: round(amount, 6) == amount, "must be an amount of six decimals or fewer"),
]
Currency = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_upper=True),
    matching(r"[A-Z]{3}", "must be the three letters of a currency, such as USD"),
]
OperationPattern = Annotated[
    Stripped,
    matching(
        r"[!-~]([ -~]{0,198}[!-~])?", "a pattern is the name of an operation or a method and a path, * for any part"
    ),
]
_json = BeforeValidator(from_json)
_some = Field(max_length=200)


class LimitSettings(TypedDict, total=False):
    """The limits of some requests."""

    per_minute: Requests
    per_hour: Requests
    per_day: Requests
    cost_per_hour: Money
    cost_per_day: Money
    warn_percent: Percent
    pause_percent: Percent


LimitTable = Annotated[LimitSettings, known_keys(LimitSettings)]


class QuotaSettings(NamedTuple):
    """The table `[quota]`. What is not set is not limited."""

    per_minute: Annotated[Requests | None, Names("QUOTA_PER_MINUTE", example="per_minute = 300")] = None
    """Most requests to the API in a minute, of all callers together, {allowed}; repeated ones, pages and the parts of
    batches, plans and updates count. One more is refused before it is sent. Minutes, hours and days are those of UTC;
    the counts stand in `state.url`."""
    per_hour: Annotated[Requests | None, Names("QUOTA_PER_HOUR", example="per_hour = 5000")] = None
    """The same in an hour."""
    per_day: Annotated[Requests | None, Names("QUOTA_PER_DAY", example="per_day = 50000")] = None
    """The same in a day."""
    cost_per_hour: Annotated[Money | None, Names("QUOTA_COST_PER_HOUR", example="cost_per_hour = 5.00")] = None
    """What the requests of an hour may cost by `quota.prices`."""
    cost_per_day: Annotated[Money | None, Names("QUOTA_COST_PER_DAY", example="cost_per_day = 50.00")] = None
    """The same in a day."""
    warn_percent: Annotated[Percent, Names("QUOTA_WARN_PERCENT")] = 80
    """Per cent of a limit from which on answers warn of it, {allowed}."""
    pause_percent: Annotated[Percent, Names("QUOTA_PAUSE_PERCENT")] = 95
    """Per cent of a limit from which on each call must be confirmed (`confirmation.approval` says by whom), {allowed};
    not less than warn_percent; 100: never."""
    currency: Annotated[Currency, Names("QUOTA_CURRENCY")] = "USD"
    """The currency of prices and costs, for display."""
    when_away: Annotated[Word[Literal["closed", "open"]], Names("QUOTA_WHEN_AWAY")] = "closed"
    """What happens to requests under a quota while the store of the counts is away. "closed": none is sent, so that no
    limit is exceeded. "open": they are sent, not counted, and the answers warn of it."""
    operations: Annotated[
        Mapping[OperationPattern, LimitTable],
        _json,
        _some,
        Names("QUOTA_OPERATIONS", form="as JSON", example='[quota.operations."delete_*"]\nper_hour = 20'),
    ] = {}
    """Further limits, with the same keys, that the operations of a pattern share: a name or a method and a path, * for
    any part. A pattern that fits no operation stops the start."""
    callers: Annotated[
        LimitTable,
        BeforeValidator(from_json),
        Names("QUOTA_CALLERS", form="as JSON", example="[quota.callers]\nper_minute = 60"),
    ] = LimitSettings()
    """Further limits, with the same keys, that count for each authenticated caller alone; all others together are one.
    """
    prices: Annotated[
        Mapping[OperationPattern, Money],
        _json,
        _some,
        Names("QUOTA_PRICES", form="as JSON", example='[quota.prices]\n"*" = 0.001\n"create_*" = 0.01'),
    ] = {}
    """The price of a request by the same patterns, of which the longest that fits counts; what none fits is free."""


def quota_problem(settings: QuotaSettings) -> str:
    """Return what is wrong with settings of which each is valid by itself, "" if nothing is."""
    for where, limits in _tables(settings):
        warn = limits.get("warn_percent", settings.warn_percent)
        pause = limits.get("pause_percent", settings.pause_percent)
        if pause < warn:
            return f"'{where}' has a pause_percent of {pause}, which is less than its warn_percent of {warn}"
        costs = [key for key in ("cost_per_hour", "cost_per_day") if limits.get(key) is not None]
        if costs and not settings.prices:
            return f"'{where}.{costs[0]}' needs prices: set quota.prices (MCP_AQL_QUOTA_PRICES)"
    return ""


def _tables(settings: QuotaSettings) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "quota", settings._asdict()
    yield "quota.callers", settings.callers
    for pattern, limits in settings.operations.items():
        yield f'quota.operations."{pattern}"', limits
