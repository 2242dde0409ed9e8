"""Documents of a supported OpenAPI version, and what the refusal of others says."""

from __future__ import annotations

import pytest

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read import check, locate


@pytest.mark.parametrize(
    ("written", "version"),
    [
        ("3.0.0", "3.0"),
        ("3.0.4", "3.0"),
        ("3.1.1", "3.1"),
        ("3.0", "3.0"),
        ("3.1", "3.1"),
        ("'3.1'", "3.1"),
        ("3.0.0-rc2", "3.0"),
        ("' 3.1.0 '", "3.1"),
        ("3.2.0", "3.2"),
        ("3.2", "3.2"),
        ("'3.2'", "3.2"),
        ("3.2.0-rc1", "3.2"),
        ("'3.1-dev'", "3.1"),
    ],
)
def test_supported_versions_in_every_spelling(source, written: str, version: str):
    assert check(source(f"openapi: {written}\npaths: {{/a: {{}}}}\n").root) == version


@pytest.mark.parametrize("key", ["openapi: 3.1", "swagger: 2.0", "swagger: 2"])
def test_a_version_written_as_a_number_is_remarked_on(source, key: str):
    (finding,) = source(f"{key}\npaths: {{/a: {{}}}}\n").diagnostics
    assert (finding.code, finding.pointer) == ("version-not-text", f"/{key.split(':')[0]}")


def test_a_refusal_names_the_versions_that_are_supported(source):
    for text in ("openapi: 4.0.0", "swagger: '1.2'", "a: 1"):
        with pytest.raises(DocumentError) as caught:
            check(source(text).root)
        assert "Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2" in caught.value.diagnostics[0].help


@pytest.mark.parametrize(
    ("text", "code", "message", "line"),
    [
        ("a: 1\nswagger: '1.2'", "unsupported-version", "Swagger 1.2 is not supported", 2),
        ("swagger: '3.0.0'", "unsupported-version", "Swagger 3.0.0 is not supported", 1),
        ("info: {}\nopenapi: 4.0.0", "unsupported-version", "OpenAPI 4.0.0 is not supported", 2),
        ("openapi: 3.3.0", "unsupported-version", "OpenAPI 3.3.0 is not supported", 1),
        ("openapi: '3'", "unsupported-version", "OpenAPI 3 is not supported", 1),
        ("openapi: true", "unsupported-version", "OpenAPI True is not supported", 1),
        ("openapi: [3]", "unsupported-version", "OpenAPI list is not supported", 1),
        ("asyncapi: 2.0.0", "not-openapi", "this is an AsyncAPI document, not an OpenAPI document", 1),
        ("info: {}\nitem: []", "not-openapi", "this is a Postman collection, not an OpenAPI document", 1),
        ("a: 1", "not-openapi", "the document has no key openapi or swagger", 1),
        ("openapi: 3.0.0", "no-paths", "the document has no paths", 1),
        ("openapi: 3.0.0\npaths: {}", "no-paths", "the document has no paths", 2),
        ("openapi: 3.1.0\npaths: []", "no-paths", "paths is not an object", 2),
        ("openapi: 3.1.0\npaths:", "no-paths", "paths is not an object", 2),
        (
            "openapi: 3.1.0\nwebhooks: {}",
            "no-operations",
            "the document has webhooks or components only: no operation that could be called",
            1,
        ),
    ],
)
def test_what_cannot_be_served_is_refused_at_its_place(source, text: str, code: str, message: str, line: int):
    with pytest.raises(DocumentError) as caught:
        check(source(text).root)
    (finding,) = locate([source(text)], caught.value.diagnostics)
    assert (finding.code, finding.message, finding.line, finding.file) == (code, message, line, "api.yaml")
