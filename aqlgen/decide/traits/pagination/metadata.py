"""Paging as a document declares it for generators of client libraries.

https://azure.github.io/autorest/extensions/#x-ms-pageable, and the page on pagination of Speakeasy. What they leave
unsaid is completed from the names; one that does not fit the operation says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Evidence, Reason, Trait
from aqlgen.document.positions import escape
from aqlgen.ir import Json
from aqlgen.runtime.table import Pagination

from ..around import Subject
from .envelope import Envelope
from .parameters import Roles
from .styles import decide

__all__ = ["declared", "may_be_declared"]

_EXTENSIONS: Final = frozenset({"x-ms-pageable", "x-speakeasy-pagination"})


def declared(subject: Subject, roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Return the trait that the document's extensions declare; None where they declare none."""
    for key, read in (("x-ms-pageable", _microsoft), ("x-speakeasy-pagination", _speakeasy)):
        stated = subject.operation.extensions.get(key)
        trait = None if stated is None else read(stated, subject, roles, answer)
        if trait is not None:
            return replace(trait, reason=Reason("declared", Evidence.METADATA, 1.0, key))
    return None


def may_be_declared(subject: Subject) -> bool:
    """Return True if an extension of the operation declares paging."""
    return not _EXTENSIONS.isdisjoint(subject.operation.extensions)


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


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
