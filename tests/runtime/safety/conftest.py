"""What several modules of tests about safety start from: adapters under the loop on one store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from looping import House


@pytest.fixture
async def house(package: Path, tmp_path: Path) -> AsyncIterator[House]:
    house = House(package, tmp_path)
    yield house
    await house.close()
