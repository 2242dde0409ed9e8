"""The objects of an OpenAPI document that can hold references (OpenAPI 3.1.1, 4.8; Swagger 2.0).

Everything that no row names is data: extensions, examples, defaults, enumerations. A `$ref` in there is only text,
except for an example that consists of nothing but a reference to another file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aqlgen.ir import Json


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: the kinds of its fields, of its other entries, and of its items where it is a list.

    With `extensions`, entries that begin with `x-` are data.
    """

    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    entries: str = ""
    items: str = ""
    extensions: bool = False
    texts: bool = True
    data: frozenset[str] = frozenset()
    """Fields that hold data, which may stand in another file."""


def _schema() -> Kind:
    one = ("additionalItems additionalProperties contains contentSchema else if items not propertyNames then").split()
    one += ["unevaluatedItems", "unevaluatedProperties"]
    maps = "$defs definitions dependencies dependentSchemas patternProperties properties".split()
    lists = "allOf anyOf oneOf prefixItems".split()
    fields = dict.fromkeys(one, "schema") | dict.fromkeys(maps, "{schema}") | dict.fromkeys(lists, "[schema]")
    return Kind("schema", fields, items="schema")


_CONTENT: Final = {"schema": "schema", "content": "{mediaType}", "examples": "{example}"}
_EXAMPLE: Final = frozenset({"example", "value", "dataValue"})
_LOOSE: Final = dict.fromkeys(("info", "tags", "servers", "externalDocs"), "loose")

_ROWS: Final = (
    Kind(
        "openapi", {**_LOOSE, "paths": "paths", "webhooks": "{pathItem}", "components": "components"}, extensions=True
    ),
    Kind(
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
    Kind(
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
    Kind("paths", entries="pathItem", extensions=True, texts=False),
    Kind(
        "pathItem",
        {"parameters": "[parameter]", "servers": "loose", "additionalOperations": "{operation}"},
        entries="operation",
        extensions=True,
    ),
    Kind(
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
    Kind("parameter", {**_CONTENT, "items": "schema"}, data=_EXAMPLE),
    Kind("header", {**_CONTENT, "items": "schema"}, data=_EXAMPLE),
    Kind("requestBody", {"content": "{mediaType}"}),
    Kind("responses", entries="response", extensions=True, texts=False),
    Kind("response", {"headers": "{header}", "content": "{mediaType}", "links": "{link}", "schema": "schema"}),
    Kind(
        "mediaType",
        {
            "schema": "schema",
            "itemSchema": "schema",
            "examples": "{example}",
            "encoding": "{encoding}",
            "prefixEncoding": "[encoding]",
            "itemEncoding": "encoding",
        },
        data=_EXAMPLE,
    ),
    Kind("encoding", {"headers": "{header}", "encoding": "{encoding}"}),
    Kind("callback", entries="pathItem", extensions=True, texts=False),
    Kind("example", data=_EXAMPLE),
    Kind("link", {"server": "loose"}),
    Kind("securityScheme"),
    Kind("loose", entries="loose", items="loose", extensions=True),
    _schema(),
)

KINDS: Final[Mapping[str, Kind]] = {
    **{kind.name: kind for kind in _ROWS},
    **{f"[{kind.name}]": Kind(f"[{kind.name}]", items=kind.name) for kind in _ROWS},
    **{f"{{{kind.name}}}": Kind(f"{{{kind.name}}}", entries=kind.name, texts=False) for kind in _ROWS},
}
"""Every kind by its name; `[…]` is a list and `{…}` a map of them."""

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
    """Where a version of the specification keeps what references may name: sections by kind, all below `holder`."""

    top: Kind
    holder: tuple[str, ...]
    sections: Mapping[str, str]

    def kind_at(self, parts: list[str]) -> Kind | None:
        """Give the kind of what stands at a pointer into the document; None for data."""
        kind = self.top
        for part in parts:
            name = kind.fields.get(part) or kind.entries or (kind.items if part.isdecimal() else "")
            if not name or (kind.extensions and part.startswith("x-")):
                return None
            kind = KINDS[name]
        return kind

    def entry_of(self, parts: list[str]) -> tuple[str, str] | None:
        """Give section and name of the component that a pointer leads into."""
        depth = len(self.holder)
        if len(parts) < depth + 2 or tuple(parts[:depth]) != self.holder or parts[depth] not in self.sections.values():
            return None
        return parts[depth], parts[depth + 1]


_OPENAPI: Final = Layout(KINDS["openapi"], ("components",), _SECTIONS_3)
_OPENAPI_3_2: Final = Layout(KINDS["openapi"], ("components",), {**_SECTIONS_3, "mediaType": "mediaTypes"})
_SWAGGER: Final = Layout(
    KINDS["swagger"],
    (),
    {
        "schema": "definitions",
        "response": "responses",
        "parameter": "parameters",
        "securityScheme": "securityDefinitions",
    },
)


def layout_of(root: Mapping[str, Json]) -> Layout:
    """Give the layout of a document by what it says it is."""
    if "openapi" not in root and "swagger" in root:
        return _SWAGGER
    return _OPENAPI_3_2 if str(root.get("openapi")).strip().startswith("3.2") else _OPENAPI


DATA: Final = frozenset({"example", "examples", "default", "enum", "const"})
"""Keys of schemas whose values are data."""
