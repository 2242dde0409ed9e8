"""The stand-alone safety server: the runtime as an adapter of no API (execution safety loop document, 2).

`adapter/` is its package of data, as every adapter has one, with no operations. `server` checks the owner's file
before the runtime reads it, and starts the runtime.
"""

from __future__ import annotations

__all__: list[str] = []
