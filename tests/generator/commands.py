"""Ways into aqlgen for tests: a command line in this process, and the operation table of a document alone."""

from __future__ import annotations

import gc
import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer.main

from aqlgen.cli import main
from aqlgen.diagnostics import Severity
from aqlgen.diagnostics.report import as_json
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, Prepared, prepare
from aqlgen.render.operations_md import operations_md
from aqlgen.runtime.client import Api
from aqlgen.runtime.introspection.fields import type_details
from aqlgen.runtime.introspection.info import operation_details
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import FAMILIES, Adapter, Table
from aqlgen.runtime.wire import ApiRequest
from aqlgen.table.model import table_files
from tests.documents import body_of, paths_of

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

_read_options = typer.main.get_command
_groups: dict[tuple[Any, ...], Any] = {}


def _get_command(app: typer.Typer) -> Any:
    commands = tuple((command.name, command.callback) for command in app.registered_commands)
    if commands not in _groups:
        _groups[commands] = _read_options(app)
    return _groups[commands]


typer.main.get_command = _get_command
"""Reading the options of a command takes long, and is done once for all tests."""


@dataclass(frozen=True)
class Run:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str | Path) -> Run:
    """Run a command of aqlgen."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", ["aqlgen", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        finally:
            gc.enable()
    return Run(int(code or 0), out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Project:
    """A generated project, its data read back."""

    folder: Path
    run: Run

    @property
    def package(self) -> Path:
        return next((self.folder / "src").iterdir())

    @property
    def adapter(self) -> dict[str, Any]:
        return json.loads((self.package / "adapter.json").read_text(encoding="utf-8"))

    @property
    def types(self) -> dict[str, Any]:
        return json.loads((self.package / "types.json").read_text(encoding="utf-8"))

    @property
    def rows(self) -> dict[str, Any]:
        rows: dict[str, Any] = {}
        for path in (self.package / "operations").iterdir():
            rows |= json.loads(path.read_text(encoding="utf-8"))
        return rows


def generate(tmp_path: Path, document: str | Mapping[str, Any], *options: str) -> Project:
    """Generate a project from the text or the data of a document, by the whole command.

    For what a case asserts about files, exit codes or printed text; rows and findings come faster from `tabulate`.
    """
    spec = _written(tmp_path, document)
    result = run("from-openapi", spec, "-o", tmp_path / "project", "--output-format", "json", *options)
    assert result.code == 0, result.out
    return Project(tmp_path / "project", result)


@dataclass(frozen=True)
class Tabulation:
    """The operation table of a document, as the files of a project would hold it, and the findings on the way."""

    prepared: Prepared

    @cached_property
    def texts(self) -> dict[str, str]:
        """The data files of the package, by their path in it."""
        return {path: content.decode() for path, content in table_files(self.prepared.table)}

    def write(self, folder: Path) -> Path:
        """Write the package into a folder, and return the folder."""
        for path, text in self.texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder

    def request(self, folder: Path, name: str, params: Any = None, **environ: str) -> ApiRequest:
        """Build the request of a call, with these variables. Raises Failure."""
        rows = Table(self.write(folder / "package"))
        side = Api(Adapter.load(folder / "package"), rows, None, Config(), environ=environ)
        row = rows.find(name)
        assert row is not None
        return side.build(row, side.validate(row, params or {}))

    @cached_property
    def rows(self) -> dict[str, Any]:
        families = (json.loads(text) for path, text in self.texts.items() if path.startswith("operations/"))
        return {name: row for family in families for name, row in family.items()}

    @cached_property
    def adapter(self) -> dict[str, Any]:
        return json.loads(self.texts["adapter.json"])

    @cached_property
    def types(self) -> dict[str, Any]:
        return json.loads(self.texts["types.json"])

    @cached_property
    def table(self) -> Table:
        """The table as an adapter reads it."""
        table = Table(Path())
        table.__dict__ |= {"types": self.types, "_families": {family: {} for family in FAMILIES}}
        for path, text in self.texts.items():
            if path.startswith("operations/"):
                table.__dict__["_families"][Path(path).stem] = json.loads(text)
        return table

    def details(self, name: str) -> dict[str, Any]:
        """Return an operation as introspection shows it."""
        row = self.table.find(name)
        assert row is not None
        return operation_details(row, self.table, Config(), None)

    def described(self, name: str) -> dict[str, Any]:
        """Return a type as introspection shows it."""
        return type_details(name, self.table.types[name], self.table.types)

    @property
    def page(self) -> str:
        """The text of OPERATIONS.md."""
        skipped = [(f"{operation['method']} {operation['path']}", operation["message"]) for operation in self.skipped]
        return operations_md(self.prepared.table, skipped)

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The details of all findings but notes: a further note breaks no case that is not about it."""
        return as_json(finding for finding in self.prepared.diagnostics if finding.severity is not Severity.NOTE)

    def findings(self, *codes: str) -> list[dict[str, Any]]:
        """Return the details of the findings with these codes, notes included."""
        return [detail for detail in as_json(self.prepared.diagnostics) if detail["code"] in codes]

    @property
    def skipped(self) -> list[dict[str, Any]]:
        return [operation.as_json() for operation in self.prepared.skipped]


def tabulate(
    tmp_path: Path, document: str | Mapping[str, Any], *, overrides: str | Path | None = None, **options: Any
) -> Tabulation:
    """Build the operation table of a document without a project; `options` are fields of `Options` and of `Request`.

    `overrides` is the text of an overrides file, or its path. Raises AqlgenError where the command would fail.
    """
    if isinstance(overrides, str):
        (tmp_path / "overrides.yaml").write_text(overrides, encoding="utf-8")
        overrides = tmp_path / "overrides.yaml"
    of_request = {name: options.pop(name) for name in ("accepted", "base") if name in options}
    request = Request(str(_written(tmp_path, document)), **of_request)
    return Tabulation(prepare(Options((request,), overrides=overrides, **options), lambda _stage: None))


def _written(folder: Path, document: str | Mapping[str, Any]) -> Path:
    spec = folder / "document.yaml"
    spec.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return spec


def api(paths: Mapping[str, Any], version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    """Build a document with these path items, or operations by `METHOD /path`."""
    return {"openapi": version, "info": {"title": "Shop", "version": "1"}, "paths": paths_of(paths), **more}


def posting(schema: Any, version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    """Build a document whose only operation creates a thing with a JSON body of that schema."""
    responses = {"201": {"description": "made"}}
    operation = {"operationId": "createThing", "requestBody": body_of(schema), "responses": responses}
    return api({"POST /things": operation}, version, **more)
