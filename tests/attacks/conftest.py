"""What several modules of attacks start from: the package of a tiny adapter, a shop under the loop, one event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from looped_shop import Floor, opened

from tests.runtime.tiny_zoo import write_package


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("zoo") / "src" / "zoo_adapter")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def form() -> str:
    """Return the form of a test's calls, unless it is tried in each."""
    return "alone"


@pytest.fixture
async def floor(tmp_path: Path, form: str) -> AsyncIterator[Floor]:
    async with opened(tmp_path, form) as floor:
        yield floor
