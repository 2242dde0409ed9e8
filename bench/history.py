"""Update a project through the real history of an API's document, with edits by hand in it.

A repository holds the document at PATH; the revisions are two or more of its own, oldest first. A line of a table is
`owner/name PATH REVISION REVISION …`, its repository MIRRORS/owner/name.git, as `git clone --mirror` makes it.

The adapter of the first version is edited as users do: hooks, overrides, settings, README, pyproject, a module, a file
of their own. For each next version the table has: operations added, removed, and changed in their row or in a type that
they reach; lines of diff without the kept document, lines of the document's own, and the first by each such operation;
conflicts; lost edits; seconds; and how many files another update, with nothing new, changes. Conflicts, lost and idle
should be 0. `--keep` leaves the projects in a folder, with a commit for each version.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.support.arguments import parser
from bench.support.documents import package_of
from bench.support.processes import AQLGEN, environment

WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgSign=false")
FAMILIES = ("create", "read", "update", "delete", "execute")
MINE = "edited by hand"


@dataclass
class Step:
    """The result of one update."""

    name: str
    revision: str
    date: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    lines: int = 0
    document: int = 0
    by_file: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    seconds: float = 0
    idle: int = 0
    error: str = ""

    @property
    def per_operation(self) -> float:
        """Lines of diff for each operation that is not as it was."""
        return self.lines / max(1, self.added + self.removed + self.changed)

    def row(self) -> list[str]:
        """Return the cells of the table."""
        if self.error:
            return [self.name, self.revision[:9], self.date, self.error]
        numbers = [self.added, self.removed, self.changed, self.lines, self.document]
        cells = [*map(str, numbers), f"{self.per_operation:.1f}", str(len(self.conflicts)), str(len(self.lost))]
        return [self.name, self.revision[:9], self.date, *cells, f"{self.seconds:.1f}", str(self.idle)]


HEAD = (
    "document",
    "revision",
    "date",
    "added",
    "removed",
    "changed",
    "lines",
    "+document",
    "lines/op",
    "conflicts",
    "lost",
    "s",
    "idle",
)


def git(*arguments: str, cwd: Path) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(["git", *WHO, *arguments], cwd=cwd, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def aqlgen(*arguments: str, cwd: Path) -> tuple[int, Any]:
    """Run aqlgen; return its exit code and its JSON answer."""
    command = [*AQLGEN, *arguments, "--output-format", "json"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False, env=environment())
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {"error": {"message": done.stderr.decode("utf-8", "replace").strip()[-300:]}}


def rows(project: Path) -> dict[str, str]:
    """Return the rows of the table as text by `METHOD /path`, each with its family and name."""
    package = package_of(project)
    table = {}
    for family in FAMILIES:
        for name, row in json.loads((package / "operations" / f"{family}.json").read_bytes()).items():
            table[f"{row['method']} {row['path']}"] = json.dumps([family, name, row])
    return table


@dataclass(frozen=True)
class Edits:
    """The edits by hand: the operation that was renamed, and by file the text that must stay in it."""

    operation: str
    texts: Mapping[str, str]

    def lost(self, project: Path) -> list[str]:
        """Return the files that have lost an edit."""
        there = self.operation in rows(project)
        wanted = {path: text for path, text in self.texts.items() if there or not path.endswith(".json")}
        return [path for path, text in wanted.items() if text not in (project / path).read_text("utf-8", "replace")]


def edit(project: Path) -> Edits:
    """Edit a project as its users do, and commit."""
    package = package_of(project)
    inner = package.relative_to(project).as_posix()
    table = {key: json.loads(text) for key, text in rows(project).items()}
    key = min(table)
    family, name, row = table[key]
    parameters = ((value.get("name", key), value["in"]) for key, value in row["parameters"].items())
    wire = next((name for name, place in parameters if place in ("query", "path")), None)
    renamed = f"  parameters:\n    {json.dumps(wire)}: {{name: my_own}}\n" if wire else ""
    module = min((package / "runtime").glob("[a-z]*.py")).relative_to(project).as_posix()
    changes: dict[str, Callable[[str], str]] = {
        f"{inner}/hooks.py": lambda text: f"{text}\n# {MINE}\n",
        "overrides.yaml": lambda text: f"{text}\n{key}:\n  name: my_{name}\n  danger: dangerous\n{renamed}",
        "README.md": lambda text: text.replace("\n## Start\n", f"\nThis one was {MINE}.\n\n## Start\n"),
        "pyproject.toml": lambda text: text.replace("\ndependencies = [", f"\n# {MINE}\ndependencies = ["),
        module: lambda text: text.replace("\n\n", f"\n\n# {MINE}\n", 1),
        "adapter.toml": lambda text: f"{text}\n# {MINE}\n",
    }
    for path, change in changes.items():
        file = project / path
        file.write_text(change(file.read_text("utf-8")), encoding="utf-8")
    (project / "notes.md").write_text(f"{MINE}\n", encoding="utf-8")
    commit(project, "Edited by hand")
    aqlgen("update", str(project), cwd=project.parent)
    commit(project, "The overrides take effect")
    texts = dict.fromkeys((*changes, "notes.md"), MINE)
    return Edits(key, texts | {"overrides.yaml": "my_", f"{inner}/operations/{family}.json": f'"my_{name}": {{'})


def live(name: str, repository: Path, path: str, revisions: list[str], folder: Path) -> Iterator[Step]:
    """Go through the versions of a document in a folder; yield a step for each update."""
    project, edits = folder / "project", Edits("", {})
    for number, revision in enumerate(revisions):
        commit_id, date = git("log", "-1", "--format=%H %cs", revision, cwd=repository).split()
        step = Step(name, commit_id, date)
        document = folder / f"{number}{Path(path).suffix}"
        shown = subprocess.run(["git", "show", f"{revision}:{path}"], cwd=repository, capture_output=True, check=False)
        if shown.returncode:
            step.error = "the document is not in the repository at this revision"
            yield step
            continue
        document.write_bytes(shown.stdout)
        if not project.is_dir():
            code, answer = aqlgen(
                "from-openapi", str(document), "-o", str(project), "--runtime", "source", "--add", "all", cwd=folder
            )
            if code:
                step.error = answer["error"]["message"]
                yield step
                return
            git("init", "--quiet", cwd=project)
            commit(project, "Generated")
            edits = edit(project)
            continue
        yield measured(step, project, document, edits)


def measured(step: Step, project: Path, document: Path, edits: Edits) -> Step:
    """Update a project; return the step with what changed."""
    before = rows(project)
    begin = perf_counter()
    code, answer = aqlgen("update", str(project), "--spec", str(document), cwd=project.parent)
    step.seconds = perf_counter() - begin
    if code > 1:
        step.error = answer["error"]["message"]
        return step
    step.conflicts = answer["files"]["conflicts"]
    step.rules = Counter(change["rule"] for change in answer["changes"]["changes"])
    after = rows(project)
    step.added, step.removed = len(after.keys() - before.keys()), len(before.keys() - after.keys())
    named = {name for change in answer["changes"]["changes"] for name in change["operations"]}
    names = {json.loads(text)[1]: key for key, text in after.items()}
    reached = {names.get(name, name) for name in named} & before.keys() & after.keys()
    step.changed = len(reached | {key for key in before.keys() & after.keys() if before[key] != after[key]})
    for line in git("diff", "--cached", "--numstat", "--no-renames", cwd=project).splitlines():
        added, removed, path = line.split("\t")
        step.by_file[path] += (int(added) + int(removed)) if added != "-" else 0
    step.document = sum(count for path, count in step.by_file.items() if path.startswith("openapi/"))
    step.lines = sum(step.by_file.values()) - step.document
    step.lost = edits.lost(project)
    commit(project, f"Updated to {step.revision}")
    kept = contents(project)
    aqlgen("update", str(project), cwd=project.parent)
    now = contents(project)
    step.idle = sum(kept.get(path) != now.get(path) for path in kept.keys() | now.keys())
    return step


def contents(project: Path) -> dict[str, bytes]:
    """Return the content of every file but git's."""
    return {str(path): path.read_bytes() for path in project.rglob("*") if path.is_file() and ".git" not in path.parts}


def commit(project: Path, message: str) -> None:
    """Commit everything, ignored or not."""
    git("add", "--all", "--force", cwd=project)
    git("commit", "--quiet", "--allow-empty", "-m", message, cwd=project)


def tabled(path: Path, mirrors: Path) -> Iterator[tuple[str, Path, str, list[str]]]:
    """Yield the rows of a table: name, repository, path, revisions."""
    for line in path.read_text("utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words[0], mirrors / f"{words[0]}.git", words[1], words[2:]


def main(argv: Sequence[str]) -> None:
    """Print a line for each step, and below it where the lines are and what changed."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("repository", type=Path, nargs="?")
    arguments.add_argument("path", nargs="?")
    arguments.add_argument("revisions", nargs="*")
    arguments.add_argument("--table", type=Path)
    arguments.add_argument("--mirrors", type=Path, default=Path())
    arguments.add_argument("--only", default="")
    arguments.add_argument("--keep", type=Path)
    arguments.add_argument("--output", type=Path)
    options = arguments.parse_args(argv)
    if options.table:
        histories = [row for row in tabled(options.table, options.mirrors) if options.only in row[0]]
    elif options.repository is None:
        arguments.error("name a repository, a path and revisions, or a --table")
    else:
        histories = [(options.repository.name, options.repository, options.path, options.revisions)]
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, repository, path, revisions in histories:
            folder = (options.keep or Path(scratch)).resolve() / name.replace("/", "+")
            folder.mkdir(parents=True)
            for step in live(name, repository, path, revisions, folder):
                lines.append("\t".join(step.row()))
                print("\t".join(HEAD), lines[-1], sep="\n", flush=True)
                print("  lines:", ", ".join(f"{file} {count}" for file, count in step.by_file.most_common(8)))
                print("  changes:", ", ".join(f"{rule} {count}" for rule, count in step.rules.most_common(12)))
                print("  conflicts:", ", ".join(step.conflicts) or "none", flush=True)
    if options.output:
        options.output.write_text("\n".join(["\t".join(HEAD), *lines]) + "\n", encoding="utf-8")
