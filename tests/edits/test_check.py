"""`aqlgen check --pristine`: are generated files what they claim to be? For continuous integration (R-CONF-2)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.edits.conftest import OPERATIONS, PACKAGE, Petstore
from tests.generator.commands import FIXTURES, run


def test_a_project_as_it_was_generated_is_pristine(pets: Petstore) -> None:
    done = run("check", pets.folder, "--pristine")
    assert done.code == 0
    assert "is pristine" in done.out
    assert "unedited and reproducible" in done.out
    assert pets.checked()["generated_again"]


def test_files_of_the_users_may_be_anything(pets: Petstore) -> None:
    pets.write("README.md", "mine\n")
    (pets.folder / "Dockerfile").unlink()
    pets.write(f"{PACKAGE}/hooks.py", "")
    pets.write(f"{PACKAGE}/own.py", "")
    assert pets.checked()["findings"] == []


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        (lambda pets: pets.write("OPERATIONS.md", "x"), "machine-file-edited", "OPERATIONS.md"),
        (
            lambda pets: pets.edit("read", lambda rows: rows.pop("list_pets")),
            "machine-file-edited",
            f"{OPERATIONS}/read.json",
        ),
        (lambda pets: (pets.folder / PACKAGE / "types.json").unlink(), "machine-file-missing", f"{PACKAGE}/types.json"),
        (lambda pets: pets.write("openapi/other.yaml", "x"), "machine-file-extra", "openapi/other.yaml"),
        (
            lambda pets: pets.write("overrides.yaml", "POST /pets: {name: take_pet}\n"),
            "not-reproducible",
            f"{OPERATIONS}/create.json",
        ),
        (
            lambda pets: pets.replace("MCPAQL-PROVENANCE.json", '"README.md": "', '"README.md": "0'),
            "provenance-damaged",
            "MCPAQL-PROVENANCE.json",
        ),
        (
            lambda pets: pets.replace("MCPAQL-PROVENANCE.json", '"name": "aqlgen"', '"name": "aqlgen", "address": "x"'),
            "provenance-damaged",
            "MCPAQL-PROVENANCE.json",
        ),
    ],
)
def test_what_is_not_as_generated_fails_with_its_path_and_the_way_out(
    pets: Petstore, change: object, code: str, path: str
) -> None:
    """R-TRUST-9"""
    assert callable(change)
    change(pets)
    done = run("check", pets.folder, "--pristine", "--output-format", "json")
    assert done.code == 1
    assert not done.json["success"]
    finding = next(
        finding for finding in done.json["pristine"]["findings"] if finding["code"] == code and finding["path"] == path
    )
    assert finding["suggestion"]
    assert path in run("check", pets.folder, "--pristine").err


def _site(pets: Petstore) -> Path:
    """Return the folder of installed packages of an environment of the project."""
    site = pets.folder / ".venv/lib/python3.13/site-packages"
    site.mkdir(parents=True)
    (pets.folder / ".venv/pyvenv.cfg").touch()
    return site


def test_an_installed_copy_is_compared_with_the_folder(pets: Petstore) -> None:
    """R-TRUST-9"""
    assert pets.checked()["installed"] == ""
    copy = _site(pets) / "petstore_adapter"
    shutil.copytree(pets.folder / PACKAGE, copy)
    shutil.unpack_archive(pets.folder / "vendor/runtime.zip", copy)
    shutil.copy(pets.folder / "adapter.toml", copy)
    pets.write(f"{PACKAGE}/notes.log", "left out of a build")
    checked = pets.checked()
    assert (checked["installed"], checked["findings"]) == (str(copy), [])
    (copy / "server.py").write_text("import elsewhere\n")
    (copy / "more.py").touch()
    (copy / "types.json").unlink()
    done = run("check", pets.folder, "--pristine", "--output-format", "json")
    (finding,) = done.json["pristine"]["findings"]
    assert (done.code, finding["code"], finding["path"]) == (1, "installed-differs", str(copy))
    assert "in more.py, server.py, types.json" in finding["message"]


def test_a_runtime_that_was_built_or_unpacked_is_compared_with_the_sealed_one(pets: Petstore) -> None:
    """R-TRUST-9: also one that is unpacked in the folder, where git looks at nothing."""
    archive = pets.folder / "vendor/runtime.zip"
    unpacked = pets.folder / PACKAGE / "__pycache__" / f"runtime-{sha256(archive.read_bytes()).hexdigest()[:16]}"
    copy = _site(pets) / "petstore_adapter"
    shutil.copytree(pets.folder / PACKAGE, copy)
    shutil.unpack_archive(archive, copy)
    shutil.unpack_archive(archive, unpacked)
    assert pets.checked()["findings"] == []
    (copy / "runtime/start.py").write_text("import elsewhere\n")
    assert "in runtime/start.py" in pets.checked()["findings"][0]["message"]
    shutil.rmtree(copy)
    (unpacked / "runtime/start.py").write_text("import elsewhere\n")
    (unpacked / "runtime/more.py").touch()
    (finding,) = pets.checked()["findings"]
    assert (finding["code"], finding["path"]) == ("installed-differs", str(pets.folder / PACKAGE))
    assert "in runtime/more.py, runtime/start.py" in finding["message"]


def test_an_editable_install_is_followed_to_the_folder_that_it_leads_to(pets: Petstore) -> None:
    """R-TRUST-9: also one of another checkout; no line that is code is run."""
    ran, other = pets.folder.parent / "ran", pets.folder.parent / "other"
    link = _site(pets) / "_petstore_adapter.pth"
    link.write_text(f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n{pets.folder / 'src'}\n")
    assert (pets.checked()["installed"], pets.checked()["findings"]) == (str(pets.folder / PACKAGE), [])
    shutil.copytree(pets.folder / "src", other)
    shutil.copytree(pets.folder / "vendor", other.parent / "vendor")
    link.write_text(f"{other}\n")
    assert pets.checked()["findings"] == []
    (other / "petstore_adapter/server.py").write_text("import elsewhere\n")
    assert [finding["path"] for finding in pets.checked()["findings"]] == [str(other / "petstore_adapter")]
    assert not ran.exists()


def test_files_under_src_that_nobody_generated_are_listed_and_refused_where_python_takes_them(pets: Petstore) -> None:
    """R-TRUST-9: what git ignores, too."""
    shadowing = [
        "src/mcp.py",
        "src/json/__init__.py",
        "src/yaml.pyc",
        f"{PACKAGE}/runtime/__init__.py",
        f"{PACKAGE}/runtime.cpython-313-x86_64-linux-gnu.so",
    ]
    helpers = [f"{PACKAGE}/helpers.py", f"{PACKAGE}/words.txt", "src/notes.txt"]
    for path in (*shadowing, *helpers):
        pets.write(path, "x = 1\n")
    pets.write(".gitignore", "*\n")
    pets.write(f"{PACKAGE}/__pycache__/server.pyc", "")
    checked = pets.checked()
    assert checked["unknown"] == sorted(helpers)
    assert {(finding["code"], finding["path"]) for finding in checked["findings"]} == {
        ("module-shadowed", path) for path in shadowing
    }
    for path in shadowing:
        (pets.folder / path).unlink()
    done = run("check", pets.folder, "--pristine")
    assert done.code == 0
    assert all(path in done.out for path in helpers)


def test_options_changed_in_the_record_by_hand_are_found(pets: Petstore) -> None:
    pets.replace("MCPAQL-PROVENANCE.json", '"field_case": null', '"field_case": "preserve"')
    assert {finding["code"] for finding in pets.checked()["findings"]} == {"not-reproducible"}


def test_the_time_of_the_environment_is_of_no_account(pets: Petstore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert pets.checked()["findings"] == []


def test_the_recorded_time_stays(pets: Petstore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    folder = pets.folder.parent / "dated"
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "-q").code == 0
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    done = run("check", folder, "--pristine", "--output-format", "json")
    assert done.json["success"]


def test_a_project_of_another_aqlgen_cannot_be_checked_and_is_held_against_its_record_alone(
    pets: Petstore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqlgen.project.check.build", lambda: "99.0+abc")
    checked = pets.checked()
    assert not checked["generated_again"]
    done = run("check", pets.folder, "--pristine")
    assert done.code == 1
    assert "cannot be checked in full" in done.err
    assert "this is 99.0+abc: install that one" in checked["why_not"]
    assert checked["findings"] == []
    pets.write("OPERATIONS.md", "x")
    assert [finding["path"] for finding in pets.checked()["findings"]] == ["OPERATIONS.md"]


def test_what_starts_the_adapter_is_refused_where_only_files_are_compared(pets: Petstore) -> None:
    done = run("check", pets.folder, "--pristine", "--level", "2")
    assert done.code == 3
    assert "--level" in done.err


def test_the_same_input_gives_the_same_bytes_in_other_processes(pets: Petstore) -> None:
    """R-CONF-2: also with other seeds of hashes, in another folder and another time zone."""
    trees = []
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        folder = pets.folder.parent / f"seed{seed}"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "SOURCE_DATE_EPOCH": "1700000000"}
        command = [sys.executable, "-m", "aqlgen", "from-openapi", str(FIXTURES / "petstore.yaml"), "-o", str(folder)]
        subprocess.run([*command, "-q"], env=environment, check=True, capture_output=True)
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        trees.append({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})
    assert trees[0] == trees[1]
