"""Diagnostics as people and programs see them."""

from __future__ import annotations

import io
import json

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.report import as_json, as_text, json_text
from aqlgen.document.read import parse
from aqlgen.runtime.text import visible


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TEXT = "openapi: 3.1.0\npaths:\n  /a:\n    get: 1\n"
FINDING = Diagnostic("bad", Severity.WARNING, "is odd", "/paths/~1a", "api.yaml", 3, 3, "Mend it.")


def source(text: str = TEXT):
    return parse("api.yaml", text.encode(), None)


def test_without_a_terminal_there_is_a_line_and_its_help():
    text = as_text([FINDING], [source()], stream=io.StringIO(), environ={})
    assert text == "api.yaml:3:3: warning: is odd [bad]\n  help: Mend it."


def test_a_terminal_gets_an_excerpt_with_an_arrow():
    text = as_text([FINDING], [source()], stream=Terminal(), environ={"NO_COLOR": "1"})
    assert text.splitlines() == [
        "api.yaml:3:3: warning: is odd [bad]",
        "    3 |   /a:",
        "      |   ^",
        "  help: Mend it.",
    ]


def test_the_excerpt_is_of_the_file_that_is_named():
    other = parse("models.yaml", b"a: 1\nb: 2\nc: 3\n", None)
    finding = Diagnostic("bad", Severity.WARNING, "is odd", "/c", "models.yaml", 3, 1)
    text = as_text([finding], [source(), other], stream=Terminal(), environ={"NO_COLOR": "1"})
    assert text.splitlines()[1] == "    3 | c: 3"


def test_colours_are_for_terminals_that_want_them():
    assert "\x1b[33m" in as_text([FINDING], [source()], stream=Terminal(), environ={})
    assert "\x1b" not in as_text([FINDING], [source()], stream=Terminal(), environ={"NO_COLOR": "1"})
    assert "\x1b" not in as_text([FINDING], [source()], stream=Terminal(), environ={"TERM": "dumb"})
    assert "\x1b" not in as_text([FINDING], [source()], stream=io.StringIO(), environ={})


def test_a_long_line_is_cut_around_the_column():
    line = '{"openapi": "3.1.0", "x": "' + "a" * 5000 + '", "y": 1}'
    finding = Diagnostic("bad", Severity.ERROR, "m", "/y", "api.yaml", 1, line.index('"y"') + 1)
    excerpt, arrow = as_text([finding], [source(line)], stream=Terminal(), environ={"NO_COLOR": "1"}).splitlines()[1:]
    assert len(excerpt) < 120
    assert excerpt[arrow.index("^") :].startswith('"y"')


def test_the_arrow_is_under_the_place_after_wide_characters_and_tabs():
    finding = Diagnostic("bad", Severity.ERROR, "m", "", "api.yaml", 1, 5)
    excerpt = as_text([finding], [source("漢:\t 1")], stream=Terminal(), environ={"NO_COLOR": "1"}).splitlines()
    assert excerpt[1:] == ["    1 | 漢:  1", "      |      ^"]


def test_text_of_a_document_never_acts_on_a_terminal():
    hostile = Diagnostic("bad", Severity.ERROR, "a\x1b[2J\nb\u202ec", "", "x\x07.yaml", 0, 0, "\x9b31m")
    text = as_text([hostile], stream=Terminal(), environ={"NO_COLOR": "1"})
    assert text == "x\\x07.yaml: error: a\\x1b[2J\\nb\\u202ec [bad]\n  help: \\x9b31m"
    assert visible("Zoë 漢字 😀") == "Zoë 漢字 😀"


def test_the_excerpt_of_a_document_never_acts_on_a_terminal():
    text = '{"a": "\u202e\x7f", "b": 1}'
    finding = Diagnostic("bad", Severity.ERROR, "m", "/b", "api.yaml", 1, text.index('"b"') + 1)
    shown = as_text([finding], [source(text)], stream=Terminal(), environ={"NO_COLOR": "1"}).splitlines()
    assert "\\u202e\\x7f" in shown[1]
    assert shown[1][shown[2].index("^") :].startswith('"b"')


def test_a_file_that_could_not_be_read_has_an_excerpt_too(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("a: 1\n\tb: 2\n")
    finding = Diagnostic("bad", Severity.ERROR, "m", "", str(path), 2, 1)
    assert "    2 |  b: 2" in as_text([finding], stream=Terminal(), environ={"NO_COLOR": "1"})


def test_json_details_have_the_pointer_or_the_file():
    plain = Diagnostic("bad", Severity.ERROR, "m", "", "api.yaml")
    assert as_json([FINDING, plain]) == [
        {
            "path": "/paths/~1a",
            "file": "api.yaml",
            "line": 3,
            "column": 3,
            "code": "bad",
            "message": "is odd",
            "suggestion": "Mend it.",
        },
        {
            "path": "api.yaml",
            "file": "api.yaml",
            "line": 0,
            "column": 0,
            "code": "bad",
            "message": "m",
            "suggestion": "",
        },
    ]


def many(count: int, **more: str) -> list[Diagnostic]:
    return [
        Diagnostic("bad", Severity.WARNING, f"the reference '#/x/{number}' of GET /a/{number} leads nowhere", **more)
        for number in range(count)
    ]


def test_findings_that_say_the_same_of_other_places_are_counted_after_the_first_three():
    other = Diagnostic("bad", Severity.WARNING, "the method is never served")
    lines = as_text([*many(3), other, *many(20)], stream=io.StringIO()).splitlines()
    assert len(lines) == 5
    assert lines[3] == "  … and 20 more like it; -v shows all"
    assert "never served" in lines[4]


def test_four_are_shown_and_verbose_shows_all():
    assert len(as_text(many(4), stream=io.StringIO()).splitlines()) == 4
    assert len(as_text(many(30), stream=io.StringIO(), show_all=True).splitlines()) == 30
    assert len(as_json(many(30))) == 30


def test_json_has_no_character_that_acts_on_a_terminal():
    value = {"a\x9bb": "\x1b[2J\x7f\u202e\u2066\u200b\ud800 Zoë 漢"}
    text = json_text(value)
    assert json.loads(text) == value
    assert text == '{\n  "a\\u009bb": "\\u001b[2J\\u007f\\u202e\\u2066\\u200b\\ud800 Zoë 漢"\n}'


def test_a_message_with_an_endless_name_is_cut_in_its_middle():
    finding = Diagnostic("bad", Severity.ERROR, f"the path {'x' * 70_000} is odd", "", "api.yaml")
    text = as_text([finding], stream=io.StringIO())
    assert len(text) < 700
    assert text.endswith("is odd [bad]")
