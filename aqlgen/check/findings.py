"""What a finding is about, for who mends it: whether it is known, and the lines of the operation that it names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import NamedTuple

from aqlgen.check.operations import Operation

__all__ = ["Known", "KnownError", "Place", "places_of", "read_known"]

_FORM = {"rule": str, "operation": str, "reason": str, "until": date}


class KnownError(ValueError):
    """An entry of `check.known` that cannot be used; the message says which one, and what it needs."""


class Known(NamedTuple):
    """A finding that the owner knows of: it does not count until its day is over."""

    rule: str
    operation: str
    reason: str
    until: date


def read_known(project: Path) -> list[Known]:
    """Return the entries of `[[check.known]]` in a project's adapter.toml that are still good. Raises KnownError."""
    file = project / "adapter.toml"
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("check", {}) if file.is_file() else {}
    except ValueError as problem:
        raise KnownError(f"adapter.toml is not valid TOML: {problem}") from None
    entries = table.get("known", []) if isinstance(table, dict) else []
    known: list[Known] = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        is_whole = isinstance(entry, dict) and entry.keys() == _FORM.keys()
        if not is_whole or any(type(entry[key]) is not kind or not entry[key] for key, kind in _FORM.items()):
            raise KnownError(
                f"entry {number} of [[check.known]] in adapter.toml needs rule, operation, reason and until, a date "
                'such as 2027-01-31, as in: rule = "PH-3"'
            )
        known.append(Known(**entry))
    return [entry for entry in known if entry.until >= date.today()]


class Place(NamedTuple):
    """Where an operation stands: the file and line of the kept document, and its key of overrides.yaml."""

    file: str
    line: int
    key: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, or '{self.key}' in overrides.yaml"


def places_of(project: Path, operations: Iterable[Operation]) -> Mapping[str, Place]:
    """Return where operations stand, by their names; an operation of a document that is gone has no place."""
    from aqlgen.diagnostics.errors import FileError
    from aqlgen.document.positions import find, join
    from aqlgen.project import Project

    apis: dict[str, dict[str, tuple[str, str]]] = {}
    for operation in operations:
        path, method = operation.row.path.partition("#")[0].partition("?")[0], operation.row.method
        pointer = join(("paths", path, method.lower()))
        apis.setdefault(operation.row.api, {})[operation.name] = pointer, f"{method} {path}"
    places: dict[str, Place] = {}
    for api, keys in apis.items():
        with suppress(FileError, OSError, ValueError):
            file = Project.open(project).document(api)
            text, form = file.read_text(encoding="utf-8-sig"), "json" if file.suffix == ".json" else "yaml"
            positions = find(text, form, [pointer for pointer, _ in keys.values()])  # type: ignore[arg-type]
            name = file.relative_to(project).as_posix()
            places |= {operation: Place(name, positions[pointer][0], key) for operation, (pointer, key) in keys.items()}
    return places
