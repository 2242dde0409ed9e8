# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Reading a response off its connection, within bounds: whole, as a stream for a while, or into a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from ..decode.outcome import changes_something
from ..errors import Code, Failure, response_too_large
from ..media import StreamForm, media_type, stream_form
from ..wire import ApiRequest, ApiResponse, SavedFile

if TYPE_CHECKING:
    import httpx2

    from ..table import Row

__all__ = ["Bounds", "Receiver"]

_READ_AHEAD = 32 * 1024 * 1024
"""Bytes that are read beyond the bound, so that a list can be cut and yet counted (see `calls/truncation`)."""
_MAX_ERROR = 1024 * 1024
"""Bytes that are read of a response that is no success: it says soon what is wrong."""
_MARGIN = 0.25
"""Seconds of the time-out that a stream leaves, so that the call can be answered."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read: bytes of a response, events and seconds of a stream, bytes of a file and the folder for it."""

    response: int
    events: int = 1000
    seconds: float = 20.0
    folder: str = ""
    file: int = 256 * 1024 * 1024


class Receiver:
    """The reader of the response to one request; `seconds_left` is the time that the call still has."""

    def __init__(self, bounds: Bounds, request: ApiRequest, row: Row | None, seconds_left: float) -> None:
        self._bounds = bounds
        self._request = request
        self._row = row
        self._seconds_left = seconds_left

    async def read(self, response: httpx2.Response) -> ApiResponse:
        """Read the response. Raises Failure when it is too long, CodingError when it cannot be decompressed."""
        headers, status = dict(response.headers), response.status_code
        if self._request.method == "HEAD" or status in (204, 205, 304):
            async for _ in response.stream:  # type: ignore[union-attr]
                break  # nothing comes, and the connection is free for the next request
            return ApiResponse(status, headers, b"")
        if not 200 <= status < 300:
            return ApiResponse(status, headers, await self._beginning(response))
        content_type = headers.get("content-type", "")
        form = stream_form(content_type)
        if form is not None:
            content, cut = await self._stream(response, form)
            return ApiResponse(status, headers, content, cut)
        if self._bounds.folder and content_type and self._row is not None:
            from ..decode.files import is_file
            from ..decode.response import declared_response

            if is_file(headers, str(declared_response(self._row, status).get("content_type") or "")):
                saved: list[SavedFile] = []
                cut = await self._kept(self._file(response, headers, self._row, saved))
                return ApiResponse(status, headers, b"", cut, saved[0] if saved else None)
        chunks: list[bytes] = []
        cut = await self._kept(self._whole(response, chunks))
        return ApiResponse(status, headers, b"".join(chunks), cut)

    async def _kept(self, reading: Awaitable[None]) -> str:
        """Await the reading of a success; return what ended it early (see `ApiResponse.cut`), or "".

        A call that changed something is done, so that its answer is kept as far as it came; of any other the fault is
        raised.
        """
        if not self._performed:
            await reading
            return ""
        import httpx2

        from ..decode.decompress import CodingError

        try:
            with anyio.move_on_after(max(0.0, self._seconds_left - _MARGIN)):
                await reading
                return ""
        except httpx2.TransportError:
            return "break"
        except CodingError:
            return "coding"
        except Failure as failure:
            return "bytes" if failure.code is Code.PAYLOAD_TOO_LARGE else "file"
        return "time"

    async def _whole(self, response: httpx2.Response, chunks: list[bytes]) -> None:
        """Read the whole content, but stop as soon as it is too long even to be cut (see `calls/truncation`)."""
        limit = self._bounds.response + _READ_AHEAD
        length = response.headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            raise response_too_large(self._bounds.response, int(length))
        size = 0
        async for chunk in _pieces(response):
            size += len(chunk)
            if size > limit:
                raise response_too_large(self._bounds.response, size)
            chunks.append(chunk)

    async def _beginning(self, response: httpx2.Response) -> bytes:
        """Read enough of a response that reports an error; one that breaks off is as good."""
        import httpx2

        from ..decode.decompress import CodingError

        chunks: list[bytes] = []
        size = 0
        try:
            with anyio.move_on_after(max(0.0, self._seconds_left - _MARGIN)):
                async for chunk in _pieces(response):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size >= _MAX_ERROR:
                        break
        except (httpx2.TransportError, CodingError):
            pass
        return b"".join(chunks)

    async def _stream(self, response: httpx2.Response, form: StreamForm) -> tuple[bytes, str]:
        """Read a stream until it ends or a bound is reached; return what came, and which (see `ApiResponse.cut`)."""
        import httpx2

        from ..decode.sequential import StreamWatch

        watch = StreamWatch(form, self._bounds.events)
        chunks: list[bytes] = []
        size = 0
        try:
            with anyio.move_on_after(max(0.0, min(self._bounds.seconds, self._seconds_left - _MARGIN))):
                async for chunk in _pieces(response):
                    chunks.append(chunk)
                    size += len(chunk)
                    end = watch.feed(chunk)
                    if end is not None:
                        return b"".join(chunks), end
                    if size >= self._bounds.response:
                        return b"".join(chunks), "bytes"
                return b"".join(chunks), ""
        except httpx2.TransportError:
            if not chunks:
                raise
            return b"".join(chunks), "break"
        return b"".join(chunks), "time"

    async def _file(self, response: httpx2.Response, headers: dict[str, str], row: Row, saved: list[SavedFile]) -> None:
        """Save the content in the owner's folder."""
        from ..decode.files import FileWriter, file_name

        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._bounds.file:
            raise response_too_large(self._bounds.file, int(length))
        with FileWriter(self._bounds.folder, file_name(headers, self._request.url, row), self._bounds.file) as writer:
            async for chunk in _pieces(response):
                if not writer.write(chunk):
                    raise response_too_large(self._bounds.file, writer.size)
            saved.append(writer.finish(media_type(headers.get("content-type", ""))))

    @property
    def _performed(self) -> bool:
        """True if a success means that something was changed."""
        return changes_something(self._row, self._request.method)


async def _pieces(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the content piece by piece, decompressed unless the call asked for its coding. Raises CodingError."""
    stream = response.stream
    coding = response.headers.get("content-encoding", "")
    if not coding or _is_requested(coding, response.request.headers.get("accept-encoding", "")):
        async for chunk in stream:  # type: ignore[union-attr]
            yield chunk
        return
    from ..decode.decompress import Decompressor

    decompressor = Decompressor(coding)
    async for chunk in stream:  # type: ignore[union-attr]
        for piece in decompressor.feed(chunk):
            yield piece
    decompressor.close()


def _is_requested(coding: str, accept_encoding: str) -> bool:
    """Return True if the call asked for a coding unknown to the adapter: its response is passed on as it came."""
    names = {part.partition(";")[0].strip().lower() for part in accept_encoding.split(",")}
    return coding.strip().lower() in names - {"", "identity", "gzip", "x-gzip", "deflate"}
