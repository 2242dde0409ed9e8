"""The surface of an adapter for agents: its operations, their types, and the settings of all of them.

Operations of two surfaces are paired by method and path first, by their names last.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from aqlgen.decide.decision import Danger
from aqlgen.diagnostics.errors import FileError
from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import without_names
from aqlgen.runtime.table import WORKFLOWS, Adapter, Row, Workflow, decode, row_of, scheme_of
from aqlgen.table.adapter import with_api
from aqlgen.table.model import FAMILIES, Schema, Table, require_format

Operation: TypeAlias = Row
"""An agent sees an operation as its row of the table."""


@dataclass(frozen=True, slots=True)
class Surface:
    """An adapter as an agent sees it. Operations and workflows by name."""

    operations: Mapping[str, Operation]
    types: Mapping[str, Schema]
    adapter: Adapter
    workflows: Mapping[str, Workflow] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version that the API's document gives itself."""
        return self.adapter.api_version


def surface_of_table(table: Table) -> Surface:
    """Return the surface of a table, as an agent sees it."""
    return _surface((decided.row for decided in table.rows), table.types, table.adapter, table.workflows)


def surface_of_folder(files: Mapping[str, bytes], package: str) -> Surface:
    """Return the surface of a project, from its files by their path in it. Raises FileError."""
    place = f"src/{package}"
    adapter = _adapter(files, f"{place}/adapter.json")
    operations = [row for family in FAMILIES for row in _rows(files, f"{place}/operations/{family}.json", family)]
    workflows = _workflows(files, f"{place}/{WORKFLOWS}")
    return _surface(operations, _data(files, f"{place}/types.json"), adapter, workflows)


def aligned(surface: Surface, other: Surface) -> Surface:
    """Return an adapter of one API with operations and credentials under its name in the other, if that has several.

    It is the API of the other with most of its operations.
    """
    if surface.adapter.apis or not other.adapter.apis:
        return surface
    keys = {operation.key for operation in surface.operations.values()}
    alike = Counter(operation.api for operation in other.operations.values() if replace(operation, api="").key in keys)
    if not alike:
        return surface
    ((api, _),) = alike.most_common(1)
    operations = {
        name: replace(operation, api=api, security=with_api(operation.security, api))
        for name, operation in surface.operations.items()
    }
    schemes = {scheme_of(api, name): scheme for name, scheme in surface.adapter.security_schemes.items()}
    security = with_api(surface.adapter.security, api) or ()
    return replace(
        surface, operations=operations, adapter=replace(surface.adapter, security=security, security_schemes=schemes)
    )


def part_of(surface: Surface, api: str) -> Adapter:
    """Return the part of an adapter for an API: of an adapter of one API, whatever its name elsewhere, the whole."""
    return surface.adapter.of_api(api) if surface.adapter.apis else surface.adapter


def _surface(
    operations: Iterable[Operation], types: Mapping[str, Schema], adapter: Adapter, workflows: Iterable[Workflow]
) -> Surface:
    by_name = {operation.name: operation for operation in operations}
    return Surface(by_name, types, adapter, {workflow.name: workflow for workflow in workflows})


def _workflows(files: Mapping[str, bytes], path: str) -> Iterable[Workflow]:
    for name, entry in _data(files, path, needed=False).items():
        try:
            yield decode(Workflow, entry, name=name)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise _broken(path, f"has an invalid workflow: {name}") from None


def _adapter(files: Mapping[str, bytes], path: str) -> Adapter:
    entry = _data(files, path)
    require_format(entry, path)
    try:
        return Adapter.of(entry)
    except TypeError:
        raise _broken(path, "does not describe the adapter") from None


def _rows(files: Mapping[str, bytes], path: str, family: str) -> Iterable[Row]:
    for name, entry in _data(files, path, needed=False).items():
        kinds = {"method": str, "path": str, "danger": str, "parameters": dict, "responses": dict}
        if not isinstance(entry, dict) or any(not isinstance(entry.get(key), kind) for key, kind in kinds.items()):
            raise _broken(path, f"has an invalid operation: {name}")
        if entry["danger"] not in list(Danger):
            raise _broken(path, f"has an operation of no known danger: {name}")
        try:
            yield row_of(name, family, entry)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise _broken(path, f"has an invalid operation: {name}") from None


def _data(files: Mapping[str, bytes], path: str, *, needed: bool = True) -> dict[str, Json]:
    if path not in files and not needed:
        return {}
    try:
        content = json.loads(files[path])
    except KeyError:
        raise _broken(path, "is missing") from None
    except ValueError as error:
        raise _broken(path, f"is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise _broken(path, "is not a JSON object")
    return content


def _broken(path: str, why: str) -> FileError:
    return FileError.of(
        "not-a-project",
        f"{path} of the project {why}",
        help="`aqlgen update` restores it; to compare with an earlier state, name a git revision.",
        file=path,
    )


_VERSION: Final = re.compile(
    r"^(?:v\d+(?:[._-]\d+)*(?:(?:alpha|beta|rc)\d*)?|\d{4}-\d{2}(?:-\d{2})?|\d+\.\d+)$", re.IGNORECASE
)

Key = Callable[[Operation], str]
"""Returns what identifies an operation, or "" if it lacks that."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Operations that both adapters have, as (old, new), those that are gone, and those that are new."""

    kept: tuple[tuple[Operation, Operation], ...]
    by_name: frozenset[str]
    """The new names of the kept operations that nothing but their name pairs."""
    removed: tuple[Operation, ...]
    added: tuple[Operation, ...]


def pair(old: Surface, new: Surface) -> Pairing:
    """Pair the operations by one key after the other, the surest first; a key counts only where it is unique."""
    removed, added = dict(old.operations), dict(new.operations)
    kept: list[tuple[Operation, Operation]] = []
    by_name: set[str] = set()
    for key in _KEYS:
        before, after = _by_unique_key(removed.values(), key), _by_unique_key(added.values(), key)
        for value in before.keys() & after.keys():
            kept.append((before[value], after[value]))
            if key is _name:
                by_name.add(after[value].name)
            del removed[before[value].name], added[after[value].name]
    kept.sort(key=lambda operations: operations[1].name)
    return Pairing(tuple(kept), frozenset(by_name), tuple(removed.values()), tuple(added.values()))


def _by_unique_key(operations: Iterable[Operation], key: Key) -> dict[str, Operation]:
    """Return the operations by a key, without those whose key is empty or shared."""
    groups: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        groups[key(operation)].append(operation)
    return {value: group[0] for value, group in groups.items() if value and len(group) == 1}


def address(operation: Operation) -> str:
    """Return the method and the path, whatever the placeholders are called."""
    return without_names(operation.key)


def _address_without_slash(operation: Operation) -> str:
    return address(operation).rstrip("/")


def _address_without_version(operation: Operation) -> str:
    return "/".join(part for part in _address_without_slash(operation).split("/") if not _VERSION.match(part))


def _name(operation: Operation) -> str:
    """Return the name, method and tool of an operation: by its name alone it could be another one."""
    return f"{operation.name} {operation.method} {operation.family}"


_KEYS: Final[tuple[Key, ...]] = (
    lambda operation: operation.key,
    _address_without_slash,
    lambda operation: operation.operation_id or "",
    _address_without_version,
    _name,
)
