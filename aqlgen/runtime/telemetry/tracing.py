"""Traces by OpenTelemetry, with the extra `otel`: a span for each request to the API, within that of the tool call.

The spans of tool calls are the SDK's (mcp), which also takes a caller's `traceparent` from `_meta`. Where they go is
said by OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT. A span has no query and no header: they may
hold anything. The API is given `traceparent` only if the owner says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, StatusCode, get_tracer, get_tracer_provider, set_tracer_provider

from ..logs.observers import Exchange, Observer

MISSING = "the libraries of OpenTelemetry are missing; install the adapter with its extra `otel`"
_LIBRARIES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
_TRACE_HEADERS = frozenset({"traceparent", "tracestate"})


def is_installed() -> bool:
    """Return True if traces can be sent."""
    try:
        return all(find_spec(name) is not None for name in _LIBRARIES)
    except ModuleNotFoundError:  # a parent package is missing
        return False


def set_up(name: str, version: str) -> None:
    """Send the spans of this process where OpenTelemetry's variables say; leave a provider that somebody else set."""
    sdk, resources = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.sdk.resources")
    if isinstance(get_tracer_provider(), sdk.TracerProvider):
        return
    exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter()
    processor = import_module("opentelemetry.sdk.trace.export").BatchSpanProcessor(exporter)
    resource = resources.Resource.create({"service.name": name, "service.version": version})
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(processor)
    set_tracer_provider(provider)


class Tracing(Observer):
    """Makes spans by the conventions of OpenTelemetry for HTTP clients; `propagate` sends their context to the API."""

    def __init__(self, *, propagate: bool) -> None:
        self._tracer = get_tracer("mcp-aql")
        self._propagate = propagate

    @contextmanager
    def exchanging(self, exchange: Exchange) -> Iterator[None]:
        """Make the span of a request to the API."""
        request = exchange.request
        attributes: dict[str, Any] = {
            "http.request.method": request.method,
            "server.address": exchange.host,
            "server.port": exchange.port,
            "mcp_aql.operation": exchange.operation,
        }
        if exchange.tries:
            attributes["http.request.resend_count"] = exchange.tries
        with self._tracer.start_as_current_span(
            request.method, kind=SpanKind.CLIENT, attributes=attributes, record_exception=False
        ) as span:
            if self._propagate:
                carrier: dict[str, str] = {}
                inject(carrier)
                headers = tuple(pair for pair in request.headers if pair[0].lower() not in _TRACE_HEADERS)
                exchange.request = replace(request, headers=(*headers, *carrier.items()))
            try:
                yield
            finally:
                if exchange.status:
                    span.set_attribute("http.response.status_code", exchange.status)
                if exchange.status >= 400 or not exchange.status:
                    span.set_attribute("error.type", str(exchange.status or "no_answer"))
                    span.set_status(StatusCode.ERROR)
