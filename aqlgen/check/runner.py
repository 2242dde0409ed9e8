"""The running of all tests on a project: each setting is a process, and none but that of the live API reaches the
network.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio

from aqlgen import __version__
from aqlgen.check.checks import TESTS
from aqlgen.check.client import LEGACY, MODERN
from aqlgen.check.connection import Launch, NotStarted
from aqlgen.check.forks import starter
from aqlgen.check.operations import operations_of, sampled
from aqlgen.check.reports import bundle
from aqlgen.check.results import CATEGORIES, Category, Report, Result, places_of, read_known
from aqlgen.check.run import Run, Test
from aqlgen.check.stand_in import StandIn, base_url, base_urls, serve
from aqlgen.runtime.table import Adapter as AdapterTable
from aqlgen.runtime.witness import Witness

DEFAULT_SAMPLE = 200
_AT_ONCE = 6
"""Processes at once: they wait more than they work."""
_SETTINGS = (
    (MODERN, "stdio", "semantic"), (MODERN, "http", "single"),
    (LEGACY, "stdio", "single"), (LEGACY, "http", "semantic"),
)  # fmt: skip
"""Connections that have each pair of era, transport and mode; in the first every operation is called."""
_AGENTS = (LEGACY, "stdio", "semantic")
_BY_AGENT = {"POLICY": "standard", "APPROVAL": "agent", "CONFIRMATION_RATE": "1000"}
"""The connection of tests in which an agent confirms for itself."""
_OPEN: Mapping[str, str] = {}
_ANSWERS = next(test for test in TESTS if test.id == "EN-1")
_OF_THE_PROGRAM = (Category.TRANSPORT, Category.OPERATION)
"""The categories whose tests start many processes."""


class Checked(NamedTuple):
    """What a check gives: the report, and the evidence bundle of the same run."""

    report: Report
    evidence: dict[str, Any]


class Chosen(NamedTuple):
    """What is to be tested: at most `sample` operations, 0 for all, by the tests of these ids, None for all.

    With `quick` the tests that wait or start many processes are
    left out, and the connections but one of each transport. With `base_url` safe reads of the live API are among the
    tests, which may fail as `declared`: by the statuses that the document has for each operation.
    """

    sample: int = DEFAULT_SAMPLE
    only: Sequence[str] | None = None
    quick: bool = False
    base_url: str = ""
    declared: Mapping[str, Collection[str]] = {}

    def has(self, test: Test) -> bool:
        """Return True if a test is to run."""
        if test.where == "live" and not self.base_url:
            return False
        is_long = test.where == "alone" and test.category in _OF_THE_PROGRAM
        return not (self.quick and is_long) if self.only is None else test.id in self.only


def test_ids() -> list[str]:
    """Return the ids of all tests, in order."""
    return [test.id for test in TESTS]


def check_adapter(project: Path, package: str, chosen: Chosen = Chosen()) -> Checked:  # noqa: B008 - it is frozen
    """Start the adapter of a project in every setting and test it.

    Raises OSError, KeyError or ValueError if the project's table cannot be read.
    """
    return anyio.run(_check, project, package, chosen)


def prefix_of(servers: Sequence[Mapping[str, Any]]) -> str:
    """Return the path of the API's address, "" if it has none or one with variables; an address may be only a word."""
    path = urlsplit(str(servers[0]["url"])).path.strip("/") if servers else ""
    return f"/{path}" if path and "{" not in path else ""


async def _check(project: Path, package: str, chosen: Chosen) -> Checked:
    begin = perf_counter()
    table, api = AdapterTable.load(project / "src" / package), StandIn(project / "src" / package)
    operations = operations_of(api.table)
    known = tuple(read_known(project))
    witness: Witness | None = None
    with suppress(OSError, ValueError):
        witness = Witness(project)
    answers = _ANSWERS.result(known=known)
    with tempfile.TemporaryDirectory() as scratch:
        settings = Path(scratch) / "adapter.toml"
        settings.write_text("", encoding="utf-8")
        names = [name for scheme in table.security_schemes.values() for name in scheme["variables"]]
        credentials = {name: f"check-{secrets.token_hex(12)}" for name in names}
        variables = {
            "MCP_AQL_CONFIG": str(settings), "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_POLICY": "open",
            "MCP_AQL_AUDIT_PATH": str(Path(scratch) / "all.jsonl"), "MCP_AQL_APPROVAL": "agent",
            "MCP_AQL_MAX_STRING_LENGTH": str(64 * 1024),
            "SSL_CERT_DIR": scratch,  # which has none: reading the system's takes longer than a start
            **credentials,
        }  # fmt: skip
        launch = Launch(project, package, variables)
        with starter(package, launch.environment) as forks:
            run = Run(
                replace(launch, forks=forks), api, table, sampled(operations, chosen.sample), operations,
                credentials, answers, answers, chosen.declared, known, witness=witness,
            )  # fmt: skip
            results = await _run_all(run, chosen)
    if chosen.has(_ANSWERS) or answers.count:
        results.append(answers)
    order = {test.id: number for number, test in enumerate(TESTS)}
    results.sort(key=lambda result: (CATEGORIES.index(result.category), order[result.id], result.setting))
    troubled = {subject for result in results for subject in result.subjects}
    places = places_of(project, [operation for operation in operations if operation.name in troubled])
    report = Report(
        f"{table.name}-adapter", table.version, table.spec_version, __version__, tuple(results), len(operations),
        len(run.operations), perf_counter() - begin, frozenset(operation.name for operation in run.operations),
        frozenset(run.succeeded), places, known,
    )  # fmt: skip
    return Checked(report, bundle(report, run.evidence))


async def _run_all(run: Run, chosen: Chosen) -> list[Result]:
    """Run every setting and every test that starts its own, some at once."""
    results: list[Result] = []
    limit = anyio.CapacityLimiter(_AT_ONCE)

    async def work(
        tests: Sequence[Test], setting: tuple[str, str, str] | None, settings: Mapping[str, str] = _OPEN
    ) -> None:
        async with limit:
            api = copy(run.api)
            api.forget()
            with serve(api, prefix_of(run.table.servers)) as base:
                witness = copy(run.witness)
                if witness is not None:
                    witness.base = base_urls(run.table, base)
                whole = {"BASE_URL": base_url(run.table, base), **settings}
                settled = replace(run, api=api, witness=witness).with_settings(whole)
                results.extend(await _run_tests(settled, tests, setting) if tests else ())

    tests = [test for test in TESTS if chosen.has(test)]
    async with anyio.create_task_group() as group:
        for setting in _SETTINGS[:2] if chosen.quick else _SETTINGS:
            where = ("every", "whole") if setting == _SETTINGS[0] else ("every",)
            group.start_soon(work, [test for test in tests if test.where in where], setting)
        group.start_soon(work, [test for test in tests if test.where == "agent"], _AGENTS, _BY_AGENT)
        for test in tests:
            if test.where == "alone":
                group.start_soon(work, [test], None)
    live = [test for test in tests if test.where == "live"]
    if live:
        results += await _run_tests(_live(run, chosen.base_url), live, None)
    return results


def _live(run: Run, base_url: str) -> Run:
    """Return the run with the live API: the owner's settings, and the credentials of the environment."""
    names = [name for variable in run.secrets for name in (variable, f"{variable}_FILE")]
    brought = {name: os.environ[name] for name in (*names, "MCP_AQL_CONFIG") if name in os.environ}
    kept = {name: run.launch.variables[name] for name in ("MCP_AQL_STATE_URL", "MCP_AQL_AUDIT_PATH")}
    launch = replace(run.launch, variables={**kept, **brought, "MCP_AQL_BASE_URL": base_url})
    return replace(run, launch=launch, secrets={name: brought[name] for name in run.secrets if brought.get(name)})


async def _run_tests(run: Run, tests: Sequence[Test], setting: tuple[str, str, str] | None) -> list[Result]:
    """Run tests in one setting, or by adapters that they start themselves."""
    results: list[Result] = []

    async def each(run: Run) -> None:
        for test in tests:
            run.api.forget()
            era, *others = setting or ("",)
            result = test.result(", ".join((*others, era)) if test.where == "every" else "", run.known)
            results.extend([result] if test is not _ANSWERS else ())
            await _guarded(test, replace(run, result=result))

    if setting is None:
        await each(run)
        return results
    era, transport, mode = setting
    run = replace(run, single=mode == "single").with_settings({"ENDPOINT_MODE": mode})
    try:
        if transport == "stdio":
            async with run.connected(era) as connected:
                await each(connected)
        else:
            async with run.served() as (url, _), run.connected(era, url=url) as connected:
                await each(connected)
    except NotStarted as problem:
        results = [test.result() for test in tests]
        for result in results:
            result.expect(False, "the adapter", f"does not start: {problem}")
    return results


async def _guarded(test: Test, run: Run) -> None:
    """Run a test; one that ends in an exception has failed, for the adapter answered what nobody can read."""
    try:
        await test.body(run)
    except NotStarted as problem:
        run.result.expect(False, "the adapter", f"does not start: {problem}")
    except Exception as problem:  # noqa: BLE001 - whatever the adapter did to a client
        cause: BaseException = problem
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        run.result.expect(False, "the connection", f"broke: {type(cause).__name__}: {str(cause)[:300]}")
