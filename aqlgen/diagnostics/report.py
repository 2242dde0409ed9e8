"""Showing diagnostics to people and to programs, repeated ones folded.

    petstore.yaml:12:7: warning: the key “get” was given before, on line 9; that one is ignored [duplicate-key]
       12 |       get:
          |       ^
      help: Keep one of them.

Text of a document is never sent to a terminal as it is: control and bidirectional characters are made visible.

A document that breaks one rule mostly breaks it in many places: such findings are folded.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, TextIO

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.plain import escaped
from aqlgen.ir import Json
from aqlgen.runtime.text import visible

MOST: Final = 3
"""How many findings of a shape are shown before the rest is counted."""

_QUOTED: Final = re.compile(r"“[^“”]*”|'[^']*'|\"[^\"]*\"|\b[A-Z]+ /\S*|\{[^{}]*\}|/\S+|\d[\d.,]*")
"""What differs between findings of one shape: what is quoted, operations, placeholders, paths and numbers."""


def fold(diagnostics: Iterable[Diagnostic]) -> list[tuple[Diagnostic, int]]:
    """Return the first few findings of each shape in order, each with the number of those left out after it."""
    shaped = [((each.severity, each.code, _QUOTED.sub("…", each.message)), each) for each in diagnostics]
    total = Counter(shape for shape, _ in shaped)
    seen: Counter[tuple[str, str, str]] = Counter()
    shown: list[tuple[Diagnostic, int]] = []
    for shape, finding in shaped:
        seen[shape] += 1
        if seen[shape] < MOST or total[shape] <= MOST + 1:  # a single one is shown sooner than counted
            shown.append((finding, 0))
        elif seen[shape] == MOST:
            shown.append((finding, total[shape] - MOST))
    return shown


_WIDTH: Final = 100
_LONGEST: Final = 600
_BREAK: Final = re.compile(r"\r\n?|\n")
_COLOURS: Final = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


class Text(Protocol):
    """A document that was read: the name that diagnostics give it, and its text."""

    @property
    def name(self) -> str:
        """The name in diagnostics."""

    @property
    def text(self) -> str:
        """The text as it was decoded."""


def as_text(
    diagnostics: Iterable[Diagnostic],
    sources: Sequence[Text] = (),
    *,
    stream: TextIO | None = None,
    environ: Mapping[str, str] | None = None,
    show_all: bool = False,
) -> str:
    """Return the lines to print, in the order given, with no line end at the end; repeats are counted unless `every`.

    For a terminal (`stream`, standard error unless given) there are excerpts with arrows, and colours without NO_COLOR.
    """
    terminal = (stream or sys.stderr).isatty()
    environ = os.environ if environ is None else environ
    colour = terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    texts = _Texts(sources)
    shown: list[str] = []
    for finding, left_out in [(finding, 0) for finding in diagnostics] if show_all else fold(diagnostics):
        shown.append(_headline(finding, colour=colour))
        if terminal and finding.line and (line := texts.line(finding.file, finding.line)) is not None:
            shown += _excerpt(line, finding.line, finding.column, _paint(finding.severity, colour))
        if finding.help:
            shown.append(f"  {_bold('help:', colour)} {visible(_cut(finding.help))}")
        if left_out:
            shown.append(f"  … and {left_out:,} more like it; -v shows all")
    return "\n".join(shown)


class _Texts:
    """The lines of the documents spoken of: the sources that were read, or a file that could not become one."""

    def __init__(self, sources: Sequence[Text]) -> None:
        self._texts = {source.name: source.text for source in sources}
        self._lines: dict[str, list[str]] = {}

    def line(self, name: str, number: int) -> str | None:
        if name not in self._lines:
            text = self._texts.get(name)
            self._lines[name] = self._read(name) if text is None else _BREAK.split(text)
        lines = self._lines[name]
        return lines[number - 1] if number <= len(lines) else None

    @staticmethod
    def _read(name: str) -> list[str]:
        try:
            path = Path(name)
            data = path.read_bytes() if path.is_file() else b""
        except (OSError, ValueError):
            return []
        utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return _BREAK.split(data.decode("utf-16" if utf16 else "utf-8-sig", errors="replace"))


def as_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, str | int]]:
    """Return the `details` of a JSON failure; `path` is the pointer into the document, or else the file.

    Those of an adapter element are in the form of the protocol's generator document, 2.2, with its codes.
    """
    return [
        {
            "path": finding.path or finding.pointer or finding.file,
            "file": finding.file,
            "line": finding.line,
            "column": finding.column,
            "code": finding.code.upper().replace("-", "_") if finding.code.startswith("schema-") else finding.code,
            "message": finding.message,
            **({"expected": finding.expected, "actual": finding.actual} if finding.expected else {}),
            "suggestion": finding.help,
        }
        for finding in diagnostics
    ]


def json_text(value: Json) -> str:
    """Write JSON for a terminal or a program: characters that would act on a terminal are escaped."""
    return escaped(json.dumps(value, ensure_ascii=False, indent=2))


def _headline(finding: Diagnostic, *, colour: bool) -> str:
    place = ":".join([visible(finding.file), *([str(finding.line), str(finding.column)] if finding.line else [])])
    severity = _paint(finding.severity, colour).format(f"{finding.severity}:")
    start = f"{_bold(place + ':', colour)} " if place else ""
    return f"{start}{severity} {visible(_cut(finding.message))} [{finding.code}]"


def _cut(text: str) -> str:
    """Shorten a text in its middle: names of a document may be of any length."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST * 2 // 3]} … {text[-_LONGEST // 3 :]}"


def _excerpt(line: str, number: int, column: int, paint: str) -> list[str]:
    """Return the line, cut to the part around the column, and an arrow under it."""
    start = max(0, min(column - 1 - _WIDTH // 3, len(line) - _WIDTH))
    part = line[start : start + _WIDTH].replace("\t", " ")
    before = ("…" if start else "") + visible(part[: column - 1 - start])
    after = visible(part[column - 1 - start :]) + ("…" if start + _WIDTH < len(line) else "")
    gutter = f"{number:>5} | "
    cells = sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in before
    )
    arrow = " " * (len(gutter) - 2) + "| " + " " * cells + "^"
    return [gutter + before + after, paint.format(arrow)]


def _paint(severity: Severity, colour: bool) -> str:
    return f"\x1b[{_COLOURS[severity]}m{{}}\x1b[0m" if colour else "{}"


def _bold(text: str, colour: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if colour else text
