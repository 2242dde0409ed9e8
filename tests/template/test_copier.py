"""Plain copier, without aqlgen, on the projects that aqlgen makes: from the releases of a checkout, as anybody may."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from aqlgen import __version__
from aqlgen.render.provenance import Kind, is_code, kind
from aqlgen.render.template import render_template
from tests.checkouts import ROOT, URL, Checkout, compile_as_here
from tests.template.test_sealed_runtime import files_of

pytestmark = pytest.mark.long

PACKAGE = "petstore_adapter"
ANSWERS = {
    "name": "petstore",
    "package": PACKAGE,
    "env_prefix": "PETSTORE",
    "title": "Pets: {{ 7 * 7 }} {% raw %} \"'\\ 宠物 #1",
    "description": "Pets,\n  and *more* of them.",
    "version": "0.1.0",
    "license": "MIT",
    "base_url": "https://petstore.example/api?x={{ 7 * 7 }}",
    "hosts": "https://petstore.example: operations, with {{ 7 * 7 }}",
}
OLD, NEW = "0.0.1", __version__
YOURS = ("overrides.yaml", "adapter.toml", f"src/{PACKAGE}/hooks.py")
DEFAULTS = ("--defaults", "--quiet")
MOVED = "# a module\n" * 20


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Make aqlgen with two releases: files of every kind differ in the first, and the last is this work tree."""
    source = Checkout.make(tmp_path_factory.mktemp("releases") / "aqlgen")
    project = source.folder / "templates/project"
    changed = [
        "Dockerfile.jinja",
        "README.md.jinja",
        *YOURS[:2],
        "src/{{package}}/hooks.py",
        "src/{{package}}/__main__.py",
    ]
    runtime = source.folder / "aqlgen/runtime"
    files = [*(project / path for path in changed), runtime / "__init__.py"]
    now = {file: file.read_bytes() for file in files}
    for file, content in now.items():
        file.write_bytes(content + b"\n\n# of long ago\n")
    (runtime / "gone.py").write_text("# of long ago\n", encoding="utf-8")
    (runtime / "moved.py").write_text(MOVED, encoding="utf-8")
    source.release(OLD)
    for file, content in now.items():
        file.write_bytes(content)
    (runtime / "gone.py").unlink()
    (runtime / "elsewhere").mkdir()
    (runtime / "moved.py").rename(runtime / "elsewhere/moved.py")
    source.release(NEW)
    return source


def copier(checkout: Checkout, *arguments: str, cwd: Path) -> None:
    """Run copier as a command: nobody is there to be asked, nothing is trusted."""
    checkout.python(str(Path(__file__).with_name("plain_copier.py")), *arguments, cwd=cwd)


def rendered(checkout: Checkout, answers: Mapping[str, str] = ANSWERS) -> dict[str, bytes]:
    """Return what aqlgen renders as the newer release."""
    return render_template({**answers, "template_url": URL, "template_tag": f"v{NEW}"}, checkout.folder)


def answer_options(answers: Mapping[str, str], folder: Path) -> list[str]:
    file = folder / "answers.yaml"
    file.write_text(yaml.safe_dump(dict(answers), allow_unicode=True), encoding="utf-8")
    return ["--data-file", str(file)]


@pytest.fixture(scope="module")
def generated(checkout: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project by the aqlgen of the older release."""
    folder = tmp_path_factory.mktemp("made")
    checkout.git("clone", "--quiet", "--branch", f"v{OLD}", str(checkout.folder), str(folder / "older"))
    compile_as_here(folder / "older/aqlgen")
    older = Checkout(folder / "older", checkout.environment | {"PYTHONPATH": str(folder / "older")})
    spec = str(ROOT / "fixtures/petstore.yaml")
    options = ["-o", str(folder / "project"), "--runtime", "source", "--add", "all", "--quiet"]
    older.python("-m", "aqlgen", "from-openapi", spec, *options, cwd=folder)
    return folder / "project"


@pytest.fixture
def project(checkout: Checkout, generated: Path, tmp_path: Path) -> Path:
    """Copy the project, committed, into a folder of a repository."""
    return in_repository(checkout, generated, tmp_path / "work")


def in_repository(checkout: Checkout, generated: Path, top: Path) -> Path:
    """Copy the project into a folder of a new repository, and commit it."""
    folder = top / "adapters/petstore"
    shutil.copytree(generated, folder)
    checkout.git("init", "--quiet", cwd=top)
    commit(checkout, folder)
    return folder


def commit(checkout: Checkout, folder: Path) -> None:
    checkout.git("add", "--all", cwd=folder)
    checkout.git("commit", "--quiet", "--message", "x", cwd=folder)


@dataclass(frozen=True)
class Updated:
    """A project that a user edited, committed and updated by copier: its files before and after."""

    folder: Path
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    def copy(self, folder: Path) -> Path:
        """Copy the whole repository, and return the folder of the project in it."""
        shutil.copytree(self.folder.parents[1], folder)
        return folder / self.folder.relative_to(self.folder.parents[1])


@pytest.fixture(scope="module")
def updated(checkout: Checkout, generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Updated:
    """Make the update that several tests look at."""
    project = in_repository(checkout, generated, tmp_path_factory.mktemp("updated") / "work")
    for path in (*YOURS, "Dockerfile"):
        text = (project / path).read_text(encoding="utf-8")
        (project / path).write_text(text.replace("\n", "\n# mine\n", 1), encoding="utf-8")
    (project / "notes.md").write_text("mine\n", encoding="utf-8")
    commit(checkout, project)
    before = files_of(project)
    copier(checkout, "update", *DEFAULTS, cwd=project)
    after = files_of(project)
    commit(checkout, project)
    return Updated(project, before, after)


def test_update_brings_what_is_new_in_shared_files_and_code_and_touches_nothing_else(
    checkout: Checkout, updated: Updated
) -> None:
    before, after = updated.before, updated.after
    answers = yaml.safe_load(after[".copier-answers.yml"])
    assert (answers["_src_path"], answers["_commit"]) == (URL, f"v{NEW}")
    theirs = rendered(checkout, {key: value for key, value in answers.items() if key[0] != "_"})
    new = {path for path in theirs if kind(path, PACKAGE) is Kind.SHARED or is_code(path, PACKAGE)} - {"Dockerfile"}
    assert {path: after.get(path) for path in new} == {path: theirs[path] for path in new}
    assert after["Dockerfile"] == theirs["Dockerfile"].replace(b"\n", b"\n# mine\n", 1)
    assert after[".copier-answers.yml"] == theirs[".copier-answers.yml"]
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {
        ".copier-answers.yml",
        "Dockerfile",
        "README.md",
        f"src/{PACKAGE}/__main__.py",
        f"src/{PACKAGE}/runtime/__init__.py",
        f"src/{PACKAGE}/runtime/gone.py",
        f"src/{PACKAGE}/runtime/moved.py",
        f"src/{PACKAGE}/runtime/elsewhere/moved.py",
    }


def test_update_keeps_what_the_user_wrote_and_changes_nothing_the_next_time(
    checkout: Checkout, updated: Updated, tmp_path: Path
) -> None:
    before, after = updated.before, updated.after
    assert all(after[path] == before[path] for path in (*YOURS, "notes.md"))
    assert b"\n# mine\n" in after["Dockerfile"]
    assert b"of long ago" not in after["Dockerfile"]
    project = updated.copy(tmp_path / "work")
    copier(checkout, "update", *DEFAULTS, cwd=project)
    assert files_of(project) == after


def test_copying_anew_gives_back_the_shared_files_and_leaves_yours_and_the_data(
    checkout: Checkout, project: Path
) -> None:
    before = files_of(project)
    for path in (*YOURS, "Dockerfile"):
        (project / path).write_text("# mine\n", encoding="utf-8")
    copier(checkout, "recopy", *DEFAULTS, "--overwrite", cwd=project)
    after = files_of(project)
    assert all(after[path] == b"# mine\n" for path in YOURS)
    assert b"EXPOSE 8000" in after["Dockerfile"]
    data = [path for path in before if kind(path, PACKAGE) is Kind.MACHINE and not is_code(path, PACKAGE)]
    data.remove(".copier-answers.yml")
    assert all(after[path] == before[path] for path in data)


def test_a_checkout_is_a_template_by_its_path_too(checkout: Checkout, tmp_path: Path) -> None:
    source = ["--vcs-ref", f"v{NEW}", str(checkout.folder)]
    command = (str(Path(__file__).with_name("plain_copier.py")), "copy", "--defaults")
    done = checkout.python(*command, *answer_options(ANSWERS, tmp_path), *source, "new", cwd=tmp_path)
    assert "aqlgen from-openapi SPEC" in done.stderr  # what to run next
    project, expected = files_of(tmp_path / "new"), rendered(checkout)
    assert yaml.safe_load(project.pop(".copier-answers.yml"))["_src_path"] == str(checkout.folder)
    expected.pop(".copier-answers.yml")
    assert project == expected


@pytest.mark.usefixtures("forked")
def test_aqlgen_goes_on_from_where_copier_left(checkout: Checkout, updated: Updated, tmp_path: Path) -> None:
    project = updated.copy(tmp_path / "work")
    checkout.python("-m", "aqlgen", "update", "--quiet", cwd=project)
    checkout.python("-m", "aqlgen", "check", "--pristine", cwd=project)
    changed = checkout.git("diff", "--name-only", "--relative", "HEAD", cwd=project).splitlines()
    assert {path for path in changed if kind(path, PACKAGE) is not Kind.MACHINE} == set()
    assert "MCPAQL-PROVENANCE.json" in changed


def test_update_of_a_project_of_no_release_is_refused_in_one_line(checkout: Checkout, tmp_path: Path) -> None:
    answers = render_template(ANSWERS)[".copier-answers.yml"]
    (tmp_path / ".copier-answers.yml").write_bytes(answers)
    checkout.git("init", "--quiet", cwd=tmp_path)
    commit(checkout, tmp_path)
    command = [sys.executable, str(Path(__file__).with_name("plain_copier.py")), "update", *DEFAULTS]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=checkout.environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Cannot update because cannot obtain old template references from")
    assert b"No release of aqlgen made this project" in answers
