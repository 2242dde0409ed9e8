"""Diagnostics for edits that cannot be kept: place, reason and way out; and for code that is kept as a fork."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import Lines, find
from aqlgen.ir import Json
from aqlgen.project.edits.insertion import flow
from aqlgen.render.kinds import RUNTIME, is_code
from aqlgen.resources import SOURCE

__all__ = ["CODE", "forked", "paste", "refused", "unknown", "whole"]

CODE: Final = "machine-file-edited"

_UNDO: Final = "To give the edit up, delete the file and commit that: `aqlgen update` writes it anew."

_EXTEND: Final = "Extend the adapter in src/{package}/hooks.py, adapter.toml or overrides.yaml instead."
_KEEP: Final = "`aqlgen update --keep-edits` keeps the file as it is: a fork, which no later fix reaches."

_SEALED: Final = "To change the runtime, have its source in the project: `aqlgen update --runtime source`."

_WAYS: Final = (
    ("openapi/adapter.", "Give the changed element, or this very file, by --spec."),
    ("openapi/", "An overlay changes what is read (`aqlgen update --overlay FILE`), or give your document by --spec."),
    ("src/{package}/operations/", "Change it in the document, best by an overlay (`aqlgen update --overlay FILE`)."),
    ("src/{package}/adapter.json", "Settings belong in adapter.toml, decisions in overrides.yaml."),
    ("src/{package}/", "It comes from the document: an overlay changes that (`aqlgen update --overlay FILE`)."),
    ("OPERATIONS.md", "It only shows the decisions: make them in overrides.yaml, and take notes in the README."),
    ("schema/", "It only shows the decisions: make them in overrides.yaml."),
    (".copier-answers.yml", "It only records: `aqlgen update` takes such things as options."),
)
"""What to do instead, by the beginning of the path."""


def refused(
    path: str, text: str, package: str, message: str, *, pointer: str = "", offset: int | None = None, hint: str = ""
) -> Diagnostic:
    """Refuse an edit at a pointer into a file, or at an offset in its text; `hint` comes before the way out."""
    line, column = Lines(text).place(offset) if offset is not None else _place(text, pointer)
    way = " ".join(filter(None, (hint, _way(path, package), _UNDO)))
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=line, column=column, help=way)


def whole(path: str, edited: bytes, pristine: bytes | None, package: str) -> Diagnostic:
    """Refuse the edits of a file that overrides say nothing about, at the first line that differs."""
    text = edited.decode("utf-8", "replace")
    before = (pristine or b"").decode("utf-8", "replace").splitlines()
    lines = text.splitlines()
    first = next((number for number, pair in enumerate(zip(before, lines, strict=False)) if pair[0] != pair[1]), None)
    line = (min(len(before), len(lines)) if first is None else first) + 1 if pristine is not None else 1
    code = is_code(path, package)
    what = "this file of code is the machine's and was edited by hand"
    message = what if code else "this file is generated and was edited by hand, in a way that no override can say"
    way = f"{_way(path, package)} {_UNDO}"
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=line, column=1, help=way)


def forked(path: str, package: str, *, severity: Severity, generated: bool) -> Diagnostic:
    """Return the finding for a file of code kept as edited; `generated` is False if aqlgen no longer has the file."""
    rest = "what aqlgen changes in it does not arrive" if generated else "aqlgen does not generate it any more"
    message = f"this file of code is a fork, kept as it was edited by hand: {rest}"
    fit = "It may not fit the rest of the runtime: run the project's tests."
    accepted = "" if severity is Severity.WARNING else " `aqlgen check --pristine --keep-edits` accepts it."
    way = f"{fit}{accepted} {_EXTEND.format(package=package)} {_UNDO}"
    return Diagnostic("machine-file-forked", severity, message, file=path, help=way)


def unknown(path: str, version: str) -> Diagnostic:
    """Refuse the edits of a table whose generated content cannot be found; `version` is that of the aqlgen it is by."""
    message = "this file was edited by hand, and what was generated there is not to be found any more"
    first = (
        f"Install aqlgen {version} ({SOURCE}), run `aqlgen update` and commit"
        if version
        else "Update by the aqlgen that made it"
    )
    way = f"{first}, then update by this one; or bring the history (`git fetch --unshallow`). {_UNDO}"
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=1, column=1, help=way)


def paste(path: str, text: str, pointer: str, entries: Mapping[str, Json], why: str) -> Diagnostic:
    """Refuse edits that could be overrides, where the user's file has no place for them: show what to put there."""
    line, column = _place(text, pointer)
    shown = "; ".join(f"{key}: {flow(value)}" for key, value in entries.items())
    way = f"Put into overrides.yaml yourself: {shown}"
    return Diagnostic(CODE, Severity.ERROR, why, file=path, line=line, column=column, help=way)


def _place(text: str, pointer: str) -> tuple[int, int]:
    try:
        return find(text, "json", [pointer])[pointer]
    except (ValueError, IndexError, RecursionError):
        return 1, 1


def _way(path: str, package: str) -> str:
    if is_code(path, package):
        return f"{_EXTEND.format(package=package)} {_SEALED if path == RUNTIME else _KEEP}"
    return next((way for start, way in _WAYS if path.startswith(start.format(package=package))), "")
