# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A warning about a call that the API took long to answer (R-WARN-4; warnings document, 4.4)."""

from __future__ import annotations

import re
from typing import Any

from .notices import Notice
from .table import Row

__all__ = ["CODE", "slow_notice"]

CODE = "PERFORMANCE_SLOW_QUERY_WARNING"
_SEVERE, _NOTABLE = 10, 2
_PAGING = re.compile(r"(^|_)(limit|page|per_page|page_size|size|first|count|offset|cursor|max_results|top)(_|$)")
_FILTERS = "Consider adding filters to narrow results"
_PAGES = "Use pagination for large result sets"


def slow_notice(row: Row, seconds: float, threshold_ms: int) -> Notice:
    """Give the warning of a call that took longer than the threshold."""
    duration = round(seconds * 1000)
    details: dict[str, Any] = {"operation": row.name, "duration_ms": duration, "threshold_ms": threshold_ms}
    suggestions = _suggestions(row)
    if suggestions:
        details["suggestions"] = suggestions
    severity = (
        "high" if duration > _SEVERE * threshold_ms else "medium" if duration >= _NOTABLE * threshold_ms else "low"
    )
    return Notice(CODE, f"Operation took {duration}ms (threshold: {threshold_ms}ms)", severity, details)


def _suggestions(row: Row) -> list[str]:
    """Say what this operation offers to make it faster."""
    if row.family != "read":
        return []
    optional = [one.name for one in row.parameters.values() if one.location == "query"]
    paging = [name for name in optional if _PAGING.search(name)]
    found = []
    if len(optional) > len(paging):
        found.append(_FILTERS)
    if paging:
        found.append(_PAGES)
    return found
