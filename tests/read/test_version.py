"""Documents of a supported OpenAPI version, what the refusal of others says, and where findings stand."""

from __future__ import annotations

import pytest

from aqlgen.diagnostics import Diagnostic, Severity
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
        ("openapi: [3]", "unsupported-version", "OpenAPI [3] is not supported", 1),
        ("asyncapi: 2.0.0", "not-openapi", "this is an AsyncAPI document, not an OpenAPI document", 1),
        ("info: {}\nitem: []", "not-openapi", "this is a Postman collection, not an OpenAPI document", 1),
        ("a: 1", "not-openapi", "the document has no key openapi or swagger", 1),
        ("openapi: 3.0.0", "no-paths", "the document has no paths", 1),
        ("openapi: 3.0.0\npath: {/pets: {}}", "no-paths", "the document has no paths", 2),
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


OTHERS = {
    "asyncapi: 3.0.0": ("an AsyncAPI document", "OpenAPI document"),
    "arazzo: 1.0.1": ("an Arazzo document", "sourceDescriptions"),
    "overlay: 1.0.0": ("an OpenAPI Overlay", "--overlay"),
    'swaggerVersion: "1.2"': ("a Swagger 1 document", "Convert"),
    '{"info": {"schema": "https://schema.getpostman.com/x"}, "item": []}': ("a Postman collection", "Convert"),
    '{"$schema": "https://json-schema.org/draft/2020-12/schema"}': ("a JSON Schema", "OpenAPI document"),
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


TEXT = "openapi: 3.1.0\npaths:\n  /b:\n    get: {}\n  /a:\n    get: {}\n"


def note(pointer: str, **more: object) -> Diagnostic:
    return Diagnostic("x", Severity.WARNING, "m", pointer, **more)


def test_they_are_sorted_by_place_and_repeats_are_folded(source):
    located = locate([source(TEXT)], [note("/paths/~1a/get"), note("/paths/~1b"), note("/paths/~1a/get"), note("")])
    assert [(diagnostic.file, diagnostic.line, diagnostic.column) for diagnostic in located] == [
        ("api.yaml", 1, 1),
        ("api.yaml", 3, 3),
        ("api.yaml", 6, 5),
    ]


def test_those_of_other_files_and_those_with_a_position_are_unchanged(source):
    other, placed = note("/paths", file="other.yaml"), note("/paths", file="api.yaml", line=9, column=9)
    assert locate([source(TEXT)], [other, placed]) == (placed, other)


def test_nothing_is_parsed_when_there_is_nothing_to_locate(source, monkeypatch):
    monkeypatch.setattr("aqlgen.document.read.source.find", None)
    assert locate([source(TEXT)], [note("", line=1, file="api.yaml")])
