"""Cases of the tables, and the parts that they are put together from."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

HOST = "https://wire.example.com"
STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
STRINGS = {"type": "array", "items": STRING}
RGB = {"type": "object", "properties": {"R": INTEGER, "G": INTEGER, "B": INTEGER}}
MAP = {"type": "object", "additionalProperties": True}
COLORS = ["blue", "black", "brown"]
SHADE = {"R": 100, "G": 200, "B": 150}
PNG = b"\x89PNG\r\n--x"
PNG64 = base64.b64encode(PNG).decode()
BAD = "VALIDATION_INVALID_VALUE"
PET = {
    "type": "object",
    "properties": {
        "petName": STRING,
        "tags": STRINGS,
        "home": {"type": "object", "properties": {"zipCode": STRING, "zip_code": STRING}},
        "extra": {"type": ["string", "null"]},
    },
}


@dataclass(frozen=True)
class Case:
    """One call and the request that it must make; `refused` is the error's code where nothing may be sent.

    `rule` is the place in a specification. `servers` are those of the operation, `base` is where they lead.
    """

    title: str
    call: Mapping[str, Any]
    target: str = ""
    method: str = "GET"
    path: str = ""
    parameters: tuple[Mapping[str, Any], ...] = ()
    content: Mapping[str, Any] | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: bytes = b""
    refused: str = ""
    shared: tuple[Mapping[str, Any], ...] = ()
    rule: str = ""
    servers: tuple[Mapping[str, Any], ...] = ()
    base: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Answer:
    """One response, and the data or the error's code that an agent gets.

    `kind` is the Content-Type that is sent, `declared` the one of the document with its `schema`, under `key`.
    `responses` are the whole Responses Object instead; `shown` are the declared headers that are shown.
    """

    title: str
    content: bytes = b""
    data: Any = None
    kind: str | None = "application/json"
    schema: Any = field(default_factory=dict)
    declared: str | None = "application/json"
    status: int = 200
    key: str = "200"
    headers: Mapping[str, str] = field(default_factory=dict)
    responses: Mapping[str, Any] | None = None
    method: str = "GET"
    refused: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    rule: str = ""

    @property
    def documented(self) -> Mapping[str, Any]:
        """The Responses Object of the operation."""
        if self.responses is not None:
            return self.responses
        response: dict[str, Any] = {"description": "As documented"}
        if self.declared is not None:
            response["content"] = {self.declared: {"schema": self.schema}}
        if self.shown:
            response["headers"] = {name: {"schema": STRING} for name in self.shown}
        return {self.key: response}


Ruled = TypeVar("Ruled", Case, Answer)


def ruled(rule: str, cases: Iterable[Ruled]) -> list[Ruled]:
    """Return cases with the place of their rule, those that name another keep it."""
    return [case if case.rule else replace(case, rule=rule) for case in cases]


def parameter(name: str, place: str, schema: Any, **more: Any) -> dict[str, Any]:
    """Return a Parameter Object."""
    described = {"name": name, "in": place, **more} | ({} if "content" in more else {"schema": schema})
    return described | ({"required": True} if place == "path" else {})


def styled(place: str, style: str, explode: bool | None, schema: Any, value: Any, written: str, **more: Any) -> Case:
    fields = {"style": style} | ({} if explode is None else {"explode": explode}) | more
    kind = "null" if value is None else type(value).__name__
    title = f"{place} {style} explode={explode} {kind} {' '.join(map(str, more))} {written!r}"
    color = parameter("color", place, schema, **fields)
    if place == "path":
        return Case(title, {"color": value}, written, path="/{color}", parameters=(color,))
    if place == "query":
        return Case(title, {"color": value}, written, parameters=(color,))
    header = "Cookie" if place == "cookie" else "color"
    return Case(title, {"color": value}, parameters=(color,), headers={header: written or None})


def posted(
    title: str, kind: str, schema: Any, call: Mapping[str, Any], body: bytes, sent: str = "", **more: Any
) -> Case:
    """Return the case of a POST with a body of one content type; `encoding` is that of its Media Type Object."""
    media = {"schema": schema} | ({"encoding": more.pop("encoding")} if "encoding" in more else {})
    headers = {"Content-Type": sent or kind} if body else {}
    return Case(
        f"{kind}: {title}",
        call,
        method=more.pop("method", "POST"),
        content={kind: media},
        headers=headers,
        body=body,
        **more,
    )


def form_part(name: str, content: bytes, kind: str = "", filename: str = "", more: str = "") -> bytes:
    head = f'--{{B}}\r\nContent-Disposition: form-data; name="{name}"'
    head += f'; filename="{filename}"' if filename else ""
    head += f"\r\nContent-Type: {kind}" if kind else ""
    return head.encode() + more.encode() + b"\r\n\r\n" + content + b"\r\n"
