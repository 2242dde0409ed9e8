# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An MCP-AQL adapter: the data files beside this module say what it serves, `runtime` serves it.

An installed wheel holds `runtime` here, as does a project with its source. A checkout has it in `vendor/runtime.zip`,
which is unpacked beside the bytecode of this module, once for each archive.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

_RESTORED = "`aqlgen update` or `git checkout` restores it"


def _unpacked(folder: Path) -> Path:
    """Return the folder that holds the runtime, or the archive where nothing can be written: Python imports from it."""
    archive = folder.parents[1] / "vendor" / "runtime.zip"
    if not archive.is_file():
        sys.exit(f"Error: {archive} is missing; {_RESTORED}")
    place = folder / "__pycache__" / f"runtime-{sha256(archive.read_bytes()).hexdigest()[:16]}"
    if not place.is_dir():
        if sys.dont_write_bytecode:
            return archive
        from tempfile import TemporaryDirectory
        from zipfile import BadZipFile, ZipFile

        try:
            place.parent.mkdir(exist_ok=True)
            with TemporaryDirectory(dir=place.parent) as temporary:
                ZipFile(archive).extractall(f"{temporary}/whole")
                Path(temporary, "whole").rename(place)
        except BadZipFile:
            sys.exit(f"Error: {archive} is damaged; {_RESTORED}")
        except OSError:  # as where another process was first
            return place if place.is_dir() else archive
    return place


if not (Path(__file__).parent / "runtime" / "__init__.py").is_file():
    __path__.append(str(_unpacked(Path(__file__).resolve().parent)))
