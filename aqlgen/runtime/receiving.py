# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Reads an answer off its connection, within bounds: whole, as a stream for a while, or into a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from .bodies import media_type
from .truncation import refusal
from .wire import ApiRequest, ApiResponse

if TYPE_CHECKING:
    import httpx2

    from .table import Row

__all__ = ["Bounds", "Receiver"]

_AHEAD = 32 * 1024 * 1024
"""Bytes that are read beyond the bound, so that a list can be cut and yet counted (see `truncation`)."""
_OF_AN_ERROR = 1024 * 1024
"""Bytes that are read of an answer that is no success: what is wrong is said soon."""
_MARGIN = 0.25
"""Seconds of the time-out that are kept back from a stream, to answer in."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read: bytes of an answer, events and seconds of a stream, bytes of a file and the folder for it."""

    response: int
    events: int = 1000
    seconds: float = 20.0
    folder: str = ""
    file: int = 256 * 1024 * 1024


class Receiver:
    """Reads the answer to one request; `left` is how many seconds the call has yet."""

    def __init__(self, bounds: Bounds, request: ApiRequest, row: Row | None, left: float) -> None:
        self._bounds = bounds
        self._request = request
        self._row = row
        self._left = left

    async def read(self, response: httpx2.Response) -> ApiResponse:
        """Read it. Raises Failure when it is too long, Damaged when it cannot be decompressed."""
        headers, status = dict(response.headers), response.status_code
        if self._request.method == "HEAD" or status in (204, 205, 304):
            async for _ in response.stream:  # type: ignore[union-attr]
                break  # nothing comes: the connection is free for the next request
            return ApiResponse(status, headers, b"")
        if not 200 <= status < 300:
            return ApiResponse(status, headers, await self._beginning(response))
        kind = headers.get("content-type", "")
        form = _form(kind)
        if form is not None:
            content, cut = await self._stream(response, form)
            return ApiResponse(status, headers, content, cut)
        if self._bounds.folder and kind and self._row is not None:
            from .decode import declared
            from .files import is_file

            if is_file(headers, str(declared(self._row, status).get("content_type") or "")):
                return await self._file(response, headers, self._row)
        return ApiResponse(status, headers, await self._whole(response))

    async def _whole(self, response: httpx2.Response) -> bytes:
        """Read it whole, but stop as soon as it is too long even to be cut (see `truncation`)."""
        most, performed = self._bounds.response + _AHEAD, self._performed
        told = response.headers.get("content-length", "")
        if told.isdigit() and int(told) > most:
            raise refusal(self._bounds.response, int(told), performed=performed)
        chunks: list[bytes] = []
        size = 0
        async for chunk in _pieces(response):
            size += len(chunk)
            if size > most:
                raise refusal(self._bounds.response, size, performed=performed)
            chunks.append(chunk)
        return b"".join(chunks)

    async def _beginning(self, response: httpx2.Response) -> bytes:
        """Read what is enough of an answer that tells of a fault; one that breaks off is as good."""
        import httpx2

        from .inflate import Damaged

        chunks: list[bytes] = []
        size = 0
        try:
            with anyio.move_on_after(max(0.0, self._left - _MARGIN)):
                async for chunk in _pieces(response):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size >= _OF_AN_ERROR:
                        break
        except (httpx2.TransportError, Damaged):
            pass
        return b"".join(chunks)

    async def _stream(self, response: httpx2.Response, form: str) -> tuple[bytes, str]:
        """Listen to a stream until it ends or a bound is reached; say which."""
        import httpx2

        from .streams import Watch

        watch = Watch(form, self._bounds.events)
        chunks: list[bytes] = []
        size = 0
        try:
            with anyio.move_on_after(max(0.0, min(self._bounds.seconds, self._left - _MARGIN))):
                async for chunk in _pieces(response):
                    chunks.append(chunk)
                    size += len(chunk)
                    enough = watch.enough(chunk)
                    if enough is not None:
                        return b"".join(chunks), enough
                    if size >= self._bounds.response:
                        return b"".join(chunks), "bytes"
                return b"".join(chunks), ""
        except httpx2.TransportError:
            if not chunks:
                raise
            return b"".join(chunks), "break"
        return b"".join(chunks), "time"

    async def _file(self, response: httpx2.Response, headers: dict[str, str], row: Row) -> ApiResponse:
        """Save the answer in the owner's folder."""
        from .files import Saving, file_name

        told = headers.get("content-length", "")
        if told.isdigit() and int(told) > self._bounds.file:
            raise refusal(self._bounds.file, int(told), performed=self._performed)
        with Saving(self._bounds.folder, file_name(headers, self._request.url, row), self._bounds.file) as saving:
            async for chunk in _pieces(response):
                if not saving.write(chunk):
                    raise refusal(self._bounds.file, saving.size, performed=self._performed)
            saved = saving.done(media_type(headers.get("content-type", "")))
        return ApiResponse(response.status_code, headers, b"", file=saved)

    @property
    def _performed(self) -> bool:
        return self._request.method not in ("GET", "HEAD")


def _form(content_type: str) -> str | None:
    """Give the form of a stream; the module that knows them is read only for a type that may be one."""
    kind = media_type(content_type)
    if kind in ("application/json", "text/plain", "text/html", ""):
        return None
    from .streams import form_of

    return form_of(kind)


async def _pieces(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Give the content piece by piece, its codings undone but for one that the call asked for. Raises Damaged."""
    stream = response.stream
    coding = response.headers.get("content-encoding", "")
    if not coding or _is_wanted(coding, response.request.headers.get("accept-encoding", "")):
        async for chunk in stream:  # type: ignore[union-attr]
            yield chunk
        return
    from .inflate import Inflater

    inflater = Inflater(coding)
    async for chunk in stream:  # type: ignore[union-attr]
        for piece in inflater.feed(chunk):
            yield piece
    inflater.close()


def _is_wanted(coding: str, asked: str) -> bool:
    """Whether a coding that the adapter does not know was named by the call, which then has the answer as it came."""
    names = {part.partition(";")[0].strip().lower() for part in asked.split(",")}
    return coding.strip().lower() in names - {"", "identity", "gzip", "x-gzip", "deflate"}
