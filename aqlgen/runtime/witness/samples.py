# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Values of the document's schemas: what a call gives, and what the stand-in for the API answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode

from .document import Document, Operation, normal
from .schemas import compiles

__all__ = ["ABSENT", "LEADS", "PAGE_ITEMS", "SIZES", "Answer", "answer_of", "paging_of", "sample"]

ABSENT: Any = object()
"""The value of what cannot be sampled, or is not there."""
PAGE_ITEMS = 5
"""The number of items of each list that the stand-in pages."""
_TEXTS = {
    "date": "2026-03-{:02}", "date-time": "2026-03-{:02}T09:30:00Z", "time": "09:30:{:02}Z", "duration": "P{}D",
    "email": "ada{}@example.com", "uri": "https://example.com/{}", "url": "https://example.com/{}",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66af{:02}", "ipv4": "192.0.2.{}", "ipv6": "2001:db8::{}",
    "hostname": "host{}.example.com", "byte": "aGVsbG8=", "binary": "aGVsbG8=",
}  # fmt: skip
_GUESSES = ("a", "A", "1", "abc", "ABC", "1234", "abc-1", "a1b2c3d4", "2026-03-01")
_LONGEST = 300
SIZES = ("limit", "perpage", "pagesize", "size", "maxresults", "top", "take", "pagelimit")
_TOTALS = ("total", "totalcount", "totalitems", "totalresults", "count", "totalpages", "pages", "pagecount", "lastpage")
LEADS = {
    "page": ("page", "pagenumber", "pageno", "pagenum", "pageindex"),
    "offset": ("offset", "skip", "startat", "startindex"),
    "cursor": ("cursor", "pagetoken", "nexttoken", "nextcursor", "nextpagetoken", "continuationtoken", "startingafter"),
}


class Sampler:
    """Makes one value of each schema; `turn` chooses among members, bounds and lengths."""

    def __init__(self, document: Document, turn: int, *, answers: bool) -> None:
        self._document, self._turn, self._answers = document, turn, answers

    def value(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        """Return a value, ABSENT if none is known."""
        schema = self._document.deref(schema)
        if not isinstance(schema, dict):
            return "x"
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list):
            members = [each for each in schema["enum"] if each is not None]
            return members[self._turn % len(members)] if members else None
        if isinstance(schema.get("allOf"), list):
            return self._merged(schema, name, depth)
        for key in ("oneOf", "anyOf"):
            options = [each for each in schema.get(key) or [] if self._document.kinds(each) != {"null"}]
            if options:
                chosen = options[self._turn % len(options)]
                value = self.value({**self._document.deref(chosen)}, name, depth)
                rest = {word: each for word, each in schema.items() if word != key}
                beside = self._typed(rest, name, depth) if "properties" in schema else {}
                return value if not isinstance(value, dict) else {**beside, **value, **self._told_apart(schema, chosen)}
        return self._typed(schema, name, depth)

    def _told_apart(self, schema: Mapping[str, Any], chosen: Any) -> dict[str, Any]:
        """Return the field by which the alternative that was chosen is known (OpenAPI, Discriminator Object)."""
        discriminator, reference = schema.get("discriminator") or {}, chosen.get("$ref", "")
        field = discriminator.get("propertyName", "")
        if not reference or field not in self._document.properties(chosen):
            return {}
        names = {str(target): key for key, target in (discriminator.get("mapping") or {}).items()}
        last = reference.rpartition("/")[2]
        return {field: names.get(reference, names.get(last, last))}

    def _merged(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        document, rest = self._document, {key: each for key, each in schema.items() if key != "allOf"}
        parts = [dict(document.deref(part)) for part in schema["allOf"] if isinstance(document.deref(part), dict)]
        if document.kinds(schema) - {"null"} in ({"object"}, set()) and (document.properties(schema) or not parts):
            values = [
                self.value(part, name, depth) for part in (*parts, rest if "properties" in rest else {"type": "object"})
            ]
            known = {key: each for value in values if isinstance(value, dict) for key, each in value.items()}
            return {**dict.fromkeys(document.required(schema) - document.properties(schema).keys(), "x"), **known}
        whole: dict[str, Any] = {}
        for part in (*parts, rest):
            whole |= part
        return self.value({**whole, "allOf": None}, name, depth)

    def _typed(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        kinds = self._document.kinds(schema) - {"null"}
        kind = next(
            (each for each in ("object", "array", "string", "integer", "number", "boolean") if each in kinds), ""
        )
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        if kind == "array":
            least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 99))
            count = max(least, min(most, 2 if self._turn % 3 else 1))
            if depth > 4 and not least:
                return []
            samplers = [Sampler(self._document, self._turn + at, answers=self._answers) for at in range(min(count, 20))]
            items = [each.value(schema.get("items", {}), name, depth + 1) for each in samplers]
            unique = list({json.dumps(each, default=str): each for each in items}.values())
            return unique if ABSENT not in items else ABSENT
        if kind in ("integer", "number"):
            return self._number(schema, kind)
        if kind == "boolean":
            return self._turn % 2 == 0
        return self._text(schema, name)

    def _object(self, schema: Mapping[str, Any], depth: int) -> Any:
        document, required = self._document, self._document.required(schema)
        value = dict.fromkeys(required - document.properties(schema).keys(), "x")
        for name, each in document.properties(schema).items():
            each = document.deref(each)
            flag = "writeOnly" if self._answers else "readOnly"
            if not isinstance(each, dict) or each.get(flag) or (depth > 3 and name not in required) or depth > 9:
                continue
            inner = self.value(each, name, depth + 1)
            if inner is not ABSENT:
                value[name] = inner
        extra = schema.get("additionalProperties")
        if not value and isinstance(extra, dict) and depth < 4:
            inner = self.value(extra, "key", depth + 1)
            return {} if inner is ABSENT else {"key": inner}
        return value

    def _number(self, schema: Mapping[str, Any], kind: str) -> Any:
        words = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        numbers = [schema[word] for word in words if type(schema.get(word)) in (int, float)]
        bounds = [each for each in numbers if abs(each) < 2**53]
        at, step = self._turn % max(1, len(bounds)), schema.get("multipleOf") or 1
        first = bounds[at:] if self._turn or "minimum" in schema else [7]
        whole = [math.ceil(each / step) * step for each in (*bounds, 7)]
        guesses = [*first, *bounds, *whole, 7, *(each + sign for each in bounds for sign in (1, -1))]
        fits = [each for each in guesses if not self._document.problems(schema, each)]
        value = next(iter(fits), guesses[0])
        return int(value) if kind == "integer" or float(value).is_integer() else value

    def _text(self, schema: Mapping[str, Any], name: str) -> Any:
        examples = [
            schema.get("example"),
            *(schema.get("examples") or () if isinstance(schema.get("examples"), list) else ()),
        ]
        form = "binary" if schema.get("type") == "file" else str(schema.get("format", ""))
        if "pattern" in schema:
            guesses = [*examples, schema.get("default"), *_GUESSES] if compiles(str(schema["pattern"])) else examples
            texts = [each for each in guesses if isinstance(each, str) and not self._document.problems(schema, each)]
            return texts[0] if texts else ABSENT
        if form in _TEXTS:
            return _TEXTS[form].format(self._turn % 9 + 1)
        least, most = int(schema.get("minLength") or 0), schema.get("maxLength")
        text = f"{re.sub('[^a-z]', '', name.lower()) or 'text'}-{self._turn + 1}"
        longest = int(most) if most is not None and self._turn % 3 == 1 and most <= _LONGEST else least
        text = text.ljust(max(longest, least), "x")
        return text if most is None else text[: int(most)]


def sample(document: Document, schema: Any, turn: int = 0, *, name: str = "", answers: bool = False) -> Any:
    """Return a value of a schema, ABSENT if none is known that is valid."""
    value = Sampler(document, turn, answers=answers).value(schema, name)
    return value if value is ABSENT or answers or not document.problems(schema, value) else ABSENT


class Answer:
    """An answer of the stand-in."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.status, self.headers, self.content = status, headers, content

    @property
    def data(self) -> Any:
        """The body as JSON, None for anything else."""
        try:
            return json.loads(self.content)
        except ValueError:
            return None


def paging_of(operation: Operation) -> tuple[str, str, str, list[str]] | None:
    """Return style, leading and size parameter, and the way to the list in the answer; None for no list that pages."""
    query = {
        normal(each.name): each.name for each in operation.parameters if each.place == "query" and not each.required
    }
    leads = [(style, query[word]) for style, words in LEADS.items() for word in words if word in query]
    schema, document = operation.response()[2], operation.document
    numbers = {each.name for each in operation.parameters if document.kinds(each.schema) & {"integer", "number"}}
    leads = [(style if name in numbers else "cursor", name) for style, name in leads]
    if operation.method != "GET" or len({style for style, _ in leads}) != 1:
        return None
    lists = [[]] if "array" in document.kinds(schema) else [
        [name] for name, each in document.properties(schema).items()
        if "array" in document.kinds(each) and "object" in document.kinds(document.items(each))
    ]  # fmt: skip
    size = next((query[word] for word in SIZES if word in query), "")
    return (*leads[0], size, lists[0]) if len(lists) == 1 else None


def answer_of(operation: Operation, url: str, starts: dict[str, int]) -> Answer:
    """Return the success that the document has for a request; a list that pages gives its items page by page.

    `starts` remembers the number of the first page where the document does not say it.
    """
    status, media, schema, headers = operation.response()
    sent: dict[str, str] = {"content-type": media} if media else {}
    if any(name.lower() == "etag" for name in headers):
        sent["etag"] = '"witness"'
    if not media or status == 204:
        return Answer(status, sent, b"")
    if "json" not in media and "*" not in media:
        return Answer(status, sent, b"<x/>" if "xml" in media else b"text")
    data = sample(operation.document, schema, answers=True)
    paging = paging_of(operation)
    if paging is not None:
        data = _page(operation, data, url, sent, starts)
        if "link" in sent and not any(name.lower() == "link" for name in headers):
            del sent["link"]
    if "*" in media:
        sent["content-type"] = "application/json"
    return Answer(status, sent, json.dumps(None if data is ABSENT else data).encode())


def _page(operation: Operation, data: Any, url: str, headers: dict[str, str], starts: dict[str, int]) -> Any:
    style, lead, size, way = paging_of(operation) or ("", "", "", [])
    query = {name: values[-1] for name, values in parse_qs(url.partition("?")[2]).items()}
    schema = next(each.schema for each in operation.parameters if each.name == lead)
    schema = operation.document.deref(schema) or {}
    if query.get(lead) == "0":
        starts[operation.key] = 0
    start = schema.get("default", schema.get("minimum")) if style == "page" else 0
    start = start if start in (0, 1) else starts.get(operation.key, 1)
    count = int(query[size]) if query.get(size, "").isdecimal() else 2
    at = re.sub(r"\D", "", query.get(lead, ""))
    begin = int(at or start) if style != "page" else (int(at or start) - start) * count
    items = data if not way else data.get(way[0]) if isinstance(data, dict) else None
    model = items[0] if isinstance(items, list) and items else {}
    page = [_marked(model, number) for number in range(begin, min(begin + count, PAGE_ITEMS))]
    last = begin + count >= PAGE_ITEMS
    following = {"page": begin // max(count, 1) + 1 + start, "offset": begin + count}.get(
        style, f"cursor{begin + count}"
    )
    address = f"{url.partition('?')[0]}?{urlencode({**query, lead: following})}"
    if not last:
        headers["link"] = f'<{address}>; rel="next"'
    if not way:
        return page
    _led(data, None if last else following, None if last else address)
    return {**data, way[0]: page}


def _marked(model: Any, number: int) -> Any:
    if not isinstance(model, dict):
        return f"{model}{number}" if isinstance(model, str) else number
    texts = {
        name: f"{each}{number}" for name, each in model.items() if isinstance(each, str) and name.lower()[-2:] == "id"
    }
    numbers = {name: number for name, each in model.items() if type(each) is int and name.lower()[-2:] == "id"}
    first = next((name for name, each in model.items() if isinstance(each, str)), "mark")
    return {**model, first: f"{model.get(first)}{number}", **texts, **numbers}


def _led(node: dict[str, Any], following: Any, address: str | None, *, is_next: bool = False, depth: int = 0) -> None:
    """Put into an answer what its page is followed by, wherever it has a field for that."""
    for name, each in list(node.items()):
        word = normal(name)
        leads = re.search("next|cursor|pagetoken", word) is not None and not word.startswith("prev")
        if isinstance(each, dict) and depth < 2:
            _led(each, following, address, is_next=leads, depth=depth + 1)
            if leads and following is None:
                node[name] = None
        elif word.startswith(("hasmore", "hasnext", "moreavailable")) and isinstance(each, bool):
            node[name] = following is not None
        elif type(each) is int and word in _TOTALS:
            node[name] = PAGE_ITEMS
        elif (leads or is_next) and not isinstance(each, list | bool):
            is_address = isinstance(each, str) and (each[:4] == "http" or re.search("url|uri|link|href", word))
            node[name] = address if is_address else following
            if following is None and not isinstance(each, str):
                del node[name]
