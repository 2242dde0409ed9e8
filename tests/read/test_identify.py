"""Documents that people give by mistake are named, with advice on what to use instead."""

from __future__ import annotations

import pytest

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read import check

OTHERS = {
    "asyncapi: 3.0.0": ("an AsyncAPI document", "OpenAPI document"),
    "arazzo: 1.0.1": ("an Arazzo document", "sourceDescriptions"),
    "overlay: 1.0.0": ("an OpenAPI Overlay", "--overlay"),
    'swaggerVersion: "1.2"': ("a Swagger 1 document", "Convert"),
    '{"info": {"schema": "https://schema.getpostman.com/x"}, "item": []}': ("a Postman collection", "Convert"),
    '{"_type": "export", "__export_format": 4, "resources": []}': ("an Insomnia export", "Export"),
    '{"log": {"version": "1.2", "entries": []}}': ("a HAR file", "records"),
    '{"kind": "discovery#restDescription", "name": "drive"}': ("a Google discovery document", "Convert"),
    '{"openrpc": "1.2.6", "methods": []}': ("an OpenRPC document", "HTTP"),
    '{"smithy": "2.0", "shapes": {}}': ("a Smithy model", "smithy build"),
    '{"$schema": "https://json-schema.org/draft/2020-12/schema"}': ("a JSON Schema", "data, not operations"),
    '{"data": {"__schema": {"types": []}}}': ("a GraphQL schema", "REST"),
    "type Query { pets(first: Int): [Pet!]! }": ("a GraphQL schema", "REST"),
    '# pets\n"""All."""\nschema {\n  query: Query\n}': ("a GraphQL schema", "REST"),
    "#%RAML 1.0\ntitle: x": ("a RAML document", "Convert"),
    "FORMAT: 1A\n\n# Pets": ("an API Blueprint", "Convert"),
    '// pets\nsyntax = "proto3";': ("a Protocol Buffers file", "protoc-gen-openapi"),
    'import "@typespec/http";': ("a TypeSpec program", "tsp compile"),
    '<?xml version="1.0"?>\n<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"/>': (
        "a WSDL document",
        "REST",
    ),
    '<application xmlns="http://wadl.dev.java.net/2009/02"/>': ("a WADL document", "Convert"),
    '<edmx:Edmx Version="4.0"/>': ("OData metadata", "odata-openapi"),
}


@pytest.mark.parametrize("text", OTHERS)
def test_a_document_in_another_format_is_named_with_advice(source, text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        check(source(text).root)
    (finding,) = caught.value.diagnostics
    name, way = OTHERS[text]
    assert (finding.code, finding.message) == ("not-openapi", f"this is {name}, not an OpenAPI document")
    assert way in finding.help


@pytest.mark.parametrize("text", ["data: {}", "log: x", "item: {}", "type: object", "schema: {a: 1}", "import: x"])
def test_a_key_shared_with_another_format_does_not_identify_it(source, text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        check(source(text).root)
    assert caught.value.diagnostics[0].message == "the document has no key openapi or swagger"
