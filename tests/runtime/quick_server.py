"""The server of uvicorn for tests, which ends at once; as it is, it looks for that ten times in a second."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn.server
from uvicorn.server import Server

__all__ = ["Server"]


class _Asyncio:
    """The module `asyncio`, but for pauses, which are a hundredth of a second at most."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


uvicorn.server.asyncio = _Asyncio()  # type: ignore[attr-defined]
