"""Linking: from a document in several files to one tree in which every reference stays inside (`#/…`).

In: the root document as it was read, and the library of files beside it. Out: one tree, with its sources.

What the root document names stays where it is. What comes from other files becomes a component beside it, or replaces
the reference where there can be no component. Parts that no operation uses are linked too, but without warnings.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.positions import Origins
from aqlgen.document.read import Library, Limits, Source
from aqlgen.ir import Json

_ELSEWHERE: Final = re.compile(
    r"""\$ref["']?\s*:\s*(?!\s|["']?\#/(?:components|paths|definitions|parameters|responses)/)"""
)
_ADDRESSES: Final = re.compile(r"""\$(?:id|anchor|dynamicRef|dynamicAnchor|recursiveRef)["']?\s*:""")


def link(
    source: Source, library: Library, origins: Origins, limits: Limits
) -> tuple[dict[str, Json], tuple[Source, ...], tuple[Diagnostic, ...], bool]:
    """Return one tree, its files (the root document first), diagnostics, and True if it holds content of other files.

    Raises DocumentError for what is never legitimate; warns of what cannot be read.
    """
    if not _needs_linking(source):
        return dict(source.root), (source,), (), False
    from aqlgen.document.link.walk import bundle  # few documents need it: most are one file

    return bundle(source, library, origins, limits)


def _needs_linking(source: Source) -> bool:
    """Return True if a reference leads to another file or a schema's address, or has an unusual place."""
    text = source.text
    stray = "definitions" not in source.root and "#/definitions/" in text
    return stray or bool(_ELSEWHERE.search(text) or _ADDRESSES.search(text)) or _has_unusual_references(source.root)


def _has_unusual_references(root: Json) -> bool:
    """Return True if paths, an operation or a part of it is a reference where the specification has none."""
    paths = root.get("paths")
    if _is_reference(paths) or _is_reference(root.get("components")):
        return True
    for item in paths.values() if isinstance(paths, dict) else ():
        for operation in item.values() if isinstance(item, dict) else ():
            if isinstance(operation, dict) and (
                _is_reference(operation)
                or _is_reference(operation.get("parameters"))
                or _is_reference(operation.get("responses"))
            ):
                return True
    return False


def _is_reference(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)
