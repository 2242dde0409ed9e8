"""Swagger 2.0 as OpenAPI 3.0: each case is a folder with the document, the result, and the diagnostics."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from aqlgen.document.positions import Origins, find
from aqlgen.document.read import Source, check, locate, parse
from aqlgen.document.resolve import Resolver
from aqlgen.document.upgrade import upgrade
from aqlgen.ir import Origin
from tests.cases import each

CASES = sorted(path.parent for path in Path(__file__).parent.glob("cases/*/swagger.yaml"))
NAMES = [case.name for case in CASES]


def read(case: Path) -> Source:
    return parse("swagger.yaml", (case / "swagger.yaml").read_bytes(), None)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_document_becomes_what_its_folder_says(case: Path, update_goldens: bool) -> None:
    source = read(case)
    root, findings = upgrade(dict(source.root), Origins())
    lines = [
        f"{diagnostic.line}:{diagnostic.column} {diagnostic.code}: {diagnostic.message}"
        for diagnostic in locate([source], findings)
    ]
    outputs = {
        "openapi.json": json.dumps(root, indent=1) + "\n",
        "diagnostics.txt": "".join(f"{line}\n" for line in lines),
    }
    for name, text in outputs.items():
        if update_goldens:
            (case / name).write_text(text, encoding="utf-8")
        assert text == (case / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_given_document_is_not_changed(case: Path) -> None:
    root = dict(read(case).root)
    before = deepcopy(root)
    upgrade(root, Origins())
    assert root == before


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_is_made_is_read_as_openapi_3_0(case: Path) -> None:
    assert check(upgrade(dict(read(case).root), Origins())[0]) == "3.0"


@each(
    ("case", "pointer", "line"),
    [
        ("parameters", "/paths/~1items~1{id}/get/parameters/0/schema", 5),
        ("parameters", "/paths/~1items~1{id}/get/parameters/3", 15),
        ("bodies", "/paths/~1shared/post/requestBody/content/application~1xml/schema/$ref", 6),
        ("bodies", "/paths/~1shared/put/requestBody/content/application~1json/schema", 6),
        ("bodies", "/paths/~1common/post/requestBody", 14),
        ("forms", "/paths/~1upload/post/requestBody/content/multipart~1form-data/schema/properties/tags", 12),
        ("responses", "/paths/~1a/get/responses/default/content/application~1json/schema", 6),
        ("responses", "/paths/~1a/get/responses/200/headers/X-Left/schema/type", 14),
        ("responses", "/paths/~1csv/get/responses/default", 6),
        ("schemas", "/components/schemas/Pet/properties/owner/allOf/0/$ref", 11),
        ("schemas", "/components/schemas/Error/properties/cause", 28),
        ("security", "/components/securitySchemes/basic/scheme", 7),
        ("host_template", "/paths/~1a?op=copy/post/operationId", 14),
        ("odd_documents", "/paths/~1a/get/parameters/0/schema", 19),
    ],
)
def test_a_part_that_moved_is_found_in_the_line_of_the_user(case: str, pointer: str, line: int) -> None:
    source = read(Path(__file__).parent / "cases" / case)
    origins = Origins()
    root, _ = upgrade(dict(source.root), origins)
    Resolver(root).lookup(f"#{pointer}")
    assert source.text.splitlines()[line - 1].strip()
    place = origins.find(root, pointer).pointer
    assert find(source.text, source.format, [place])[place][0] == line


def test_openapi_3_is_left_as_it_is() -> None:
    root = {"openapi": "3.1.0", "swagger": "2.0", "paths": {}, "definitions": {"A": {}}}
    assert upgrade(root, Origins()) == (root, ())


def test_parts_that_are_the_same_in_both_are_shared() -> None:
    source = read(Path(__file__).parent / "cases" / "schemas")
    root, _ = upgrade(dict(source.root), Origins())
    assert root["components"]["schemas"]["Unchanged"] is source.root["definitions"]["Unchanged"]
    assert root["info"] is source.root["info"]


def test_origins_of_a_document_put_together_from_several_stay() -> None:
    shared = {"type": "string", "x-nullable": True}
    responses = {"200": {"description": "OK", "schema": {"type": "object", "properties": {"a": shared}}}}
    root = {"swagger": "2.0", "host": "a.example", "paths": {"/a": {"get": {"responses": responses}}}}
    origins = Origins()
    origins.note(responses["200"]["schema"]["properties"], "a", Origin("/Name", "names.yaml"))
    new, _ = upgrade(root, origins)
    place = "/paths/~1a/get/responses/200/content/application~1json/schema/properties/a/nullable"
    assert origins.find(new, place) == Origin("/Name/nullable", "names.yaml")
