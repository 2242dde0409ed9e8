"""The targets of references: file and pointer (RFC 3986; OpenAPI 3.1.1, 4.6).

Where the specification leads nowhere, the resolver tries what people mean by such references: the root document, and
the schema around the reference. Schemas are not found by `$id` and anchors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.positions import escape, split
from aqlgen.document.read import Library, NotRead, Source
from aqlgen.ir import Json, Origin

_HOPS = 40
"""How many references may follow one another on the way to a target."""

_MOST_LOOKS = 100_000
"""How often the enclosing schemas of a reference are searched, in one document."""


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """One file. `label` is its name in origins, "" for the root document."""

    address: str
    source: Source
    label: str

    @property
    def root(self) -> Json:
        """The parsed tree of the file."""
        return self.source.root

    def origin(self, pointer: str) -> Origin:
        """Return the origin of the value at a pointer."""
        return Origin(pointer, self.label)


class Target(NamedTuple):
    """The target of a reference: file, pointer and value."""

    file: File
    pointer: str
    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a reference leads nowhere."""

    code: str
    message: str
    help: str = ""
    cause: AqlgenError | None = None


class References:
    """A resolver for the references of a document and its files, which reads a file when first needed."""

    def __init__(self, source: Source, library: Library) -> None:
        self.root = File(library.address, source, "")
        self.files: dict[str, File] = {library.address: self.root}
        self._library = library
        self._found: dict[tuple[str, str], Target | Failure] = {}
        self._hops = 0
        self._looks = 0

    def resolve(self, reference: str, file: File, pointer: str) -> Target | Failure:
        """Return the target of a reference in `file` at `pointer`."""
        key = (file.address, reference)
        target = self._found.get(key)
        if target is None:
            if self._hops > _HOPS:
                return _nowhere(reference)
            self._hops += 1
            try:
                target = self._found[key] = self._resolve(reference, file)
            finally:
                self._hops -= 1
        if isinstance(target, Failure) and reference.startswith(("#/$defs/", "#/definitions/")):
            return self._in_enclosing_schemas(reference, file, pointer) or target
        return target

    def final_target(self, start: Target) -> Target:
        """Follow bare references (only `$ref`) outside the root document to their last target."""
        seen = {(start.file.address, start.pointer)}
        current = start
        while len(seen) < _HOPS and current.file is not self.root and is_bare(current.value):
            target = self.resolve(current.value["$ref"], current.file, current.pointer)
            if not isinstance(target, Target):
                return current
            if (target.file.address, target.pointer) in seen:
                return start
            seen.add((target.file.address, target.pointer))
            current = target
        return current

    def _resolve(self, reference: str, file: File) -> Target | Failure:
        uri, _, fragment = reference.partition("#")
        if uri:
            try:
                holders = [self._file(self._library.find(file.address, uri))]
            except NotRead as refusal:
                return Failure(refusal.code, str(refusal), refusal.help, refusal.cause)
        else:
            holders = [file, self.root]
        for holder in holders:
            if holder is self.root and not fragment:
                continue  # the whole document cannot be its own part
            pointer = fragment if fragment.startswith("/") or not fragment else f"/{fragment}"
            if target := self._descend(holder, pointer):
                return target
        return _nowhere(reference)

    def _file(self, address: str) -> File:
        file = self.files.get(address)
        if file is None:
            source = self._library.open(address)
            file = self.files[address] = File(address, source, source.name)
        return file

    def _descend(self, file: File, pointer: str) -> Target | None:
        """Follow a pointer; where it passes a reference, go on in the target of that."""
        node, here, hops = file.root, "", 0
        for part in split(pointer):
            while isinstance(node, dict) and part not in node and isinstance(node.get("$ref"), str):
                if unquote(part) in node:
                    break
                hops += 1
                target = self.resolve(node["$ref"], file, here)
                if not isinstance(target, Target) or hops > _HOPS:
                    return None
                file, here, node = target
            if isinstance(node, dict):
                key = part if part in node else unquote(part)
                if key not in node:
                    return None
                node, here = node[key], f"{here}/{escape(key)}"
            elif isinstance(node, list) and part.isdecimal() and len(part) < 10 and int(part) < len(node):
                node, here = node[int(part)], f"{here}/{int(part)}"
            else:
                return None
        return Target(file, here, node)

    def _in_enclosing_schemas(self, reference: str, file: File, pointer: str) -> Target | None:
        """Look for the definition in the enclosing schemas, as if each were the whole document."""
        while pointer and self._looks < _MOST_LOOKS:
            self._looks += 1
            pointer = pointer.rpartition("/")[0]
            if target := self._descend(file, pointer + reference[1:]):
                return target
        return None


def is_bare(value: Json) -> bool:
    """Return True if a value is a reference with no other member."""
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get("$ref"), str)


def _nowhere(reference: str) -> Failure:
    return Failure("unresolved-reference", f"the reference {reference!r} leads nowhere")
