"""Tests of the runtime with a document of aqlgen, which has features that the project's own may lack."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import time
from urllib.parse import urlsplit

import anyio

from aqlgen.check.checks import introspection, lists, updates
from aqlgen.check.client import LEGACY
from aqlgen.check.forks import TABLE
from aqlgen.check.operations import operations_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.sessions import Session, difference, played, recorded
from aqlgen.check.stand_in import Arrived, StandIn, serve
from aqlgen.project import Project
from aqlgen.project.check import package_files, sources
from aqlgen.project.worktree import State, Worktree
from aqlgen.render.provenance import Kind
from aqlgen.resources import build, cache_folder, files_in, seal
from aqlgen.runtime import SEAL
from aqlgen.runtime.table import Adapter as AdapterTable
from aqlgen.runtime.witness import Witness

_NAME = "get_placed_"
_AT_ONCE = 4
_LIBRARIES = "mcp", "jsonschema-rs", "anyio", "httpx2", "pydantic", "starlette", "uvicorn"
_PROBE = Path(__file__).parents[1] / "probe"
"""The project of our document, with its table alone."""
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The version that a session may be for: the library of another one returns other values."""
PASSED = _PROBE / "passed"
"""The records of the runtimes that have passed the sessions."""
_SECRETS = {"PROBE_KEY": "check-key-0123456789", "PROBE_SESSION": "check-session-0123456789"}
_AWKWARD, _ENCODED = "\u221aa&b=c/d?e#f+g h%", "%E2%88%9Aa%26b%3Dc%2Fd%3Fe%23f%2Bg%20h%25"
_PAIRS = {"wide": "1", _AWKWARD: "2"}
_PLACED = (
    ("query", _AWKWARD, f"it={_ENCODED}"),
    ("query", False, "it=false"),
    ("query", 7.0, "it=7"),
    ("query", 0, "it=0"),
    ("query", ["a", _AWKWARD], f"it=a&it={_ENCODED}"),
    ("query", ["a,b", "c"], "it=a%2Cb,c"),
    ("query", _PAIRS, f"wide=1&{_ENCODED}=2"),
    ("query", {"a": "1", "b": "2"}, "it=a,1,b,2"),
    ("query", _PAIRS, f"it%5Bwide%5D=1&it%5B{_ENCODED}%5D=2"),
    ("query", ["a", "b"], "it=a%7Cb"),
    ("query", ["a", "b"], "it=a%20b"),
    ("path", _AWKWARD.removesuffix("%"), _ENCODED.removesuffix("%25")),
    ("path", ["a", "b"], "a,b"),
    ("path", {"a": "1", "b": "2"}, "a,1,b,2"),
    ("path", {"a": "1", "b": "2"}, "a=1,b=2"),
    ("path", ["a", "b"], ".a.b"),
    ("path", ["a", "b"], ".a,b"),
    ("path", {"a": "1", "b": "2"}, ".a=1.b=2"),
    ("path", {"a": "1", "b": "2"}, ".a,1,b,2"),
    ("path", ["a", "b"], ";it=a;it=b"),
    ("path", ["a", "b"], ";it=a,b"),
    ("path", {"a": "1", "b": "2"}, ";a=1;b=2"),
    ("path", {"a": "1"}, ";it=a,1"),
    ("header", ["a", "b"], "a,b"),
    ("header", {"a": "1"}, "a=1"),
    ("header", {"a": "1"}, "a,1"),
    ("cookie", "a b;c", "it=a%20b%3Bc"),
    ("query", {"a": "1", "b": None}, "a=1"),
)
"""Place, value and sent text of each style, by the table of the specification (OpenAPI 3.1, 4.8.12.5; RFC 6570)."""
_MODELS = updates.updates_preserve, updates.updates_notice_changes, lists.pages, lists.queries
"""Tests that compare with a model, for which the probe has operations of every kind."""


@check("WI-2", "The runtime does with a document of many features, and with values of every style, what this says",
       Category.OPERATION, "R-REQ-2, R-TRUST-2, R-TRUST-7, R-EFF-2", where="alone")  # fmt: skip
async def probes(run: Run) -> None:
    """Start the runtime with our document, run the tests that its features are for, and compare known texts."""
    async with _probing(run) as probe:
        await _test(probe)


@check("WI-3", "The runtime does in each recorded session what was reviewed", Category.OPERATION,
       "R-ENV-1, R-ERR-1, R-SAFE-3, R-SAFE-5", where="alone")  # fmt: skip
async def sessions(run: Run) -> None:
    """Play the sessions again, some at once, and compare all that comes of each step."""
    if not _is_ours(run):
        return  # the runtime of another build says other things
    kept = _kept(run)
    with suppress(OSError, ValueError):
        run.result.cases += next((int(file.read_text(encoding="utf-8")) for file in kept if file.is_file()), 0)
    if run.result.cases:
        return
    limit = anyio.CapacityLimiter(_AT_ONCE)

    async def compare(session: Session, *, again: bool = False) -> None:
        minute = time() // 60
        async with _probing(run) as probe:
            steps = await played(probe, session)
        differences = [difference(*pair) for pair in zip(session.steps, steps, strict=True)]
        if any(differences) and time() // 60 > minute and not again:
            await compare(session, again=True)  # limits count by the minute
            return
        for number, different in enumerate(differences, 1):
            run.expect(not different, f"{session.head['session']}, step {number}", different, steps[number - 1])
            if different:
                break  # what follows may follow from it

    async def in_turn(session: Session) -> None:
        async with limit:
            await compare(session)

    async with anyio.create_task_group() as group:
        for session in recorded():
            if session.head.get("python", _PYTHON) == _PYTHON:
                group.start_soon(in_turn, session)
    if kept and not run.result.count:
        with suppress(OSError):
            kept[0].parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept[0].write_text(str(run.result.cases), encoding="utf-8")


@check("WI-4", "Generated files are as they were generated, and the runtime is the one that aqlgen's tests passed with",
       Category.OPERATION, "R-CONF-1")  # fmt: skip
async def proven(run: Run) -> None:
    """Compare hashes: whatever the tests of an adapter do not reach is proven only for the code that was tested."""
    project = Project.open(run.launch.project)
    tree, home = Worktree(project), f"src/{project.package}/"
    findings = dict.fromkeys(tree.misplaced(), "was not generated, in a folder that only aqlgen writes to")
    findings |= dict.fromkeys(tree.of(Kind.MACHINE, State.DELETED), "was generated, and is missing")
    passed = (PASSED / SEAL).read_text(encoding="utf-8").splitlines() if _is_ours(run) else []
    if passed:
        files = package_files(run.launch.project / home, as_imported=True)
        runtime = {path.removeprefix("runtime/"): text for path, text in files.items() if path.startswith("runtime/")}
        names = (line.partition("  ")[2] for line in {*passed} ^ {*seal(runtime).splitlines()})
        findings |= {f"{home}runtime/{name}": "is not the file that aqlgen's own tests passed with" for name in names}
    findings |= dict.fromkeys(tree.of(Kind.MACHINE, State.EDITED), "is not as it was generated")
    for path, text in sorted(findings.items()):
        run.expect(False, path, f"{text}; `aqlgen check --pristine` says how to revert it")
    run.result.cases += len(project.recorded) + len(passed)


def _is_ours(run: Run) -> bool:
    """Return True for the project of this build, or of none that is recorded."""
    provenance = run.launch.project / "MCPAQL-PROVENANCE.json"
    by = json.loads(provenance.read_text(encoding="utf-8")) if provenance.is_file() else {}
    return by.get("generator", {}).get("build") in (None, build())


def _kept(run: Run) -> list[Path]:
    """Return the files that may hold the cases that this runtime has passed: of the user, and of aqlgen; none: play.

    Their name is a hash of the package's code, the probe and what plays it, and the versions of Python and libraries.
    """
    src, package, root = run.launch.project / "src", run.launch.package, cache_folder()
    if root is None or any(not path.startswith(f"{package}/") for path in sources(src)):  # which may shadow a library
        return []
    files = package_files(src / package, as_imported=True)
    files.pop(f"runtime/{SEAL}", None)  # of the archive alone, and about the other files
    hashed = [
        sys.version_info[:2],
        *((name, version(name)) for name in _LIBRARIES),
        *sorted((path, file.read_bytes()) for path, file in files_in(_PROBE.parent) if PASSED not in file.parents),
        *sorted(item for item in files.items() if item[0].startswith(("runtime/", "__init__.", "__main__."))),
    ]
    name = f"{sha256(repr(hashed).encode()).hexdigest()[:32]}.json"
    return [root / name, PASSED / name]


def _read_probe() -> tuple[StandIn, Witness]:
    """Return copies of the probe's API and of its documents, which are read once."""
    api, witness = _probe()
    return copy(api), copy(witness)


@cache
def _probe() -> tuple[StandIn, Witness]:
    return StandIn(_PROBE / "src"), Witness(_PROBE)


@asynccontextmanager
async def _probing(run: Run) -> AsyncIterator[Run]:
    """Yield the run with the probe in place of the project's table."""
    api, witness = _read_probe()
    api.forget()
    operations = [item for item in operations_of(api.table) if not (item.row.servers or item.name.startswith(_NAME))]
    with serve(api) as base:
        witness.base = base
        kept = {name: value for name, value in run.launch.variables.items() if name != "MCP_AQL_BASE_URL"}
        variables = {"MCP_AQL_SERVER_VARIABLES": f"port={urlsplit(base).port}", TABLE: str(api.package), **_SECRETS}
        launch, table = replace(run.launch, variables=kept | variables), AdapterTable.load(api.package)
        yield replace(
            run, launch=launch, api=api, table=table, operations=operations, whole=operations, secrets=_SECRETS,
            witness=witness, evidence={}, succeeded=set(), known=(),
        )  # fmt: skip


async def _test(run: Run) -> None:
    async with run.connected(LEGACY) as started:
        await _placed(started)
        for finding in await introspection.examined(started):
            is_known = finding.text.startswith("no operation")  # what is not among the operations of the run
            run.expect(is_known, finding.operation, finding.text, finding.pointer)
        for test in _MODELS:
            started.api.forget()
            await test(started)


async def _placed(run: Run) -> None:
    for number, (place, value, expected) in enumerate(_PLACED):
        await run.own("read", f"{_NAME}{number}", it=value)
        for request in run.arrived[-1:] or [Arrived("", "", (), {}, b"")]:
            sent = {
                "query": request.raw_query.partition("&check_key=")[0],
                "path": request.path.removeprefix(f"/placed/{number}/"),
                "header": request.headers.get("it"),
                "cookie": request.headers.get("cookie", "").partition("; check_session=")[0],
            }[place]
            run.expect(sent == expected, f"{_NAME}{number}", f"{value!r} is sent as {sent!r}, not {expected!r}")
