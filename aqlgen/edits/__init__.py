"""Hand edits of generated files: what overrides can say becomes overrides, anything else is refused with the way out.

The overrides are tried before they are given: generating with them must bring back what the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aqlgen.edits.aliasing import aliases
from aqlgen.edits.insertion import InsertionError, insert
from aqlgen.edits.recovery import Recovered, Recovery
from aqlgen.edits.refusals import CODE
from aqlgen.project import Project

__all__ = ["CODE", "InsertionError", "Recovered", "aliases", "insert", "recover"]


def recover(
    project: Project, edited: Mapping[str, bytes], pristine: Mapping[str, bytes], progress: Callable[[str], None]
) -> Recovered:
    """Turn edits of machine files into overrides: path → content as it is, and as generated where that is known.

    What was generated is made again from what the project keeps, where it is not given and this aqlgen still can.
    Raises AqlgenError when the project's own document or overrides cannot be used.
    """
    changed = {path: content for path, content in edited.items() if pristine.get(path) != content}
    return Recovery(project, changed, pristine, progress).run() if changed else Recovered()
