# shared: yours to edit; `aqlgen update` merges its own changes into it.
"""What pytest needs to know: tests run on asyncio, by anyio's plugin; `--sample N` tries few operations."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "try about N operations, spread over the table, in place of all"
    parser.addoption("--sample", type=int, default=0, metavar="N", help=text)


def pytest_configure(config: pytest.Config) -> None:
    from . import table  # here, since it imports the adapter

    table.SAMPLE = config.getoption("--sample")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
