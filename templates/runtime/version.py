"""The version of the package, and its files: `aqlgen.resources` knows both, in a checkout as in an installed aqlgen."""

import sys
from pathlib import Path

HOME = next(folder for folder in Path(__file__).resolve().parents if (folder / "aqlgen" / "resources.py").is_file())
sys.path.insert(0, str(HOME))

from aqlgen.resources import runtime_files, runtime_version  # noqa: E402 - found by the line above

__version__ = runtime_version()
FILES = runtime_files()
