"""The wheel and the sdist hold all that aqlgen needs: its modules and templates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from aqlgen import __version__
from aqlgen.render.provenance import RUNTIME
from aqlgen.runtime import SEAL
from hatch_build import CarryRelease
from tests.checkouts import CACHES, ROOT, URL, Checkout, compile_as_here

pytestmark = pytest.mark.long

LATEST = f"v{__version__}"
CARRIED = {"aqlgen/template/release.txt"}


def files_of(folder: str) -> set[str]:
    paths = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not any(part in CACHES for part in path.parts)}


def held(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")}


def unpacked(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    compile_as_here(folder / "aqlgen")
    return folder


def ask(site: Path, question: str, **environment: str) -> object:
    """Evaluate an expression with the modules in a folder alone; it gives JSON."""
    asked = f"import json; from aqlgen.project import generation; print(json.dumps({question}))"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(site)!r}); {asked}"]
    done = subprocess.run(command, cwd=site, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


TAG = "generation.current().tag"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Make aqlgen with a release that is as this work tree."""
    source = Checkout.make(tmp_path_factory.mktemp("releases") / "aqlgen")
    source.release(__version__)
    return source


@pytest.fixture(scope="module")
def built(checkout: Checkout, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Build the sdist and the wheel of the last release."""
    return sorted(checkout.build(tmp_path_factory.mktemp("dist")), key=lambda path: path.suffix)


@pytest.fixture(scope="module")
def site(built: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel as it is installed: a folder of modules."""
    return unpacked(built[1], tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def again(checkout: Checkout, built: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from the sdist."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built[0]) as sdist:
        sdist.extractall(folder / "sdist", filter="data")
    (source,) = (folder / "sdist").iterdir()
    return checkout.build(folder / "dist", "wheel", source=source)[0]


def test_the_wheel_holds_every_module_and_every_template_in_the_shape_of_the_repository(built: list[Path]) -> None:
    files = set(held(built[1]))
    assert files_of("aqlgen") <= files
    assert {f"aqlgen/template/{path}" for path in files_of("templates") | {"copier.yml"}} <= files
    assert {path for path in files if path.startswith("aqlgen/template/")} - CARRIED == {
        f"aqlgen/template/{path}" for path in files_of("templates") | {"copier.yml", "CHANGELOG.md"}
    }


def test_the_sdist_holds_what_a_wheel_is_built_from(built: list[Path]) -> None:
    with tarfile.open(built[0]) as sdist:
        files = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    needed = {"pyproject.toml", "README.md", "LICENSE", "copier.yml", "hatch_build.py"}
    assert files_of("aqlgen") | files_of("templates") | needed | CARRIED <= files
    assert not [name for name in files if name.endswith("{{package}}/runtime")]


def from_site(site: Path, out: Path) -> str:
    """Generate a project with the modules of a folder, or those that its .pth files name, and check it.

    Return where the modules were.
    """
    code = f"import site; site.addsitedir({str(site)!r}); import sys; sys.path.insert(0, sys.path.pop()); "
    code += "import aqlgen.cli as c; print(c.__file__); c.main()"
    printed = []
    for arguments in (
        ["from-openapi", str(ROOT / "fixtures/petstore.yaml"), "-o", str(out), "--quiet"],
        ["check", str(out), "--pristine"],
    ):
        command = [sys.executable, "-I", "-c", code, *arguments]
        done = subprocess.run(command, cwd=out.parent, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        printed.append(done.stdout)
    assert "unedited and reproducible" in printed[1]
    return printed[0].splitlines()[0]


@pytest.fixture(scope="module")
def of_wheel(site: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Generate a project with the wheel; return its folder, and where the modules were."""
    out = tmp_path_factory.mktemp("made") / "out"
    return out, from_site(site, out)


def test_aqlgen_works_from_its_wheel_alone(site: Path, of_wheel: tuple[Path, str]) -> None:
    out, place = of_wheel
    assert place.startswith(str(site))
    assert (out / RUNTIME).is_file()
    assert f"_commit: {LATEST}\n" in (out / ".copier-answers.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("way", ["wheel", "editable install", "plain copier"])
def test_a_project_gets_the_runtime_whole_however_aqlgen_is_there(
    checkout: Checkout, of_wheel: tuple[Path, str], tmp_path: Path, way: str
) -> None:
    """The template has it by a symbolic link, which neither a wheel nor an sdist holds."""
    out = tmp_path / "out"
    match way:
        case "wheel":
            out, _ = of_wheel
        case "editable install":
            (wheel,) = checkout.build(tmp_path / "dist", "wheel:editable")
            assert not [name for name in held(wheel) if "runtime" in name]
            from_site(unpacked(wheel, tmp_path / "site"), out)
        case "plain copier":
            answers = ["-d", "name=petstore", "--defaults", "--quiet", "--vcs-ref", LATEST]
            copier = str(ROOT / "tests/template/plain_copier.py")
            checkout.python(copier, "copy", *answers, URL, str(out), cwd=tmp_path)
    if way != "plain copier":
        zipfile.ZipFile(out / RUNTIME).extractall(tmp_path / "unpacked")
    home = out / "src/petstore_adapter/runtime" if way == "plain copier" else tmp_path / "unpacked/runtime"
    files = {
        path.relative_to(home).as_posix(): path for path in home.rglob("*") if path.is_file() and path.name != SEAL
    }
    assert files.keys() == {path.removeprefix("aqlgen/runtime/") for path in files_of("aqlgen/runtime")}
    for path, file in files.items():
        assert file.read_bytes() == (checkout.folder / "aqlgen/runtime" / path).read_bytes()


def test_a_wheel_knows_which_release_it_is_without_git(site: Path, tmp_path: Path) -> None:
    assert ask(site, TAG, PATH=str(tmp_path)) == LATEST


def test_a_build_has_the_same_identity_in_a_checkout_and_in_a_wheel(site: Path, checkout: Checkout) -> None:
    identity = "__import__('aqlgen.resources').resources.build()"
    assert str(ask(site, identity)).startswith(f"{__version__}+")
    assert ask(site, identity) == ask(checkout.folder, identity)


def clone(checkout: Checkout, folder: Path, *options: str) -> Checkout:
    source = f"file://{checkout.folder}" if options else str(checkout.folder)
    checkout.git("clone", "--quiet", *options, source, str(folder / "clone"))
    compile_as_here(folder / "clone/aqlgen")
    return Checkout(folder / "clone", checkout.environment | {"PYTHONPATH": str(folder / "clone")})


def test_the_same_tags_give_the_same_wheel_however_the_checkout_is_stored(
    checkout: Checkout, built: list[Path], tmp_path: Path
) -> None:
    copy = clone(checkout, tmp_path)
    copy.git("repack", "-a", "-d", "-f", "--quiet")
    assert copy.build(tmp_path / "dist", "wheel")[0].read_bytes() == built[1].read_bytes()


def test_a_wheel_built_from_the_sdist_carries_the_same(built: list[Path], again: Path) -> None:
    assert held(again) == held(built[1])


def carries_release(root: Path) -> bool:
    """Return True if the build hook adds a release to the wheel of a checkout; the templates are always in it."""
    hook = CarryRelease(str(root), {}, None, SimpleNamespace(version=__version__), "", "wheel", Mock())  # type: ignore[arg-type]
    hook.initialize("standard", data := {"force_include": {}})
    hook.finalize("standard", data, "")
    places = set(data["force_include"].values())
    assert {"aqlgen/template/copier.yml", "aqlgen/template/CHANGELOG.md"} <= places
    return places >= CARRIED


def test_a_checkout_with_other_templates_is_no_release_and_its_wheel_is_none(
    checkout: Checkout, tmp_path: Path
) -> None:
    copy = clone(checkout, tmp_path)
    assert carries_release(copy.folder)
    added = copy.folder / "templates/project/NOTES.md"
    added.write_text("new\n", encoding="utf-8")
    assert (ask(copy.folder, TAG), carries_release(copy.folder)) == ("", False)
    added.unlink()
    copy.edit("copier.yml", "Where the API is served", "Where it is served")
    assert (ask(copy.folder, TAG), carries_release(copy.folder)) == ("", False)


def test_a_wheel_can_be_built_where_there_are_no_releases(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a clone has no tags, where there is no git, and where there is no repository."""
    copy = clone(checkout, tmp_path, "--no-tags", "--depth", "1")
    assert (ask(copy.folder, TAG), carries_release(copy.folder)) == ("", False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not carries_release(copy.folder)
    monkeypatch.undo()
    (copy.folder / ".git").rename(tmp_path / "gone")
    assert (ask(copy.folder, TAG), carries_release(copy.folder)) == ("", False)


def test_an_editable_install_is_not_kept_waiting_by_the_history(checkout: Checkout) -> None:
    asked = (
        "hook = CarryRelease('.', {}, None, None, '', 'wheel'); hook.initialize('editable', data := {}); print(data)"
    )
    done = checkout.python("-c", f"from hatch_build import CarryRelease; {asked}", cwd=checkout.folder)
    assert done.stdout == "{}\n"
