"""What a command imports: each pays for what it does."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

HEAVY = ("openapi_pydantic", "copier", "rich", "asyncio", "yaml", "aqlgen.pipeline")
WRAPPED = (
    "import sys\nfrom aqlgen.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
)


@cache
def imported(*arguments: str) -> frozenset[str]:
    done = subprocess.run([sys.executable, "-c", WRAPPED, *arguments], capture_output=True, text=True, check=True)
    return frozenset(done.stderr.splitlines()[-1].split())


def test_help_imports_no_stage() -> None:
    assert imported("--help").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "module",
    ["copier", "rich", "asyncio", "http.client", "aqlgen.page", "aqlgen.compare", "aqlgen.runtime.settings"],
)
def test_generating_from_a_file_imports_only_what_it_needs(module: str) -> None:
    assert module not in imported("from-openapi", "fixtures/petstore.yaml", "-o", "nowhere", "--dry-run")


def test_the_models_of_the_documents_own_version_are_imported_alone() -> None:
    modules = imported("from-openapi", "fixtures/petstore.yaml", "-o", "nowhere", "--dry-run")
    assert "openapi_pydantic.v3.v3_1.operation" in modules
    assert modules.isdisjoint(("openapi_pydantic.v3.v3_0.operation", "openapi_pydantic.v3.v3_1.open_api"))


def test_a_command_imports_no_other_command() -> None:
    modules = imported("from-openapi", "fixtures/petstore.yaml", "-o", "nowhere", "--dry-run")
    assert modules.isdisjoint(("aqlgen.cli.explain", "aqlgen.cli.check", "aqlgen.cli.update"))


def test_the_tests_of_an_adapter_load_no_types_of_mcp() -> None:
    code = "import sys, aqlgen.runtime.testing; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"aqlgen.runtime.assembly", "pytest"} <= {*done.stdout.split()}
    assert "mcp_types" not in done.stdout.split()
