# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The build hook: a wheel holds the runtime unpacked, and the settings. An editable install finds them here."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Unpack(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to the package."""
        if version == "editable":
            return
        self.folder = TemporaryDirectory()
        for archive in Path(self.root).glob("vendor/runtime.zip"):
            ZipFile(archive).extractall(self.folder.name)
        parts = [*Path(self.folder.name).iterdir(), *Path(self.root).glob("adapter.toml")]
        build_data["force_include"] |= {str(part): f"{self.config['package']}/{part.name}" for part in parts}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the unpacked files."""
        if version != "editable":
            self.folder.cleanup()
