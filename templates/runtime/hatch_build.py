"""The build hook of the runtime as a package: its files are those of `aqlgen/runtime`, beside which this is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "aqlgen_runtime"


class Runtime(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Add the runtime, and the mark that says that it is typed."""
        root = Path(self.root).resolve()
        runtime = next(folder / "aqlgen/runtime" for folder in root.parents if (folder / "aqlgen/runtime").is_dir())
        files = (path for path in sorted(runtime.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
        places = {str(path): f"{PACKAGE}/{path.relative_to(runtime).as_posix()}" for path in files}
        build_data["force_include"] |= {**places, str(root / "py.typed"): f"{PACKAGE}/py.typed"}
