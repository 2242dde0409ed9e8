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
from aqlgen.words import RESERVED_VARIABLES

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
    scheme = _read_scheme(auth)
    schemes = {} if scheme is None else {_SCHEME: scheme}
    variables = _read_variables(auth, element["name"])
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
    """Yield the errors of an element whose form is right."""
    expected = "the address of a server, without user name, query, fragment and hidden characters"
    for here, url in _addresses(element):
        if not _is_address(url, has_query=here[0] == "auth"):
            yield finding(
                "schema-invalid-value", here, f"{written(here)} must be {expected}", expected, "another address"
            )
    if isinstance(problem := _read_scheme(element.get("auth", {"type": "none"})), Diagnostic):
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


def _addresses(element: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the address of the API and those of the authorization server, each with its path in the element."""
    yield ("target", "base_url"), element["target"]["base_url"]
    yield from ((("auth", key), url) for key, url in element.get("auth", {}).items() if key.endswith("_url"))


def _is_address(url: str, *, has_query: bool) -> bool:
    """Return True for the address of a server; that of an authorization server may have a query."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError for what is not a port
    except ValueError:
        return False
    more = parts.fragment or parts.username is not None or set(url) & set(" {\\\n\t")
    return bool(parts.hostname) and not more and not has_unseen(url) and (has_query or not parts.query)


def _warnings(element: Mapping[str, Any], auth: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield the warnings of keys without effect, and of addresses without encryption."""
    for key, where in _UNUSED.items():
        if key in element:
            message, hint = f"{key} is not carried over", f"The adapter has it from {where}."
            yield finding("schema-not-used", (key,), message, help=hint, severity=Severity.WARNING)
    yield from _foreign_variables(auth, element["name"])
    for path, url in _addresses(element):
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


# Authentication, as a security scheme (element type, 6): the element names the variable of a credential, not its value

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_NAMED: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,30} [a-z_]{1,20}=\"?")
"""The text before a key that is a field of the header: `Token token=`."""
_ROLES: Final = {
    "api_key": ("key",),
    "bearer": ("token",),
    "basic": ("username", "password"),
    "oauth2": ("token",),
}
"""The roles of the variables of each kind, which the element names as `key_env` and so on."""


def _read_scheme(auth: Mapping[str, Any]) -> dict[str, Json] | Diagnostic | None:
    """Return the scheme that `auth` describes, the error if it cannot be sent, None for no authentication."""
    match auth["type"]:
        case "none":
            return None
        case "basic":
            return {"type": "http", "scheme": "basic"}
        case "oauth2":
            if "discovery_url" in auth:
                return {"type": "openIdConnect", "openIdConnectUrl": auth["discovery_url"]}
            flow = {"tokenUrl": auth.get("token_url", ""), "scopes": dict.fromkeys(auth.get("scopes", ()), "")}
            flows: dict[str, Json] = {"clientCredentials": flow} if "token_url" in auth else {}
            if "authorization_url" in auth:
                flows = {"authorizationCode": {"authorizationUrl": auth["authorization_url"], **flow}}
            return {"type": "oauth2", "flows": flows}
        case kind:
            return _key(auth, is_bearer=kind == "bearer")


def _key(auth: Mapping[str, Any], *, is_bearer: bool) -> dict[str, Json] | Diagnostic:
    """Return the scheme of a key or a bearer token."""
    place = auth.get("in", "header")
    key = next((key for key in ("header", "header_name", "name") if key in auth), "")
    name = str(auth[key] if key else "Authorization" if is_bearer else "")
    if not name:
        message = "the required field auth.header_name is missing"
        hint = "Write the header of the key: `header_name: X-API-Key`."
        return finding("schema-missing-field", ("auth", "header_name"), message, "string", "nothing", hint)
    if place == "header" and not _TOKEN.fullmatch(name):
        message = f"auth.{key} must be the name of a header"
        return finding(
            "schema-invalid-name", ("auth", key), message, "the name of a header", name[:80], "Write X-API-Key."
        )
    is_standard = name.lower() == "authorization" and place == "header"
    prefix = str(auth.get("prefix", "Bearer" if is_bearer and is_standard else "")).strip()
    return _prefixed({"type": "apiKey", "in": place, "name": name}, prefix, is_standard=is_standard)


def _prefixed(scheme: dict[str, Json], prefix: str, *, is_standard: bool) -> dict[str, Json] | Diagnostic:
    """Return the scheme of a key with a word before it, which only the header Authorization takes."""
    if not prefix:
        return scheme
    if is_standard and _TOKEN.fullmatch(prefix):
        return {"type": "http", "scheme": "bearer" if prefix.lower() == "bearer" else prefix}
    if is_standard and _NAMED.fullmatch(prefix):
        end = '"' if prefix.endswith('"') else ""
        return {**scheme, "description": f"Authorization: {prefix}<key>{end}"}  # by which the key's format is read
    expected = "left out, or one word before the key in the header Authorization"
    hint = "Put it into the variable, in front of the key, or set the header in hooks.py."
    return finding(
        "schema-invalid-value", ("auth", "prefix"), f"auth.prefix must be {expected}", expected, prefix[:80], hint
    )


def _read_variables(auth: Mapping[str, Any], adapter: str) -> str | dict[str, str]:
    """Return the variables of the adapter that hold the credential: one, or those of several by their roles.

    An element may come from others: it must not send what the environment holds for something else to its own API.
    """
    prefix = _prefix(adapter)
    stated = {role: str(auth.get(f"{role}_env", "")) for role in _ROLES.get(auth["type"], ())}
    named = {role: variable for role, variable in stated.items() if variable.startswith(prefix)}
    return next(iter(named.values()), "") if auth["type"] in ("api_key", "bearer") else named


def _foreign_variables(auth: Mapping[str, Any], adapter: str) -> Iterator[Diagnostic]:
    """Yield a warning for each variable that is not of the adapter."""
    prefix = _prefix(adapter)
    for key, variable in auth.items():
        if key.endswith("_env") and not variable.startswith(prefix):
            message = f"auth.{key} names {variable}, which is not of this adapter ({prefix}…), and is not carried over"
            hint = "Name it in overrides.yaml, if the credential in it is for this API: adapter: {variables: …}."
            yield finding("schema-not-used", ("auth", key), message, help=hint, severity=Severity.WARNING)


def _prefix(adapter: str) -> str:
    prefix = f"{adapter.removesuffix('-adapter').replace('-', '_').upper()}_"
    return f"API_{prefix}" if prefix.startswith(RESERVED_VARIABLES) else prefix
