"""How the tests run the command line: in this process, with what it prints and its exit code."""

from __future__ import annotations

import gc
import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aqlgen.cli import main

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


@dataclass(frozen=True)
class Run:
    """One finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str | Path) -> Run:
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
        found: dict[str, Any] = {}
        for path in (self.package / "operations").iterdir():
            found |= json.loads(path.read_text(encoding="utf-8"))
        return found


def generate(tmp_path: Path, document: str | Mapping[str, Any], *options: str) -> Project:
    """Generate a project from the text or the data of a document."""
    spec = tmp_path / "document.yaml"
    spec.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    done = run("from-openapi", spec, "-o", tmp_path / "project", "--output-format", "json", *options)
    assert done.code == 0, done.out
    return Project(tmp_path / "project", done)


def api(paths: Mapping[str, Any], version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    """Give a document with these paths."""
    return {"openapi": version, "info": {"title": "Shop", "version": "1"}, "paths": paths, **more}


def posting(schema: Any, version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    """Give a document whose one operation creates a thing with a JSON body of that schema."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    operation = {"operationId": "createThing", "requestBody": body, "responses": {"201": {"description": "made"}}}
    return api({"/things": {"post": operation}}, version, **more)
