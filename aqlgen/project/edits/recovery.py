"""One recovery of hand edits: rows as generated and as edited, the overrides between them, and the proof of those."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from aqlgen.decide.overrides import parse
from aqlgen.diagnostics import Diagnostic
from aqlgen.errors import OptionError
from aqlgen.ir import Json
from aqlgen.project import Project
from aqlgen.project.edits.deriving import Difference, entry, leftovers
from aqlgen.project.edits.insertion import InsertionError, insert
from aqlgen.project.edits.intent import Equality, Intent, intent
from aqlgen.project.edits.refusals import paste, refused, unknown, whole
from aqlgen.project.edits.rows import Found, RowError, operations_file, pointer, rows
from aqlgen.project.edits.trial import Trial
from aqlgen.project.edits.yaml_values import flow
from aqlgen.render.provenance import file_hash
from aqlgen.table.model import FAMILIES

__all__ = ["Recovered", "Recovery"]

Entries = dict[str, dict[str, Json]]

_ROUNDS: Final = 3
"""How often overrides are completed: one of the category may ask for another that keeps the danger as it was."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of the edits: the overrides that they come to, and those that are refused."""

    entries: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Overrides by `METHOD /path`, without what the file says already."""
    overrides: bytes | None = None
    """The whole new overrides.yaml; None when it stays as it is."""
    refused: tuple[Diagnostic, ...] = ()


class Recovery:
    """Holds what is known of the edited files; `run` does the work."""

    def __init__(
        self,
        project: Project,
        edited: Mapping[str, bytes],
        pristine: Mapping[str, bytes],
        progress: Callable[[str], None],
    ) -> None:
        self._project, self._edited, self._package = project, edited, project.package
        self._pristine = dict(pristine)
        self._tables = [operations_file(project.package, family) for family in FAMILIES]
        self._trial = Trial(project, progress)
        self._refused: list[Diagnostic] = []

    def run(self) -> Recovered:
        """Recover what can be. Raises AqlgenError when what the project keeps cannot be used."""
        if any(path.startswith("openapi/") for path in self._edited):  # nothing can be generated again of such
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
        names = {key: one.name for key, one in before.items()}
        today = generated or self._trial.files({}, names)
        base = rows(today, self._package)
        wanted = intent(before, after, base)
        self._refused.extend(
            self._at(after[key], (), f"the document has no operation {key}") for key in after if key not in before
        )
        entries, files = self._derived(wanted, base, names, today)
        if files is not None:
            types = f"src/{self._package}/types.json"
            same = Equality(today[types], files[types])
            bad = set(self._unproven(wanted, base, rows(files, self._package), after, entries, same))
            entries = {key: one for key, one in entries.items() if key not in bad}
            renamed = {one.name: after[key].name for key, one in before.items() if key in after}
            self._refused.extend(self._others(files, renamed))
        text = insert(self._trial.text, entries).encode("utf-8") if entries else None
        return Recovered(entries, text, tuple(sorted(self._refused, key=lambda one: (one.file, one.line, one.column))))

    def _complete(self) -> dict[str, bytes]:
        """Generate again what is not known, and give the files where that was done."""
        missing = [path for path in self._edited if path not in self._pristine]
        if not missing:
            return {}
        found = self._trial.files({}, None)
        for path in missing:
            if path in found and file_hash(found[path]) == self._project.recorded.get(path):
                self._pristine[path] = found[path]
        return found if all(path in self._pristine for path in missing if path in self._tables) else {}

    def _files(self, given: Mapping[str, bytes]) -> dict[str, bytes]:
        """Give the tables' files as given where they are edited, the others as they lie in the project."""
        found = {}
        for path in self._tables:
            lies = self._project.placed(path)
            if path in self._edited:
                found[path] = given[path]
            elif lies.is_file():
                found[path] = lies.read_bytes()
        return found

    def _derived(
        self, wanted: Intent, base: Mapping[str, Found], names: Mapping[str, str], today: dict[str, bytes]
    ) -> tuple[Entries, dict[str, bytes] | None]:
        """Give the overrides that the edits come to, and the files that they bring about: None where they do not."""
        entries: Entries = {}
        current, files = base, today
        for _ in range(_ROUNDS):
            more = {
                key: found
                for key, goal in wanted.rows.items()
                if (found := entry(current.get(key), goal, self._trial.own.get(key), wanted.touched[key]))
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
        wanted: Intent,
        base: Mapping[str, Found],
        found: Mapping[str, Found],
        after: Mapping[str, Found],
        entries: Entries,
        same: Equality,
    ) -> Iterator[str]:
        """Refuse what does not come out as the user wrote it, and give the keys of those operations."""
        for key in dict.fromkeys((*base, *found)):
            own = key in wanted.rows
            goal = wanted.rows[key] if own else base.get(key)
            if not own and found.get(key) == goal:
                continue
            left = leftovers(found.get(key), goal, wanted.touched.get(key, frozenset()), same)
            if "category" in entries.get(key, ()) and any(one.at[:1] == ("parameters",) for one in left):
                left = [Difference((), "moved there it takes other parameters, since its body is sent in another way")]
            for difference in left:
                if own:
                    yield key
                row = after.get(key) or found.get(key) or base[key]
                message = difference.message if own else "another operation was given its name, or changes it"
                self._refused.append(self._at(row, difference.at, f"`{row.name}`: {message}", _said(key, entries)))

    def _others(self, files: Mapping[str, bytes], renamed: Mapping[str, str]) -> Iterator[Diagnostic]:
        """Refuse edits of files that only show the table, unless they show what it will be."""
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
        lies = self._project.placed(path)
        return lies.read_text(encoding="utf-8", errors="replace") if lies.is_file() else "{}"

    def _broken(self, error: RowError) -> Diagnostic:
        text = self._text(error.path)
        return refused(error.path, text, self._package, str(error), pointer=error.at, offset=error.offset)

    def _paste(self, key: str, entries: Entries) -> Diagnostic:
        path = next(iter(sorted(self._edited)))
        shown = {key: entries[key]} if key in entries else entries
        why = "the edits are overrides, which cannot be put into overrides.yaml as it is laid out"
        return paste(path, self._text(path), "", shown, why)

    def _impossible(self, error: OptionError, entries: Entries) -> Iterator[Diagnostic]:
        """Say of overrides that cannot be why, at the file that was edited."""
        places = {one.place: key for key, one in parse(insert(self._trial.text, entries)).entries.items()}
        path = next(path for path in sorted(self._edited) if path in self._tables)
        for one in error.diagnostics:
            before = [place for place in places if place <= (one.line, one.column)]
            key = places[max(before)] if before else ""
            about = f"{key}: {one.message}" if key else one.message
            yield refused(path, self._text(path), self._package, about)


def _said(key: str, entries: Entries) -> str:
    """Show what overrides can say of an operation, for a user who wants just that."""
    return f"As far as overrides can say it: {flow(key)}: {flow(entries[key])}." if key in entries else ""


def _together(one: Mapping[str, Mapping[str, Json]], other: Mapping[str, Mapping[str, Json]]) -> Entries:
    """Put overrides together, the later over the earlier, parameter by parameter."""
    found = {key: dict(value) for key, value in one.items()}
    for key, value in other.items():
        own = found.setdefault(key, {})
        parameters = {**own.get("parameters", {})}
        for name, given in value.get("parameters", {}).items():
            parameters[name] = {**parameters.get(name, {}), **given}
        own |= value
        if parameters:
            own["parameters"] = parameters
    return found


def _renamed(content: bytes, names: Mapping[str, str]) -> bytes:
    """Put new names into a text."""
    every = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    text = content.decode("utf-8", "surrogateescape")
    return re.sub(rf"\b(?:{every})\b", lambda found: names[found[0]], text).encode("utf-8", "surrogateescape")
