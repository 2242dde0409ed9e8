"""Which OpenAPI version a document has, or which other kind of file it is and what its owner can use instead.

A document must also be able to hold an operation (OpenAPI 3.1.1, 4.8.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple, NoReturn

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import join
from aqlgen.ir import Json

READABLE: Final = "aqlgen reads Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2."


class OtherFormat(NamedTuple):
    """A format with its article (`a HAR file`), and advice on how to get an OpenAPI document instead."""

    name: str
    advice: str


_CONVERT: Final = "Convert it to OpenAPI first."
_BY_KEY: Final = {
    "asyncapi": OtherFormat("an AsyncAPI document", "Give the API's OpenAPI document, if it has one."),
    "arazzo": OtherFormat(
        "an Arazzo document", "Give the document that its sourceDescriptions name, and this with --workflows."
    ),
    "overlay": OtherFormat("an OpenAPI Overlay", "Give the document that it changes, and this with --overlay."),
    "swaggerVersion": OtherFormat("a Swagger 1 document", _CONVERT),
    "item": OtherFormat("a Postman collection", _CONVERT),
    "$schema": OtherFormat("a JSON Schema", "Give the OpenAPI document that uses it."),
}
_COMMENTS: Final = r"(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+"


def is_element(root: Mapping[str, Json]) -> bool:
    """Return True if an object is meant as an adapter element of the protocol."""
    if "openapi" in root or "swagger" in root:
        return False
    return root.get("type") == "adapter" or {"target", "operations"} <= root.keys()


_ELEMENT: Final = OtherFormat(
    "an adapter element",
    "`aqlgen from-schema FILE` generates a project from it: it decides as your overrides do, so it is a file of yours.",
)


def format_of_object(root: Mapping[str, Json]) -> OtherFormat | None:
    """Return the format of an object that is not OpenAPI, judged by its keys; None if they do not tell."""
    if is_element(root):
        return _ELEMENT
    keys = (key for key in _BY_KEY if key in root and (key != "item" or isinstance(root[key], list)))
    return next(map(_BY_KEY.get, keys), None)


_MAGIC: Final = ((b"%PDF-", "a PDF"), (b"PK\x03\x04", "a zip archive"), (b"\x1f\x8b", "a gzip file"))
_UTF16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
_HTML: Final = re.compile(
    rf"\s*+(?:<\?xml[^>]*+>\s*+)?+{_COMMENTS}<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE
)
_MARKUP: Final = re.compile(r"\s*<[?!A-Za-z]")


def refuse_binary(name: str, data: bytes) -> None:
    """Raise DocumentError for binary data, with its format if the first bytes tell it."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            _refuse(name, kind, help="" if kind == "a PDF" else "Unpack it and name the document inside.")
    if not data.startswith(_UTF16_BOMS) and b"\x00" in data[:4096]:
        _refuse(name, "binary data", help=f"Byte {data.index(0)} is zero: if it is text, save it as UTF-8.")


def refuse_markup(name: str, text: str) -> None:
    """Raise DocumentError for HTML, XML and other languages, which servers send and people confuse with OpenAPI."""
    head = text[:4096]
    if _HTML.match(head):
        _refuse(
            name,
            "an HTML page",
            help="Give the address of the document itself, often /openapi.json or the raw file of a repository.",
        )
    if _MARKUP.match(head):
        _refuse(name, "an XML document", help=READABLE)


def _refuse(name: str, kind: str, *, help: str = "") -> NoReturn:
    raise DocumentError.of("not-text", f"this is {kind}, not an OpenAPI document", file=name, help=help)


Version = Literal["3.0", "3.1", "3.2"]

_SUPPORTED: Final = re.compile(r"3\.([012])(?:\.\d+)?(?:[-+].*)?")
_SWAGGER: Final = re.compile(r"2(?:\.0){0,2}(?:[-+].*)?")
_MINORS: Final[Mapping[str, Version]] = {"0": "3.0", "1": "3.1", "2": "3.2"}


def check(root: Mapping[str, Json]) -> Version:
    """Return the minor version of a document that can be served. Raises DocumentError with pointers into it."""
    version = _version(root)
    paths = root.get("paths", {})
    if not isinstance(paths, dict):
        raise DocumentError.of("no-paths", "paths is not an object", pointer="/paths")
    if not paths and "paths" not in root and version != "3.0" and ("webhooks" in root or "components" in root):
        message = "the document has webhooks or components only: no operation that could be called"
        raise DocumentError.of("no-operations", message)
    if not paths:
        near = get_close_matches("paths", root, n=1)
        help_text = f"`{near[0]}` should be `paths`." if near and "paths" not in root else ""
        raise DocumentError.of("no-paths", "the document has no paths", pointer=join(near), help=help_text)
    return version


def is_swagger(root: Mapping[str, Json]) -> bool:
    """Return True if a document is Swagger 2.0, its version written as text or as a number."""
    return "openapi" not in root and _match_version(root.get("swagger"), _SWAGGER) is not None


def version_remarks(root: Mapping[str, Json]) -> list[Diagnostic]:
    """Return a warning if the version is written as a number; it is still understood."""
    for key, pattern, full in (("openapi", _SUPPORTED, ".0"), ("swagger", _SWAGGER, "")):
        version = root.get(key)
        if isinstance(version, (int, float)) and _match_version(version, pattern):
            text = f"{float(version)}{full}"
            message = f"{key} is the number {version}; read as the text “{text}”"
            fix = f'Write {key}: "{text}".'
            return [Diagnostic("version-not-text", Severity.WARNING, message, pointer=f"/{key}", help=fix)]
    return []


def _version(root: Mapping[str, Json]) -> Version:
    for key, kind in (("openapi", "OpenAPI"), ("swagger", "Swagger")):
        if key not in root:
            continue
        match = _match_version(root[key], _SUPPORTED) if key == "openapi" else None
        if match is not None:
            return _MINORS[match[1]]
        message = f"{kind} {str(root[key])[:40]} is not supported"
        raise DocumentError.of("unsupported-version", message, pointer=f"/{key}", help=READABLE)
    other = format_of_object(root)
    if other is None:
        advice = f"An OpenAPI document begins with its version. {READABLE}"
        raise DocumentError.of("not-openapi", "the document has no key openapi or swagger", help=advice)
    raise DocumentError.of("not-openapi", f"this is {other.name}, not an OpenAPI document", help=other.advice)


def _match_version(version: Json, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Match a version, which may be a number and have white space around it; True is not a number here."""
    if isinstance(version, bool) or not isinstance(version, (str, int, float)):
        return None
    return pattern.fullmatch(str(version).strip())
