"""The wheel and the sdist hold all that aqlgen needs: its modules and every file of the templates."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEFT_OUT = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def files_of(folder: str) -> set[str]:
    found = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not any(part in LEFT_OUT for part in path.parts)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_the_wheel_holds_every_module_and_every_template(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())
    assert files_of("aqlgen") <= held
    assert {f"aqlgen/{path}" for path in files_of("templates")} <= held


def test_the_sdist_holds_what_a_wheel_is_built_from(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        held = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    assert files_of("aqlgen") | files_of("templates") | {"pyproject.toml", "README.md", "LICENSE"} <= held


def test_aqlgen_works_from_its_wheel_alone(built: Path, tmp_path: Path) -> None:
    wheel, site = next(built.glob("*.whl")), tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = f"import sys; sys.path.insert(0, {str(site)!r}); import aqlgen.cli as c; print(c.__file__); c.main()"
    spec, out = ROOT / "fixtures/petstore.yaml", tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "from-openapi", str(spec), "-o", str(out)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(site) in done.stdout
    assert (out / "src/petstore_adapter/runtime/dispatch.py").is_file()
