"""The package of the users' adapter, for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from users_api import write_users


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return write_users(tmp_path / "users")
