"""A server that remembers, with quirks of its updates and deletes, and an observation that writes to it."""

from __future__ import annotations

import asyncio
import copy
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from local import Answer, Asked

from aqlgen.runtime.learn.ledger import Ledger
from aqlgen.runtime.learn.model import Observation
from aqlgen.runtime.learn.requests import AdapterRequests, Budget
from aqlgen.runtime.learn.things import Named
from aqlgen.runtime.learn.writes import observe_writes
from tests.documents import INTEGER, JSON, TEXT, body_of, list_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate

FIELDS = {"name": TEXT, "note": TEXT, "place": TEXT, "age": INTEGER}
PET = object_of("name", **FIELDS, id={**INTEGER, "readOnly": True})
CHANGE = object_of(**FIELDS)
TOY = object_of("label", label=TEXT, tint=TEXT)


def written(folder: Path, paths: dict[str, Any]) -> Path:
    """Write the package of an adapter of these paths."""
    folder.mkdir(exist_ok=True)
    return tabulate(folder, api(paths)).write(folder)


def listed(schema: Any) -> dict[str, Any]:
    return {"responses": replies(list_of(schema))}


def item(name: str, schema: Any, **methods: Any) -> dict[str, Any]:
    gone = {"responses": replies(status="204")}
    return {"parameters": [parameter(name, "path")], "get": {"responses": replies(schema)}, "delete": gone, **methods}


def creating(schema: Any) -> dict[str, Any]:
    return {"requestBody": body_of(schema), "responses": replies(schema, "201")}


def changing(schema: Any, answer: Any, *kinds: str) -> dict[str, Any]:
    return {"requestBody": body_of(schema, *kinds), "responses": replies(answer)}


PETS = "/pets/{petId}"
OF_PET = parameter("petId", "path")
PATHS: dict[str, Any] = {
    "/pets": {"get": listed(PET), "post": creating(PET)},
    PETS: item(
        "petId",
        PET,
        put=changing(CHANGE, PET),
        patch=changing(CHANGE, PET, JSON, "application/merge-patch+json"),
    ),
    f"{PETS}/toys": {"parameters": [OF_PET], "get": listed(TOY), "post": creating(TOY)},
    f"{PETS}/toys/{{toyId}}": item("toyId", TOY, parameters=[OF_PET, parameter("toyId", "path")]),
}


@dataclass
class Shop:
    """Pets by id, the toys of each, and what the API makes of writes; `seen` is called with each request."""

    put: str = "keeps"
    """What a PUT does with what it does not name: keeps, nulls, defaults, or refuses more than three fields."""
    repeats: str = "duplicates"
    """What a second identical create does: duplicates, refused, or keyed by its key."""
    deletes: bool = True
    merges: tuple[str, ...] = ("application/json", "application/merge-patch+json")
    computes: bool = False
    seen: Callable[[Asked, bool], None] = lambda request, done: None
    things: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"/pets/1": {"id": 1, "name": "Rex", "note": "shy", "place": "yard", "age": 3}}
    )
    keys: dict[str, dict[str, Any]] = field(default_factory=dict)
    last: int = 1
    lock: Lock = field(default_factory=Lock)

    def answer(self, request: Asked) -> Answer:
        with self.lock:
            self.seen(request, False)
            reply = self._answer(request)
            self.seen(request, True)
            return reply

    def _answer(self, request: Asked) -> Answer:
        path, body = request.path.partition("?")[0], json.loads(request.body or b"{}")
        thing = self.things.get(path)
        if path.count("/") % 2:
            return self._collection(request, path, body)
        if thing is None:
            return Answer({"message": "no such thing"}, 404)
        if request.method == "DELETE":
            if self.deletes:
                self.things = {key: value for key, value in self.things.items() if not f"{key}/".startswith(f"{path}/")}
            return Answer(b"", 204)
        if request.method == "PATCH" and request.headers["content-type"] not in self.merges:
            return Answer({"message": "not this type"}, 415)
        if request.method == "PUT" and self.put == "refuses" and len(body) > 3:
            return Answer({"message": "too many"}, 422)
        if request.method in ("PUT", "PATCH"):
            unnamed = {"nulls": dict.fromkeys(FIELDS), "defaults": {"place": "here", "age": 0}}.get(self.put, thing)
            kept = unnamed if request.method == "PUT" else thing
            self.things[path] = thing = {**kept, **body, "id": thing["id"]}
            if self.computes:
                thing["age"] = thing["age"] + 1
        return Answer(thing)

    def _collection(self, request: Asked, path: str, body: dict[str, Any]) -> Answer:
        pets = [each for key, each in self.things.items() if key.rpartition("/")[0] == path]
        if request.method == "GET":
            return Answer(pets)
        key = request.headers.get("x-key", "")
        if self.repeats == "keyed" and key in self.keys:
            return Answer(self.keys[key], 201)
        if self.repeats == "refused" and any(each.items() >= body.items() for each in pets):
            return Answer({"message": "exists"}, 409)
        self.last += 1
        self.things[f"{path}/{self.last}"] = self.keys[key] = {"place": "yard", "age": 1, **body, "id": self.last}
        return Answer(self.things[f"{path}/{self.last}"], 201)


def observing(
    package: Path,
    url: str,
    ledger: Path,
    named: Sequence[str] = (),
    *,
    most: int = 1000,
    only_back: bool = False,
    creates: Sequence[str] = (),
) -> list[Observation]:
    """Observe the API at a URL with writes; `only_back` only takes back what an earlier run left."""
    isolated = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_LOG_LEVEL": "error"}
    environ = {**isolated, "MCP_AQL_BASE_URL": url, "MCP_AQL_TIMEOUT": "5"}

    async def run() -> list[Observation]:
        book = Ledger(ledger)
        try:
            async with AdapterRequests(package, None, environ, Budget(most, 30), writes=True) as requests:
                if only_back:
                    return await observe_writes(requests, (), book, most=0, seconds=0)
                resources = [Named.read(text) for text in named]
                return await observe_writes(requests, resources, book, creates=creates)
        finally:
            book.close()

    return asyncio.run(run())


def dumped(shop: Shop) -> dict[str, Any]:
    return copy.deepcopy(shop.things)


def lines(observations: Sequence[Observation]) -> list[str]:
    return [f"{seen.key}: {seen.says} {json.dumps(dict(seen.override))}" for seen in observations]
