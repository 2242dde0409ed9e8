# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What introspection shows of an operation, beside what the document has: names, types, what is required."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .comparison import Comparison, Types, has_default, has_one_value
from .document import Operation, is_filled, is_secret, normal
from .judge import Grade

__all__ = ["Shown"]

_OWN_TYPES = ("FieldSelection", "WhereCondition", "AggregateRequest")
_WHOLE = ("input", "body", "data")


class Shown:
    """The parameters that an operation shows by name, and the places of the document that they stand for.

    `names` has the agent's name of each parameter by place and wire name, and of each field of a body that is values
    field by field; `whole` is the parameter that is the whole body.
    """

    def __init__(self, types: Types, details: Mapping[str, Any]) -> None:
        self.entries: dict[str, Mapping[str, Any]] = {each["name"]: each for each in details["parameters"]}
        self.names: dict[tuple[str, str], str] = {}
        self.whole = ""
        self._types, self._details = types, details
        self._inside: dict[tuple[str, str], str] = {}
        self._fields: set[str] = set()

    @property
    def pages(self) -> bool:
        """True if the adapter pages the list."""
        return {"first", "after"} <= self.entries.keys()

    @property
    def _paged(self) -> set[str]:
        """The API's own parameters that `first` and `after` stand for, as `first` says."""
        return {"before", "last"} | {
            normal(word) for word in re.split(r"[\s,;()]+", str(self.entries["first"].get("description")))
        }

    @property
    def takes_file(self) -> bool:
        """True if the body is a file, whatever its schema."""
        return bool(self.whole) and self.entries[self.whole].get("type") == "FileInput"

    @property
    def selects(self) -> bool:
        """True if a call can say which fields are answered."""
        return self.entries.get("fields", {}).get("type") == "FieldSelection"

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

    async def place(self, operation: Operation, media: str) -> None:
        """Find the parameters of an operation among those shown, by their names."""
        wanted = [(each.place, each.name, each.owner.get("name")) for each in operation.parameters if each.shown]
        body = operation.body(media)
        changes = operation.owner.get("parameters") or {}
        fields = operation.document.writable(body.schema) if body is not None else {}
        whole = await self._types.of(f"{self._details['name']}.params")  # the details of an operation may be cut
        self.entries.update({each["name"]: each for each in whole.get("fields") or ()})
        words, inner = {normal(name) for _, name, _ in wanted}, set(map(normal, fields))
        by_name: dict[str, str] = {
            normal(name): name for name in self.entries
            if not self._is_own(name) and (normal(name) in words or normal(name) not in inner)
        }  # fmt: skip
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
        fields = (await self._types.of(str(entry.get("type")))).get("fields")
        stated = [re.split(r"[^\w.*-]", text)[-1] for text in str(entry.get("description")).split(": ")[:-1]]
        return fields or [{"name": each.rstrip("*"), "required": each[-1:] == "*", "type": "any"} for each in stated]

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
        """Return True if a call can give a field of the body; credentials and pages are the adapter's own business."""
        if self.pages and ("body", name) not in self.names and normal(name) in self._paged:
            return False
        return not is_secret(name) or ("body", name) in self.names or normal(name) in self._fields

    def params(self, values: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
        """Return values by place and wire name as the parameters of a call."""
        params = {
            self.names[key]: value for key, value in values.items() if key in self.names.keys() - self._inside.keys()
        }
        for key in values.keys() & self._inside.keys():
            params.setdefault(self._inside[key], {})[key[1]] = values[key]
        body = values.get(("body", ""))
        if self.whole and ("body", "") in values:
            params[self.whole] = body
        elif isinstance(body, dict):
            params.update({self.names.get(("body", name), str(name)): value for name, value in body.items()})
        return params

    async def problems(self, operation: Operation, media: str) -> list[tuple[Grade, str]]:
        """Return what introspection does not show, or shows otherwise than the document has it."""
        document = operation.document
        comparison = Comparison(self._types, document)
        for parameter in operation.parameters:
            place, name, schema = parameter.place, parameter.name, parameter.schema
            entry = self.entries.get(self.names.get((place, name), ""))
            if parameter.shown and not (entry is None and self._may_hide(operation, place, name, schema)):
                is_plain = not has_default(document, schema) and not is_filled(name)
                required = parameter.required if is_plain else None
                await comparison.compare(f"{place} {name}", entry, schema, required)
        body = operation.body(media)
        if body is None or self.takes_file:
            return comparison.found
        if self.whole:
            await comparison.compare("body", self.entries[self.whole], body.schema, None)
            return comparison.found
        needed, is_one = document.required(body.schema), len(list(document.parts(body.schema))) == 1
        for name, schema in document.writable(body.schema).items():
            entry = self.entries.get(self.names.get(("body", name), ""))
            if entry is not None or not self._may_hide(operation, "body", name, schema):
                is_plain = operation.body_required and not has_default(document, schema) and not is_filled(name)
                required = name in needed if is_plain and (name in needed or is_one) else None
                await comparison.compare(f"body {name}", entry, schema, required)
        return comparison.found

    def _may_hide(self, operation: Operation, place: str, name: str, schema: Any) -> bool:
        """Return True for what a call need not give: it is the adapter's business, the owner's, or one value alone."""
        word, changes = normal(name), operation.owner.get("parameters") or {}
        owned = {**(changes.get(name) or {}), **(changes.get(f"{place}:{name}") or {})}
        schemes = operation.document.schemes.values()
        return (
            is_secret(name) or has_one_value(operation.document, schema) or (self.pages and word in self._paged)
            or (place, word) == ("header", "ifmatch") or bool({"value", "hidden"} & owned.keys())
            or any(each.get("in") == place and normal(str(each.get("name"))) == word for each in schemes)
            or (place != "body" and [normal(each.name) for each in operation.parameters].count(word) > 1)
        )  # fmt: skip

    async def answer_problems(self, operation: Operation) -> list[tuple[Grade, str]]:
        """Return where the type of the answer is shown otherwise than the document has it."""
        document, schema = operation.document, operation.response()[2]
        comparison = Comparison(self._types, document, answers=True)
        inner = document.items(schema) if document.kinds(schema) == {"array"} else schema
        if self.answer_type and document.kinds(inner) == {"object"}:
            await comparison.compare("the answer", {"type": self.answer_type}, inner, None)
        return comparison.found

    @property
    def answer_type(self) -> str:
        """The name of the type that the operation answers with, or of the items of its answer; "" for none."""
        returns = self._details.get("returns") or {}
        if returns.get("kind") == "object" and returns.get("name") != "object":
            return str(returns["name"])
        paged = re.match(r"`items`: of an? (\w+)", str(returns.get("description")))
        return paged[1] if paged is not None else ""

    async def name_problems(self, operation: Operation, data: Any) -> list[tuple[Grade, str]]:
        """Return the fields of an answer that are called otherwise than its type shows them."""
        comparison = Comparison(self._types, operation.document, answers=True)
        if not self.pages:
            await comparison.name_problems("the answer", data, self.answer_type)
        return comparison.found
