"""The bounds against hostile or mistaken input."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one file: bytes, values with aliases expanded, nesting, seconds for a URL. Of all: files, bytes, seconds.

    `nodes` also bounds the document that is put together, so that files which repeat one another cannot explode.
    """

    size: int = 64 * _MIB
    nodes: int = 5_000_000
    depth: int = 256
    seconds: float = 60.0
    files: int = 10_000
    all_size: int = 256 * _MIB
    all_seconds: float = 600.0
