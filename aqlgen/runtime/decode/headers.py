"""What the headers of a response say: of content that is not sent, of where a call goes on, and of rate limits.

(RFC 9110.) Three families of rate limit headers are known: `X-RateLimit-Limit` and its kin, `RateLimit-Limit` of the
older drafts, and `RateLimit` with `RateLimit-Policy` of the newer ones (draft-ietf-httpapi-ratelimit-headers).
The links of a Link header are read in one pass (RFC 8288, 3).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..redaction import redact
from ..table import Row
from ..wire import QUOTA_HEADERS, ApiResponse

_PARAMETERS = re.compile(r'(?:[^,"]++|"[^"]*+")*+')
_RELATION = re.compile(r';\s*+rel\s*+=\s*+(?:"([^"]*+)"|([^;,\s]++))', re.IGNORECASE)


class Link(NamedTuple):
    """A link: its target, its relation types in lower case, and its parameters as they stand."""

    target: str
    relations: tuple[str, ...]
    parameters: str


def read_links(value: str) -> Iterator[Link]:
    """Yield the links of a header; what is no link is passed over."""
    position = 0
    while (start := value.find("<", position)) >= 0 and (end := value.find(">", start)) >= 0:
        match = _PARAMETERS.match(value, end + 1)
        parameters = match[0] if match is not None else ""
        relations = (quoted or bare for quoted, bare in _RELATION.findall(parameters))
        yield Link(value[start + 1 : end], tuple(" ".join(relations).lower().split()), parameters)
        position = end + 1 + len(parameters)


_DESCRIBING = (
    *("content-type", "content-length", "etag", "last-modified", "accept-ranges", "content-disposition"),
    *("content-language", "expires", "link", "location", "allow"),
)
_CONDITIONS = frozenset({"if-none-match", "if-modified-since"})
_LOCATIONS = ("operation-location", "azure-asyncoperation", "location", "content-location")
"""Headers of where the result of an accepted call will be, the most exact first."""
_OF_RESULT = ("Location", "Operation-Location", "Content-Location", "ETag", "Retry-After")
"""Headers of what a write made or began, as they are told in `_meta`."""
_BUCKETS = ("x-ratelimit-bucket", "x-ratelimit-resource")
"""Headers that name what the quota of a response is of."""
_MAX_LENGTH = 2000
_WINDOWS = {"-second": 1, "-minute": 60, "-hour": 3600, "-day": 86400}
_EPOCH = 1_000_000_000
_NUMBER = re.compile(r"\s*([0-9]{1,15})")
_SPAN = re.compile(
    r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)ms)?"
)


def head_data(response: ApiResponse, secrets: frozenset[str]) -> dict[str, Any]:
    """Return the data of a response to HEAD or OPTIONS: that the resource exists, and the headers that describe it."""
    described = declared_headers(response, _DESCRIBING, secrets)
    return {"exists": True, **{name.replace("-", "_"): text for name, text in described.items()}}


def declared_headers(response: ApiResponse, names: Iterable[str], secrets: frozenset[str]) -> dict[str, str]:
    """Return those of some headers that a response has, spelled as the document does."""
    headers = response.headers
    return {name: redact(headers[name.lower()], secrets)[:_MAX_LENGTH] for name in names if name.lower() in headers}


def not_modified_data(response: ApiResponse, row: Row, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the data of a 304 response to a conditional request; None when the call set no condition."""
    headers = (field for field in row.parameters.values() if field.location == "header" and field.name in params)
    if not any(header.wire.lower() in _CONDITIONS for header in headers):
        return None
    etag = response.headers.get("etag")
    return {"not_modified": True} if etag is None else {"not_modified": True, "etag": etag}


def with_location(response: ApiResponse, row: Row, data: Any, secrets: frozenset[str]) -> Any:
    """Return the data of a success with where its result is, if the headers say so and the data do not.

    Where there are no data, what the headers say are the data. An accepted object has them beside its own fields, with
    an underscore before the name, and never in the place of one (R-LOOP-1: what was accepted and goes on, and the
    operation that shows its progress). For all others they are in `_meta` (see `result_headers`).
    """
    headers, is_accepted = response.headers, response.status == 202
    location = next(filter(None, map(headers.get, _LOCATIONS if is_accepted else ("location",))), "")
    if not location and response.status not in (201, 202):
        return data
    if data is not None and (not is_accepted or not isinstance(data, dict) or location in data.values()):
        return data
    goes_on = is_accepted and bool(location)
    statements = {
        "location": redact(location, secrets)[:_MAX_LENGTH],
        "monitor": row.long_running.monitor if goes_on and row.long_running else None,
        "retry_after_seconds": retry_after(headers.get("retry-after", ""), time.time()),
    }
    if data is not None:
        return {**{f"_{name}": value for name, value in _stated(statements).items()}, **data}
    etag = redact(headers.get("etag", ""), secrets)[:_MAX_LENGTH]
    return _stated({"status": "accepted" if goes_on else None, **statements, "etag": etag}) or None


def _stated(statements: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in statements.items() if value not in (None, "")}


def result_headers(response: ApiResponse, secrets: frozenset[str]) -> dict[str, str]:
    """Return the headers of a success that say where its result is, which version it has and when to ask for it."""
    return {name: value for name, value in declared_headers(response, _OF_RESULT, secrets).items() if value}


def retry_after(value: str, now: float) -> int | None:
    """Return the seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3); None when it is neither."""
    return seconds_until_reset(value.partition(",")[0] if value[:1].isdigit() else value, now)


class Quota(NamedTuple):
    """A quota by the headers of a response. `limit` is 0 when it is not known; `reset` is the header as it stands.

    `name` is that of its bucket if `is_named`, else the ending of its headers.
    """

    limit: int
    remaining: int
    reset: str = ""
    window: int | None = None
    name: str = ""
    is_named: bool = False


def quotas(headers: Mapping[str, str]) -> Iterator[Quota]:
    """Yield every quota in the headers of a response."""
    stated = _items(headers.get("ratelimit-policy", ""))  # in older drafts the quota is the name
    policies = {name: (arguments.get("q", _number(name)), arguments.get("w")) for name, arguments, _ in stated}
    bucket = "/".join(headers[header] for header in _BUCKETS if headers.get(header))[:_MAX_LENGTH]
    for name in headers.keys() & QUOTA_HEADERS.keys():
        limit_name, reset_name, suffix = QUOTA_HEADERS[name]
        remaining, limit = _number(headers[name]), _number(headers.get(limit_name, "")) or 0
        if remaining is not None:
            window = _WINDOWS.get(suffix)
            if window is None and policies:
                window = next((window for quota, window in policies.values() if quota == limit), None)
            reset = headers.get(f"{reset_name}-after") or headers.get(reset_name, "")
            yield Quota(limit, remaining, reset, window, f"{bucket}{suffix}", bool(bucket))
    for name, arguments, partition in _items(headers.get("ratelimit", "")):
        remaining = arguments.get("r", arguments.get("remaining"))
        quota, window = policies.get(name, (arguments.get("limit"), None))
        if remaining is not None:
            reset = str(arguments.get("t", arguments.get("reset", "")))
            yield Quota(quota or 0, remaining, reset, window, f"{name}{partition}", bool(name))


def _items(value: str) -> Iterator[tuple[str, dict[str, int], str]]:
    """Read a list of items with whole numbers and a partition as parameters (RFC 9651), as leniently as drafts differ.

    Yield the name, the numbers, and the partition (`pk`) with a semicolon before it, "" if there is none.
    """
    text = value[:2048]
    if "limit=" in text.replace(" ", "") and ";" not in text:  # a middle draft: limit=100, remaining=50, reset=5
        yield "", _arguments(text.split(",")), ""
        return
    for item in text.split(","):
        name, *arguments = item.split(";")
        if item.strip():
            partition = next((argument.strip() for argument in arguments if argument.strip().startswith("pk=")), "")
            yield name.strip().strip('"').strip(), _arguments(arguments), partition and f";{partition}"


def _arguments(texts: Iterable[str]) -> dict[str, int]:
    """Return the parameters that are whole numbers, in quotes or not."""
    pairs = (
        (key.strip(), _number(value.strip().removeprefix('"')))
        for key, _, value in (text.partition("=") for text in texts)
    )
    return {key: number for key, number in pairs if number is not None}


def _number(value: str) -> int | None:
    match = _NUMBER.match(value)
    return int(match[1]) if match else None


def seconds_until_reset(value: str, now: float | None = None) -> int | None:
    """Return the seconds until a reset, which is a number of them, a span such as `1m30s`, or a point in time."""
    now = time.time() if now is None else now
    text = value.strip()
    span = _SPAN.fullmatch(text)
    if span is not None and text:
        hours, minutes, seconds, milliseconds = (float(part or 0) for part in span.groups())
        return math.ceil(hours * 3600 + minutes * 60 + seconds + milliseconds / 1000)
    try:
        number = float(text) if len(text) < 32 else math.inf
    except ValueError:
        moment = _timestamp(text)
        return None if moment is None else max(0, math.ceil(moment - now))
    if not 0 <= number < _EPOCH * 10_000:
        return None
    if number <= _EPOCH:
        return math.ceil(number)
    return max(0, math.ceil((number / 1000 if number > _EPOCH * 1000 else number) - now))


def _timestamp(text: str) -> float | None:
    """Read a date of ISO 8601 or of HTTP as seconds since the epoch."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text[:64])
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
