"""A reason for which a server refuses a request, with what the document and the request say about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote

__all__ = ["Refusal", "fits", "is_there", "kinds", "parts", "resolved"]

DEEPEST = 30
KINDS = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "array": list, "object": dict, "null": type(None),
}  # fmt: skip


@dataclass(frozen=True)
class Refusal:
    """A reason for which a server refuses an exchange. `path` is the operation's own, as the document spells it."""

    document: Mapping[str, Any]
    method: str
    path: str
    exchange: Mapping[str, Any]
    code: str
    place: str
    message: str
    before: Mapping[str, Any] | None = None
    """The exchange before it in the same call."""

    @property
    def matched(self) -> str | None:
        """The path that the server took the request for."""
        path: str | None = self.exchange["verdict"].get("x-steady-matched-path")
        return path

    @property
    def steps(self) -> list[str]:
        """Where in the request, such as `body`, `user`, `name`."""
        return self.place.split(".")

    @cached_property
    def operation(self) -> Mapping[str, Any]:
        """The operation of the document that the exchange is for."""
        item = self.document.get("paths", {}).get(self.matched or self.path, {})
        operation = item.get(self.exchange["method"].lower(), {})
        return operation if isinstance(operation, dict) else {}

    @property
    def parameters(self) -> Iterator[Mapping[str, Any]]:
        """The operation's parameters."""
        item = self.document.get("paths", {}).get(self.matched or self.path, {})
        for parameter in (*self.operation.get("parameters", ()), *item.get("parameters", ())):
            yield resolved(self.document, parameter)

    @property
    def content_type(self) -> str:
        """The media type that was sent."""
        return str(self.exchange["headers"].get("content-type", "")).partition(";")[0].strip().lower()

    @property
    def body(self) -> Iterator[Any]:
        """The schemas of the body."""
        content = resolved(self.document, self.operation.get("requestBody", {})).get("content", {})
        for key, media in content.items():
            if key.partition(";")[0].strip().lower() == self.content_type and isinstance(media, dict):
                yield media.get("schema", {})

    @property
    def examples(self) -> Iterator[Any]:
        """The document's own examples of the body."""
        content = resolved(self.document, self.operation.get("requestBody", {})).get("content", {})
        for media in content.values():
            if "example" in media:
                yield media["example"]
            for example in media.get("examples", {}).values():
                yield resolved(self.document, example).get("value")

    def schemas(self, steps: list[str] | None = None) -> list[Mapping[str, Any]]:
        """Return every schema that speaks of the place, parts and alternatives among them."""
        where, *inner = self.steps if steps is None else steps
        if where == "body":
            start = list(self.body)
        else:
            named = [parameter for parameter in self.parameters if parameter.get("in") == where]
            start = [
                parameter.get("schema", {})
                for parameter in named
                if inner and parameter.get("name", "").lower() == inner[0].lower()
            ]
            inner = inner[1:]
        level = [part for schema in start for part in parts(self.document, schema)]
        for step in inner:
            level = [
                part for schema in level for below in children(schema, step) for part in parts(self.document, below)
            ]
        return level

    def sent(self) -> Any:
        """Return what was sent at the place of a form, as text; None when it is not there."""
        return fields(self.content_type, self.exchange).get(self.steps[1]) if len(self.steps) > 1 else None


def resolved(document: Mapping[str, Any], node: Any) -> Mapping[str, Any]:
    """Follow references that lead through the document."""
    for _ in range(DEEPEST):
        if not isinstance(node, dict):
            return {}
        if not isinstance(node.get("$ref"), str):
            return node
        node = _target(document, node["$ref"])
    return {}


def is_there(document: Mapping[str, Any], reference: str) -> bool:
    """Return True if a reference within the document leads to something."""
    return _target(document, reference) is not None


def _target(document: Mapping[str, Any], reference: str) -> Any:
    target: Any = document
    for step in reference.lstrip("#").strip("/").split("/") if reference != "#" else ():
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(target, list):
            target = target[int(name)] if name.isdigit() and int(name) < len(target) else None
        else:
            target = target.get(name) if isinstance(target, dict) else None
    return target


def parts(document: Mapping[str, Any], schema: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Return a schema and all that speak of the same value."""
    node = resolved(document, schema)
    if not node or depth > 10:
        return
    yield node
    for key in ("allOf", "anyOf", "oneOf"):
        for part in node.get(key, ()):
            yield from parts(document, part, depth + 1)


def children(node: Mapping[str, Any], step: str) -> Iterator[Any]:
    """Return the schemas of a field or an item."""
    if step.isdigit() and "items" in node:
        yield node["items"]
    if step in node.get("properties", {}):
        yield node["properties"][step]
    elif isinstance(node.get("additionalProperties"), dict):
        yield node["additionalProperties"]


def fields(kind: str, exchange: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the fields of a form that was sent."""
    form: dict[str, list[str]] = {}
    body = exchange["body"]
    if kind == "application/x-www-form-urlencoded":
        for name, value in parse_qsl(body, keep_blank_values=True):
            form.setdefault(name, []).append(value)
    elif kind.startswith("multipart/"):
        head = f"Content-Type: {exchange['headers']['content-type']}\r\n\r\n"
        for part in message_from_bytes((head + body).encode("latin-1"), policy=HTTP).iter_parts():
            name = part.get_param("name", header="content-disposition")
            form.setdefault(str(name), []).append(str(part.get_payload()))
    return form


def kinds(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema names."""
    named = schema.get("type", [])
    return named if isinstance(named, list) else [named]


def fits(kind: str, value: Any) -> bool:
    """Return True if a value is of a type."""
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, KINDS.get(kind, object))  # type: ignore[arg-type]
