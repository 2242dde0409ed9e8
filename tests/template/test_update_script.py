"""What the project does on a schedule: its script, run from end to end here, and the workflow around it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from aqlgen.render.provenance import Kind, kind
from tests.checkouts import ROOT

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("forked")]

PROJECT = ROOT / "templates/project"
BRANCH = "aqlgen/petstore_adapter"
GH = """#!/bin/sh
printf '%s\\n' "$*" >>"$STUB/calls"
for word; do
    case $word in body=@*) cp "${word#body=@}" "$STUB/body" ;; esac
    [ "${before:-}" != --body-file ] || cp "$word" "$STUB/body"
    before=$word
done
cp scripts/update-adapter.sh "$STUB/script-then"
case "$1 $2" in 'pr list') cat "$STUB/number" 2>/dev/null || true ;; esac
"""
NEW_OPERATION = """
  /pets/{petId}/chip:
    get:
      operationId: readChip
      parameters: [{name: petId, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: the chip}}
"""


@dataclass(frozen=True)
class Desk:
    """A project in a subfolder of somebody's repository, its remote, and a `gh` that notes what it is asked."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "work/petstore"

    @property
    def environment(self) -> dict[str, str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_"))}
        home = {"HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        path = f"{self.folder / 'bin'}{os.pathsep}{clean['PATH']}"
        more = {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "STUB": str(self.folder), "TEST": "true"}
        return clean | home | more | {"PATH": path}

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        named = ["-c", "user.name=U", "-c", "user.email=u@example.org", "-c", "commit.gpgsign=false", *arguments]
        done = subprocess.run(
            ["git", *named], cwd=cwd or self.project, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def script(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """Run the script; give what it says."""
        done = subprocess.run(
            ["sh", str(self.project / "scripts/update-adapter.sh"), *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        return done.stderr

    def spec(self, *changes: tuple[str, str]) -> str:
        """Write the API's document of today, which is the petstore's with changes."""
        text = (ROOT / "fixtures/petstore.yaml").read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (self.folder / "today.yaml").write_text(text, encoding="utf-8")
        return str(self.folder / "today.yaml")

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")

    def proposed(self) -> str:
        """Return the commit of the branch on the remote; "" while there is none."""
        return self.git("ls-remote", "origin", f"refs/heads/{BRANCH}").split("\t")[0]

    def is_clean(self) -> bool:
        return self.git("status", "--porcelain") == "" and self.git("symbolic-ref", "--short", "HEAD") == "main"

    @property
    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    @property
    def body(self) -> str:
        return (self.folder / "body").read_text(encoding="utf-8")


ADDED = ("\npaths:\n", f"\npaths:{NEW_OPERATION}")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "petstore"
    spec = str(ROOT / "fixtures/petstore.yaml")
    command = [sys.executable, "-m", "aqlgen", "from-openapi", spec, "-o", str(folder), "--add", "all", "--quiet"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def begun(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder that is copied for each test."""
    folder = tmp_path_factory.mktemp("begun")
    desk = Desk(folder)
    shutil.copytree(generated, desk.project)
    (folder / "bin").mkdir()
    for name, text in (("gh", GH), ("aqlgen", '#!/bin/sh\nexec "$PYTHON" -m aqlgen "$@"\n')):
        (folder / "bin" / name).write_text(text, encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    desk.git("init", "--quiet", "--bare", str(folder / "remote.git"), cwd=folder)
    work = desk.project.parent
    desk.git("init", "--quiet", "--initial-branch", "main", cwd=work)
    (work / "elsewhere.txt").write_text("of the repository\n", encoding="utf-8")
    desk.git("add", "--all", cwd=work)
    desk.commit()
    desk.git("remote", "add", "origin", str(folder / "remote.git"))
    desk.git("push", "--quiet", "origin", "main")
    desk.git("gc", "--quiet")
    return folder


@pytest.fixture
def desk(begun: Path, tmp_path: Path) -> Desk:
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    desk = Desk(tmp_path)
    desk.git("remote", "set-url", "origin", str(tmp_path / "remote.git"))
    desk.git("update-index", "-q", "--refresh")
    return desk


def test_nothing_is_proposed_while_nothing_has_changed(desk: Desk) -> None:
    assert "Nothing has changed." in desk.script()
    assert desk.proposed() == ""
    assert desk.calls == []
    assert desk.is_clean()


def test_a_change_of_the_api_becomes_one_pull_request_that_later_changes_refresh(desk: Desk) -> None:
    (desk.project / "notes.txt").write_text("not yet added\n", encoding="utf-8")
    one_test = "$PYTHON -m pytest -q -p no:cacheprovider tests/test_adapter.py -k settings"
    desk.script(SPEC=desk.spec(ADDED), TEST=one_test)
    first = desk.proposed()
    assert "/chip" in desk.git("show", f"{first}:./src/petstore_adapter/operations/read.json")
    assert desk.git("status", "--porcelain") == "?? petstore/notes.txt"
    assert desk.git("symbolic-ref", "--short", "HEAD") == "main"
    (create,) = (call for call in desk.calls if call.startswith("pr create"))
    assert f"--head {BRANCH} --base main --title Update petstore_adapter" in create
    assert "--draft" not in create
    assert "get_pet_chip" in desk.body
    assert "The tests of the project pass." in desk.body

    (desk.folder / "number").write_text("7\n", encoding="utf-8")
    desk.script(SPEC=desk.spec(ADDED))
    assert desk.proposed() == first
    assert any("PATCH repos/{owner}/{repo}/pulls/7" in call for call in desk.calls)

    desk.script(SPEC=desk.spec(ADDED, ("/chip:", "/tag:")))
    second = desk.proposed()
    assert "get_pet_tag" in desk.body
    assert desk.git("rev-list", "--count", f"main..{second}") == "1"
    assert sum(call.startswith("pr create") for call in desk.calls) == 1


def test_the_work_of_others_on_the_branch_is_left_alone(desk: Desk) -> None:
    desk.script(SPEC=desk.spec(ADDED))
    other = desk.folder / "other"
    desk.git("clone", "--quiet", "--branch", BRANCH, str(desk.folder / "remote.git"), str(other), cwd=desk.folder)
    (other / "elsewhere.txt").write_text("reviewed\n", encoding="utf-8")
    desk.git("commit", "--quiet", "--all", "--amend", "--no-edit", cwd=other)
    desk.git("push", "--quiet", "--force", "origin", BRANCH, cwd=other)
    theirs = desk.proposed()
    assert "holds commits of others" in desk.script(SPEC=desk.spec(ADDED, ("/chip:", "/tag:")), code=1)
    assert desk.proposed() == theirs


def test_conflicts_are_proposed_as_a_draft_that_lists_them(desk: Desk) -> None:
    file = desk.project / "pyproject.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub("description = .*", 'description = "Ours."', text), encoding="utf-8")
    desk.commit()
    title = ("title: Petstore", "title: Menagerie")
    desk.script(SPEC=desk.spec(title, ADDED))
    assert any(call.startswith("pr create") and "--draft" in call for call in desk.calls)
    assert "## Conflicts" in desk.body
    assert "\npyproject.toml\n" in desk.body
    proposed = desk.git("show", f"{desk.proposed()}:./pyproject.toml")
    assert "<<<<<<<" in proposed
    assert "Ours." in proposed
    assert desk.is_clean()


def test_the_tests_run_in_the_environment_that_the_readme_makes(desk: Desk) -> None:
    python = desk.project / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    lines = ["#!/bin/sh", 'if [ "$1 $2" = "-m pytest" ]; then exit 0; fi', f'exec {sys.executable} "$@"']
    python.write_text("\n".join([*lines, ""]), encoding="utf-8")
    python.chmod(0o755)
    desk.script(SPEC=desk.spec(ADDED), PYTHON="", TEST="")
    assert "The tests of the project pass." in desk.body


def test_failing_tests_are_said_in_a_draft(desk: Desk) -> None:
    desk.script("update", SPEC=desk.spec(ADDED), TEST="false")
    assert desk.calls == []
    assert desk.proposed() == ""
    desk.script("propose")
    assert "--draft" in "".join(desk.calls)
    assert "tests of the project fail" in desk.body


def test_a_document_that_cannot_be_used_ends_it_with_the_code_of_aqlgen(desk: Desk) -> None:
    (desk.folder / "today.yaml").write_text("openapi: nothing\n", encoding="utf-8")
    desk.script(SPEC=str(desk.folder / "today.yaml"), code=2)
    assert desk.is_clean()
    assert desk.proposed() == ""


def test_uncommitted_changes_elsewhere_in_the_repository_are_not_swept_along(desk: Desk) -> None:
    desk.script("update", SPEC=desk.spec(ADDED))
    (desk.project.parent / "elsewhere.txt").write_text("at work\n", encoding="utf-8")
    assert "outside of the adapter's folder" in desk.script("propose", code=1)
    assert (desk.project.parent / "elsewhere.txt").read_text(encoding="utf-8") == "at work\n"
    assert desk.proposed() == ""


def test_the_address_that_the_adapter_was_made_from_is_asked_again(desk: Desk) -> None:
    record = desk.project / "MCPAQL-PROVENANCE.json"
    text = record.read_text(encoding="utf-8")
    record.write_text(text.replace('"spec_url": ""', '"spec_url": "http://127.0.0.1:9/none.yaml"'), encoding="utf-8")
    desk.commit()
    assert "127.0.0.1:9" in desk.script("update", code=4)


def elsewhere(desk: Desk, folder: Path) -> Desk:
    """Return the repository as another machine checks it out."""
    shutil.copytree(desk.folder / "bin", folder / "bin")
    remote = str(desk.folder / "remote.git")
    desk.git("clone", "--quiet", "--branch", "main", remote, str(folder / "work"), cwd=desk.folder)
    return Desk(folder)


def test_a_patch_is_proposed_on_another_machine_whose_files_it_does_not_touch(desk: Desk, tmp_path: Path) -> None:
    script = (desk.project / "scripts/update-adapter.sh").read_bytes()
    desk.script("update", str(tmp_path / "patch"), SPEC=desk.spec(ADDED), TEST="echo exit 9 >scripts/update-adapter.sh")
    (desk.project.parent / "elsewhere.txt").write_text("changed by what was tested\n", encoding="utf-8")
    with (tmp_path / "patch/adapter.patch").open("a", encoding="utf-8") as patch:
        patch.write(desk.git("diff", "--", ":/elsewhere.txt") + "\n")

    other = elsewhere(desk, tmp_path / "other")
    other.script("propose", str(tmp_path / "patch"))
    changed = other.git("diff", "--name-only", "main", other.proposed()).splitlines()
    assert "petstore/src/petstore_adapter/operations/read.json" in changed
    assert "petstore/scripts/update-adapter.sh" in changed
    assert all(path.startswith("petstore/") for path in changed)
    assert (other.folder / "script-then").read_bytes() == script
    assert other.is_clean()
    assert "get_pet_chip" in other.body
    assert "--draft" not in "".join(other.calls)


def test_what_is_handed_over_may_be_a_draft_or_nothing_and_no_link(desk: Desk, tmp_path: Path) -> None:
    other = elsewhere(desk, tmp_path / "other")
    desk.script("update", str(tmp_path / "nothing"))
    assert "nothing to propose" in other.script("propose", str(tmp_path / "nothing"))
    desk.script("update", str(tmp_path / "patch"), SPEC=desk.spec(ADDED), TEST="false")
    report = tmp_path / "patch/report.md"
    moved = report.rename(tmp_path / "secret")
    report.symlink_to(moved)
    assert "is a link" in other.script("propose", str(tmp_path / "patch"), code=1)
    assert (other.proposed(), other.calls) == ("", [])
    moved.replace(report)
    other.script("propose", str(tmp_path / "patch"))
    assert "--draft" in "".join(other.calls)


def test_a_patch_that_changes_workflows_is_not_proposed(desk: Desk, tmp_path: Path) -> None:
    """The tested code can write into the patch, and a workflow runs with the repository's secrets once it is pushed."""
    other = elsewhere(desk, tmp_path / "other")
    top = other.project.parent
    shutil.copytree(other.project, top, dirs_exist_ok=True)  # so that the adapter is at the repository's root
    for name in ("evil.yml", "test.yml"):
        other.git("add", "--all", cwd=top)
        other.git("commit", "--quiet", "--allow-empty", "--message", "x", cwd=top)
        (top / ".github/workflows" / name).write_text("on: push\n", encoding="utf-8")
        other.git("add", "--all", cwd=top)
        patch = tmp_path / name
        patch.mkdir()
        (patch / "report.md").write_text("harmless", encoding="utf-8")
        (patch / "adapter.patch").write_text(other.git("diff", "--cached", "HEAD", cwd=top) + "\n", encoding="utf-8")
        other.git("reset", "--quiet", "--hard", cwd=top)
        script = ["sh", str(top / "scripts/update-adapter.sh"), "propose", str(patch)]
        done = subprocess.run(script, env=other.environment, capture_output=True, text=True, check=False)
        assert (done.returncode, "changes .github" in done.stderr) == (1, True), done.stderr
        assert (other.proposed(), other.calls) == ("", [])
        assert other.git("diff", "--cached", "--name-only", cwd=top) == ""


WORKFLOWS = {name: PROJECT / f".github/workflows/{name}.yml" for name in ("test", "update-adapter")}


def jobs(name: str) -> dict[str, dict[str, object]]:
    document = yaml.load(WORKFLOWS[name].read_text(encoding="utf-8"), yaml.BaseLoader)
    assert document["permissions"] == {}
    return document["jobs"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_of_a_workflow_is_pinned_by_its_commit_with_the_version_beside_it(name: str) -> None:
    used = re.findall(r"uses: (.*)", WORKFLOWS[name].read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in used)
    for job in jobs(name).values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")
            assert "actions/checkout@" not in step.get("uses", "") or step["with"]["persist-credentials"] == "false"


def test_the_tokens_that_write_are_in_a_job_that_installs_generates_and_tests_nothing() -> None:
    update, propose = (jobs("update-adapter")[name] for name in ("update", "propose"))
    assert update["permissions"] == {"contents": "read"}
    assert not {"token", "gh_"} & set(re.findall("token|gh_", str(update["steps"]).lower()))
    assert propose["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert [step["run"] for step in propose["steps"] if "run" in step] == [
        'gh auth setup-git && sh scripts/update-adapter.sh propose "$RUNNER_TEMP/update"'
    ]
    actions = [step["uses"].partition("@")[0] for step in propose["steps"] if "uses" in step]
    assert actions == ["actions/checkout", "actions/download-artifact"]
    assert {step["with"]["name"] for job in (update, propose) for step in job["steps"] if "artifact@" in str(step)} == {
        "update"
    }


def test_the_job_that_compares_and_tests_skips_neither() -> None:
    steps = jobs("test")["generated"]["steps"]
    assert {step.get("if", "always()") for step in steps} == {"always()"}
    commands = [step.get("run", "") for step in steps]
    assert [command for command in commands if command.startswith("aqlgen check")] == [
        "aqlgen check --pristine",
        'aqlgen check --report "$RUNNER_TEMP/conformance.md"',
    ]
    assert not any(">&2 ||" in command or "|| true" in command for command in commands)


def test_nothing_is_installed_by_a_bare_name() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*WORKFLOWS.values(), PROJECT / "scripts/update-adapter.sh")]
    installed = re.findall(r"pip install (.*)", "\n".join(texts))
    bare = [line for line in installed if not re.search(r"--require-hashes|--editable|\$wanted", line)]
    assert installed
    assert bare == []


def test_both_are_shared_files_and_the_script_is_of_any_shell() -> None:
    for path in (".github/workflows/update-adapter.yml", "scripts/update-adapter.sh"):
        assert kind(path, "petstore_adapter") is Kind.SHARED
    assert subprocess.run(["sh", "-n", str(PROJECT / "scripts/update-adapter.sh")], check=False).returncode == 0


HASH = "0123456789abcdef0123456789abcdef01234567"
PINNED = {
    f"git+https://x.example/aqlgen.git@{HASH}": True,
    f"https://x.example/aqlgen-1.0-py3-none-any.whl#sha256={HASH}{HASH[:24]}": True,
    "tools/aqlgen.whl": True,
    "aqlgen": False,
    "aqlgen==1.0": False,
    "git+https://x.example/aqlgen.git@v1.0": False,
    "https://x.example/aqlgen-1.0-py3-none-any.whl": False,
    f"aqlgen --extra-index-url=https://x.example/@{HASH}": False,
    "tools/other.whl": False,
    "": False,
}


def installable(folder: Path, wanted: str, generator: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Ask the script in a project which aqlgen it would install."""
    for name in ("scripts", "tools", "src/x_adapter"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(PROJECT / "scripts/update-adapter.sh", folder / "scripts")
    (folder / "tools/aqlgen.whl").touch()
    (folder / "src/x_adapter/adapter.json").touch()
    (folder / "MCPAQL-PROVENANCE.json").write_text(json.dumps({"generator": generator}), encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return subprocess.run(
        ["sh", "scripts/update-adapter.sh", "source"],
        cwd=folder,
        env=os.environ | {"AQLGEN": wanted, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_an_aqlgen_that_cannot_change_is_installed(tmp_path: Path) -> None:
    for wanted, is_pinned in PINNED.items():
        done = installable(tmp_path, wanted, {"version": "1.0", "templates": ""})
        assert (done.returncode == 0) is is_pinned, wanted
        assert done.stdout.strip() == (wanted if is_pinned else "")
        assert is_pinned or len(done.stderr.splitlines()) == 1


def test_a_project_of_a_release_installs_its_commit(tmp_path: Path) -> None:
    release = {"version": "1.0", "templates": "v1.0", "address": "https://x.example/aqlgen.git", "commit": HASH}
    assert installable(tmp_path, "", release).stdout == f"git+https://x.example/aqlgen.git@{HASH}\n"
    for change in ({"commit": "v1.0"}, {"address": "file:///tmp/x"}, {"commit": f"{HASH} --pre"}):
        assert installable(tmp_path, "", release | change).returncode == 1
