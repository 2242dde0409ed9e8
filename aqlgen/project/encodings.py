"""The encodings in which a generated file is stored: other line ends, or a pointer of Git LFS.

The provenance has the hash of what was generated; a conversion by git is no edit.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.render.provenance import file_hash

__all__ = ["as_generated", "is_generated", "is_windows", "pointer_hash"]

_POINTER: Final = re.compile(
    rb"version https://[^\n]*/spec/v1\n(?:(?!oid )[^\n]+\n)*+oid sha256:([0-9a-f]{64})\n(?:[^\n]+\n)*+"
)
"""https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"""

_LARGEST: Final = 1024
"""The maximal size of a pointer in bytes."""


def as_generated(content: bytes, recorded: str) -> bytes:
    """Return content with the line ends that it was generated with; edited content gets those that aqlgen writes.

    `recorded` is the hash of what was generated, "" for a file that aqlgen did not generate.
    """
    if file_hash(content) == recorded:
        return content
    if is_windows(content):
        return content.replace(b"\r\n", b"\n")
    if b"\r" not in content and file_hash(other := content.replace(b"\n", b"\r\n")) == recorded:
        return other
    return content


def is_generated(content: bytes, recorded: str) -> bool:
    """Return True if content is what was generated, in whatever encoding."""
    if file_hash(content) == recorded:
        return True
    return recorded in (file_hash(as_generated(content, recorded)), pointer_hash(content))


def is_windows(content: bytes) -> bool:
    """Return True if every line ends as on Windows."""
    ends = content.count(b"\r\n")
    return 0 < ends == content.count(b"\n") == content.count(b"\r")


def pointer_hash(content: bytes) -> str | None:
    """Return the hash of the file that a pointer of Git LFS stands for, None if the content is not a pointer."""
    match = _POINTER.fullmatch(content) if len(content) < _LARGEST else None
    return match[1].decode() if match else None
