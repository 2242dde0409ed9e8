"""The size of a generated project, as its owner commits it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProjectSize:
    """The lines of each file by its path: None for a binary one, and 0 for the API's own document."""

    lines: dict[str, int | None]

    @property
    def files(self) -> int:
        """Return the number of files."""
        return len(self.lines)

    @property
    def total(self) -> int:
        """Return the number of lines of text, without the document."""
        return sum(count or 0 for count in self.lines.values())


def project_size(folder: Path) -> ProjectSize:
    """Return the size of a project that was just generated."""
    lines: dict[str, int | None] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        path, content = file.relative_to(folder).as_posix(), file.read_bytes()
        text = None if b"\0" in content else content.count(b"\n")
        lines[path] = 0 if path.startswith("openapi/") else text
    return ProjectSize(lines)
