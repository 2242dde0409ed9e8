"""Run one measurement: `python -m bench NAME [ARGS]`. Without a name, list all of them."""

from __future__ import annotations

import ast
import difflib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

USAGE = "usage: python -m bench NAME [ARGS]      python -m bench NAME --help tells more of one"
WRONG_OPTIONS = 3
MEASUREMENTS: dict[str, tuple[str, ...]] = {
    "The house": ("size",),
    "Generating": ("generate",),
    "Names and categories": ("ground_truth", "effects", "kept", "search"),
    "A generated adapter": ("startup", "overhead", "gate", "tokens", "jobs", "mutants", "demo"),
    "Requests as they are sent": ("wire.record", "wire.mutated", "servers"),
    "Under load": ("replicas",),
}
"""The measurements by what they measure; each name is a module below `bench` with a function `main(argv)`."""
NAMES = tuple(name for names in MEASUREMENTS.values() for name in names)


def source(name: str) -> Path:
    """Return the file of a measurement."""
    path = Path(__file__).parent.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def summary(name: str) -> str:
    """Return the first sentence of a measurement's docstring, without importing the measurement."""
    docstring = ast.get_docstring(ast.parse(source(name).read_text(encoding="utf-8"))) or ""
    return docstring.splitlines()[0]


def listing() -> str:
    """Return the names of all measurements, each with what it measures."""
    width = max(map(len, NAMES))
    lines = [USAGE]
    for title, names in MEASUREMENTS.items():
        lines += ["", title, *(f"  {name:{width}}  {summary(name)}" for name in names)]
    return "\n".join(lines)


def unknown(name: str) -> str:
    """Return the message for a name that is no measurement, with the nearest names."""
    nearest = [known for known in NAMES if known.startswith(name)] or difflib.get_close_matches(name, NAMES, n=1)
    hint = f"Did you mean {' or '.join(nearest)}?" if nearest else "`python -m bench` lists all of them."
    return f"There is no measurement {name!r}. {hint}"


def main(argv: Sequence[str]) -> int:
    """Run the measurement that the first argument names, with the others; return its exit code."""
    if not argv or argv[0] in ("-h", "--help"):
        print(listing())
        return 0
    name, *arguments = argv
    if name not in NAMES:
        print(unknown(name), file=sys.stderr)
        return WRONG_OPTIONS
    code: int | None = importlib.import_module(f"bench.{name}").main(arguments)
    return code or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
