"""The parts of an adapter element: address, version and title; names, requests (`maps_to`), parameters and danger."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from aqlgen.document.element.model import ElementOperation, ElementParameter, Place, Request
from aqlgen.document.element.reader import Field, Node, Reader
from aqlgen.document.element.types import constrained
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.table import Pagination
from aqlgen.words import snake

__all__ = [
    "DANGERS",
    "FAMILIES",
    "PAGINATION",
    "Names",
    "built_parameter",
    "operation",
    "read_base_url",
    "read_maps_to",
    "read_pagination_hint",
    "read_title",
    "read_version",
]

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
IN_QUERY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
"""Methods whose parameters go into the query, if nothing else is said; those of others go into the JSON body."""

_MAPS_TO: Final = "METHOD /path, as in `GET /pets/{pet_id}`"
_LONGEST: Final = 4_000


def read_maps_to(reader: Reader, node: Node) -> Request | None:
    """Return method, path and query of `METHOD /path?type=all&q={text}`; None after a report of what is wrong.

    What stands in the query in braces is a parameter under that name of the API; the rest is sent as it stands.
    """
    if not reader.is_readable(node):
        return None
    method, _, target = node.value.strip().partition(" ")
    target = target.strip()
    if method.upper() in METHODS and method != method.upper():
        reader.bad_value(node, _MAPS_TO, f"Write the method in capitals: `{method.upper()} {target[:200]}`.")
        return None
    if method not in METHODS:
        reader.bad_value(node, f"{_MAPS_TO} ({', '.join(METHODS)})", "Begin with one of these methods.")
        return None
    return _read_path(reader, node, method, target)


def _read_path(reader: Reader, node: Node, method: str, target: str) -> Request | None:
    """Return the request of a method and a path, None after a report of what is wrong."""
    segments = re.split(r"/|\\|%2f|%5c", target.partition("?")[0], flags=re.IGNORECASE)
    spelled = f"`{method} /{target.lstrip('/').replace(' ', '%20')[:200]}`"
    for is_unfit, expected, hint in (
        (
            "://" in target or target.startswith("//"),
            "a path below base_url, without a host",
            "Leave the host out: requests and credentials go to base_url alone.",
        ),
        (target[:1] != "/" or " " in target or len(target) > _LONGEST, _MAPS_TO, f"Write {spelled}."),
        ("#" in target, "a path without #", "Remove the part after #: it is never sent."),
        (
            not {".", ".."}.isdisjoint(map(unquote, segments)),
            "a path without the segments . and ..",
            "Write the path as it is sent: it stays below base_url.",
        ),
        (
            not {"{", "}"}.isdisjoint(re.sub(r"\{[^{}]{1,200}\}", "", target)),
            "a path with matching braces",
            "Write a placeholder as in `/pets/{pet_id}`.",
        ),
    ):
        if is_unfit:
            reader.bad_value(node, expected, hint)
            return None
    path, mark, query = target.partition("?")
    places: dict[str, Place] = {}
    fixed: list[str] = []
    for pair in query.split("&") if mark else ():
        wire, _, value = pair.partition("=")
        names = placeholders(value)
        if len(names) == 1 and value == f"{{{names[0]}}}" and wire:
            places[names[0]] = Place("query", wire)
        elif names or "{" in wire:
            reader.bad_value(node, "a query of pairs like `q={text}` or `type=all`", "Give each placeholder a pair.")
        else:
            fixed.append(pair)
    return Request(method, path + ("?" + "&".join(fixed) if fixed else ""), places)


FAMILIES: Final = ("create", "read", "update", "delete", "execute")
DANGERS: Final = ("safe", "reversible", "destructive", "dangerous", "forbidden")
_MILD: Final = (None, "safe", "reversible")
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


_SEMVER: Final = re.compile(
    r"(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:-[0-9A-Za-z.-]{1,100})?(?:\+[0-9A-Za-z.-]{1,100})?"
)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def read_base_url(reader: Reader, node: Node | None) -> str:
    """Return the address of the API; report what is none, and warn of one without encryption."""
    if node is None or not reader.is_readable(node):
        return ""
    url = str(node.value).strip()
    expected = "an address such as https://api.example.com/v1"
    try:
        parts = urlsplit(url)
        host, private = parts.hostname or "", {parts.username, parts.password} != {None}
        parts.port  # noqa: B018 - raises ValueError for what is not a port
    except ValueError:
        host, private, parts = "", False, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or not {" ", "{", "\\"}.isdisjoint(url):
        reader.bad_value(node, expected, "Begin with https:// and the host of the API.")
    elif private or parts.query or parts.fragment:
        message = f"{node.path} must be an address without user name, query and fragment"
        hint = "Credentials belong into environment variables, a query into maps_to."
        actual = "an address with more"
        reader.report("schema-invalid-value", node, message, expected=expected, actual=actual, suggestion=hint)
    elif parts.scheme == "http" and host not in _LOOPBACK and not host.startswith("127."):
        hint = "Write https://, unless the API is on this machine or for development."
        reader.unused(node, f"{node.path} is not encrypted", hint)
    if url.endswith("/"):
        reader.unused(node, f"{node.path} ends with a slash, which is left out", "Write it without.")
    return url.rstrip("/")


def read_version(reader: Reader, node: Node | None) -> None:
    """Report a version that is not semantic."""
    if node is not None and not _SEMVER.fullmatch(node.value):
        reader.bad_value(node, "three numbers with dots between (Semantic Versioning)", 'Write `version: "1.0.0"`.')


def read_title(name: str) -> str:
    """Return a title for an adapter that has only a name."""
    words = re.sub(r"[-_]?adapter$", "", name).replace("_", "-").split("-")
    return " ".join(word.capitalize() for word in words if word) or "API"


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
            hint = "Give each operation a unique name, across all families."
            reader.report("schema-duplicate-name", node, message, expected="a unique name", suggestion=hint)
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
) -> ElementOperation:
    """Return an operation; report what does not fit together."""
    where = members["maps_to"]
    danger, confirmed = reader.text(members, "danger_level") or None, members.get("requires_confirmation")
    if request.method == "DELETE" and (family == "read" or danger == "safe"):
        hint = "List it under `delete` with the danger that it has, at least `reversible`."
        reader.bad_value(members.get("danger_level", where), "a family for DELETE, which is not a safe read", hint)
    if confirmed is not None and confirmed.value and danger in _MILD:
        danger = "destructive"
    in_path = dict.fromkeys(placeholders(request.path))
    _check_places(reader, where, [*in_path, *request.places], [item.name for item in parameters])
    return ElementOperation(
        name=reader.text(members, "name"),
        family=family,
        request=request,
        description=_RELATIVE.sub("", reader.text(members, "description")),
        parameters=_placed(parameters, request, in_path),
        returns=returns,
        danger=danger,
        pointer=node.pointer,
        written=node.path,
    )


def _check_places(reader: Reader, where: Node, named: Iterable[str], parameters: Collection[str]) -> None:
    """Report placeholders that are not parameters."""
    for name in dict.fromkeys(named):
        if name in parameters:
            continue
        close = get_close_matches(name, parameters, n=1)
        expected = f"one of the parameters ({', '.join(parameters)})" if parameters else "a parameter"
        added = f"Add `{name}` to the parameters: type: string, required: true."
        hint = f"Did you mean `{close[0]}`?" if close else added
        message = f"{where.path} names {reader.shown(name)}, which is not a parameter of the operation"
        reader.report("schema-unresolved-ref", where, message, expected=expected, suggestion=hint)


def _placed(
    parameters: Iterable[ElementParameter], request: Request, in_path: Collection[str]
) -> tuple[ElementParameter, ...]:
    """Return the parameters, each with its place."""
    usual = "query" if request.method in IN_QUERY else "body"
    placed = []
    for parameter in parameters:
        name, is_in_path = parameter.name, parameter.name in in_path
        place = Place("path", name) if is_in_path else request.places.get(name, Place(usual, name))
        placed.append(replace(parameter, place=place, required=parameter.required or is_in_path))
    return tuple(placed)


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
            message = f"{members[key].path} names {reader.shown(members[key].value)}, which is not a parameter"
            expected = ", ".join(names) or "a parameter of the operation"
            hint = "Add it to the parameters of the operation."
            reader.report("schema-unresolved-ref", members[key], message, expected=expected, suggestion=hint)
