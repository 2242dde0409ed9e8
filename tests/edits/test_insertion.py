"""Overrides put into a file that somebody wrote: it says more afterwards, and what they wrote is there to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.decide.overrides import parse
from aqlgen.project.insertion import InsertionError, insert
from tests.examples import examples

NEW = {"POST /pets": {"name": "take_pet"}}
ADDED = "POST /pets:\n  name: take_pet\n"
OTHER = "GET /x:\r\n  hidden: true"
SAFE = "POST /pets:\n    danger: safe"
PARAMETER = {"POST /pets": {"parameters": {"petId": {"name": "pet"}}}}


@pytest.mark.parametrize(
    ("text", "entries", "expected"),
    [
        ("", NEW, ADDED),
        ("# mine", NEW, f"# mine\n{ADDED}"),
        ("---\n", NEW, f"---\n{ADDED}"),
        (f"# a\r\n{OTHER}\r\n", NEW, f"# a\r\n{OTHER}\r\nPOST /pets:\r\n  name: take_pet\r\n"),
        ("\ufeffGET /x: {}", NEW, f"\ufeffGET /x: {{}}\n{ADDED}"),
        (f"{SAFE}  # why\n\n# end\n", NEW, f"{SAFE}  # why\n    name: take_pet\n\n# end\n"),
        ("post  /pets:\n  danger: safe\n", NEW, "post  /pets:\n  danger: safe\n  name: take_pet\n"),
        ("POST /pets: {danger: safe}  # why\n", NEW, "POST /pets: {danger: safe, name: take_pet}  # why\n"),
        ("POST /pets: {}\n", NEW, "POST /pets: {name: take_pet}\n"),
        ("POST /pets:\n  name: old  # why\n", NEW, "POST /pets:\n  name: take_pet  # why\n"),
        ('{"POST /pets": {"danger": "safe"}}', NEW, '{"POST /pets": {"danger": "safe", name: take_pet}}'),
        ("", PARAMETER, "POST /pets:\n  parameters: {petId: {name: pet}}\n"),
        (
            "POST /pets:\n  description: |\n    Two\n    lines\n\n# b\nGET /x: {hidden: true}\n",
            NEW,
            "POST /pets:\n  description: |\n    Two\n    lines\n\n  name: take_pet\n# b\nGET /x: {hidden: true}\n",
        ),
    ],
)
def test_what_is_new_is_put_where_it_belongs_and_nothing_else_changes(
    text: str, entries: dict[str, Any], expected: str
) -> None:
    assert insert(text, entries) == expected


@pytest.mark.parametrize(
    "text",
    [
        "base: &b {danger: safe}\nPOST /pets: *b\n",  # would change what the anchor names too
        "POST /pets: [1]\n",
        "POST /pets:\n  name: >  # why\n    old\n",  # would take the comment with it
        "GET /x: {hidden: true}\n...\n",
        "POST /pets: {name: a\n",
    ],
)
def test_a_layout_that_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(InsertionError):
        insert(text, NEW)


@pytest.mark.parametrize(
    "value",
    ["a: b", "# no", "it's", '"x"', "two\nlines", "true", "2026-01-01", "1e5", "\u202eevil", "[a, b]", "é", "- a"],
)
@pytest.mark.parametrize("text", ["", "POST /pets: {danger: safe}\n"])
def test_every_text_is_read_back_as_it_was(text: str, value: str) -> None:
    written = insert(text, {"POST /pets": {"description": value, "example": {"a, b": [value, 1, 1e5, None, True]}}})
    override = parse(written).entries["POST /pets"]
    assert override.description == value
    assert override.example == {"a, b": [value, 1, 1e5, None, True]}
    assert "\u202e" not in written


KEYS = [f"{method} /{path}" for method in ("GET", "POST", "DELETE") for path in ("pets", "pets/{petId}", "a:b", "x#y")]
VALUES = {
    "name": st.sampled_from(["take_pet", "see_pet"]),
    "danger": st.sampled_from(["safe", "destructive"]),
    "hidden": st.booleans(),
    "description": st.text("ab #:'\"{},\n", max_size=9).map(lambda text: f"x{text}y"),
    "example": st.dictionaries(st.sampled_from(["a", "b c"]), st.integers() | st.text("a,:# ", max_size=4), max_size=2),
    "parameters": st.dictionaries(
        st.sampled_from(["petId", "body:note", "X-Id"]),
        st.sampled_from([{"hidden": True}, {"name": "it"}]),
        min_size=1,
        max_size=2,
    ),
}


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """Draw overrides of a few operations, none of them empty."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=5))
    fields = st.lists(st.sampled_from(sorted(VALUES)), unique=True, min_size=1, max_size=4)
    return {key: {field: draw(VALUES[field]) for field in draw(fields)} for key in keys}


@st.composite
def laid_out(draw: st.DrawFn, entries: dict[str, Any]) -> str:
    """Write overrides the way people do: as blocks or on a line, with comments and empty lines anywhere."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = ["# mine: {all} of it"] if draw(st.booleans()) else []
    for key, entry in json.loads(json.dumps(entries)).items():  # so that nothing occurs twice and is anchored
        if draw(st.booleans()):
            lines.append(yaml.safe_dump({key: entry}, default_flow_style=True, width=10**6).strip()[1:-1])
            lines[-1] += draw(st.sampled_from(["", "  # 'why'"]))
        else:
            step = draw(st.sampled_from([2, 3]))
            lines += yaml.safe_dump({key: entry}, indent=step, width=10**6, sort_keys=False).rstrip("\n").split("\n")
        lines += draw(st.sampled_from([[], [""], ["# next"], ["", "  # a: b", ""]]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


def is_within(text: str, longer: str) -> bool:
    """Return True if a text is what remains of a longer one without some of its parts."""
    rest = iter(longer)
    return all(character in rest for character in text)


def together(overrides: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {key: {**overrides.get(key, {}), **other.get(key, {})} for key in {**overrides, **other}}


@settings(max_examples=examples(300), deadline=None)
@given(st.data(), entries(), entries())
def test_any_overrides_can_be_added_to_any_file_of_overrides(
    data: st.DataObject, before: dict[str, Any], added: dict[str, Any]
) -> None:
    text = data.draw(laid_out(before))
    new = insert(text, added)
    assert yaml.safe_load(new) == (together(before, added) or None)
    fresh = {
        key: {field: value for field, value in entry.items() if field not in before.get(key, {})}
        for key, entry in added.items()
    }
    if fresh == added:
        assert is_within(text, new)
    assert insert(new, added) == new
