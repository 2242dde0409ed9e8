"""Refusals of edits of machine files: place, reason and way out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aqlgen.decide.overrides import parse
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.positions import find
from aqlgen.ir import Json
from aqlgen.project import Project
from aqlgen.project.insertion import flow
from aqlgen.project.records import ANSWERS
from aqlgen.render.provenance import RUNTIME, file_hash, is_code
from aqlgen.runtime.schema import pointer_of

CODE: Final = "machine-file-edited"

_UNDO: Final = "To drop the edit, delete the file; `aqlgen update` restores it."

_EXTEND: Final = "Extend the adapter in src/{package}/hooks.py, adapter.toml or overrides.yaml instead."

_SEALED: Final = "To read the runtime, have its source in the project: `aqlgen update --runtime source`."

_WAYS: Final = (
    ("openapi/adapter.", "Give the changed element, or this very file, by --spec."),
    ("openapi/", "Use an overlay (`aqlgen update --overlay FILE`), or give your document with --spec."),
    (
        "src/{package}/operations/",
        "use `parameters` in overrides.yaml, or change the document by an overlay (`aqlgen update --overlay FILE`).",
    ),
    ("src/{package}/adapter.json", "Settings belong in adapter.toml, decisions in overrides.yaml."),
    ("src/{package}/", "It comes from the document: an overlay changes that (`aqlgen update --overlay FILE`)."),
    ("OPERATIONS.md", "It only shows the decisions: make them in overrides.yaml, and take notes in the README."),
    ("schema/", "It only shows the decisions: make them in overrides.yaml."),
    (".copier-answers.yml", "It is only a record: give such changes to `aqlgen update` as options."),
)
"""What to do instead, by the beginning of the path."""

_COMMIT: Final = re.compile(rb"^_commit: .*\n", re.MULTILINE)
"""The line of its answers that copier changes."""

_SAME: Final = frozenset("danger asked summary description confirmation example aliases".split())
"""Entries of a row that an override holds as they are."""

_FOUND: Final = frozenset({"parameters", "demanded"})
"""Entries of `pagination` that follow from the operation's parameters."""


def refusals(project: Project, edited: Mapping[str, bytes], today: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """Refuse edits of machine files, each operation of a table with the override that does the same.

    `today` is what this aqlgen generates from what the project keeps. A file that is like it is not edited, nor is one
    that was only formatted. It says what was edited where it is what was generated last time, too.
    """
    package, before, after = project.package, dict[str, bytes](), dict[str, bytes]()
    findings = []
    for path in sorted(edited):
        pristine = today.get(path)
        if pristine is not None and _same(edited[path], pristine, by_copier=path == ANSWERS):
            continue
        known = pristine is not None and file_hash(pristine) == project.recorded.get(path)
        if known and path.startswith(f"src/{package}/operations/"):
            before[path], after[path] = pristine or b"", edited[path]
        else:
            findings.append(_whole(path, edited[path], pristine if known else None, package))
    try:
        findings += _operations(_rows(before), _rows(after), edited, package)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        findings += [_whole(path, after[path], before[path], package) for path in after]
    return tuple(findings)


def _same(edited: bytes, pristine: bytes, *, by_copier: bool) -> bool:
    if by_copier and _COMMIT.sub(b"", edited) == _COMMIT.sub(b"", pristine):
        return True
    try:
        return edited == pristine or bool(json.loads(edited) == json.loads(pristine))
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table: its file, its name, and its entries."""

    path: str
    name: str
    entries: Mapping[str, Json]


def _rows(files: Mapping[str, bytes]) -> dict[str, _Row]:
    """Return the rows by their key in overrides.yaml. Raises ValueError, and others for rows that are none."""
    rows = {}
    for path, content in files.items():
        for name, row in json.loads(content).items():
            key = f"{row['method']} {row['path']}"
            rows[f"{row['api']}:{key}" if row.get("api") else key] = _Row(path, name, row)
    return rows


def _operations(
    before: Mapping[str, _Row], after: Mapping[str, _Row], edited: Mapping[str, bytes], package: str
) -> Iterator[Diagnostic]:
    """Yield a refusal for each operation that was edited, with the override that does the same as far as one can."""
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        row = new or old
        assert row is not None  # noqa: S101 - the key is of one of them
        override, others = _override(old, new)
        try:
            parse(f"{flow({key: override})[1:-1]}\n")
        except OptionError:
            override, others = {}, [*others, *override]
        instruction = f"Put into overrides.yaml: `{flow(key)}: {flow(override)}`." if override else ""
        reason = f"For {', '.join(others)}: {_way(row.path, package)}" if others else ""
        message = f"the {', '.join((*override, *others))} of `{row.name}` was edited by hand in a generated file"
        text = edited[row.path].decode("utf-8", "replace")
        line, column = _place(text, pointer_of((row.name,))) if new else (1, 1)
        way = " ".join(filter(None, (instruction, reason, _UNDO)))
        yield Diagnostic(CODE, Severity.ERROR, message, file=row.path, line=line, column=column, help=way)


def _override(old: _Row | None, new: _Row | None) -> tuple[dict[str, Json], list[str]]:
    """Return the override that does what was edited, and the other edited entries."""
    if old is None or new is None:
        return ({"hidden": True}, []) if old else ({}, ["a row of its own"])
    override: dict[str, Json] = {"name": new.name} if new.name != old.name else {}
    if new.path != old.path:
        override["category"] = new.path.rpartition("/")[2].removesuffix(".json").upper()
    edited = [key for key in sorted({*old.entries, *new.entries}) if old.entries.get(key) != new.entries.get(key)]
    override |= {key: value for key in edited if (value := _overriding(key, new.entries)) is not None}
    return override, [key for key in edited if key not in override]


def _overriding(key: str, entries: Mapping[str, Json]) -> Json:
    """Return the value of the override with the effect of an edited entry, None if no override has it."""
    value = entries.get(key, "never" if key == "asked" else None)
    if key == "pagination" and isinstance(value, Mapping | None):
        return {name: part for name, part in (value or {}).items() if name not in _FOUND} or False
    return value if key in _SAME else None


def _whole(path: str, edited: bytes, pristine: bytes | None, package: str) -> Diagnostic:
    """Refuse the edits of a file that overrides say nothing about, at the first line that differs."""
    text = edited.decode("utf-8", "replace")
    before = (pristine or b"").decode("utf-8", "replace").splitlines()
    lines = text.splitlines()
    first = next((number for number, pair in enumerate(zip(before, lines, strict=False)) if pair[0] != pair[1]), None)
    line = (min(len(before), len(lines)) if first is None else first) + 1 if pristine is not None else 1
    message = f"this file is {'code of aqlgen' if is_code(path, package) else 'generated'} and was edited by hand"
    way = f"{_way(path, package)} {_UNDO}"
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=line, column=1, help=way)


def _place(text: str, pointer: str) -> tuple[int, int]:
    try:
        return find(text, "json", [pointer])[pointer]
    except (ValueError, IndexError, RecursionError):
        return 1, 1


def _way(path: str, package: str) -> str:
    if is_code(path, package):
        return _EXTEND.format(package=package) + (f" {_SEALED}" if path == RUNTIME else "")
    return next((way for start, way in _WAYS if path.startswith(start.format(package=package))), "")
