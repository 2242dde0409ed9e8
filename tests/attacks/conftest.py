"""What several modules of attacks start from: the package of a tiny adapter, and one event loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.tiny_zoo import write_package


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("zoo") / "src" / "zoo_adapter")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
