"""Reading what overrides decide for the whole adapter, and the checks that its JSON Schema cannot express."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from aqlgen.decide.decision import Place, Requirements
from aqlgen.runtime.encode import is_framing, overrides_method
from aqlgen.runtime.hosts import origins_of_entry

from .grammar import Path, Tree
from .model import AdapterOverride, HeaderOverride
from .selectors import AcceptEntry, parse_entry

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110, 5.1)."""

_OF_REQUESTS: Final = {
    "content-type": "Choose it for an operation by `body: {content_type: …}`.",
    "cookie": "Declare a security scheme of the kind apiKey in: cookie, or describe the parameter.",
}
"""Headers that each request makes for itself, with the way to change them."""

_CREDENTIAL: Final = "authorization"


def read_adapter(tree: Tree, path: Path, data: Mapping[str, Any]) -> AdapterOverride:
    """Return what holds for the whole adapter, or for an API; `tree` takes the findings."""
    schemes = {
        name: scheme
        for name, scheme in data.get("security_schemes", {}).items()
        if _is_sendable(tree, (*path, "security_schemes", name), scheme)
    }
    security = data.get("security")
    stated = data.get("headers", {})
    headers = [_header(tree, (*path, "headers", name), name, value, stated) for name, value in stated.items()]
    places: dict[str, Place] = {name: tree.values[*path, name] for name in data}
    for name in data.get("variables", {}):
        places[f"variables.{name}"] = tree.keys[*path, "variables", name]
    return AdapterOverride(
        field_case=data.get("field_case"),
        security_schemes=schemes,
        security=None if security is None else read_requirements(security),
        headers=tuple(header for header in headers if header is not None),
        variables=data.get("variables", {}),
        hosts=_hosts(tree, (*path, "hosts"), data),
        accept=tuple(_accepted(tree, (*path, "accept"), data.get("accept", []))),
        prefix=data.get("prefix", ""),
        places=places,
        place=tree.keys.get(path, (0, 0)),
    )


def _accepted(tree: Tree, path: Path, items: list[str | None]) -> Iterator[AcceptEntry]:
    for index, item in enumerate(items):
        entry = item and parse_entry(item, tree.values[*path, index])
        if entry:
            yield entry
        elif item:
            tree.refuse(
                tree.values[*path, index], f"`{item}` is nothing to accept", 'Write "rule:NAME" or METHOD /path.'
            )


def read_requirements(data: list[Any]) -> Requirements:
    """Return security requirements, of which one without scopes may be written as the name of its scheme."""
    alternatives: list[tuple[str, ...]] = []
    scopes: dict[str, tuple[str, ...]] = {}
    for item in data:
        if isinstance(item, str):
            alternatives.append((item.strip(),))
        elif isinstance(item, Mapping):  # None was refused
            alternatives.append(tuple(item))
            for name, listed in item.items():
                if listed:
                    scopes.setdefault(name, tuple(scope for scope in listed if scope is not None))
    return Requirements(tuple(alternatives), scopes)


def _hosts(tree: Tree, path: Path, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the origins that the owner's list of hosts accepts."""
    origins: dict[str, None] = {}
    for index, entry in enumerate(data.get("hosts") or ()):
        if entry is None:
            continue  # refused
        try:
            origins |= dict.fromkeys(map(str, origins_of_entry(entry.strip())))
        except ValueError as problem:
            way_out = "Write `uploads.example.com` or `uploads.example.com:8443`, each host on its own."
            tree.refuse(tree.values[*path, index], f"`{entry}` {problem}", way_out)
    return tuple(origins)


def _is_sendable(tree: Tree, path: Path, scheme: Mapping[str, Any]) -> bool:
    """Return True if a scheme does not send what frames or routes a request."""
    if scheme.get("type") != "apiKey" or "name" not in scheme:
        return "type" in scheme
    name = scheme["name"]
    in_header = scheme.get("in") == "header"
    if in_header and not _TOKEN.fullmatch(name):
        tree.refuse(tree.values[*path, "name"], f"`{name}` is not a name of a header", "Write it as in: X-Api-Key.")
        return False
    if is_framing(name) if in_header else overrides_method(name):
        message = f"`{name}` frames or routes requests, and only the adapter sends it"
        tree.refuse(tree.values[*path, "name"], message, "Leave the scheme out.")
        return False
    return "in" in scheme


def _header(tree: Tree, path: Path, name: str, value: Any, headers: Iterable[str]) -> HeaderOverride | None:
    place = tree.keys[path]
    folded = name.strip().lower()
    others = [key for key in headers if key.strip().lower() == folded]
    message, hint = "", "Leave it out."
    if not _TOKEN.fullmatch(name.strip()):
        message, hint = f"`{name}` is not a name of a header", "Write it as in: X-Tenant."
    elif is_framing(name):
        message = f"`{name}` frames or routes requests, and only the adapter sends it"
    elif folded in _OF_REQUESTS:
        message, hint = f"`{name}` differs from request to request", _OF_REQUESTS[folded]
    elif folded == _CREDENTIAL and isinstance(value, str):
        message = f"`{name}` is a credential, which no file of the project may contain"
        hint = f"Write `{name}: {{env: NAME}}` and set the variable, or declare a security scheme."
    elif others[0] != name:
        message, hint = f"`{name}` is here twice", "Keep one of them."
    if message:
        tree.refuse(place, message, hint)
        return None
    if isinstance(value, str):
        return HeaderOverride(name.strip(), value=value.strip(), place=place)
    return HeaderOverride(name.strip(), variable=value["env"], place=place) if "env" in value else None
