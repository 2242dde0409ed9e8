"""The layers point one way, and what one module alone may import stays with it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "aqlgen"

LAYERS = (
    ("ir", "diagnostics", "words", "positions", "catalogue", "origins", "plain", "media", "runtime"),
    ("errors", "decisions", "resolve"),
    ("read", "build", "decide", "schemas", "request", "templating"),
    ("link", "overlay", "upgrade"),
    ("assemble",),
    ("table",),
    ("select", "render"),
    ("pipeline", "report", "folding"),
    ("page", "compare"),
    ("project", "operands"),
    ("commands",),
    ("terminal", "terminal_decisions"),
    ("cli",),
    ("__main__",),
)
"""The generator's modules from the ground up; each may import its own row's and those below."""

ALONE = {
    "openapi_pydantic": "build/typed.py",
    "copier": "templating.py",
    "jsonpath_rfc9535": "overlay/query.py",
}
"""Libraries that a single module knows."""


def imports(path: Path) -> set[str]:
    """Give the modules that a file imports, also within functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def layer_of(part: str) -> int:
    return next(index for index, row in enumerate(LAYERS) if part in row)


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_from_its_own_layer_and_those_below(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    used = {
        name.split(".")[1] for name in imports(path) if name.startswith("aqlgen.") and not name.endswith("__version__")
    }
    above = {part for part in used - {own} if layer_of(part) > layer_of(own)}
    assert not above


@pytest.mark.parametrize("library", ALONE)
def test_one_module_alone_knows_the_library(library: str) -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if any(name.split(".")[0] == library for name in imports(path))
    }
    assert users == {ALONE[library]}


def test_one_module_alone_runs_git() -> None:
    runners = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts and ast.unparse(node.elts[0]) == "'git'"
    }
    assert runners == {"project/git.py"}


def test_the_runtime_imports_nothing_of_the_generator_and_only_what_adapters_declare() -> None:
    allowed = {"mcp", "mcp_types", "jsonschema_rs", "httpx2", "anyio", "pydantic", "starlette", "uvicorn"}
    runtime = ROOT / "aqlgen/runtime"
    import sys

    used = {name.split(".")[0] for path in runtime.rglob("*.py") for name in imports(path)}
    assert used - set(sys.stdlib_module_names) <= allowed
