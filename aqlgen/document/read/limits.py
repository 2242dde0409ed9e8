"""Limits against hostile or mistaken input, and the errors for documents that exceed them."""

from __future__ import annotations

from dataclasses import dataclass

from aqlgen.diagnostics.errors import DocumentError

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one file (bytes, values with aliases expanded, depth, seconds) and of all (files, bytes, seconds).

    `silence` is how long a server may take until it begins to answer.
    `nodes` also limits the assembled document, so that files which include one another cannot grow without end.
    """

    size: int = 64 * _MIB
    nodes: int = 5_000_000
    depth: int = 256
    seconds: float = 60.0
    silence: float = 15.0
    files: int = 10_000
    all_size: int = 256 * _MIB
    all_seconds: float = 600.0


MOST_FINDINGS = 200
"""How many repeated keys are reported; a hostile document has millions."""


def too_deep(name: str, limits: Limits, line: int = 0, column: int = 0) -> DocumentError:
    """Build the error: the document nests deeper than the limit."""
    message = f"nested deeper than {limits.depth} levels"
    return DocumentError.of("document-too-deep", message, file=name, line=line, column=column)


def too_many(name: str, limits: Limits, line: int = 0, column: int = 0) -> DocumentError:
    """Build the error: the document holds more values than the limit, with aliases expanded."""
    message = f"the document holds more than {limits.nodes:,} values, counting repetitions by YAML aliases"
    return DocumentError.of("document-too-large", message, file=name, line=line, column=column)


def too_large(name: str, limits: Limits) -> DocumentError:
    """Build the error: more bytes than the limit."""
    message = f"the document is larger than {limits.size // (1024 * 1024)} MiB"
    return DocumentError.of("document-too-large", message, file=name)
