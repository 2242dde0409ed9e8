"""Edits that cannot be kept: each is refused with its place, the reason and the way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import Lines, find
from aqlgen.edits.writing import flow
from aqlgen.ir import Json

__all__ = ["CODE", "paste", "refused", "unknown", "whole"]

CODE: Final = "machine-file-edited"

_UNDO: Final = "To give the edit up, delete the file and commit that: `aqlgen update` writes it anew."

_WAYS: Final = (
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
    """Refuse an edit at a place in a file: where a pointer leads, or at an offset in its text.

    `hint` is put before the way out.
    """
    line, column = Lines(text).place(offset) if offset is not None else _place(text, pointer)
    way = " ".join(filter(None, (hint, _way(path, package), _UNDO)))
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=line, column=column, help=way)


def whole(path: str, edited: bytes, pristine: bytes | None, package: str) -> Diagnostic:
    """Refuse the edits of a file that holds nothing to decide, at the first line that differs."""
    text = edited.decode("utf-8", "replace")
    before = (pristine or b"").decode("utf-8", "replace").splitlines()
    lines = text.splitlines()
    first = next((number for number, pair in enumerate(zip(before, lines, strict=False)) if pair[0] != pair[1]), None)
    line = (min(len(before), len(lines)) if first is None else first) + 1 if pristine is not None else 1
    message = "this file is generated and was edited by hand, in a way that no override can say"
    way = f"{_way(path, package)} {_UNDO}"
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=line, column=1, help=way)


def unknown(path: str, version: str) -> Diagnostic:
    """Refuse the edits of a table of which nobody knows any more how it was generated; `version` is that of aqlgen."""
    message = "this file was edited by hand, and what was generated there is not to be found any more"
    first = (
        f"`pip install aqlgen=={version}`, `aqlgen update` and commit"
        if version
        else "Update by the aqlgen that made it"
    )
    way = f"{first}, then update by this one; or bring the history (`git fetch --unshallow`). {_UNDO}"
    return Diagnostic(CODE, Severity.ERROR, message, file=path, line=1, column=1, help=way)


def paste(path: str, text: str, pointer: str, entries: Mapping[str, Json], why: str) -> Diagnostic:
    """Refuse edits that could be overrides, which cannot be put into the user's file: show what to put there."""
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
    return next((way for start, way in _WAYS if path.startswith(start.format(package=package))), "")
