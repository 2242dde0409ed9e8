"""Which OpenAPI a document is, and whether it can hold any operation (OpenAPI 3.1.1, 4.8.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read.kinds import READABLE, of_object
from aqlgen.ir import Json

Version = Literal["3.0", "3.1", "3.2"]

_SUPPORTED: Final = re.compile(r"3\.([012])(?:\.\d+)?(?:[-+].*)?")
_SWAGGER: Final = re.compile(r"2(?:\.0){0,2}(?:[-+].*)?")
_MINORS: Final[Mapping[str, Version]] = {"0": "3.0", "1": "3.1", "2": "3.2"}


def check(root: Mapping[str, Json]) -> Version:
    """Return the minor version of a document that can be served. Raises DocumentError with pointers into it."""
    version = _version(root)
    paths = root.get("paths", {})
    if not isinstance(paths, dict):
        raise _refusal("no-paths", "paths is not an object", "/paths")
    if not paths and "paths" not in root and version != "3.0" and ("webhooks" in root or "components" in root):
        message = "the document has webhooks or components only: no operation that could be called"
        raise _refusal("no-operations", message)
    if not paths:
        pointer = "/paths" if "paths" in root else ""
        raise _refusal("no-paths", "the document has no paths, so there is nothing to generate", pointer)
    return version


def is_swagger(root: Mapping[str, Json]) -> bool:
    """Whether a document is Swagger 2.0, its version written as text or as a number."""
    return "openapi" not in root and _written(root.get("swagger"), _SWAGGER) is not None


def remarks(root: Mapping[str, Json]) -> list[Diagnostic]:
    """Remark on what is odd about the way the version is written, though understood."""
    for key, pattern, full in (("openapi", _SUPPORTED, ".0"), ("swagger", _SWAGGER, "")):
        version = root.get(key)
        if isinstance(version, (int, float)) and _written(version, pattern):
            text = f"{float(version)}{full}"
            message = f"{key} is the number {version}; read as the text “{text}”"
            fix = f'Write {key}: "{text}".'
            return [Diagnostic("version-not-text", Severity.WARNING, message, pointer=f"/{key}", help=fix)]
    return []


def _version(root: Mapping[str, Json]) -> Version:
    for key, kind in (("openapi", "OpenAPI"), ("swagger", "Swagger")):
        if key not in root:
            continue
        match = _written(root[key], _SUPPORTED) if key == "openapi" else None
        if match is not None:
            return _MINORS[match[1]]
        message = f"{kind} {_shown(root[key])} is not supported"
        raise _refusal("unsupported-version", message, f"/{key}", help=READABLE)
    other = of_object(root)
    if other is None:
        way = f"An OpenAPI document begins with its version. {READABLE}"
        raise _refusal("not-openapi", "the document has no key openapi or swagger", help=way)
    raise _refusal("not-openapi", f"this is {other.name}, not an OpenAPI document", help=other.way)


def _written(version: Json, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Match a version, white space around it and numbers included; True is no number here."""
    if isinstance(version, bool) or not isinstance(version, (str, int, float)):
        return None
    return pattern.fullmatch(str(version).strip())


def _shown(value: Json) -> str:
    text = str(value) if isinstance(value, (str, int, float)) else type(value).__name__
    return text if len(text) <= 40 else text[:39] + "…"


def _refusal(code: str, message: str, pointer: str = "", *, help: str = "") -> DocumentError:
    return DocumentError(Diagnostic(code, Severity.ERROR, message, pointer=pointer, help=help))
