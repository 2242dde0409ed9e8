"""What a command imports: each pays for what it does."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

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


@pytest.mark.parametrize("module", ["copier", "rich", "asyncio", "aqlgen.page", "aqlgen.compare"])
def test_generating_from_a_file_imports_only_what_it_needs(module: str) -> None:
    assert module not in imported("from-openapi", "fixtures/petstore.yaml", "-o", "nowhere", "--dry-run")


def test_only_an_object_of_unexpected_types_takes_the_models_and_those_of_its_version_alone(tmp_path: Path) -> None:
    petstore = Path("fixtures/petstore.yaml").read_text(encoding="utf-8")
    (tmp_path / "mistaken.yaml").write_text(petstore.replace("summary: ", "summary: !!int 7 # ", 1), encoding="utf-8")
    plain, mistaken = (
        imported("from-openapi", str(document), "-o", "nowhere", "--dry-run")
        for document in ("fixtures/petstore.yaml", tmp_path / "mistaken.yaml")
    )
    assert not any(module.startswith("openapi_pydantic") for module in plain)
    assert "openapi_pydantic.v3.v3_1.operation" in mistaken
    assert "openapi_pydantic.v3.v3_0.operation" not in mistaken


def test_a_command_imports_no_other_command() -> None:
    modules = imported("from-openapi", "fixtures/petstore.yaml", "-o", "nowhere", "--dry-run")
    assert modules.isdisjoint(("aqlgen.cli.explain", "aqlgen.cli.check", "aqlgen.cli.update"))
