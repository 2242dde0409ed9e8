"""Options of the test run."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("aqlgen", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("aqlgen")
"""How long an example takes says more about the machine than about the code."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the expected side; review the diff")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))
