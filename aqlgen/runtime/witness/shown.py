"""What introspection shows of an operation: which parameter stands for which place of the document, by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, Protocol

from .document import Document, Operation, is_filled, is_secret, normal
from .judge import TRANSPORT, Request
from .types import Types, entry_of

_OWN = ("FieldSelection", "WhereCondition", "AggregateRequest", "dry_run", "if_match", "additional_properties")
_CHOICES = ("as", "send_as")  # parameters that choose among the bodies of an operation
_PRESETS = ("minimal", "standard", "full")
_OF_LISTS = ("first", "order_by")
_WHOLE = ("input", "body", "data")


class Adapter(Protocol):
    """A running adapter whose API is the witness's stand-in."""

    def introspect(self, **params: Any) -> Awaitable[Mapping[str, Any]]:
        """Introspect, and return the data of the answer."""

    def call(self, family: str, operation: str, params: Mapping[str, Any]) -> Awaitable[Mapping[str, Any]]:
        """Call an operation by the tool of a family, and return the envelope."""

    def requests(self) -> list[Request]:
        """Return what arrived at the stand-in since this was asked last."""


class Shown:
    """The parameters that an operation shows by name, and the places of the document that they stand for.

    `names` has the agent's name of each parameter by place and wire name, and of each field of a body that is values
    field by field; `whole` is the parameter that is the whole body, or holds other parameters.
    """

    def __init__(self, types: Types, details: Mapping[str, Any]) -> None:
        self.entries: dict[str, Mapping[str, Any]] = {each["name"]: each for each in details["parameters"]}
        self.names: dict[tuple[str, str], str] = {}
        self.whole = ""
        self._types, self._details = types, details
        self._answer: Mapping[str, Any] = {}
        self._is_free = False
        self._inner: dict[str, str] = {}
        self._documented: set[str] = set()
        self._signed: set[str] = set()  # names that signs tell apart, such as `made<` and `made>`
        self._fields: dict[str, Any] = {}

    @property
    def pages(self) -> bool:
        """True if the adapter pages the list."""
        return "first" in self.entries and "endCursor" in str(self.entries.get("after", {}).get("description"))

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
        self._documented = {normal(each.name) for each in operation.parameters}
        self._signed = {normal(each.name) for each in operation.parameters if re.search(r"[^\w.\[\]$@-]", each.name)}
        if body is not None:  # what is required may be described nowhere
            fields = document.properties(body.schema, "readOnly")
            self._fields = {name: {} for name in document.required(body.schema)} | fields
        owned = {each.key: each.owner.get("name") for each in operation.parameters
                 if each.shown and not _is_credential(document, *each.key)}  # fmt: skip
        by_field = {("body", name): operation.owned("body", name).get("name") for name in self._fields}
        self.names = self._matched({**owned, **by_field})
        is_whole = body is not None or not owned.keys() <= self.names.keys()
        if is_whole and not await self._is_by_field(operation, by_field):
            names = self._matched(owned)
            left = [name for name in self.entries.keys() - names.values() if not self._is_own(name)]
            self.whole = next((word for word in _WHOLE if word in left), left[0] if len(left) == 1 else "")
            self.names = names if self.whole else self.names
            self._inner = await self._inside(self.whole)
        for each in [each for each in operation.parameters if document.kinds(each.schema) != {"integer"}]:
            if self.entries.get(self.names.get(each.key, ""), {}).get("type") == "integer":  # as for another method
                each.schema = document.whole.get((operation.path, each.name), each.schema)

    async def _is_by_field(self, operation: Operation, by_field: Iterable[tuple[str, str]]) -> bool:
        """Return True if the fields of the body are parameters: some are, no needed one is not, none has its fields."""
        known = [key for key in by_field if key in self.names]
        wholes = [self.names[key] for key in known if normal(self.names[key]) in _WHOLE]
        is_whole = any([normal(name) in await self._inside(name) for name in wholes])
        needed = (key not in self.names and self._must(operation, key) for key in by_field)
        return bool(known) and not is_whole and not any(needed)

    def _matched(self, wanted: Mapping[tuple[str, str], str | None]) -> dict[tuple[str, str], str]:
        """Return the name of each place: the owner's, one with the place beside it, the same, or the nearest.

        Of places of one name, that in the path has the name which the others leave.
        """
        counts = Counter(normal(name) for _, name in wanted)
        left = {normal(name): name for name in self.entries if not self._is_own(name)}
        names: dict[tuple[str, str], str] = {}
        for rank in range(3):
            for key, stated in sorted(wanted.items(), key=lambda each: -len(each[0][1])):  # `uuid` before `id`
                is_shared = rank == 1 and key[0] == "path" and counts[normal(key[1])] > 1
                words = () if is_shared else self._words(key, stated, rank, left)
                chosen = next((each for each in words if each in left), None)
                if key not in names and chosen is not None:
                    names[key] = left.pop(chosen)
        return names

    def _words(self, key: tuple[str, str], stated: str | None, rank: int, left: Mapping[str, str]) -> list[str]:
        place, word = key[0], normal(key[1])
        if stated or rank < 2:
            return [normal(stated)] if stated else [word] if rank else [f"{place}{word}", f"{word}{place}"]
        near = [each for each in left if each.endswith(word) and place != "body"
                and (place != "path" or self.entries[left[each]].get("required"))]  # fmt: skip
        return near if len(near) == 1 else []

    async def _inside(self, name: str) -> dict[str, str]:
        """Return the fields of a parameter by their normal names: of its type, else those that its description has."""
        entry = self.entries.get(name, {})
        fields = [str(each["name"]) for each in await self._types.fields(entry.get("type"))]
        stated = [re.split(r"[^\w.-]", text.rstrip("*"))[-1] for text in str(entry.get("description")).split(": ")[:-1]]
        return {normal(field): field for field in fields or stated} | {field: field for field in fields}

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
        is_wire = _is_credential(document, place, name) or (
            place == "header" and (name.lower() in TRANSPORT or operation.is_with_key(name))
        )
        is_settled = is_wire or document.is_fixed(schema) or is_filled(name)
        return not (is_settled or {"value", "hidden"} & owner.keys() or is_secret(name) or self._is_paged(name))

    def takes(self, name: str) -> bool:
        """Return True if a call can give a field of the body; credentials and pages are the adapter's own business."""
        is_filled_in = is_secret(name) and (self._inner or not self.whole) and normal(name) not in self._inner
        return ("body", name) in self.names or not (self._is_paged(name) or is_filled_in)

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
                whole = {  # the same name before the nearest: `type` beside `$_type`
                    self._inner.get(name, self._inner.get(normal(name), name)): each for name, each in whole.items()
                }
            params[self.whole] = whole
        elif isinstance(body, dict):
            params |= {self.names.get(("body", str(name)), str(name)): value for name, value in body.items()}
        return params

    async def problems(self, operation: Operation, media: str) -> list[str]:
        """Return what introspection does not show, or shows otherwise than the document has it."""
        document, body, problems = operation.document, operation.body(media), list[str]()
        needed = document.required(body.schema) if body is not None else ()
        wanted = {each.key: (each.schema, each.required) for each in operation.parameters if each.shown}
        if body is not None and not self.whole and document.is_one(body.schema):
            wanted |= {("body", name): (each, name in needed) for name, each in self._fields.items()}
        for key, (schema, required) in wanted.items():
            entry, must, place = self.entries.get(self.names.get(key, "")), self._must(operation, key), " ".join(key)
            if entry is None:
                is_shown = not must or self.gives(key) or normal(key[1]) in self._signed
                problems += [] if is_shown else [f"{place} is not shown"]
                continue
            is_lax = key[0] == "body" and (self._is_free or operation.body_required is False)
            is_free = not must or is_lax or "default" in document.at(schema)
            problems += await self._differences(operation, entry, schema, place, required=None if is_free else required)
        if self.whole and body is not None and self._fields:
            problems += await self._differences(operation, self.entries[self.whole], body.schema, "body")
        problems += [f"{name} is shown, and is in no place" for name in self._left(body is not None)]
        for name, entry in self.entries.items():
            await self._types.details(entry.get("type"))
            defaults = (False,) if name == "dry_run" else _PRESETS if name in self.in_full else (entry.get("default"),)
            if name not in self.names.values() and entry.get("default", defaults[0]) not in defaults:
                problems.append(f"{name} is shown with default {entry['default']}")
        returns = self._details.get("returns") or {}
        paged = re.match(r"`items`: of an? (\w+)", str(returns.get("description")))
        self._answer = entry_of(paged[1] if paged else str(returns.get("name")))
        schema = operation.success[2]
        return problems + await self._types.differences(document, self._answer, schema, "the answer", "writeOnly")

    def _differences(
        self, operation: Operation, entry: Mapping[str, Any], schema: Any, place: str, *, required: bool | None = None
    ) -> Awaitable[list[str]]:
        return self._types.differences(
            operation.document, entry, schema, place, "readOnly", required=required, is_free=self._is_free
        )

    def _left(self, has_body: bool) -> list[str]:
        """Return the parameters that stand for no place; where a choice is offered, other bodies have them."""
        left = self.entries.keys() - self.names.values() - {self.whole, *_OWN, *(() if has_body else _WHOLE)}
        signed = tuple(self._signed)
        names = [name for name in sorted(left) if not (self._is_own(name) or normal(name).startswith(signed))]
        return [] if left & {*_CHOICES} else names

    async def misnamed(self, data: Any, field: str = "") -> list[str]:
        """Return fields of an answer that their types show by other names; of a page, `field` is its list."""
        entry = self._answer
        if isinstance(data, dict) and "pageInfo" in data:
            fields = {normal(each["name"]): each for each in await self._types.fields(entry.get("type"))}
            data, entry = data.get("items"), fields.get(normal(field), entry)
        return await self._types.misnamed(data, entry)


def _is_credential(document: Document, place: str, name: str) -> bool:
    """Return True for the place of a credential, which the adapter fills."""
    return any(
        (str(each.get("in")), normal(each.get("name"))) == (place, normal(name)) for each in document.schemes.values()
    )
