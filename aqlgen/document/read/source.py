"""A document as it was read, and the way there."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import Lines
from aqlgen.document.read import jsontext, version, yamltext
from aqlgen.document.read.encoding import decode
from aqlgen.document.read.fetch import fetch
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.sniff import refuse_binary, refuse_markup
from aqlgen.document.read.web import Headers, Web
from aqlgen.ir import Json

Format: TypeAlias = Literal["json", "yaml"]


@dataclass(frozen=True, slots=True)
class Source:
    """One document. All keys of `root` are text, no value contains itself, and depth and size are bounded.

    `name` is as the user named it (`<stdin>` for `-`, a URL without its password); `base` is the document's own place,
    against which relative references resolve: an absolute path, a URL after redirects, or None for standard input.
    A YAML alias shares the value it stands for, so `root` must not be changed in place.
    """

    name: str
    data: bytes
    text: str
    format: Format
    root: Mapping[str, Json] | Json
    base: Path | str | None
    diagnostics: tuple[Diagnostic, ...] = ()


def read(spec: str, *, headers: Headers = (), limits: Limits | None = None) -> Source:
    """Read a file, an http(s) URL (sending `headers` to its own origin) or `-` for standard input.

    Raises FileError when it cannot be had, DocumentError when what is there is not a JSON or YAML object.
    """
    limits = limits or Limits()
    web = Web(spec, headers, limits)
    try:
        raw = fetch(spec, limits, web)
    finally:
        web.close()
    return parse(raw.name, raw.data, raw.base, limits=limits)


def parse(
    name: str, data: bytes, base: Path | str | None, *, limits: Limits | None = None, part: bool = False
) -> Source:
    """Read a document from bytes that are at hand, by content and whatever it is named. Raises DocumentError.

    A `part` of a document that is split over files may be any value, not only an object.
    """
    limits = limits or Limits()
    refuse_binary(name, data)
    text = decode(name, data)
    refuse_markup(name, text)
    with _collector_paused():
        root, form, findings = _tree(name, text, limits)
    if part:
        return Source(name, data, text, form, root, base, tuple(findings))
    if not isinstance(root, dict):
        raise DocumentError.of(
            "not-an-object",
            f"the document is {_kind(root)}, not an object",
            file=name,
            line=1,
            column=1,
            help="An OpenAPI document is a JSON or YAML object that has the keys openapi, info and paths.",
        )
    findings += version.remarks(root)
    return Source(name, data, text, form, root, base, tuple(findings))


def _tree(name: str, text: str, limits: Limits) -> tuple[Json, Format, list[Diagnostic]]:
    if not text.lstrip().startswith(("{", "[", "//", "/*")):
        root, findings = yamltext.parse(name, text, limits)
        return root, "yaml", findings
    try:
        root, findings = jsontext.parse(name, text, limits)
    except jsontext.NotJson as fault:
        root, findings = _flow_yaml(name, text, limits, fault)
        return root, "yaml", findings
    return root, "json", findings


def _flow_yaml(name: str, text: str, limits: Limits, fault: jsontext.NotJson) -> tuple[Json, list[Diagnostic]]:
    """YAML may begin with a brace too; but when it is neither, the fault to tell is the JSON's."""
    line, column = Lines(text).place(fault.offset)
    refused = DocumentError.of(
        "json-syntax", f"not valid JSON: {fault.problem}", file=name, line=line, column=column, help=fault.help
    )
    if text.startswith(("//", "/*"), fault.offset):  # YAML would take the comment for a part of the next key
        raise refused
    try:
        root, findings = yamltext.parse(name, text, limits)
    except DocumentError as error:
        if error.diagnostics[0].code != "yaml-syntax":
            raise
        raise refused from None
    if not isinstance(root, (dict, list)):
        raise refused
    message = f"not valid JSON ({fault.problem}), so it was read as YAML"
    note = Diagnostic("json-as-yaml", Severity.NOTE, message, file=name, line=line, column=column)
    return root, [note, *findings]


def _kind(value: Json) -> str:
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    return "text" if isinstance(value, str) else "a list"


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Millions of new containers and no garbage: the cyclic collector would only double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
