"""Properties of any two adapters: nothing changes from one to itself, every effect is reported, both ways."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.compare import Changes, Level, Surface, compare, surface_of_folder
from aqlgen.runtime.table import encode
from tests.cases import each
from tests.examples import examples

GOLDEN = Path(__file__).parent.parent.parent / "fixtures" / "golden"

NAMES = sorted(path.name for path in GOLDEN.iterdir())


def surface(name: str) -> Surface:
    folder = GOLDEN / name
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json")}
    return surface_of_folder(files, next((folder / "src").iterdir()).name)


SURFACES = {name: surface(name) for name in NAMES}
PETSTORE = SURFACES["petstore"]


def shown(changes: Changes) -> Iterator[str]:
    """Yield every format, as text."""
    yield changes.as_text()
    yield changes.as_text(show_all=True)
    yield changes.as_markdown()
    yield json.dumps(changes.as_json())


@each("name", NAMES)
def test_nothing_changes_from_an_adapter_to_itself(name: str) -> None:
    changes = compare(SURFACES[name], surface(name))
    assert not changes
    assert not changes.breaking


@each(("name", "other"), list(permutations(NAMES, 2)))
def test_any_two_adapters_can_be_compared_and_shown(name: str, other: str) -> None:
    changes = compare(SURFACES[name], SURFACES[other])
    assert changes
    for text in shown(changes):
        assert not re.search(r"\[[a-z ]*\|[a-z ]*\]|(?<!`)\{\*?\}", text.replace("{}` of", "")), text
    levels = [change.level.rank for change in changes.changes]
    assert levels == sorted(levels)


Edit = Callable[[dict[str, Any], dict[str, Any], st.DataObject], bool]


def _drop_operation(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    del rows[data.draw(st.sampled_from(sorted(rows)))]
    return True


def _rename_operation(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    name = data.draw(st.sampled_from(sorted(rows)))
    rows[f"{name}_anew"] = rows.pop(name)
    return True


def _raise_danger(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    row = rows[data.draw(st.sampled_from(sorted(rows)))]
    before, row["danger"] = row["danger"], data.draw(st.sampled_from(["safe", "reversible", "dangerous", "forbidden"]))
    return before != row["danger"]


def _drop_parameter(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    row = rows[data.draw(st.sampled_from(sorted(rows)))]
    names = sorted(name for name, parameter in row["parameters"].items() if parameter["in"] != "adapter")
    if not names:
        return False
    del row["parameters"][data.draw(st.sampled_from(names))]
    return True


def _require_parameter(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    row = rows[data.draw(st.sampled_from(sorted(rows)))]
    names = sorted(name for name, parameter in row["parameters"].items() if parameter["in"] != "adapter")
    if not names:
        return False
    parameter = row["parameters"][data.draw(st.sampled_from(names))]
    parameter["required"] = not parameter.get("required", False)
    return True


def _drop_field(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    name = data.draw(st.sampled_from(sorted(key for key in types if key in REACHED and types[key].get("properties"))))
    fields = types[name]["properties"]
    if len(fields) < 2:
        return False
    del fields[data.draw(st.sampled_from(sorted(fields)))]
    return True


def _add_field(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    name = data.draw(st.sampled_from(sorted(key for key in types if key in REACHED and types[key].get("properties"))))
    types[name]["properties"]["something_new"] = {"type": "string"}
    return True


def _change_type(rows: dict[str, Any], types: dict[str, Any], data: st.DataObject) -> bool:
    name = data.draw(st.sampled_from(sorted(key for key in types if key in REACHED and types[key].get("properties"))))
    fields = types[name]["properties"]
    plain = sorted(field for field, schema in fields.items() if schema.get("type") in ("string", "integer", "boolean"))
    if not plain:
        return False
    field = data.draw(st.sampled_from(plain))
    fields[field] = {"type": "array" if fields[field]["type"] != "array" else "string"}
    return True


EDITS: tuple[Edit, ...] = (
    _drop_operation,
    _rename_operation,
    _raise_danger,
    _drop_parameter,
    _require_parameter,
    _drop_field,
    _add_field,
    _change_type,
)


def _reached() -> frozenset[str]:
    """Return the types that some operation takes or answers."""
    names: set[str] = set()
    texts = [json.dumps(encode(operation)) for operation in PETSTORE.operations.values()]
    while texts:
        for name in re.findall(r'"#/types/([^"]+)"', texts.pop()):
            if name in PETSTORE.types and name not in names:
                names.add(name)
                texts.append(json.dumps(PETSTORE.types[name]))
    return frozenset(names)


REACHED = _reached()


def edited(data: st.DataObject, edits: int) -> tuple[Surface, bool]:
    """Return the petstore with so many edits, and True if one of them affects an agent."""
    families = {name: operation.family for name, operation in PETSTORE.operations.items()}
    rows = {name: copy.deepcopy(encode(operation)) for name, operation in PETSTORE.operations.items()}
    types = copy.deepcopy(dict(PETSTORE.types))
    is_affected = False
    for _ in range(edits):
        is_affected |= data.draw(st.sampled_from(EDITS))(rows, types, data)
    files = {
        f"src/shop/operations/{family}.json": json.dumps(
            {name: row for name, row in rows.items() if families.get(name.removesuffix("_anew")) == family}
        ).encode()
        for family in ("create", "read", "update", "delete", "execute")
    }
    files["src/shop/types.json"] = json.dumps(types).encode()
    files["src/shop/adapter.json"] = json.dumps(encode(PETSTORE.adapter)).encode()
    return surface_of_folder(files, "shop"), is_affected


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_an_edit_that_affects_an_agent_is_always_reported(data: st.DataObject) -> None:
    other, is_affected = edited(data, 1)
    if is_affected:
        assert compare(PETSTORE, other)
        assert compare(other, PETSTORE)


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_any_edits_can_be_compared_both_ways_and_shown(data: st.DataObject) -> None:
    other, _ = edited(data, data.draw(st.integers(2, 12)))
    for changes in (compare(PETSTORE, other), compare(other, PETSTORE)):
        for text in shown(changes):
            assert text
        assert len({json.dumps(change) for change in changes.as_json()["changes"]}) == len(changes.changes)


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_what_is_removed_one_way_is_added_the_other_way(data: st.DataObject) -> None:
    families = sorted(PETSTORE.operations)
    gone = set(data.draw(st.lists(st.sampled_from(families), min_size=1, max_size=5, unique=True)))
    less = Surface(
        {name: operation for name, operation in PETSTORE.operations.items() if name not in gone},
        PETSTORE.types,
        PETSTORE.adapter,
    )
    removed, added = compare(PETSTORE, less), compare(less, PETSTORE)
    assert {name for change in removed.changes for name in change.operations} == gone
    assert {name for change in added.changes for name in change.operations} == gone
    assert removed.breaking
    assert not added.of(Level.BREAKING)
