"""`aqlgen from-openapi`: a complete project from a document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqlgen.diagnostics import Diagnostic
from aqlgen.errors import FileError, OptionError
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.render import Order, render
from aqlgen.render.provenance import FILE
from aqlgen.table.model import FAMILIES
from aqlgen.write import refuse_occupied, write_tree


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
    spdx = _license(license)
    if output is not None:
        refuse_occupied(output)
    prepared = prepare(options, progress)
    folder = output if output is not None else Path(prepared.identity.project)
    refuse_occupied(folder)
    progress("rendering")
    tree = render(_order(options, prepared, spdx))
    if not dry_run:
        progress("writing")
        write_tree(tree, folder)
    return Generated(folder, prepared, len(tree), written=not dry_run)


def _order(options: Options, prepared: Prepared, license: str) -> Order:
    recorded = {
        "name": prepared.identity.name,
        "include": list(options.include),
        "exclude": list(options.exclude),
        "field_case": options.field_case,
        "license": license,
    }
    return Order(
        identity=prepared.identity,
        table=prepared.table,
        given=prepared.assembled.given,
        kept=prepared.assembled.kept,
        license=license,
        overrides=_overrides(options.overrides),
        options=recorded,
        skipped=tuple((f"{one.method.upper()} {one.path}", one.diagnostic.message) for one in prepared.skipped),
    )


def _overrides(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError.of("file-unreadable", f"{path} cannot be read", file=str(path)) from error


def _license(given: str) -> str:
    """Give the canonical form of an SPDX expression, empty for none. Raises OptionError."""
    if not given:
        return ""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        return str(canonicalize_license_expression(given))
    except InvalidLicenseExpression:
        raise OptionError.of(
            "bad-option",
            f"--license {given!r} is not an SPDX licence expression",
            help="Use an identifier from the SPDX list, such as MIT, Apache-2.0 or LicenseRef-Proprietary.",
        ) from None
