"""Requests, byte for byte as the OpenAPI documents say: the cases of `tests/wire_cases.py`, generated and called."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aqlgen.runtime.client.api import Api
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.table import FAMILIES, Adapter, Row, Table
from tests.generator.commands import run
from tests.wire_cases import CASES, OLD_CASES, Case, document, old_document

from .hand_made import Recorder


class Wire:
    """The adapter of the cases."""

    def __init__(self, folder: Path) -> None:
        table = Table(folder)
        self.api = Api(Adapter.load(folder), table, Recorder(), base_url=None, environ={})
        self._names = {row["operation_id"]: name for family in FAMILIES for name, row in table.raw(family).items()}
        self._table = table

    def row(self, number: int) -> Row:
        row = self._table.find(self._names[f"case{number}"])
        assert row is not None
        return row


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    return generated(document(), tmp_path_factory.mktemp("wire"))


@pytest.fixture(scope="module")
def old_wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    return generated(old_document(), tmp_path_factory.mktemp("wire"))


def generated(spec: dict[str, Any], folder: Path) -> Wire:
    file = folder / "wire.json"
    file.write_text(json.dumps(spec), encoding="utf-8")
    assert run("from-openapi", file, "-o", folder / "project", "-q").code == 0
    return Wire(next((folder / "project" / "src").iterdir()))


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[case.title[:80] for case in CASES])
def test_the_request_is_what_the_specification_says(wire: Wire, number: int, case: Case) -> None:
    as_specified(wire, number, case)


@pytest.mark.parametrize(("number", "case"), list(enumerate(OLD_CASES)), ids=[case.title for case in OLD_CASES])
def test_the_request_is_what_swagger_2_says(old_wire: Wire, number: int, case: Case) -> None:
    as_specified(old_wire, number, case)


def as_specified(wire: Wire, number: int, case: Case) -> None:
    row = wire.row(number)
    if case.refused:
        with pytest.raises(Failure) as caught:
            wire.api.build(row, wire.api.validate(row, case.call))
        assert caught.value.code.value == case.refused
        return
    sent = wire.api.build(row, wire.api.validate(row, case.call))
    headers = {name.lower(): value.encode().decode("latin-1") for name, value in sent.headers}
    boundary = re.search("boundary=(.+)", headers.get("content-type", ""))
    mark = boundary[1] if boundary else "{B}"
    parts = urlsplit(sent.url)
    assert (sent.method, f"{parts.scheme}://{parts.netloc}") == (case.method, "https://wire.example.com")
    assert sent.url.removeprefix("https://wire.example.com") == f"/c{number}{case.target}"
    for name, value in case.headers.items():
        assert headers.get(name.lower()) == (value and value.replace("{B}", mark))
    assert (sent.content or b"") == case.body.replace(b"{B}", mark.encode())
