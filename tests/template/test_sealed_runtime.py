"""Projects that hold the runtime as one archive of its sources, and those that hold the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from aqlgen.render.provenance import RUNTIME
from aqlgen.resources import sealed_runtime
from tests.checkouts import CACHES, unpack_runtime
from tests.generator.commands import FIXTURES, run
from tests.update.repos import ROOT, Repo, git

pytestmark = pytest.mark.long

PACKAGE = "petstore_adapter"
SOURCE = f"src/{PACKAGE}/runtime"
RECORD = "MCPAQL-PROVENANCE.json"
FLAGGED = {
    *("a", "bundle", "class", "crx", "deb", "dex", "dey", "dll", "drv", "dylib", "efi", "elf", "exe", "iso", "jar"),
    *("lib", "macho", "msi", "o", "ocx", "par", "pyc", "pyo", "rpm", "so", "wasm", "whl"),
}
"""Endings that OpenSSF Scorecard's check for binary artifacts flags."""


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {path: content for path, content in files.items() if not {".git", *CACHES} & set(path.split("/"))}


def generate(folder: Path, *options: str) -> Path:
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "-q", "--add", "all", *options).code == 0
    return folder


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("sealed") / "petstore")


def in_git(folder: Path) -> Repo:
    git("init", "--quiet", cwd=folder)
    repo = Repo(folder, folder)
    repo.commit()
    return repo


def listed(path: Path, then: str = "", *, writes: bool = True) -> str:
    """List operations by a package in a folder and run a line; return the file of the runtime that was imported."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(path)}
    environment |= {} if writes else {"PYTHONDONTWRITEBYTECODE": "1"}
    program = (
        f"import runpy, sys; sys.argv[1:] = ['operations']\ntry: runpy.run_module('{PACKAGE}', run_name='__main__')\n"
    )
    program += f"except SystemExit: pass\n{then}\nimport {PACKAGE}.runtime as r; print(r.__file__)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=path.anchor)
    assert done.returncode == 0, done.stderr
    *operations, place = done.stdout.splitlines()
    assert any("list_pets" in line for line in operations)
    return place


def test_the_archive_holds_the_sources_as_plain_text_and_nothing_else(sealed: Path) -> None:
    source = ROOT / "aqlgen/runtime"
    expected = {
        f"runtime/{path.relative_to(source).as_posix()}": path.read_bytes()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected["__main__.py"] = (ROOT / "templates/project/src/{{package}}/__main__.py").read_bytes()
    with zipfile.ZipFile(sealed / RUNTIME) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
        seal = held.pop("runtime/SEAL").decode().splitlines()
        assert held == expected
        assert len(seal) == len(expected) - 1
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
    assert all(content.decode().isprintable() or "\0" not in content.decode() for content in expected.values())
    assert not {Path(path).suffix.removeprefix(".") for path in files_of(sealed)} & FLAGGED


def test_the_same_sources_give_the_same_bytes(sealed: Path) -> None:
    sealed_runtime.cache_clear()
    assert sealed_runtime() == (sealed / RUNTIME).read_bytes()
    with zipfile.ZipFile(BytesIO(sealed_runtime())) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_checkout_runs_without_being_installed_and_unpacks_each_archive_once(tmp_path: Path) -> None:
    folder = generate(tmp_path / "petstore")
    place = listed(folder / "src")
    assert "/__pycache__/runtime-" in place
    assert listed(folder / "src") == place
    with zipfile.ZipFile(folder / RUNTIME, "a") as archive:
        archive.writestr("runtime/newly.py", "")
    assert listed(folder / "src") != place


def test_an_archive_that_is_missing_or_damaged_is_one_line_with_what_restores_it(tmp_path: Path) -> None:
    folder = generate(tmp_path / "petstore")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for state in ("damaged", "missing"):
        (folder / RUNTIME).write_bytes(b"no archive") if state == "damaged" else (folder / RUNTIME).unlink()
        command = [sys.executable, "-m", PACKAGE, "operations"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder / "src")
        problem = f"Error: {folder / RUNTIME} is {state}; `aqlgen update` or `git checkout` restores it\n"
        assert (done.returncode, done.stderr) == (1, problem)


def test_where_nothing_may_be_written_the_archive_itself_is_imported(tmp_path: Path) -> None:
    folder = generate(tmp_path / "petstore")
    page = f"from {PACKAGE}.runtime.operator.serve import Page; Page(None, None, None, 0)"  # reads its files
    assert f"{RUNTIME}/runtime/" in listed(folder / "src", page, writes=False)
    assert not (folder / f"src/{PACKAGE}/__pycache__").exists()


def test_the_command_verifies_lists_and_shows_what_runs(tmp_path: Path) -> None:
    """Each file is compared with the hash that was sealed with it."""
    folder = generate(tmp_path / "petstore")
    unpack_runtime(folder / f"src/{PACKAGE}")

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        start = [sys.executable, "-m", PACKAGE, "runtime", *arguments]
        return subprocess.run(start, capture_output=True, text=True, check=False, cwd=folder / "src")

    whole = command()
    assert (whole.returncode, "all as sealed" in whole.stdout) == (0, True)
    assert "  cli/sealed.py" in command("--list").stdout
    assert command("text.py").stdout == (ROOT / "aqlgen/runtime/text.py").read_text(encoding="utf-8")
    assert (command("nothing.py").returncode, "--list" in command("nothing.py").stderr) == (1, True)
    (unpacked,) = folder.glob("src/*/__pycache__/runtime-*/runtime/text.py")
    unpacked.write_text(unpacked.read_text(encoding="utf-8") + "MINE = 1\n", encoding="utf-8")
    (unpacked.parent / "mine.py").write_text("MINE = 1\n", encoding="utf-8")
    other = command()
    assert (other.returncode, "not as sealed are mine.py, text.py." in other.stdout) == (1, True)


def test_a_wheel_holds_the_runtime_unpacked(sealed: Path, tmp_path: Path) -> None:
    """Build as pip does, with the hatchling that is here. `tests/test_readme.py` installs an editable one."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "dist"), "-t", "wheel:standard"]
    subprocess.run(command, capture_output=True, check=True, cwd=sealed)
    (wheel,) = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    assert listed(tmp_path / "site") == str(tmp_path / "site" / PACKAGE / "runtime/__init__.py")
    runtime = files_of(tmp_path / "site" / PACKAGE / "runtime")
    with zipfile.ZipFile(sealed / RUNTIME) as archive:
        assert runtime == {name[8:]: archive.read(name) for name in archive.namelist() if name.startswith("runtime/")}


def test_the_two_forms_differ_in_nothing_but_the_place_of_the_runtime(sealed: Path, tmp_path: Path) -> None:
    archived, source = files_of(sealed), files_of(generate(tmp_path / "source", "--runtime", "source"))
    assert {path for path in archived.keys() ^ source.keys() if not path.startswith(f"{SOURCE}/")} == {
        RUNTIME,
        f"src/{PACKAGE}/__main__.py",
    }
    differing = {path for path in archived.keys() & source.keys() if archived[path] != source[path]}
    assert differing == {".copier-answers.yml", "Dockerfile", RECORD, "README.md", "pyproject.toml"}


def test_an_update_moves_a_project_from_one_form_to_the_other_and_back(sealed: Path, tmp_path: Path) -> None:
    source = generate(tmp_path / "source", "--runtime", "source")
    (source / f"src/{PACKAGE}/hooks.py").write_text("# mine\n", encoding="utf-8")
    fresh = files_of(source)
    repo = in_git(source)
    assert repo.update().out.endswith("is up to date.\n")
    assert repo.update("--runtime", "sealed").code == 0
    repo.commit()
    assert files_of(source) == files_of(sealed) | {f"src/{PACKAGE}/hooks.py": b"# mine\n"}
    assert repo.update().out.endswith("is up to date.\n")
    assert run("check", source, "--pristine").code == 0
    assert repo.update("--runtime", "source").code == 0
    assert files_of(source) == fresh


def of_earlier(repo: Repo, form: str) -> None:
    """Make of a project with the source of its runtime what earlier releases made: a copy, or a package to install."""
    if form == "copied":
        repo.replace(RECORD, '    "runtime": "source",\n', "")
    else:
        repo.replace(RECORD, '"runtime": "source"', '"runtime": "package"')
        repo.replace("pyproject.toml", '["mcp', '["aqlgen-runtime==0.1.0+r0123456789", "mcp')
    repo.replace("pyproject.toml", 'keywords = ["', 'keywords = ["mine", "')
    repo.replace("README.md", "\n## Start\n", "\nMine.\n\n## Start\n")
    repo.commit()


@pytest.mark.parametrize("form", ["copied", "package"])
def test_an_update_moves_the_forms_of_earlier_releases_without_losing_an_edit(tmp_path: Path, form: str) -> None:
    repo = in_git(generate(tmp_path / "earlier", "--runtime", "source"))
    of_earlier(repo, form)
    done = repo.changed()
    assert (done["success"], done["conflicts"]) == (True, [])
    repo.commit()
    files = files_of(repo.folder)
    assert not [path for path in files if path.startswith(f"{SOURCE}/")]
    assert files[RUNTIME] == sealed_runtime()
    project = tomllib.loads(repo.read("pyproject.toml"))
    assert project["project"]["keywords"][0] == "mine"
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]
    assert "\nMine.\n" in repo.read("README.md")
    assert repo.update().out.endswith("is up to date.\n")


def test_a_project_with_edits_of_its_runtime_is_refused_and_keeps_them(tmp_path: Path) -> None:
    repo = in_git(generate(tmp_path / "earlier", "--runtime", "source"))
    of_earlier(repo, "copied")
    edited = f"{SOURCE}/text.py"
    repo.write(edited, repo.read(edited) + "\nMINE = 1\n")
    repo.commit()
    assert repo.update().code == 3
    assert "MINE = 1" in repo.read(edited)


def test_an_edit_of_the_archive_is_refused_with_the_way_out(tmp_path: Path) -> None:
    repo = in_git(generate(tmp_path / "petstore"))
    (repo.folder / RUNTIME).write_bytes((repo.folder / RUNTIME).read_bytes() + b"mine")
    repo.commit()
    done = repo.update("--output-format", "json")
    assert done.code == 3
    (detail,) = done.json["error"]["details"]
    assert "hooks.py" in detail["suggestion"]
    assert "--runtime source" in detail["suggestion"]
    assert run("check", repo.folder, "--pristine").code == 1
