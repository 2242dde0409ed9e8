# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Media types: what a content type says of the content behind it (RFC 6838; structured suffixes: RFC 6839).

Every function ignores the case and the parameters of a content type. A type counts by its name or by its suffix
(`+json`, `+xml`, `+yaml`, `+json-seq`). A range such as `*/*` is no type of its own: only `admits_json` knows ranges,
for callers that may choose what they send or expect. The generator reads the same functions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

__all__ = [
    "FORM",
    "JSON",
    "JSON_PATCH",
    "OCTETS",
    "StreamForm",
    "admits_json",
    "admits_nothing",
    "is_csv",
    "is_json",
    "is_json_lines",
    "is_multipart",
    "is_patch",
    "is_text",
    "is_xml",
    "media_type",
    "stream_form",
]

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
FORM = "application/x-www-form-urlencoded"
OCTETS = "application/octet-stream"

StreamForm = Literal["events", "lines", "sequence"]

_JSON_LINES = frozenset({"ndjson", "jsonl", "jsonlines", "json-lines", "json-stream", "ldjson"})
"""Names of JSON values that stand on a line each, without their `x-`."""
_TEXTS = frozenset({"yaml", "x-yaml", "javascript", "graphql", "sql", "toml", "csv"})
"""Names that are text though they are registered outside `text/`."""
_TABLES = frozenset({"csv", "comma-separated-values", "tsv", "tab-separated-values"})


@lru_cache(256)
def media_type(content_type: str) -> str:
    """Return a content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_json(content_type: str) -> bool:
    """Return True if the content is one JSON value: `application/json`, `text/json`, or a name with `+json`.

    Spring's `application/stream+json` is not, whatever its suffix says: it is JSON lines.
    """
    kind = media_type(content_type)
    return kind in (JSON, "text/json") or (kind.endswith("+json") and kind != "application/stream+json")


def admits_json(content_type: str) -> bool:
    """Return True if JSON may be sent or expected: it is JSON, or a range that includes `application/json`."""
    return is_json(content_type) or media_type(content_type) in ("*/*", "application/*")


def is_xml(content_type: str) -> bool:
    """Return True if the content is an XML document (RFC 7303)."""
    kind = media_type(content_type)
    return kind in ("application/xml", "text/xml") or kind.endswith("+xml")


def is_csv(content_type: str) -> bool:
    """Return True if the content is a table of text: CSV (RFC 4180) or TSV."""
    return media_type(content_type).partition("/")[2].removeprefix("x-") in _TABLES


def is_multipart(content_type: str) -> bool:
    """Return True if the content is divided into parts by a boundary (RFC 2046, 5.1)."""
    return media_type(content_type).startswith("multipart/")


def is_patch(content_type: str) -> bool:
    """Return True if the content says how something changes, by a name such as `merge-patch+json` (RFC 5789)."""
    return media_type(content_type).partition("/")[2].partition("+")[0].endswith("patch")


def stream_form(content_type: str) -> StreamForm | None:
    """Return how a stream of values is written, None for a type that is no stream.

    `events`: server-sent events (WHATWG HTML, 9.2). `lines`: a JSON value a line (ndjson.org, jsonlines.org).
    `sequence`: a JSON value behind each record separator (RFC 7464).
    """
    kind = media_type(content_type)
    if kind == "text/event-stream":
        return "events"
    name = kind.partition("/")[2].rpartition("+")[2]
    if name == "json-seq":
        return "sequence"
    if name.rpartition(".")[2].removeprefix("x-") in _JSON_LINES or kind == "application/stream+json":
        return "lines"
    return None


def is_json_lines(content_type: str) -> bool:
    """Return True if the content is JSON values one after the other: a line each, or a sequence."""
    return stream_form(content_type) in ("lines", "sequence")


def is_text(content_type: str) -> bool:
    """Return True if the content is text to be read as it is: `text/…`, XML, YAML, JSON lines, but not JSON."""
    kind = media_type(content_type)
    family, _, name = kind.partition("/")
    if is_json(kind):
        return False
    return (
        family == "text"
        or name in _TEXTS
        or name.removeprefix("x-") in _TABLES
        or name.endswith("+yaml")
        or is_xml(kind)
        or is_json_lines(kind)
    )


def admits_nothing(content_type: str) -> bool:
    """Return True if no bytes at all are a content of this type: an empty text, file or stream; not JSON, not XML."""
    kind = media_type(content_type)
    return kind == OCTETS or (is_text(kind) and not is_xml(kind))
