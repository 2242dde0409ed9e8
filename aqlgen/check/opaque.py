"""Names for the texts of a session that differ in each run, so that later steps can refer to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

_OPAQUE = re.compile(
    r"(?P<token>conf_[\w-]{40,})|(?P<known>conf_[\w-]{7}(?=…))|(?P<session>session_[0-9a-f]{16})|"
    r"(?P<execution>exec_[0-9a-f]{16})|(?P<plan>plan_[0-9a-f]{32})|req_[0-9a-f]{8}_(?P<request>[0-9a-f]+)|"
    r"(?P<caller>(?<=credential:)[0-9a-f]{16})|(?P<archive>(?<=audit-)\d{8}T\d{12}Z)|"
    r"(?P<code>\b[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3,8}\b)|(?P<matter>(?<=approve, as )\w{10})|"
    r"(?P<lines>(?<=and unchanged: )\d+ lines?)|(?P<took>(?<=Operation took )\d+)|"
    r"(?P<marker>(?<=Look for ')[0-9a-f-]{18})|"
    r"(?P<key>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b)|(?P<address>127\.0\.0\.1(?::|%3A)\d+)|(?P<folder>(?<![\w/.-])/[\w/.-]*/tmp\w+)|"
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00))|"
    r"(?P<cursor>(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z\d])[\w-]{30,})"
)
_NAMED = re.compile(r"<[a-z]+(?:-\d+)?>")
_NEAR, _ROUGHLY = 5_000, 20
"""Seconds from now within which a time is told by its distance, and those that a distance is rounded up to."""
_CHANGING = {
    "duration_ms", "ms", "seconds", "process", "frames", "hash", "previous", "timestamp", "resets_in_seconds",
    "refusals", "port",
}  # fmt: skip
_MOVING = re.compile(r"\b\d+(?= seconds?\b)|<now[+\d]*>|<tomorrow>|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""The rest of a time window, in sessions whose head says `moving`."""


@dataclass
class Names:
    """The names of opaque texts, in the order in which these appeared."""

    is_moving: bool
    known: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    fixed: list[tuple[str, str]] = field(default_factory=list)

    def named(self, value: Any) -> Any:
        """Return data with names in place of opaque texts, without what is different each time."""
        more = {"retry_after_seconds"} if self.is_moving else set[str]()
        return _mapped(steady(value, _CHANGING | more), self._text)

    def _text(self, text: str) -> str:
        for known, name in self.fixed:
            text = text.replace(known, name)
        text = _OPAQUE.sub(self._name, text).replace(f"{datetime.now(UTC):%Y-%m-%d}", "<today>")
        return _MOVING.sub("0", text) if self.is_moving else text

    def _name(self, match: re.Match[str]) -> str:
        kind, text = str(match.lastgroup), match[0]
        if kind == "request":
            return f"<request-{int(match['request'], 16)}>"
        if kind in ("address", "folder", "lines", "took"):
            self.known.setdefault(text, f"<{kind}>")
        if kind == "time":
            now = datetime.now(UTC)
            if text.startswith(f"{now + timedelta(days=1):%Y-%m-%dT00:00:00}"):
                return "<tomorrow>"
            seconds = (datetime.fromisoformat(text) - now).total_seconds()
            rounded = ceil(seconds / _ROUGHLY) * _ROUGHLY  # it was told a moment ago
            return text if abs(seconds) > _NEAR else f"<now+{rounded}>" if rounded > 0 else "<now>"
        if kind == "known":
            return next((name for known, name in self.known.items() if known.startswith(text)), "<unknown>")
        if text not in self.known:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.known[text] = f"<{kind}-{self.counts[kind]}>"
            self.fixed += [(text, self.known[text])] if kind == "matter" else []
        return self.known[text]

    def meant(self, value: Any) -> Any:
        """Return data with the opaque texts that their names stand for; without a number, the last one of its kind."""
        texts = {name: text for text, name in reversed(self.known.items())}
        texts |= {f"<{kind}>": texts[f"<{kind}-{count}>"] for kind, count in self.counts.items()}
        return _mapped(value, lambda text: _NAMED.sub(lambda match: texts.get(match[0], match[0]), text))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return data with each text changed."""
    if isinstance(value, dict):
        return {change(key): _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def steady(value: Any, names: Collection[str] = _CHANGING) -> Any:
    """Return data without the fields of these names, and without times."""
    if isinstance(value, list):
        return [steady(item, names) for item in value]
    if isinstance(value, dict):
        return {key: steady(inner, names) for key, inner in value.items() if key not in names}
    return "<now>" if isinstance(value, float) and 1.7e9 < value < 2.5e9 else value
