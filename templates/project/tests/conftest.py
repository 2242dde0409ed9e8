# shared: yours to edit; `aqlgen update` merges its own changes into it.
"""What pytest needs to know: asynchronous tests run on asyncio, by anyio's plugin."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
