"""Files of an answer: as text where they are text, else beside the answer or in it.

What bytes are, a text or an image, is told by the bytes themselves. A text says beside it what it was,
and can be given back as the file of a call (`encode/uploads`). The result of a tool carries images and other bytes
beside its answer (MCP, Tool Result); the answer holds a reference to each: what it is, and in which block of the result
its bytes are. Where no result is made, bytes stand in the answer in base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ..text import line

if TYPE_CHECKING:
    from mcp.types import ContentBlock


CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Characters of no text. Escape is not among them: logs are coloured with it."""
_IMAGES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF[\x00-\xff]{4}WEBP"), "image/webp"),
)
"""The beginnings of the images that clients show."""
_PDF = b"%PDF-"
"""The beginning of a document that is for other programs, even if all of it is text."""


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


_MAX_DEPTH = 150
_MAX_ATTACHMENTS = 100
_LONGEST_NAME = 200
_LONGEST_TYPE = 100
_SHOWN = "The image is in that block of this result, counted from 0."
_EMBEDDED = "The bytes are in that block of this result, counted from 0, as an embedded resource."
_TOO_LARGE = (
    "The bytes are not here: with those before they are more than files.max_attached allows. The adapter's owner can "
    "raise it, or set files.folder, where files are saved."
)


_collected: ContextVar[Attachments | None] = ContextVar("attachments", default=None)


class Attachment(NamedTuple):
    """A file beside the answer: its bytes in base64, and its type. An image is one by its very bytes."""

    content: str
    mime_type: str
    filename: str
    is_image: bool


class Attachments:
    """The files of one call, of `limit` bytes in all, collected within its context; with a limit of 0 none are.

    `pending` says that data being read may hold some.
    """

    __slots__ = ("_left", "_token", "items", "pending")

    def __init__(self, limit: int) -> None:
        self._left = limit
        self.items: list[Attachment] = []
        self.pending = False

    def __enter__(self) -> Attachments:
        self._token: Token[Attachments | None] = _collected.set(self if self._left else None)
        return self

    def __exit__(self, *_: object) -> None:
        _collected.reset(self._token)

    def lift(self, data: Any) -> Any:
        """Return data with each file in base64 replaced by a reference to it."""
        self.pending = False
        return self._lifted(data, 0)

    def _lifted(self, value: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return value
        if isinstance(value, dict):
            if value.get("encoding") == "base64" and isinstance(value.get("mime_type"), str):
                content = value.get("content")
                if isinstance(content, str) and content:
                    return self._reference(value, content)
            return {key: self._lifted(inner, depth + 1) for key, inner in value.items()}
        return [self._lifted(inner, depth + 1) for inner in value] if isinstance(value, list) else value

    def _reference(self, file: Mapping[str, Any], content: str) -> dict[str, Any]:
        raw = base64_bytes(content)
        if raw is None:
            return dict(file)
        kind, name = image_type(raw), file.get("filename")
        reference: dict[str, Any] = {
            "mime_type": kind or line(file["mime_type"], _LONGEST_TYPE),
            "size": len(raw),
            **{key: item for key, item in file.items() if key not in ("content", "encoding", "mime_type")},
        }
        if len(raw) > self._left or len(self.items) == _MAX_ATTACHMENTS:
            return {**reference, "note": _TOO_LARGE}
        self._left -= len(raw)
        filename = line(name, _LONGEST_NAME) if isinstance(name, str) else ""
        self.items.append(Attachment(content, reference["mime_type"], filename, bool(kind)))
        return {**reference, "content_block": len(self.items), "note": _SHOWN if kind else _EMBEDDED}

    def blocks(self) -> Iterator[ContentBlock]:
        """Yield the blocks of a tool's result, in the order in which references count them."""
        from mcp.types import BlobResourceContents, EmbeddedResource, ImageContent

        for number, (content, mime_type, filename, is_image) in enumerate(self.items, 1):
            if is_image:
                yield ImageContent(data=content, mime_type=mime_type)
            else:
                uri = f"attachment:///{number}" + (f"/{quote(filename, safe='')}" if filename else "")
                yield EmbeddedResource(resource=BlobResourceContents(uri=uri, mime_type=mime_type, blob=content))


def collected() -> Attachments | None:
    """Return the attachments of the call that is being answered; None where its result carries none."""
    return _collected.get()


def bytes_value(content: bytes, mime_type: str) -> dict[str, Any]:
    """Return bytes by what they are: `{text, was, mime_type}`, or `{content, encoding, mime_type}` in base64."""
    text = text_of(content)
    if text is not None:
        return {"text": text, "was": "bytes", "mime_type": mime_type}
    return bytes_as_base64(content, mime_type)


def bytes_as_base64(content: bytes, mime_type: str) -> dict[str, Any]:
    """Return bytes in base64, which a result of a tool carries beside the answer (`decode/attachments`)."""
    attachments = collected()
    if attachments is not None:
        attachments.pending = True
    return {"content": base64.b64encode(content).decode("ascii"), "encoding": "base64", "mime_type": mime_type}
