# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What introspection shows of an operation: which parameter stands for which place of the document, by its name."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any, Protocol

from .document import Document, Operation, is_secret, normal
from .judge import TRANSPORT, Request

__all__ = ["Adapter", "Shown", "Types"]

_OWN = ("FieldSelection", "WhereCondition", "AggregateRequest", "dry_run", "if_match")
_OF_LISTS = ("first", "order_by")
_WHOLE = ("input", "body", "data")
_NUMBER, _TEXT = (
    ("default", "enum", "minimum", "maximum", "format"),
    ("default", "enum", "minLength", "maxLength", "pattern", "format"),
)
_TOLD = {"integer": _NUMBER, "number": _NUMBER, "string": _TEXT, "boolean": ("default",)}
"""What introspection tells of a value of a type by the keywords of schemas."""
_FORMS = ("date-time", "uuid", "email", "uri")
"""Formats that an adapter has to show; a search may take a date with a sign before it, as its example shows."""
_PLAIN = ("string", "integer", "number", "boolean", "array", "object", "any", "null", None)


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
    """The fields of an adapter's types, each asked for once."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._known: dict[Any, list[Mapping[str, Any]]] = {name: [] for name in _PLAIN}

    async def fields(self, name: Any) -> list[Mapping[str, Any]]:
        """Return the fields of a type, none if there is none of the name."""
        if name not in self._known:
            answer = await self._adapter.introspect(query="types", name=name, all=True)
            self._known[name] = (answer.get("type") or {}).get("fields") or []
        return self._known[name]


class Shown:
    """The parameters that an operation shows by name, and the places of the document that they stand for.

    `names` has the agent's name of each parameter by place and wire name, and of each field of a body that is values
    field by field; `whole` is the parameter that is the whole body, or holds other parameters. `answered` has the names
    of the fields of its answer.
    """

    def __init__(self, types: Types, details: Mapping[str, Any]) -> None:
        self.entries: dict[str, Mapping[str, Any]] = {each["name"]: each for each in details["parameters"]}
        self.names: dict[tuple[str, str], str] = {}
        self.whole = ""
        self._types, self._details = types, details
        self.answered: dict[str, str] = {}
        self._inner: dict[str, str] = {}
        self._documented: set[str] = set()
        self._fields: dict[str, Any] = {}

    @property
    def pages(self) -> bool:
        """True if the adapter pages the list."""
        return {"first", "after"} <= self.entries.keys()

    @property
    def selects(self) -> bool:
        """True if a call can say which fields are answered."""
        return self.entries.get("fields", {}).get("type") == "FieldSelection"

    @property
    def takes_file(self) -> bool:
        """True if the body is a file, whatever its schema."""
        return self.entries.get(self.whole, {}).get("type") == "FileInput"

    @property
    def needs_body(self) -> bool:
        """True if the adapter asks for a body, or for a field of it."""
        names = [self.whole, *(name for (place, _), name in self.names.items() if place == "body")]
        return any(self.entries.get(name, {}).get("required") for name in names)

    async def place(self, operation: Operation, media: str) -> None:
        """Find the parameters of an operation among those shown, by their names."""
        cut = await self._types.fields(f"{self._details['name']}.params")  # the details of an operation may be cut
        self.entries.update({each["name"]: each for each in cut})
        document, body = operation.document, operation.body(media)
        self._documented = {normal(each.name) for each in operation.parameters}
        if body is not None:  # what is required may be described nowhere
            fields = document.properties(body.schema, "readOnly")
            self._fields = {name: {} for name in document.required(body.schema)} | fields
        owned = {each.key: each.owner.get("name") for each in operation.parameters if each.shown}
        by_field = {("body", name): operation.owned("body", name).get("name") for name in self._fields}
        self.names = self._matched({**owned, **by_field})
        wholes = [self.names[key] for key in by_field.keys() & self.names.keys() if normal(self.names[key]) in _WHOLE]
        is_whole = any([normal(name) in await self._inside(name) for name in wholes])
        is_whole = is_whole or not by_field.keys() & self.names.keys()
        if is_whole or any(key not in self.names for key in by_field if self._must(operation, key)):
            names = self._matched(owned)
            left = [name for name in self.entries.keys() - names.values() if not self._is_own(name)]
            named = [name for word in _WHOLE for name in left if name == word]
            self.whole = next(iter(named), left[0] if len(left) == 1 else "")
            self.names = names if self.whole else self.names
            self._inner = await self._inside(self.whole)

    def _matched(self, wanted: Mapping[tuple[str, str], str | None]) -> dict[tuple[str, str], str]:
        """Return the name of each place: the owner's, one with the place beside it, the same, or the nearest."""
        left = {normal(name): name for name in self.entries if not self._is_own(name)}
        names: dict[tuple[str, str], str] = {}
        for rank in range(3):
            for key, stated in wanted.items():
                chosen = next((each for each in self._words(key, stated, rank, left) if each in left), None)
                if key not in names and chosen is not None:
                    names[key] = left.pop(chosen)
        return names

    def _words(self, key: tuple[str, str], stated: str | None, rank: int, left: Mapping[str, str]) -> list[str]:
        place, word = key[0], normal(key[1])
        if stated or rank < 2:
            return [normal(stated)] if stated else [word] if rank else [f"{place}{word}", f"{word}{place}"]
        near = [each for each in left if each.endswith(word) and place != "body"]
        return near if len(near) == 1 and (place != "path" or self.entries[left[near[0]]].get("required")) else []

    async def _inside(self, name: str) -> dict[str, str]:
        """Return the fields of a parameter by their normal names: of its type, else those that its description has."""
        entry = self.entries.get(name, {})
        fields = [str(each["name"]) for each in await self._types.fields(entry.get("type"))]
        stated = [re.split(r"[^\w.-]", text.rstrip("*"))[-1] for text in str(entry.get("description")).split(": ")[:-1]]
        return {normal(field): field for field in fields or stated}

    def _is_own(self, name: str) -> bool:
        """Return True for a parameter that the adapter itself acts on."""
        is_page = self.pages and name in ("first", "after", "last", "before")
        types = {entry.get("type") for entry in self.entries.values()}
        given_way = f"answer_{name}" in self.entries
        is_of_list = "WhereCondition" in types and name.removeprefix("answer_") in _OF_LISTS and not given_way
        is_named = name in _OWN and normal(name) not in self._documented
        return is_page or is_of_list or is_named or self.entries[name].get("type") in _OWN

    def _is_paged(self, name: str) -> bool:
        """Return True for the API's own parameters that `first` and `after` stand for, as `first` says."""
        words = re.split(r"[\s,;()]+", str(self.entries["first"].get("description"))) if self.pages else ()
        return normal(name) in ("before", "last", *map(normal, words)) and self.pages

    def _must(self, operation: Operation, key: tuple[str, str]) -> bool:
        """Return False for what a call need not give: it is the adapter's business, the owner's, or one value alone."""
        place, name, document, owner = *key, operation.document, operation.owned(*key)
        schema = next((each.schema for each in operation.parameters if each.key == key), self._fields.get(name))
        keys = {(str(each.get("in")), normal(each.get("name"))) for each in document.schemes.values()}
        is_wire = (place, normal(name)) in keys or (place == "header" and name.lower() in TRANSPORT)
        is_settled = is_wire or document.is_fixed(schema) or bool({"value", "hidden"} & owner.keys())
        return not (is_settled or is_secret(name) or self._is_paged(name))

    def takes(self, name: str) -> bool:
        """Return True if a call can give a field of the body; credentials and pages are the adapter's own business."""
        known = ("body", name) in self.names
        return known or not (self._is_paged(name) or (is_secret(name) and normal(name) not in self._inner))

    def gives(self, key: tuple[str, str]) -> bool:
        """Return True if a call can give a parameter."""
        return key in self.names or (bool(self.whole) and not self._fields and normal(key[1]) in self._inner)

    def params(self, values: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
        """Return values by place and wire name as the parameters of a call."""
        body = values.get(("body", ""))
        params = {self.names[key]: value for key, value in values.items() if key in self.names}
        inner = {key[1]: value for key, value in values.items() if key not in self.names and key[0] != "body"}
        if self.whole and (("body", "") in values or inner):
            whole = body if ("body", "") in values else inner
            if isinstance(whole, dict) and len(whole) > 1:  # of one field the API's spelling is tried
                whole = {self._inner.get(normal(name), name): each for name, each in whole.items()}
            params[self.whole] = whole
        elif isinstance(body, dict):
            params |= {self.names.get(("body", str(name)), str(name)): value for name, value in body.items()}
        return params

    def _told_otherwise(self, document: Document, schema: Any, entry: Mapping[str, Any]) -> Iterator[str]:
        """Yield what an entry says of a value otherwise than its schema."""
        stated = document.at(schema)
        is_one = len(list(document.parts(schema))) == 1
        for word in _TOLD.get(str(entry.get("type")), ()) if is_one else ():
            wanted, shown = stated.get(word), entry.get(word)
            wanted = [each for each in wanted if each is not None] if word == "enum" and wanted else wanted
            is_free = len(entry) <= 3 or word in ("enum", "pattern") or (word == "format" and wanted not in _FORMS)
            is_left_out = (shown is None and is_free) or f"exclusive{word.capitalize()}" in stated  # shown as integers
            if not is_left_out and shown != wanted:
                yield f"{word} {shown}, the document has {wanted}"
        if stated.get("format") == "password" and entry and not entry.get("sensitive"):
            yield "no word of its being a secret"

    async def problems(self, operation: Operation) -> list[str]:
        """Return what introspection does not show, or shows otherwise than the document has it."""
        document, problems = operation.document, []
        wanted = {each.key: each.schema for each in operation.parameters if each.shown}
        wanted |= {} if self.whole else {("body", name): each for name, each in self._fields.items()}
        for key, schema in wanted.items():
            if not self.gives(key) and self._must(operation, key):
                problems.append(f"{' '.join(key)} is not shown")
            elif not document.is_fixed(schema) and not {"type", "default"} & operation.owned(*key).keys():
                texts = self._told_otherwise(document, schema, self.entries.get(self.names.get(key, ""), {}))
                problems += [f"{' '.join(key)} is shown with {each}" for each in texts]
        returns, schema = self._details.get("returns") or {}, operation.success[2]
        paged = re.match(r"`items`: of an? (\w+)", str(returns.get("description")))
        answered = returns.get("name") if returns.get("kind") == "object" else paged and paged[1]
        self.answered = shown = {normal(each["name"]): each["name"] for each in await self._types.fields(answered)}
        inner = document.items(schema) if document.kinds(schema) == {"array"} else schema
        for name, each in document.properties(inner, "writeOnly").items() if shown else ():
            if normal(name) not in shown and not (is_secret(name) or document.is_fixed(each)):
                problems.append(f"the answer/{name} is not shown")
        return problems
