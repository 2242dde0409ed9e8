"""Judgements of the witness, and results of the generated tests, about edited copies of the probe."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

_PACKAGE = __name__.rpartition(".")[0]
_BASE = "http://127.0.0.1:8080"
_LONGEST = 200
"""Characters of a text that are shown."""
_SETTINGS = {"MCP_AQL_AUTH_ALLOW_HTTP": "1", "MCP_AQL_BASE_URL": _BASE, "MCP_AQL_SERVER_VARIABLES": "port=8080"}


class Skipped(Exception):
    """A test that does not apply."""


def _skip(text: str) -> None:
    raise Skipped(text)


def _same(test: Any) -> Any:
    return test


_PYTEST = SimpleNamespace(
    register_assert_rewrite=lambda *_: None,
    fixture=_same,
    skip=_skip,
    mark=SimpleNamespace(anyio=None, parametrize=lambda *_: _same),
)
"""The parts of pytest that the generated tests use: adapters do not need it."""


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.runtime.{name}")


async def witnessed(order: dict[str, Any]) -> dict[str, Any]:
    """Return judgements of requests, findings of an examination, and failures of the generated tests.

    `files` are texts beside the document, `edits` have a file, the keys that lead to a part, and the part that is
    there then; without one it is removed. A request is its method, URL, headers and body.
    """
    sys.modules["pytest"] = _PYTEST  # type: ignore[assignment]
    with TemporaryDirectory() as name:
        project = Path(name)
        package = project / "src" / _PACKAGE
        _lay_out(project, package, order)
        try:
            witness = _module("witness").Witness(project, _BASE)
        except ValueError as problem:
            return {"unreadable": str(problem).replace(name, "").partition(":")[0]}
        judgements = [list(_judged(witness, *request)) for request in order.get("judge", ())]
        shown: dict[str, Any] = {"addresses": witness.addresses, "judged": judgements}
        if "examine" in order:
            shown["found"] = _by_operation(await _examined(witness, package, order["examine"]))
        if "tests" in order:
            shown["tests"] = await _tested(package, order["tests"])
        return shown


def _lay_out(project: Path, package: Path, order: dict[str, Any]) -> None:
    """Write a project of the probe's table and document, with the files and edits of an order."""
    table = Path(import_module(_PACKAGE).__file__ or "").parent
    shutil.copytree(table, package)
    (project / "openapi").mkdir()
    shutil.copy(table.parent / "overrides.yaml", project)
    data = _module("witness.project").read(table.parent / "openapi" / "openapi.yaml")
    _write(project / "openapi" / "openapi.json", data)
    for path, text in order.get("files", {}).items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    for path, keys, *parts in order.get("edits", ()):
        _edit(project / path, keys, parts)


def _edit(file: Path, keys: list[Any], parts: list[Any]) -> None:
    whole = part = json.loads(file.read_bytes())
    for key in keys[:-1]:
        part = part[key]
    if parts:
        part[keys[-1]] = parts[0]
    else:
        del part[keys[-1]]
    _write(file, whole)


def _write(file: Path, data: Any) -> None:
    file.write_text(json.dumps(data), encoding="utf-8")


def _judged(witness: Any, method: str, url: str, headers: dict[str, str], body: str) -> Iterator[Any]:
    """Yield the operation of a request, its values, its problems, and the answer that the witness gives."""
    request = _module("witness").Request(
        method, url if "://" in url else f"{_BASE}{url}", tuple(headers.items()), body.encode()
    )
    judgement = witness.judge(request)
    yield judgement.operation.key if judgement.operation else None
    yield {" ".join(key): value for key, value in judgement.values.items()}
    yield [f"{grade}: {text}" for grade, text in judgement.problems]
    answer = witness.answer(request)
    yield [answer.status, dict(answer.headers), answer.content.decode()[:_LONGEST]]


async def _examined(witness: Any, package: Path, sample: int) -> Any:
    """Examine the adapter of a table, whose requests the witness answers."""
    sessions, document = (_module(f"testing.{name}") for name in ("sessions", "test_document"))
    sessions.FOLDER, recorded = package, document.Recorded(witness)
    network = import_module("httpx2").MockTransport(recorded.respond)
    async with sessions.connect(mock=False, network=network, **_SETTINGS) as recorded.session:
        return await witness.examine(recorded, sample)


def _by_operation(findings: list[Any]) -> dict[str, dict[str, list[str]]]:
    """Return the findings by operation and text: the grade, the call and the place in the document."""
    cases_by_operation: dict[str, dict[str, list[str]]] = {}
    for finding in findings:
        call, colon, text = finding.text.partition(": ")
        text, call = (text, call) if colon else (call, "")
        cases = cases_by_operation.setdefault(finding.operation, {}).setdefault(text[:_LONGEST], [])
        cases.append(f"{finding.grade} {call} {finding.pointer.rpartition('/')[2]}")
    return cases_by_operation


async def _tested(package: Path, names: list[str]) -> dict[str, str]:
    """Run generated tests, each that has a parameter with both values; returns what each says."""
    sessions, tests = _module("testing.sessions"), _module("testing")
    _module("testing.test_document").FOLDER = sessions.FOLDER = package
    sessions.adapter.cache_clear()
    sessions.operations.cache_clear()
    shown = {}
    for name in names:
        test = getattr(tests, name)
        for arguments in [(True,), (False,)] if signature(test).parameters else [()]:
            try:
                await test(*arguments)
                outcome = "passed"
            except (AssertionError, Skipped) as problem:
                outcome = f"{type(problem).__name__}: {problem}"
            shown[" ".join(map(str, (name, *arguments)))] = outcome
    return shown
