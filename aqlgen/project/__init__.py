"""A generated project in a folder: its records, its document, its options and its operation table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from aqlgen.diagnostics.errors import FileError
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.options import Options, part_of
from aqlgen.project.generated_paths import problem_of_all, refuse_links
from aqlgen.project.options import mapping, read_apis, read_document, read_options
from aqlgen.project.records import ANSWERS, damaged, read_json, read_yaml, refuse_newer
from aqlgen.render.provenance import FILE
from aqlgen.runtime.hosts.gate import accepted_of
from aqlgen.runtime.table import Accepted, Adapter, values_of
from aqlgen.table.model import FAMILIES

OVERRIDES: Final = "overrides.yaml"
ELEMENTS: Final = ("openapi/adapter.md", "openapi/adapter.yaml", "openapi/adapter.json")
"""Where a project keeps the adapter element that it was made from."""

DOCUMENTS: Final = ("openapi/openapi.json", "openapi/openapi.yaml", *ELEMENTS)


def documents_of(api: str) -> tuple[str, ...]:
    """Return where the kept document may be, that of one of several APIs or, for "", of the only one."""
    return (f"openapi/{api}/openapi.json", f"openapi/{api}/openapi.yaml") if api else DOCUMENTS


_PACKAGE: Final = re.compile(r"[a-z][a-z0-9_]*")

_READ: Final = (
    OVERRIDES,
    *DOCUMENTS,
    "openapi/overlays",
    "openapi/workflows",
    "src/{package}/adapter.json",
    *(f"src/{{package}}/operations/{family}.json" for family in FAMILIES),
)
"""Files that are read whether or not they are recorded."""

_NUMBERED: Final = re.compile(r"(\d+)-.*\.(?:json|yaml)")


@dataclass(frozen=True, slots=True)
class Project:
    """A project by its folder. `answers` is what the template was given, `provenance` the record of its generation.

    `recorded` has the hash of every generated file but the provenance by its path, as it was generated.
    """

    folder: Path
    answers: Mapping[str, Json]
    provenance: Mapping[str, Json]
    package: str
    recorded: Mapping[str, str] = field(repr=False)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read the records of a project. Raises FileError when there is none, or they cannot be read.

        Raises OptionError when a newer aqlgen wrote it.
        """
        refuse_links(folder, (FILE, ANSWERS))
        refuse_newer(folder)
        if not (folder / FILE).is_file():
            if (folder / ANSWERS).is_file():
                raise damaged(folder / FILE, "it is gone")
            raise FileError.of(
                "not-a-project",
                f"{folder} {'holds no project of aqlgen' if folder.is_dir() else 'is not a folder'}",
                help=f"Name the folder of a project that `aqlgen from-openapi` made: it holds {FILE}.",
                file=str(folder),
            )
        provenance = read_json(folder / FILE)
        answers = read_yaml(folder / ANSWERS)
        package = answers.get("package")
        files = provenance.get("files")
        each = files.get("each") if isinstance(files, dict) else None
        if not isinstance(package, str) or not _PACKAGE.fullmatch(package) or not isinstance(each, dict):
            broken = ANSWERS if isinstance(each, dict) else FILE
            raise damaged(folder / broken, "aqlgen's own part of it is missing")
        project = cls(folder, answers, provenance, package, mapping(each))
        project._refuse_misleading()
        return project

    def _refuse_misleading(self) -> None:
        """Refuse recorded paths that no generated file has, and links where one is. Raises FileError."""
        problem = problem_of_all(self.recorded)
        if problem:
            raise damaged(self.folder / FILE, problem)
        read = [path.format(package=self.package) for path in _READ]
        names = [api.name for api in self.apis()]
        read += [path.replace("/", f"/{name}/", 1) for name in names for path in _READ if path.startswith("openapi/")]
        refuse_links(self.folder, (*self.recorded, *read))
        kept = (path for name in ("", *names) for path in (*self.overlays(name), *self.workflows(name)))
        refuse_links(self.folder, (path.relative_to(self.folder).as_posix() for path in kept))

    @property
    def template_tag(self) -> str:
        """The release of the templates when aqlgen last wrote the project; "" for none."""
        generator = self.provenance.get("generator")
        tag = generator.get("templates") if isinstance(generator, dict) else None
        return tag if isinstance(tag, str) else ""

    @property
    def recorded_options(self) -> Mapping[str, Json]:
        """The options that the project was generated with."""
        options = self.provenance.get("options")
        return options if isinstance(options, dict) else {}

    @property
    def license(self) -> str:
        """The licence of the project, "" for none: as copier was answered, also by a plain `copier update` since."""
        answered = self.answers.get("license", self.recorded_options.get("license"))
        return answered if isinstance(answered, str) else ""

    def document(self, api: str = "") -> Path:
        """Return the file of the kept document, of one of several APIs. Raises FileError when it is gone."""
        names = [name for name in documents_of(api) if (self.folder / name).is_file()]
        recorded = [name for name in names if name in self.recorded] or names
        if not recorded:
            home = self.folder / "openapi" / api
            raise FileError.of(
                "kept-document-missing",
                f"the document that the project was made from is not in {home}",
                help="Bring it back (`git log -- openapi` names commits that had it), or give it again with --spec.",
                file=str(home),
            )
        return self.folder / recorded[0]

    @property
    def is_of_element(self) -> bool:
        """True if the project was made from an adapter element."""
        return any(name in self.recorded for name in ELEMENTS)

    def overlays(self, api: str = "") -> tuple[Path, ...]:
        """Return the kept overlays in the order in which they are applied."""
        return self._numbered(api, "overlays")

    def workflows(self, api: str = "") -> tuple[Path, ...]:
        """Return the kept Arazzo documents in their order."""
        return self._numbered(api, "workflows")

    def _numbered(self, api: str, name: str) -> tuple[Path, ...]:
        folder = self.folder / "openapi" / api / name
        if not folder.is_dir():
            return ()
        numbered = [(int(match[1]), path) for path in folder.iterdir() if (match := _NUMBERED.fullmatch(path.name))]
        return tuple(path for _, path in sorted(numbered))

    def beside(self, request: Request, recorded: Request | None = None) -> Request:
        """Return a request with what is recorded of its document, and what the project keeps beside that.

        `recorded` is the record of one of several APIs. Overlays and workflows of the request replace those kept.
        """
        recorded = recorded or self._document()
        return replace(
            request,
            overlays=request.overlays or tuple(map(str, self.overlays(recorded.name))),
            workflows=request.workflows or tuple(map(str, self.workflows(recorded.name))),
            name=recorded.name,
            accepted=recorded.accepted,
            base=recorded.base,
            was_alone=recorded.was_alone,
        )

    def apis(self) -> tuple[Request, ...]:
        """Return the recorded APIs, where there are several, without the places of their documents."""
        return tuple(read_apis(self.recorded_options))

    def documents(self) -> tuple[Request, ...]:
        """Return the record of each document, without its place."""
        return self.apis() or (self._document(),)

    def _document(self) -> Request:
        recorded = read_document(self.recorded_options)
        return replace(recorded, accepted=recorded.accepted or self._accepted())

    def request(self, recorded: Request | None = None) -> Request:
        """Return a request for what the project was generated from: all that it keeps. Raises FileError.

        `recorded` is the record of one of several APIs.
        """
        recorded = recorded or self._document()
        is_element = self.is_of_element and not recorded.name
        kept = Request(str(self.document(recorded.name)), element=is_element, spec_url=recorded.spec_url)
        return self.beside(kept, recorded)

    def options(
        self,
        requests: tuple[Request, ...] = (),
        *,
        names: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        strict: bool = False,
    ) -> Options:
        """Return the options as recorded, with the project's overrides; `requests` default to the kept documents.

        `names` are kept by operation: those that the record has pinned unless given; `ids` are the operationIds then.
        """
        overrides = self.folder / OVERRIDES
        recorded = read_options(self.recorded_options)
        if recorded["parts"] is None:  # an earlier aqlgen knew no parts, and wrote the files of most
            recorded["parts"] = tuple(sorted({part_of(path, self.package) for path in self.recorded} - {""}))
        return Options(
            requests or tuple(map(self.request, self.documents())),
            overrides=overrides if overrides.is_file() else None,
            strict=strict,
            stale="report",
            ids=ids if ids is not None else self.operation_ids() if names else {},
            **recorded | ({} if names is None else {"names": names}),
        )

    def names(self, files: Mapping[str, bytes] | None = None) -> dict[str, str]:
        """Return the name of every operation of the table by `METHOD /path`, and of those that are gone or pinned.

        The table is that in the folder unless `files` has it, by the paths in the project. Raises FileError.
        """
        recorded = read_options(self.recorded_options)
        retired = {key: name for name, key in recorded["retired"].items()}
        return {**retired, **recorded["names"], **{key: name for key, name, _ in self._rows(files)}}

    def operation_ids(self, files: Mapping[str, bytes] | None = None) -> dict[str, str]:
        """Return the operationId of every operation of the table that has one, by `METHOD /path`."""
        return {key: operation_id for key, _, operation_id in self._rows(files) if isinstance(operation_id, str)}

    def _rows(self, files: Mapping[str, bytes] | None) -> Iterator[tuple[str, str, Json]]:
        """Yield `METHOD /path`, name and operationId of every row of the table. Raises FileError."""
        for family in FAMILIES:
            place, content = self._content(f"operations/{family}.json", files)
            for name, row in ({} if content is None else read_json(place, content)).items():
                if isinstance(row, dict):
                    method, path, operation_id, api = values_of(row, ("method", "path", "operation_id", "api"))
                    if isinstance(method, str) and isinstance(path, str) and isinstance(api, str):
                        yield f"{api}:{method} {path}" if api else f"{method} {path}", name, operation_id

    def _accepted(self) -> Accepted | None:
        """Return the accepted origins of a project without a record of them: those that its table names."""
        _, content = self._content("adapter.json", None)
        try:
            return None if content is None else accepted_of(Adapter.of(json.loads(content)))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def _content(self, name: str, files: Mapping[str, bytes] | None) -> tuple[Path, bytes | None]:
        """Return the place of a file of the table, and its content, from `files` if they are given."""
        path = f"src/{self.package}/{name}"
        place = self.folder / path
        if files is not None:
            return place, files.get(path)
        return place, place.read_bytes() if place.is_file() else None
