# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What bytes of an answer are, by the bytes themselves: a text, a log in frames, an image."""

from __future__ import annotations

import base64
import binascii
import re

__all__ = ["CONTROLS", "base64_bytes", "image_type", "text_of", "text_of_frames"]

CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Characters of no text. Escape is not among them: logs are coloured with it."""
_IMAGES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF[\x00-\xff]{4}WEBP"), "image/webp"),
)
"""How the images begin that clients show."""
_PDF = b"%PDF-"
"""How a document begins that is for other programs, even if all of it is text."""
_FRAME = 8
_STREAMS = frozenset({0, 1, 2})
_MAX_FRAMES = 500_000


def text_of(content: bytes) -> str | None:
    """Return the text that bytes are in UTF-8; None if they are none, or hold characters of no text."""
    if content.startswith(_PDF):
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if CONTROLS.search(text) else text


def image_type(content: bytes) -> str:
    """Return the type of an image that clients show, by its beginning; "" for anything else."""
    return next((kind for beginning, kind in _IMAGES if beginning.match(content)), "")


def base64_bytes(text: str) -> bytes | None:
    """Return the bytes of a text in base64, whose lines may be wrapped; None if it is not the only spelling of them."""
    compact = "".join(text.split())
    try:
        content = base64.b64decode(compact, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if base64.b64encode(content).decode("ascii") == compact else None


def text_of_frames(content: bytes) -> str | None:
    """Return the text of a log that is divided into frames of its streams; None for anything else.

    (Docker Engine API, attach: a byte of the stream, three of zero, the size in four, then as many bytes.) The last
    frame may be cut.
    """
    payloads: list[bytes] = []
    place = 0
    while place + _FRAME <= len(content):
        if content[place] not in _STREAMS or content[place + 1 : place + 4] != b"\0\0\0" or len(payloads) > _MAX_FRAMES:
            return None
        end = place + _FRAME + int.from_bytes(content[place + 4 : place + _FRAME], "big")
        if end > len(content) and not payloads:
            return None
        payloads.append(content[place + _FRAME : end])
        place = end
    return text_of(b"".join(payloads)) if payloads and any(payloads) else None
