# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parts of a multipart answer, each read by its own type (RFC 2046, 5.1; RFC 7578)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .bodies import media_type
from .errors import Failure
from .files import disposition_name
from .reading import read

__all__ = ["parts_of"]

_BOUNDARY = re.compile(r'\bboundary\s*=\s*(?:"([^"]{1,200})"|([^\s;,"]{1,200}))', re.IGNORECASE)
_NAME = re.compile(r'(?:^|;)\s*name\s*=\s*(?:"([^"]*)"|([^;\s]+))', re.IGNORECASE)
_MOST = 1000


def parts_of(content: bytes, content_type: str) -> list[dict[str, Any]] | None:
    """Give each part as name, filename, content_type and data, as far as it has them; None for what is no multipart."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        return None
    boundary = b"--" + (found[1] or found[2]).encode("utf-8", "replace")
    pieces = re.split(rb"(?:^|\r?\n)" + re.escape(boundary) + rb"(?=--|[ \t]*\r?\n)", content)
    if len(pieces) < 2:
        return None
    parts: list[dict[str, Any]] = []
    for piece in pieces[1:]:
        if piece.startswith(b"--") or len(parts) == _MOST:
            break
        head, body = _divided(piece.lstrip(b" \t"))
        parts.append(_part(_headers(head), body))
    return parts


def _divided(piece: bytes) -> tuple[bytes, bytes]:
    """Divide a part, that begins with the line break behind its boundary, into its headers and its body."""
    empty = re.match(rb"\r?\n\r?\n", piece)
    if empty is not None:
        return b"", piece[empty.end() :]
    end = re.search(rb"\r?\n\r?\n", piece)
    return (piece, b"") if end is None else (piece[: end.start()], piece[end.end() :])


def _headers(head: bytes) -> Mapping[str, str]:
    text = re.sub(r"\r?\n[ \t]+", " ", head.decode("utf-8", "replace"))
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def _part(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    disposition = headers.get("content-disposition", "")
    kind = headers.get("content-type", "")
    coding = headers.get("content-transfer-encoding", "").lower()
    with suppress(ValueError):
        body = _plain(body, coding)
    part: dict[str, Any] = {}
    name = _NAME.search(disposition)
    if name is not None:
        part["name"] = name[1] if name[1] is not None else name[2]
    filename = disposition_name(disposition)
    if filename:
        part["filename"] = filename
    for key in ("content-id", "content-location", "content-range"):
        if key in headers:
            part[key.replace("-", "_")] = headers[key]
    if kind:
        part["content_type"] = media_type(kind)
    try:
        if media_type(kind) == "application/http":  # the answer to one call of a batch
            part["data"] = _inner(body)
        else:
            part["data"] = read(body, kind or "text/plain")
    except Failure:
        part["data"] = body.decode("utf-8", "replace")
    return part


def _plain(body: bytes, coding: str) -> bytes:
    if coding == "base64":
        import base64

        return base64.b64decode(body)
    if coding == "quoted-printable":
        import quopri

        return quopri.decodestring(body)
    return body


def _inner(body: bytes) -> dict[str, Any]:
    line, _, rest = body.lstrip().partition(b"\n")
    head, inner = _divided(b"\n" + rest)
    words = line.decode("latin-1").split()
    status = int(words[1]) if len(words) > 1 and words[1].isascii() and words[1].isdigit() else 0
    data = read(inner.strip(), _headers(head).get("content-type", "")) if inner.strip() else None
    return {"status": status, "data": data}
