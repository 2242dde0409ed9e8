"""OpenAPI Overlays 1.0 and 1.1: changes to a document that are kept beside it.

https://spec.openapis.org/overlay/v1.1.0.html
"""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.origins import Origins
from aqlgen.document.read import Limits, Source
from aqlgen.ir import Json

__all__ = ["overlay"]


def overlay(
    root: dict[str, Json], source: Source, origins: Origins, limits: Limits | None = None
) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Apply the actions of an overlay in their order; the tree given is not changed.

    Raises DocumentError, with its place in the overlay: when that is no valid overlay, a change does not fit its
    target, the document grows past the limits, or all the JSONPaths together take longer than `limits.seconds`.
    """
    from aqlgen.document.overlay.actions import run  # 50 ms, for JSONPath, that only those who have overlays should pay

    return run(root, source, origins, limits or Limits())
