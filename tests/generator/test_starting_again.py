"""A document is assembled and built once, and prepared from that again with other overrides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from aqlgen.document.request import Request
from aqlgen.pipeline import Options, Prepared, prepare
from aqlgen.table.model import table_files
from tests.cases import each
from tests.generator.commands import FIXTURES
from tests.generator.several import api, prepared

OVERRIDES = {
    "none": "",
    "of an operation": (
        "GET /pets: {name: browse_pets, danger: dangerous, description: All of them.}\nPOST /pets: {hidden: true}\n"
    ),
    "of the whole adapter": "adapter: {field_case: preserve, headers: {X-Version: '1'}}\n",
    "of security schemes": "adapter: {security_schemes: {key: {type: http, scheme: bearer}}, security: [key]}\n",
}


def outcome(result: Prepared) -> Any:
    return result, dict(table_files(result.table))


def contents(result: Prepared) -> str:
    """Return all that is kept of the documents, as text."""
    return repr([result.built, result.documents, [vars(document.origins) for document in result.documents]])


@each("overrides", OVERRIDES)
def test_a_built_document_gives_what_the_document_gives_and_stays_as_it_is(overrides: str) -> None:
    options = Options((Request(str(FIXTURES / "petstore.yaml")),))
    first = prepare(options, lambda _stage: None)
    before = contents(first)
    changed = replace(options, overrides=Path("overrides.yaml"), overrides_text=OVERRIDES[overrides].encode())
    again = prepare(changed, lambda _stage: None, first)
    assert contents(first) == before
    assert outcome(again) == outcome(prepare(changed, lambda _stage: None))
    assert outcome(prepare(options, lambda _stage: None, again)) == outcome(first)
    assert prepare(changed, lambda _stage: None, again) is again


def test_of_several_documents_those_that_are_known_are_not_read_again(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users", "GET /deals")}
    first = prepared(tmp_path, {"crm": documents["crm"]})
    whole = prepared(tmp_path, documents)
    requests = tuple(Request(str(tmp_path / f"{name}.json"), name=name) for name in documents)
    (tmp_path / "crm.json").unlink()
    options = Options(requests, name="company")
    assert outcome(prepare(options, lambda _stage: None, first)) == outcome(whole)
