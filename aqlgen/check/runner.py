"""The running of all tests on a project: each setting is a process of its own, and none but that of the live API
reaches the network.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import anyio

from aqlgen import __version__
from aqlgen.check.checks import TESTS
from aqlgen.check.connection import ERAS, Adapter, Launch, NotStarted, connect, served_over_http
from aqlgen.check.forks import starter
from aqlgen.check.operations import operations_of, sampled
from aqlgen.check.reports import bundle
from aqlgen.check.results import Category, Outcome, Report, Result
from aqlgen.check.run import Connected, Setup, Test, of_where
from aqlgen.check.stand_in import StandIn, base_url, serve
from aqlgen.runtime.table import Adapter as AdapterTable

__all__ = ["DEFAULT_SAMPLE", "Checked", "check_adapter", "test_ids"]

DEFAULT_SAMPLE = 200
_WHOLE = "2026-07-28", "stdio", "semantic"
"""The connection in which every operation is called."""


class Checked:
    """What a check gives: the report, and the evidence bundle of the same run."""

    def __init__(self, report: Report, evidence: dict[str, Any]) -> None:
        self.report = report
        self.evidence = evidence


def test_ids() -> list[str]:
    """Return the ids of all tests, in order."""
    return [test.id for test in TESTS]


def check_adapter(
    project: Path,
    package: str,
    *,
    sample: int = DEFAULT_SAMPLE,
    only: Sequence[str] | None = None,
    fail_fast: bool = False,
    base_url: str = "",
    declared: Mapping[str, Collection[str]] | None = None,
) -> Checked:
    """Start the adapter of a project in every setting and test it; at most `sample` operations, 0 for all.

    `only` are the ids of tests, None for all; with `fail_fast` the first that fails is the last. With `base_url` safe
    reads of the live API are among them, which may fail as `declared`: by the statuses that the document has for each
    operation. Raises OSError, KeyError or ValueError if the project's table cannot be read.
    """
    chosen = _Chosen(frozenset(test_ids() if only is None else only), fail_fast, base_url, declared or {})
    return anyio.run(_check, project, package, sample, chosen)


def prefix_of(servers: Sequence[Mapping[str, Any]]) -> str:
    """Return the path of the API's address, "" if it has none or one with variables; an address may be only a word."""
    path = urlsplit(str(servers[0]["url"])).path.strip("/") if servers else ""
    return f"/{path}" if path and "{" not in path else ""


class _Chosen(NamedTuple):
    """The tests to run, whether they end with the first that fails, and the address of the live API, "" for none.

    `declared` are the statuses that its document has for each operation.
    """

    ids: frozenset[str]
    fail_fast: bool
    base_url: str
    declared: Mapping[str, Collection[str]]


async def _check(project: Path, package: str, sample: int, chosen: _Chosen) -> Checked:
    begin = perf_counter()
    folder = project / "src" / package
    adapter = AdapterTable.load(folder)
    api = StandIn(folder)
    operations = operations_of(api.table)
    prefix = prefix_of(adapter.servers)
    with tempfile.TemporaryDirectory() as scratch:
        variables = {
            variable: f"check-{secrets.token_hex(12)}"
            for scheme in adapter.security_schemes.values()
            for variable in scheme["variables"]
        }
        settings = {
            "MCP_AQL_CONFIG": str(Path(scratch) / "adapter.toml"),
            "MCP_AQL_STATE_URL": "memory:",
            "MCP_AQL_AUDIT_PATH": str(Path(scratch) / "all.jsonl"),
            "MCP_AQL_POLICY": "open",
            "MCP_AQL_APPROVAL": "agent",
            **variables,
        }
        (Path(scratch) / "adapter.toml").write_text("", encoding="utf-8")
        launch = Launch(project, (sys.executable, "-m", package), settings)
        with starter(package, launch.environment) as command:
            setup = Setup(
                replace(launch, command=command),
                api,
                adapter,
                sampled(operations, sample),
                operations,
                variables,
                chosen.declared,
            )
            results = await _run_all(setup, prefix, chosen)
    name = adapter.name
    report = Report(
        f"{name}-adapter", adapter.version, adapter.spec_version, __version__, tuple(results), len(operations),
        len(setup.operations), perf_counter() - begin, frozenset(operation.name for operation in setup.operations),
    )  # fmt: skip
    return Checked(report, bundle(report, setup.evidence))


_Work: TypeAlias = Callable[[Setup], Awaitable[list[Result]]]


async def _run_all(setup: Setup, prefix: str, chosen: _Chosen) -> list[Result]:
    """Run every setting and every test that starts its own, as many at once as there are cores.

    The setting in which every operation is called comes first; with `fail_fast` one comes after the other.
    """
    results: list[Result] = []
    limit = anyio.CapacityLimiter(1 if chosen.fail_fast else max(1, min(4, os.cpu_count() or 1)))

    async def run(work: _Work) -> None:
        async with limit:
            if chosen.fail_fast and any(result.outcome is Outcome.FAIL for result in results):
                return
            api = StandIn(setup.api.package)
            with serve(api, prefix) as base:
                launch = setup.launch.with_variables(MCP_AQL_BASE_URL=base_url(setup.adapter, base))
                results.extend(await work(replace(setup, api=api, launch=launch)))

    works: list[_Work] = []
    for setting in product(ERAS, ("stdio", "http"), ("semantic", "single")):
        tests = [test for test in _tests_of(*setting) if test.id in chosen.ids]
        if tests:
            connected = partial(_connected, tests, setting, fail_fast=chosen.fail_fast)
            works.insert(0 if setting == _WHOLE else len(works), connected)
    works += [partial(_alone, test) for test in of_where("alone") if test.id in chosen.ids]
    async with anyio.create_task_group() as group:
        for work in works:
            group.start_soon(run, work)
    live = [test for test in of_where("live") if chosen.base_url and test.id in chosen.ids]
    for test in live:
        results += await _alone(test, replace(setup, launch=_live_launch(setup, chosen.base_url)))
    order = {test.id: number for number, test in enumerate(TESTS)}
    return sorted(results, key=lambda result: (list(Category).index(result.category), order[result.id], result.setting))


def _live_launch(setup: Setup, base_url: str) -> Launch:
    """Return the launch of an adapter of the live API: the owner's settings, and the credentials of the environment."""
    names = [name for variable in setup.secrets for name in (variable, f"{variable}_FILE")]
    brought = {name: os.environ[name] for name in (*names, "MCP_AQL_CONFIG") if name in os.environ}
    kept = {name: setup.launch.variables[name] for name in ("MCP_AQL_STATE_URL", "MCP_AQL_AUDIT_PATH")}
    return replace(setup.launch, variables={**kept, **brought, "MCP_AQL_BASE_URL": base_url})


async def _alone(test: Test, setup: Setup) -> list[Result]:
    return [await _guarded(test, setup, test.result(""))]


def _tests_of(*setting: str) -> list[Test]:
    """Return the tests of a connection: of its era, transport and mode."""
    return [*of_where("every"), *(of_where("whole") if setting == _WHOLE else ())]


async def _connected(
    tests: Sequence[Test], where: tuple[str, str, str], setup: Setup, *, fail_fast: bool
) -> list[Result]:
    era, transport, mode = where
    setting = f"{transport}, {mode}, {era}"
    launch = setup.launch.with_variables(MCP_AQL_ENDPOINT_MODE=mode)
    results = [test.result(setting if test.where == "every" else "") for test in tests]

    async def run(adapter: Adapter) -> None:
        connected = Connected(setup, adapter, era, transport, mode == "single")
        for test, result in zip(tests, list(results), strict=True):
            setup.api.forget()
            await _guarded(test, connected, result)
            if fail_fast and result.outcome is Outcome.FAIL:
                del results[results.index(result) + 1 :]
                return

    try:
        if transport == "stdio":
            async with connect(launch, era) as adapter:
                await run(adapter)
        else:
            async with served_over_http(launch) as (url, _), connect(launch, era, url) as adapter:
                await run(adapter)
    except NotStarted as problem:
        for result in results:
            if not result.cases:
                result.expect(False, "the adapter", f"does not start: {problem}")
    return results


async def _guarded(test: Test, at_hand: Any, result: Result) -> Result:
    """Run a test; one that ends in an exception has failed, for the adapter answered what nobody can read."""
    try:
        await test.body(at_hand, result)
    except NotStarted as problem:
        result.expect(False, "the adapter", f"does not start: {problem}")
    except Exception as problem:  # noqa: BLE001 - whatever the adapter did to a client
        cause = _first(problem)
        result.expect(False, "the connection", f"broke: {type(cause).__name__}: {str(cause)[:300]}")
    return result


def _first(problem: BaseException) -> BaseException:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem
