"""Options of the test run."""

from __future__ import annotations

import logging
import os
import ssl
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpcore2
import pytest
from hypothesis import HealthCheck, settings

from bench.support.preloaded import ADAPTERS, interpreter
from tests.examples import examples

settings.register_profile(
    "aqlgen", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("aqlgen")
"""How long an example takes says more about the machine than about the code."""

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""The hundreds of processes that the tests start would otherwise compile aqlgen, or an adapter, each for itself."""


os.environ["AQLGEN_CACHE"] = ""
"""Tests replace parts of aqlgen, which its cache of outputs does not see."""

ROOT = Path(__file__).parent.parent
MEMORY = Path("/dev/shm")
ROOM = 4 << 30


def _has_room(folder: Path) -> bool:
    """Return True for a folder in memory that is large enough and lets programs run."""
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return False
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize > ROOM and not state.f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and _has_room(MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
"""The tests write a hundred thousand files, which on a disk takes ten times as long; set TMPDIR to have them there."""


CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PLACES = [os.environ.get(name) for name in CERTIFICATES]
READ_AUTHORITIES = httpcore2.default_ssl_context


def _ssl_context(**options: bool) -> ssl.SSLContext:
    """Trust no authority, or those that a test names."""
    if [os.environ.get(name) for name in CERTIFICATES] != PLACES:
        return READ_AUTHORITIES(**options)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


httpcore2.default_ssl_context = _ssl_context
"""Each client in this process would read the certificates of all public authorities, for 40 ms, and talk to none."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the expected side; review the diff")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take long, so that no core waits for one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Path]:
    """Return a stand-in for the interpreter whose forks have imported what adapters and aqlgen import, and aqlgen.

    A process that is started so is spared a second of imports. Tests about starting itself start the interpreter.
    """
    if not hasattr(os, "fork"):
        yield Path(sys.executable)
        return
    files = [path.relative_to(ROOT) for path in (ROOT / "aqlgen").rglob("*.py") if path.stem != "__main__"]
    modules = [".".join((path.parent if path.stem == "__init__" else path.with_suffix("")).parts) for path in files]
    modules = [module for module in modules if not module.startswith("aqlgen.runtime.testing")]  # imports pytest
    with interpreter([*ADAPTERS, "openapi_pydantic", "pluralizer", *sorted(modules)], [ROOT]) as launcher:
        yield launcher


@pytest.fixture
def forked(preloaded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stand-in be `sys.executable`, by which tests and `aqlgen check` start processes."""
    monkeypatch.setattr(sys, "executable", str(preloaded))


@pytest.fixture
def capfd(capfd: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """Read standard error once all records are written: a line that a log's thread writes while it is read is lost."""
    read = capfd.readouterr

    def readouterr() -> pytest.CaptureResult[str]:
        for logger in logging.Logger.manager.loggerDict.values():
            for handler in getattr(logger, "handlers", ()):
                handler.flush()
        return read()

    capfd.readouterr = readouterr  # type: ignore[method-assign]
    return capfd


@pytest.fixture(autouse=True)
def _no_adapters_log() -> Iterator[None]:
    """Take the log of an adapter that a test served in this process away again: it is for a whole process."""
    yield
    root = logging.getLogger()
    for handler in [each for each in root.handlers if type(each).__module__.startswith("aqlgen.")]:
        root.removeHandler(handler)
    logging.captureWarnings(False)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
