"""Elements of strangers: any text is a project or diagnostics, in time that its size bounds, and never code."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.element import convert
from aqlgen.document.positions import Origins
from aqlgen.document.read.limits import MOST_FINDINGS
from aqlgen.table.model import table_files
from tests.attacks.bounds import cpu_seconds
from tests.cases import each
from tests.element.reading import BOOKS, TARGET, element, read, reading, refused, written
from tests.examples import examples
from tests.generator.commands import run

MOST = 5.0
"""CPU seconds."""

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
FRONT_MATTER = yaml.safe_load(BOOKS.read_text(encoding="utf-8").split("---\n")[1])


def places(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value below a value."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(document: Any, path: tuple[str | int, ...], change: Callable[[Any, str | int], None]) -> Any:
    """Return a copy of a document with a change of one value."""
    document = copy.deepcopy(document)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return document


PLACES = list(places(FRONT_MATTER))


def assert_answered(root: Any) -> None:
    """Assert that an element is converted, or refused with findings that say where and what."""
    try:
        converted, _, _ = convert(root, "adapter.yaml", Origins())
    except AqlgenError as error:
        for finding in error.diagnostics:
            assert finding.message
            assert len(finding.message) < 2_000
    else:
        assert converted["paths"]


@each("path", PLACES, ids=lambda path: "/".join(map(str, path)))
def test_a_value_that_is_missing_or_of_another_type_is_converted_or_refused(path: tuple[str | int, ...]) -> None:
    assert_answered(changed(FRONT_MATTER, path, lambda holder, key: holder.pop(key)))
    for value in (None, True, 5, "x", [], {}):
        assert_answered(changed(FRONT_MATTER, path, lambda holder, key, value=value: holder.__setitem__(key, value)))


@given(root=st.dictionaries(st.sampled_from([*FRONT_MATTER, "x"]), VALUES))
def test_any_mapping_is_converted_or_refused(root: Any) -> None:
    assert_answered(root)


@settings(max_examples=examples(60))
@given(path=st.sampled_from(PLACES), value=SCALARS)
def test_what_is_converted_is_tabulated_or_refused(path: tuple[str | int, ...], value: Any) -> None:
    root = changed(FRONT_MATTER, path, lambda holder, key: holder.__setitem__(key, value))
    with tempfile.TemporaryDirectory() as folder, suppress(AqlgenError):
        assert read(Path(folder), json.dumps(root), "adapter.json").rows


def test_aliases_that_repeat_each_other_are_refused(tmp_path: Path) -> None:
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"b{n}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]" for n in range(10)]
    with cpu_seconds(MOST):
        (detail,) = refused(tmp_path, "\n".join(["type: adapter", *lines]))
    assert detail["code"] == "document-too-large"


@pytest.mark.parametrize("text", ["type: adapter\nname: " + "[" * 100_000, "type: adapter\nname: " + '{"a": ' * 5_000])
def test_deep_elements_are_refused(tmp_path: Path, text: str) -> None:
    with cpu_seconds(MOST):
        assert refused(tmp_path, text)


def test_a_long_element_is_read_in_time(tmp_path: Path) -> None:
    params = {f"p{number}": {"type": "string", "enum": [str(value) for value in range(50)]} for number in range(20)}
    operations = [
        {"name": f"get_{number}", "maps_to": f"GET /things{number}", "params": params} for number in range(200)
    ]
    with cpu_seconds(MOST):
        convert(element(operations={"read": operations}), "adapter.yaml", Origins())


def test_findings_have_a_bound(tmp_path: Path) -> None:
    wrong_operations = [{"name": number} for number in range(5_000)]
    with cpu_seconds(MOST):
        assert len(refused(tmp_path, element(operations={"read": wrong_operations}))) == MOST_FINDINGS


@pytest.mark.parametrize("char", ["\n", "\x00", "\x1b[31m", "\u202e", "\u200b", "\ud800"])
def test_hidden_characters_are_in_no_name_path_or_address(tmp_path: Path, char: str) -> None:
    for content in (
        reading(f"GET /things{char}x"),
        element(target={**TARGET, "base_url": f"https://api.example.com{char}"}),
        element(operations={"read": [{"name": f"get{char}", "maps_to": "GET /things"}]}),
    ):
        root = json.loads(json.dumps(content))
        with pytest.raises(AqlgenError):
            convert(root, "adapter.yaml", Origins())


CODE = 'x"""; import os; os.system("id")  # {{ 7 * 7 }} {% raw %} \'\'\' ---\n<script>alert(1)</script>'


def test_code_in_an_element_is_data(tmp_path: Path) -> None:
    params = {"size": {"type": "string", "description": CODE, "default": CODE, "enum": [CODE]}}
    table = read(tmp_path, element(description=CODE, operations={"read": [
        {"name": "get_thing", "maps_to": "GET /things", "description": CODE, "params": params}
    ]}))  # fmt: skip
    row = table.rows["get_thing"]
    assert row["parameters"]["size"]["schema"]["enum"] == [CODE]
    assert all(b"os.system" not in text or path.endswith(".json") for path, text in table_files(table.prepared.table))


@pytest.mark.parametrize(
    "path",
    [
        "/a/../b", "/..", "/a/..", "/./a", "/%2e%2e/a", "/a/%2E./b", "/a/..\\b", "/a%2f..%2fb", "/a%5c..", "/{id}/../b",
        "/a#b", "/#x", "/a?q=1#b", "//evil.example/x", "https://evil.example/", "http:/x", "\\\\evil.example\\x",
        "@evil.example/",
    ],
)  # fmt: skip
def test_no_path_climbs_leads_to_another_host_or_has_a_part_that_is_not_sent(tmp_path: Path, path: str) -> None:
    """R-TRUST-1: it would be another address than people read, or another operation of the same one."""
    assert refused(tmp_path, reading(f"GET {path}"))


@pytest.mark.parametrize(
    "variable", ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "MCP_AQL_STATE_KEY", "SHOPS_KEY", "SHOP"]
)
def test_an_element_takes_no_variable_of_anything_else(tmp_path: Path, variable: str) -> None:
    """R-TRUST-5: the credential for another API would go to the host that the element names."""
    read_adapter = read(tmp_path, element(auth={"type": "bearer", "token_env": variable})).adapter
    (scheme,) = read_adapter["security_schemes"].values()
    assert [name.startswith("SHOP_") for name in scheme["variables"]] == [True]
    assert variable not in scheme["variables"]
    kept = read(tmp_path, element(auth={"type": "bearer", "token_env": "SHOP_TOKEN"})).adapter["security_schemes"]
    assert [scheme["variables"] for scheme in kept.values()] == [["SHOP_TOKEN"]]


def test_every_host_that_gets_a_credential_is_named(tmp_path: Path) -> None:
    """R-TRUST-2: the element of a stranger may have the tokens fetched somewhere else."""
    path = written(tmp_path, element(auth={"type": "oauth2", "token_url": "https://login.example.net/token"}))
    named = {"https://api.example.com": "auth", "https://login.example.net": "auth"}
    answer = run("from-schema", path, "-o", tmp_path / "one", "--dry-run", "--output-format", "json").json
    hosts = {entry["origin"]: entry for entry in answer["hosts"]}
    assert hosts.keys() == named.keys()
    assert all(named[origin] in hosts[origin]["credentials"] for origin in named)
    shown = run("from-schema", path, "-o", tmp_path / "two", "--dry-run").out
    assert [origin for origin in named if f"  {origin}  " not in shown] == []


@pytest.mark.parametrize(
    ("family", "danger"), [("read", {}), ("read", {"danger_level": "safe"}), ("delete", {"danger_level": "safe"})]
)
def test_a_delete_is_no_safe_read(tmp_path: Path, family: str, danger: dict[str, str]) -> None:
    gone = {"name": "remove_all", "maps_to": "DELETE /all", **danger}
    (detail,) = refused(tmp_path, element(operations={family: [gone]}))
    assert "which is not a safe read" in str(detail)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:pass@api.example.com",
        "https://api.example.com?key=secret",
        "https://",
        "https://[",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://api.example.com:99999",
    ],
)
def test_an_address_that_is_no_base_url_is_refused(tmp_path: Path, url: str) -> None:
    details = refused(tmp_path, element(target={**TARGET, "base_url": url}))
    assert "pass@" not in str(details)
    assert "secret" not in str(details)
