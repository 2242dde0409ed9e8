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
    '{"$schema": "https://json-schema.org/draft/2020-12/schema"}': ("a JSON Schema", "data, not operations"),
    "type Query { pets(first: Int): [Pet!]! }": ("a GraphQL schema", "REST"),
    '# pets\n"""All."""\nschema {\n  query: Query\n}': ("a GraphQL schema", "REST"),
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
