"""The layers point one way, at every level of the tree, and what one module alone may import stays with it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "aqlgen"

LAYERS = {
    "aqlgen": (
        ("runtime", "ir", "words", "resources"),
        ("diagnostics",),
        ("document", "git"),
        ("build", "schemas", "decide"),
        ("table",),
        ("options", "workflows"),
        ("render",),
        ("pipeline",),
        ("page", "compare"),
        ("project", "check", "safety"),
        ("cli",),
        ("__main__",),
    ),
    "aqlgen.document": (
        ("yaml_events",),
        ("positions",),
        ("resolve", "request"),
        ("read",),
        ("link", "overlay", "upgrade", "element"),
        ("texts",),
        ("assemble",),
    ),
    "aqlgen.runtime": (
        ("errors", "exact_json", "text", "state", "session", "table", "witness"),
        ("envelope", "redaction", "wire", "schema"),
        ("settings", "logs"),
        ("telemetry",),
        ("hooks", "encode", "decode", "validation"),
        ("hosts",),
        ("client", "auth"),
        ("paging", "warnings", "calls"),
        ("protocol_operations",),
        ("steps", "executions"),
        ("introspection", "safety", "quota"),
        ("dispatch",),
        ("server",),
        ("assembly",),
        ("operator", "learn"),
        ("cli",),
        ("start", "testing"),
    ),
}
"""The parts of a package from the ground up; each may import from its own row and from those below."""

ALONE = {
    "openapi_pydantic": "build/models.py",
    "jsonpath_rfc9535": "document/overlay/query.py",
}
"""Libraries that a single module knows."""

ADAPTER = {
    "mcp",
    "mcp_types",
    "jsonschema_rs",
    "httpx2",
    "anyio",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "starlette",
    "uvicorn",
    "h11",
    "jwt",
    "cryptography",
    "opentelemetry",
}
"""What adapters may import beside the standard library: what they declare, and what that brings."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the absolute names of the modules that a file imports, also within functions and by relative imports."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            members = [f"{module}.{alias.name}" for alias in node.names]
            yield from (member if member in NAMES else module for member in members)


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements in a module or statement at every depth; no expression holds any."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(parent, field, ()):
            yield child
            yield from _statements(child)


MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = {name_of(path) for path in MODULES}


def part_of(module: str, package: str) -> str | None:
    """Return the part of a package that a module belongs to, None for the package's own `__init__` and outside it."""
    return module.removeprefix(f"{package}.").split(".")[0] if module.startswith(f"{package}.") else None


def layer_of(part: str, package: str) -> int:
    return next(index for index, row in enumerate(LAYERS[package]) if part in row)


@pytest.mark.parametrize("package", LAYERS)
def test_a_module_imports_only_from_its_own_layer_and_those_below(package: str) -> None:
    upward = []
    for path in MODULES:
        part = part_of(name_of(path), package)
        if part is None:
            continue
        used = {used for name in imports(path) if (used := part_of(name, package)) and f"{package}.{used}" in NAMES}
        upward += [f"{path} → {used}" for used in used - {part} if layer_of(used, package) > layer_of(part, package)]
    assert not upward


@pytest.mark.parametrize("package", LAYERS)
def test_every_part_stands_in_a_layer(package: str) -> None:
    folder = ROOT / package.replace(".", "/")
    parts = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(parts - {"__init__"}) == sorted(part for row in LAYERS[package] for part in row)


def circles(uses: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the modules or parts that lead into a circle, by what each uses."""
    while leaves := {name for name, used in uses.items() if not used & uses.keys() - {name}}:
        uses = {name: used for name, used in uses.items() if name not in leaves}
    return uses


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports within functions count, too: a circle that they hide is one still."""
    assert not circles({name_of(path): NAMES & set(imports(path)) for path in MODULES})


@pytest.mark.parametrize("package", LAYERS)
def test_no_parts_of_a_package_import_each_other_in_a_circle(package: str) -> None:
    uses: dict[str, set[str]] = {}
    for path in MODULES:
        if part := part_of(name_of(path), package):
            uses.setdefault(part, set()).update(filter(None, (part_of(name, package) for name in imports(path))))
    assert not circles(uses)


@pytest.mark.parametrize("library", ALONE)
def test_one_module_alone_knows_the_library(library: str) -> None:
    users = [path for path in MODULES if any(name.split(".")[0] == library for name in imports(path))]
    assert [path.relative_to(PACKAGE).as_posix() for path in users] == [ALONE[library]]


def test_one_module_alone_runs_git() -> None:
    runners = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if re.search(r"""["']git["']""", text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts and ast.unparse(node.elts[0]) == "'git'"
    }
    assert runners == {"git/__init__.py"}


def test_the_witness_shares_nothing_with_what_it_judges() -> None:
    """It reads the document a second time: neither the generator nor the runtime is imported, not even a constant."""
    witness = [path for path in MODULES if path.is_relative_to(PACKAGE / "runtime/witness")]
    used = {name for path in witness for name in imports(path) if name.startswith("aqlgen")}
    assert witness
    assert {name for name in used if not name.startswith("aqlgen.runtime.witness.")} == set()


def test_the_runtime_stands_alone() -> None:
    """It is a part of projects: nothing of the generator, and only what adapters declare; its tests use pytest."""
    runtime = [path for path in MODULES if path.is_relative_to(PACKAGE / "runtime")]
    tests = PACKAGE / "runtime/testing"
    used = {name for path in runtime for name in imports(path) if name != "pytest" or not path.is_relative_to(tests)}
    assert {name.split(".")[0] for name in used} - sys.stdlib_module_names <= ADAPTER | {"aqlgen"}
    assert not {name for name in used if name.startswith("aqlgen") and not name.startswith("aqlgen.runtime")}
