"""Paging as a document declares it for generators of client libraries.

https://azure.github.io/autorest/extensions/#x-ms-pageable, and the pages on pagination of Speakeasy, Fern and
Stainless. What they leave unsaid is completed from the names; one that does not fit the operation says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Evidence, Reason, Trait
from aqlgen.document.positions import escape
from aqlgen.ir import Json, Location
from aqlgen.runtime.table import Pagination

from ..around import Around, Subject
from .envelope import Envelope
from .parameters import Roles
from .styles import decide

__all__ = ["declared", "may_be_declared"]

_EXTENSIONS: Final = frozenset({"x-ms-pageable", "x-speakeasy-pagination", "x-fern-pagination"})
_STAINLESS: Final = "x-stainless-pagination-property"
_PURPOSES: Final = {
    "next_cursor_param": "cursor",
    "page_number_param": "page",
    "offset_count_param": "offset",
    "page_size_param": "size",
    "previous_cursor_param": "before",
}
_FIELDS: Final = {
    "items": "items",
    "next_cursor_field": "next_token",
    "next_url": "next_url",
    "has_next_page": "has_more",
    "offset_total_count_field": "total",
}


def declared(subject: Subject, around: Around, roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Return the trait that the document's extensions declare; None where they declare none."""
    extensions = subject.operation.extensions
    for key, read in (
        ("x-ms-pageable", _microsoft),
        ("x-speakeasy-pagination", _speakeasy),
        ("x-fern-pagination", _fern),
    ):
        stated = extensions.get(key)
        if stated is not None and (trait := read(stated, subject, roles, answer)) is not None:
            return _as_declared(trait, key)
    trait = _stainless(subject, around, roles, answer)
    return _as_declared(trait, _STAINLESS) if trait is not None else None


def may_be_declared(subject: Subject, around: Around) -> bool:
    """Return True if paging is declared at all: by an extension of the operation, or a purpose in its answer."""
    if not _EXTENSIONS.isdisjoint(subject.operation.extensions):
        return True
    return bool(around.schemas.once("purposes", subject.answer, lambda: _purposes(subject, around)))


def _as_declared(trait: Trait[Pagination], key: str) -> Trait[Pagination]:
    return replace(trait, reason=Reason("declared", Evidence.METADATA, 1.0, key))


def _microsoft(stated: Json, _: Subject, roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    if not isinstance(stated, Mapping) or not isinstance(stated.get("nextLinkName"), str):
        return None
    item = stated.get("itemName")
    declared_answer = replace(
        answer,
        items=f"/{escape(item if isinstance(item, str) else 'value')}",
        next_url=f"/{escape(stated['nextLinkName'])}",
    )
    return decide(
        Roles(place=roles.place, size=roles.size, size_max=roles.size_max), replace(declared_answer, sure=True)
    )


def _speakeasy(stated: Json, subject: Subject, roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    if not isinstance(stated, Mapping):
        return None
    inputs = [entry for entry in _list(stated.get("inputs")) if isinstance(entry, Mapping)]
    names = {str(entry.get("type")): entry.get("name") for entry in inputs}
    body = any(entry.get("in") == "requestBody" for entry in inputs)
    declared_roles = replace(
        roles,
        place="body" if body else "query",
        page=_text(names.get("page")),
        offset=_text(names.get("offset")),
        cursor=_text(names.get("cursor")),
        token=None,
        size=_text(names.get("limit")) or roles.size,
        switched=False,
    )
    outputs = stated.get("outputs")
    outputs = outputs if isinstance(outputs, Mapping) else {}
    declared_answer = replace(
        answer,
        items=_path(outputs.get("results")) or answer.items,
        next_token=_path(outputs.get("nextCursor")) or (answer.next_token if declared_roles.cursor else None),
        next_url=_path(outputs.get("nextUrl")) or answer.next_url,
        sure=True,
    )
    return decide(declared_roles, declared_answer) if _exist(declared_roles, subject) else None


def _fern(stated: Json, subject: Subject, roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    if stated is True:
        return decide(roles, answer)
    if not isinstance(stated, Mapping):
        return None
    declared_roles = replace(
        roles,
        page=None,
        offset=_request(stated.get("offset")),
        cursor=_request(stated.get("cursor")),
        token=None,
        switched=False,
    )
    if declared_roles.offset is not None and declared_roles.offset in (
        roles.page,
    ):  # Fern calls a page number an offset, too
        declared_roles = replace(declared_roles, page=declared_roles.offset, offset=None)
    declared_answer = replace(
        answer,
        items=_path(stated.get("results")) or answer.items,
        next_token=_path(stated.get("next_cursor")) or (answer.next_token if declared_roles.cursor else None),
        next_url=_path(stated.get("next_uri") or stated.get("next_path")) or answer.next_url,
        has_more=_path(stated.get("has-next-page")) or answer.has_more,
        sure=True,
    )
    return decide(declared_roles, declared_answer) if _exist(declared_roles, subject) else None


def _stainless(subject: Subject, around: Around, roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Read the purposes that parameters and fields of the answer are marked with."""
    marked: dict[str, Json] = {}
    for parameter in subject.operation.parameters:
        purpose = _PURPOSES.get(_purpose(around.schemas.resolve(parameter.schema)))
        if purpose is not None and parameter.location is Location.QUERY:
            marked[purpose] = parameter.name
    declared_answer = around.schemas.once("purposes", subject.answer, lambda: _purposes(subject, around))
    if not set(marked) - {"size"} and "next_url" not in declared_answer:
        return None
    base = Roles(place="query", size=roles.size, size_max=roles.size_max, before=roles.before)
    return decide(replace(base, **marked), replace(answer, **declared_answer, sure=True))


def _purposes(subject: Subject, around: Around) -> Mapping[str, Json]:
    purposes: dict[str, Json] = {}
    for path, schema in _answer_fields(subject, around):
        purpose = _FIELDS.get(_purpose(schema))
        if purpose is not None:
            purposes[purpose] = "".join(f"/{escape(wire)}" for wire in path)
    return purposes


def _answer_fields(subject: Subject, around: Around) -> Iterator[tuple[tuple[str, ...], Mapping[str, Json]]]:
    """Yield the fields of the answer that may be marked, and those of the objects in it."""
    schemas = around.schemas
    for wire, schema in schemas.properties(subject.answer).items():
        if _may_be_marked(schema):
            yield (wire,), schemas.resolve(schema)
        for inner, inner_schema in schemas.properties(schema).items():
            if _may_be_marked(inner_schema):
                yield (wire, inner), schemas.resolve(inner_schema)


def _may_be_marked(schema: Json) -> bool:
    return isinstance(schema, dict) and (_STAINLESS in schema or "$ref" in schema)


def _purpose(schema: Mapping[str, Json]) -> str:
    stated = schema.get(_STAINLESS)
    purpose = stated.get("purpose") if isinstance(stated, Mapping) else stated
    return purpose if isinstance(purpose, str) else ""


def _exist(roles: Roles, subject: Subject) -> bool:
    """Return True if the parameters of the query are those of the operation."""
    if roles.place != "query":
        return True
    known = {parameter.name for parameter in subject.operation.parameters}
    return all(wire in known for wire in (roles.page, roles.offset, roles.cursor) if wire is not None)


def _path(stated: Json) -> str | None:
    """Return the JSON pointer of a path such as `$.data[*]` or `$response.data.items`."""
    if not isinstance(stated, str) or not stated.startswith("$"):
        return None
    rest = stated.removeprefix("$response").removeprefix("$").removesuffix("[*]").lstrip(".")
    parts = [part.strip("[]'\"") for part in rest.replace("['", ".").split(".") if part]
    if any("[" in part or "(" in part or "*" in part for part in parts):
        return None
    return "".join(f"/{escape(part)}" for part in parts)


def _request(stated: Json) -> str | None:
    return stated.removeprefix("$request.") if isinstance(stated, str) and stated.startswith("$request.") else None


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
