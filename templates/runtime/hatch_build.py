"""The build hook of the runtime as a package: its files are those by which `version.py` makes its version."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "aqlgen_runtime"


class Runtime(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Add the runtime, and the mark that says that it is typed."""
        root = Path(self.root).resolve()
        files = runpy.run_path(str(root / "version.py"))["FILES"]
        places = {str(file): f"{PACKAGE}/{path}" for path, file in files.items()}
        build_data["force_include"] |= {**places, str(root / "py.typed"): f"{PACKAGE}/py.typed"}
