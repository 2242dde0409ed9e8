"""What introspection shows of an operation: which parameter stands for which place of the document, by its name."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any, Protocol

from .document import Document, Operation, is_filled, is_secret, normal
from .judge import TRANSPORT, Request
from .types import Types, entry_of

_CHOICES = ("as", "send_as")  # parameters that choose among the bodies of an operation
_PRESETS = ("minimal", "standard", "full")


class Adapter(Protocol):
    """A running adapter whose API is the witness's stand-in."""

    def introspect(self, **params: Any) -> Awaitable[Mapping[str, Any]]:
        """Introspect, and return the data of the answer."""

    def call(self, family: str, operation: str, params: Mapping[str, Any]) -> Awaitable[Mapping[str, Any]]:
        """Call an operation by the tool of a family, and return the envelope."""

    def requests(self) -> list[Request]:
        """Return the requests that arrived at the stand-in since this was asked last."""


class Shown:
    """The parameters that an operation shows by name, and the places of the document that they stand for.

    `names` has the agent's name of each parameter by place and wire name, and of each field of a body that is values
    field by field, as the row of the table places them; `whole` is the parameter that is the whole body, or holds other
    parameters. Of all these the document says whether they are right.
    """

    def __init__(self, types: Types, details: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        self.entries: dict[str, Mapping[str, Any]] = {each["name"]: each for each in details["parameters"]}
        places = {name: (item.get("in", "body"), item.get("name", name)) for name, item in row["parameters"].items()}
        update, paging = row.get("update") or {}, row.get("pagination") or {}
        self._holds = "parameters" in update
        self.whole = "input" if self._holds else str((row.get("body") or {}).get("parameter") or "")
        self.names = {
            key: name for name, key in places.items() if key[0] not in ("adapter", "body_rest") and name != self.whole
        }
        self._is_open = row["parameters"].get(self.whole, {}).get("schema", {}).get("additionalProperties", self.whole)
        self._paged = {item.get("name", name) for name, item in (paging.get("parameters") or {}).items()}
        self._types, self._details = types, details
        self._answers = {status: each.get("schema", {}) for status, each in row["responses"].items()}
        self._is_free = False
        self._inner: dict[str, str] = {}
        self._fields: dict[str, Any] = {}

    @property
    def pages(self) -> bool:
        """True if the adapter pages the list."""
        return "first" in self.entries and "endCursor" in str(self.entries.get("after", {}).get("description"))

    @property
    def tags(self) -> set[str]:
        """The parameters that are the ETag of what is written."""
        return {name for (_, wire), name in self.names.items() if normal(wire) == "ifmatch"}

    @property
    def in_full(self) -> dict[str, str]:
        """The parameter by which a call has all fields of the answer, if it can choose them."""
        return {name: "full" for name, entry in self.entries.items() if entry.get("type") == "FieldSelection"}

    @property
    def answers_whole(self) -> bool:
        """True if a call can have the whole answer."""
        return bool(self.in_full) or "fields" not in self.entries

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
        document, body, self._is_free = operation.document, operation.body(media), operation.method == "PATCH"
        self._is_free |= not self.entries.keys().isdisjoint(_CHOICES)
        if body is not None:  # what is required may be described nowhere
            fields = document.properties(body.schema, "readOnly")
            bodies = [document.properties(each.schema) for each in operation.bodies.values()]
            stated = {name: [each, *(other.get(name, each) for other in bodies)] for name, each in fields.items()}
            fields = {name: {"anyOf": each} if each.count(each[0]) < len(each) else each[0]
                      for name, each in stated.items()}  # fmt: skip
            self._fields = {name: {} for name in document.required(body.schema)} | fields
        self._inner = await self._inside(self.whole)
        for each in operation.parameters:
            entry = self.entries.get(self.names.get(each.key, ""), {})
            is_stricter = entry.get("type") == "integer" or "format" in entry.keys() - document.at(each.schema).keys()
            if is_stricter and document.kinds(each.schema) != {"integer"}:  # as for another method
                each.schema = document.whole.get((operation.path, each.name), each.schema)

    async def _inside(self, name: str) -> dict[str, str]:
        """Return the fields of a parameter by their normal names: of its type, else those that its description has."""
        entry = self.entries.get(name, {})
        fields = [str(each["name"]) for each in await self._types.fields(entry.get("type"))]
        stated = [re.split(r"[^\w.-]", text.rstrip("*"))[-1] for text in str(entry.get("description")).split(": ")[:-1]]
        return {normal(field): field for field in fields or stated} | {field: field for field in fields}

    def _must(self, operation: Operation, key: tuple[str, str]) -> bool:
        """Return False for what a call need not give: it is the adapter's business, the owner's, or one value alone."""
        place, name, document, owner = *key, operation.document, operation.owned(*key)
        schema = next((each.schema for each in operation.parameters if each.key == key), self._fields.get(name))
        is_wire = _is_credential(document, place, name) or (
            place == "header" and (name.lower() in TRANSPORT or operation.is_with_key(name))
        )
        is_settled = is_wire or document.is_fixed(schema) or is_filled(name)
        return not (is_settled or {"value", "hidden"} & owner.keys() or is_secret(name) or name in self._paged)

    def takes(self, name: str) -> bool:
        """Return True if a call can give a field of the body; credentials and pages are the adapter's own business."""
        is_filled_in = is_secret(name) and (self._inner or not self._is_open) and normal(name) not in self._inner
        return ("body", name) in self.names or not (name in self._paged or is_filled_in)

    def gives(self, key: tuple[str, str]) -> bool:
        """Return True if a call can give a parameter."""
        return key in self.names or (self._holds and not self._fields and normal(key[1]) in self._inner)

    def params(self, values: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
        """Return values by place and wire name as the parameters of a call."""
        body = values.get(("body", ""))
        params = {self.names[key]: value for key, value in values.items() if key in self.names}
        inner = {key[1]: value for key, value in values.items() if key not in self.names and key[0] != "body"}
        if self.whole and (("body", "") in values or inner):
            whole = body if ("body", "") in values else inner
            if isinstance(whole, dict) and len(whole) > 1:  # of one field the API's spelling is tried
                whole = {  # the same name before the nearest: `type` beside `$_type`
                    self._inner.get(name, self._inner.get(normal(name), name)): each for name, each in whole.items()
                }
            params[self.whole] = whole
        elif isinstance(body, dict):
            params |= {self.names.get(("body", str(name)), str(name)): value for name, value in body.items()}
        return params

    async def problems(self, operation: Operation, media: str) -> list[str]:
        """Return the differences of introspection from the document, and the parts that it does not show."""
        document, body, problems = operation.document, operation.body(media), list[str]()
        needed = document.required(body.schema) if body is not None else ()
        differences = partial(self._types.differences, document, mark="readOnly", is_free=self._is_free)
        wanted = {each.key: (each.schema, each.required) for each in operation.parameters if each.shown}
        if body is not None and not self.whole and document.is_one(body.schema):
            wanted |= {("body", name): (each, name in needed) for name, each in self._fields.items()}
        for key, (schema, required) in wanted.items():
            entry, must, place = self.entries.get(self.names.get(key, "")), self._must(operation, key), " ".join(key)
            if entry is None:
                problems += [f"{place} is not shown"] if must and not self.gives(key) else []
                continue
            is_lax = key[0] == "body" and (self._is_free or operation.body_required is False)
            is_free = not must or is_lax or "default" in document.at(schema)
            problems += await differences(entry, schema, place, required=None if is_free else required)
        if self.whole and body is not None and self._fields and not self.takes_file:
            entry, stated = self.entries[self.whole], operation.body_required or None
            problems += await differences(entry, body.schema, "body", required=stated)
        problems += self._misplaced(operation)
        for name, entry in self.entries.items():
            await self._types.details(entry.get("type"))
            defaults = (False,) if name == "dry_run" else _PRESETS if name in self.in_full else (entry.get("default"),)
            if name not in self.names.values() and entry.get("default", defaults[0]) not in defaults:
                problems.append(f"{name} is shown with default {entry['default']}")
        return problems

    def _misplaced(self, operation: Operation) -> list[str]:
        """Return the parameters that stand for no place, or for that of another; a choice offers other bodies."""
        known = {each.key: normal(each.name) for each in operation.parameters}
        known |= {("body", name): normal(name) for name in self._fields}
        names = {(place, word) for (place, _), word in known.items()}
        if not self.entries.keys().isdisjoint(_CHOICES):
            return []
        texts = [f"{name} is shown, and is in no place" for key, name in self.names.items() if key not in known]
        for key, name in self.names.items():
            is_other = known.get(key, normal(name)) != normal(name) and (key[0], normal(name)) in names
            texts += [f"{name} stands for {key[1]}, and another has the name"] if is_other else []
        return texts

    async def misnamed(self, status: str, data: Any, field: str = "") -> list[str]:
        """Return fields of an answer that their types show by other names; of a page, `field` is its list."""
        entry = entry_of(self._answers.get(status, {}))
        if isinstance(data, dict) and "pageInfo" in data:
            fields = {normal(each["name"]): each for each in await self._types.fields(entry.get("type"))}
            lists = [each for each in fields.values() if each.get("type") == "array"]
            alone = lists[0] if len(lists) == 1 else {}  # of a page that no parameter of the document shows
            data, entry = data.get("items"), fields.get(normal(field), alone if fields else entry)
        return await self._types.misnamed(data, entry)


def _is_credential(document: Document, place: str, name: str) -> bool:
    """Return True for the place of a credential, which the adapter fills."""
    return any(
        (str(each.get("in")), normal(each.get("name"))) == (place, normal(name)) for each in document.schemes.values()
    )
