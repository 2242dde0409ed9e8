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
from typing import Final, Self

import yaml

from aqlgen import __version__
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.ir import Json
from aqlgen.render.provenance import FILE
from aqlgen.resources import SOURCE
from aqlgen.runtime.introspection.postings import FILE as SEARCH
from aqlgen.runtime.table import FORMAT

ANSWERS: Final = ".copier-answers.yml"

_CONFLICT: Final = re.compile(rb"^<{7} ", re.MULTILINE)


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
    packages = [f"src/{table.parent.name}" for table in folder.glob("src/*/operations")]
    inner = [f"{package}/{name}" for package in packages for name in ("runtime", SEARCH)]
    present = [name for name in ("OPERATIONS.md", "openapi", "schema", "vendor", *inner) if (folder / name).exists()]
    paths = " ".join(map(quote, (FILE, ANSWERS, *present, *(f"{package}/*.json" for package in packages))))
    take = f"git -C {quote(str(folder))} checkout HEAD -- {paths}"
    return FileError.of(
        "records-in-conflict",
        f"{path} holds conflicts of a merge, as when two branches both updated the project",
        help=f"Take aqlgen's files from one side: `{take}` (from HEAD^ where the conflict is committed). "
        "Resolve the others, finish the merge, then run `aqlgen update` with the newer document.",
        file=str(path),
    )


def version_of(provenance: Mapping[str, Json]) -> str:
    """Return the version of the aqlgen that wrote a project; "" if it is not recorded."""
    generator = provenance.get("generator")
    return str(generator.get("version", "")) if isinstance(generator, dict) else ""


def refuse_newer(folder: Path, name: str = "") -> None:
    """Raise OptionError for a project that a newer aqlgen wrote. `name` is what the user calls it, if not the folder.

    This one would misread it, or take back what that brought. Records that cannot be read are left to who needs them.
    """
    from packaging.version import InvalidVersion, Version

    made_by = version_of(_read(folder / FILE))
    formats = [_read(adapter).get("format") for adapter in sorted(folder.glob("src/*/adapter.json"))]
    newest = max((stated for stated in formats if isinstance(stated, int)), default=FORMAT)
    try:
        is_newer = Version(made_by) > Version(__version__)
    except InvalidVersion:
        is_newer = False
    if is_newer:
        message = f"the project was made by aqlgen {made_by}, and this is {__version__}"
        way = f"Install aqlgen {made_by} or newer: {SOURCE}."
    elif newest > FORMAT:
        message = f"the project's operation table is of format {newest}, and aqlgen {__version__} reads {FORMAT}"
        way = f"Install the newest aqlgen: {SOURCE}."
    else:
        return
    raise OptionError.of("aqlgen-too-old", message, help=way, file=name or str(folder))


def _read(path: Path) -> dict[str, Json]:
    """Return the content of a record, {} if it cannot be read; a link or a pipe is refused by who needs the record."""
    try:
        value = json.loads(path.read_bytes()) if S_ISREG(path.lstat().st_mode) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
