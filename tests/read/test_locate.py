"""Diagnostics get their position, in order, and each is reported once."""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.read import locate

TEXT = "openapi: 3.1.0\npaths:\n  /b:\n    get: {}\n  /a:\n    get: {}\n"


def note(pointer: str, **more: object) -> Diagnostic:
    return Diagnostic("x", Severity.WARNING, "m", pointer, **more)


def test_they_are_sorted_by_place_and_repeats_are_folded(source):
    located = locate([source(TEXT)], [note("/paths/~1a/get"), note("/paths/~1b"), note("/paths/~1a/get"), note("")])
    assert [(diagnostic.file, diagnostic.line, diagnostic.column) for diagnostic in located] == [
        ("api.yaml", 1, 1),
        ("api.yaml", 3, 3),
        ("api.yaml", 6, 5),
    ]


def test_those_of_other_files_and_those_with_a_position_are_unchanged(source):
    other, placed = note("/paths", file="other.yaml"), note("/paths", file="api.yaml", line=9, column=9)
    assert locate([source(TEXT)], [other, placed]) == (placed, other)


def test_nothing_is_parsed_when_there_is_nothing_to_locate(source, monkeypatch):
    monkeypatch.setattr("aqlgen.document.read.source.find", None)
    assert locate([source(TEXT)], [note("", line=1, file="api.yaml")])
