"""A stand-in for any REST API that remembers: POST stores, GET lists and reads, PATCH and PUT merge, DELETE removes.

It is made from an adapter's operation table. Shapes are those of mock mode, the document's examples or samples, so that
answers have a realistic size; seeded things are laid over them. What is not seeded is answered as mock mode answers it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

from aqlgen.check.stand_in import Arrived, Reply, StandIn
from aqlgen.runtime.table import Row
from aqlgen.words import singular

__all__ = ["StatefulApi", "key_of_list"]

Thing = dict[str, Any]
DEFAULT_SIZE = 30
IDENTIFIERS = ("number", "gid", "id", "name")
PAYLOADS = ("data", "items")


def key_of_list(body: Any, collection: str) -> str | None:
    """Return the field of an answer that holds its list; None for an answer that is the list, or holds none."""
    if not isinstance(body, dict):
        return None
    lists = [key for key, value in body.items() if isinstance(value, list)]
    preferred = (collection, *PAYLOADS)
    return next((key for key in preferred if key in lists), lists[0] if len(lists) == 1 else None)


def _key_of_thing(body: Any, collection: str) -> str | None:
    candidates = (singular(collection), "data")
    return next((key for key in candidates if isinstance(body, dict) and isinstance(body.get(key), dict)), None)


class StatefulApi(StandIn):
    """The things of one API by the path of their collection, and the writes that arrived."""

    def __init__(self, package: Path, seeds: Mapping[str, Sequence[Thing]], aliases: Mapping[str, str]) -> None:
        super().__init__(package)
        self._lock = threading.Lock()
        self._seeds = seeds
        self._aliases = {re.compile(pattern): path for pattern, path in aliases.items()}
        self.reset()

    def reset(self) -> None:
        """Forget all that was written."""
        self._things = {path: [dict(thing) for thing in things] for path, things in self._seeds.items()}
        self.writes: list[tuple[str, str, Any]] = []
        self._next = 70_001

    def mocked(self, row: Row) -> tuple[int, Any]:
        """Return what mock mode answers: the status and the body, None if it is no JSON."""
        return self.shape(row).status, self.data_of(row)

    def answer(self, request: Arrived) -> Reply:
        """Return the answer to a request, and remember what it wrote; one after the other."""
        with self._lock:
            self.arrived.clear()  # only the writes are looked at
            status, headers, data = self._answer(request.method, request.path, dict(request.query), request.data)
        headers = {name: value.replace("{base}", request.base) for name, value in headers.items()}
        return Reply(status, headers=headers) if data is None else Reply.of(status, data, **headers)

    def _answer(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, dict[str, str], Any]:
        """Return the status, headers and data of an answer, None for no content."""
        row = self.row_of(method, path)
        if row is None:
            return 404, {}, {"message": f"There is no {method} {path}"}
        status, shape = self.mocked(row)
        for pattern, other in self._aliases.items():
            path = pattern.sub(other, path)
        if method != "GET":
            self.writes.append((method, path, body))
        parent, _, last = path.rpartition("/")
        collection = path.rpartition("/")[2] if path in self._things else parent.rpartition("/")[2]
        if method == "GET":
            if path in self._things:
                return self._list(row, path, query, status, deepcopy(shape), collection)
            if parent in self._things:
                thing = self._find(parent, last)
                return (
                    (404, {}, {"message": "Not Found"})
                    if thing is None
                    else (status, {}, _laid(shape, thing, collection))
                )
            return status, {}, shape
        if method == "DELETE":
            thing = self._find(parent, last)
            if thing is not None:
                self._things[parent].remove(thing)
            return (404 if thing is None and parent in self._things else status), {}, shape
        sent = _unwrapped(body, collection)
        thing = self._find(parent, last)
        if thing is not None and method in ("PUT", "PATCH"):
            thing |= sent
            return status, {}, _laid(shape, thing, collection)
        if method == "POST" and (path in self._things or self._lists(path)):
            thing = self._new(shape, sent, path.rpartition("/")[2])
            self._things.setdefault(path, []).append(thing)
            return status, {}, _laid(shape, thing, path.rpartition("/")[2])
        return status, {}, shape

    def _lists(self, path: str) -> bool:
        row = self.row_of("GET", path)
        body = None if row is None else self.mocked(row)[1]
        return isinstance(body, list) or key_of_list(body, path.rpartition("/")[2]) is not None

    def _new(self, shape: Any, sent: Thing, collection: str) -> Thing:
        key = _key_of_thing(shape, collection)
        template = shape[key] if key else shape
        self._next += 1
        thing = dict(sent)
        for name in IDENTIFIERS[:3]:
            if isinstance(template, dict) and name in template:
                thing[name] = self._next if isinstance(template[name], int) else str(self._next)
        return thing

    def _find(self, collection: str, last: str) -> Thing | None:
        for name in IDENTIFIERS:
            for thing in self._things.get(collection, ()):
                if name in thing and str(thing[name]) == unquote(last):
                    return thing
        return None

    def _list(
        self, row: Row, path: str, query: Mapping[str, str], status: int, shape: Any, collection: str
    ) -> tuple[int, dict[str, str], Any]:
        key = key_of_list(shape, collection)
        templates = shape[key] if key else shape if isinstance(shape, list) else []
        template = templates[0] if templates and isinstance(templates[0], dict) else {}
        things = [thing for thing in self._things[path] if all(_matches(thing, *pair) for pair in query.items())]
        size = int(query.get("per_page") or query.get("limit") or DEFAULT_SIZE)
        start = (int(query["page"]) - 1) * size if "page" in query else int(query.get("offset") or 0)
        items = [{**template, **_chosen(row, template, thing, query)} for thing in things[start : start + size]]
        more = start + size < len(things)
        headers = {}
        if more and "page" in {parameter.wire for parameter in row.parameters.values()}:
            following = urlencode({**query, "page": start // size + 2})
            headers["link"] = f'<{{base}}{path}?{following}>; rel="next"'
        if isinstance(shape, dict) and key:
            shape[key] = items
            _tell_page(shape, start, size, len(things))
            return status, headers, shape
        return status, headers, items


def _chosen(row: Row, template: Thing, thing: Thing, query: Mapping[str, str]) -> Thing:
    """Return what a list shows of a thing: of APIs that give what is asked for, the template's fields and those."""
    if "opt_fields" not in row.parameters:
        return thing
    asked = {name.partition(".")[0] for name in query.get("opt_fields", "").split(",")}
    return {key: value for key, value in thing.items() if key in template or key in asked}


def _matches(thing: Thing, name: str, value: str) -> bool:
    name = name.removesuffix("[]")
    for key in (name, singular(name)):
        if key in thing and value not in ("all", ""):
            held = thing[key]
            if isinstance(held, dict):
                held = next((held[inner] for inner in ("login", "gid", "id", "name") if inner in held), None)
            return isinstance(held, list) or str(held) in value.split(",")
    return True


def _laid(shape: Any, thing: Thing, collection: str) -> Any:
    """Return an answer with a thing laid over what it shows."""
    key = _key_of_thing(shape, collection)
    if key:
        return {**shape, key: {**shape[key], **thing}}
    return {**shape, **thing} if isinstance(shape, dict) else shape


def _unwrapped(body: Any, collection: str) -> Thing:
    key = _key_of_thing(body, collection)
    body = body[key] if key else body
    return body if isinstance(body, dict) else {}


def _tell_page(shape: Thing, start: int, size: int, total: int) -> None:
    """Set the fields about the page that an answer has."""
    following = start + size if start + size < total else None
    fields = {
        "total": total,
        "total_count": total,
        "offset": start,
        "limit": size,
        "more": following is not None,
        "previous": None,
        "next": None if following is None else f"{{base}}/next?offset={following}&limit={size}",
        "next_page": None
        if following is None
        else {"offset": str(following), "path": "/", "uri": "https://example.com/"},
    }
    shape |= {name: value for name, value in fields.items() if name in shape}
    if isinstance(shape.get("meta"), dict) and "pagination" in shape["meta"]:
        page = start // size + 1
        shape["meta"]["pagination"] = {
            "page": page,
            "per_page": size,
            "previous_page": page - 1 or None,
            "next_page": None if following is None else page + 1,
            "last_page": -(-total // size),
            "total_entries": total,
        }
