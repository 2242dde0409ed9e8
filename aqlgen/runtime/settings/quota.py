# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of the owner's quotas: how many requests the adapter sends, and what they may cost (R-RATE-1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .parsers import Choice, Whole, from_json, parsed_table
from .setting import collected, setting

__all__ = ["MILLIONTHS", "QUOTA_SETTINGS", "QuotaSettings", "quota_problem"]

MILLIONTHS = 1_000_000
"""Costs are counted in millionths of the currency, so that sums are exact."""

_REQUESTS = Whole(1, 1_000_000_000)
_PERCENT = Whole(1, 100)
_MOST_COST = 1_000_000_000


def money(value: Any) -> float:
    """Return an amount of the currency above 0, of six decimals at most."""
    message = f"must be a number above 0, of six decimals or fewer, {_MOST_COST} or less"
    text = str(value).strip().lower()
    if isinstance(value, (bool, dict, list)) or not re.fullmatch(r"[0-9.]{1,20}(e-?[0-9]{1,2})?", text):
        raise ValueError(message)
    from decimal import Decimal, InvalidOperation  # here, since most adapters have no such setting

    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise ValueError(message) from None
    units = amount * MILLIONTHS
    if not 0 < amount <= _MOST_COST or units != int(units):
        raise ValueError(message)
    return float(amount)


def currency_code(value: Any) -> str:
    """Return the code of a currency (ISO 4217)."""
    text = str(value).strip().upper()
    if not re.fullmatch(r"[A-Z]{3}", text):
        raise ValueError("must be the three letters of a currency, such as USD")
    return text


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "per_minute": _REQUESTS,
    "per_hour": _REQUESTS,
    "per_day": _REQUESTS,
    "cost_per_hour": money,
    "cost_per_day": money,
    "warn_percent": _PERCENT,
    "pause_percent": _PERCENT,
}


def caller_limits(value: Any) -> Mapping[str, Any]:
    """Return the limits of each caller; the environment gives them as JSON."""
    return _limits(_table(value, "must be a table of limits, such as per_minute = 60"))


def operation_limits(value: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return the limits of operations by pattern; the environment gives them as JSON."""
    message = 'must hold a table for each pattern, such as [quota.operations."delete_*"]'
    limits = {}
    for pattern, table in _table(value, message).items():
        if not isinstance(table, Mapping):
            raise ValueError(message)  # noqa: TRY004 - as of all parsers
        try:
            limits[_pattern(pattern)] = _limits(table)
        except ValueError as problem:
            raise ValueError(f"for '{pattern}': {problem}") from None
    return limits


def price_table(value: Any) -> Mapping[str, float]:
    """Return the price of a request by pattern; the environment gives them as JSON."""
    prices = {}
    for pattern, price in _table(value, 'must be a table of prices, such as "create_*" = 0.01').items():
        try:
            prices[_pattern(pattern)] = money(price)
        except ValueError as problem:
            raise ValueError(f"for '{pattern}': {problem}") from None
    return prices


def _table(value: Any, message: str) -> Mapping[Any, Any]:
    value = from_json(value, message)
    if not isinstance(value, Mapping) or len(value) > 200:
        raise ValueError(message)
    return value


def _pattern(pattern: Any) -> str:
    text = str(pattern).strip()
    if not re.fullmatch(r"[!-~]([ -~]{0,198}[!-~])?", text):
        raise ValueError("a pattern is the name of an operation or a method and a path, * for any part")
    return text


def _limits(table: Mapping[str, Any]) -> dict[str, Any]:
    return parsed_table(table, _KEYS, "limit")


class QuotaSettings(NamedTuple):
    """The table `[quota]`. What is not set is not limited."""

    per_minute: int | None = setting(
        None,
        "quota.per_minute",
        "QUOTA_PER_MINUTE",
        _REQUESTS,
        "Most requests to the API in a minute, of all callers together, {allowed}; repeated ones, pages and the parts "
        "of batches, plans and updates count. One more is refused before it is sent. Minutes, hours and days are those "
        "of UTC; the counts stand in `state.url`.",
        example="per_minute = 300",
    )
    per_hour: int | None = setting(
        None, "quota.per_hour", "QUOTA_PER_HOUR", _REQUESTS, "The same in an hour.", example="per_hour = 5000"
    )
    per_day: int | None = setting(
        None, "quota.per_day", "QUOTA_PER_DAY", _REQUESTS, "The same in a day.", example="per_day = 50000"
    )
    cost_per_hour: float | None = setting(
        None,
        "quota.cost_per_hour",
        "QUOTA_COST_PER_HOUR",
        money,
        "What the requests of an hour may cost by `quota.prices`.",
        example="cost_per_hour = 5.00",
    )
    cost_per_day: float | None = setting(
        None, "quota.cost_per_day", "QUOTA_COST_PER_DAY", money, "The same in a day.", example="cost_per_day = 50.00"
    )
    warn_percent: int = setting(
        80,
        "quota.warn_percent",
        "QUOTA_WARN_PERCENT",
        _PERCENT,
        "Per cent of a limit from which on answers warn of it, {allowed}.",
    )
    pause_percent: int = setting(
        95,
        "quota.pause_percent",
        "QUOTA_PAUSE_PERCENT",
        _PERCENT,
        "Per cent of a limit from which on each call must be confirmed (`confirmation.approval` says by whom), "
        "{allowed}; not less than warn_percent; 100: never.",
    )
    currency: str = setting(
        "USD", "quota.currency", "QUOTA_CURRENCY", currency_code, "The currency of prices and costs, for display."
    )
    when_away: str = setting(
        "closed",
        "quota.when_away",
        "QUOTA_WHEN_AWAY",
        Choice(("closed", "open")),
        'What happens to requests under a quota while the store of the counts is away. "closed": none is sent, so that '
        'no limit is exceeded. "open": they are sent, not counted, and the answers warn of it.',
    )
    operations: Mapping[str, Mapping[str, Any]] = setting(
        {},
        "quota.operations",
        "QUOTA_OPERATIONS",
        operation_limits,
        "Further limits, with the same keys, that the operations of a pattern share: a name or a method and a path, * "
        "for any part. A pattern that fits no operation stops the start.",
        form="as JSON",
        example='[quota.operations."delete_*"]\nper_hour = 20',
    )
    callers: Mapping[str, Any] = setting(
        {},
        "quota.callers",
        "QUOTA_CALLERS",
        caller_limits,
        "Further limits, with the same keys, that count for each authenticated caller alone; all others together are "
        "one.",
        form="as JSON",
        example="[quota.callers]\nper_minute = 60",
    )
    prices: Mapping[str, float] = setting(
        {},
        "quota.prices",
        "QUOTA_PRICES",
        price_table,
        "The price of a request by the same patterns, of which the longest that fits counts; what none fits is free.",
        form="as JSON",
        example='[quota.prices]\n"*" = 0.001\n"create_*" = 0.01',
    )


QUOTA_SETTINGS = collected(QuotaSettings._fields, "quota.")
"""The settings of `Config.quota`."""


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
