"""What the API answers: a success of the document, and lists page by page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode

from .document import Operation, normal
from .samples import ABSENT, sample

TAG = '"witness"'  # of each resource that has an ETag
PAGE_ITEMS = 5  # of each list that pages
SIZES = ("limit", "perpage", "pagesize", "size", "maxresults", "top", "take", "pagelimit")
COUNTS = ("total", "totalcount", "totalitems", "totalresults")  # fields of a page: the items of all pages
_TOTALS = (*COUNTS, "count", "totalpages", "pages", "pagecount", "lastpage")
LEADS = {
    **dict.fromkeys(("page", "pagenumber", "pageno", "pagenum", "pageindex"), "page"),
    **dict.fromkeys(("offset", "skip", "startat", "startindex"), "offset"),
    **dict.fromkeys(("cursor", "pagetoken", "nexttoken", "nextcursor", "nextpagetoken", "continuationtoken",
                     "startingafter"), "cursor"),
}  # fmt: skip
"""The parameters that lead to a page, and how."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""

    @property
    def data(self) -> Any:
        """The body as JSON, None for anything else."""
        try:
            return json.loads(self.content)
        except ValueError:
            return None


class Paging(NamedTuple):
    """How a list pages: by page, offset or cursor, and the field of the answer that is the list, "" for the whole."""

    style: str
    lead: str
    size: str
    field: str


def paging_of(operation: Operation) -> Paging | None:
    """Return how the list of an operation pages; None for anything else."""
    document, schema = operation.document, operation.success[2]
    query = {normal(each.name): each for each in operation.parameters if each.place == "query" and not each.required}
    leads = [(style, query[word]) for word, style in LEADS.items() if word in query]
    styles = {style for style, _ in leads} | {"cursor" for word in query if re.search("cursor$|token$|^next$", word)}
    if operation.method != "GET" or not leads or len(styles) != 1:
        return None
    is_whole = "array" in document.kinds(schema)
    fields = [""] if is_whole else [
        name for name, each in document.properties(schema).items()
        if "array" in document.kinds(each) and "object" in document.kinds(document.items(each))
    ]  # fmt: skip
    style, lead = leads[0]
    is_number = document.kinds(lead.schema) & {"integer", "number"}
    style = style if is_number or str(document.at(lead.schema).get("default")).isdecimal() else "cursor"
    size = next((query[word].name for word in SIZES if word in query), "")
    return Paging(style, lead.name, size, fields[0]) if len(fields) == 1 else None


def answer_of(operation: Operation, url: str, starts: dict[str, int]) -> Answer:
    """Return the success that the document has for a request; a list that pages gives its items page by page.

    `starts` remembers the number of the first page where the document does not say it.
    """
    status, media, schema, headers = operation.success
    sent = {"etag": TAG} if "etag" in map(str.lower, headers) else {}
    number = int(status) if status.isdigit() else 200
    sent |= {"location": f"{url.partition('?')[0]}/made-9"} if (number, operation.method) == (201, "POST") else {}
    if not media and (number, operation.method) == (200, "GET"):
        media, schema = next(_written(operation), (media, schema))
    if not media or number == 204:
        return Answer(number, sent)
    if "json" not in media and "*" not in media:
        return Answer(number, sent | {"content-type": media}, b"<x/>" if "xml" in media else b"text")
    data, paging = sample(operation.document, schema, answers=True), paging_of(operation)
    if paging is not None:
        data, leads = _page(operation, paging, data, url, starts)
        sent |= leads
    sent["content-type"] = "application/json" if "*" in media else media
    lines = data if isinstance(data, list) and "ndjson" in media else [None if data is ABSENT else data]
    return Answer(number, sent, "\n".join(map(json.dumps, lines)).encode())


def _written(operation: Operation) -> Iterator[tuple[str, Any]]:
    """Yield the JSON that a PUT writes at the place of a read whose own content is not described."""
    for each in operation.document.operations:
        if (each.method, each.path) == ("PUT", operation.path) and "application/json" in each.bodies:
            yield "application/json", each.bodies["application/json"].schema


def _page(
    operation: Operation, paging: Paging, data: Any, url: str, starts: dict[str, int]
) -> tuple[Any, dict[str, str]]:
    """Return the page that a request asks for, and the headers that lead to the next."""
    query = {name: values[-1] for name, values in parse_qs(url.partition("?")[2]).items()}
    count = int(query[paging.size]) if query.get(paging.size, "").isdecimal() else 2
    start = _start(operation, paging, query, starts)
    at = int(re.sub(r"\D", "", query.get(paging.lead, "")) or start)
    begin = (at - start) * (count if paging.style == "page" else 1)
    items = data.get(paging.field) if paging.field and isinstance(data, dict) else data
    model = items[0] if isinstance(items, list) and items else {}
    marked = [_marked(model, number) for number in range(PAGE_ITEMS)]
    begin = _behind(marked, query[paging.lead], begin) if paging.style == "cursor" and paging.lead in query else begin
    page = marked[begin : begin + count]
    following: Any = {"page": at + 1, "offset": at + count}.get(paging.style, f"cursor{begin + count}")
    address: str | None = f"{url.partition('?')[0]}?{urlencode({**query, paging.lead: following})}"
    following, address = (following, address) if begin + count < PAGE_ITEMS else (None, None)
    leads = {name: _led("", following, address, normal(name).removeprefix("x")) for name in operation.success[3]}
    leads |= {name: address and f'<{address}>; rel="next"' for name in leads if name.lower() == "link"}
    data = {**_led(data, following, address), paging.field: page} if paging.field else page
    return data, {name.lower(): str(each) for name, each in leads.items() if each}


def _behind(items: list[Any], cursor: str, begin: int) -> int:
    """Return where a page begins behind the item that a cursor names by a field; else where its number says."""
    places = (at for at, item in enumerate(items, 1) if isinstance(item, dict) and cursor in map(str, item.values()))
    return next(places, begin)


def _start(operation: Operation, paging: Paging, query: Mapping[str, str], starts: dict[str, int]) -> int:
    """Return the number of the first page or item."""
    if query.get(paging.lead) == "0":
        starts[operation.key] = 0
    schema = next(operation.document.at(each.schema) for each in operation.parameters if each.name == paging.lead)
    stated = str(schema.get("default", schema.get("minimum")))
    if paging.style == "page":
        return int(stated) if stated in ("0", "1") else starts.get(operation.key, 1)
    is_index = "index" in normal(paging.lead) or "default" in schema  # else the number of items before it
    return int(stated == "1" and is_index)


def _marked(model: Any, number: int) -> Any:
    """Return an item that is like the model, and another than those of other numbers."""
    if not isinstance(model, dict):
        return f"{model}{number}" if isinstance(model, str) else number
    names = [name for name, each in model.items() if isinstance(each, str)][:1] or ["mark"]
    names += [name for name, each in model.items()
              if name.lower().endswith(("id", "token")) and type(each) in (str, int)]  # fmt: skip
    return {
        **model,
        **{name: number if type(model.get(name)) is int else f"{model.get(name)}{number}" for name in names},
    }


def _led(value: Any, following: Any, address: str | None, word: str = "", *, is_next: bool = False) -> Any:
    """Return a part of an answer with what its page is followed by, wherever it has a field for that."""
    is_lead = LEADS.get(word) == "cursor" or re.search("next|cursor|pagetoken", word) is not None
    is_next = is_next or (is_lead and not word.startswith("prev"))
    if isinstance(value, dict) and not (is_next and following is None):
        fields = {name: _led(each, following, address, normal(name), is_next=is_next) for name, each in value.items()}
        return {name: each for name, each in fields.items() if each is not ABSENT}
    if isinstance(value, bool):
        return following is not None if word.startswith(("hasmore", "hasnext", "moreavailable")) else value
    if type(value) is int and word in _TOTALS:
        return PAGE_ITEMS
    if not is_next or isinstance(value, list):
        return value
    if following is None:
        return None if isinstance(value, str | dict) else ABSENT
    is_address = isinstance(value, str) and re.search("^http|url|uri|link|href", f"{value[:4]} {word}")
    return address if is_address else following
