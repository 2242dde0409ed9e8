"""Requests to the API, its responses with their media types, and the transport that carries them.

A media type says what the content behind it is (RFC 6838; structured suffixes: RFC 6839). The functions about them
ignore the case and the parameters of a content type. A type counts by its name or by its suffix (`+json`, `+xml`,
`+yaml`, `+json-seq`). A range such as `*/*` is not a type of its own: only `admits_json` knows ranges, for callers that
may choose what they send or expect. The generator reads the same functions.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from .table import Row

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
_CHARSET_LIST = (
    "ascii big5 cp437 cp850 cp866 cp874 cp932 cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "euc_jp euc_kr gb2312 gbk gb18030 iso2022_jp iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 "
    "iso8859-8 iso8859-9 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman shift_jis "
    "utf-8 utf-8-sig utf-16 utf-16-be utf-16-le utf-32 utf-32-be utf-32-le"
)
_CHARSETS = frozenset(_CHARSET_LIST.split())
"""The charsets of texts, by Python's names of their codecs: no answer may choose any other codec."""
_CHARSET_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,40}")


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


@lru_cache(256)
def charset_of(content_type: str) -> str | None:
    """Return the charset of a content type, None when it names none that is known."""
    for parameter in content_type.split(";")[1:]:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "charset":
            return known_charset(value.strip().strip("\"'"))
    return None


def known_charset(name: str) -> str | None:
    """Return the codec of a charset by its name, None if it is none of those that texts have."""
    if not _CHARSET_NAME.fullmatch(name):  # a lookup imports a module of that name
        return None
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return codec if codec in _CHARSETS else None


QUOTA_HEADERS = {
    f"{prefix}remaining{suffix}": (f"{prefix}limit{suffix}", f"{prefix}reset{suffix}", suffix)
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-", "rate-limit-")
    for suffix in ("", "-requests", "-second", "-minute", "-hour", "-day")
}
"""Headers of what is left of a quota, each with those of its size and its end, and the ending of its name."""

QUOTA_NAMES = frozenset({"ratelimit", *QUOTA_HEADERS})
"""Headers by which a response tells of a quota."""


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})
"""The methods that change nothing (RFC 9110, 9.2.1), unless a document has an operation that does."""


def changes_something(row: Row | None, method: str) -> bool:
    """Return True if a request may change something: it is of no safe method, and no read by another one.

    The own request of an operation that acts, `GET /removeTag`, changes something by whatever method.
    """
    if method not in SAFE_METHODS:
        return row is None or row.family != "read"
    return row is not None and method == row.method and (row.family, row.danger) != ("read", "safe")


class SentFile(NamedTuple):
    """A file that a request carries, by the parameter or field that gives it."""

    parameter: str
    content: bytes
    filename: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """An HTTP request in its final form: `url` absolute and percent-encoded, header names as they are sent.

    `secrets` are the values that no log, error or dry run may show. `files` are those that the content holds. With an
    `idempotency_key` the API acts once, however often the request arrives.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    files: tuple[SentFile, ...] = field(default=(), repr=False)
    idempotency_key: str = ""
    follows: Callable[[ApiRequest], bool] = field(default=lambda _: True, repr=False, compare=False)
    """Return True if a redirect may be followed; the argument is the request that the redirect asks for."""

    @property
    def content_type(self) -> str:
        """The type of the content; empty if no header states one."""
        return next((value for name, value in self.headers if name.lower() == "content-type"), "")


@dataclass(frozen=True, slots=True)
class Applied:
    """The credentials that a request carries; `query` and `cookies` are encoded pairs; `path` and `body` have values.

    `variables` are those that the credentials came from.
    """

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: frozenset[str] = frozenset()
    path: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()

    @property
    def is_sent(self) -> bool:
        """True if the request itself holds a credential."""
        return bool(self.headers or self.query or self.cookies or self.path or self.body)


NO_CREDENTIALS = Applied()


class Account(NamedTuple):
    """The adapter's statement about the credential of a request that the API did not accept."""

    is_sent: bool
    text: str


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file that a response was saved in."""

    path: str
    size: int
    mime_type: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """An HTTP response; header names are lower-case.

    It was read whole except for a stream, and for the answer to a write that broke off: `cut` says what ended the
    reading (events, bytes, time, break, coding, file) and is empty if the answer itself ended. `file` is where its
    content was saved, if it was. `uncertain`: an earlier attempt of the same call may have been carried out.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    cut: str = ""
    file: SavedFile | None = None
    uncertain: bool = False


def origin_of(url: str) -> str:
    """Return the scheme, host and port of a URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


def without_credentials(query: str, request: ApiRequest) -> str:
    """Return a query without the pairs whose values are the credentials of a request."""
    return "&".join(pair for pair in query.split("&") if pair and not _is_secret(pair, request))


def at_host_of(request: ApiRequest, address: str) -> str:
    """Return the URL of a path and query at a request's host, with the credentials that stand in its own query."""
    parts = urlsplit(request.url)
    path, _, query = address.partition("?")
    query = "&".join(filter(None, (query, *(pair for pair in parts.query.split("&") if _is_secret(pair, request)))))
    return f"{parts.scheme}://{parts.netloc}{path}" + (f"?{query}" if query else "")


def _is_secret(pair: str, request: ApiRequest) -> bool:
    return any(value and value in request.secrets for _, value in parse_qsl(pair, keep_blank_values=True))


class Transport(Protocol):
    """The way to the API, or to its stand-in. `row` is the operation that a request is made for."""

    def send(self, request: ApiRequest, row: Row) -> Awaitable[ApiResponse]:
        """Send a request and return its response.

        Raises Failure (INTERNAL_ERROR) on a time-out, a refused connection or a TLS failure. For a write its
        `details.outcome` says whether anything was sent.
        """

    async def aclose(self) -> None:
        """Close every connection."""


class PrivateAddress(Exception):
    """A host is, or resolves to, an address that is not of the open network; nothing was sent."""


class QuotaPaused(Exception):
    """A request that was not sent, since a quota of the owner's is so far used up that somebody must say to go on.

    `quotas` are known to the Spending that raised it.
    """

    def __init__(self, quotas: tuple[object, ...]) -> None:
        super().__init__("paused")
        self.quotas = quotas


class Spending(Protocol):
    """What one call of a tool spends of the owner's quotas; `quota.spending.CallSpending` implements it."""

    async def admit(self, row: Row, *, again: bool = False) -> None:
        """Count a request that is about to be sent; `again`: the call sent one before that this one goes on with.

        Raises Failure (RATE_LIMIT_QUOTA_EXHAUSTED), and QuotaPaused for a request that goes on with nothing.
        """

    async def go_on(self, row: Row, paused: QuotaPaused) -> None:
        """Return if the call may go on. Raises Failure (RATE_LIMIT_QUOTA_PAUSE) if nobody said so."""


_SPENDING: ContextVar[Spending | None] = ContextVar("spending", default=None)


def current_spending() -> Spending | None:
    """Return the spending of the call that is being answered; None where there is no quota."""
    return _SPENDING.get()


@contextmanager
def with_spending(spending: Spending) -> Iterator[None]:
    """Set what a call spends while it is answered."""
    token = _SPENDING.set(spending)
    try:
        yield
    finally:
        _SPENDING.reset(token)
