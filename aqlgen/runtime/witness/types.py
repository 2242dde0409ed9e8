"""The types that introspection shows, compared with the schemas of the document at any depth."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from .document import Document, is_secret, normal
from .schemas import compiles

_NUMBER = ("default", "enum", "minimum", "maximum", "format")
_TEXT = ("default", "enum", "minLength", "maxLength", "pattern", "format")
_WORDS = {"integer": _NUMBER, "number": _NUMBER, "string": _TEXT, "boolean": ("default",)}
"""What introspection tells of a value of a type by the keywords of schemas."""
_KINDS = {"integer": {"integer", "number"}, **{name: {name} for name in ("number", "string", "boolean", "array",
          "object")}}  # fmt: skip
_FORMS = ("date-time", "uuid", "email", "int32", "int64")  # formats that an adapter has to show
_LONG = 200  # characters of a schema from which on an entry may be cut to name and type, or of a value left out

Entry = Mapping[str, Any]


def entry_of(schema: Mapping[str, Any]) -> Entry:
    """Return a schema of the table as an entry of introspection has it."""
    if "items" in schema and schema.get("type") != "object":
        return {"type": "array", "items": entry_of(schema["items"])}
    return {"type": schema["$ref"].rpartition("/")[2] if "$ref" in schema else schema.get("type")}


class Types:
    """The types that an adapter shows, each asked for once by a function; those of no details are `unknown`."""

    def __init__(self, introspect: Callable[..., Awaitable[Entry]]) -> None:
        self._introspect = introspect
        self._known: dict[Any, Entry] = {name: {} for name in (*_KINDS, "any", "null", "none", None)}
        self.unknown: set[str] = set()
        self._compared: set[tuple[Any, ...]] = set()

    async def details(self, name: Any) -> Entry:
        """Return the shown details of a type, nothing if there is none of the name."""
        if name not in self._known:
            self._known[name] = (await self._introspect(query="types", name=name, all=True)).get("type") or {}
            self.unknown |= set() if self._known[name] else {name}
        return self._known[name]

    async def fields(self, name: Any) -> list[Entry]:
        """Return the fields of a type."""
        return (await self.details(name)).get("fields") or []

    async def differences(
        self, document: Document, entry: Entry, schema: Any, place: str, mark: str, *, required: bool | None = None,
        is_free: bool = False,
    ) -> list[str]:  # fmt: skip
        """Return where an entry, or a field of its type at any depth, is otherwise than a schema.

        Fields with the mark need not be shown, and a free input may leave out what is required.
        """
        is_named = "name" in entry
        texts = [f"{place} is shown with {text}" for text in of_value(document, entry, schema) if is_named]
        if required is not None and entry.get("required") is not required:
            texts.append(f"{place} is shown as {'optional' if required else 'required'}")
        while entry.get("type") == "array" and isinstance(entry.get("items"), dict):
            is_plain = is_named and "enum" not in document.at(schema)  # of a list it is meant of the items
            entry, schema = entry["items"], document.items(schema)
            texts += _of_items(document, entry, schema, place) if is_plain else ()
        details, members = await self.details(entry.get("type")), document.members(schema)
        if "values" in details and document.is_plain(schema) and _texts(details["values"]) != _texts(members):
            texts.append(f"{place} is shown with {details['values']}, the document has {members}")
        if not details.get("fields"):
            return texts
        pair = entry.get("type"), repr(document.deref(schema)), mark
        if pair in self._compared:
            return texts
        self._compared.add(pair)
        return texts + await self._of_fields(document, details["fields"], schema, place, mark, is_free=is_free)

    async def _of_fields(
        self, document: Document, fields: list[Entry], schema: Any, place: str, mark: str, *, is_free: bool
    ) -> list[str]:
        shown, needed = {normal(each["name"]): each for each in fields}, document.required(schema, mark)
        known: dict[str, Any] = {name: {} for name in needed} | document.properties(schema)
        counts, is_sure, texts = Counter(map(normal, known)), document.is_one(schema) and not is_free, list[str]()
        for name, each in known.items():
            field, is_marked = shown.pop(normal(name), None), document.is_marked(each, mark)
            if field is not None and counts[normal(name)] == 1:
                must = name in needed if is_sure and not is_marked else None
                texts += await self.differences(
                    document, field, each, f"{place}/{name}", mark, required=must, is_free=is_free
                )
            elif counts[normal(name)] == 1 and not (
                is_marked or is_secret(name) or (mark == "readOnly" and document.is_fixed(each))
            ):
                texts.append(f"{place}/{name} is not shown")
        is_other = document.kinds(schema) and "object" not in document.kinds(schema) and "encoding" not in shown
        texts += [f"{place} is shown as an object, the document has {document.kinds(schema)}"] if is_other else []
        return texts + [f"{place} is shown with {each['name']}" for each in shown.values() if known and is_sure]

    async def misnamed(self, data: Any, entry: Entry) -> list[str]:
        """Return fields of an answer, at any depth, that their types show by other names."""
        if isinstance(data, list):
            return [text for each in data[:2] for text in await self.misnamed(each, entry.get("items", entry))]
        fields = await self.fields(entry.get("type")) if isinstance(data, dict) else []
        shown, near = {each["name"]: each for each in fields}, {normal(each["name"]): each["name"] for each in fields}
        names = [name for name in (data if fields else ())  # not `type` beside `$_type`
                 if name not in {*shown, "_etag"} and near.get(normal(name), name) not in data]  # fmt: skip
        texts = [f"{name} is answered, its type shows {near[normal(name)]}" for name in names]
        for name in shown.keys() & (data if fields else set()):
            texts += await self.misnamed(data[name], shown[name])
        return texts


def _of_items(document: Document, entry: Entry, schema: Any, place: str) -> Iterator[str]:
    texts = of_value(document, entry, schema)
    return (f"{place} is shown with items of {text}" for text in texts if not text.startswith("default "))


def of_value(document: Document, entry: Entry, schema: Any) -> Iterator[str]:
    """Yield the differences between an entry with a name and the schema of its value."""
    stated, kind, kinds = document.at(schema), entry.get("type"), document.kinds(schema)
    if not document.is_plain(schema):
        return
    if kinds and not kinds & _KINDS.get(str(kind), kinds):
        yield f"type {kind}, the document has {', '.join(sorted(kinds))}"
    yield from ["another word on null"] if _is_null_other(document, entry, schema) else ()
    for word in _WORDS.get(str(kind), ("enum",)):
        wanted, shown = stated.get(word), entry.get(word)
        if word == "default" and word in stated and document.problems(schema, wanted):
            continue  # a value that it refuses itself
        if word == "enum":
            wanted, shown = _texts(document.members(schema)), shown and _texts(shown)
        if not _is_left_out(stated, entry, word) and _written(shown) != _written(wanted):
            yield f"{word} {shown}, the document has {wanted}"
    if stated.get("format") == "password" and not entry.get("sensitive"):
        yield "no word of its being a secret"


def _is_null_other(document: Document, entry: Entry, schema: Any) -> bool:
    is_told = "name" in entry and len(entry) > 3 and not {"$ref", "type"} <= set(schema)
    is_open = not (is_told and document.kinds(schema) - {"null"}) or "May be null" in str(schema.get("description"))
    return not is_open and ("May be null" in str(entry.get("description"))) is not document.is_nullable(schema)


def _is_left_out(stated: Mapping[str, Any], entry: Entry, word: str) -> bool:
    """Return True for a keyword that need not be shown: of a long schema, or one that its own example contradicts."""
    if f"exclusive{word.capitalize()}" in stated:
        return True  # shown as integers
    form, is_told = str(stated.get("format")), not {"example", "examples", "default"}.isdisjoint(stated)
    is_loose = form not in _FORMS or is_told or (entry.get("type") == "number" and "int" in form)
    is_cut = len(str(stated if len(entry) <= 3 else stated.get(word, ""))) > _LONG
    if word == "default" and "default" in entry and [entry[word]] in (stated.get("enum"), [stated.get("const")]):
        return True  # the only value
    untold = ("enum", *("pattern",) * (not compiles(str(stated.get("pattern", "")))))
    return word in untold[1:] or (word not in entry and (is_cut or word in untold or (word == "format" and is_loose)))


def _written(value: Any) -> str:
    """Return a value in lower case: signs of no form may be escaped, and in patterns what only some dialects escape."""
    text = str(value).lower().encode("ascii", "backslashreplace").decode()
    return re.sub(r"\\([-/])", r"\1", text).replace(r"\z", "$")


def _texts(values: Any) -> list[str]:
    return sorted(set(map(str, values)))
