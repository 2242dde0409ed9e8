"""Links, special files, recorded paths and archives lead aqlgen nowhere outside of the project."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import tracemalloc
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from aqlgen.diagnostics.errors import AqlgenError, DocumentError, FileError
from aqlgen.document.read.archive import Archive, ArchiveFiles
from aqlgen.document.read.library import NotRead
from aqlgen.document.read.limits import Limits
from aqlgen.project import Project
from aqlgen.project.generated_paths import problem_of, problem_of_all, read_below, refuse_links, remove_below
from aqlgen.project.write import write_file, write_tree
from aqlgen.render.template import render_template
from tests.cases import each
from tests.generator.commands import run
from tests.update.repos import ISOLATED, SHOP, WHO

NO_PATHS = (
    "",
    "/etc/passwd",
    "//server/share",
    "../outside.txt",
    "src/../../outside.txt",
    "src/./x.py",
    "src//x.py",
    "src/",
    "~root\x00.txt",
    "C:/x.txt",
    "c:x.txt",
    "README.md:stream",
    "\\\\server\\share",
    "src\\x.py",
    ".git/hooks/post-checkout",
    ".git/config",
    ".GIT/config",
    ".Git",
    ".gi\u200ct/config",
    "\uff0egit/config",
    "git~1/config",
    "GIT~2",
    "src/.git/config",
    ".gitmodules",
    ".ssh/authorized_keys",
    ".bashrc",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".envrc",
    ".env",
    ".git /config",
    ".git./config",
    "README.md.",
    "README.md ",
    "CON",
    "aux.md",
    "src/nul.json",
    "COM1.txt",
    "a\nb",
    "\u202egpj.md",
    "x\ud800",
    "x" * 256,
)
PATHS = (
    "README.md",
    ".gitignore",
    ".gitattributes",
    ".github/workflows/update-adapter.yml",
    ".copier-answers.yml",
    "src/shop_adapter/__init__.py",
    "docs/使い方.md",
    "tests of 日本 *//x".replace("//", "/"),
)


@each("path", NO_PATHS, ids=ascii)
def test_a_recorded_path_that_is_none_is_refused(path: str) -> None:
    assert problem_of(path)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_a_template_has_is_one(path: str) -> None:
    assert problem_of(path) == ""


@pytest.mark.parametrize(
    "pair", [("README.md", "readme.md"), ("src/A/x", "src/a/x"), ("é.md", "e\u0301.md")], ids=ascii
)
def test_two_paths_that_are_one_file_elsewhere_are_refused(pair: tuple[str, str]) -> None:
    assert "one file" in problem_of_all(pair)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("shop")
    (top / "shop.json").write_text(json.dumps(SHOP), encoding="utf-8")
    assert run("from-openapi", top / "shop.json", "-o", top / "shop", "-q", "--add", "all").code == 0
    return top / "shop"


@pytest.fixture
def records(shop: Path, tmp_path: Path) -> Path:
    """Copy what `Project.open` reads, and lay something beside the project that nothing may reach."""
    folder = tmp_path / "shop"
    ignored = shutil.ignore_patterns("runtime", "tests", "schema")
    shutil.copytree(shop, folder, ignore=ignored)
    (tmp_path / "outside.txt").write_text("kept\n", encoding="utf-8")
    return folder


def _record(folder: Path, path: str, part: str = "files") -> None:
    record = json.loads((folder / "MCPAQL-PROVENANCE.json").read_bytes())
    digest = sha256(b"kept\n").hexdigest()
    if part == "fork":
        record["fork"] = {path: digest}
    else:
        record["files"]["each"][path] = digest
    (folder / "MCPAQL-PROVENANCE.json").write_text(json.dumps(record), encoding="utf-8")


@pytest.mark.parametrize("path", ["../outside.txt", ".git/hooks/post-checkout", "/etc/passwd", "src/a\\b", "readme.MD"])
@pytest.mark.parametrize("command", ["status", "check", "update"])
def test_a_command_refuses_records_that_name_foreign_files(records: Path, command: str, path: str) -> None:
    _record(records, path)
    done = run(command, records, *(["--pristine"] if command == "check" else []))
    assert done.code == 4
    assert "[project-damaged]" in done.err
    assert (records.parent / "outside.txt").read_text(encoding="utf-8") == "kept\n"


@pytest.mark.parametrize(
    "package", ["..", "../../x", "a/b", "a.b", "/etc", "Shop", "x\\ny", "", "{{ 7*7 }}", "*", "shop-x"]
)
def test_the_recorded_package_is_a_name(records: Path, package: str) -> None:
    answers = records / ".copier-answers.yml"
    text = answers.read_text(encoding="utf-8").replace("package: shop_adapter", f'package: "{package}"')
    answers.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match="missing"):
        Project.open(records)


LINKED = (
    "README.md",
    "pyproject.toml",
    "overrides.yaml",
    "src/shop_adapter/operations",
    "src/shop_adapter",
    "src",
    "openapi",
    "openapi/openapi.json",
    "src/shop_adapter/adapter.json",
    "MCPAQL-PROVENANCE.json",
    ".copier-answers.yml",
    ".github",
    ".github/workflows/update-adapter.yml",
)


@pytest.mark.parametrize("path", LINKED)
def test_a_link_at_a_generated_path_is_refused(records: Path, path: str) -> None:
    """R-TRUST-9"""
    place, real = records / path, records.parent / "real"
    if place.exists():
        place.rename(real)
    else:
        real.write_text("", encoding="utf-8")
    place.symlink_to(real)
    with pytest.raises(FileError) as refusal:
        Project.open(records)
    (finding, *_) = refusal.value.diagnostics
    assert finding.code == "generated-path-linked"
    assert f"{path} (symbolic link)" in finding.message
    assert "Nothing was changed" in (finding.help or "")


@pytest.mark.parametrize("target", ["/dev/zero", "/nonexistent", "README.md", ".", "loop"])
def test_wherever_a_link_leads_it_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "loop").symlink_to(target)
    with pytest.raises(FileError, match="symbolic link"):
        refuse_links(tmp_path, ["loop/inner/file.py"])


@pytest.mark.parametrize(
    "path", ["README.md", "adapter.toml", "src/shop_adapter/adapter.json", "MCPAQL-PROVENANCE.json"]
)
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_special_file_at_a_generated_path_is_refused_at_once(records: Path, path: str, kind: str) -> None:
    """Reading a pipe would wait for ever."""
    place = records / path
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        with pytest.MonkeyPatch.context() as patch:  # a socket's path is short
            patch.chdir(place.parent)
            socket.socket(socket.AF_UNIX).bind(place.name)
    with pytest.raises(FileError, match="pipe, socket or device"):
        Project.open(records)


@pytest.mark.parametrize("name", ["1-a.yaml", "12-b.json"])
def test_a_linked_overlay_is_refused(records: Path, name: str) -> None:
    folder = records / "openapi" / "overlays"
    folder.mkdir()
    (folder / name).symlink_to(records.parent / "outside.txt")
    with pytest.raises(FileError, match="symbolic link"):
        Project.open(records)


def test_the_projects_own_folder_may_be_a_link(records: Path) -> None:
    (records.parent / "link").symlink_to(records)
    assert Project.open(records.parent / "link").package == "shop_adapter"


def _git(folder: Path, *arguments: str) -> None:
    env = {**os.environ, **ISOLATED}
    subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True, env=env)


@pytest.mark.parametrize("shared", ["operations", "operations/read.json"])
def test_two_adapters_that_share_a_part_by_a_link_keep_it(shop: Path, tmp_path: Path, shared: str) -> None:
    for name in ("first", "second"):
        shutil.copytree(shop, tmp_path / name)
    place = tmp_path / "second" / "src" / "shop_adapter" / shared
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(tmp_path / "first" / "src" / "shop_adapter" / shared)
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", "--all", "--force")
    _git(tmp_path, "commit", "--quiet", "-m", "both")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and ".git" not in path.parts}
    done = run("update", tmp_path / "second")
    assert done.code == 4
    assert "[generated-path-linked]" in done.err
    assert f"src/shop_adapter/{shared} (symbolic link)" in done.err
    assert {path: path.read_bytes() for path in before} == before


def test_an_update_writes_through_no_hard_link(shop: Path, tmp_path: Path) -> None:
    """Nor into a pipe of the user's own, nor through a link that is not generated."""
    folder, outside = tmp_path / "shop", tmp_path / "outside"
    shutil.copytree(shop, folder)
    outside.mkdir()
    paths = ("OPERATIONS.md", "src/shop_adapter/operations/read.json", "MCPAQL-PROVENANCE.json")
    for number, path in enumerate(paths):
        os.link(folder / path, outside / str(number))
    before = [(outside / str(number)).read_bytes() for number in range(len(paths))]
    os.mkfifo(folder / "pipe")
    (folder / "notes").symlink_to(outside)
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all", "--force", ":(exclude)pipe")
    _git(folder, "commit", "--quiet", "-m", "generated")
    newer = {**SHOP, "paths": {**SHOP["paths"], "/orders": SHOP["paths"]["/goods"]}}
    (tmp_path / "newer.json").write_text(json.dumps(newer), encoding="utf-8")
    done = run("update", folder, "--spec", tmp_path / "newer.json")
    assert done.code == 0, done.err
    assert "/orders" in (folder / "OPERATIONS.md").read_text(encoding="utf-8")
    assert [(outside / str(number)).read_bytes() for number in range(len(paths))] == before


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_reading_and_removing_below_a_folder_follow_no_link(tmp_path: Path, depth: int) -> None:
    root, real = tmp_path / "root", tmp_path / "real"
    (root / "a" / "b").mkdir(parents=True)
    (real / "b").mkdir(parents=True)
    for folder in (real, real / "b"):
        (folder / "file").write_text("kept", encoding="utf-8")
    if depth == 0:
        (root / "a" / "b" / "file").symlink_to(real / "file")
    else:
        place = root / "a" / "b" if depth == 1 else root / "a"
        shutil.rmtree(place)
        place.symlink_to(real)
    assert read_below(root, "a/b/file") is None
    if depth:
        with pytest.raises(FileError):
            remove_below(root, "a/b/file")
    else:
        remove_below(root, "a/b/file")  # the link itself
    assert (real / "file").exists()
    assert (real / "b" / "file").exists()


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_below(tmp_path, "pipe") is None


@pytest.mark.parametrize("path", [".git", ".git/hooks", ".git/modules/x", ".GIT/x", "sub/.git/info"])
def test_nothing_is_generated_into_a_git_directory(tmp_path: Path, path: str) -> None:
    folder = tmp_path / path
    with pytest.raises(FileError, match="git's own"):
        write_tree({"README.md": b""}, folder)
    assert not list(tmp_path.rglob("README.md"))


@pytest.mark.parametrize("kind", ["link", "broken link", "file", "pipe"])
def test_a_destination_that_is_no_folder_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "real").mkdir()
    place = tmp_path / "out"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "file":
        place.write_bytes(b"")
    else:
        place.symlink_to(tmp_path / ("real" if kind == "link" else "nowhere"))
    with pytest.raises(FileError):
        write_tree({"README.md": b""}, place)
    assert not list(tmp_path.rglob("README.md"))


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "/tmp/outside-aqlgen", ".git/hooks/x", "a\\b"])
def test_a_tree_with_a_path_out_of_it_is_not_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(AqlgenError):
        write_tree({"README.md": b"", path: b""}, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "outside").exists()


def test_a_folder_that_may_not_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError):
        write_tree({"README.md": b""}, tmp_path / "file" / "inner")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_report_replaces_a_hard_link_and_not_what_it_shares(tmp_path: Path) -> None:
    (tmp_path / "shared").write_bytes(b"kept")
    os.link(tmp_path / "shared", tmp_path / "report.html")
    write_file(b"new", tmp_path / "report.html")
    assert (tmp_path / "shared").read_bytes() == b"kept"


LIMITS = Limits()


def _zip(*entries: tuple[str, bytes, int]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    "name", ["../x.json", "a/../../x.json", "/etc/x.json", "..\\x.json", "C:\\x.json", "\\\\h\\x.json"]
)
def test_an_entry_that_leaves_the_archive_is_not_in_it(name: str) -> None:
    assert list(Archive("a.zip", _zip((name, b"{}", stat.S_IFREG | 0o644)), LIMITS)) == []


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "other.json"])
def test_a_link_in_an_archive_is_not_in_it(target: str) -> None:
    data = _zip(("openapi.json", target.encode(), stat.S_IFLNK | 0o777))
    assert list(Archive("a.zip", data, LIMITS)) == []


@pytest.mark.parametrize("path", ["../x.json", "a/../../x.json", "..", "../../etc/passwd"])
def test_a_reference_does_not_leave_the_archive(path: str) -> None:
    archive = Archive("a.zip", _zip(("openapi.json", b"{}", stat.S_IFREG)), LIMITS)
    with pytest.raises(NotRead):
        ArchiveFiles("a.zip", archive).find("openapi.json", path)


def test_a_bomb_is_refused_by_what_it_says_and_cut_at_what_it_is() -> None:
    archive = Archive("a.zip", _zip(("openapi.json", b" " * 4096, stat.S_IFREG)), Limits(size=100))
    assert len(archive.read("openapi.json")) == 101
    with pytest.raises(DocumentError, match="when unpacked"):
        Archive("a.zip", _zip(*((f"{n}.json", b" " * 4096, stat.S_IFREG) for n in range(5))), Limits(all_size=4096 * 4))


def _flipped(data: bytes, place: int, bits: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


_MODULE = _zip(("runtime/x.py", b"x" * 1000, stat.S_IFREG))
SEALED = {
    "encrypted": _flipped(_flipped(_MODULE, 6, 1), _MODULE.index(b"PK\1\2") + 8, 1),
    "of another method": _flipped(_flipped(_MODULE, 8, 96), _MODULE.index(b"PK\1\2") + 10, 96),
    "damaged": _flipped(_MODULE, 45, 255),
    "cut": _MODULE[:40],
    "a bomb": _zip(*((f"runtime/{number}.py", bytes(60 << 20), stat.S_IFREG) for number in range(5))),
}


@each("name", SEALED)
def test_a_sealed_runtime_of_any_bytes_is_another_one(name: str, shop: Path, tmp_path: Path) -> None:
    """R-TRUST-9: the check of a project that somebody sends names it, and unpacks nothing."""
    folder = tmp_path / "shop"
    shutil.copytree(shop, folder)
    (folder / "vendor/runtime.zip").write_bytes(SEALED[name])
    tracemalloc.start()
    try:
        done = run("check", folder, "--pristine")
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()
    assert done.code == 1
    assert "vendor/runtime.zip" in done.err
    assert "internal" not in done.err


@pytest.mark.parametrize("source", ["https://evil.example/t.git", "/tmp/evil", "ext::sh -c id", "git@evil.example:t"])
def test_the_recorded_source_of_templates_is_never_followed(records: Path, source: str) -> None:
    """Whoever writes the answers does not choose the template: nothing is fetched or rendered from there."""
    answers = records / ".copier-answers.yml"
    text = answers.read_text(encoding="utf-8")
    answers.write_text(f'{text}\n_src_path: "{source}"\n_commit: v0.0.9\n_tasks: ["touch owned"]\n', encoding="utf-8")
    done = run("status", records)
    assert done.code in (0, 1), done.err
    assert not list(records.parent.rglob("owned"))


@each("question", ["title", "description", "base_url", "license"])
@each("text", ["{{ 7 * 191 }}", "{% set x = 7 * 191 %}{{ x }}", "{{ cycler.__init__ }}"])
def test_an_answer_is_never_a_template(question: str, text: str) -> None:
    answers = {"name": "shop", "package": "shop_adapter", "env_prefix": "SHOP", "version": "1", question: text}
    try:
        tree = render_template(answers)
    except AqlgenError:
        return  # the question allows no such text
    page = b"\n".join(tree[path] for path in ("README.md", "pyproject.toml", ".copier-answers.yml", "Dockerfile"))
    assert b"1337" not in page
    assert b"<class" not in page


@each("question", ["name", "package", "version", "env_prefix", "license"])
@each("value", ["x\n", "../x", "{{ 1 }}", 'x"\ny = "', ["a"], {"a": "b"}, None, 7], ids=repr)
def test_an_answer_that_is_no_name_is_refused(question: str, value: object) -> None:
    answers = {"name": "shop", "package": "shop_adapter", "env_prefix": "SHOP", "version": "1", question: value}
    with pytest.raises(AqlgenError):
        render_template(answers)  # type: ignore[arg-type]


def test_a_project_that_another_run_wrote_meanwhile_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = {"README.md": b"1", "src/a.json": b"1"}, {"README.md": b"2", "src/a.json": b"2"}
    place, mkdtemp = tmp_path / "home" / "shop", tempfile.mkdtemp

    def slow(**options: Any) -> str:
        monkeypatch.setattr("tempfile.mkdtemp", mkdtemp)
        write_tree(first, place)
        return mkdtemp(**options)

    monkeypatch.setattr("tempfile.mkdtemp", slow)
    with pytest.raises(FileError, match="not empty"):
        write_tree(second, place)
    assert list(place.parent.iterdir()) == [place]
    assert {path: (place / path).read_bytes() for path in first} == first
