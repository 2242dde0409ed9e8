"""What the operations of both forms of an adapter element share: names, requests, parameters and danger."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final

from aqlgen.document.element.model import ElementOperation, ElementParameter, Place
from aqlgen.document.element.reader import Field, Node, Reader
from aqlgen.document.element.requests import CREDENTIAL, IN_QUERY, Request
from aqlgen.document.element.types import constrained
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.table import Pagination
from aqlgen.words import snake

__all__ = ["DANGERS", "FAMILIES", "PAGINATION", "Names", "built_parameter", "operation", "read_pagination_hint"]

FAMILIES: Final = ("create", "read", "update", "delete", "execute")
DANGERS: Final = ("safe", "reversible", "destructive", "dangerous", "forbidden")
PAGINATION: Final[Mapping[str, Field]] = {
    "style": Field(values=("offset", "cursor", "page", "link_header")),
    "default_limit": Field("integer"),
    "max_limit": Field("integer"),
    "param_name": Field(),
    "per_page_param": Field(),
}
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SPELLING: Final = "lower-case words joined by _, beginning with a letter, at most 64 characters"
_RELATIVE: Final = re.compile(r" \(a kind of [a-z_]{1,40}\)$")
"""What aqlgen adds to the description of an operation whose verb is not canonical (R-NAME-2)."""


@dataclass(slots=True)
class Names:
    """The names of operations that were read, with their places."""

    taken: dict[str, str] = field(default_factory=dict)

    def take(self, reader: Reader, node: Node, family: str) -> bool:
        """Return True if a name can be used and is new; report it otherwise."""
        name = node.value
        if not _NAME.fullmatch(name):
            spelled = snake(name[:200])[:64].strip("_")
            hint = f"Write `{spelled}`." if _NAME.fullmatch(spelled) else "Write it as in `get_user`."
            reader.bad_name(node, name, _SPELLING, hint)
            return False
        if name in self.taken:
            message = f"the operation {name} in {family} is defined already, at {self.taken[name]}"
            hint = "Give each operation a name of its own, across all families."
            reader.report("schema-duplicate-name", node, message, expected="a name of its own", suggestion=hint)
            return False
        self.taken[name] = node.path
        return True


def built_parameter(
    reader: Reader, node: Node, name: str, members: Mapping[str, Node], schema: dict[str, Json]
) -> ElementParameter:
    """Return a parameter from its members, the place of which is not known yet."""
    required = members.get("required")
    return ElementParameter(
        name=name,
        place=Place("", name),
        required=required is not None and required.value,
        description=reader.text(members, "description"),
        schema=constrained(reader, members, schema),
        pointer=node.pointer,
    )


def operation(
    reader: Reader,
    node: Node,
    members: Mapping[str, Node],
    request: Request,
    parameters: list[ElementParameter],
    *,
    family: str,
    returns: Mapping[str, Json] | None,
    confirmed: bool = False,
) -> ElementOperation | None:
    """Return an operation, None for one that needs a credential in its path.

    Reports placeholders without a parameter, and places of parameters that are not there.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    in_path = dict.fromkeys(placeholders(request.path))
    where = members.get("maps_to") or members.get("http") or node
    if any(place.location == CREDENTIAL for place in request.places.values()):
        reader.unused(where, f"{node.path} needs a credential in its path, and is left out", "Send it by hooks.py.")
        return None
    danger = members.get("danger_level")
    if request.method == "DELETE" and (family == "read" or (danger is not None and danger.value == "safe")):
        hint = "List it under `delete` with the danger that it has, at least `reversible`."
        reader.bad_value(danger or where, "what fits DELETE, which is no safe read", hint)
    for name in (*in_path, *(name for name in request.places if name not in in_path)):
        if name not in by_name and not _is_paging(request, name):
            close = get_close_matches(name, by_name, n=1)
            expected = f"one of the parameters ({', '.join(by_name)})" if by_name else "a parameter"
            added = f"Add `{name}` to the parameters: type: string, required: true."
            hint = f"Did you mean `{close[0]}`?" if close else added
            message = f"{where.path} names {reader.shown(name)}, which is no parameter of the operation"
            reader.report("schema-unresolved-ref", where, message, expected=expected, suggestion=hint)
    placed = [_placed(parameter, request, in_path) for parameter in parameters]
    return ElementOperation(
        name=reader.text(members, "name"),
        family=family,
        method=request.method,
        path=request.path,
        description=_RELATIVE.sub("", reader.text(members, "description")),
        parameters=tuple(parameter for parameter in placed if parameter.place.location != "adapter"),
        returns=returns,
        danger=None if danger is None else danger.value,
        confirmed=confirmed,
        pointer=node.pointer,
        written=node.path,
        content_types=request.content_types,
        headers=request.headers,
        query=request.query,
        accept=request.accept,
        items=request.items,
        input=request.input,
        pagination=request.pagination,
        security=request.security,
    )


def _is_paging(request: Request, name: str) -> bool:
    return request.pagination is not None and any(wire == name for _, wire in request.pagination.roles)


def _placed(parameter: ElementParameter, request: Request, in_path: Collection[str]) -> ElementParameter:
    """Return a parameter with its place."""
    parameter = replace(parameter, style=request.styles.get(parameter.name, {}))
    if parameter.name in in_path:
        return replace(parameter, place=Place("path", parameter.name), required=True)
    usual = "query" if request.method in IN_QUERY else "body"
    return replace(parameter, place=request.places.get(parameter.name, Place(usual, parameter.name)))


def read_pagination_hint(
    reader: Reader, node: Node, parameters: list[ElementParameter], returns: Mapping[str, Json] | None
) -> Pagination | None:
    """Return how an operation pages if the element names the parameter; without it the rules decide."""
    members = reader.fields(node, PAGINATION)
    _check_hint(reader, members, [parameter.name for parameter in parameters])
    style, name = reader.text(members, "style"), reader.text(members, "param_name")
    if reader.failed or (not name and style != "link_header"):
        return None
    rest: dict[str, Any] = {
        "size_param": reader.text(members, "per_page_param") or None,
        "size_max": members["max_limit"].value if "max_limit" in members else None,
        "items": "" if returns is not None and returns.get("type") == "array" else None,
    }
    match style:
        case "link_header":
            return Pagination(style="link", next="Link", next_in="header", **rest)
        case "page":
            return Pagination(style="page", page_param=name, **rest)
        case "offset":
            return Pagination(style="offset", offset_param=name, **rest)
    return Pagination(style="cursor", cursor_param=name, **rest)


def _check_hint(reader: Reader, members: Mapping[str, Node], names: Collection[str]) -> None:
    """Report parameters that are not there, and bounds that contradict each other."""
    limits = [members[key] for key in ("default_limit", "max_limit") if key in members]
    for node in limits:
        if node.value < 1:
            reader.bad_value(node, "a whole number above 0", "Write the number of items of a page.")
    if len(limits) == 2 and limits[0].value > limits[1].value:
        reader.bad_value(limits[0], "at most max_limit", "Exchange default_limit and max_limit.")
    for key in ("param_name", "per_page_param"):
        if key in members and members[key].value not in names:
            message = f"{members[key].path} names {reader.shown(members[key].value)}, which is no parameter"
            expected = ", ".join(names) or "a parameter of the operation"
            hint = "Add it to the parameters of the operation."
            reader.report("schema-unresolved-ref", members[key], message, expected=expected, suggestion=hint)
