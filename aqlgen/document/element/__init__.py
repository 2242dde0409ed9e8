"""Adapter elements of the protocol, written by hand: read, checked, and turned into a tree of OpenAPI.

In: the mapping of an element. Out: a tree that every later stage reads as any document's, and the owner's word on each
operation (`Stated`): its name, family and danger, which decide as overrides do. That an element decides is why it is a
file of the owner's, named to `aqlgen from-schema`, and no document that is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, SchemaError
from aqlgen.document.element.auth import foreign_variables, read_scheme, read_variables
from aqlgen.document.element.grammar import Path, finding, form_findings, written
from aqlgen.document.element.operations import (
    agent_names,
    operation_findings,
    operation_node,
    pagination_of,
    read_request,
)
from aqlgen.document.positions import Origins, join
from aqlgen.document.read.identify import is_element
from aqlgen.document.read.limits import MOST_FINDINGS
from aqlgen.ir import Json, Origin
from aqlgen.runtime.table import Pagination
from aqlgen.runtime.text import has_unseen

_SCHEME: Final = "auth"
"""The name of the security scheme of an element."""
_UNUSED: Final = {"rate_limits": "[quota] in adapter.toml", "trust": "`<name>-adapter trust promote`"}
_MILD: Final = (None, "safe", "reversible")


@dataclass(frozen=True, slots=True)
class Word:
    """The owner's word on one operation.

    `written` is its path in the element, such as `operations.read[0]`; `parameters` are the names that agents use, by
    the API's name behind its place: `query:page`.
    """

    written: str
    name: str
    category: str
    danger: str | None
    parameters: Mapping[str, str]
    pagination: Pagination | None


@dataclass(frozen=True, slots=True)
class Stated:
    """The owner's word on the whole adapter: its name, its operations by `METHOD /path`, the variables of schemes."""

    file: str
    name: str
    operations: Mapping[str, Word]
    variables: Mapping[str, str | Mapping[str, str]]


def convert(
    root: Mapping[str, Json], file: str, origins: Origins
) -> tuple[dict[str, Json], Stated, tuple[Diagnostic, ...]]:
    """Return the tree, the owner's word, and the warnings, which point into the element.

    Raises SchemaError with the errors and their pointers: those of the form, else those between its parts.
    """
    if not is_element(root):
        raise _no_element(root)
    errors = [*islice(form_findings(root), MOST_FINDINGS)] or [*islice(_errors(root), MOST_FINDINGS)]
    if errors:
        raise SchemaError(*errors)
    element: Mapping[str, Any] = root
    auth = element.get("auth", {"type": "none"})
    scheme = read_scheme(auth)
    schemes = {} if scheme is None else {_SCHEME: scheme}
    variables = read_variables(auth, element["name"])
    paths: dict[str, Json] = {}
    words: dict[str, Word] = {}
    for family, operation, path in _operations(element):
        request = read_request(operation)
        method, place = request.method.lower(), request.path
        if method in paths.get(place, ()):  # a fragment, which is not sent, tells operations of one request apart
            place = f"{place}#{operation['name']}"
        item = paths.setdefault(place, {})
        is_form = element["target"]["serialization"] == "form"
        item[method] = operation_node(operation, request, path, origins, is_form=is_form)
        origins.note(item, method, Origin(join(map(str, path))))
        danger = operation.get("danger_level")
        words[f"{request.method} {place}"] = Word(
            written=written(path),
            name=operation["name"],
            category=family.upper(),
            danger="destructive" if operation.get("requires_confirmation") and danger in _MILD else danger,
            parameters=agent_names(operation, request, family),
            pagination=pagination_of(operation),
        )
    name = element["name"]
    tree: dict[str, Json] = {
        "openapi": "3.1.1",
        "info": {"title": _title(name), "version": element["version"], "description": element["description"]},
        "servers": [{"url": element["target"]["base_url"].rstrip("/")}],
        "security": [{_SCHEME: []}] if schemes else [],
        "paths": paths,
        "components": {"securitySchemes": schemes},
    }
    stated = Stated(file, name, words, {_SCHEME: variables} if variables else {})
    return tree, stated, tuple(_warnings(element, auth))


def _no_element(root: Mapping[str, Json]) -> DocumentError:
    if "openapi" in root or "swagger" in root:
        what, help_text = "an OpenAPI document, not an adapter element", "Generate it with `aqlgen from-openapi`."
    else:
        what, help_text = "not an adapter element", "An element begins with `type: adapter`."
    return SchemaError.of("not-an-element", f"this is {what}", help=help_text)


def _operations(element: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    """Yield the operations, each with its family and its path in the element."""
    for family, operations in element["operations"].items():
        for index, operation in enumerate(operations):
            yield family, operation, ("operations", family, index)


def _errors(element: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an element whose form is right."""
    base_url, here = element["target"]["base_url"], ("target", "base_url")
    if not _is_base_url(base_url):
        expected = "the address of a server, without user name, query, fragment and hidden characters"
        yield finding("schema-invalid-value", here, f"{written(here)} must be {expected}", expected, "another address")
    if isinstance(problem := read_scheme(element.get("auth", {"type": "none"})), Diagnostic):
        yield problem
    places: dict[str, Path] = {}
    for family, operation, path in _operations(element):
        name = operation["name"]
        if name in places:
            message = f"the operation {name} in {family} is defined already, at {written(places[name])}.name"
            yield finding("schema-duplicate-name", (*path, "name"), message, "a unique name", name)
        places.setdefault(name, path)
        yield from operation_findings(operation, family, path)
    if not places:
        message = "the element has no operation that can be served"
        yield Diagnostic("no-operations", Severity.ERROR, message, help="Write one, with its request.")


def _is_base_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError for what is not a port
    except ValueError:
        return False
    more = parts.query or parts.fragment or parts.username is not None or set(url) & set(" {\\\n\t")
    return bool(parts.hostname) and not more and not has_unseen(url)


def _warnings(element: Mapping[str, Any], auth: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what an element says without effect, and addresses without encryption."""
    for key, where in _UNUSED.items():
        if key in element:
            message, hint = f"{key} is not carried over", f"The adapter has it from {where}."
            yield finding("schema-not-used", (key,), message, help=hint, severity=Severity.WARNING)
    yield from foreign_variables(auth, element["name"])
    urls = {("auth", key): url for key, url in auth.items() if key.endswith("_url")}
    for path, url in {("target", "base_url"): element["target"]["base_url"], **urls}.items():
        host = urlsplit(url).hostname or ""
        if url.startswith("http:") and host not in ("localhost", "::1") and not host.startswith("127."):
            hint = "Write https://, unless the API is on this machine or for development."
            yield finding(
                "schema-not-used", path, f"{written(path)} is not encrypted", help=hint, severity=Severity.WARNING
            )


def _title(name: str) -> str:
    """Return a title for an adapter that has only a name."""
    words = re.sub(r"[-_]?adapter$", "", name).split("-")
    return " ".join(word.capitalize() for word in words if word) or "API"
