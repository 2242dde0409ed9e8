"""Hostile documents: they cannot control a terminal, hide from a reviewer, or exhaust the machine."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from tests.generator.commands import api, generate, run, tabulate

ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
EVIL = '\x1b[2J\u202egpj.exe\u2066\x9b31m\x07\U000e0041 {{7*7}} `x` | <b> ](javascript:alert(1)) """ \\ \n# owned\n'


def hostile() -> dict[str, object]:
    parameters = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "q" + EVIL, "in": "query", "description": EVIL, "schema": {"type": "string", "enum": ["a" + EVIL]}},
    ]
    responses = {"200": {"description": EVIL}}
    operation = {"operationId": "op" + EVIL, "summary": EVIL, "tags": [EVIL], "parameters": parameters}
    schemes = {"k\u202e": {"type": "apiKey", "in": "header", "name": "X\u202e", "description": EVIL}}
    return api(
        {"/a" + EVIL + "/{id}": {"get": {**operation, "responses": responses}, "trace": {"responses": responses}}},
        servers=[{"url": "https://x.example/\u202e", "description": EVIL}],
        tags=[{"name": EVIL, "description": EVIL}],
        components={"securitySchemes": schemes},
    ) | {"info": {"title": "Shop" + EVIL, "version": "1" + EVIL, "description": EVIL}}


def test_no_generated_file_holds_a_character_that_acts_or_hides(tmp_path: Path):
    """R-TRUST-8"""
    project = generate(tmp_path, hostile())
    for path in project.folder.rglob("*"):
        name = path.relative_to(project.folder).as_posix()
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name)
        if path.is_file() and not name.startswith(("openapi/", "vendor/")):
            assert not ACTING.search(path.read_text("utf-8")), name


def test_no_heading_or_row_of_a_page_is_the_documents(tmp_path: Path):
    page = tabulate(tmp_path, hostile()).page
    assert not re.search(r"^# owned", page, re.MULTILINE)
    (row,) = [line for line in page.splitlines() if "| READ |" in line or line.startswith("| `get")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 9


@pytest.mark.parametrize("form", ["human", "json"])
def test_nothing_that_is_printed_acts_on_a_terminal(tmp_path: Path, form: str):
    spec = tmp_path / "hostile.json"
    spec.write_text(json.dumps(hostile()))
    for command in (("explain",), ("from-openapi", "--dry-run", "-v")):
        result = run(*command, spec, "--output-format", form)
        assert result.code == 0
        assert not ACTING.search((result.out + result.err).replace("\n", ""))


def test_an_address_that_is_none_is_no_internal_error(tmp_path: Path):
    table = tabulate(tmp_path, api({"/a": {"get": {}}}, servers=[{"url": "http://["}]) | {"info": {"title": "API"}})
    assert len(table.rows) == 1


def test_references_that_multiply_in_place_end_soon(tmp_path: Path):
    """R-TRUST-4"""
    spec = tmp_path / "document.json"
    again = [{"$ref": "#/paths/~1a"}] * 3000
    path = {"get": {"callbacks": {"c": {f"{{$url}}/{number}": reference for number, reference in enumerate(again)}}}}
    spec.write_text(json.dumps(api({"/a": path}) | {"info": {"description": [{"$ref": "#/info"}] * 3000, "$id": "x"}}))
    begin = time.monotonic()
    assert run("explain", spec).code in (0, 2)
    assert time.monotonic() - begin < 15


def test_the_example_of_a_parameter_in_a_path_is_never_empty(tmp_path: Path):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    parameter = {"name": "filter", "in": "path", "required": True, "schema": schema}
    (row,) = tabulate(tmp_path, api({"/a/{filter}": {"get": {"parameters": [parameter]}}})).rows.values()
    assert row["example"] == {"filter": {"name": "example"}}
