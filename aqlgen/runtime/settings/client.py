# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of how the adapter treats an API that fails."""

from __future__ import annotations

from typing import NamedTuple

from . import parsers
from .parsers import Whole
from .setting import collected, setting

__all__ = ["CLIENT_SETTINGS", "ClientSettings"]


class ClientSettings(NamedTuple):
    """The table `[client]`."""

    retry_budget: int = setting(
        20,
        "client.retry_budget",
        "RETRY_BUDGET",
        Whole(0, 100),
        "Most further tries in per cent of the requests to a host, {allowed}, beside one in a second: when the API is "
        "down, they do not add to its load.",
    )
    circuit_failures: int = setting(
        10,
        "client.circuit_failures",
        "CIRCUIT_FAILURES",
        Whole(0, 1000),
        "Failures in a row (no connection, no answer in time, a status of 500 or more) after which nothing is sent for "
        "circuit_seconds, {allowed}; 0: never. They count for an operation and a caller, for a whole host only if no "
        "connection can be made.",
    )
    circuit_seconds: float = setting(
        15.0,
        "client.circuit_seconds",
        "CIRCUIT_SECONDS",
        parsers.seconds,
        "Seconds until one request tries again whether the API answers.",
    )


CLIENT_SETTINGS = collected(ClientSettings._fields, "client.")
"""The settings of `Config.client`."""
