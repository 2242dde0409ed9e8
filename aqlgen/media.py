"""Content types, as far as several stages must agree on what they mean."""

from __future__ import annotations

__all__ = ["JSON_PATCH", "is_json", "is_lines", "is_xml"]

JSON_PATCH = "application/json-patch+json"


LINES = frozenset(
    {"x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "json-lines", "x-json-stream", "json-seq"}
)


def is_lines(content_type: str) -> bool:
    """Whether a content type is JSON values one after the other, such as NDJSON, as the adapter's runtime sees it."""
    return content_type.partition("/")[2].rpartition("+")[2] in LINES


def is_json(content_type: str) -> bool:
    """Whether a content type is JSON, by name or by suffix (RFC 6839)."""
    return content_type in ("application/json", "text/json", "*/*", "application/*") or content_type.endswith("+json")


def is_xml(content_type: str) -> bool:
    """Whether a content type is XML, by name or by suffix (RFC 7303)."""
    return content_type in ("application/xml", "text/xml") or content_type.endswith("+xml")
