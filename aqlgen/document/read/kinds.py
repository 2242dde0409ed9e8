"""What a document is that is not OpenAPI, and what its owner can give instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from aqlgen.ir import Json

__all__ = ["READABLE", "Kind", "of_object", "of_text"]

READABLE: Final = "aqlgen reads Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2."


class Kind(NamedTuple):
    """A kind of document, with its article, and the way from it to one that can be read."""

    name: str
    way: str


_CONVERT: Final = "Convert it to OpenAPI first, for example with api-spec-converter."
_NO_HTTP: Final = "It describes no operations over HTTP; give the API's OpenAPI document, if it has one."
_GRAPHQL: Final = (
    "A GraphQL API is one HTTP operation for all that it does; give a REST API's document, if there is one."
)
_SOAP: Final = "It describes a SOAP service; give the OpenAPI document of its REST interface, if there is one."

_BY_KEY: Final[tuple[tuple[str, Kind], ...]] = (
    ("asyncapi", Kind("an AsyncAPI document", _NO_HTTP)),
    ("arazzo", Kind("an Arazzo document", "Give the OpenAPI document that its sourceDescriptions name.")),
    ("overlay", Kind("an OpenAPI Overlay", "Give the document that it changes, and this with --overlay.")),
    ("swaggerVersion", Kind("a Swagger 1 document", _CONVERT)),
    ("raml", Kind("a RAML document", _CONVERT)),
    ("smithy", Kind("a Smithy model", "Let `smithy build` write an OpenAPI document of it, and give that.")),
    ("discoveryVersion", Kind("a Google discovery document", _CONVERT)),
    ("openrpc", Kind("an OpenRPC document", _NO_HTTP)),
    ("item", Kind("a Postman collection", "Convert it first, for example with postman-to-openapi.")),
    ("__export_format", Kind("an Insomnia export", "Export the design document as OpenAPI, and give that.")),
    ("_exporter", Kind("an Insomnia export", "Export the design document as OpenAPI, and give that.")),
    ("log", Kind("a HAR file", "It records calls; a tool such as har-to-openapi makes a document of them.")),
    ("__schema", Kind("a GraphQL schema", _GRAPHQL)),
    ("data", Kind("a GraphQL schema", _GRAPHQL)),
    ("$schema", Kind("a JSON Schema", "It describes data, not operations: give the OpenAPI document that uses it.")),
)

_FURTHER: Final[Mapping[str, Callable[[Json], bool]]] = {
    "log": lambda value: isinstance(value, dict) and "entries" in value,
    "data": lambda value: isinstance(value, dict) and "__schema" in value,
    "item": lambda value: isinstance(value, list),
}
"""Keys that others use too, and what their value must be."""

_BEFORE: Final = r"(?:\s|#(?!%)[^\n]*\n|//[^\n]*\n)*"
_XML: Final = r"(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:\w+:)?"
_BY_TEXT: Final[tuple[tuple[re.Pattern[str], Kind], ...]] = tuple(
    (re.compile(_BEFORE + pattern, re.DOTALL), kind)
    for pattern, kind in (
        (r"#%RAML", Kind("a RAML document", _CONVERT)),
        (r"FORMAT:\s*1A\b", Kind("an API Blueprint", _CONVERT)),
        (
            r'syntax\s*=\s*["\']proto',
            Kind("a Protocol Buffers file", "Let protoc-gen-openapi or buf write an OpenAPI document of it."),
        ),
        (
            r'import\s+["\']@typespec/',
            Kind("a TypeSpec program", "Compile it: tsp compile --emit @typespec/openapi3, and give what it writes."),
        ),
        (
            r'(?:"""(?:(?!""").)*"""\s*)?(?:extend\s+)?(?:schema|(?:type|interface|input|enum|scalar|union)\s+\w+)'
            r"[^\n:]*\{\s",
            Kind("a GraphQL schema", _GRAPHQL),
        ),
        (_XML + r"definitions\b[^>]*wsdl", Kind("a WSDL document", _SOAP)),
        (_XML + r"application\b[^>]*wadl", Kind("a WADL document", _CONVERT)),
        (
            _XML + r"Edmx\b",
            Kind("OData metadata", "Convert it to OpenAPI first, for example with odata-openapi."),
        ),
    )
)


def of_object(root: Mapping[str, Json]) -> Kind | None:
    """Give what an object is by its keys, where they tell."""
    for key, kind in _BY_KEY:
        if key in root and _FURTHER.get(key, lambda _value: True)(root[key]):
            return kind
    if root.get("kind") == "discovery#restDescription":
        return Kind("a Google discovery document", _CONVERT)
    return None


def of_text(text: str) -> Kind | None:
    """Give what a text is that is neither JSON nor YAML, where its beginning tells."""
    head = text[:4096]
    return next((kind for pattern, kind in _BY_TEXT if pattern.match(head)), None)
