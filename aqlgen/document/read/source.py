"""A document as it was read: bytes decoded to text, text parsed to a tree of plain data, and positions in the text."""

from __future__ import annotations

import codecs
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import Lines, Origins, Position, find
from aqlgen.document.read import json_parser
from aqlgen.document.read.identify import refuse_binary, refuse_markup, version_remarks
from aqlgen.document.read.limits import Limits
from aqlgen.ir import Json

_HELP = "Save it as UTF-8, for example with: iconv -f LATIN1 -t UTF-8"


def decode(name: str, data: bytes) -> str:
    """Return the text without its byte order mark, line ends kept. Raises DocumentError naming the first bad byte."""
    if data.startswith(codecs.BOM_UTF32_LE):
        raise DocumentError.of("bad-encoding", "the text is UTF-32", file=name, help="Save it as UTF-8.")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode(name, data, "utf-16", "UTF-16")
    return _decode(name, data, "utf-8-sig", "UTF-8")


def _decode(name: str, data: bytes, codec: str, label: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        # The codec counts from after the byte order mark that it has removed.
        offset = error.start + len(data) - len(error.object)
        before = error.object[: error.start].decode(codec, errors="replace")
        line, column = Lines(before).place(len(before))
        raise DocumentError.of(
            "bad-encoding",
            f"not {label} at byte {offset}" + (f" (0x{data[offset]:02x})" if offset < len(data) else ""),
            file=name,
            line=line,
            column=column,
            help=_HELP,
        ) from None


Format: TypeAlias = Literal["json", "yaml"]


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed document. All keys of `root` are text, no value contains itself, and depth and size are bounded.

    `name` is the name that the user gave (`<stdin>` for `-`, a URL without its password). `base` is the location
    against which relative references resolve: an absolute path, a URL after redirects, or None for standard input.
    A YAML alias shares the value of its anchor, so `root` must not be changed in place.
    """

    name: str
    data: bytes
    format: Format
    root: Mapping[str, Json] | Json
    base: Path | str | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The text, decoded for each report: kept, it would take as much memory as the bytes."""
        return decode(self.name, self.data)

    def find(self, pointers: Iterable[str]) -> dict[str, Position]:
        """Return the positions of pointers in the text."""
        narrow = self.format == "json" and not self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = self.data.removeprefix(codecs.BOM_UTF8).decode("latin-1") if narrow else self.text
        return find(text, self.format, pointers, narrow=narrow)


def parse(
    name: str, data: bytes, base: Path | str | None, *, limits: Limits | None = None, part: bool = False
) -> Source:
    """Parse the bytes of a document; its name does not matter. Raises DocumentError.

    A `part` of a document in several files may be any value, not only an object.
    """
    limits = limits or Limits()
    refuse_binary(name, data)
    text = decode(name, data)
    refuse_markup(name, text)
    with _collector_paused():
        root, form, findings = _parse_text(name, text, limits)
    if part:
        return Source(name, data, form, root, base, tuple(findings))
    if not isinstance(root, dict):
        raise DocumentError.of(
            "not-an-object",
            f"the document is {_type_name(root)}, not an object",
            file=name,
            line=1,
            column=1,
            help="An OpenAPI document is a JSON or YAML object that has the keys openapi, info and paths.",
        )
    findings += version_remarks(root)
    return Source(name, data, form, root, base, tuple(findings))


def _parse_text(name: str, text: str, limits: Limits) -> tuple[Json, Format, list[Diagnostic]]:
    if not text.lstrip().startswith(("{", "[", "//", "/*")):
        from aqlgen.document.read import yaml_parser  # only YAML documents should pay for importing it

        root, findings = yaml_parser.parse(name, text, limits)
        return root, "yaml", findings
    try:
        root, findings = json_parser.parse(name, text, limits)
    except DocumentError as error:
        if error.diagnostics[0].code != "json-syntax":
            raise
        return _parse_flow_yaml(name, text, limits, error), "yaml", []
    return root, "json", findings


def _parse_flow_yaml(name: str, text: str, limits: Limits, refused: DocumentError) -> Json:
    """Parse what begins like JSON, and is not JSON, as YAML; raise the error of JSON for what is neither."""
    from aqlgen.document.read import yaml_parser

    line, column = refused.diagnostics[0].line or 1, refused.diagnostics[0].column or 1
    if text.split("\n")[line - 1][column - 1 :].startswith(("//", "/*")):
        raise refused  # YAML would take the comment for a part of the next key
    try:
        root, _ = yaml_parser.parse(name, text, limits)
    except DocumentError as error:
        raise (refused if error.diagnostics[0].code == "yaml-syntax" else error) from None
    if not isinstance(root, (dict, list)):
        raise refused
    return root


def _type_name(value: Json) -> str:
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    return "text" if isinstance(value, str) else "a list"


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: with millions of new containers and no garbage it would double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_ORDER = {severity: rank for rank, severity in enumerate((Severity.ERROR, Severity.WARNING, Severity.NOTE))}


def locate(
    sources: Sequence[Source],
    diagnostics: Iterable[Diagnostic],
    root: Json = None,
    origins: Origins | None = None,
) -> tuple[Diagnostic, ...]:
    """Return diagnostics with file, pointer, line and column of the user's own files, sorted, without repeats.

    A diagnostic without a file points into `root`, the tree assembled from the sources, and `origins` maps it to a
    file; without `origins` it points into the first source. One that names a source points into that source. One that
    has a line already, or names another file, stays as it is.
    """
    mapped = [_at_origin(diagnostic, sources[0].name, root, origins) for diagnostic in diagnostics]
    wanted: dict[str, set[str]] = defaultdict(set)
    for diagnostic in mapped:
        if not diagnostic.line:
            wanted[diagnostic.file].add(diagnostic.pointer)
    places = {source.name: source.find(wanted[source.name]) for source in sources if source.name in wanted}
    placed = {
        _at_position(diagnostic, *places[diagnostic.file][diagnostic.pointer])
        if not diagnostic.line and diagnostic.file in places
        else diagnostic
        for diagnostic in mapped
    }
    ranks = {source.name: rank for rank, source in enumerate(sources)}
    return tuple(sorted(placed, key=lambda diagnostic: _key(ranks.get(diagnostic.file, len(ranks)), diagnostic)))


def _at_origin(diagnostic: Diagnostic, main: str, root: Json, origins: Origins | None) -> Diagnostic:
    """Map a pointer into the assembled tree to a pointer into the file that the part came from."""
    if diagnostic.file:
        return diagnostic
    if diagnostic.line or origins is None:
        return replace(diagnostic, file=main)
    origin = origins.find(root, diagnostic.pointer)
    return replace(diagnostic, pointer=origin.pointer, file=origin.file or main)


def _at_position(diagnostic: Diagnostic, line: int, column: int) -> Diagnostic:
    return replace(diagnostic, line=line, column=column)


def _key(rank: int, diagnostic: Diagnostic) -> tuple[int, str, int, int, int, str, str, str]:
    severity = _ORDER[diagnostic.severity]
    place = rank, diagnostic.file, diagnostic.line, diagnostic.column
    return *place, severity, diagnostic.code, diagnostic.pointer, diagnostic.message
