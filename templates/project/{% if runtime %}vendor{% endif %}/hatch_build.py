# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The build hook: a wheel holds the runtime unpacked. An editable install needs nothing: the package unpacks it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Unpack(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the runtime to the package."""
        if version != "editable":
            self.folder = TemporaryDirectory()
            ZipFile(Path(self.root, "vendor", "runtime.zip")).extractall(self.folder.name)
            build_data["force_include"][f"{self.folder.name}/runtime"] = f"{self.config['package']}/runtime"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the unpacked files."""
        if version != "editable":
            self.folder.cleanup()
