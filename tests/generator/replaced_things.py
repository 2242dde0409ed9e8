"""Pairs of PUT and GET as real documents describe them, and an API that keeps a thing exactly as it was last written.

Each kind of fields is combined with each envelope. A thing loses every field that a PUT lacks, but for secrets, which
no GET shows; a field that the PUT does not declare is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from aqlgen.runtime.table import Row
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.documents import FLAG, INTEGER, TEXT, body_of, list_of, object_of, replies

NUMBER, READ_ONLY = {"type": "number"}, {**TEXT, "readOnly": True}
KEY = object_of(k=TEXT, v=list_of(list_of(INTEGER)))


NULL = {"type": "null"}
ANYTHING = {"type": "object"}
GEO = object_of(lat=NUMBER, lng=NUMBER)
PLACE = object_of("city", city=TEXT, geo=GEO)
TEXTS = list_of(TEXT)
FILE = object_of("kind", "path", kind={"const": "file"}, path=TEXT)


@dataclass(frozen=True)
class Kind:
    """Fields as they are written, the thing that there is, and a change of each field with what becomes of it.

    `read` is the schema of what is read, where that is another; `computed` is what only an answer has.
    """

    written: Mapping[str, Any]
    thing: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...]
    read: Mapping[str, Any] | None = None
    computed: Mapping[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    """Secrets: they are not shown, and stay where they are not written."""
    shown: Mapping[str, Any] = field(default_factory=dict)
    """What stands for secrets in an answer."""


FLAT = object_of("name", name=TEXT, enabled=FLAG, weight=INTEGER, ratio=NUMBER)
POOL = {"name": "a", "enabled": True, "weight": 3, "ratio": 0.5}
KINDS: dict[str, Kind] = {
    "scalars": Kind(FLAT, POOL, ({"name": "b"}, {"enabled": False}, {"weight": 0}, {"ratio": 1})),
    "empty values": Kind(
        object_of(name=TEXT, note=TEXT, tags=TEXTS, count=INTEGER, on=FLAG, more={"type": "object"}),
        {"name": "", "note": "n", "tags": [], "count": 0, "on": False, "more": {}},
        ({"note": ""}, {"tags": ["t"]}, {"name": "x"}),
    ),
    "nullable": Kind(
        object_of(
            "name", "owner", name=TEXT, owner={"type": ["string", "null"]}, note={"anyOf": [TEXT, {"type": "null"}]}
        ),
        {"name": "a", "owner": None, "note": "n"},
        ({"name": "b"}, {"owner": "o"}, {"note": None}),
    ),
    "removed": Kind(
        object_of("name", name=TEXT, note=TEXT), {"name": "a", "note": "n"}, ({"note": None}, {"name": "b"})
    ),
    "nested": Kind(
        object_of("name", name=TEXT, home=PLACE),
        {"name": "a", "home": {"city": "c", "geo": {"lat": 1.5, "lng": 2}}},
        ({"home": {"geo": {"lng": 3}}}, {"home": {"city": "d"}}, {"name": "b"}),
    ),
    "lists": Kind(
        object_of(name=TEXT, tags=TEXTS, keys={"type": "array", "items": KEY}),
        {"name": "a", "tags": ["x", "y"], "keys": [{"k": "1", "v": [[1, 2], [3]]}, {"k": "2"}]},
        ({"tags": ["z"]}, {"keys": [{"k": "3", "v": []}]}, {"name": "b"}),
    ),
    "read-only": Kind(
        object_of("name", id=READ_ONLY, created_at=READ_ONLY, name=TEXT, size=INTEGER),
        {"name": "a", "size": 1},
        ({"name": "b"}, {"size": 2}),
        computed={"id": "7", "created_at": "then"},
    ),
    "computed": Kind(
        object_of("name", name=TEXT, size=INTEGER),
        {"name": "a", "size": 1},
        ({"name": "b"}, {"size": 2}),
        read=object_of(id=TEXT, name=TEXT, size=INTEGER, status=TEXT, members=INTEGER),
        computed={"id": "7", "status": "ok", "members": 3, "updated_at": "now", "_links": {"self": "/7"}, "etag": "x"},
    ),
    "computed within": Kind(
        object_of("name", name=TEXT, home=object_of(city=TEXT), keys={"type": "array", "items": object_of(k=TEXT)}),
        {"name": "a", "home": {"city": "c"}, "keys": [{"k": "1"}]},
        ({"name": "b"},),
        read=object_of(name=TEXT, home=object_of(city=TEXT, zone=TEXT), keys=list_of(object_of(k=TEXT, made=INTEGER))),
        computed={"home": {"city": "c", "zone": "z"}, "keys": [{"k": "1", "made": 1}]},
    ),
    "secrets": Kind(
        object_of("name", name=TEXT, size=INTEGER, password={**TEXT, "writeOnly": True}, api_key=TEXT),
        {"name": "a", "size": 1, "password": "p", "api_key": "k"},
        ({"name": "b"}, {"size": 2}, {"password": "q"}, {"api_key": "l"}),
        hidden=frozenset({"password", "api_key"}),
        shown={"api_key": "••••1234"},
    ),
    "enumerated": Kind(
        object_of("mode", mode={"enum": ["on", "off"]}, level={"type": "integer", "enum": [1, 2]}, label=TEXT),
        {"mode": "on", "level": 1, "label": "l"},
        ({"mode": "off"}, {"level": 2}, {"label": "m"}),
    ),
    "maps": Kind(
        object_of(
            name=TEXT,
            labels={"type": "object", "additionalProperties": TEXT},
            rules={"type": "object", "additionalProperties": PLACE},
        ),
        {"name": "a", "labels": {"id": "1", "created_at": "2", "x/y~z": "3"}, "rules": {"r": {"city": "c"}}},
        ({"labels": {"new": "n"}}, {"labels": {"id": "2"}}, {"labels": {"id": None}}, {"name": "b"}),
    ),
    "composed": Kind(
        {"allOf": [FLAT, object_of(note=TEXT)]},
        {**POOL, "note": "n"},
        ({"note": "m"}, {"weight": 9}),
        read={"allOf": [object_of(id=TEXT), FLAT, object_of(note=TEXT)]},
        computed={"id": "7"},
    ),
    "alternatives": Kind(
        object_of(
            "name",
            name=TEXT,
            source={
                "oneOf": [
                    object_of("kind", "path", kind={"const": "file"}, path=TEXT),
                    object_of("kind", "url", kind={"const": "web"}, url=TEXT, depth=INTEGER),
                ],
                "discriminator": {"propertyName": "kind"},
            },
        ),
        {"name": "a", "source": {"kind": "web", "url": "u", "depth": 1}},
        ({"name": "b"}, {"source": {"kind": "web", "depth": 2}}),
    ),
    "defaults": Kind(
        object_of(name={**TEXT, "default": "none"}, size={**INTEGER, "default": 10}, on={**FLAG, "default": True}),
        {"name": "a", "size": 1, "on": False},
        ({"name": "b"}, {"size": 2}, {"on": True}),
    ),
    "optional and absent": Kind(
        object_of("name", name=TEXT, home=PLACE, note=TEXT), {"name": "a"}, ({"note": "n"}, {"home": {"city": "c"}})
    ),
    "spelled otherwise": Kind(
        object_of("fullName", fullName=TEXT, homeAddress=object_of(zipCode=TEXT, streetName=TEXT), userIds=TEXTS),
        {"fullName": "a", "homeAddress": {"zipCode": "1", "streetName": "s"}, "userIds": ["u"]},
        ({"fullName": "b"}, {"homeAddress": {"zipCode": "2"}}, {"userIds": []}),
    ),
    "long numbers": Kind(
        object_of("name", name=TEXT, balance=NUMBER, serial=INTEGER, rates={"type": "array", "items": NUMBER}),
        {
            "name": "a",
            "balance": Decimal("12345678901234567890.1234567890"),
            "serial": 2**70 + 1,
            "rates": [Decimal("0.10")],
        },
        ({"name": "b"},),
    ),
    "open": Kind(
        {**FLAT, "additionalProperties": True}, {**POOL, "extra": {"deep": [1]}}, ({"weight": 1}, {"name": "b"})
    ),
    "other letters": Kind(
        object_of("navn", navn=TEXT, størrelse=INTEGER),
        {"navn": "æøå\U0001f600", "størrelse": 1},
        ({"størrelse": 2}, {"navn": "ß"}),
    ),
}


@dataclass(frozen=True)
class Envelope:
    """Where a thing is in an answer and in a request; `around` stands beside it in an answer."""

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    around: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] = field(default_factory=dict)


STATUS = {"success": FLAG, "errors": TEXTS}
ENVELOPES: dict[str, Envelope] = {
    "none": Envelope(),
    "result": Envelope(("result",), (), {"success": True, "errors": []}, STATUS),
    "data in both": Envelope(("data",), ("data",), {"meta": {"took": 1}}, {"meta": object_of(took=INTEGER)}),
    "its name in the answer": Envelope(("pool",), ()),
    "its name in the request": Envelope((), ("pool",)),
    "two names": Envelope(("data",), ("pool",), {"success": True, "errors": []}, STATUS),
    "resource object in the answer": Envelope(
        ("data", "attributes"), (), {"links": {"self": "/"}}, {"links": object_of(self=TEXT)}
    ),
    "resource object in both": Envelope(("data", "attributes"), ("data", "attributes")),
}


def wrapped(schema: Any, steps: tuple[str, ...], around: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an envelope."""
    for step in reversed(steps):
        schema = object_of(step, **{step: schema})
    return {**schema, "properties": {**schema["properties"], **around}} if steps else schema


def within(value: Any, steps: tuple[str, ...]) -> Any:
    """Return a value in its envelope."""
    for step in reversed(steps):
        value = {step: value}
    return value


@dataclass(frozen=True)
class Pair:
    """A kind of fields in an envelope, at a path of its own."""

    number: int
    title: str
    kind: Kind
    envelope: Envelope

    def paths(self) -> dict[str, Any]:
        """Return both operations."""
        read = wrapped(self.kind.read or self.kind.written, self.envelope.read, self.envelope.schema)
        written = wrapped(self.kind.written, self.envelope.written, {})
        get = {"operationId": f"getThing{self.number}", "responses": replies(read)}
        put = {"operationId": f"updateThing{self.number}", "requestBody": body_of(written), "responses": replies(read)}
        return {f"GET /p{self.number}/{{id}}": get, f"PUT /p{self.number}/{{id}}": put}


PAIRS = [
    Pair(number, f"{title}, {around}", kind, envelope)
    for number, (title, kind, around, envelope) in enumerate(
        (title, kind, around, envelope) for title, kind in KINDS.items() for around, envelope in ENVELOPES.items()
    )
]


class Things:
    """The API of all pairs. `between` is called once, after the first reading of a thing."""

    offline = True

    def __init__(self, *, tagged: bool) -> None:
        self.tagged = tagged
        self.pair = PAIRS[0]
        self.thing: dict[str, Any] = {}
        self.version = 0
        self.between: Callable[[], None] | None = None
        self.sent: list[str] = []

    def hold(self, pair: Pair) -> None:
        """Become the API of one pair, with its thing as it begins."""
        self.pair, self.thing, self.sent, self.between = pair, dict(pair.kind.thing), [], None

    def write(self, thing: Mapping[str, Any]) -> None:
        """Write as somebody else."""
        self.thing = dict(thing)
        self.version += 1

    async def send(self, request: ApiRequest, _row: Row) -> ApiResponse:
        self.sent.append(request.method)
        if request.method == "GET":
            answer = self._answer()
            if self.between is not None:
                between, self.between = self.between, None
                between()
            return answer
        headers = {name.lower(): value for name, value in request.headers}
        if self.tagged and headers.get("if-match", self._tag) != self._tag:
            return ApiResponse(412, {"content-type": "application/json"}, b'{"message": "changed"}')
        body = json.loads(request.content or b"null", parse_float=Decimal)
        for step in self.pair.envelope.written:
            body = body[step] if isinstance(body, dict) and set(body) == {step} else None
        declared = self._declared(self.pair.kind.written)
        if not isinstance(body, dict) or (declared is not None and body.keys() - declared):
            return ApiResponse(422, {"content-type": "application/json"}, b'{"message": "not a thing"}')
        kept = {name: self.thing[name] for name in self.pair.kind.hidden if name in self.thing}
        self.write({**kept, **body})
        return self._answer()

    def _declared(self, schema: Mapping[str, Any]) -> set[str] | None:
        if schema.get("additionalProperties") is True:
            return None
        parts = schema.get("allOf", [schema])
        return {
            name for part in parts for name, inner in part["properties"].items() if not inner.get("readOnly", False)
        }

    @property
    def _tag(self) -> str:
        return f'"v{self.version}"'

    def _answer(self) -> ApiResponse:
        kind, envelope = self.pair.kind, self.pair.envelope
        shown = {name: value for name, value in self.thing.items() if name not in kind.hidden}
        body = within({**shown, **kind.shown, **kind.computed}, envelope.read)
        headers = {"content-type": "application/json", **({"etag": self._tag} if self.tagged else {})}
        return ApiResponse(200, headers, written({**body, **envelope.around}).encode())

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


def written(value: Any) -> str:
    """Return JSON text with all digits of each Decimal."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)
