"""`aqlgen from-openapi`: a complete project from a document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project.generation import order_of
from aqlgen.project.options import spdx
from aqlgen.project.write import refuse_occupied, write_tree
from aqlgen.render import render
from aqlgen.render.provenance import FILE
from aqlgen.table.model import FAMILIES


@dataclass(frozen=True, slots=True)
class Generated:
    """What was made: where, how many files, and everything known about the document."""

    folder: Path
    prepared: Prepared
    files: int
    written: bool

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the document gave cause to say."""
        return self.prepared.diagnostics

    def as_json(self, warnings: list[Json]) -> dict[str, Json]:
        """Give the JSON form of a success."""
        counts = {family: len(self.prepared.table.of(family)) for family in FAMILIES}
        return {
            "success": True,
            "output_directory": str(self.folder),
            "package": self.prepared.identity.package,
            "files_generated": self.files,
            "operations": {"total": sum(counts.values()), **counts, "skipped": len(self.prepared.skipped)},
            "provenance": str(self.folder / FILE),
            "warnings": warnings,
        }


def from_openapi(
    options: Options, *, output: Path | None, license: str, dry_run: bool, progress: Progress
) -> Generated:
    """Generate a project and write it, unless it is a dry run. Raises AqlgenError; nothing is ever half-written."""
    licensed = spdx(license)
    if output is not None:
        refuse_occupied(output)
    prepared = prepare(options, progress)
    folder = output if output is not None else Path(prepared.identity.project)
    refuse_occupied(folder)
    progress("rendering")
    tree = render(order_of(options, prepared, licensed))
    if not dry_run:
        progress("writing")
        write_tree(tree, folder)
    return Generated(folder, prepared, len(tree), written=not dry_run)
