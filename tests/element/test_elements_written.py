"""The element that every project has: it says what introspection says, and generates an adapter that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.render.adapter_element import adapter_element, adapter_markdown
from aqlgen.runtime.encode.request import RequestBuilder
from aqlgen.runtime.introspection.fields import type_details
from aqlgen.runtime.introspection.info import operation_type
from aqlgen.runtime.schema.field_names import Names
from aqlgen.runtime.table import Adapter
from aqlgen.runtime.wire import Applied
from tests.element.reading import BOOKS, read, read_file
from tests.generator.commands import Tabulation, api, posting, tabulate
from tests.generator.test_goldens import CASES

KEYS = ("type", "default", "minimum", "maximum", "pattern", "format")
PARAMETER_KEYS = {*KEYS, "required", "description", "enum"}
OPERATION_KEYS = {
    "name", "maps_to", "description", "params", "response", "pagination", "supports_fields", "danger_level",
    "requires_confirmation", "non_idempotent",
}  # fmt: skip
ROOT_KEYS = {"name", "type", "version", "description", "target", "auth", "operations"}


@cache
def table_of(case: str, folder: Path) -> Tabulation:
    return tabulate(folder, CASES[case].read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elements")


def element_of(table: Tabulation) -> dict[str, Any]:
    """Return the element of a table as data."""
    data: dict[str, Any] = yaml.safe_load(adapter_element(table.prepared.table))
    return data


def operations_of(element: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the operations of an element by name, each with its family."""
    return {
        operation["name"]: {**operation, "family": family}
        for family, operations in element["operations"].items()
        for operation in operations
    }


def introspected(table: Tabulation, name: str) -> dict[str, dict[str, Any]]:
    """Return the parameters of an operation as introspection describes them in full, by name."""
    row = table.table.find(name)
    assert row is not None
    return {field["name"]: field for field in operation_type(row, table.table)["fields"]}


def assert_says_the_same(table: Tabulation, operation: Mapping[str, Any]) -> None:
    """Assert that an element says of an operation's parameters what introspection says."""
    fields = introspected(table, operation["name"])
    params = operation.get("params", {})
    assert list(params) == list(fields)
    for name, entry in params.items():
        field = fields[name]
        assert {key: entry[key] for key in KEYS if key in entry} == {key: field[key] for key in KEYS if key in field}
        assert entry.get("required", False) is field["required"]
        values = field.get("enum")
        if values is None and field["type"] in table.types:
            values = type_details(field["type"], table.types[field["type"]], table.types).get("values")
        texts = values if values and all(isinstance(value, str) for value in values) else None
        assert entry.get("enum") == texts


@pytest.mark.parametrize("case", CASES)
def test_an_element_says_what_introspection_says(case: str, folder: Path) -> None:
    """R-INT-4"""
    table = table_of(case, folder)
    operations = operations_of(element_of(table))
    assert {name: operation["family"] for name, operation in operations.items()} == {
        row.name: row.family for row in table.prepared.table.rows
    }
    for operation in operations.values():
        assert_says_the_same(table, operation)


@pytest.mark.parametrize("case", CASES)
def test_an_element_has_the_keys_of_the_protocol_alone(case: str, folder: Path) -> None:
    element = element_of(table_of(case, folder))
    assert element.keys() == ROOT_KEYS
    for operation in operations_of(element).values():
        assert operation.keys() - {"family"} <= OPERATION_KEYS
        for entry in operation.get("params", {}).values():
            assert entry.keys() <= PARAMETER_KEYS


def element_entry(tmp_path: Path, schema: Any, version: str = "3.1.0") -> dict[str, Any]:
    """Return what an element says of the field `value` of a body."""
    table = tabulate(tmp_path, posting({"type": "object", "properties": {"value": schema}}, version))
    operation = operations_of(element_of(table))["create_thing"]
    assert_says_the_same(table, operation)
    entry: dict[str, Any] = operation["params"]["value"]
    return entry


def test_an_enumeration_that_admits_null_keeps_its_values(tmp_path: Path) -> None:
    schema = {"type": "string", "nullable": True, "enum": ["open", "closed", None]}
    assert element_entry(tmp_path, schema, "3.0.3") == {
        "type": "string",
        "description": "May be null.",
        "enum": ["open", "closed"],
    }


def test_a_union_of_one_kind_has_that_type(tmp_path: Path) -> None:
    schema = {"oneOf": [{"type": "string", "format": "uuid"}, {"type": "string", "enum": ["latest"]}]}
    entry = element_entry(tmp_path, schema)
    assert entry["type"] == "string"
    assert "latest" in entry["description"]


def test_a_union_of_several_kinds_says_which(tmp_path: Path) -> None:
    entry = element_entry(tmp_path, {"oneOf": [{"type": "string"}, {"type": "integer"}]})
    assert entry == {"type": "any", "description": "One of: string, integer."}


def test_values_that_are_no_texts_stand_in_the_description(tmp_path: Path) -> None:
    assert element_entry(tmp_path, {"type": "integer", "enum": [1, 2]}) == {
        "type": "integer",
        "description": "One of 1, 2.",
    }


def test_bounds_without_a_key_stand_in_the_description(tmp_path: Path) -> None:
    entry = element_entry(tmp_path, {"type": "string", "minLength": 1, "maxLength": 9, "format": "password"})
    assert entry == {"type": "string", "description": "1 to 9 characters. A secret.", "format": "password"}


def test_the_markdown_form_has_the_same_element_as_front_matter(folder: Path) -> None:
    table = table_of("petstore", folder).prepared.table
    element = adapter_element(table)
    markdown = adapter_markdown(table, element)
    assert markdown.startswith(f"---\n{element}---\n\n# Petstore\n")


@pytest.mark.parametrize("name", ["adapter.yaml", "petstore-adapter.md"])
def test_an_element_generates_an_adapter_with_the_same_operations(folder: Path, tmp_path: Path, name: str) -> None:
    old = table_of("petstore", folder)
    element = adapter_element(old.prepared.table)
    text = adapter_markdown(old.prepared.table, element) if name.endswith(".md") else element
    new = read(tmp_path, text, name)
    assert {row.name: (row.family, row.row.danger) for row in new.prepared.table.rows} == {
        row.name: (row.family, row.row.danger) for row in old.prepared.table.rows
    }
    for row in old.prepared.table.rows:
        parameters = {key: item["required"] for key, item in introspected(new, row.name).items()}
        expected = {key: item["required"] for key, item in introspected(old, row.name).items()}
        expected.pop("if_match", None)  # whether an API has ETags, no element says
        assert parameters == expected
    assert new.warnings == []


CALLS: dict[str, dict[str, Any]] = {
    "book_owner_visit": {
        "owner_id": "5f1c7c1e-9a35-4b0e-8d43-0a7b6f3a2d11",
        "pet_id": 7,
        "starts_at": "2030-01-01T10:00:00Z",
        "reason": "checkup",
        "notes": {"weight": "4 kg"},
    },
    "create_pet": {"name": "Mia", "kind": "cat", "birth_date": "2025-01-01", "tags": ["shy"]},
    "get_health": {},
    "get_owner": {"owner_id": "5f1c7c1e-9a35-4b0e-8d43-0a7b6f3a2d11"},
    "get_pet_photo": {"pet_id": 7, "max_width": 100},
    "list_owners": {"limit": 5},
    "list_pets": {"status": ["available", "reserved"], "born_before": "2025-01-01", "x_request_id": "r1"},
    "search_pets": {"text": "shy", "max_age_years": 2.5, "sort_by": "birthDate"},
    "update_pet": {"pet_id": 7, "input": {"name": "Max"}},
    "delete_pet": {"pet_id": 7},
    "adopt_pet": {"pet_id": 7, "owner_id": "5f1c7c1e-9a35-4b0e-8d43-0a7b6f3a2d11", "send_contract": False},
    "cancel_visit": {"visit_id": "5f1c7c1e-9a35-4b0e-8d43-0a7b6f3a2d11", "x_notify": False},
}


def requests_of(table: Tabulation, calls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the request of each call."""
    adapter = Adapter.of(table.adapter)
    builder = RequestBuilder(adapter, Names(table.table), lambda _row: Applied(), None)
    requests = {}
    for name, params in calls.items():
        row = table.table.find(name)
        assert row is not None
        request = builder.build(row, params)
        requests[name] = (request.method, request.url, dict(request.headers), request.content)
    return requests


def test_calls_of_both_adapters_send_the_same_requests(folder: Path, tmp_path: Path) -> None:
    old = table_of("petstore", folder)
    new = read(tmp_path, adapter_element(old.prepared.table))
    expected = requests_of(old, CALLS)
    assert requests_of(new, CALLS) == expected
    assert expected["list_pets"][1].startswith("https://petstore.example/api/pets?")


def test_both_adapters_ask_for_the_same_credentials(folder: Path, tmp_path: Path) -> None:
    old = table_of("petstore", folder)
    new = read(tmp_path, adapter_element(old.prepared.table))
    for name, scheme in old.adapter["security_schemes"].items():
        other = new.adapter["security_schemes"][name]
        assert {key: other.get(key) for key in ("type", "in", "name", "scheme", "variables")} == {
            key: scheme.get(key) for key in ("type", "in", "name", "scheme", "variables")
        }
    assert {row.name: row.row.security for row in new.prepared.table.rows} == {
        row.name: row.row.security for row in old.prepared.table.rows
    }


def test_paging_that_aqlgen_found_is_kept(tmp_path: Path) -> None:
    items = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    answer = {"type": "object", "properties": {"data": items, "total": {"type": "integer"}}}
    query = [
        {"name": name, "in": "query", "schema": {"type": "integer", "maximum": 50}} for name in ("page", "perPage")
    ]
    listing = {
        "parameters": query,
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": answer}}}},
    }
    old = tabulate(tmp_path, api({"/things": {"get": listing}}, servers=[{"url": "https://api.example.com"}]))
    new = read(tmp_path, adapter_element(old.prepared.table))
    (before,), (after,) = old.rows.values(), new.rows.values()
    kept = [
        {key: row["pagination"][key] for key in row["pagination"] if key != "parameters"} for row in (before, after)
    ]
    assert kept[0] == kept[1]
    assert introspected(new, "list_things").keys() == introspected(old, "list_things").keys()
    assert operations_of(element_of(old))["list_things"]["pagination"] == {"style": "page", "max_limit": 50}


def test_the_element_of_an_element_says_the_same_again(tmp_path: Path) -> None:
    first = element_of(read_file(BOOKS))
    second = element_of(read(tmp_path, yaml.safe_dump(first, sort_keys=False)))
    before, after = operations_of(first), operations_of(second)
    assert after.keys() == before.keys()
    for name in before.keys() - {"correct_book"}:  # whose input is an object without fields then
        assert after[name]["params"] == before[name]["params"]
        assert after[name]["maps_to"] == before[name]["maps_to"]
    assert {**second, "operations": {}} == {**first, "operations": {}}


def test_operations_that_only_a_fragment_tells_apart_are_written_as_they_are_sent(tmp_path: Path) -> None:
    paths = {f"/actions#{name}": {"post": {"operationId": name}} for name in ("start_engine", "stop_engine")}
    old = tabulate(tmp_path, api(paths, servers=[{"url": "https://api.example.com"}]))
    assert {item["maps_to"] for item in operations_of(element_of(old)).values()} == {"POST /actions"}
    new = read(tmp_path, adapter_element(old.prepared.table))
    assert new.rows.keys() == old.rows.keys()
    assert len(requests_of(new, {name: {} for name in new.rows})) == 2
    assert operations_of(element_of(new)) == operations_of(element_of(old))
