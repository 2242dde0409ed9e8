"""The records in a project: what the provenance says of the generation, and the project's state towards this aqlgen.

The state says whether a newer aqlgen wrote the project, and by which release it was generated.
It is looked at before anything else, since a newer aqlgen may have written all the rest in another form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, Self

import yaml

from aqlgen import __version__
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.ir import Json
from aqlgen.render.provenance import FILE
from aqlgen.resources import SOURCE
from aqlgen.runtime.introspection.postings import FILE as SEARCH
from aqlgen.runtime.table import FORMAT

if TYPE_CHECKING:
    from packaging.version import Version

ANSWERS: Final = ".copier-answers.yml"

_CONFLICT: Final = re.compile(rb"^<{7} ", re.MULTILINE)
_HELP: Final = "Name the folder of a project that `aqlgen from-openapi` made: it holds MCPAQL-PROVENANCE.json."


@dataclass(frozen=True, slots=True)
class Provenance:
    """What generated a project: the build of aqlgen, the release of its templates ("" for none), the input's hash."""

    aqlgen: str
    templates: str
    input: str

    @classmethod
    def of(cls, record: Mapping[str, Json], templates: str) -> Self:
        """Read the content of the provenance file, except for the release of the templates."""
        generator, input_record = record.get("generator"), record.get("input")
        known = generator if isinstance(generator, dict) else {}
        version = known.get("build") or known.get("version")
        return cls(
            str(version or ""), templates, str(input_record.get("hash", "")) if isinstance(input_record, dict) else ""
        )

    @property
    def version(self) -> str:
        """The version of aqlgen, without the hash of the build."""
        return self.aqlgen.partition("+")[0]

    def as_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"aqlgen": self.aqlgen, "templates": self.templates, "input": self.input}


def read_json(path: Path, content: bytes | None = None) -> dict[str, Json]:
    """Read a record that is a JSON object; `content` is what to take for the file's. Raises FileError."""
    try:
        value = json.loads(_content(path) if content is None else content)
    except (OSError, ValueError, RecursionError) as error:
        raise _unusable(path, error, content) from None
    if not isinstance(value, dict):
        raise damaged(path, "it is not a JSON object")
    return value


def _content(path: Path) -> bytes:
    """Return the content of a file. Raises OSError, also for a pipe or a device, which might never end."""
    if path.exists() and not path.is_file():
        raise OSError("it is not a file")
    return path.read_bytes()


def read_yaml(path: Path) -> dict[str, Json]:
    """Read a record that is a YAML mapping. Raises FileError."""
    try:
        value = yaml.safe_load(_content(path))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise _unusable(path, error) from None
    if not isinstance(value, dict):
        raise damaged(path, "it is not a YAML object")
    return value


def not_a_project(folder: Path) -> FileError:
    """Build the error for a folder without records."""
    what = "holds no project of aqlgen" if folder.is_dir() else "is not a folder"
    return FileError.of("not-a-project", f"{folder} {what}", help=_HELP, file=str(folder))


def damaged(path: Path, why: str) -> FileError:
    """Build the error for a record that cannot be used."""
    return FileError.of(
        "project-damaged",
        f"{path} cannot be used: {why}",
        help=f"Restore aqlgen's version: `git log -- {path.name}` names commits that had it, and "
        f"`git checkout COMMIT -- {path.name}` takes it from one.",
        file=str(path),
    )


def _unusable(path: Path, error: Exception, content: bytes | None = None) -> FileError:
    if isinstance(error, OSError):
        return damaged(path, (error.strerror or "it cannot be read").lower())
    if _CONFLICT.search(path.read_bytes() if content is None else content):
        return _in_conflict(path)
    return damaged(path, str(error).splitlines()[0])


def _in_conflict(path: Path) -> FileError:
    """Build the error for a record with conflict markers: two branches that both updated were merged.

    What aqlgen wrote from two documents cannot be merged line by line, and need not be.
    """
    folder = next((parent for parent in path.parents if (parent / FILE).is_file()), path.parent)
    packages = sorted(operations.parent for operations in folder.glob("src/*/operations"))
    inner = [f"src/{package.name}/*.json" for package in packages]
    parts = ("vendor", *(f"src/{package.name}/{part}" for package in packages for part in ("runtime", SEARCH)))
    inner += [part for part in parts if (folder / part).exists()]
    paths = " ".join(map(quote, (FILE, ANSWERS, "OPERATIONS.md", "openapi", "schema", *inner)))
    take = f"git -C {quote(str(folder))} checkout HEAD -- {paths}"
    return FileError.of(
        "records-in-conflict",
        f"{path} holds conflicts of a merge, as when two branches both updated the project",
        help=f"Take aqlgen's files from one side: `{take}` (from HEAD^ where the conflict is committed). "
        "Resolve the others, finish the merge, then run `aqlgen update` with the newer document.",
        file=str(path),
    )


def newest_version(provenance: Mapping[str, Json], answers: Mapping[str, Json]) -> str:
    """Return the version of the newest aqlgen, or of its templates, that wrote a project; "" if it is not recorded."""
    generator = provenance.get("generator")
    recorded = generator if isinstance(generator, dict) else {}
    tags = [tag for tag in (recorded.get("templates"), answers.get("_commit")) if str(tag).startswith("v")]
    texts = [text for text in (recorded.get("version"), *tags) if isinstance(text, str)]
    versions = {text: version for text in texts if (version := _version(text)) is not None}
    return max(versions, key=versions.__getitem__, default="")


def _version(text: str) -> Version | None:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except InvalidVersion:
        return None


def refuse_newer(folder: Path, name: str = "") -> None:
    """Raise OptionError for a project that a newer aqlgen wrote. `name` is what the user calls it, if not the folder.

    This one would misread it, or take back what that brought. Records that cannot be read are left to who needs them.
    """
    provenance, answers = _read(folder / FILE), _read(folder / ANSWERS)
    newer, this = _version(newest_version(provenance, answers)), _version(__version__)
    if newer and this and newer > this:
        wanted = f"Install aqlgen {newer} or newer: {SOURCE}."
        raise _too_old(folder, name, f"the project was made by aqlgen {newer}, and this is {__version__}", wanted)
    for adapter in sorted(folder.glob("src/*/adapter.json")):
        stated = _read(adapter).get("format")
        if isinstance(stated, int) and stated > FORMAT:
            what = f"the project's operation table is of format {stated}, and aqlgen {__version__} reads {FORMAT}"
            raise _too_old(folder, name, what, f"Install the newest aqlgen: {SOURCE}.")


def _too_old(folder: Path, name: str, message: str, way: str) -> OptionError:
    return OptionError.of("aqlgen-too-old", message, help=way, file=name or str(folder))


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
