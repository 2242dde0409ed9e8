"""The types of the operation table: they round-trip, their JSON Schemas hold for every table, their page is true."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.runtime.cli import main
from aqlgen.runtime.table import (
    FAMILIES,
    Adapter,
    Attribute,
    Body,
    Deprecation,
    FormerName,
    Idempotency,
    LongRunning,
    Pagination,
    Parameter,
    Row,
    Update,
    encode,
    row_of,
)
from aqlgen.runtime.table.codec import columns
from aqlgen.table.schema import page, schema_files
from tests.cases import each
from tests.generator.commands import FIXTURES, run

ROOT = FIXTURES.parent
SCHEMAS = schema_files()
VALIDATORS = {name: jsonschema_rs.Draft202012Validator(json.loads(text)) for name, text in SCHEMAS.items()}
GOLDENS = sorted(path.parent for path in FIXTURES.glob("golden/*/src/*/adapter.json"))

TEXT = st.text(max_size=8)
NAME = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
MAYBE = st.none() | TEXT
HEADERS = st.dictionaries(NAME, TEXT, max_size=2)
SCHEMA = st.dictionaries(st.sampled_from(("type", "title", "format")), TEXT, max_size=2)
OBJECT = st.dictionaries(NAME, st.none() | st.integers() | TEXT, max_size=2)
SECURITY = st.lists(st.lists(NAME, max_size=2).map(tuple), max_size=2).map(tuple)
SCOPES = st.dictionaries(NAME, st.lists(TEXT, max_size=2), max_size=2)
ENCODING: Mapping[str, st.SearchStrategy[Any]] = {
    "stated_style": MAYBE,
    "stated_explode": st.none() | st.booleans(),
    "allow_reserved": st.booleans(),
    "content_type": MAYBE,
    "headers": HEADERS,
    "xml": st.none() | OBJECT,
}
LOCATIONS = st.sampled_from(("path", "query", "querystring", "header", "cookie", "body", "body_rest", "adapter"))


def by_name(make: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Make objects that bear the names under which they stand."""
    return st.lists(NAME, unique=True, max_size=3).flatmap(
        lambda names: st.fixed_dictionaries({name: make(name) for name in names})
    )


def field(name: str) -> st.SearchStrategy[Parameter]:
    return st.builds(Parameter, name=st.just(name), wire=st.just(name), schema=SCHEMA, **ENCODING)


def parameter(name: str) -> st.SearchStrategy[Parameter]:
    return st.builds(
        Parameter,
        name=st.just(name),
        wire=st.just(name) | TEXT,
        location=LOCATIONS,
        required=st.booleans(),
        deprecated=st.booleans(),
        sensitive=st.booleans(),
        schema=SCHEMA,
        description=TEXT,
        fields=by_name(field),
        **ENCODING,
    )


POINTERS = dict.fromkeys(("next", "item_cursor", "within", "items", "has_more", "total"), MAYBE)
WIRES = dict.fromkeys(("page_param", "offset_param", "cursor_param", "before_param", "size_param"), MAYBE)
PAGINATION = st.builds(
    Pagination,
    style=st.sampled_from(("page", "offset", "cursor", "token", "link", "next_url")),
    next_in=st.none() | st.just("header"),
    location=st.none() | st.just("body"),
    size_max=st.none() | st.integers(1, 1000),
    demanded=st.lists(NAME, max_size=2).map(tuple),
    parameters=st.none() | by_name(parameter),
    **POINTERS,
    **WIRES,
)
BODY = st.builds(
    Body,
    content_type=TEXT,
    shape=st.sampled_from(("fields", "whole")),
    required=st.booleans(),
    parameter=MAYBE,
    validate=st.booleans(),
    schema=SCHEMA,
    fields=by_name(field),
    xml=st.none() | OBJECT,
)
ROWS = st.builds(
    Row,
    name=NAME,
    family=st.sampled_from(FAMILIES),
    summary=TEXT,
    description=TEXT,
    method=TEXT,
    path=TEXT,
    operation_id=MAYBE,
    aliases=st.lists(st.builds(FormerName, name=NAME, until=st.none() | st.dates(date(2000, 1, 1))), max_size=2).map(
        tuple
    ),
    resource=TEXT,
    verb=TEXT,
    relative=TEXT,
    rule=TEXT,
    confidence=st.floats(0, 1),
    danger=st.sampled_from(("safe", "reversible", "destructive", "dangerous", "forbidden")),
    danger_reason=TEXT,
    review=st.lists(TEXT, max_size=2).map(tuple),
    deprecated=st.booleans(),
    deprecation=st.none() | st.builds(Deprecation, replacement=MAYBE, removal_date=MAYBE, migration_guide=MAYBE),
    pagination=st.none() | PAGINATION,
    update=st.none() | st.builds(Update, strategy=st.sampled_from(("put", "patch")), read=MAYBE, etag=st.booleans()),
    idempotency=st.none() | st.builds(Idempotency, header=MAYBE, parameter=MAYBE, location=st.sampled_from(("query",))),
    long_running=st.none() | st.builds(LongRunning, status=TEXT, monitor=MAYBE, state=MAYBE),
    etag=st.booleans(),
    confirmation=TEXT,
    security=st.none() | SECURITY,
    scopes=SCOPES,
    servers=st.lists(st.fixed_dictionaries({"url": TEXT}), max_size=2).map(tuple),
    headers=HEADERS,
    shown_parameters=by_name(parameter),
    body=st.none() | BODY,
    responses=st.dictionaries(
        st.sampled_from(("200", "2XX", "default")),
        st.fixed_dictionaries({}, optional={"content_type": TEXT, "schema": SCHEMA, "headers": st.lists(TEXT)}),
    ),
    returns=st.fixed_dictionaries({"name": TEXT, "kind": TEXT}, optional={"description": TEXT}),
    example=st.none() | OBJECT,
)


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


@given(ROWS)
def test_a_row_is_the_same_after_it_was_written_and_read(row: Row) -> None:
    """R-INT-7"""
    entry = json.loads(json.dumps(encode(row)))
    again = row_of(row.name, row.family, entry)
    assert encode(again) == entry
    assert list(encode(again)) == list(entry)
    if "schema" in entry.get("body", {}) or row.body is None or not row.body.schema:
        assert again == row
    VALIDATORS["operations.schema.json"].validate({row.name: entry})


@pytest.mark.parametrize("folder", GOLDENS, ids=lambda folder: folder.parts[-3])
def test_a_table_is_valid_by_its_schemas_and_round_trips(folder: Path) -> None:
    """R-INT-7"""
    adapter = read(folder / "adapter.json")
    VALIDATORS["adapter.schema.json"].validate(adapter)
    VALIDATORS["types.schema.json"].validate(read(folder / "types.json"))
    assert encode(Adapter.of(adapter)) == adapter
    for family in FAMILIES:
        rows = read(folder / "operations" / f"{family}.json")
        VALIDATORS["operations.schema.json"].validate(rows)
        assert {name: encode(row_of(name, family, row)) for name, row in rows.items()} == rows


@each("change", [{"pagination": {"styel": "page"}}, {"dangre": "safe"}, {"danger": "harmless"}])
def test_the_schema_refuses_a_key_or_value_that_there_is_not(change: dict[str, Any]) -> None:
    (folder,) = (golden for golden in GOLDENS if golden.parts[-3] == "petstore")
    rows = read(folder / "operations" / "read.json")
    name = next(iter(rows))
    assert not VALIDATORS["operations.schema.json"].is_valid({name: rows[name] | change})


def test_schemas_and_page_are_those_of_the_types() -> None:
    """`python -m aqlgen.table.schema` writes them."""
    assert (ROOT / "docs/table.md").read_text("utf-8") == page()
    folder = ROOT / "templates/project/schema"
    assert {name: (folder / name).read_text("utf-8") for name in SCHEMAS} == SCHEMAS


def test_what_is_asked_of_all_rows_is_an_attribute_of_a_row() -> None:
    assert set(get_args(Attribute)) <= {column.attribute for column in columns(Row).values()}


def test_adapter_json_names_its_schema(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "-q", "--add", "schemas")
    (file,) = folder.glob("src/*/adapter.json")
    schema = file.parent / read(file)["$schema"]
    assert schema.read_text("utf-8") == SCHEMAS["adapter.schema.json"]


@pytest.mark.parametrize("command", ["status", "update", "diff"])
def test_a_table_of_another_format_is_refused_with_the_command_that_mends_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = next(golden for golden in GOLDENS if golden.parts[-3] == "petstore")
    project = tmp_path / "petstore"
    done = run("from-openapi", FIXTURES / "petstore.yaml", "-o", project, "-q")
    assert done.code == 0
    (file,) = project.glob("src/*/adapter.json")
    file.write_text(file.read_text("utf-8").replace('"format": 1,', '"format": 99,'), encoding="utf-8")
    done = run(command, project, *([FIXTURES / "petstore.yaml"] if command == "diff" else []))
    assert done.code == 3
    assert "format 99" in done.err
    assert "Install the newest aqlgen" in done.err
    shutil.copytree(source, tmp_path / "package")
    shutil.copy(file, tmp_path / "package" / "adapter.json")
    assert main(tmp_path / "package", arguments=["--mock", "operations"]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "format 99" in message
    assert "`aqlgen update`" in message
