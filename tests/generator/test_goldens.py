"""Golden projects: what is generated from our fixtures is compared, linted, type-checked and run.

`pytest tests/generator/test_goldens.py --update-goldens` rewrites the expected side; review the diff.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.checkouts import unpack_runtime
from tests.generator.commands import FIXTURES, run

pytestmark = pytest.mark.long

GOLDEN = FIXTURES / "golden"
CASES = {path.stem: path for path in (FIXTURES / "petstore.yaml", *sorted((FIXTURES / "small").glob("*.yaml")))}
WHOLE = ("petstore", "no-operation-ids", "nullable-3.0")
"""The cases whose own tests are run too: one of everything, one without names, one of OpenAPI 3.0."""

COMPARED = (
    "OPERATIONS.md",
    "README.md",
    "pyproject.toml",
    "schema/adapter.yaml",
    "src/*/*.json",
    "src/*/search.txt",
    "src/*/operations/*.json",
)


Generate = Callable[[str], Path]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generate:
    """Generate the project of a case once; what the cases add to its folder is never compared."""

    @cache
    def generate(case: str) -> Path:
        folder = tmp_path_factory.mktemp(case) / "project"
        result = run("from-openapi", CASES[case], "-o", folder, "-q", "--add", "element")
        assert result.code == 0, result.err
        (package,) = (folder / "src").iterdir()
        unpack_runtime(package)
        return folder

    return generate


STARTS = "not own_settings and not sample_of_operations and not input_ends"


def compared(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for pattern in COMPARED
        for path in sorted(folder.glob(pattern))
    }


@pytest.mark.parametrize("case", CASES)
def test_the_project_is_what_it_was(case: str, generated: Generate, update_goldens: bool) -> None:
    """R-INT-7, R-CONF-2"""
    texts = compared(generated(case))
    expected = GOLDEN / case
    if update_goldens:
        shutil.rmtree(expected, ignore_errors=True)
        for path, text in texts.items():
            (expected / path).parent.mkdir(parents=True, exist_ok=True)
            (expected / path).write_text(text, encoding="utf-8")
    assert texts == compared(expected)


def command(folder: Path, *arguments: str) -> None:
    result = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(arguments)}\n{result.stdout}\n{result.stderr}"


def code(folder: Path) -> dict[str, str]:
    """Return all modules of a project, with the name of its package taken out."""
    (package,) = (path.name for path in (folder / "src").iterdir() if (path / "adapter.json").exists())
    modules = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    return {path.replace(package, "PACKAGE"): text.replace(package, "PACKAGE") for path, text in modules.items()}


def test_the_project_is_typed(generated: Generate, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """What mypy knows is kept from run to run, by the hash of each file; the first run takes 20 seconds."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    folder = cache.mkdir("mypy") if cache is not None else tmp_path
    command(generated("petstore"), "mypy", "--cache-dir", str(folder))


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("case", WHOLE)
def test_the_project_is_clean_and_passes_its_own_tests(case: str, generated: Generate) -> None:
    """Starting the adapter shows the same for every API: the first case does it."""
    folder = generated(case)
    command(folder, "ruff", "check", "--no-cache")
    command(folder, "ruff", "format", "--check", "--no-cache")
    without = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "xdist")]
    command(folder, "pytest", "-q", *without, *([] if case == WHOLE[0] else ["-k", STARTS]))


@pytest.mark.parametrize("case", CASES)
def test_the_code_of_every_project_is_the_same(case: str, generated: Generate) -> None:
    """So types that are right in one project are right in all."""
    assert code(generated(case)) == code(generated("petstore"))


@pytest.mark.parametrize("case", ["petstore", "hostile-title"])
def test_pip_installs_the_project_and_its_command_runs(case: str, generated: Generate, tmp_path: Path) -> None:
    folder, target = generated(case), tmp_path / "site"
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--no-compile", "--target", str(target))
    command(folder, "pip", "install", *offline, ".")
    (package,) = (path.name for path in target.glob("*_adapter"))
    listed = subprocess.run(
        [sys.executable, "-m", package, "--mock", "operations"], cwd=target, capture_output=True, text=True, check=False
    )
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.strip()
