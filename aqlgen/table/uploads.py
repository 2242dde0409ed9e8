"""Files as parameters: one type for all of them, base64 alone or with a name and a content type.

(MCP-AQL specification, 4.7.4.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json
from aqlgen.schemas import Types

__all__ = ["FILE_MARKS", "file_reference", "is_bytes", "is_file", "with_files"]

BASE64: Final[Mapping[str, Json]] = {"type": "string", "format": "byte", "contentEncoding": "base64"}
"""How an agent gives bytes (MCP-AQL specification, 4.7.4)."""

NAME: Final = "FileInput"
FILE: Final[Mapping[str, Json]] = {
    "description": "A file: its bytes as a text in base64, or an object with `content` (base64) or `path`.",
    "type": ["string", "object"],
    "format": "byte",
    "contentEncoding": "base64",
    "properties": {
        "content": {**BASE64, "description": "The bytes in base64."},
        "path": {"type": "string", "description": "Instead: a file in the folder that the adapter's owner allows."},
        "filename": {"type": "string", "description": "Its name, with the ending."},
        "mime_type": {"type": "string", "description": "Its content type, such as image/png."},
    },
    "additionalProperties": False,
}


BYTES: Final = re.compile(r"(?:image|audio|video|font)/(?!svg)|application/(?:octet-stream|pdf|zip|gzip|x-tar)\b")
"""Content types that are always bytes."""
DESCRIBING: Final = frozenset({"title", "description", "contentMediaType", "deprecated", "xml", "externalDocs"})
TEXTUAL: Final = frozenset({"format", "enum", "const", "pattern"})
"""Keywords that make a string a text."""


def file_reference(types: Types, described: str = "") -> dict[str, Json]:
    """Return the schema of a parameter that is a file."""
    schema: dict[str, Json] = {"$ref": f"#/types/{types.own(NAME, FILE)}", "contentEncoding": "base64"}
    return {**schema, "description": described} if described else schema


FILE_MARKS: Final = frozenset({"contentEncoding", "x-file"})
"""Keywords that tell the runtime that a field is a file: any value of it, or an object."""


def is_file(schema: Mapping[str, Json]) -> bool:
    """Return True if a field's schema, in the adapter's form, is that of a file."""
    return "x-file" in schema or (schema.get("contentEncoding") == "base64" and "type" not in schema)


def is_bytes(raw: Json, types: Types) -> bool:
    """Return True if a schema of the document is that of raw bytes, or of an array of these."""
    try:
        schema, _ = types.follow(raw)
    except UnresolvedError:
        return False
    if not isinstance(schema, Mapping):
        return False
    return schema.get("format") == "binary" or ("items" in schema and is_bytes(schema["items"], types))


def with_files(schema: dict[str, Json], raw: Json, rules: Json, types: Types) -> dict[str, Json]:
    """Return the schema of a field of a multipart form; one that holds files becomes a file or an array of files.

    `raw` is the field's schema as the document has it, `rules` its Encoding Object. A schema without a type is one of
    bytes since OpenAPI 3.1 (3.1.1, 4.8.15.1.1), and before where the content type is one of bytes.
    """
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        inner = raw.get("items") if isinstance(raw, Mapping) else None
        return {**schema, "items": with_files(schema["items"], inner, rules, types)}
    if isinstance(schema.get("anyOf"), list):
        return _either(schema, types)
    kinds = schema.get("type", "string")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "string" not in kinds or "contentEncoding" in schema or not _means_file(schema, raw, rules, types):
        return schema
    reference = file_reference(types, str(schema.get("description", "")))
    if "type" in schema and "null" in kinds:
        described = {"description": reference.pop("description")} if "description" in reference else {}
        return {"anyOf": [reference, {"type": "null"}], "contentEncoding": "base64", **described}
    return reference


def _either(schema: dict[str, Json], types: Types) -> dict[str, Json]:
    """Return the schema of a field that may be a file or a text, such as the address of a file."""
    files = [branch for branch in schema["anyOf"] if isinstance(branch, dict) and branch.get("format") == "binary"]
    others = [branch for branch in schema["anyOf"] if branch not in files]
    if not files:
        return schema
    texts = [branch for branch in others if branch != {"type": "null"}]
    mark = {"x-file": "object"} if texts else {"contentEncoding": "base64"}
    return {**schema, "anyOf": [file_reference(types), *others], **mark}


def _means_file(schema: Mapping[str, Json], raw: Json, rules: Json, types: Types) -> bool:
    if schema.get("format") == "binary" or "contentMediaType" in schema:
        return True
    stated_type = rules.get("contentType") if isinstance(rules, Mapping) else None
    untyped = isinstance(raw, Mapping) and DESCRIBING.issuperset(raw)
    if untyped and stated_type is None:
        return types.openapi != "3.0"
    of_bytes = isinstance(stated_type, str) and BYTES.match(stated_type.strip().lower()) is not None
    return of_bytes and (untyped or ("type" in schema and TEXTUAL.isdisjoint(schema)))
