"""A generated project as it lies in a folder: what it was made from, by what, and how."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Final, Literal, Self

import yaml
from packaging.version import InvalidVersion, Version

from aqlgen.decide.overrides import field_cases
from aqlgen.diagnostics.errors import FileError
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.pipeline import Options
from aqlgen.render.provenance import FILE
from aqlgen.runtime.table import values_of
from aqlgen.table.format import require_format
from aqlgen.table.model import FAMILIES

__all__ = ["ANSWERS", "OVERRIDES", "Project"]

ANSWERS: Final = ".copier-answers.yml"
OVERRIDES: Final = "overrides.yaml"

_NUMBERED: Final = re.compile(r"(\d+)-.*\.(?:json|yaml)")
_CONFLICT: Final = re.compile(rb"^<{7} ", re.MULTILINE)
_HELP: Final = "Name the folder of a project that `aqlgen from-openapi` made: it holds MCPAQL-PROVENANCE.json."


@dataclass(frozen=True, slots=True)
class Project:
    """A project by its folder. `answers` is what the template was given, `provenance` the record of its making.

    `recorded` has the hash of every generated file but the provenance by its path, as it was generated.
    """

    folder: Path
    answers: Mapping[str, Json]
    provenance: Mapping[str, Json]
    package: str
    recorded: Mapping[str, str] = field(repr=False)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read the records of a project. Raises FileError when the folder is none, or they cannot be read."""
        if not (folder / FILE).is_file():
            if (folder / ANSWERS).is_file():
                raise _damaged(folder / FILE, "it is gone")
            what = "holds no project of aqlgen" if folder.is_dir() else "is not a folder"
            raise FileError.of("not-a-project", f"{folder} {what}", help=_HELP, file=str(folder))
        provenance = _json(folder / FILE)
        answers = _yaml(folder / ANSWERS)
        package = answers.get("package")
        files = provenance.get("files")
        each = files.get("each") if isinstance(files, dict) else None
        if not isinstance(package, str) or not isinstance(each, dict):
            broken = ANSWERS if isinstance(each, dict) else FILE
            raise _damaged(folder / broken, "what aqlgen wrote there is missing")
        project = cls(folder, answers, provenance, package, {path: str(one) for path, one in each.items()})
        project._require_format(None)
        return project

    @property
    def template_tag(self) -> str:
        """The release that the templates were of when aqlgen last wrote the project; "" for none."""
        generator = self.provenance.get("generator")
        found = generator.get("templates") if isinstance(generator, dict) else None
        return found if isinstance(found, str) else ""

    @property
    def answered_tag(self) -> str:
        """The release that copier takes the templates to be of: another when `copier update` ran since."""
        found = self.answers.get("_commit")
        return found if isinstance(found, str) else ""

    @property
    def recorded_options(self) -> Mapping[str, Json]:
        """The options that the project was made with."""
        found = self.provenance.get("options")
        return found if isinstance(found, dict) else {}

    @property
    def license(self) -> str:
        """The licence of the project, "" for none: as copier was answered, also by a plain `copier update` since."""
        answered = self.answers.get("license", self.recorded_options.get("license"))
        return answered if isinstance(answered, str) else ""

    @property
    def version(self) -> str:
        """The version of the newest aqlgen, or of its templates, that wrote the project; "" when it is not recorded."""
        generator = self.provenance.get("generator")
        made = generator.get("version") if isinstance(generator, dict) else None
        found = [
            one for one in (made, self.template_tag, self.answered_tag) if isinstance(one, str) and _is_version(one)
        ]
        return max(found, key=Version, default="")

    def placed(self, path: str) -> Path:
        """Give where a file of the project lies, also in a package that the user gave another name."""
        home, place = f"src/{self.package}/", self.folder / path
        if not path.startswith(home) or place.exists() or (self.folder / home).exists():
            return place
        found = [one.parent for one in self.folder.glob("src/*/operations") if (one.parent / "adapter.json").is_file()]
        return found[0] / path.removeprefix(home) if len(found) == 1 else place

    def document(self) -> Path:
        """Give the file of the kept document. Raises FileError when it is gone."""
        found = [one for one in ("openapi/openapi.json", "openapi/openapi.yaml") if (self.folder / one).is_file()]
        recorded = [one for one in found if one in self.recorded] or found
        if not recorded:
            raise FileError.of(
                "kept-document-missing",
                f"the document that the project was made from is not in {self.folder / 'openapi'}",
                help="Bring it back (`git log -- openapi` names commits that had it), or give it again with --spec.",
                file=str(self.folder / "openapi"),
            )
        return self.folder / recorded[0]

    def overlays(self) -> tuple[Path, ...]:
        """Give the kept overlays in the order in which they are applied."""
        folder = self.folder / "openapi" / "overlays"
        if not folder.is_dir():
            return ()
        numbered = [(int(found[1]), path) for path in folder.iterdir() if (found := _NUMBERED.fullmatch(path.name))]
        return tuple(path for _, path in sorted(numbered))

    def request(self) -> Request:
        """Ask for what the project was made from: the kept document and overlays. Raises FileError."""
        return Request(str(self.document()), overlays=tuple(map(str, self.overlays())))

    def options(
        self,
        request: Request | None = None,
        *,
        names: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        strict: bool = False,
        stale: Literal["error", "report"] = "report",
    ) -> Options:
        """Give the options as recorded, with the project's overrides; the kept document unless a `request` is given.

        `names` are kept by operation: those that the record has pinned unless given; `ids` are the operationIds then.
        """
        made = self.recorded_options
        overrides = self.folder / OVERRIDES
        return Options(
            request or self.request(),
            name=_text(made.get("name")),
            overrides=overrides if overrides.is_file() else None,
            include=_texts(made.get("include")),
            exclude=_texts(made.get("exclude")),
            field_case=_text(made.get("field_case")) if made.get("field_case") in field_cases() else None,
            strict=strict,
            stale=stale,
            base=_text(made.get("base")),
            names=_mapping(made.get("names")) if names is None else names,
            ids=ids if ids is not None else self.operation_ids() if names else {},
            retired=_mapping(made.get("retired")),
        )

    def names(self, files: Mapping[str, bytes] | None = None) -> dict[str, str]:
        """Give the name of every operation of the table by `METHOD /path`, and of those that are gone or pinned beside.

        The table is that in the folder unless `files` has it, by the paths in the project. Raises FileError.
        """
        made = self.recorded_options
        retired = {key: name for name, key in _mapping(made.get("retired")).items()}
        return retired | _mapping(made.get("names")) | {key: name for key, name, _ in self._rows(files)}

    def operation_ids(self, files: Mapping[str, bytes] | None = None) -> dict[str, str]:
        """Give the operationId of every operation of the table that has one, by `METHOD /path`."""
        return {key: found for key, _, found in self._rows(files) if isinstance(found, str)}

    def _rows(self, files: Mapping[str, bytes] | None) -> Iterator[tuple[str, str, Json]]:
        """Yield `METHOD /path`, name and operationId of every row of the table. Raises FileError."""
        self._require_format(files)
        for family in FAMILIES:
            place, content = self._content(f"operations/{family}.json", files)
            for name, row in ({} if content is None else _json(place, content)).items():
                if isinstance(row, dict):
                    method, path, operation_id = values_of(row, ("method", "path", "operation_id"))
                    if isinstance(method, str) and isinstance(path, str):
                        yield f"{method} {path}", name, operation_id

    def _require_format(self, files: Mapping[str, bytes] | None) -> None:
        """Raise FileError for a table of another format; a file that cannot be read has none."""
        place, content = self._content("adapter.json", files)
        try:
            adapter = json.loads(content or b"{}")
        except (ValueError, RecursionError):
            return
        if isinstance(adapter, dict):
            require_format(adapter, str(place))

    def _content(self, name: str, files: Mapping[str, bytes] | None) -> tuple[Path, bytes | None]:
        """Return the place of a file of the table, and its content, from `files` if they are given."""
        path = f"src/{self.package}/{name}"
        place = self.placed(path)
        if files is not None:
            return place, files.get(path)
        return place, place.read_bytes() if place.is_file() else None


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _mapping(value: Json) -> dict[str, str]:
    return {key: str(one) for key, one in value.items()} if isinstance(value, dict) else {}


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _json(path: Path, content: bytes | None = None) -> dict[str, Json]:
    try:
        value = json.loads(path.read_bytes() if content is None else content)
    except (OSError, ValueError, RecursionError) as error:
        raise _unusable(path, error, content) from None
    if not isinstance(value, dict):
        raise _damaged(path, "it is not a JSON object")
    return value


def _yaml(path: Path) -> dict[str, Json]:
    try:
        value = yaml.safe_load(path.read_bytes())
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise _unusable(path, error) from None
    if not isinstance(value, dict):
        raise _damaged(path, "it is not a YAML object")
    return value


def _unusable(path: Path, error: Exception, content: bytes | None = None) -> FileError:
    if isinstance(error, OSError):
        return _damaged(path, (error.strerror or "it cannot be read").lower())
    if _CONFLICT.search(path.read_bytes() if content is None else content):
        return _in_conflict(path)
    return _damaged(path, str(error).splitlines()[0])


def _in_conflict(path: Path) -> FileError:
    """Tell of a record with the marks of a conflict: two branches that both updated were merged.

    What aqlgen wrote of two documents cannot be merged line by line, nor need it be.
    """
    folder = next((one for one in path.parents if (one / FILE).is_file()), path.parent)
    inner = sorted(f"src/{one.parent.name}/*.json" for one in folder.glob("src/*/operations"))
    paths = " ".join(map(quote, (FILE, ANSWERS, "OPERATIONS.md", "openapi", "schema", *inner)))
    take = f"git -C {quote(str(folder))} checkout HEAD -- {paths}"
    return FileError.of(
        "records-in-conflict",
        f"{path} holds conflicts of a merge, as when two branches both updated the project",
        help=f"Take all that aqlgen wrote from one side: `{take}` (from HEAD^ where the conflict is committed). "
        "Resolve the others, finish the merge, then run `aqlgen update` with the newer document.",
        file=str(path),
    )


def _damaged(path: Path, why: str) -> FileError:
    return FileError.of(
        "project-damaged",
        f"{path} cannot be used: {why}",
        help=f"Bring back what aqlgen wrote: `git log -- {path.name}` names commits that had it, and "
        f"`git checkout COMMIT -- {path.name}` takes it from one.",
        file=str(path),
    )
