"""The upgrade from Swagger 2.0 to OpenAPI 3.0, so that no later stage knows Swagger.

In: a linked and overlaid tree of any version. Out: a tree of OpenAPI 3.x, and diagnostics about the given tree.

The conversion is pure: it never changes the given tree, shares what needs no change, and records in `Origins` where in
the user's document each moved part stands. Only one feature of 2.0 is lost: values separated by tabs.
"""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.positions import Origins
from aqlgen.document.read.identify import is_swagger
from aqlgen.ir import Json


def upgrade(root: dict[str, Json], origins: Origins) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Return a document as OpenAPI 3.x: Swagger 2.0 as 3.0, any other version unchanged.

    The diagnostics point into `root`.
    """
    if not is_swagger(root):
        return root, ()
    from aqlgen.document.upgrade.document import convert  # only Swagger documents should pay for importing it

    return convert(root, origins)
