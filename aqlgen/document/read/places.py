"""The search for the document of a running API whose server is all that the owner named: `http://127.0.0.1:8000`.

The usual places are asked in turn, and what a page there links is asked next, on the same origin alone. A redirect is
followed on the same host: nothing that the server answers leads to another one.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from itertools import islice
from typing import Final
from urllib.parse import urljoin, urlsplit

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, FileError
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.web import Web, same_origin, without_credentials
from aqlgen.runtime.hosts import Origin

__all__ = ["PLACES", "find_document"]

PLACES: Final = (
    "",
    "openapi.json",
    "openapi.yaml",
    "swagger.json",
    "swagger.yaml",
    "v3/api-docs",
    "v2/api-docs",
    "api-docs",
    "api-docs.json",
    "swagger/v1/swagger.json",
    "openapi/v1.json",
    "swagger/doc.json",
    "swagger/?format=openapi",
    "api/schema/",
    "schema/",
    "schema/openapi.json",
    "api/openapi.json",
    "api/openapi.yaml",
    "api/swagger.json",
    "api/v1/openapi.json",
    "api/v3/openapi.json",
    "v1/openapi.json",
    "api-json",
    "docs-json",
    "docs/openapi.json",
    "apispec_1.json",
    "openapi",
    "q/openapi",
    "openapi/v2",
    ".well-known/openapi.json",
    ".well-known/openapi.yaml",
    # pages that link it
    ".well-known/api-catalog",
    "docs",
    "redoc",
    "swagger",
    "swagger-ui/index.html",
    "swagger/index.html",
    "apidocs/",
    "api/docs",
    "api/docs/",
    "documentation",
)
"""Where frameworks serve the document of an API, and the pages of its documentation."""

_MOST: Final = 60
_MOST_LINKS: Final = 5
_LISTED: Final = 20
"""Places in a line of what was tried."""
_PAGE: Final = 200_000
_UNANSWERED: Final = 3
"""How many requests may be without an answer at first: then the server is taken to be down."""

_LINK: Final = re.compile(r"""(?:url|href)["']?\s*[:=]\s*["']([^"'<>\s]{1,500})["']""", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\u00([0-9a-f]{2})", re.IGNORECASE)
_DOCUMENT: Final = re.compile(r"openapi|swagger|api-?docs|apispec|schema|\.(?:json|ya?ml)$", re.IGNORECASE)
_ASSET: Final = re.compile(r"\.(?:css|html?|ico|js|map|png|svg|webmanifest|woff2?)$|manifest\.json$", re.IGNORECASE)


def find_document(spec: str, web: Web, limits: Limits, is_document: Callable[[str, bytes], bool]) -> tuple[str, bytes]:
    """Return the final URL of the first document, without credentials, and its content.

    Raises FileError that lists what was tried, or says why the server cannot be reached.
    """
    origin = urljoin(without_credentials(spec), "/")
    waiting = deque(urljoin(origin, place) for place in PLACES)
    deadline, size = time.monotonic() + limits.seconds, 0
    tried: dict[str, str] = {}
    unanswered: list[FileError] = []
    while waiting and len(tried) < _MOST and size < limits.all_size and time.monotonic() < deadline:
        url = waiting.popleft()
        if url in tried:
            continue
        try:
            final, data = web.get(url, lambda address: _host(address) == _host(origin))
        except DocumentError:
            tried[url] = "too large"
            continue
        except FileError as error:
            tried[url] = str(error.status or "no answer")
            unanswered += [] if error.status else [error]
            if len(unanswered) == len(tried) == _UNANSWERED:
                raise unanswered[0] from None
            continue
        if is_document(url, data):
            return final, data
        tried[url] = "no document"
        size += len(data)
        waiting.extendleft(reversed(list(islice(_links(final, data), _MOST_LINKS))))
    raise _not_found(origin, tried)


def _host(url: str) -> str:
    origin = Origin.of(url)
    return "" if origin is None else origin.host


def _links(page: str, data: bytes) -> Iterator[str]:
    """Yield the addresses of the same origin that a page names and that may be those of a document."""
    for match in _LINK.finditer(data[:_PAGE].decode("utf-8", "replace")):
        link = unescape(_ESCAPE.sub(lambda code: chr(int(code[1], 16)), match[1])).replace("\\/", "/")
        try:
            url = without_credentials(urljoin(page, link)).partition("#")[0]
            path = urlsplit(url).path
        except ValueError:
            continue
        if same_origin(url, page) and _DOCUMENT.search(url) and not _ASSET.search(path):
            yield url


def _not_found(origin: str, tried: dict[str, str]) -> FileError:
    """Build the error that lists what was tried, by what came of it."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for url, outcome in tried.items():
        places[outcome].append(url.removeprefix(origin.rstrip("/")))
    wanting = (
        " It needs credentials at some locations: give them with --header." if {"401", "403"} & places.keys() else ""
    )
    refusal = Diagnostic(
        "no-document-found",
        Severity.ERROR,
        "no OpenAPI document is at the usual places of this server",
        file=origin,
        help=f"Give the address of the document, or a file.{wanting}",
    )
    listed = [
        replace(refusal, severity=Severity.NOTE, message=f"{outcome}: {', '.join(paths[at : at + _LISTED])}", help="")
        for outcome, paths in places.items()
        for at in range(0, len(paths), _LISTED)
    ]
    return FileError(refusal, *listed)
