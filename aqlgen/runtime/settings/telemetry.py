# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of traces."""

from __future__ import annotations

from typing import NamedTuple

from . import parsers
from .setting import collected, setting

__all__ = ["TELEMETRY_SETTINGS", "TelemetrySettings"]


class TelemetrySettings(NamedTuple):
    """The table `[telemetry]`."""

    otel: bool = setting(
        False,
        "telemetry.otel",
        "OTEL",
        parsers.switch,
        "Send traces by OpenTelemetry (extra `otel`): each tool call and each request to the API, without parameters, "
        "queries and headers. Its own variables say where, such as OTEL_EXPORTER_OTLP_ENDPOINT.",
    )
    propagate: bool = setting(
        False,
        "telemetry.propagate",
        "OTEL_PROPAGATE",
        parsers.switch,
        "Send `traceparent` to the API, so that its spans join the trace.",
    )


TELEMETRY_SETTINGS = collected(TelemetrySettings._fields, "telemetry.")
"""The settings of `Config.telemetry`."""
