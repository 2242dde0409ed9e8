"""What several modules of attacks start from: the package of a tiny adapter, a shop under the loop, one event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, Formed
from guarded_shop import Shop, open_shop, write_shop
from looped_shop import Floor, opened

from tests.runtime.tiny_zoo import write_package


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("zoo") / "src" / "zoo_adapter")


@pytest.fixture(scope="module")
def shop_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shop(tmp_path_factory.mktemp("shop") / "shop")


@pytest.fixture
def shop(shop_package: Path, tmp_path: Path) -> Callable[..., Shop]:
    """Make a shop with hooks and settings; `answer` is what its API answers each request with, or makes of it."""

    def make(hooks: Any = None, answer: Any = None, **settings: Any) -> Shop:
        place = open_shop(shop_package, tmp_path / "audit.jsonl", hooks, **settings)
        if answer is not None:
            place.wire.give = answer if callable(answer) else lambda _request: answer
        return place

    return make


@pytest.fixture
def form() -> str:
    """Return the form of a test's calls, unless it is tried in each."""
    return "alone"


@pytest.fixture
async def floor(tmp_path: Path, form: str) -> AsyncIterator[Floor]:
    async with opened(tmp_path, form) as floor:
        yield floor


@pytest.fixture(params=FORMS)
def formed_shop(shop: Callable[..., Shop], request: pytest.FixtureRequest) -> Callable[..., Shop]:
    """Return shops to which each call is made alone, in a batch or as a step (R-STEP-2): what is refused stays so."""

    def make(*arguments: Any, **settings: Any) -> Shop:
        place = shop(*arguments, **settings)
        return replace(place, dispatcher=Formed(place.dispatcher, request.param))  # type: ignore[arg-type]

    return make
