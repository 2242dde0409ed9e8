# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What the headers of an answer tell where there is no content, and where an accepted call goes on (RFC 9110)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .speech import redact
from .table import Row
from .wire import ApiResponse

__all__ = ["accepted", "head", "told", "unchanged"]

_TELLING = (
    "content-type",
    "content-length",
    "etag",
    "last-modified",
    "accept-ranges",
    "content-disposition",
    "content-language",
    "content-md5",
    "digest",
    "repr-digest",
    "expires",
    "link",
    "location",
)
_NOISE = (
    "x-ratelimit",
    "x-rate-limit",
    "x-request-id",
    "x-correlation-id",
    "x-trace",
    "x-frame-options",
    "x-content-type-options",
    "x-xss-protection",
    "x-powered-by",
    "x-runtime",
    "x-served-by",
    "x-cache",
    "x-amz-cf-",
    "x-envoy-",
    "x-forwarded",
    "x-permitted-",
    "x-dns-prefetch",
    "x-download-options",
    "x-robots-tag",
    "x-ua-compatible",
    "x-varnish",
    "x-timer",
    "x-vercel-",
    "x-github-request-id",
    "x-aspnet",
)
_CONDITIONS = frozenset({"if-none-match", "if-modified-since"})
_MONITORS = ("operation-location", "azure-asyncoperation", "location", "content-location")
_LONGEST = 2000


def head(response: ApiResponse, secrets: frozenset[str]) -> dict[str, Any]:
    """Give what exists, by its headers: the answer to a HEAD request."""
    data: dict[str, Any] = {"exists": True}
    headers = response.headers
    names = (*_TELLING, *(name for name in headers if name.startswith("x-") and not name.startswith(_NOISE)))
    for name in names:
        value = headers.get(name)
        if value is not None:
            shown = redact(value, secrets)[:_LONGEST]
            number = name == "content-length" and value.isascii() and value.isdigit() and len(value) < 19
            data[name.replace("-", "_")] = int(value) if number else shown
    return data


def allowed(response: ApiResponse) -> dict[str, Any] | None:
    """Give the methods that an answer to OPTIONS without content allows; None when it says nothing of them."""
    told = response.headers.get("allow") or response.headers.get("access-control-allow-methods")
    return None if told is None else {"allow": [one.strip() for one in told.split(",") if one.strip()]}


def told(response: ApiResponse, names: Iterable[str], secrets: frozenset[str]) -> dict[str, str]:
    """Give those of some headers that an answer has, under the names that the document has for them."""
    headers = response.headers
    return {name: redact(headers[name.lower()], secrets)[:_LONGEST] for name in names if name.lower() in headers}


def unchanged(response: ApiResponse, row: Row, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the answer to a conditional request whose resource is as it was; None when no condition was set."""
    conditions = (one for one in row.parameters.values() if one.location == "header" and one.name in params)
    if not any(one.wire.lower() in _CONDITIONS for one in conditions):
        return None
    data: dict[str, Any] = {"not_modified": True}
    if "etag" in response.headers:
        data["etag"] = response.headers["etag"]
    return data


def accepted(response: ApiResponse, row: Row, data: Any, secrets: frozenset[str]) -> Any:
    """Give the data of a success with where to look for its result, if the headers say so and the data do not.

    (R-LOOP-1: what was accepted and goes on, and the operation that tells how far it is.)
    """
    headers = response.headers
    location = next((headers[name] for name in _MONITORS if headers.get(name)), None)
    if response.status != 202:
        location = headers.get("location")
    if not location:
        return data
    place = redact(location, secrets)[:_LONGEST]
    found: dict[str, Any] = {"status": "accepted"} if response.status == 202 else {}
    found["location"] = place
    monitor = (row.long_running or {}).get("monitor")
    if response.status == 202 and monitor:
        found["monitor"] = monitor
    if response.status == 202 and "retry-after" in headers:
        import time

        from .retries import retry_after

        wait = retry_after(headers["retry-after"], time.time())
        if wait is not None:
            found["retry_after_seconds"] = wait
    if data is None:
        return found
    if response.status != 202 or not isinstance(data, dict) or location in data.values():
        return data
    found.pop("status")
    return {**data, **{f"_{name}": value for name, value in found.items()}}
