"""Where the templates and the runtime are: in a checkout at its root, in an installed aqlgen beside its modules."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["PACKAGED", "SOURCE", "URL", "own_templates", "runtime_of"]

URL: Final = "https://github.com/MCPAQL/aqlgen.git"
"""The public address of the templates, for `copier update`."""

SOURCE: Final = "`pip install` with the path of its wheel or checkout"
"""How aqlgen is installed. It is on no public index, where whoever registers its name would be run."""

_PACKAGE: Final = Path(__file__).parent

PACKAGED: Final = _PACKAGE / "template"
"""Where an installed aqlgen has its templates."""


def own_templates() -> Path:
    """Return the folder that holds `copier.yml` and `templates/` of this aqlgen."""
    return PACKAGED if (PACKAGED / "copier.yml").is_file() else _PACKAGE.parent


def runtime_of(templates: Path) -> Path:
    """Return the folder of the runtime that belongs to templates: an installed aqlgen has it only as a package."""
    beside = templates / "aqlgen/runtime"
    return beside if beside.is_dir() else _PACKAGE / "runtime"
