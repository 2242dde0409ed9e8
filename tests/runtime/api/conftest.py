from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .hand_made import Make, Package, make_package


@pytest.fixture
def package(tmp_path: Path) -> Make:
    """Return a factory of packages: `package({"op": operation(...)}, types, family=..., environ=...)`."""

    def make(rows: Mapping[str, Any], types: Mapping[str, Any] | None = None, **more: Any) -> Package:
        return make_package(tmp_path, rows, types, **more)

    return make
