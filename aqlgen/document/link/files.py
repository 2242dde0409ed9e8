"""The files being linked, with the schemas in them that have addresses of their own (JSON Schema 2020-12, 8.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urldefrag, urljoin

from aqlgen.document.link.objects import DATA
from aqlgen.document.positions import escape
from aqlgen.document.read import Source
from aqlgen.ir import Json, Origin

_MARKS: Final = re.compile(r"\$(?:id|anchor|dynamicAnchor|dynamicRef|recursiveRef|self)\b")

_MOST_DYNAMIC: Final = 100
"""How many names a file may bind; each is looked at for each of its schemas."""


@dataclass(slots=True, eq=False)
class File:
    """One file. `label` is its name in origins, empty for the root document; `uri` what references are relative to.

    `resources` has the URI of each schema with `$id` by its pointer, `anchors` the pointers of names within a resource,
    `names` the first of each name. `dynamic` are those that `$dynamicRef` may choose, `recursive` those that
    `$recursiveRef` means. `marked` says whether there can be any of it.
    """

    address: str
    source: Source
    label: str
    uri: str
    marked: bool
    resources: dict[str, str] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    dynamic: dict[str, str] = field(default_factory=dict)
    recursive: set[str] = field(default_factory=set)

    @property
    def root(self) -> Json:
        """The file's tree."""
        return self.source.root

    def origin(self, pointer: str) -> Origin:
        """Give the origin of what stands at a pointer."""
        return Origin(pointer, self.label)

    def resource(self, pointer: str) -> str:
        """Give the pointer of the resource around a place: the nearest schema with `$id`, or the whole file."""
        if not self.resources:
            return ""
        while pointer and pointer not in self.resources:
            pointer = pointer.rpartition("/")[0]
        return pointer

    def recursion(self, pointer: str) -> str | None:
        """Give the nearest schema around a place with `$recursiveAnchor` (JSON Schema 2019-09, 8.2.4.2)."""
        while self.recursive and pointer not in self.recursive:
            if not pointer:
                return None
            pointer = pointer.rpartition("/")[0]
        return pointer if self.recursive else None


def file_of(address: str, source: Source, *, main: bool) -> File:
    """Look through a file for what has an address."""
    path = quote(address.encode("utf-8", "surrogateescape"))
    uri = address if "://" in address else f"file:///{path.removeprefix('/')}"
    file = File(address, source, "" if main else source.name, uri, _MARKS.search(source.text) is not None)
    if file.marked:
        root = source.root
        own = root.get("$self") if isinstance(root, dict) else None
        if isinstance(own, str):
            file.uri = joined(file.uri, own)
            file.resources[""] = file.uri
        _index(file, root, "", "", file.uri)
    return file


def joined(base: str, uri: str) -> str:
    """Resolve a URI against another, without its fragment (RFC 3986, section 5); what is no URI stays as it is."""
    try:
        return urldefrag(urljoin(base, uri))[0]
    except ValueError:
        return uri


def _index(file: File, node: Json, pointer: str, resource: str, base: str) -> None:
    if isinstance(node, list):
        for index, inner in enumerate(node):
            _index(file, inner, f"{pointer}/{index}", resource, base)
        return
    if not isinstance(node, dict):
        return
    name = node.get("$id")
    if isinstance(name, str) and name.startswith("#"):
        file.anchors.setdefault((resource, name[1:]), pointer)
        file.names.setdefault(name[1:], pointer)
    elif isinstance(name, str):
        base, resource = joined(base, name), pointer
        file.resources[pointer] = base
    if node.get("$recursiveAnchor") is True:
        file.recursive.add(pointer)
    for key in ("$anchor", "$dynamicAnchor"):
        anchor = node.get(key)
        if isinstance(anchor, str):
            file.anchors.setdefault((resource, anchor), pointer)
            file.names.setdefault(anchor, pointer)
            if key == "$dynamicAnchor" and len(file.dynamic) < _MOST_DYNAMIC:
                file.dynamic[pointer] = anchor
    for key, inner in node.items():
        if key not in DATA and not key.startswith("x-") and isinstance(inner, (dict, list)):
            _index(file, inner, f"{pointer}/{escape(key)}", resource, base)
