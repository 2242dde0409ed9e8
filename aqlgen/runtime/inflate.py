# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Content codings of an answer, undone piece by piece, so that a small one cannot fill the memory (RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["ACCEPTED", "Damaged", "Inflater"]

ACCEPTED = "gzip, deflate"
_PIECE = 256 * 1024
_MAGIC = b"\x1f\x8b"
_MOST_CODINGS = 3


class Damaged(Exception):
    """The content is not what its coding says, or ends too soon. The message is the end of a sentence."""


class Inflater:
    """Undoes the codings of a Content-Encoding header. Raises Damaged for one that was not asked for."""

    def __init__(self, header: str) -> None:
        codings = [one for one in (part.strip().lower() for part in header.split(",")) if one not in ("", "identity")]
        if len(codings) > _MOST_CODINGS:
            raise Damaged("came in too many codings")
        self._steps = [_step(one) for one in reversed(codings)]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Give what the next bytes hold, in pieces of a bounded size. Raises Damaged."""
        return self._through(data, self._steps)

    def close(self) -> None:
        """Raise Damaged when the content was cut."""
        if any(step.open for step in self._steps):
            raise Damaged("ended before its compressed content was complete")

    def _through(self, data: bytes, steps: list[_Step]) -> Iterator[bytes]:
        if not steps:
            yield data
            return
        for piece in steps[0].feed(data):
            yield from self._through(piece, steps[1:])


class _Step:
    """One coding: gzip, of one or more members, or deflate, with its header or, as some servers send it, without."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._engine: zlib._Decompress | None = None
        self._held = b""
        self._ended = False

    @property
    def open(self) -> bool:
        """Whether it has begun and not ended."""
        return bool(self._held) or (self._engine is not None and not self._ended)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._engine is None or self._ended:
                data, self._held = self._held + data, b""
                if len(data) < len(_MAGIC):
                    self._held = b"" if self._ended and data != _MAGIC[:1] else data
                    return
                if self._ended and not (self._gzip and data.startswith(_MAGIC)):
                    return  # padding behind the content
                self._engine, self._ended = self._begun(data), False
            engine = self._engine
            while piece := _piece(engine, data):
                yield piece
                data = engine.unconsumed_tail
            self._ended = engine.eof
            data = engine.unused_data if engine.eof else engine.unconsumed_tail

    def _begun(self, data: bytes) -> zlib._Decompress:
        if self._gzip:
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        headed = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if headed else -zlib.MAX_WBITS)


def _piece(engine: zlib._Decompress, data: bytes) -> bytes:
    try:
        return engine.decompress(data, _PIECE)
    except zlib.error:
        raise Damaged("could not be decompressed") from None


def _step(coding: str) -> _Step:
    if coding in ("gzip", "x-gzip"):
        return _Step(gzip=True)
    if coding == "deflate":
        return _Step(gzip=False)
    raise Damaged("came in a coding that was not asked for")
