"""What a reference means: the file and place that it leads to, by address, `$id`, anchor or pointer.

The specification comes first (RFC 3986; OpenAPI 3.1.1, 4.6; JSON Schema 2020-12, 8). Where it leads nowhere, what
people mean who write such references: the file beside the one that holds it, the root document, the schema around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.link.files import File, file_of, joined
from aqlgen.document.positions import escape, split
from aqlgen.document.read import Library, NotRead, Source
from aqlgen.ir import Json

_HOPS = 40
"""How many references may lead to one another on the way to a place."""

_MOST_LOOKS = 100_000
"""How often to look in the schemas around a reference, in one document."""


class Spot(NamedTuple):
    """A place in a file, and what stands there."""

    file: File
    pointer: str
    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a reference leads nowhere."""

    code: str
    message: str
    help: str = ""
    cause: AqlgenError | None = None


class References:
    """Resolves references of a document and its files; reads a file when one first leads there."""

    def __init__(self, source: Source, library: Library) -> None:
        self.root = file_of(library.address, source, main=True)
        self.files: dict[str, File] = {library.address: self.root}
        self._library = library
        self._named: dict[str, tuple[File, str]] = {}
        self._found: dict[tuple[str, str, str], Spot | Failure] = {}
        self._hops = 0
        self._looks = 0
        self._register(self.root)

    def resolve(self, reference: str, file: File, pointer: str) -> Spot | Failure:
        """Give what a reference in `file` at `pointer` leads to."""
        resource = file.resource(pointer)
        key = (file.address, resource, reference)
        found = self._found.get(key)
        if found is None:
            if self._hops > _HOPS:
                return _nowhere(reference)
            self._hops += 1
            try:
                found = self._found[key] = self._resolve(reference, file, resource)
            finally:
                self._hops -= 1
        if isinstance(found, Failure) and reference.startswith(("#/$defs/", "#/definitions/")):
            return self._around(reference, file, pointer) or found
        return found

    def at(self, address: str, pointer: str) -> Spot | Failure:
        """Give what stands at a pointer of a file that was read."""
        return self._descend(self.files[address], pointer) or _nowhere(pointer)

    def settle(self, spot: Spot) -> Spot:
        """Follow bare references (nothing beside `$ref`) outside the root document to where they end."""
        seen = {(spot.file.address, spot.pointer)}
        here = spot
        while len(seen) < _HOPS and here.file is not self.root and is_bare(here.value):
            found = self.resolve(here.value["$ref"], here.file, here.pointer)
            if not isinstance(found, Spot):
                return here
            if (found.file.address, found.pointer) in seen:
                return spot
            seen.add((found.file.address, found.pointer))
            here = found
        return here

    def text(self, reference: str, file: File, pointer: str) -> str | Failure:
        """Give the text that a reference leads to: a whole file, or a string in a document."""
        uri, _, fragment = reference.partition("#")
        if uri and not fragment:
            try:
                return self._library.text(self._library.find(file.address, uri))
            except NotRead as refusal:
                return _failure(refusal)
        found = self.resolve(reference, file, pointer)
        if isinstance(found, Failure):
            return found
        return found.value if isinstance(found.value, str) else _nowhere(reference)

    def _resolve(self, reference: str, file: File, resource: str) -> Spot | Failure:
        uri, _, fragment = reference.partition("#")
        if uri:
            holder = self._holder(uri, file, resource)
            if isinstance(holder, Failure):
                return holder
            return self._within(*holder, fragment) or _nowhere(reference)
        for holder in ((file, resource), (file, ""), (self.root, "")):
            if found := self._within(*holder, fragment):
                return found
        return _nowhere(reference)

    def _holder(self, uri: str, file: File, resource: str) -> tuple[File, str] | Failure:
        """Give the resource that a URI names: one with that `$id` or `$self`, or else a file."""
        full = joined(file.resources.get(resource, file.uri), uri)
        if named := self._named.get(full):
            return named
        try:
            return self._file(self._library.find(file.address, self._relative(full, uri))), ""
        except NotRead as refusal:
            failure = _failure(refusal)
        return self._named.get(full) or failure

    def _relative(self, full: str, uri: str) -> str:
        """Give the path from the root document of what lies below its own `$self` or `$id`; others as written."""
        own = self.root.resources.get("")
        folder = own.rpartition("/")[0] + "/" if own and "://" in own else ""
        return full.removeprefix(folder) if folder and "://" in uri and full.startswith(folder) else uri

    def _file(self, address: str) -> File:
        file = self.files.get(address)
        if file is None:
            file = self.files[address] = file_of(address, self._library.open(address), main=False)
            self._register(file)
        return file

    def _register(self, file: File) -> None:
        for pointer, uri in file.resources.items():
            self._named.setdefault(uri, (file, pointer))

    def _within(self, file: File, resource: str, fragment: str) -> Spot | None:
        if file is self.root and not resource and not fragment:
            return None  # the whole document is no part of itself
        if not fragment or fragment.startswith("/"):
            return self._descend(file, resource + fragment)
        name = unquote(fragment)
        place = file.anchors.get((resource, name)) or file.names.get(name)
        return self._descend(file, f"/{fragment}" if place is None else place)

    def _descend(self, file: File, pointer: str) -> Spot | None:
        """Follow a pointer; where it leads through a reference, through what that leads to."""
        node, here, hops = file.root, "", 0
        for part in split(pointer):
            while isinstance(node, dict) and part not in node and isinstance(node.get("$ref"), str):
                if unquote(part) in node:
                    break
                hops += 1
                found = self.resolve(node["$ref"], file, here)
                if not isinstance(found, Spot) or hops > _HOPS:
                    return None
                file, here, node = found
            if isinstance(node, dict):
                key = part if part in node else unquote(part)
                if key not in node:
                    return None
                node, here = node[key], f"{here}/{escape(key)}"
            elif isinstance(node, list) and part.isdecimal() and len(part) < 10 and int(part) < len(node):
                node, here = node[int(part)], f"{here}/{int(part)}"
            else:
                return None
        return Spot(file, here, node)

    def _around(self, reference: str, file: File, pointer: str) -> Spot | None:
        """Look in the schemas around for definitions that were written as if the nearest were the whole document."""
        while pointer and self._looks < _MOST_LOOKS:
            self._looks += 1
            pointer = pointer.rpartition("/")[0]
            if found := self._descend(file, pointer + reference[1:]):
                return found
        return None


def is_bare(value: Json) -> bool:
    """Whether a value is a reference with nothing beside it."""
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get("$ref"), str)


def _nowhere(reference: str) -> Failure:
    return Failure("unresolved-reference", f"the reference {reference!r} leads nowhere")


def _failure(refusal: NotRead) -> Failure:
    return Failure(refusal.code, str(refusal), refusal.help, refusal.cause)
