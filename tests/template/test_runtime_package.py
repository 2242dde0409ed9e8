"""Projects that depend on the runtime as a package instead of holding a copy of it."""

from __future__ import annotations

import ast
import os
import site
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from aqlgen.resources import own_templates, runtime_project, runtime_version
from aqlgen.runtime import hooks
from tests.checkouts import CACHES, compile_as_here
from tests.generator.commands import FIXTURES, run
from tests.update.repos import ROOT, Repo, git

pytestmark = pytest.mark.long

PACKAGE = "petstore_adapter"
RUNTIME = f"src/{PACKAGE}/runtime"


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {path: content for path, content in files.items() if not {".git", *CACHES} & set(path.split("/"))}


@pytest.fixture(scope="module")
def thin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thin") / "petstore"
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "-q", "--runtime", "package").code == 0
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the runtime's wheel as pip does, with the hatchling that is here."""
    folder = tmp_path_factory.mktemp("wheel")
    program = "import os, sys, hatchling.build as b; os.chdir(sys.argv[1]); print(b.build_wheel(sys.argv[2]))"
    command = [sys.executable, "-c", program, str(runtime_project()), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment that holds the wheel, and the libraries that are here."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    compile_as_here(packages / "aqlgen_runtime", ROOT / "aqlgen/runtime")
    (packages / "here.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    return home / "bin/python"


def test_the_project_has_no_code_of_the_runtime_and_names_its_exact_version(thin: Path) -> None:
    assert {path for path in files_of(thin) if path.startswith(RUNTIME)} == {
        f"{RUNTIME}/{name}" for name in ("__init__.py", "cli.pyi", "hooks.pyi")
    }
    project = tomllib.loads((thin / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"][0] == f"aqlgen-runtime=={runtime_version()}"


def test_the_version_is_one_that_no_public_index_takes() -> None:
    """PEP 440: a local label is for versions that are not published, and an index refuses it."""
    assert "+r" in runtime_version()


def test_its_own_tests_pass_with_the_installed_package(thin: Path, python: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        *(f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "xdist")),
    ]
    done = subprocess.run(command, cwd=thin, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_holds_the_runtime_alone_and_is_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = ROOT / "aqlgen/runtime"
    files = {path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {f"aqlgen_runtime/{path.relative_to(source).as_posix()}" for path in files}
    assert held == expected | {"aqlgen_runtime/py.typed"}


def test_the_package_needs_what_a_project_with_a_copy_needs() -> None:
    """One list for both, so that a project can go from one form to the other."""
    package = tomllib.loads((runtime_project() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    template = (own_templates() / "templates/project/pyproject.toml.jinja").read_text(encoding="utf-8")
    for library in package["dependencies"]:
        assert f'"{library}"' in template
    for name, libraries in package["optional-dependencies"].items():
        assert f"{name} = {libraries}".replace("'", '"') in template


def test_type_checkers_find_all_that_hooks_may_use(thin: Path) -> None:
    stub = ast.parse((thin / RUNTIME / "hooks.pyi").read_text(encoding="utf-8"))
    names = [name.name for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names]
    assert sorted(names) == sorted(hooks.__all__)


def test_an_update_moves_a_project_from_one_form_to_the_other_and_back(thin: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", copied, "-q").code == 0
    (copied / f"src/{PACKAGE}/hooks.py").write_text("# mine\n", encoding="utf-8")
    fresh = files_of(copied)
    git("init", "--quiet", cwd=copied)
    repo = Repo(copied, copied)
    repo.commit()
    assert repo.update("--runtime", "package").code == 0
    repo.commit()
    assert files_of(copied) == files_of(thin) | {f"src/{PACKAGE}/hooks.py": b"# mine\n"}
    assert repo.update().out.endswith("is up to date.\n")
    assert run("check", copied, "--pristine").code == 0
    assert repo.update("--runtime", "copied").code == 0
    assert files_of(copied) == fresh
