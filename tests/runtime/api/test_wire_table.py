"""Requests and answers as the specifications say: the cases of `tests/wire_cases`, generated and called."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aqlgen.runtime.client import Api
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import FAMILIES, Adapter, Row, Table
from aqlgen.runtime.wire import ApiResponse
from tests.cases import each
from tests.generator.commands import tabulate
from tests.wire_cases import ANSWERS, CASES, EARLIER, HOST, OLD_CASES, Answer, Case, answering, document, old_document

from .hand_made import Recorder


class Wire:
    """The adapter of the cases."""

    def __init__(self, folder: Path) -> None:
        table = Table(folder)
        self.api = Api(Adapter.load(folder), table, Recorder(), Config(), environ={})
        self._names = {row["operation_id"]: name for family in FAMILIES for name, row in table.raw(family).items()}
        self._table = table

    def row(self, operation: str) -> Row:
        row = self._table.find(self._names[operation])
        assert row is not None
        return row


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    return generated(document(), tmp_path_factory.mktemp("wire"))


@pytest.fixture(scope="module")
def old_wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    return generated(old_document(), tmp_path_factory.mktemp("wire"))


@pytest.fixture(scope="module")
def earlier_wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    return generated(document(EARLIER, version="3.0.4"), tmp_path_factory.mktemp("wire"))


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    return generated(answering(), tmp_path_factory.mktemp("wire"))


def generated(spec: dict[str, Any], folder: Path) -> Wire:
    tabulate(folder, spec).write(folder / "package")
    return Wire(folder / "package")


@each(("number", "case"), list(enumerate(CASES)), ids=[case.title[:80] for case in CASES])
def test_the_request_is_what_the_specification_says(wire: Wire, number: int, case: Case) -> None:
    as_specified(wire, number, case)


@each(("number", "case"), list(enumerate(OLD_CASES)), ids=[case.title for case in OLD_CASES])
def test_the_request_is_what_swagger_2_says(old_wire: Wire, number: int, case: Case) -> None:
    as_specified(old_wire, number, case)


@pytest.mark.parametrize(("number", "case"), list(enumerate(EARLIER)), ids=[case.title for case in EARLIER])
def test_the_request_is_what_openapi_3_0_says(earlier_wire: Wire, number: int, case: Case) -> None:
    as_specified(earlier_wire, number, case)


@each(("number", "answer"), list(enumerate(ANSWERS)), ids=[answer.title for answer in ANSWERS])
def test_the_answer_is_what_the_specification_says(answered: Wire, number: int, answer: Answer) -> None:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    headers |= {} if answer.kind is None else {"content-type": answer.kind}
    row, response = answered.row(f"answer{number}"), ApiResponse(answer.status, headers, answer.content)
    if answer.refused:
        with pytest.raises(Failure) as caught:
            answered.api.decode(response, row, {})
        assert caught.value.code.value == answer.refused
        return
    data = answered.api.decode(response, row, {})
    assert json.dumps(data) == json.dumps(answer.data)
    assert answered.api.told_headers(response, row, data) == answer.shown


def test_the_tables_hold_at_least_four_hundred_distinct_cases_each_with_its_rule() -> None:
    cases = [*CASES, *OLD_CASES, *EARLIER, *ANSWERS]
    assert all(case.rule for case in cases)
    assert min(len(cases), len({repr(case) for case in cases})) >= 400
    for table in (CASES, OLD_CASES, EARLIER, ANSWERS):
        assert len({case.title for case in table}) == len(table)


def as_specified(wire: Wire, number: int, case: Case) -> None:
    row = wire.row(f"case{number}")
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
    assert (sent.method, f"{parts.scheme}://{parts.netloc}") == (case.method, HOST)
    assert sent.url == f"{case.base or HOST}/c{number}{case.target}"
    for name, value in case.headers.items():
        assert headers.get(name.lower()) == (value and value.replace("{B}", mark))
    assert (sent.content or b"") == case.body.replace(b"{B}", mark.encode())
