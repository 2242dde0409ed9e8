"""Recovering hand edits of a table: the overrides that turn generated rows into edited ones, and their proof.

The proof is a trial: the project's table, generated again with overrides added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from aqlgen.decide.decision import Override
from aqlgen.decide.overrides import load, parse
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.ir import Json
from aqlgen.pipeline import Prepared, prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.edits.deriving import Difference, entry, leftovers
from aqlgen.project.edits.insertion import InsertionError, flow, insert
from aqlgen.project.edits.refusals import paste, refused, unknown, whole
from aqlgen.project.edits.rows import Equality, Found, Intent, RowError, intent, operations_file, pointer, rows
from aqlgen.project.generation import Regenerated, order_of
from aqlgen.render import Order, data, table_data
from aqlgen.render.provenance import file_hash
from aqlgen.table.model import FAMILIES

__all__ = ["Recovered", "Recovery"]


class Trial:
    """A project to try overrides on; `text` is its overrides file, `own` the overrides in it by `METHOD /path`.

    `prepared` is the last result, from which the next one goes on; `render` renders the files that are looked at.
    """

    def __init__(
        self,
        project: Project,
        progress: Callable[[str], None],
        generated: Regenerated | None,
        render: Callable[[Order], dict[str, bytes]],
    ) -> None:
        self._project, self._generated, self._progress = project, generated, progress
        self.prepared: Prepared | None = generated.prepared if generated else None
        self._render = render
        path = project.folder / OVERRIDES
        try:
            self.text = path.read_bytes().decode("utf-8") if path.is_file() else ""
        except OSError as error:
            raise FileError.of("file-unreadable", f"{path} cannot be read", file=str(path)) from error
        except UnicodeDecodeError:
            load(path)  # raises with the position
            raise
        self.own: Mapping[str, Override] = parse(self.text.removeprefix("\ufeff"), str(path)).entries

    def files(self, entries: Mapping[str, Mapping[str, Json]], names: Mapping[str, str] | None) -> dict[str, bytes]:
        """Return the files rendered. `names` are kept by operation: the recorded ones unless given.

        Raises AqlgenError, and InsertionError when the entries cannot be added to the user's file.
        """
        if self._generated and not entries and names is None:
            return dict(self._generated.tree)
        options = self._project.options(names=names)
        if entries:
            text = insert(self.text, entries).encode("utf-8")
            options = replace(options, overrides=self._project.folder / OVERRIDES, overrides_text=text)
        self.prepared = prepare(options, self._progress, self.prepared)
        return self._render(order_of(options, self.prepared, self._project.license))


Entries = dict[str, dict[str, Json]]

_ROUNDS: Final = 3
"""How often overrides are completed: that of a category may need another that keeps the danger as it was."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The result for the edits: the overrides that express them, and the refusals of the others."""

    entries: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Overrides by `METHOD /path`, without those in the file."""
    overrides: bytes | None = None
    """The whole new overrides.yaml; None when it stays as it is."""
    refused: tuple[Diagnostic, ...] = ()
    prepared: Prepared | None = field(default=None, compare=False, repr=False)
    """The project as it was prepared last, with these overrides if they are possible."""


class Recovery:
    """A recovery of edited files, started by `run`.

    `generated` is what is generated today by the project's options, where that is known.
    """

    def __init__(
        self,
        project: Project,
        edited: Mapping[str, bytes],
        pristine: Mapping[str, bytes],
        progress: Callable[[str], None],
        generated: Regenerated | None = None,
    ) -> None:
        self._project, self._edited, self._package = project, edited, project.package
        self._pristine = dict(pristine)
        self._tables = [operations_file(project.package, family) for family in FAMILIES]
        is_table_only = set(edited) <= set(self._tables)
        self._trial = Trial(project, progress, generated, table_data if is_table_only else data)
        self._refused: list[Diagnostic] = []

    def run(self) -> Recovered:
        """Recover the edits. Raises AqlgenError when the project's document or overrides cannot be used."""
        # Nothing can be generated again from an edited document.
        if any(path.startswith("openapi/") for path in self._edited):
            return Recovered(refused=tuple(self._whole(path) for path in sorted(self._edited)))
        generated = self._complete()
        lost = [path for path in self._edited if path in self._tables and path not in self._pristine]
        if lost:
            version = self._project.version
            refusals = (unknown(path, version) if path in lost else self._whole(path) for path in sorted(self._edited))
            return Recovered(refused=tuple(refusals))
        try:
            after = rows(self._files(self._edited), self._package)
        except RowError as error:
            return Recovered(refused=(self._broken(error),))
        before = rows(self._files(self._pristine), self._package)
        names = {key: row.name for key, row in before.items()}
        today = generated or self._trial.files({}, names)
        base = rows(today, self._package)
        intended = intent(before, after, base)
        self._refused.extend(
            self._at(after[key], (), f"the document has no operation {key}") for key in after if key not in before
        )
        entries, files = self._derived(intended, base, names, today)
        if files is not None:
            types = f"src/{self._package}/types.json"
            same = Equality(today[types], files[types])
            unproven = set(self._unproven(intended, base, rows(files, self._package), after, entries, same))
            entries = {key: entry for key, entry in entries.items() if key not in unproven}
            renamed = {row.name: after[key].name for key, row in before.items() if key in after}
            self._refused.extend(self._others(files, renamed))
        text = insert(self._trial.text, entries).encode("utf-8") if entries else None
        refused = sorted(self._refused, key=lambda refusal: (refusal.file, refusal.line, refusal.column))
        return Recovered(entries, text, tuple(refused), self._trial.prepared)

    def _complete(self) -> dict[str, bytes]:
        """Generate the unknown content again; return the files if that was necessary and possible."""
        missing = [path for path in self._edited if path not in self._pristine]
        if not missing:
            return {}
        generated = self._trial.files({}, None)
        for path in missing:
            if path in generated and file_hash(generated[path]) == self._project.recorded.get(path):
                self._pristine[path] = generated[path]
        return generated if all(path in self._pristine for path in missing if path in self._tables) else {}

    def _files(self, contents: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the tables' files: the edited ones from `contents`, the others from the project."""
        files = {}
        for path in self._tables:
            place = self._project.placed(path)
            if path in self._edited:
                files[path] = contents[path]
            elif place.is_file():
                files[path] = place.read_bytes()
        return files

    def _derived(
        self, intended: Intent, base: Mapping[str, Found], names: Mapping[str, str], today: dict[str, bytes]
    ) -> tuple[Entries, dict[str, bytes] | None]:
        """Return the overrides that express the edits, and the files that come of them, None if they cannot be used."""
        entries: Entries = {}
        current, files = base, today
        for _ in range(_ROUNDS):
            more = {
                key: override
                for key, goal in intended.rows.items()
                if (override := entry(current.get(key), goal, self._trial.own.get(key), intended.touched[key]))
            }
            grown = _together(entries, more)
            if grown == entries:
                break
            entries = grown
            try:
                files = self._trial.files(entries, names)
            except InsertionError as error:
                self._refused.append(self._paste(str(error), entries))
                return {}, None
            except OptionError as error:
                self._refused.extend(self._impossible(error, entries))
                return {}, None
            current = rows(files, self._package)
        return entries, files

    def _unproven(
        self,
        intended: Intent,
        base: Mapping[str, Found],
        actual: Mapping[str, Found],
        after: Mapping[str, Found],
        entries: Entries,
        same: Equality,
    ) -> Iterator[str]:
        """Refuse what does not come out as the user wrote it, and yield the keys of those operations."""
        for key in dict.fromkeys((*base, *actual)):
            edited = key in intended.rows
            goal = intended.rows[key] if edited else base.get(key)
            if not edited and actual.get(key) == goal:
                continue
            differences = leftovers(actual.get(key), goal, intended.touched.get(key, frozenset()), same)
            about_parameters = any(difference.at[:1] == ("parameters",) for difference in differences)
            if about_parameters and "category" in entries.get(key, ()):
                message = "moved there it takes other parameters, since its body is sent in another way"
                differences = [Difference((), message)]
            for difference in differences:
                if edited:
                    yield key
                row = after.get(key) or actual.get(key) or base[key]
                message = difference.message if edited else "another operation was given its name, or changes it"
                self._refused.append(self._at(row, difference.at, f"`{row.name}`: {message}", _hint(key, entries)))

    def _others(self, files: Mapping[str, bytes], renamed: Mapping[str, str]) -> Iterator[Diagnostic]:
        """Refuse edits of files that only show the table, unless they show the table to come."""
        changed = {old: new for old, new in renamed.items() if old != new}
        for path, content in self._edited.items():
            if path in self._tables or content == files.get(path):
                continue
            before = self._pristine.get(path)
            if before is None or not changed or _renamed(before, changed) != content:
                yield self._whole(path)

    def _whole(self, path: str) -> Diagnostic:
        return whole(path, self._edited[path], self._pristine.get(path), self._package)

    def _at(self, row: Found, at: tuple[str, ...], message: str, hint: str = "") -> Diagnostic:
        path = operations_file(self._package, row.family)
        return refused(path, self._text(path), self._package, message, pointer=pointer(row, *at), hint=hint)

    def _text(self, path: str) -> str:
        if path in self._edited:
            return self._edited[path].decode("utf-8", "replace")
        place = self._project.placed(path)
        return place.read_text(encoding="utf-8", errors="replace") if place.is_file() else "{}"

    def _broken(self, error: RowError) -> Diagnostic:
        text = self._text(error.path)
        return refused(error.path, text, self._package, str(error), pointer=error.at, offset=error.offset)

    def _paste(self, key: str, entries: Entries) -> Diagnostic:
        path = next(iter(sorted(self._edited)))
        shown = {key: entries[key]} if key in entries else entries
        why = "the edits are overrides, which cannot be put into overrides.yaml as it is laid out"
        return paste(path, self._text(path), "", shown, why)

    def _impossible(self, error: OptionError, entries: Entries) -> Iterator[Diagnostic]:
        """Refuse overrides that are not possible, at the file that was edited."""
        overrides = parse(insert(self._trial.text, entries)).entries
        places = {override.place: key for key, override in overrides.items()}
        path = next(path for path in sorted(self._edited) if path in self._tables)
        for finding in error.diagnostics:
            before = [place for place in places if place <= (finding.line, finding.column)]
            key = places[max(before)] if before else ""
            about = f"{key}: {finding.message}" if key else finding.message
            yield refused(path, self._text(path), self._package, about)


def _hint(key: str, entries: Entries) -> str:
    """Return the overrides of an operation as text, for a user who is content with them."""
    return f"As far as overrides can say it: {flow(key)}: {flow(entries[key])}." if key in entries else ""


def _together(earlier: Mapping[str, Mapping[str, Json]], later: Mapping[str, Mapping[str, Json]]) -> Entries:
    """Merge overrides, the later over the earlier, parameter by parameter."""
    merged = {key: dict(value) for key, value in earlier.items()}
    for key, value in later.items():
        override = merged.setdefault(key, {})
        parameters = {**override.get("parameters", {})}
        for name, members in value.get("parameters", {}).items():
            parameters[name] = {**parameters.get(name, {}), **members}
        override |= value
        if parameters:
            override["parameters"] = parameters
    return merged


def _renamed(content: bytes, names: Mapping[str, str]) -> bytes:
    """Replace names in a text."""
    pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    text = content.decode("utf-8", "surrogateescape")
    return re.sub(rf"\b(?:{pattern})\b", lambda match: names[match[0]], text).encode("utf-8", "surrogateescape")
