"""Files as parameters: one type for all of them, base64 alone or with a name and a content type.

(MCP-AQL specification, 4.7.4.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.ir import Json
from aqlgen.schemas.types import Types

__all__ = ["BASE64", "file_reference", "with_files"]

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


def file_reference(types: Types, described: str = "") -> dict[str, Json]:
    """Give the schema of a parameter that is a file."""
    schema: dict[str, Json] = {"$ref": f"#/types/{types.own(NAME, FILE)}", "contentEncoding": "base64"}
    return {**schema, "description": described} if described else schema


def with_files(schema: dict[str, Json], types: Types) -> dict[str, Json]:
    """Give the schema of a part of a form, as a file or an array of files where it is that."""
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        return {**schema, "items": with_files(schema["items"], types)}
    binary = schema.get("format") == "binary" or ("contentMediaType" in schema and "contentEncoding" not in schema)
    kinds = schema.get("type", "string")
    if not binary or "string" not in (kinds if isinstance(kinds, list) else [kinds]):
        return schema
    reference = file_reference(types, str(schema.get("description", "")))
    if isinstance(kinds, list) and "null" in kinds:
        described = {"description": reference.pop("description")} if "description" in reference else {}
        return {"anyOf": [reference, {"type": "null"}], "contentEncoding": "base64", **described}
    return reference
