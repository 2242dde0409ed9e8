"""Whether a document needs linking at all: most are one file whose references all point to its own components."""

from __future__ import annotations

import re
from typing import Final

from aqlgen.document.read import Source
from aqlgen.ir import Json

_ELSEWHERE: Final = re.compile(
    r"""\$ref["']?\s*:\s*(?!\s|["']?\#/(?:components|paths|definitions|parameters|responses)/)"""
)
_ADDRESSES: Final = re.compile(r"""\$(?:id|anchor|dynamicRef|dynamicAnchor|recursiveRef)["']?\s*:""")


def needs_linking(source: Source) -> bool:
    """Whether anything in the document refers to another file, to a schema's own address, or from an odd place."""
    text = source.text
    stray = "definitions" not in source.root and "#/definitions/" in text
    return stray or bool(_ELSEWHERE.search(text) or _ADDRESSES.search(text)) or _odd(source.root)


def _odd(root: Json) -> bool:
    """Whether an operation or what it is made of is a reference where the specification has none."""
    paths = root.get("paths")
    if _refers(paths) or _refers(root.get("components")):
        return True
    for item in paths.values() if isinstance(paths, dict) else ():
        for operation in item.values() if isinstance(item, dict) else ():
            if isinstance(operation, dict) and (
                _refers(operation) or _refers(operation.get("parameters")) or _refers(operation.get("responses"))
            ):
                return True
    return False


def _refers(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)
