"""YAML: the meaning of YAML 1.2, merge keys and aliases, and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.document.read import Limits, parse
from aqlgen.document.read.yaml_parser import parse as parse_yaml
from tests.generator.commands import tabulate


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("12:30:00", "12:30:00"),
        ("08", "08"),
        ("-07.5", "-07.5"),
        ("0o10", 8),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("-7", -7),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("12345678901234567890123", 12345678901234567890123),
        ("9" * 5000, "9" * 5000),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ('!!int "12"', 12),
        ("!Ref thing", "thing"),
        ("!!binary aGk=", "aGk="),
        ("!!python/object/apply:os.system [id]", ["id"]),
        ("1.2.3", "1.2.3"),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(root, written: str, value: object):
    scalar = root(f"a: {written}\n")["a"]
    assert scalar == value
    assert type(scalar) is type(value)


def test_keys_are_text_as_written(root):
    assert list(root("200: a\ntrue: b\n1.10: c\n~: d\nno: e\n")) == ["200", "true", "1.10", "~", "no"]


def test_merge_keys_add_what_is_not_given(root):
    text = "base: &base {x: 1, y: 1}\nother: &other {y: 2, z: 2}\none: {<<: *base, x: 0}\ntwo: {<<: [*base, *other]}\n"
    assert root(text)["one"] == {"x": 0, "y": 1}
    assert root(text)["two"] == {"x": 1, "y": 1, "z": 2}


def test_a_quoted_merge_key_is_an_ordinary_key(root):
    assert root('a: {"<<": {b: 1}}\n')["a"] == {"<<": {"b": 1}}


def test_an_alias_stands_for_the_anchored_value(root):
    assert root("a: &x [1, {b: 2}]\nc: *x\n")["c"] == [1, {"b": 2}]


def test_an_alias_inside_its_own_value_is_refused(refusal):
    assert refusal("a: &x\n  b: *x\n") == ("cyclic-anchor", "the alias “x” stands inside the value it names", 2, 6)


def test_an_unknown_alias_is_refused_where_it_stands(refusal):
    assert refusal("a: 1\nb: *gone\n") == ("yaml-syntax", "not valid YAML: no anchor is named “gone”", 2, 4)


def test_a_bomb_of_aliases_is_refused_at_once(refusal):
    layers = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 40))
    code, _, line, _ = refusal("l0: &l0 [a, a]\n" + layers)
    assert (code, line) == ("document-too-large", 8)


def test_a_bomb_of_merge_keys_is_refused_too(refusal):
    layers = "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}], k{n}: *m{n - 1}}}\n" for n in range(1, 40))
    assert refusal("m0: &m0 {a: 1}\n" + layers)[0] == "document-too-large"


@pytest.mark.parametrize("text", ["[" * 200_000, "a: " + "{a: " * 5000, "- " * 50_000 + "x", '{"a":' * 500_000])
def test_endless_nesting_is_refused(refusal, text: str):
    assert refusal(text)[0] in ("document-too-deep", "json-syntax")


def test_nesting_is_allowed_up_to_the_bound_and_no_further():
    limits = Limits(depth=5)
    assert parse("a", b"a: [[[[1]]]]", None, limits=limits).root == {"a": [[[[1]]]]}
    with pytest.raises(Exception, match="nested deeper than 5 levels"):
        parse("a", b"a: [[[[[1]]]]]", None, limits=limits)


def test_a_repeated_key_is_reported_with_both_lines_and_the_last_wins(source):
    read = source("paths:\n  /a: 1\n  /b: 2\n  /a: 3\n")
    assert read.root == {"paths": {"/a": 3, "/b": 2}}
    (finding,) = read.diagnostics
    assert (finding.code, finding.line, finding.column, finding.pointer) == ("duplicate-key", 4, 3, "/paths/~1a")
    assert "on line 2" in finding.message


def test_a_number_and_the_same_as_text_are_one_key(source):
    assert [diagnostic.code for diagnostic in source("200: a\n'200': b\n").diagnostics] == ["duplicate-key"]


def test_a_tab_in_the_indentation_is_named(refusal):
    assert refusal("a:\n\tb: 1\n") == ("yaml-syntax", "not valid YAML: a tab in the indentation", 2, 1)


def test_a_syntax_error_has_its_place(refusal):
    code, message, line, column = refusal("é: 1\na: b: c\n")
    assert (code, line, column) == ("yaml-syntax", 2, 5)
    assert "mapping values are not allowed" in message


def test_a_control_character_has_its_place(refusal):
    assert refusal("é: 1\nb: \x07x\n") == ("yaml-syntax", "not valid YAML: the character U+0007 is not allowed", 2, 4)


def test_a_key_that_is_not_text_is_refused(refusal):
    assert refusal("? [a, b]\n: 1\n")[:1] == ("yaml-syntax",)


def test_a_second_document_is_refused_where_it_begins(refusal):
    assert refusal("---\na: 1\n---\nb: 2\n") == ("several-documents", "a second YAML document begins here", 3, 1)


def test_markers_around_one_document_are_allowed(root):
    assert root("%YAML 1.2\n---\na: 1\n...\n") == {"a": 1}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aé\n\\" {}😀'),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab:#", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["openapi", "a b", "200", "true", "-"]), JSON, min_size=1))
def test_json_read_as_yaml_gives_the_same(value: dict[str, object]):
    text = json.dumps(value, ensure_ascii=False)
    assert parse_yaml("a", text, Limits())[0] == json.loads(text)


@pytest.mark.parametrize("line", ["\t\t# remark", "  \t # remark", "\t", "  \t  "])
def test_tabs_before_a_comment_or_in_an_empty_line_are_no_indentation(root, line) -> None:
    text = f"a:\n  - 1\n{line}\n  - text: |\n      kept\tas\tit is\n{line}\nb: 2\n"
    assert root(text) == {"a": [1, {"text": "kept\tas\tit is\n"}], "b": 2}


def test_positions_after_such_a_tab_are_exact(tmp_path: Path) -> None:
    document = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n\t# remark\n  /a:\n    get: {tags: 5}\n"
    (warning,) = tabulate(tmp_path, document).warnings
    assert (warning["code"], warning["line"]) == ("invalid-component", 6)
