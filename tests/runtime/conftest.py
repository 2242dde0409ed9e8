"""The tiny zoo for each test, and a stand-in for the API's side of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_in import FakeApi
from tiny_zoo import write_package

from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.hooks import Hooks
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from tests.runtime.redis_server import RedisServer, redis_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as running:
        yield running


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
        api.table = Table(package)
        return Dispatcher(Adapter.load(package), api.table, api, Config(**settings), Parts(hooks))

    return build


@pytest.fixture
def zoo(make: Callable[..., Dispatcher]) -> Dispatcher:
    return make()
