"""The result that `aqlgen check --record` left in the provenance of a project (R-CONF-2), and whether it is stale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from json import dumps
from typing import Self

from aqlgen.ir import Json
from aqlgen.project.worktree import Worktree
from aqlgen.project.write import write_file
from aqlgen.render.provenance import FILE, file_hash, generated_at, tree_hash
from aqlgen.resources import build

__all__ = ["CheckRecord"]


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """The level that was reached, the operations of `total` that it rests on, when, by which aqlgen, of which files."""

    level: int
    operations: int
    total: int
    date: str
    aqlgen: str
    files: str

    @classmethod
    def of(cls, provenance: Mapping[str, Json]) -> Self | None:
        """Return what a provenance file records; None for nothing, or for what cannot be read."""
        entry = provenance.get("conformance")
        if not isinstance(entry, dict):
            return None
        level, operations, total = (entry.get(key) for key in ("level", "operations", "total"))
        if not (isinstance(level, int) and isinstance(operations, int) and isinstance(total, int)):
            return None
        return cls(level, operations, total, *(str(entry.get(key)) for key in ("date", "aqlgen", "files")))

    @classmethod
    def write(cls, tree: Worktree, level: int, operations: int, total: int) -> Self:
        """Record a result in the project. Raises FileError."""
        date = (generated_at() or datetime.now(UTC).isoformat())[:10]
        record = cls(level, operations, total, date, build(), _hash(tree))
        file = tree.project.folder / FILE
        head, key, _ = file.read_text(encoding="utf-8").rpartition('"conformance": ')
        entry = dumps(asdict(record), indent=2).replace("\n", "\n  ")
        write_file(f"{head}{key}{entry}\n}}\n".encode(), file)
        return record

    def is_stale(self, tree: Worktree) -> bool:
        """Return True if files of the project changed since."""
        return self.files != _hash(tree)

    def __str__(self) -> str:
        return f"level {self.level}, from calls of {self.operations} of {self.total} operations, on {self.date}"


def _hash(tree: Worktree) -> str:
    """Return the hash of the project's files as they are."""
    return tree_hash({path: file_hash(tree.read(path) or b"") for path in tree.project.recorded})
