"""The request of an element's operation: method, path and query of `maps_to`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from aqlgen.document.element.model import Place, Request
from aqlgen.document.element.reader import Node, Reader
from aqlgen.runtime.encode.urls import placeholders

__all__ = ["IN_QUERY", "read_maps_to"]

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
