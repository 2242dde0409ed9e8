"""Which OpenAPI a document is, and whether it can hold any operation (OpenAPI 3.1.1, 4.8.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.errors import DocumentError
from aqlgen.ir import Json
from aqlgen.read.locate import locate

if TYPE_CHECKING:
    from aqlgen.read.source import Source

Version = Literal["3.0", "3.1"]

_SUPPORTED: Final = re.compile(r"3\.([01])(?:\.\d+(?:[-+].*)?)?")
_RELATIVES: Final = (
    ("asyncapi", "an AsyncAPI document"),
    ("arazzo", "an Arazzo document"),
    ("overlay", "an OpenAPI Overlay"),
    ("swaggerVersion", "a Swagger 1 document"),
    ("raml", "a RAML document"),
    ("smithy", "a Smithy model"),
    ("discoveryVersion", "a Google discovery document"),
    ("item", "a Postman collection"),
    ("$schema", "a JSON Schema"),
)


def check(source: Source) -> Version:
    """Return the minor version of a document that can be served. Raises DocumentError with the place in it."""
    try:
        return _check(source.root)
    except DocumentError as error:
        raise DocumentError(*locate(source, error.diagnostics)) from None


def _check(root: Mapping[str, Json]) -> Version:
    version = _version(root)
    paths = root.get("paths", {})
    if not isinstance(paths, dict):
        raise _refusal("no-paths", "paths is not an object", "/paths")
    if not paths and "paths" not in root and version == "3.1" and ("webhooks" in root or "components" in root):
        message = "the document has webhooks or components only: no operation that could be called"
        raise _refusal("no-operations", message)
    if not paths:
        pointer = "/paths" if "paths" in root else ""
        raise _refusal("no-paths", "the document has no paths, so there is nothing to generate", pointer)
    return version


def remarks(root: Mapping[str, Json]) -> list[Diagnostic]:
    """Remark on what is odd about the way the version is written, though understood."""
    version = root.get("openapi")
    if isinstance(version, float) and _SUPPORTED.fullmatch(str(version)):
        message = f"openapi is the number {version}; read as the text “{version}.0”"
        return [
            Diagnostic(
                "version-not-text",
                Severity.WARNING,
                message,
                pointer="/openapi",
                help=f'Write openapi: "{version}.0".',
            )
        ]
    return []


def _version(root: Mapping[str, Json]) -> Version:
    if "openapi" in root:
        written = root["openapi"]
        match = _SUPPORTED.fullmatch(str(written).strip()) if isinstance(written, (str, float)) else None
        if match is None:
            raise _refusal(
                "unsupported-version",
                f"OpenAPI {_shown(written)} is not supported",
                "/openapi",
                help="aqlgen reads OpenAPI 3.0 and 3.1.",
            )
        return "3.0" if match[1] == "0" else "3.1"
    if "swagger" in root:
        raise _refusal(
            "unsupported-version",
            f"Swagger {_shown(root['swagger'])} is not supported yet",
            "/swagger",
            help="Convert it to OpenAPI 3.0 first, for example with: npx swagger2openapi",
        )
    kind = next((kind for key, kind in _RELATIVES if key in root), None)
    raise _refusal(
        "not-openapi",
        f"this is {kind}, not an OpenAPI document" if kind else "the document has no key openapi",
        help="An OpenAPI document begins with openapi: 3.0.x or 3.1.x.",
    )


def _shown(value: Json) -> str:
    text = str(value) if isinstance(value, (str, int, float)) else type(value).__name__
    return text if len(text) <= 40 else text[:39] + "…"


def _refusal(code: str, message: str, pointer: str = "", *, help: str = "") -> DocumentError:
    return DocumentError(Diagnostic(code, Severity.ERROR, message, pointer=pointer, help=help))
