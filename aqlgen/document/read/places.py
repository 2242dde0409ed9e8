"""The search for the document of a running API of which the owner named the server, `http://127.0.0.1:8000`, or a page.

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
    "api/spec.yaml",
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
_FIRST_PAGE: Final = ".well-known/api-catalog"

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

    First comes what is at the address itself and what a page there links, then the usual places below its path, then
    those of its server. `is_document` raises DocumentError for a document that is broken.

    Raises FileError that lists what was tried, or says why the server cannot be reached; the DocumentError of a broken
    document if there is no other.
    """
    waiting, origin = deque(_places(without_credentials(spec))), urljoin(without_credentials(spec), "/")
    most = len(waiting) + _MOST - len(PLACES)
    deadline, size = time.monotonic() + limits.seconds, 0
    tried: dict[str, str] = {}
    unanswered: list[FileError] = []
    broken: list[DocumentError] = []
    here: tuple[str, bytes] | None = None

    def is_within(address: str) -> bool:
        return _host(address) == _host(origin)

    while waiting and len(tried) < most and size < limits.all_size and time.monotonic() < deadline:
        url = waiting.popleft()
        if url in tried:
            continue
        is_typed = not tried and urlsplit(url).path != "/"  # which the user may have of a redirect to another host
        silence = limits.silence / (1 if is_typed else _UNANSWERED if len(unanswered) == len(tried) else 2)
        try:
            final, data = web.get(url, (lambda _address: True) if is_typed else is_within, silence)
            if is_document(url, data):
                return final, data
            tried[url] = "no document"
        except DocumentError as error:
            tried[url] = "too large" if error.diagnostics[0].code == "document-too-large" else "broken"
            broken += [error] if tried[url] == "broken" else []
            continue
        except FileError as error:
            tried[url] = str(error.status or "no answer")
            unanswered += [] if error.status else [error]
            if unanswered and (is_typed or len(unanswered) == len(tried) == _UNANSWERED):
                raise unanswered[0] from None
            continue
        if is_typed and not data.lstrip().startswith(b"<"):
            here = final, data
        size += len(data)
        if is_within(final):
            waiting.extendleft(reversed(list(islice(_links(final, data), _MOST_LINKS))))
    if broken:
        raise broken[0]
    if here is not None:  # which is said to be no document, and why
        return here
    raise _not_found(origin, tried, len(waiting) if time.monotonic() >= deadline else 0)


def _places(named: str) -> Iterator[str]:
    """Yield the address itself, the usual places of a document below its path, and those of its server."""
    below = f"{named.rstrip('/')}/"
    if urlsplit(named).path.strip("/"):
        yield named
        yield from (urljoin(below, place) for place in PLACES[1 : PLACES.index(_FIRST_PAGE)])
    yield from (urljoin(urljoin(named, "/"), place) for place in PLACES)


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


def _not_found(origin: str, tried: dict[str, str], left: int) -> FileError:
    """Build the error that lists what was tried, by what came of it; `left` places were not, for want of time."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for url, outcome in tried.items():
        places[outcome].append(url.removeprefix(origin.rstrip("/")))
    wanting = [(place, status) for status in ("401", "403") for place in places.get(status, ())]
    message, advice = "no OpenAPI document is at the usual places of this server", "Give the address of the document"
    if all(outcome.startswith("5") for outcome in places):
        message = f"the server fails with {' and '.join(places)} wherever a document is usual"
        advice = "Look into its log, or give the address of the document"
    elif wanting:
        message += f"; {wanting[0][0]} wants a credential ({wanting[0][1]})"
        advice = "Give the credential with --header, such as --header 'Authorization: Bearer …', or give the address"
    elif left:
        message = f"no OpenAPI document was found in time: {left} of the usual places are left to ask"
    refusal = Diagnostic("no-document-found", Severity.ERROR, message, file=origin, help=f"{advice}, or a file.")
    listed = [
        replace(refusal, severity=Severity.NOTE, message=f"{outcome}: {', '.join(paths[at : at + _LISTED])}", help="")
        for outcome, paths in places.items()
        for at in range(0, len(paths), _LISTED)
    ]
    return FileError(refusal, *listed)
