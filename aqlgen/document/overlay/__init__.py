"""OpenAPI Overlays 1.0 and 1.1: changes to a document that are kept in a file beside it.

In: a linked tree, and an overlay as a `Source`. Out: a changed tree, and diagnostics.
https://spec.openapis.org/overlay/v1.1.0.html
"""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.positions import Origins
from aqlgen.document.read import Limits, Source
from aqlgen.ir import Json

__all__ = ["overlay"]


def overlay(
    root: dict[str, Json], source: Source, origins: Origins, limits: Limits | None = None
) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Apply the actions of an overlay in order; `root` itself is not changed.

    Raises DocumentError, with a position in the overlay, if the overlay is not valid, a change does not fit its target,
    the document grows past the limits, or all JSONPaths together take longer than `limits.seconds`.
    """
    from aqlgen.document.overlay.actions import run  # 50 ms for JSONPath, which only users of overlays should pay

    return run(root, source, origins, limits or Limits())
