# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What introspection shows of parameters, fields and types, compared with the schemas of the document."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from .document import Document, is_secret, normal
from .judge import Grade, Request
from .schemas import compiles

__all__ = ["Adapter", "Comparison", "Types", "has_default", "has_one_value"]

_BOUNDS = {
    **dict.fromkeys(("integer", "number"), ("minimum", "maximum")),
    "string": ("minLength", "maxLength", "pattern", "format"),
}
_SCALARS = ("string", "integer", "number", "boolean")
_PLAIN = (*_SCALARS, "array", "object", "any", "null")
_DEEPEST = 3


class Adapter(Protocol):
    """A running adapter whose API is the witness's stand-in."""

    def introspect(self, **params: Any) -> Awaitable[Mapping[str, Any]]:
        """Introspect, and return the data of the answer."""
        ...

    def call(self, family: str, operation: str, params: Mapping[str, Any]) -> Awaitable[Mapping[str, Any]]:
        """Call an operation by the tool of a family, and return the envelope."""
        ...

    def requests(self) -> list[Request]:
        """Return what arrived at the stand-in since this was asked last."""
        ...


class Types:
    """The types of an adapter, each asked for once. `compared` are those that were compared with a schema."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._known: dict[str, Mapping[str, Any]] = {}
        self.compared: set[tuple[str, int, bool]] = set()

    async def of(self, name: str) -> Mapping[str, Any]:
        """Return a type, empty if there is none of the name."""
        if name in _PLAIN:
            return {}
        if name not in self._known:
            self._known[name] = (await self._adapter.introspect(query="types", name=name)).get("type") or {}
        return self._known[name]


class Comparison:
    """A comparison for one operation, which collects what is found; `answers`: of what the API answers."""

    def __init__(self, types: Types, document: Document, *, answers: bool = False) -> None:
        self._types, self._document, self._answers = types, document, answers
        self.found: list[tuple[Grade, str]] = []

    def _say(self, text: str) -> None:
        self.found.append((Grade.WRONG, text))

    async def compare(
        self, what: str, entry: Mapping[str, Any] | None, schema: Any, required: bool | None, depth: int = 0
    ) -> None:
        """Compare a parameter or field with its schema, and its fields with those of the schema."""
        if entry is None:
            self._say(f"{what} is not shown{', and required' if required else ''}")
            return
        if (
            required is not None
            and not has_one_value(self._document, schema)
            and bool(entry.get("required")) is not required
        ):
            self._say(f"{what} is shown as {'' if entry.get('required') else 'not '}required")
        document, name = self._document, str(entry.get("type", ""))
        schema, kinds = document.deref(schema), document.kinds(schema) - {"null"}
        named = await self._types.of(name)
        kind = ("" if named.get("kind") != "object" else "object") if named else name
        if kind == "any" or not isinstance(schema, dict):
            return
        if len(kinds) == 1 and kind in (*_SCALARS, "array") and kind not in kinds:
            self._say(f"{what} is shown as {kind}, the document has {kinds.pop()}")
        if len(list(document.parts(schema))) > 1:
            return
        self._scalar(what, entry, schema, kind, entry.get("enum") or named.get("values"))
        if depth >= _DEEPEST:
            return
        if kind == "array" and isinstance(entry.get("items"), dict) and "enum" not in schema:
            await self.compare(f"{what}[]", entry["items"], document.items(schema), None, depth + 1)
        key = name, id(schema), self._answers
        if named.get("kind") == "object" and key not in self._types.compared:
            self._types.compared.add(key)
            await self._fields(what, named.get("fields") or [], schema, depth)

    def _scalar(
        self, what: str, entry: Mapping[str, Any], schema: Mapping[str, Any], kind: str, members: list[Any] | None
    ) -> None:
        if isinstance(schema.get("enum"), list) and kind != "array":
            texts = {str(each) for each in schema["enum"] if each is not None}
            if {str(each) for each in members or () if each is not None} != texts:
                self._say(f"{what} is shown with the members {members}, the document has {sorted(texts)[:9]}")
        elif members and "const" not in schema:
            self._say(f"{what} is shown with members, the document has none")
        for bound in _BOUNDS.get(kind, ()):
            exclusive = schema.get(f"exclusive{bound.capitalize()}") is not None
            is_known = not exclusive and (bound != "pattern" or compiles(str(schema.get(bound))))
            if is_known and entry.get(bound) != schema.get(bound) and not (self._answers and bound == "format"):
                self._say(f"{what} is shown with {bound} {entry.get(bound)}, the document has {schema.get(bound)}")

    async def _fields(self, what: str, fields: list[Mapping[str, Any]], schema: Any, depth: int) -> None:
        document, by_name = self._document, {normal(each["name"]): each for each in fields}
        needed = document.required(schema, answers=self._answers)
        for name, each in document.properties(schema).items():
            if document.is_marked(each, "writeOnly" if self._answers else "readOnly"):
                continue
            entry = by_name.get(normal(name))
            if entry is not None or not (is_secret(name) or has_one_value(document, each)):
                required = None if has_default(document, each) else name in needed
                await self.compare(f"{what}/{name}", entry, each, required, depth + 1)

    async def name_problems(self, what: str, data: Any, type_name: str, depth: int = 0) -> None:
        """Find the fields of an answer that are called otherwise than their type shows them."""
        fields = (await self._types.of(type_name)).get("fields") or ()
        shown = {each["name"]: each for each in fields}
        by_name = {normal(name): name for name in shown}
        for each in data if isinstance(data, list) else [data]:
            for name, value in each.items() if isinstance(each, dict) and depth < _DEEPEST else ():
                expected = by_name.get(normal(name), name)
                if shown and expected != name and name not in shown:
                    self._say(f"{what}/{name} is answered, its type {type_name} shows {expected}")
                entry = shown.get(name) or {}
                inner = (entry.get("items") or entry).get("type", "")
                await self.name_problems(f"{what}/{name}", value, str(inner), depth + 1)


def has_default(document: Document, schema: Any) -> bool:
    """Return True if something is sent for a value that is left out."""
    return any("default" in part for part in document.parts(schema))


def has_one_value(document: Document, schema: Any) -> bool:
    """Return True for what can be one value alone, which the adapter need not ask for."""
    return any("const" in part or len(part.get("enum") or ()) == 1 for part in document.parts(schema))
