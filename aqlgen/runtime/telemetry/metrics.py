"""Metrics of an adapter in the text format of Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from ..logs.observers import EVENTS, OK, CallEnd, Exchange, Observer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MOST_SERIES = 5000
"""Combinations of labels that are told apart; those beyond are counted as "other"."""

Labels = tuple[str, ...]


class _Counter:
    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.name, self.text, self.labels = name, text, labels
        self.values: dict[Labels, float] = {}

    def add(self, *labels: str) -> None:
        if labels not in self.values and len(self.values) >= _MOST_SERIES:
            labels = ("other",) * len(labels)
        self.values[labels] = self.values.get(labels, 0) + 1

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, self.text, "counter")
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_labels(self.labels, labels)} {value:g}"


class _Histogram:
    def __init__(self, name: str, text: str, label: str) -> None:
        self.name, self.text, self.label = name, text, label
        self.values: dict[str, tuple[list[int], float]] = {}

    def add(self, label: str, seconds: float) -> None:
        counts, total = self.values.get(label) or ([0] * (len(_BOUNDS) + 1), 0.0)
        counts[bisect_left(_BOUNDS, seconds)] += 1
        self.values[label] = counts, total + seconds

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, self.text, "histogram")
        for label, (counts, total) in sorted(self.values.items()):
            reached = 0
            for bound, count in zip((*(f"{bound:g}" for bound in _BOUNDS), "+Inf"), counts, strict=True):
                reached += count
                yield f"{self.name}_bucket{_labels((self.label, 'le'), (label, bound))} {reached}"
            yield f"{self.name}_sum{_labels((self.label,), (label,))} {total:.6f}"
            yield f"{self.name}_count{_labels((self.label,), (label,))} {reached}"


class Metrics(Observer):
    """Counts calls and requests to the API."""

    def __init__(self, adapter: str, version: str) -> None:
        self._info = _labels(("adapter", "version"), (adapter, version))
        self._began = time.time()
        self._lock = Lock()
        self._calls = _Counter(
            "mcp_aql_calls_total", "Calls answered, by the code of their error or OK.", "operation", "family", "outcome"
        )
        self._call_seconds = _Histogram("mcp_aql_call_duration_seconds", "Time to answer a call.", "family")
        self._requests = _Counter(
            "mcp_aql_api_requests_total",
            "Requests to the API, by the status of the answer; 0 for none.",
            "method",
            "status",
        )
        self._retries = _Counter("mcp_aql_api_retries_total", "Requests to the API that were sent again.", "method")
        self._request_seconds = _Histogram("mcp_aql_api_request_duration_seconds", "Time of the API.", "method")
        self._events = {
            name: _Counter(f"mcp_aql_{name}_events_total", text, *labels) for name, (text, labels) in EVENTS.items()
        }

    def call_ended(self, call: CallEnd) -> None:
        """Count a call."""
        with self._lock:
            self._calls.add(call.operation, call.family, call.outcome or OK)
            self._call_seconds.add(call.family, call.seconds)

    def event(self, name: str, labels: Mapping[str, str]) -> None:
        """Count an event."""
        counter = self._events[name]
        with self._lock:
            counter.add(*(labels.get(label, "") for label in counter.labels))

    @contextmanager
    def exchanging(self, exchange: Exchange) -> Iterator[None]:
        """Count a request to the API."""
        try:
            yield
        finally:
            method = exchange.request.method
            with self._lock:
                self._requests.add(method, str(exchange.status))
                self._request_seconds.add(method, exchange.seconds)
                if exchange.tries:
                    self._retries.add(method)

    def text(self) -> str:
        """Return all metrics."""
        with self._lock:
            lines = [
                *_head("mcp_aql_info", "The adapter.", "gauge"),
                f"mcp_aql_info{self._info} 1",
                *_head("process_start_time_seconds", "Start of the process, in seconds since the epoch.", "gauge"),
                f"process_start_time_seconds {self._began:.3f}",
                *self._calls.lines(),
                *self._call_seconds.lines(),
                *self._requests.lines(),
                *self._retries.lines(),
                *self._request_seconds.lines(),
                *(line for counter in self._events.values() for line in counter.lines()),
            ]
        return "\n".join(lines) + "\n"


def _head(name: str, text: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _labels(names: tuple[str, ...], values: Labels) -> str:
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for value in values)
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(names, escaped, strict=True)) + "}"
