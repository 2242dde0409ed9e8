"""Pointers to lines and columns, in JSON and YAML alike."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.document.positions import Lines, find, join, split


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("", (1, 2)),
        ("/paths", (2, 3)),
        ("/paths/~1pets~1{id}", (3, 5)),
        ("/paths/~1pets~1{id}/get/tags/1", (4, 30)),
        ("/paths/~1pets~1{id}/get/gone/deeper", (4, 7)),
        ("/x~0y", (7, 3)),
        ("/nothing", (1, 2)),
    ],
)
def test_a_pointer_in_json_has_its_place(pointer: str, place: tuple[int, int]):
    text = ' {\n  "paths": {\n    "/pets/{id}": {\n      "get": {"tags": ["é😀", "b"]}\n    }\n  },\r\n  "x~y": 0}'
    assert find(text, "json", [pointer])[pointer] == place


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("", (2, 1)),
        ("/paths/~1pets/get", (4, 5)),
        ("/paths/~1pets/get/tags/1", (6, 9)),
        ("/paths/~1pets/get/200", (7, 7)),
        ("/paths/~1cats/get/tags", (9, 5)),
        ("/paths/~1dogs/tags/0", (10, 3)),
        ("/zoë/b", (11, 13)),
    ],
)
def test_a_pointer_in_yaml_has_its_place_or_that_of_its_nearest_ancestor(pointer: str, place: tuple[int, int]):
    text = (
        "# é😀\npaths:\r\n  /pets:\n    get: &g\n      tags: [😀,\n        b]\n      200: x\n"
        "  /cats:\n    get: *g\n  /dogs: {<<: *g}\nzoë: {a: 1, b: 2}\n"
    )
    assert find(text, "yaml", [pointer])[pointer] == place


def test_lines_end_in_every_way():
    lines = Lines("a\nb\r\nc\rd")
    assert [lines.place(offset) for offset in (0, 2, 5, 7)] == [(1, 1), (2, 1), (3, 1), (4, 1)]


KEYS = st.text("ab/~é😀 ", min_size=1, max_size=3)
TREES = st.recursive(
    st.integers(0, 9) | st.text('a{]"\\,:', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=15,
)


def pointers(value: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner_path for key, member in inner for inner_path in pointers(member, (*path, str(key))))]


@given(st.dictionaries(KEYS, TREES), st.sampled_from([None, 1]), st.sampled_from(["json", "yaml"]))
def test_every_place_holds_what_the_pointer_names(tree: dict[str, object], indent: int | None, form: str):
    if form == "json":
        text = json.dumps(tree, ensure_ascii=False, indent=indent)
    else:
        text = yaml.safe_dump(tree, allow_unicode=True, default_flow_style=bool(indent), width=10_000)
    lines = text.split("\n")
    for pointer, (line, column) in find(text, form, map(join, pointers(tree))).items():
        rest = lines[line - 1][column - 1 :]
        parent: object = tree
        for part in split(pointer)[:-1]:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        if pointer and isinstance(parent, dict) and form == "json":
            assert rest.startswith(json.dumps(split(pointer)[-1], ensure_ascii=False) + ":")
        elif pointer and isinstance(parent, dict):
            assert yaml.safe_load("{" + rest.partition(":")[0].rstrip("?") + ": 1}") is not None
        elif form == "json":
            value = parent[int(split(pointer)[-1])] if pointer else tree
            assert rest.startswith(json.dumps(value, ensure_ascii=False)[:1])


@given(st.dictionaries(KEYS, TREES), st.booleans(), st.sampled_from([None, 1]))
def test_bytes_taken_for_characters_have_the_same_places(tree: dict[str, object], escaped: bool, indent: int | None):
    text = json.dumps({"Ã©": 0, **tree, "é": tree}, ensure_ascii=escaped, indent=indent)
    wanted = [*map(join, pointers(tree)), "/é", "/Ã©", *(f"/é{join(path)}" for path in pointers(tree))]
    assert find(text.encode().decode("latin-1"), "json", wanted, narrow=True) == find(text, "json", wanted)
