"""A repository's own configuration, attributes, hooks and objects run no command, and lead git nowhere else.

One hostile repository has every setting at once, each with a command that leaves a mark of its own. All commands of
aqlgen that run git run in it; then the user's own git runs, to show that the marks are real.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from aqlgen import git
from aqlgen.diagnostics.errors import FileError
from aqlgen.git.isolation import Place, isolated, place_of
from aqlgen.project.repository import Repository
from aqlgen.project.revisions import Revision, revision
from tests.generator.commands import Run, run
from tests.update.repos import ISOLATED, SHOP, WHO, grown, operation

SETTINGS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.editor",
    "core.pager",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "sequence.editor",
    "diff.external",
    "diff.evil.textconv",
    "diff.evil.command",
    "merge.evil.driver",
    "merge.default",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.long.process",
    "filter.lfs.clean",
    "filter.lfs.smudge",
    "filter.name with = and space.clean",
    "gpg.program",
    "gpg.ssh.defaultKeyCommand",
    "credential.helper",
    "alias.status",
    "alias.ls-files",
    "alias.update-index",
    "pager.status",
    "pager.log",
    "pager.diff",
    "interactive.diffFilter",
    "trailer.sign.command",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.vcs",
    "remote.origin.url",
    "submodule.inner.update",
    "difftool.evil.cmd",
    "mergetool.evil.cmd",
    "sendemail.sendmailCmd",
    "instaweb.browser",
    "web.browser",
    "lfs.customtransfer.evil.path",
    "receive.procReceiveRefs",
)
"""Settings that can name a command; the values of some are not one, and these must do no harm either."""

CARRIERS = ("include.path", "includeIf.gitdir:**.path", "config.worktree")
HOOKS = (
    "fsmonitor-watchman post-checkout post-commit post-index-change post-merge post-rewrite pre-auto-gc pre-commit "
    "pre-merge-commit prepare-commit-msg commit-msg reference-transaction pre-push post-applypatch sendemail-validate"
).split()
VARIABLES = (
    "GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS GIT_PROXY_COMMAND "
    "GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_NAMESPACE"
).split()
PLAIN = (
    "core.fsmonitor filter.evil.clean filter.evil.smudge filter.long.process diff.evil.command remote.origin.url "
    "include.path config.worktree post-index-change post-checkout"
).split()
"""Marks that the user's own git leaves in this repository."""


@dataclass
class Hostile:
    """The repository, the results of aqlgen's commands in it, and the marks that commands leave."""

    folder: Path
    marks: Path
    results: dict[str, Run] = field(default_factory=dict)
    table: str = ""
    after_aqlgen: frozenset[str] = frozenset()
    after_git: frozenset[str] = frozenset()

    def git(self, *arguments: str, check: bool = True) -> str:
        command = ["git", *WHO, *arguments]
        env = {key: value for key, value in os.environ.items() if key not in VARIABLES} | ISOLATED
        nothing = subprocess.DEVNULL
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, env=env, stdin=nothing
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def mark(self, name: str) -> str:
        """Return a command that leaves a mark."""
        script = self.marks.parent / "scripts" / name.replace("/", "-")
        script.parent.mkdir(exist_ok=True)
        script.write_text(
            f"#!/bin/sh\n: > '{self.marks}/{name}'\n{'' if name == 'remote.origin.url' else 'cat'}\n", encoding="utf-8"
        )
        script.chmod(0o755)
        return str(script)

    def marked(self) -> frozenset[str]:
        return frozenset(path.name for path in self.marks.iterdir())


def _configure(hostile: Hostile) -> None:
    """Set everything that a repository can hold."""
    git_dir = hostile.folder / ".git"
    lines = (git_dir / "config").read_text(encoding="utf-8").splitlines()
    for key in SETTINGS:
        section, _, rest = key.partition(".")
        inner, _, name = rest.rpartition(".")
        command = hostile.mark(key.replace(" ", "-"))
        value = {
            "remote.origin.url": f"ext::{command}",
            "merge.default": "evil",
            "remote.origin.vcs": "evil",
        }.get(key, f"!{command}" if section in ("alias", "submodule") or "cmd" in name.lower() else command)
        if key == "remote.origin.vcs":
            continue  # it would hide the address; its own test is below
        lines += [f'[{section} "{inner}"]' if inner else f"[{section}]", f'\t{name} = "{value}"']
    for carrier, place in zip(CARRIERS, ("included", "conditional", "config.worktree"), strict=True):
        command = hostile.mark(carrier.replace("/", "-"))
        text = f'[filter "{place}"]\n\tclean = "{command}"\n\trequired = true\n'
        (git_dir / place).write_text(text, encoding="utf-8")
    lines += ["[include]", "\tpath = included", '[includeIf "gitdir:**"]', "\tpath = conditional"]
    lines += [
        "[extensions]",
        "\tworktreeConfig = true",
        "\tpartialClone = origin",
        "[core]\n\trepositoryformatversion = 1",
    ]
    lines += ['[remote "origin"]', "\tpromisor = true", "\tpartialclonefilter = blob:none"]
    lines += ["[log]", "\tshowSignature = true", "[commit]", "\tgpgSign = true", '[protocol "ext"]', "\tallow = always"]
    (git_dir / "config").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in HOOKS:
        shutil.copy(hostile.mark(name), git_dir / "hooks" / name)
    attributes = "*.json filter=evil diff=evil merge=evil\n*.toml filter=long\nhatch_build.py filter=included\n"
    attributes += ".gitignore filter=config.worktree\n"
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(attributes, encoding="utf-8")


def _lose(hostile: Hostile, oid: str) -> None:
    """Take an object away, as a partial clone lacks it."""
    (hostile.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    top = tmp_path_factory.mktemp("hostile")
    (top / "marks").mkdir()
    (top / "shop.json").write_text(json.dumps(SHOP), encoding="utf-8")
    (top / "newer.json").write_text(json.dumps(grown(orders={"get": operation("listOrders")})), encoding="utf-8")
    assert run("from-openapi", top / "shop.json", "-o", top / "shop", "-q").code == 0
    hostile = Hostile(top / "shop", top / "marks")
    hostile.git("init", "--quiet", "--initial-branch=main")
    readme, record = hostile.folder / "README.md", hostile.folder / "MCPAQL-PROVENANCE.json"
    generated, older = readme.read_bytes(), b"# Older\n"
    text = record.read_text(encoding="utf-8").replace(sha256(generated).hexdigest(), sha256(older).hexdigest())
    record.write_text(text, encoding="utf-8")
    for content in (older, b"# Lost\n", generated + b"\nOurs.\n"):  # only the history has what was generated
        readme.write_bytes(content)
        hostile.git("add", "--all", "--force")
        hostile.git("commit", "--quiet", "-m", "by hand")
    lost = hostile.git("rev-parse", "HEAD~1:README.md")
    _configure(hostile)
    _lose(hostile, lost)
    for path in hostile.folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_500_000_000, 1_500_000_000))  # so that git reads them again
    with pytest.MonkeyPatch.context() as patch:
        for name in [variable for variable in os.environ if variable.startswith("GIT_")]:
            patch.delenv(name)
        for key, value in ISOLATED.items():
            patch.setenv(key, value)
        for name in VARIABLES:
            patch.setenv(name, hostile.mark(name))
        patch.chdir(hostile.folder)
        for arguments in (
            ("status",),
            ("check", "--pristine"),
            ("diff", "HEAD"),
            ("diff", "HEAD:openapi/openapi.json", "../newer.json"),
            ("update", "--spec", "../newer.json", "--dry-run"),
            ("update", "--spec", "../newer.json"),
        ):
            hostile.results[" ".join(arguments)] = run(*arguments)
    hostile.after_aqlgen = hostile.marked()
    hostile.table = (hostile.folder / "src/shop_adapter/operations/read.json").read_text(encoding="utf-8")
    for arguments in (
        ("status",),
        ("diff",),
        ("cat-file", "blob", lost),
        ("add", "--all"),
        ("checkout", "--force", "HEAD"),
    ):
        hostile.git(*arguments, check=False)
    hostile.after_git = hostile.marked()
    return hostile


@pytest.mark.parametrize("name", [*(key.replace(" ", "-") for key in SETTINGS), *CARRIERS])  # also by other files
def test_no_setting_of_a_repository_runs_a_command(hostile: Hostile, name: str) -> None:
    """R-TRUST-9"""
    assert name not in hostile.after_aqlgen


@pytest.mark.parametrize("name", HOOKS)
def test_no_hook_of_a_repository_runs(hostile: Hostile, name: str) -> None:
    assert name not in hostile.after_aqlgen


@pytest.mark.parametrize("name", VARIABLES)
def test_no_variable_of_git_runs_a_command_or_leads_elsewhere(hostile: Hostile, name: str) -> None:
    assert name not in hostile.after_aqlgen


@pytest.mark.parametrize("name", PLAIN)
def test_the_users_own_git_would_have_run_it(hostile: Hostile, name: str) -> None:
    """The marks are real: this is what git does in such a repository."""
    assert name in hostile.after_git


def test_the_commands_did_their_work_in_the_hostile_repository(hostile: Hostile) -> None:
    assert {name: result.code for name, result in hostile.results.items() if result.code > 1} == {}
    assert "list_orders" in hostile.table
    update = hostile.results["update --spec ../newer.json"]
    assert "Updated" in update.out
    assert "`git add` them: " in update.out


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Make a small repository, and beside it a folder that nothing may reach."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "openapi.json").write_text("{}", encoding="utf-8")
    (tmp_path / "victim").mkdir()
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", "first")):
        subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True)
    return folder


def test_a_work_tree_elsewhere_is_refused(small: Path) -> None:
    git.run("config", "core.worktree", str(small.parent / "victim"), cwd=small)
    with pytest.raises(FileError, match="does not hold this folder"):
        place_of(small)


def test_a_work_tree_above_is_still_only_this_folder(small: Path) -> None:
    git.run("config", "core.worktree", "/", cwd=small)
    place = place_of(small)
    assert isinstance(place, Place)
    assert (place.top / place.prefix).samefile(small)


def test_a_folder_that_looks_like_a_bare_repository_is_none(tmp_path: Path) -> None:
    """Such a folder can be checked out from any repository, configuration and all."""
    git.run("init", "--quiet", "--bare", str(tmp_path / "bare"), cwd=tmp_path)
    git.run("config", "core.bare", "false", cwd=tmp_path / "bare")
    git.run("config", "core.worktree", str(tmp_path), cwd=tmp_path / "bare")
    assert isinstance(place_of(tmp_path / "bare"), git.Done)


def _hostile_tree(folder: Path, names: list[str]) -> str:
    """Store a commit whose tree has a file below these names, which git itself would not."""
    entry, mode = git.run("hash-object", "-w", "--stdin", cwd=folder, stdin=b"{}").text, "100644"
    for name in reversed(names):
        content = f"{mode} {name}".encode() + b"\0" + bytes.fromhex(entry)
        entry = git.run("hash-object", "-w", "-t", "tree", "--literally", "--stdin", cwd=folder, stdin=content).text
        mode = "40000"
    return git.run("commit-tree", entry, "-m", "hostile", cwd=folder).text


@pytest.mark.parametrize(
    "names",
    [
        ["..", "victim", "owned.json"],
        ["api", "..", "..", "victim", "owned.json"],
        [".git", "config.json"],
        [".GIT", "config.json"],
        ["..\\victim\\owned.json"],
        ["C:owned.json"],
        [".", "owned.json"],
    ],
    ids="/".join,
)
def test_a_revision_writes_nothing_outside_of_its_folder(small: Path, tmp_path: Path, names: list[str]) -> None:
    resolved = revision(_hostile_tree(small, names), small)
    assert resolved is not None
    target = tmp_path / "target" / "inner"
    target.mkdir(parents=True)
    with pytest.raises(FileError, match="leads out of the folder"):
        resolved.write(target)
    assert not [path for path in tmp_path.rglob("owned.json") if path.is_file()]


@pytest.mark.parametrize("written", ["--upload-pack=touch", "-c", "--output=x:openapi.json", ":0:openapi.json", ""])
def test_a_revision_is_never_an_option(small: Path, written: str) -> None:
    assert revision(written, small) is None


def test_a_link_in_a_revision_is_not_written(small: Path, tmp_path: Path) -> None:
    (small / "link.json").symlink_to("/etc/hostname")
    git.run("add", "--all", cwd=small)
    git.run("commit", "--quiet", "-m", "link", cwd=small)
    resolved = revision("HEAD", small)
    assert isinstance(resolved, Revision)
    (tmp_path / "target").mkdir()
    resolved.write(tmp_path / "target")
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["openapi.json"]


def test_replaced_objects_do_not_replace_what_is_committed(small: Path) -> None:
    real = git.run("rev-parse", "HEAD:openapi.json", cwd=small).text
    other = git.run("hash-object", "-w", "--stdin", cwd=small, stdin=b'{"owned": 1}').text
    git.run("replace", real, other, cwd=small)
    with Repository.open(small) as repository:
        assert git.blobs([real], repository.top, repository.isolated.env) == {real: b"{}"}


@pytest.mark.parametrize("name", ["config", "info/attributes", "hooks/post-checkout", "HEAD"])
def test_nothing_is_written_to_the_repositorys_own_directory(small: Path, name: str) -> None:
    file = small / ".git" / name
    before = file.read_bytes() if file.exists() else None
    with Repository.open(small) as repository:
        repository.refuse_unready((), lambda _: False)
        assert set(repository.committed()) == {"openapi.json"}
        repository.isolated.run("config", "core.fsmonitor", "touch /nonexistent")
    assert (file.read_bytes() if file.exists() else None) == before


@pytest.mark.parametrize(
    "setting",
    ["core.autocrlf", "core.eol", "core.excludesFile", "filter.lfs.clean", "include.path", "core.attributesFile"],
)
def test_only_data_is_taken_from_the_configuration(small: Path, setting: str) -> None:
    git.run("config", setting, "input", cwd=small)
    place = place_of(small)
    assert isinstance(place, Place)
    with isolated(place) as repository:
        listing = repository.run("config", "--local", "--list").text.splitlines()
    assert (f"{setting.lower()}=input" in listing) == (setting in ("core.autocrlf", "core.eol"))


@pytest.mark.parametrize("value", ['"\n[core]\nfsmonitor = evil', "a\\", 'x" ; y', "\x1b[2J", "input\n\tpager = evil"])
def test_a_value_cannot_add_settings(small: Path, value: str) -> None:
    git.run("config", "core.eol", value, cwd=small)
    place = place_of(small)
    assert isinstance(place, Place)
    with isolated(place) as repository:
        done = repository.run("config", "--local", "--list", "--null").text.split("\0")
    assert not [entry for entry in done if entry.startswith(("core.fsmonitor", "core.pager"))]


def test_a_named_pipe_that_git_reads_ends_it(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_PATIENCE", 1.0)
    os.mkfifo(small / ".gitignore")
    with pytest.raises(FileError) as caught:
        git.attempt("status", "--porcelain", cwd=small)
    assert "named pipe" in str(caught.value)
