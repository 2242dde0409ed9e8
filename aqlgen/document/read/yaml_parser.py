"""A parser for YAML in one pass over events: bounded, never recursive, with merge keys and aliases.

Other parsers build first and check later; here an alias bomb, endless nesting or a repeated key is noticed at once.
Plain scalars follow the core schema of YAML 1.2.2, section 10.3.2: `no`, `on` and dates are text, `010` is ten and
`0o10` is eight. Infinities and not-a-number stay text, because JSON has none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml import events

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import Lines, join
from aqlgen.document.read.json_parser import repeated_key
from aqlgen.document.read.limits import MOST_FINDINGS, Limits, too_deep, too_many
from aqlgen.document.yaml_events import SLIPS, parser_events
from aqlgen.ir import Json

_WORDS: Final[dict[str, Json]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,999})")  # a code such as 08 is a text: no number of JSON
_BASED: Final = re.compile(r"0o[0-7]{1,1000}|0x[0-9a-fA-F]{1,1000}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def scalar_value(text: str) -> Json:
    """Return the value of a scalar written without quotes and without a tag."""
    if not text or text[0] not in _NUMBER_STARTS:
        return _WORDS.get(text, text)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else text
    return text


_CORE: Final = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float"))
_VERSION: Final = ["info", "version"]  # a string (OpenAPI, Info Object): as a number, 1.10 would become 1.1
_PAGE: Final = 64  # characters of text that weigh as much as a value, since aliases can repeat text too
_NO_KEY: Final = object()
_OPEN: Final = object()


@dataclass(slots=True)
class _Frame:
    """An open collection; `count` is the number of values before it."""

    value: Any
    anchor: str | None
    count: int
    key: Any = _NO_KEY
    merging: bool = False
    merged: list[dict[str, Json]] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)


def parse(name: str, text: str, limits: Limits) -> tuple[Json, list[Diagnostic]]:
    """Parse one YAML document. Raises DocumentError on a syntax error, past the limits, or for a second document."""
    builder = _Builder(name, text, limits)
    try:
        builder.run(parser_events(text))
    except yaml.MarkedYAMLError as error:
        raise builder.syntax_error(error) from None
    except yaml.reader.ReaderError as error:
        character = error.character  # the first of its kind; libyaml counts its position in bytes
        problem = f"not valid YAML: the character U+{character:04X} is not allowed"
        raise builder.refusal("yaml-syntax", problem, max(text.find(chr(character)), 0)) from None
    if builder.root is _NO_KEY:
        raise DocumentError.of("empty-document", "the document has only comments", file=name)
    return builder.root, builder.findings


class _Builder:
    def __init__(self, name: str, text: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.lines = Lines(text)
        self.text = text
        self.root: Json = _NO_KEY
        self.findings: list[Diagnostic] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._count = 0

    def run(self, stream: Iterator[Any]) -> None:
        documents = 0
        for event in stream:
            kind = type(event)
            if kind is events.ScalarEvent:
                self._scalar(event)
            elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
                self._open(event, {} if kind is events.MappingStartEvent else [])
            elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
                self._close()
            elif kind is events.AliasEvent:
                self._alias(event)
            elif kind is events.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    raise self.refusal(
                        "several-documents",
                        "a second YAML document begins here",
                        event.start_mark.index,
                        help="Split the file at the line of three dashes and name the part that is meant.",
                    )

    def _scalar(self, event: Any) -> None:
        text, frame = event.value, self._stack[-1] if self._stack else None
        self._step(1 + len(text) // _PAGE, event)
        if frame is not None and frame.key is _NO_KEY and type(frame.value) is dict:
            if event.anchor is not None:
                self._anchors[event.anchor] = text, 1 + len(text) // _PAGE
            self._key(frame, text, event)
            return
        if event.tag is None or event.tag == "!":
            value = scalar_value(text) if event.implicit[0] else text
        else:
            value = scalar_value(text) if event.tag in _CORE else text
        if type(value) is float and [frame.key for frame in self._stack] == _VERSION:
            value = self._version(text, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, 1 + len(text) // _PAGE
        self._place(value)

    def _version(self, text: str, event: Any) -> str:
        line, column = self.lines.place(event.start_mark.index)
        message = f"the version is a number; read as the text “{text}”"
        place, advice = ("/info/version", self.name, line, column), f'Write version: "{text}".'
        self.findings.append(Diagnostic("version-not-text", Severity.NOTE, message, *place, help=advice))
        return text

    def _key(self, frame: _Frame, text: str, event: Any) -> None:
        frame.key = text
        if text == "<<" and event.implicit[0]:
            frame.merging = True
            return
        offset = event.start_mark.index
        if text in frame.offsets and len(self.findings) < MOST_FINDINGS:
            first = frame.offsets[text]
            steps = (str(len(part.value)) if type(part.value) is list else part.key for part in self._stack)
            self.findings.append(repeated_key(self.name, text, join(steps), self.lines, first, offset))
        frame.offsets[text] = offset

    def _open(self, event: Any, value: Any) -> None:
        if self._stack and self._stack[-1].key is _NO_KEY and type(self._stack[-1].value) is dict:
            raise self.refusal("yaml-syntax", "not valid here: a key that is not text", event.start_mark.index)
        if len(self._stack) >= self.limits.depth:
            raise too_deep(self.name, self.limits, *self.lines.place(event.start_mark.index))
        if event.anchor is not None:
            self._anchors[event.anchor] = _OPEN, 0
        self._stack.append(_Frame(value, event.anchor, self._count))
        self._step(1, event)

    def _close(self) -> None:
        frame = self._stack.pop()
        for merged in frame.merged:
            for key, value in merged.items():
                frame.value.setdefault(key, value)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = frame.value, self._count - frame.count
        self._place(frame.value)

    def _alias(self, event: Any) -> None:
        offset = event.start_mark.index
        if event.anchor not in self._anchors:
            raise self.refusal("yaml-syntax", f"not valid YAML: no anchor is named “{event.anchor}”", offset)
        value, size = self._anchors[event.anchor]
        if value is _OPEN:
            raise self.refusal("cyclic-anchor", f"the alias “{event.anchor}” stands inside the value it names", offset)
        self._step(size, event)
        frame = self._stack[-1]
        if frame.key is _NO_KEY and type(frame.value) is dict:
            if isinstance(value, (dict, list)):
                raise self.refusal("yaml-syntax", "not valid here: a key that is not text", offset)
            frame.key = value if isinstance(value, str) else self.text[offset:].split(":", 1)[0].strip()
            return
        self._place(value)

    def _place(self, value: Json) -> None:
        if not self._stack:
            self.root = value
            return
        frame = self._stack[-1]
        if type(frame.value) is list:
            frame.value.append(value)
            return
        if frame.merging and (maps := _mappings(value)) is not None:
            frame.merged += maps
        else:
            frame.value[frame.key] = value
        frame.key = _NO_KEY
        frame.merging = False

    def _step(self, size: int, event: Any) -> None:
        self._count += size
        if self._count > self.limits.nodes:
            raise too_many(self.name, self.limits, *self.lines.place(event.start_mark.index))

    def refusal(self, code: str, message: str, offset: int, *, help: str = "") -> DocumentError:
        line, column = self.lines.place(offset)
        return DocumentError.of(code, message, file=self.name, line=line, column=column, help=help)

    def syntax_error(self, error: yaml.MarkedYAMLError) -> DocumentError:
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark else 0
        if self.text[offset : offset + 1] == "\t":
            return self.refusal(
                "yaml-syntax", "not valid YAML: a tab in the indentation", offset, help="YAML indents with spaces only."
            )
        problem = " ".join(part for part in (error.context, error.problem) if part)
        return self.refusal("yaml-syntax", f"not valid YAML: {problem or 'cannot be parsed'}", offset, help=SLIPS)


def _mappings(value: Json) -> list[dict[str, Json]] | None:
    """Return the mappings that a merge key accepts: one mapping or a list, the first of which wins; else None."""
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return value
    return None
