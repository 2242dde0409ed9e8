"""What is asked of an update, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqlgen.compare import Changes
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import Json
from aqlgen.pipeline import Prepared
from aqlgen.project.made import Made
from aqlgen.project.merging import Merged
from aqlgen.render.provenance import FILE
from aqlgen.table.model import FAMILIES

__all__ = ["Asked", "Updated"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be another than it was; what is empty or None stays as it is recorded."""

    spec: str | None = None
    headers: tuple[str, ...] = ()
    overlays: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    license: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    field_case: str | None = None
    rename: bool = False
    """Take the names that the operations would get today."""
    aliases: int | None = None
    """For how many days operations that are renamed go on answering to their old names; None for not at all."""
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did, or would do."""

    folder: Path
    prepared: Prepared
    merged: Merged
    changes: Changes
    before: Made
    after: Made
    overrides_added: tuple[str, ...]
    aliases_added: tuple[str, ...]
    written: bool

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the document and the overrides gave cause to say."""
        return self.prepared.diagnostics

    @property
    def exit_code(self) -> int:
        """0, or 1 when there are conflicts to resolve."""
        return 1 if self.merged.conflicts else 0

    def as_json(self, warnings: list[Json]) -> dict[str, Json]:
        """Give the JSON form."""
        merged, table = self.merged, self.prepared.table
        counts = {family: len(table.of(family)) for family in FAMILIES}
        return {
            "success": not merged.conflicts,
            "output_directory": str(self.folder),
            "package": self.prepared.identity.package,
            "dry_run": not self.written,
            "from": self.before.as_json(),
            "to": self.after.as_json(),
            "files": {
                "added": list(merged.added),
                "changed": list(merged.changed),
                "removed": list(merged.removed),
                "conflicts": [one.path for one in merged.conflicts],
            },
            "conflicts": [{"path": one.path, "why": one.why} for one in merged.conflicts],
            "overrides_added": list(self.overrides_added),
            "aliases_added": list(self.aliases_added),
            "operations": {"total": sum(counts.values()), **counts, "skipped": len(self.prepared.skipped)},
            "changes": self.changes.as_json(),
            "provenance": str(self.folder / FILE),
            "warnings": warnings,
        }
