"""The options of a generation are recorded, or it is said why not: an update forgets none of them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Any

from aqlgen.cli.from_openapi import from_openapi_command
from aqlgen.pipeline import Options
from aqlgen.project.options import KEPT, NOT_RECORDED, RECORDED, as_given, read_options

RUN = {"requests", "overrides", "overrides_text", "strict", "stale", "ids"}
"""Fields of `Options` that are about a run: the document, the overrides, and how findings about them are reported."""


def test_every_option_of_from_openapi_is_recorded_or_declared_as_not_recorded() -> None:
    options = set(inspect.signature(from_openapi_command).parameters)
    assert options <= RECORDED.keys() | KEPT.keys() | NOT_RECORDED.keys()
    assert KEPT.keys() | NOT_RECORDED.keys() <= options
    assert not NOT_RECORDED.keys() & (RECORDED.keys() | KEPT.keys())


def test_every_field_of_the_options_is_recorded_or_about_a_run() -> None:
    names = {field.name for field in fields(Options)}
    assert names == set(read_options({})) | RUN
    assert "apis" in RECORDED, "it is read with the requests for the kept documents (`Project.documents`)"


def test_a_record_that_makes_no_sense_gives_the_defaults() -> None:
    nonsense = {key: [1, {"a": 2}] for key in RECORDED}
    defaults = {field.name: field.default for field in fields(Options)}
    read = read_options({**nonsense, "names": "x", "retired": 3, "include": "x", "exclude": None})
    assert {name: read[name] for name in ("name", "include", "exclude", "field_case")} == {
        name: defaults[name] for name in ("name", "include", "exclude", "field_case")
    }
    assert (read["names"], read["retired"]) == ({}, {})


def test_a_text_a_switch_and_texts_are_recorded_as_they_are_given_without_a_row() -> None:
    @dataclass(frozen=True)
    class Asked:
        text: str | None = None
        switch: bool = False
        texts: tuple[str, ...] = ()

    unused: Any = None
    asked = Asked("basic", switch=True, texts=("a", "b"))
    options = {option.name: as_given(option) for option in fields(Asked)}
    values = {name: recorded.value(asked, unused, "") for name, recorded in options.items()}  # type: ignore[arg-type]

    assert values == {"text": "basic", "switch": True, "texts": ["a", "b"]}
    assert Asked(**{name: options[name].read(value) for name, value in values.items()}) == asked  # type: ignore[misc]
    for nonsense in (None, 7, {"a": 1}):
        assert Asked(**{name: recorded.read(nonsense) for name, recorded in options.items()}) == Asked()  # type: ignore[misc]
