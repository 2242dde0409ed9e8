"""The headings of a review: the tag of an operation, or where there are no tags, the part of the API by its path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from aqlgen.ir import Operation

__all__ = ["sections_of"]

_GENERAL: Final = re.compile(r"v?\d++(?:\.\d++)*+|v\d++(?:(?:alpha|beta)\d*)?|api|rest", re.IGNORECASE)
"""Segments that say nothing about what an operation is for: the API and its version."""


def sections_of(operations: Iterable[Operation]) -> Callable[[Operation], str]:
    """Return a function for the heading of an operation: its first tag, else the first telling segment of its path.

    A segment that all paths begin with tells nothing, nor does the API's version.
    """
    paths = [_segments(operation.path) for operation in operations]
    shared = 0
    while paths and all(len(path) > shared + 1 for path in paths) and len({path[shared] for path in paths}) == 1:
        shared += 1

    def section(operation: Operation) -> str:
        if operation.tags and operation.tags[0].strip():
            return operation.tags[0].strip()
        segments = _segments(operation.path)
        telling = [part for part in segments[shared:] if "{" not in part and not _GENERAL.fullmatch(part)]
        return telling[0] if telling else "/".join(segments) or "/"

    return section


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]
