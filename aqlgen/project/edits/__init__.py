"""Hand edits of generated files: those that overrides can express become overrides, all others are refused.

The overrides are tried first: generating with them must reproduce what the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from aqlgen.project import Project
from aqlgen.project.edits.recovery import Recovered, Recovery
from aqlgen.project.edits.refusals import whole
from aqlgen.project.generation import Regenerated
from aqlgen.render.kinds import is_code

__all__ = ["Recovered", "recover"]


def recover(
    project: Project,
    edited: Mapping[str, bytes],
    pristine: Mapping[str, bytes],
    progress: Callable[[str], None],
    generated: Regenerated | None = None,
) -> Recovered:
    """Turn edits of machine files into overrides: path → content as it is, and as generated where that is known.

    What was generated is generated again from what the project keeps, where it is not given and this aqlgen still can:
    `generated` is that, if it was generated already.
    Edits of code are refused. Raises AqlgenError when the project's own document or overrides cannot be used.
    """
    changed = {path: content for path, content in edited.items() if pristine.get(path) != content}
    code = [path for path in sorted(changed) if is_code(path, project.package)]
    refused = tuple(whole(path, changed.pop(path), pristine.get(path), project.package) for path in code)
    recovered = Recovery(project, changed, pristine, progress, generated).run() if changed else Recovered()
    return replace(recovered, refused=(*refused, *recovered.refused))
