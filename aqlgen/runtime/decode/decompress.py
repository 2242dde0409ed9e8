# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Decompression of a response piece by piece, so that a small one cannot fill the memory (RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["ACCEPT_ENCODING", "CodingError", "Decompressor"]

ACCEPT_ENCODING = "gzip, deflate"
_PIECE_SIZE = 256 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_MAX_CODINGS = 3


class CodingError(Exception):
    """The content is not what its coding says, or ends too soon. The message is the end of a sentence."""


class Decompressor:
    """A decoder of the codings in a Content-Encoding header. Raises CodingError for one that was not asked for."""

    def __init__(self, content_encoding: str) -> None:
        names = (part.strip().lower() for part in content_encoding.split(","))
        codings = [name for name in names if name not in ("", "identity")]
        if len(codings) > _MAX_CODINGS:
            raise CodingError("came in too many codings")
        if not _CODINGS.issuperset(codings):
            raise CodingError("came in a coding that was not asked for")
        self._decoders = [_Decoder(gzip=coding != "deflate") for coding in reversed(codings)]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the content of the next bytes, in pieces of a bounded size. Raises CodingError."""
        return _decoded(data, self._decoders)

    def close(self) -> None:
        """Raise CodingError when the content was cut."""
        if any(decoder.unfinished for decoder in self._decoders):
            raise CodingError("ended before its compressed content was complete")


def _decoded(data: bytes, decoders: list[_Decoder]) -> Iterator[bytes]:
    if not decoders:
        yield data
        return
    for piece in decoders[0].feed(data):
        yield from _decoded(piece, decoders[1:])


class _Decoder:
    """One coding: gzip, of one or more members, or deflate, with its header or, as some servers send it, without."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._engine: zlib._Decompress | None = None
        self._held = b""
        self._ended = False

    @property
    def unfinished(self) -> bool:
        """Return True if the content has begun and not ended."""
        return bool(self._held) or (self._engine is not None and not self._ended)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._engine is None or self._ended:
                data, self._held = self._held + data, b""
                if len(data) < len(_GZIP_MAGIC):
                    self._held = b"" if self._ended and data != _GZIP_MAGIC[:1] else data
                    return
                if self._ended and not (self._gzip and data.startswith(_GZIP_MAGIC)):
                    return  # padding behind the content
                self._engine, self._ended = self._new_engine(data), False
            engine = self._engine
            while not engine.eof and (piece := _next_piece(engine, data)):
                yield piece
                data = engine.unconsumed_tail  # at the end of a member also what follows it, which `unused_data` has
            self._ended = engine.eof
            data = engine.unused_data if engine.eof else engine.unconsumed_tail

    def _new_engine(self, data: bytes) -> zlib._Decompress:
        if self._gzip:
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        has_header = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)


def _next_piece(engine: zlib._Decompress, data: bytes) -> bytes:
    try:
        return engine.decompress(data, _PIECE_SIZE)
    except zlib.error:
        raise CodingError("could not be decompressed") from None
