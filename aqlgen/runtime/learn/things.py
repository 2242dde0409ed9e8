"""What an observation may make at the API and take away again, and how a thing is known as the one that it made.

All of it is structure of the table: a create with the DELETE and the GET of its item. A thing is known by a random
marker in one of its texts, which was sent with its create; never by what an answer alone says of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from uuid import uuid4

from ..calls import IDENTIFIERS, NAMES
from ..encode.urls import placeholders, without_names
from ..schema import Types, declared_types, follow, union_of
from ..table import FAMILIES, JsonSchema, Row, Table, is_plain_read
from ..text import folded
from ..wire import ApiRequest, is_json

_PLAIN_ID = re.compile(r"(?!\.+\Z)[\w.~:@=+,$-]{1,200}", re.ASCII)
_DEEPEST, _MOST_CALLS = 3, 3
_FREE = ("pattern", "format", "enum", "const", "contentEncoding", "readOnly")
_OF_PEOPLE = ("email", "password")
"""Names of fields that people and their accounts have: a doubt, for which the thing is not made."""
_HARMLESS = ("safe", "reversible")
_OF_NAMED = {"access", "unknown"}
"""The effects of a create that the owner names: money and people are not among them."""


class Elsewhere(ValueError):
    """A request would go to another address than the thing is at; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Named:
    """A resource that the owner names: the path of its item, and the values of the placeholders in it, in order."""

    path: str
    values: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Named:
        """Read `/pets/{petId}=7`, with several values `/a/{x}/b/{y}=1,2`. Raises ValueError."""
        match = re.fullmatch(r"/?([^=]*\})/?=(.*)", text)
        path = f"/{match[1]}" if match else ""
        count, values = len(placeholders(path)), tuple(match[2].split(",")) if match else ()
        if not count or len(values) != count or not all(map(_PLAIN_ID.fullmatch, values)):
            raise ValueError(f"'{text}' names no resource: give the path with its values, such as /pets/{{petId}}=7")
        return cls(path, values)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of things that can be made and taken away; `listing` is None where the API has no list of them.

    The owner has named its create where `is_named`: it may give access, or a person is asked about it.
    """

    create: Row
    read: Row
    delete: Row
    listing: Row | None
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table by method and path without names, and the kinds of things by the name of their create."""

    at: Mapping[tuple[str, str], Row]
    kinds: dict[str, Kind]

    def updates(self, path: str) -> Iterator[Row]:
        """Yield the updates of the item at a path which may be tried on it."""
        plain = without_names(path.rstrip("/"))
        kinds = (kind for kind in self.kinds.values() if without_names(kind.read.path.rstrip("/")) == plain)
        is_named = any(kind.is_named for kind in kinds)
        for method in ("PATCH", "PUT", "POST"):
            row = self.at.get((method, plain))
            is_free = row is not None and (is_named or row.asked != "always")
            if row is not None and row.family == "update" and is_free and _tried(row, {"unknown"}, is_named=is_named):
                yield row

    def reader(self, path: str) -> Row | None:
        """Return the read of the item at a path."""
        row = self.at.get(("GET", without_names(path.rstrip("/"))))
        is_read = row is not None and is_plain_read(row.family, row.method, row.danger, row.rule)
        return row if is_read and row is not None and _needs_path_alone(row) else None

    def within(self, path: str) -> Iterator[Kind]:
        """Yield the kinds of things in the item at a path, "" for those of the API itself."""
        outer, depth = f"{without_names(path)}/", path.count("{")
        for kind in self.kinds.values():
            create = kind.create.path
            if create.count("{") == depth and without_names(create).startswith(outer):
                yield kind


def rows_of(table: Table, creates: Collection[str] = ()) -> Rows:
    """Return the rows of a table for an observation that writes; `creates` are those that the owner names."""
    known = (table.find(name, family) for family in FAMILIES for name in table.raw(family))
    table_rows = [row for row in known if row is not None]
    rows = Rows({(row.method, without_names(row.path.rstrip("/"))): row for row in table_rows}, {})
    things = {folded(row.resource) for row in table_rows}
    for row in table_rows:
        kind = _kind(row, rows, things, table.types, is_named=not {row.name, row.key}.isdisjoint(creates))
        rows.kinds.update({} if kind is None else {row.name: kind})
    return rows


def _kind(create: Row, rows: Rows, things: set[str], types: Types, *, is_named: bool) -> Kind | None:
    """Return the kind that a create makes; None where it may do more than that, or nothing takes it back."""
    item = f"{create.path.rstrip('/')}/{{}}"
    read, delete = rows.reader(item), rows.at.get(("DELETE", without_names(item)))
    if create.family != "create" or create.method != "POST" or not _tried(create, set(), is_named=is_named):
        return None
    if not is_named and (create.asked != "never" or _refers(create, things - {folded(create.resource)})):
        return None
    if read is None or delete is None or not _deletes(delete) or not marked_calls(create, types, new_marker()):
        return None
    return Kind(create, read, delete, rows.reader(create.path), is_named)


def _tried(row: Row, effects: set[str], *, is_named: bool) -> bool:
    """Return True for a write in JSON that does nothing beyond the API's data, by all that is known of it.

    Of what the owner names it may also give access.
    """
    return (
        row.danger in (*_HARMLESS, *(("destructive",) if is_named else ()))
        and (effects | (_OF_NAMED if is_named else set())).issuperset(row.effects)
        and row.carries is None
        and row.long_running is None
        and not row.confirmation
        and row.body is not None
        and is_json(row.body.content_type)
        and _needs_path_alone(row)
    )


def _deletes(row: Row) -> bool:
    is_plain = row.family == "delete" and row.danger not in ("dangerous", "forbidden") and not row.carries
    return is_plain and {"ends", "unknown"}.issuperset(row.effects) and not row.confirmation and _needs_path_alone(row)


def _needs_path_alone(row: Row) -> bool:
    return not any(
        item.required and item.location in ("query", "querystring", "header", "cookie")
        for item in row.parameters.values()
    )


def _refers(create: Row, things: set[str]) -> bool:
    """Return True if a create demands what would have to be made up, another thing or an address, or makes a person."""
    for item in create.parameters.values():
        if item.sensitive or folded(item.wire).endswith(_OF_PEOPLE):
            return True
    for name, value in (create.example or {}).items():
        parameter = create.parameters.get(name)
        if parameter is None or parameter.location == "path":
            continue
        text = json.dumps(value)
        if "://" in text or "@" in text:
            return True
        other = folded(parameter.wire).removesuffix("id")
        if other in things and not isinstance(value, (dict, bool)) and declared_types(parameter.schema) != ("string",):
            return True
    return False


# What is sent


def params_of(row: Row, values: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that fill the path of a row."""
    names = {item.wire: name for name, item in row.parameters.items() if item.location == "path"}
    pairs = zip(placeholders(row.path), values, strict=True)
    params: dict[str, Any] = {}
    for wire, value in pairs:
        is_number = "integer" in declared_types(row.parameters[names[wire]].schema) and value.isdecimal()
        params[names[wire]] = int(value) if is_number else value
    return params


def free_value(schema: JsonSchema, types: Types, text: str, was: Any = None) -> Any:
    """Return a new value of a text, number or map that may have any, None for another field.

    A flag is none: it may lock the thing.
    """
    target = follow(schema, types)
    kinds = set(declared_types(target)) - {"null"}
    if any(key in part for part in (schema, target) for key in _FREE):
        return None
    if kinds == {"string"}:
        return text if target.get("maxLength", len(text)) >= len(text) else None
    is_open = not union_of(types, target).properties and target.get("additionalProperties") is not False
    if kinds == {"object"} and is_open:
        return {"learn": text}
    if kinds == {"integer"} and isinstance(was, (int, type(None))):
        number = (was or 0) + 1
        return number if target.get("minimum", number) <= number <= target.get("maximum", number) else None
    return None


def marked_calls(create: Row, types: Types, marker: str) -> list[dict[str, Any]]:
    """Return parameters of a create of which some hold a marker: an identifier that the caller may choose, and a text.

    Texts that are demanded come first; where the first call is refused, another one may be taken.
    """
    example, text = create.example or {}, text_of(marker)
    fields = {name: item for name, item in create.parameters.items() if item.location == "body"}
    body = {name: item.schema for name, item in fields.items() if not item.deprecated}
    order = sorted(body, key=lambda name: (name not in example, not fields[name].required))
    texts = [{name: text} for name in order if free_value(body[name], types, text) == text]
    chosen = _chosen_ids(create, body, types, marker)
    first = [{**chosen, **text} for text in texts[:1] or [{}] if chosen]
    secrets = {name: _password(item.schema) for name, item in fields.items() if item.sensitive and name in example}
    base = {**example, **secrets}
    return [{**base, **call} for call in (*first, *texts)][:_MOST_CALLS]


def _chosen_ids(create: Row, body: Mapping[str, JsonSchema], types: Types, marker: str) -> dict[str, str]:
    """Return the identifiers that a caller may choose for what is created."""
    name_of_own = f"{folded(create.resource)}id"
    ids = [name for name, schema in body.items() if follow(schema, types).get("format") == "uuid"]
    uuid = f"{marker}-8000-000000000000"  # a UUID of version 4 (RFC 9562, 5.4)
    return {name: uuid for name in ids if folded(create.parameters[name].wire) == name_of_own}


def _password(schema: JsonSchema) -> str:
    """Return a text that nobody can guess: what is made may let somebody in until it is taken away."""
    return f"aA1-{token_urlsafe(24)}"[: schema.get("maxLength", 36)]


def new_marker() -> str:
    """Return a text that nobody can guess: the first half of a UUID."""
    return str(uuid4())[:18]


def text_of(marker: str) -> str:
    """Return a text with a marker that says where it comes from."""
    return f"aqlgen-learn-{marker}"


def base_of(request: ApiRequest, row: Row) -> str:
    """Return a digest of the address of the API that a request goes to, without the path of its operation."""
    address = request.url.partition("?")[0]
    return sha256(address.rsplit("/", row.path.partition("?")[0].count("/"))[0].encode()).hexdigest()[:32]


def here(request: ApiRequest, row: Row, base: str) -> ApiRequest:
    """Return a request that goes to the address of the API with this digest. Raises Elsewhere for another."""
    if base_of(request, row) != base:
        raise Elsewhere("the adapter's address of the API is another one than before; nothing was sent")
    return request


# What is answered


def marked(content: bytes | None, marker: str) -> tuple[str, ...]:
    """Return the fields of a request's body that hold a marker."""
    try:
        body = json.loads(content or b"null")
    except ValueError:
        return ()
    texts = ((key, value) for fields in _objects(body) for key, value in fields.items() if isinstance(value, str))
    return tuple(key for key, value in texts if marker in value)


def carries(data: Any, fields: Sequence[str], marker: str) -> bool:
    """Return True if data are one thing that holds a marker in one of these fields; a list of things is none."""
    texts = (inner[key] for inner in _objects(data) for key in fields if key in inner)
    return bool(marker) and any(isinstance(value, str) and marker in value for value in texts)


def _objects(data: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of data with those in them, except items of lists."""
    if isinstance(data, dict) and depth <= _DEEPEST:
        yield data
        for value in list(data.values())[:200]:
            yield from _objects(value, depth + 1)


def items_of(data: Any) -> list[Any] | None:
    """Return the items of a list, which may stand in an object; None for no list."""
    if isinstance(data, list):
        return data
    lists = [value for fields in _objects(data) for value in fields.values() if isinstance(value, list)]
    return max(lists, key=len, default=None)


def identifiers(data: Any, kind: Kind) -> Iterator[str]:
    """Yield the values in a thing that may identify it in the path of its item, the likeliest first.

    A value that could leave its place in a path is none.
    """
    resource, place = folded(kind.create.resource), folded(placeholders(kind.delete.path)[-1])
    names = [place, "id", f"{resource}id", *sorted(IDENTIFIERS), "name", f"{resource}name", *sorted(NAMES)]
    values: dict[str, None] = {}
    for fields in _objects(data):
        known = {folded(key): value for key, value in fields.items()}
        for name in names:
            value = known.get(name)
            if isinstance(value, (str, int)) and not isinstance(value, bool) and _PLAIN_ID.fullmatch(str(value)):
                values[str(value)] = None
    yield from list(values)[:6]
