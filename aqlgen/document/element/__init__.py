"""Adapter elements of the protocol, written by hand: read, checked, and turned into a tree of OpenAPI.

In: the mapping of an element. Out: a tree that every later stage reads as any document's, and the owner's word on each
operation (`Stated`): its name, family and danger, which decide as overrides do. That an element decides is why it is a
file of the owner's, named to `aqlgen from-schema`, and no document that is fetched.
"""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, SchemaError
from aqlgen.document.element.adapter_form import read_adapter
from aqlgen.document.element.model import Stated, Word
from aqlgen.document.element.reader import Reader, TooManyError
from aqlgen.document.element.tree import as_openapi, as_stated
from aqlgen.document.positions import Origins
from aqlgen.document.read.identify import is_element
from aqlgen.ir import Json

__all__ = ["Stated", "Word", "convert"]


def convert(
    root: Mapping[str, Json], file: str, origins: Origins
) -> tuple[dict[str, Json], Stated, tuple[Diagnostic, ...]]:
    """Return the tree, the owner's word, and the warnings, which point into the element.

    Raises SchemaError with everything that is wrong with it, each with a pointer into it.
    """
    if not is_element(root):
        raise _no_element(root)
    reader = Reader()
    try:
        element = read_adapter(reader, root)
    except TooManyError:
        element = None
    if reader.failed or element is None:
        raise SchemaError(*sorted(reader.findings, key=lambda finding: finding.severity is not Severity.ERROR))
    if not element.operations:
        message = "the element has no operation that can be served"
        raise SchemaError(
            Diagnostic("no-operations", Severity.ERROR, message, help="Write one, with its request."),
            *reader.findings,
        )
    return as_openapi(element, origins), as_stated(element, file), tuple(reader.findings)


def _no_element(root: Mapping[str, Json]) -> DocumentError:
    other = next((key for key in ("openapi", "swagger") if key in root), "")
    help_text = "An element begins with `type: adapter`."
    if other:
        help_text = "Generate it with `aqlgen from-openapi`."
    what = "an OpenAPI document, not an adapter element" if other else "not an adapter element"
    return SchemaError.of("not-an-element", f"this is {what}", help=help_text)
