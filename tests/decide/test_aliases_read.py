"""Aliases as they are read from overrides.yaml."""

from __future__ import annotations

from datetime import date

from aqlgen.decide.overrides import parse
from tests.cases import each


def refusals(text: str) -> list[tuple[int, int, str]]:
    return [
        (diagnostic.line, diagnostic.column, diagnostic.message)
        for diagnostic in parse(text, "overrides.yaml").diagnostics
    ]


def test_an_alias_is_a_name_or_a_name_with_its_last_day() -> None:
    text = "GET /pets:\n  aliases:\n    - all_pets\n    - {name: fetch_pets, until: 2027-01-31}\n"
    first, second = parse(text).entries["GET /pets"].aliases
    assert (first.name, first.until, first.place) == ("all_pets", None, (3, 7))
    assert (second.name, second.until, second.place) == ("fetch_pets", date(2027, 1, 31), (4, 14))


@each(
    ("aliases", "column", "message"),
    [
        ("old", 22, "`aliases` must be a list"),
        ("[Old]", 23, "`Old` cannot be a name: an operation's name is lower-case words joined by _, at most 64"),
        ("[introspect]", 23, "`introspect` is reserved by the protocol"),
        ("[{until: 2027-01-01}]", 23, "an alias needs a `name`"),
        ("[{name: old, till: 2027-01-01}]", 35, "an alias has no `till`"),
        ("[{name: old, until: soon}]", 42, "`until` must be a day"),
        ("[{name: old, until: 2027-02-30}]", 42, "`until` must be a day"),
        ("[{name: old, until: 2027-01-01T10:00:00Z}]", 42, "`until` must be a day"),
        ("[[old]]", 23, "an alias must be a name or a mapping"),
        ("[old, old]", 28, "the alias `old` is taken by GET /pets"),
        ("[my_pets], name: my_pets", 23, "the alias `my_pets` is taken by GET /pets"),
    ],
)
def test_what_is_no_alias_is_refused_with_its_place(aliases: str, column: int, message: str) -> None:
    """R-REQ-8"""
    diagnostics = refusals(f"GET /pets: {{aliases: {aliases}}}")
    assert len(diagnostics) == 1
    assert diagnostics[0][:2] == (1, column)
    assert diagnostics[0][2].startswith(message)


def test_an_alias_may_be_no_name_or_alias_that_another_operation_is_given() -> None:
    text = "GET /pets: {aliases: [mine, ours]}\nPUT /pets: {aliases: [ours]}\nPOST /pets: {name: mine}\n"
    assert refusals(text) == [
        (1, 23, "the alias `mine` is taken by POST /pets"),
        (2, 23, "the alias `ours` is taken by GET /pets"),
    ]


def test_a_tag_has_no_aliases() -> None:
    assert refusals("tag:pets: {aliases: [old]}") == [(1, 12, "the override of a tag has no `aliases`")]
