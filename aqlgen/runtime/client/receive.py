"""Reading a response off its connection, within bounds: whole, as a stream for a while, or into a file.

It is decompressed piece by piece, so that a small one cannot fill the memory (RFC 9110, 8.4).
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from ..errors import Code, Failure, response_too_large
from ..wire import ApiRequest, ApiResponse, SavedFile, StreamForm, changes_something, media_type, stream_form

if TYPE_CHECKING:
    import httpx2

    from ..decode.sequential import StreamWatch
    from ..settings.config import Config
    from ..table import Row

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


_READ_AHEAD = 32 * 1024 * 1024
"""Bytes that are read beyond the bound, so that a list can be cut and yet counted (`warnings/ceiling`)."""
_MAX_ERROR = 1024 * 1024
"""Bytes that are read of a response that is not a success: it says soon what is wrong."""
_WITHOUT_CONTENT: frozenset[str | int] = frozenset({"HEAD", 204, 304})
_CHUNKS_AT_ONCE = 200
"""Chunks after which other calls go on: thousands, of a byte each, may come together."""
_MARGIN = 0.25
"""Seconds of the time-out that a stream leaves, so that the call can be answered."""


class Receiver:
    """The reader of the response to one request; `seconds_left` is the time that the call still has."""

    def __init__(self, config: Config, request: ApiRequest, row: Row | None, seconds_left: float) -> None:
        self._config = config
        self._request = request
        self._row = row
        self._seconds_left = seconds_left

    async def read(self, response: httpx2.Response) -> ApiResponse:
        """Read the response. Raises Failure when it is too long, CodingError when it cannot be decompressed.

        A stream ends where a bound is reached, and of a failure the beginning is enough. A call that changed something
        is done, so that its answer is kept as far as it came.
        """
        import httpx2

        headers, status = dict(response.headers), response.status_code
        if not _WITHOUT_CONTENT.isdisjoint((self._request.method, status)):
            return await _without_content(response)
        is_failure = not 200 <= status < 300
        form = None if is_failure else stream_form(headers.get("content-type", ""))
        keeps = is_failure or (form is None and changes_something(self._row, self._request.method))
        seconds = self._patience(form, keeps=keeps)
        content = _Content(self._config, form, is_failure=is_failure)
        cut, saved, end = "time", None, None
        try:
            with nullcontext() if seconds is None else anyio.move_on_after(seconds):
                if form is None and self._is_file(headers, status):
                    saved, cut = await self._file(response, headers), ""
                else:
                    content.expect(headers.get("content-length", ""))
                    async for chunk in _pieces(response):
                        end = content.take(chunk)
                        if end is not None:
                            break
                    cut = end or ""
        except (httpx2.TransportError, CodingError, Failure) as problem:
            if not (keeps or content.survives(problem)):
                raise
            cut = _cut_by(problem)
        return ApiResponse(status, headers, b"".join(content.chunks), "" if is_failure else cut, saved)

    def _patience(self, form: StreamForm | None, *, keeps: bool) -> float | None:
        """Return the seconds that reading may take, None where the call's own end is enough."""
        if form is None and not keeps:
            return None
        left = max(0.0, self._seconds_left - _MARGIN)
        return left if form is None else min(self._config.stream_seconds, left)

    def _is_file(self, headers: dict[str, str], status: int) -> bool:
        if not (self._config.files_folder and headers.get("content-type", "") and self._row is not None):
            return False
        if not 200 <= status < 300:
            return False
        from ..decode import declared_response
        from ..decode.files import is_file

        return is_file(headers, str(declared_response(self._row, status).get("content_type") or ""))

    async def _file(self, response: httpx2.Response, headers: dict[str, str]) -> SavedFile:
        """Save the content in the owner's folder."""
        from ..decode.files import FileWriter, file_name

        assert self._row is not None  # noqa: S101 - `_is_file`
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._config.files_max_size:
            raise response_too_large(self._config.files_max_size, int(length))
        name = file_name(headers, self._request.url, self._row)
        with FileWriter(self._config.files_folder, name, self._config.files_max_size) as writer:
            async for chunk in _pieces(response):
                if not writer.write(chunk):
                    raise response_too_large(self._config.files_max_size, writer.size)
            return writer.finish(media_type(headers.get("content-type", "")))


class _Content:
    """The content of a response as far as it came."""

    def __init__(self, config: Config, form: StreamForm | None, *, is_failure: bool) -> None:
        self.chunks: list[bytes] = []
        self._size = 0
        self._bound = config.max_response_size
        self._is_failure = is_failure
        self._watch: StreamWatch | None = None
        if form is not None:
            from ..decode.sequential import StreamWatch

            self._watch = StreamWatch(form, config.stream_events)

    def survives(self, problem: Exception) -> bool:
        """Return True if it is a stream of which something came before its connection broke."""
        return self._watch is not None and bool(self.chunks) and _cut_by(problem) == "break"

    def expect(self, length: str) -> None:
        """Raise Failure for a content that will be too long even to be cut."""
        if length.isdigit() and not self._is_failure and self._watch is None:
            self._check(int(length))

    def take(self, chunk: bytes) -> str | None:
        """Add the next bytes; return what ends the reading (see `ApiResponse.cut`), None if nothing does."""
        self._size += len(chunk)
        if not self._is_failure and self._watch is None:
            self._check(self._size)
        self.chunks.append(chunk)
        if self._is_failure:
            return "bytes" if self._size >= _MAX_ERROR else None
        end = None if self._watch is None else self._watch.feed(chunk)
        return "bytes" if end is None and self._watch is not None and self._size >= self._bound else end

    def _check(self, size: int) -> None:
        if size > self._bound + _READ_AHEAD:
            raise response_too_large(self._bound, size)


def _cut_by(problem: Exception) -> str:
    if isinstance(problem, Failure):
        return "bytes" if problem.code is Code.PAYLOAD_TOO_LARGE else "file"
    return "coding" if isinstance(problem, CodingError) else "break"


async def _without_content(response: httpx2.Response) -> ApiResponse:
    async for _ in response.stream:  # type: ignore[union-attr]
        break  # nothing comes, and the connection is free for the next request
    return ApiResponse(response.status_code, dict(response.headers), b"")


async def _pieces(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the content piece by piece, decompressed unless the call asked for its coding. Raises CodingError."""
    stream = response.stream
    coding = response.headers.get("content-encoding", "")
    accepted = response.request.headers.get("accept-encoding", "").split(",")
    requested = {part.partition(";")[0].strip().lower() for part in accepted} - {"", "identity", *_CODINGS}
    is_plain = not coding or coding.strip().lower() in requested
    decompressor = Decompressor("" if is_plain else coding)
    count = 0
    async for chunk in stream:  # type: ignore[union-attr]
        for piece in decompressor.feed(chunk):
            yield piece
        count += 1
        if count % _CHUNKS_AT_ONCE == 0:
            await anyio.lowlevel.checkpoint()
    decompressor.close()


def ends_cleanly(response: httpx2.Response) -> bool:
    """Return False if more came than the response, which would be read as the next one (RFC 9112, 9.2 and 11.1).

    httpx2 does not tell. If its connections were made of other parts, none would be used again.
    """
    part: Any = response.stream
    for name in ("_stream", "_httpcore_stream", "_stream", "_connection", "_h11_state"):
        part = getattr(part, name, None)
    return part is not None and not part.trailing_data[0]
