"""The operations that paths hold: fixed and additional methods, and keys that only look like one (OpenAPI 3.2, 4.9)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from aqlgen.build.context import Context, entries
from aqlgen.document.positions import escape
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.text import listed

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
KNOWN: Final = {"3.2": (*METHODS, "query")}
"""The methods with a key in a path item, for versions that have more than 3.0."""

OTHER_KEYS: Final = frozenset({"$ref", "summary", "description", "servers", "parameters", "additionalOperations"})
TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}")
"""A method that HTTP allows (RFC 9110, 5.6.2), of a plausible length."""
HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
"""A name of a header that HTTP allows (RFC 9110, 5.1), of a plausible length."""

NEVER: Final = {
    "trace": "TRACE is never served: its answer repeats the request, credentials included",
    "connect": "CONNECT is not served: it opens a tunnel instead of calling an API",
}


@dataclass(frozen=True, slots=True)
class RawOperation:
    """An operation in the document, with its path item; `refusal` is the reason to skip it, if any."""

    path: str
    method: str
    item: dict[str, Json]
    item_pointer: str
    raw: Json
    pointer: str
    refusal: str = ""
    queried: Mapping[str, str] = field(default_factory=dict)
    """The names in braces that stand in a query of the document's path, each with its name in the query."""


COLONS: Final = re.compile(r"(?<=/):([A-Za-z_]\w*)(?=/|$)")
FILLED: Final = re.compile(r"(?P<key>[^={}]+)=\{(?P<name>[^{}]+)\}")
"""A part of a query that a parameter fills."""
FORM: Final = re.compile(r"\{[?&](\w+(?:,\w+)*)\}(?=$|#)")

MAX_PATH: Final = 8_000
"""The maximum length of a path; servers reject request lines beyond about that (RFC 9112, 3)."""


def operations(context: Context) -> Iterator[RawOperation]:
    """Yield every operation in document order, with the reason if it has to be skipped; warn of repairs."""
    seen: dict[tuple[str, str], str] = {}
    taken = {path for path, _ in entries(context.resolver.root.get("paths"))}
    for path, raw_item in entries(context.resolver.root.get("paths")):
        pointer = f"/paths/{escape(path)}"
        try:
            item, where = context.resolver.follow(raw_item, pointer)
        except UnresolvedError as error:
            code = "external-reference" if error.external else "unresolved-reference"
            context.warn(code, f"the path {path!r} cannot be read: {error}", pointer)
            continue
        if not isinstance(item, dict):
            if item is not None:
                context.warn("invalid-component", f"the path {path!r} is not an object", pointer)
            continue
        full, queried = _without_query(_path(context, path, pointer, item))
        if queried:
            message = f"the path {path} has a query: {listed(queried.values())} are read as parameters in query"
            context.warn("bad-parameter", message, pointer)
            full += f"#{','.join(queried.values())}" if full in taken else ""  # a fragment is never sent
            taken.add(full)
        for method, raw, place in _methods(context, item, where):
            refusal = _refusal(context, method, path, further=place.startswith(f"{where}/additionalOperations/"))
            if not refusal and (method, full) in seen:
                refusal = f"it is declared a second time, after {seen[method, full]}"
            seen.setdefault((method, full), f"{method.upper()} {path}")
            yield RawOperation(full, method, item, where, raw, place, refusal, queried)


def _refusal(context: Context, method: str, path: str, *, further: bool) -> str:
    """Return why a method of a path cannot be served, "" if it can; `further` is one of additionalOperations."""
    if not further and method not in _fixed(context):
        return f"OpenAPI {context.openapi} has no such method; 3.2 has additionalOperations for it"
    if not TOKEN.fullmatch(method):
        return "the method is not one that HTTP allows"
    if len(path) > MAX_PATH:
        return f"its path is longer than {MAX_PATH:,} characters, more than servers read"
    return "a path begins with / and names no server" if "://" in path else NEVER.get(method, "")


def _fixed(context: Context) -> tuple[str, ...]:
    return KNOWN.get(context.openapi, METHODS)


def _path(context: Context, path: str, pointer: str, item: dict[str, Json]) -> str:
    """Return a path with a slash at its beginning and its parameters in braces; warn of repairs.

    Web frameworks write `/pets/:id`, which is read as `/pets/{id}` if a path parameter `id` is declared.
    """
    declared = _path_parameters(context, item) if COLONS.search(path) else ()
    braced = COLONS.sub(lambda match: f"{{{match[1]}}}" if match[1] in declared else match[0], path)
    repaired = braced if path.startswith("/") else f"/{braced}"
    if repaired != path:
        context.warn("irregular-path", f"the path {path!r} is read as {repaired!r}", pointer)
        path = repaired
    for name in (name for name, count in Counter(placeholders(path)).items() if count > 1):
        message = f"the path {path} has {{{name}}} more than once; each gets the same value"
        context.warn("bad-parameter", message, pointer)
    return path


def _without_query(path: str) -> tuple[str, dict[str, str]]:
    """Return a path without what parameters fill in its query, and their names there by the names in braces.

    A query is written out, as in `/pets?kind={kind}`, or as a form, `/pets{?kind,age}` (RFC 6570, 3.2.8).
    """
    path, mark, fragment = path.partition("#")
    form = FORM.search(path)
    queried = {name: name for name in form[1].split(",")} if form else {}
    path, _, query = (path[: form.start()] if form else path).partition("?")
    fixed = []
    for pair in query.split("&"):
        filled = FILLED.fullmatch(pair)
        if filled and filled["name"] not in placeholders(path):
            queried[filled["name"]] = filled["key"]
        elif pair:
            fixed.append(pair)
    return path + ("?" + "&".join(fixed) if fixed else "") + mark + fragment, queried


def _path_parameters(context: Context, item: dict[str, Json]) -> set[str]:
    """Return the names of the path parameters that a path item or its operations declare."""
    names = set()
    for holder in (item, *item.values()):
        parameters = holder.get("parameters") if isinstance(holder, dict) else None
        for raw in parameters if isinstance(parameters, list) else ():
            with suppress(UnresolvedError):
                parameter, _ = context.resolver.follow(raw, "")
                if isinstance(parameter, dict) and parameter.get("in") == "path":
                    names |= {str(parameter.get("name"))}
    return names


def _methods(context: Context, item: dict[str, Json], where: str) -> Iterator[tuple[str, Json, str]]:
    """Yield (method in lower case, operation, pointer) for each operation of a path item."""
    for key, raw in entries(item):
        place = f"{where}/{escape(key)}"
        method = key.lower()
        if key in OTHER_KEYS:
            continue
        if raw is None:
            if method in _fixed(context):
                context.warn("invalid-component", f"{key!r} is ignored: nothing stands there", place)
            continue
        if method in _fixed(context) or (isinstance(raw, dict) and ("responses" in raw or "operationId" in raw)):
            yield method, raw, place
        else:
            context.warn("invalid-component", f"{key!r} is ignored: a path has no such part", place)
    more = item.get("additionalOperations")
    if not isinstance(more, dict):
        return
    for key, raw in more.items():
        if raw is not None:
            yield key.lower(), raw, f"{where}/additionalOperations/{escape(key)}"
