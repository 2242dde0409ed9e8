"""The tiny zoo for each test, and a stand-in for the API's side of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runtime.config import Config
from runtime.dispatch import Dispatcher
from runtime.hooks import Hooks
from runtime.table import Adapter, Table
from stand_in import FakeApi
from tiny_zoo import write_package


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write_package(tmp_path / "src" / "zoo_adapter")


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def make(package: Path, api: FakeApi) -> Callable[..., Dispatcher]:
    """Make a dispatcher for the zoo; settings and hooks as keyword arguments."""

    def build(hooks: Hooks | None = None, **settings: Any) -> Dispatcher:
        return Dispatcher(Adapter.load(package), Table(package), api, Config(**settings), hooks)

    return build


@pytest.fixture
def zoo(make: Callable[..., Dispatcher]) -> Dispatcher:
    return make()
