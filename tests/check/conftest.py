"""The workshop's adapter, generated once, with operations of each level of danger and a value that the owner fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.mutants import OVERRIDES
from tests.checkouts import ROOT, compile_as_here
from tests.generator.commands import FIXTURES, run


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workshop")
    overrides = folder / "overrides.yaml"
    overrides.write_text(OVERRIDES, encoding="utf-8")
    options = ("-o", folder / "project", "--overrides", overrides, "--runtime", "source", "-q")
    done = run("from-openapi", FIXTURES / "workshop.yaml", *options)
    assert done.code == 0
    compile_as_here(folder / "project/src/workshop_adapter/runtime", ROOT / "aqlgen/runtime")
    return folder / "project"
