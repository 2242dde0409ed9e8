"""The forms in which a generated file lies in a folder or a commit: with other line ends, or as a pointer of Git LFS.

The provenance has the hash of what was generated; what git made of it on the way is no edit.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.render.provenance import file_hash

__all__ = ["as_generated", "is_generated", "is_windows", "pointed"]

_POINTER: Final = re.compile(rb"version https://[^\n]*/spec/v1\n(?:[^\n]+\n)*?oid sha256:([0-9a-f]{64})\n(?:[^\n]+\n)*")
"""https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"""

_LARGEST: Final = 1024
"""Bytes of a pointer, at most."""


def as_generated(content: bytes, recorded: str) -> bytes:
    """Give content with the line ends that it was generated with, what was edited with those that aqlgen writes.

    `recorded` is the hash of what was generated, "" for a file of somebody else's.
    """
    if file_hash(content) == recorded:
        return content
    if is_windows(content):
        return content.replace(b"\r\n", b"\n")
    if b"\r" not in content and file_hash(other := content.replace(b"\n", b"\r\n")) == recorded:
        return other
    return content


def is_generated(content: bytes, recorded: str) -> bool:
    """Say whether content is what was generated, in whatever form."""
    return recorded in (file_hash(as_generated(content, recorded)), pointed(content))


def is_windows(content: bytes) -> bool:
    """Whether every line ends as on Windows."""
    ends = content.count(b"\r\n")
    return 0 < ends == content.count(b"\n") == content.count(b"\r")


def pointed(content: bytes) -> str | None:
    """Give the hash of what a pointer of Git LFS stands for; None when the content is no pointer."""
    found = _POINTER.fullmatch(content) if len(content) < _LARGEST else None
    return found[1].decode() if found else None
