# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What introspection shows of an operation, beside what the document has: names, types, what is required."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from .document import Operation, compiles, is_secret, normal
from .judge import Grade, Request
from .samples import LEADS, SIZES

__all__ = ["Adapter", "Shown"]

_OWN_TYPES = ("FieldSelection", "WhereCondition", "AggregateRequest")
_PAGING = frozenset(("after", "before", "first", "last", "endingbefore", "startingafter", "count", "max", *(
    word for words in LEADS.values() for word in words), *SIZES))  # fmt: skip
_WHOLE = ("input", "body", "data")
_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "pattern")
_SCALARS = ("string", "integer", "number", "boolean")
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


class Shown:
    """The parameters that an operation shows by name, and the places of the document that they stand for.

    `names` has the agent's name of each parameter by place and wire name, and of each field of a body that is given
    field by field; `whole` is the parameter that is the whole body.
    """

    def __init__(self, adapter: Adapter, details: Mapping[str, Any]) -> None:
        self.entries: dict[str, Mapping[str, Any]] = {each["name"]: each for each in details["parameters"]}
        self.names: dict[tuple[str, str], str] = {}
        self.whole = ""
        self._adapter, self._name = adapter, details["name"]
        self._inside: dict[tuple[str, str], str] = {}
        self._fields: set[str] = set()

    @property
    def pages(self) -> bool:
        """True if the adapter pages the list."""
        return {"first", "after"} <= self.entries.keys()

    @property
    def needs_body(self) -> bool:
        """True if the adapter asks for a body, or for a field of it."""
        names = [self.whole, *(name for (place, _), name in self.names.items() if place == "body")]
        return any(self.entries.get(name, {}).get("required") for name in names)

    def _is_own(self, name: str) -> bool:
        """Return True for a parameter that the adapter itself acts on."""
        if name in ("first", "after", "last", "before"):
            return self.pages
        return name in ("dry_run", "if_match") or self.entries[name].get("type") in _OWN_TYPES

    async def _type(self, name: str) -> Mapping[str, Any]:
        return (await self._adapter.introspect(query="types", name=name)).get("type") or {}

    async def place(self, operation: Operation, media: str) -> None:
        """Find the parameters of an operation among those shown, by their names."""
        wanted = [(each.place, each.name, each.owner.get("name")) for each in operation.parameters if each.shown]
        body = operation.body(media)
        changes = operation.owner.get("parameters") or {}
        fields = operation.document.writable(body.schema) if body is not None else {}
        whole = await self._type(f"{self._name}.params")  # the details of an operation may be cut
        self.entries.update({each["name"]: each for each in whole.get("fields") or ()})
        by_name: dict[str, str] = {normal(name): name for name in self.entries if not self._is_own(name)}
        self._place(wanted, by_name)
        left = [name for name in self.entries if name not in self.names.values() and not self._is_own(name)]
        if body is None:
            await self._place_inside(wanted, left)
            return
        owners = {name: {**(changes.get(name) or {}), **(changes.get(f"body:{name}") or {})} for name in fields}
        hits = [name for name in fields if {normal(name), f"body{normal(name)}"} & set(map(normal, left))]
        whole_names = [name for name in left if name in _WHOLE and name not in map(normal, fields)]
        if whole_names or (left and not hits and not any("name" in each for each in owners.values())):
            self.whole = (whole_names or left)[0]
            self._fields = {normal(each["name"]) for each in await self._fields_of(self.whole)}
            return
        visible = [
            ("body", name, each.get("name")) for name, each in owners.items() if not {"value", "hidden"} & each.keys()
        ]
        self._place(visible, {normal(name): name for name in left})

    async def _fields_of(self, name: str) -> list[Mapping[str, Any]]:
        """Return the fields of a parameter: of its type, else those that its description has."""
        entry = self.entries[name]
        fields = (await self._type(str(entry.get("type")))).get("fields")
        stated = re.findall(r"([\w.-]+)(\*?): ", str(entry.get("description")))
        return fields or [{"name": field, "required": bool(star), "type": "any"} for field, star in stated]

    async def _place_inside(self, wanted: list[tuple[str, str, Any]], left: list[str]) -> None:
        """Find parameters among the fields of one that holds them, where there is no body."""
        for name in left:
            by_name = {normal(each["name"]): each for each in await self._fields_of(name)}
            for place, wire, _ in wanted:
                if (place, wire) not in self.names and normal(wire) in by_name:
                    self._inside[place, wire] = name
                    self.names[place, wire] = f"{name}.{wire}"
                    self.entries[f"{name}.{wire}"] = by_name[normal(wire)]

    def _place(self, wanted: list[tuple[str, str, Any]], by_name: dict[str, str]) -> None:
        """Take the name that the owner gave, else the same name, else one with the place beside it, or the nearest."""
        missing = []
        taken: set[str] = set(self.names.values())
        for place, wire, name in wanted:
            word = normal(wire)
            words = [normal(str(name))] if name else [word, f"{place}{word}", f"{word}{place}"]
            agent = next((by_name[each] for each in words if each in by_name and by_name[each] not in taken), None)
            if agent is None:
                missing.append((place, wire, word))
            else:
                self.names[place, wire] = agent
                taken.add(agent)
        for place, wire, word in missing:
            near: list[str] = [agent for other, agent in by_name.items() if agent not in taken
                    and (other.endswith(word) or (len(other) > 2 and word.endswith(other)))]  # fmt: skip
            if len(near) == 1:
                self.names[place, wire] = near[0]
                taken.add(near[0])

    def takes(self, name: str) -> bool:
        """Return True if a call can give a field of the body; a credential is the adapter's own business."""
        return not is_secret(name) or ("body", name) in self.names or normal(name) in self._fields

    def params(self, given: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
        """Return values by place and wire name as the parameters of a call."""
        params = {
            self.names[key]: value for key, value in given.items() if key in self.names.keys() - self._inside.keys()
        }
        for key in given.keys() & self._inside.keys():
            params.setdefault(self._inside[key], {})[key[1]] = given[key]
        body = given.get(("body", ""))
        if self.whole and ("body", "") in given:
            params[self.whole] = body
        elif isinstance(body, dict):
            params.update({self.names.get(("body", name), str(name)): value for name, value in body.items()})
        return params

    async def problems(self, operation: Operation, media: str) -> list[tuple[Grade, str]]:
        """Return what introspection does not show, or shows otherwise than the document has it."""
        document, found = operation.document, []
        body = operation.body(media)
        for parameter in operation.parameters:
            place, name = parameter.place, parameter.name
            entry = self.entries.get(self.names.get((place, name), ""))
            if not parameter.shown or self._is_credential(operation, place, name):
                continue
            if entry is None and (
                (self.pages and normal(name) in _PAGING) or (place == "header" and normal(name) == "ifmatch")
            ):
                continue
            words = [normal(each.name) for each in operation.parameters]
            if entry is None and words.count(normal(name)) > 1:
                continue  # told apart by signs alone
            if entry is None and _has_one_value(document, parameter.schema):
                continue  # judged by what is sent
            if entry is None and parameter.is_secret:
                found.append((Grade.LOOK, f"{place} {name} is not shown; it may be a credential"))
                continue
            required = parameter.required if not _has_default(document, parameter.schema) else None
            found += await self._compared(document, f"{place} {name}", entry, parameter.schema, required, 0)
        if body is None:
            return found
        needed = document.required(body.schema)
        if self.whole:
            entry = self.entries[self.whole]
            return found + await self._compared(document, "body", entry, body.schema, None, 0)
        hidden = {name.removeprefix("body:") for name, each in (operation.owner.get("parameters") or {}).items() if
                  {"value", "hidden"} & (each or {}).keys()}  # fmt: skip
        for name, schema in document.writable(body.schema).items():
            entry = self.entries.get(self.names.get(("body", name), ""))
            if entry is not None:
                is_plain = operation.body_required and not _has_default(document, schema)
                is_plain = is_plain and (name in needed or len(list(document.parts(body.schema))) == 1)
                required = name in needed if is_plain else None
                found += await self._compared(document, f"body {name}", entry, schema, required, 0)
            elif name not in hidden and not is_secret(name) and not _has_one_value(document, schema):
                found.append((Grade.WRONG, f"body {name} is not shown"))
        return found

    def _is_credential(self, operation: Operation, place: str, name: str) -> bool:
        schemes = operation.document.schemes.values()
        return any(scheme.get("in") == place and normal(str(scheme.get("name"))) == normal(name) for scheme in schemes)

    async def _compared(
        self, document: Any, what: str, entry: Mapping[str, Any] | None, schema: Any, required: bool | None, depth: int
    ) -> list[tuple[Grade, str]]:
        """Compare one parameter or field with its schema, and its fields with those of the schema."""
        if entry is None:
            return [(Grade.WRONG, f"{what} is not shown{', and required' if required else ''}")]
        found = []
        if required is not None and bool(entry.get("required")) is not required:
            found.append((Grade.WRONG, f"{what} is shown as {'' if entry.get('required') else 'not '}required"))
        schema, kinds = document.deref(schema), document.kinds(schema) - {"null"}
        shown, kind, members, fields = entry, str(entry.get("type", "")), entry.get("enum"), None
        if kind not in (*_SCALARS, "array", "object", "any", "null"):
            named = await self._type(kind)
            kind, fields = (
                {"enum": "", "union": "", "scalar": ""}.get(named.get("kind", ""), "object"),
                named.get("fields"),
            )
            members = members or named.get("values")
        parts = list(document.parts(schema))
        if kind == "any":
            return found
        if len(kinds) == 1 and kind in (*_SCALARS, "array") and kind not in kinds:
            found.append((Grade.WRONG, f"{what} is shown as {kind}, the document has {kinds.pop()}"))
        if len(parts) > 1 or not isinstance(schema, dict):
            return found
        if isinstance(schema.get("enum"), list) and kind != "array":
            texts = {str(each) for each in schema["enum"] if each is not None}
            if {str(each) for each in members or ()} - {"None"} != texts:
                found.append(
                    (Grade.WRONG, f"{what} is shown with the members {members}, the document has {sorted(texts)[:9]}")
                )
        elif members and "const" not in schema:
            found.append((Grade.WRONG, f"{what} is shown with members, the document has none"))
        if kind in _SCALARS:
            for bound in _BOUNDS:
                is_known = bound != "pattern" or compiles(str(schema.get(bound)))
                if is_known and shown.get(bound) != schema.get(bound):
                    text = f"{what} is shown with {bound} {shown.get(bound)}, the document has {schema.get(bound)}"
                    found.append((Grade.WRONG, text))
        if kind == "array" and isinstance(shown.get("items"), dict) and depth < _DEEPEST:
            inner = {**shown["items"], "required": True}
            found += await self._compared(document, f"{what}[]", inner, document.items(schema), True, depth + 1)
        if fields and depth < _DEEPEST:
            by_name = {normal(each["name"]): each for each in fields}
            needed = document.required(schema)
            for name, each in document.writable(schema).items():
                inner_entry = by_name.get(normal(name))
                if inner_entry is None and (is_secret(name) or _has_one_value(document, each)):
                    continue
                found += await self._compared(document, f"{what}/{name}", inner_entry, each, name in needed, depth + 1)
        return found


def _has_default(document: Any, schema: Any) -> bool:
    return any("default" in part for part in document.parts(schema))


def _has_one_value(document: Any, schema: Any) -> bool:
    """Return True for what can be one value alone, which the adapter need not ask for."""
    return any("const" in part or len(part.get("enum") or ()) == 1 for part in document.parts(schema))
