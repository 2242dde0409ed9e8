"""What `aqlgen diff` compares: each side a document, a project, or one of the two at a git revision."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from aqlgen.compare import Surface, surface_of_folder
from aqlgen.errors import AqlgenError, FileError, OptionError
from aqlgen.project.revisions import Revision, revision
from aqlgen.render.provenance import FILE

__all__ = ["Operand", "operands"]


@dataclass(frozen=True, slots=True)
class Operand:
    """One side. `written` is what the user gave, `spec` where it is to be read: of a project its folder."""

    written: str
    spec: str
    is_project: bool

    @classmethod
    def of(cls, written: str, stack: ExitStack) -> tuple[Self, Revision | None]:
        """Find out what is meant; what a revision holds is written to a folder that goes with the stack."""
        if written == "-" or "://" in written:
            return cls(written, written, is_project=False), None
        if Path(written).exists():
            return cls(written, written, _is_project(Path(written))), None
        found = revision(written, Path())
        if found is None:
            raise FileError.of(
                "nothing-to-compare",
                f"{written} is no file, no folder and no revision of git here",
                help="Give a document, the folder of a project, or a revision such as HEAD~1 or v1.0:api/openapi.yaml.",
                file=written,
            )
        place = found.write(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aqlgen-"))))
        return cls(written, str(place), _is_project(place)), found

    def surface(self) -> Surface:
        """Give what an agent meets of a project. Raises FileError for files that are missing or broken."""
        folder = Path(self.spec)
        package = next(iter(sorted(folder.glob("src/*/adapter.json"))), None)
        if package is None:
            raise FileError.of("not-a-project", f"{self.written} has no operation table", file=self.written)
        try:
            files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in package.parent.rglob("*.json")}
        except OSError as error:
            raise FileError.of("file-unreadable", f"{self.written} cannot be read", file=self.written) from error
        return surface_of_folder(files, package.parent.name)

    def named(self, error: AqlgenError) -> AqlgenError:
        """Give an error of reading this side with the name that the user gave it."""
        if self.spec == self.written:
            return error
        folder = self.spec if self.is_project else str(Path(self.spec).parent)
        renamed = (
            replace(
                one,
                file=one.file.replace(self.spec, self.written).replace(f"{folder}/", f"{self.written}: "),
                message=one.message.replace(self.spec, self.written),
            )
            for one in error.diagnostics
        )
        return type(error)(*renamed)


def operands(old: str, new: str | None, stack: ExitStack) -> tuple[Operand, Operand]:
    """Give both sides. Without a new one it is what is in the work tree: the same path, or the project here."""
    before, at = Operand.of(old, stack)
    if new is None and at is not None:
        new = os.path.relpath(at.work_tree)
    if new is None and not _is_project(Path()):
        raise OptionError.of(
            "bad-option", f"there is nothing to compare {old} with", help="Name a second document or project, too."
        )
    after, _ = Operand.of("." if new is None else new, stack)
    return before, after


def _is_project(folder: Path) -> bool:
    return (folder / FILE).is_file() or any(folder.glob("src/*/adapter.json"))
