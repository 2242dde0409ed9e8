"""The tests of every adapter, for pytest: a module of a project's tests takes all of them by `import *`.

They prove what this adapter alone has: its table and its settings. What all adapters do alike, aqlgen's tests prove.
They need pytest, which adapters do not. `ADAPTER_SAMPLE=N` in the environment tries about N operations in place of all.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

_MODULES = ("document", "operations", "safety")
pytest.register_assert_rewrite(*(f"{__name__}.test_{name}" for name in _MODULES), f"{__name__}.sessions")
_modules: list[Any] = [import_module(f"{__name__}.test_{name}") for name in _MODULES]
_tests = {name: test for module in _modules for name, test in vars(module).items() if name.startswith("test_")}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """Run the tests on asyncio, by anyio's plugin."""
    return "asyncio"


globals().update(_tests)
__all__ = ["anyio_backend", "pytestmark", *_tests]
