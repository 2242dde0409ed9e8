"""The targets of references: file and pointer, found by address, `$id`, anchor or pointer.

The specification comes first (RFC 3986; OpenAPI 3.1.1, 4.6; JSON Schema 2020-12, 8). Where it leads nowhere, the
resolver tries what people mean by such references: a file beside the referring one, the root document, the schema
around the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.link.files import File, index_file, resolve_uri
from aqlgen.document.positions import escape, split
from aqlgen.document.read import Library, NotRead, Source
from aqlgen.ir import Json

_HOPS = 40
"""How many references may follow one another on the way to a target."""

_MOST_LOOKS = 100_000
"""How often the enclosing schemas of a reference are searched, in one document."""


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
        self.root = index_file(library.address, source, main=True)
        self.files: dict[str, File] = {library.address: self.root}
        self._library = library
        self._named: dict[str, tuple[File, str]] = {}
        self._found: dict[tuple[str, str, str], Target | Failure] = {}
        self._hops = 0
        self._looks = 0
        self._register(self.root)

    def resolve(self, reference: str, file: File, pointer: str) -> Target | Failure:
        """Return the target of a reference in `file` at `pointer`."""
        resource = file.resource(pointer)
        key = (file.address, resource, reference)
        target = self._found.get(key)
        if target is None:
            if self._hops > _HOPS:
                return _nowhere(reference)
            self._hops += 1
            try:
                target = self._found[key] = self._resolve(reference, file, resource)
            finally:
                self._hops -= 1
        if isinstance(target, Failure) and reference.startswith(("#/$defs/", "#/definitions/")):
            return self._in_enclosing_schemas(reference, file, pointer) or target
        return target

    def at(self, address: str, pointer: str) -> Target | Failure:
        """Return the target at a pointer of a file that was read."""
        return self._descend(self.files[address], pointer) or _nowhere(pointer)

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

    def text(self, reference: str, file: File, pointer: str) -> str | Failure:
        """Return the text that a reference leads to: a whole file, or a string in a document."""
        uri, _, fragment = reference.partition("#")
        if uri and not fragment:
            try:
                return self._library.text(self._library.find(file.address, uri))
            except NotRead as refusal:
                return _failure(refusal)
        target = self.resolve(reference, file, pointer)
        if isinstance(target, Failure):
            return target
        return target.value if isinstance(target.value, str) else _nowhere(reference)

    def _resolve(self, reference: str, file: File, resource: str) -> Target | Failure:
        uri, _, fragment = reference.partition("#")
        if uri:
            holder = self._holder(uri, file, resource)
            if isinstance(holder, Failure):
                return holder
            return self._in_resource(*holder, fragment) or _nowhere(reference)
        for holder in ((file, resource), (file, ""), (self.root, "")):
            if target := self._in_resource(*holder, fragment):
                return target
        return _nowhere(reference)

    def _holder(self, uri: str, file: File, resource: str) -> tuple[File, str] | Failure:
        """Return the resource with this URI: one with that `$id` or `$self`, else a file."""
        full = resolve_uri(file.resources.get(resource, file.uri), uri)
        if named := self._named.get(full):
            return named
        try:
            return self._file(self._library.find(file.address, self._relative(full, uri))), ""
        except NotRead as refusal:
            failure = _failure(refusal)
        return self._named.get(full) or failure

    def _relative(self, full: str, uri: str) -> str:
        """Return a path relative to the root document for a URI below its `$self` or `$id`; others as written."""
        root_uri = self.root.resources.get("")
        folder = root_uri.rpartition("/")[0] + "/" if root_uri and "://" in root_uri else ""
        return full.removeprefix(folder) if folder and "://" in uri and full.startswith(folder) else uri

    def _file(self, address: str) -> File:
        file = self.files.get(address)
        if file is None:
            file = self.files[address] = index_file(address, self._library.open(address), main=False)
            self._register(file)
        return file

    def _register(self, file: File) -> None:
        for pointer, uri in file.resources.items():
            self._named.setdefault(uri, (file, pointer))

    def _in_resource(self, file: File, resource: str, fragment: str) -> Target | None:
        if file is self.root and not resource and not fragment:
            return None  # the whole document cannot be a part of itself
        if not fragment or fragment.startswith("/"):
            return self._descend(file, resource + fragment)
        name = unquote(fragment)
        place = file.anchors.get((resource, name)) or file.names.get(name)
        return self._descend(file, f"/{fragment}" if place is None else place)

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


def _failure(refusal: NotRead) -> Failure:
    return Failure(refusal.code, str(refusal), refusal.help, refusal.cause)
