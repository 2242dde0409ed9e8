"""The state of a project towards this aqlgen, by its records: whether a newer one wrote it, and by which release.

It is looked at before anything else, since a newer aqlgen may have written all the rest in another form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG

import yaml
from packaging.version import InvalidVersion, Version

from aqlgen import __version__
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json
from aqlgen.project.records import ANSWERS
from aqlgen.project.releases import current
from aqlgen.render.provenance import FILE
from aqlgen.runtime.table import FORMAT

__all__ = ["newest_version", "refuse_newer", "release_warnings"]


def newest_version(provenance: Mapping[str, Json], answers: Mapping[str, Json]) -> str:
    """Return the version of the newest aqlgen, or of its templates, that wrote a project; "" if it is not recorded."""
    generator = provenance.get("generator")
    recorded = [generator.get("version"), generator.get("templates")] if isinstance(generator, dict) else []
    texts = [text for text in (*recorded, answers.get("_commit")) if isinstance(text, str) and _is_version(text)]
    return max(texts, key=Version, default="")


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def refuse_newer(folder: Path, name: str = "") -> None:
    """Raise OptionError for a project that a newer aqlgen wrote. `name` is what the user calls it, if not the folder.

    This one would misread it, or take back what that brought. Records that cannot be read are left to who needs them.
    """
    version = newest_version(_read(folder / FILE), _read(folder / ANSWERS))
    if version and Version(version) > Version(__version__):
        newer = str(Version(version))
        wanted = f"Install aqlgen {newer} or newer: pip install 'aqlgen>={newer}'."
        raise _too_old(folder, name, f"the project was made by aqlgen {newer}, and this is {__version__}", wanted)
    for adapter in sorted(folder.glob("src/*/adapter.json")):
        stated = _read(adapter).get("format")
        if isinstance(stated, int) and stated > FORMAT:
            what = f"the project's operation table is of format {stated}, and aqlgen {__version__} reads {FORMAT}"
            raise _too_old(folder, name, what, "Install the newest aqlgen: pip install --upgrade aqlgen.")


def _too_old(folder: Path, name: str, message: str, way: str) -> OptionError:
    return OptionError.of("aqlgen-too-old", message, help=way, file=name or str(folder))


def release_warnings(folder: Path) -> tuple[Diagnostic, ...]:
    """Return a warning for a project whose templates are of no release of aqlgen."""
    provenance, answers = _read(folder / FILE), _read(folder / ANSWERS)
    generator = provenance.get("generator")
    if not isinstance(generator, dict) or generator.get("templates") or answers.get("_commit"):
        return ()
    tag = current().tag
    way = f"`aqlgen update` brings it to {tag}." if tag else "Install a release of aqlgen, then run `aqlgen update`."
    return (
        Diagnostic(
            "project-of-no-release",
            Severity.WARNING,
            "the project was made by an aqlgen between two releases: plain `copier update` does not know its "
            "templates, and an update finds what it generated for an edited file only in git's history",
            file=str(folder),
            help=way,
        ),
    )


def _read(path: Path) -> dict[str, Json]:
    """Return the content of a record, {} if it cannot be read; a link or a pipe is refused by who needs the record."""
    try:
        if not S_ISREG(path.lstat().st_mode):
            return {}
        content = path.read_bytes()
        value = yaml.safe_load(content) if path.suffix == ".yml" else json.loads(content)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
