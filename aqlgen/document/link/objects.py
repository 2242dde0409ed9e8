"""The objects of an OpenAPI document that can hold references (OpenAPI 3.1.1, 4.8; Swagger 2.0).

Everything that no row names is data: extensions, examples, defaults, enumerations. A `$ref` in there is only text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aqlgen.ir import Json


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A type of object: the types of its fields, of its other entries, and of its items if it is a list.

    With `extensions`, entries that begin with `x-` are data.
    """

    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    entries: str = ""
    items: str = ""
    extensions: bool = False
    texts: bool = True


def _schema() -> ObjectType:
    schemas = (
        "additionalItems additionalProperties contains contentSchema else if items not propertyNames then"
    ).split()
    schemas += ["unevaluatedItems", "unevaluatedProperties"]
    maps = "$defs definitions dependencies dependentSchemas patternProperties properties".split()
    lists = "allOf anyOf oneOf prefixItems".split()
    fields = dict.fromkeys(schemas, "schema") | dict.fromkeys(maps, "{schema}") | dict.fromkeys(lists, "[schema]")
    return ObjectType("schema", fields, items="schema")


_CONTENT: Final = {"schema": "schema", "content": "{mediaType}", "examples": "{example}"}
_LOOSE: Final = dict.fromkeys(("info", "tags", "servers", "externalDocs"), "loose")

_ROWS: Final = (
    ObjectType(
        "openapi", {**_LOOSE, "paths": "paths", "webhooks": "{pathItem}", "components": "components"}, extensions=True
    ),
    ObjectType(
        "swagger",
        {
            **_LOOSE,
            "paths": "paths",
            "definitions": "{schema}",
            "parameters": "{parameter}",
            "responses": "{response}",
            "securityDefinitions": "{securityScheme}",
        },
        extensions=True,
    ),
    ObjectType(
        "components",
        {
            "schemas": "{schema}",
            "responses": "{response}",
            "parameters": "{parameter}",
            "examples": "{example}",
            "requestBodies": "{requestBody}",
            "headers": "{header}",
            "securitySchemes": "{securityScheme}",
            "links": "{link}",
            "callbacks": "{callback}",
            "pathItems": "{pathItem}",
            "mediaTypes": "{mediaType}",
        },
    ),
    ObjectType("paths", entries="pathItem", extensions=True, texts=False),
    ObjectType(
        "pathItem",
        {"parameters": "[parameter]", "servers": "loose", "additionalOperations": "{operation}"},
        entries="operation",
        extensions=True,
    ),
    ObjectType(
        "operation",
        {
            "parameters": "[parameter]",
            "requestBody": "requestBody",
            "responses": "responses",
            "callbacks": "{callback}",
            "tags": "loose",
            "servers": "loose",
            "externalDocs": "loose",
        },
    ),
    ObjectType("parameter", {**_CONTENT, "items": "schema"}),
    ObjectType("header", {**_CONTENT, "items": "schema"}),
    ObjectType("requestBody", {"content": "{mediaType}"}),
    ObjectType("responses", entries="response", extensions=True, texts=False),
    ObjectType("response", {"headers": "{header}", "content": "{mediaType}", "links": "{link}", "schema": "schema"}),
    ObjectType(
        "mediaType",
        {
            "schema": "schema",
            "itemSchema": "schema",
            "examples": "{example}",
            "encoding": "{encoding}",
            "prefixEncoding": "[encoding]",
            "itemEncoding": "encoding",
        },
    ),
    ObjectType("encoding", {"headers": "{header}", "encoding": "{encoding}"}),
    ObjectType("callback", entries="pathItem", extensions=True, texts=False),
    ObjectType("example"),
    ObjectType("link", {"server": "loose"}),
    ObjectType("securityScheme"),
    ObjectType("loose", entries="loose", items="loose", extensions=True),
    _schema(),
)

OBJECT_TYPES: Final[Mapping[str, ObjectType]] = {
    **{kind.name: kind for kind in _ROWS},
    **{f"[{kind.name}]": ObjectType(f"[{kind.name}]", items=kind.name) for kind in _ROWS},
    **{f"{{{kind.name}}}": ObjectType(f"{{{kind.name}}}", entries=kind.name, texts=False) for kind in _ROWS},
}
"""Every object type by name; `[…]` is a list and `{…}` a map of them."""

_SECTIONS_3: Final = {
    "schema": "schemas",
    "response": "responses",
    "parameter": "parameters",
    "example": "examples",
    "requestBody": "requestBodies",
    "header": "headers",
    "securityScheme": "securitySchemes",
    "link": "links",
    "callback": "callbacks",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of reusable components in a version of the specification: sections by object type, below `holder`."""

    top: ObjectType
    holder: tuple[str, ...]
    sections: Mapping[str, str]

    def type_at(self, keys: list[str]) -> ObjectType | None:
        """Return the type of the object at a pointer into the document; None for data."""
        kind = self.top
        for key in keys:
            name = kind.fields.get(key) or kind.entries or (kind.items if key.isdecimal() else "")
            if not name or (kind.extensions and key.startswith("x-")):
                return None
            kind = OBJECT_TYPES[name]
        return kind

    def entry_of(self, keys: list[str]) -> tuple[str, str] | None:
        """Return section and name of the component that a pointer leads into, or None."""
        depth = len(self.holder)
        if len(keys) < depth + 2 or tuple(keys[:depth]) != self.holder or keys[depth] not in self.sections.values():
            return None
        return keys[depth], keys[depth + 1]


_OPENAPI: Final = Layout(OBJECT_TYPES["openapi"], ("components",), _SECTIONS_3)
_OPENAPI_3_2: Final = Layout(OBJECT_TYPES["openapi"], ("components",), {**_SECTIONS_3, "mediaType": "mediaTypes"})
_SWAGGER: Final = Layout(
    OBJECT_TYPES["swagger"],
    (),
    {
        "schema": "definitions",
        "response": "responses",
        "parameter": "parameters",
        "securityScheme": "securityDefinitions",
    },
)


def layout_of(root: Mapping[str, Json]) -> Layout:
    """Return the layout for the version that a document declares."""
    if "openapi" not in root and "swagger" in root:
        return _SWAGGER
    return _OPENAPI_3_2 if str(root.get("openapi")).strip().startswith("3.2") else _OPENAPI


DATA: Final = frozenset({"example", "examples", "default", "enum", "const"})
"""Keys of schemas whose values are data."""
