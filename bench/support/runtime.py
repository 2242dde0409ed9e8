"""Where the adapters' runtime is and what its modules are called; the one module of the measurements that knows.

The newest place and names come first: another checkout, with which `gate` compares, may be older.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from bench.support.processes import ROOT

MODULES = {
    "assembly": ("assembly",),
    "cli": ("cli.main", "cli"),
    "client": ("client.transport", "client.client", "client"),
    "names": ("schema.field_names", "names"),
    "pipe": ("server.stdio", "server.pipe", "pipe"),
    "server": ("server.mcp", "server"),
    "session": ("session", "server.session"),
    "table": ("table",),
}


def location(checkout: Path = ROOT) -> tuple[Path, str]:
    """Return the folder that the runtime of a checkout is imported from, and the name of its package."""
    if (checkout / "aqlgen" / "runtime").is_dir():
        return checkout, "aqlgen.runtime"
    return checkout / "templates" / "project" / "src" / "{{package}}", "runtime"


def load(module: str, package: str | None = None, path: Path | None = None) -> Any:
    """Return a module of this checkout's runtime, or of the runtime `package` that is imported from `path`."""
    if package is None or path is None:
        path, package = location()
    if str(path) not in sys.path:
        sys.path.insert(0, str(path))
    for name in MODULES[module]:
        try:
            return importlib.import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if not f"{package}.{name}".startswith(str(error.name)):
                raise
    raise ModuleNotFoundError(f"{package} has no module {' or '.join(MODULES[module])}")


def load_generated(module: str, package: Path) -> Any:
    """Return a module of the runtime in a generated package."""
    return load(module, f"{package.name}.runtime", package.parent)
