"""The files being linked, with an index of the schemas that have their own address (JSON Schema 2020-12, 8.2)."""

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


@dataclass(slots=True, eq=False)
class File:
    """One file. `label` is its name in origins, "" for the root document; `uri` is the base URI of its references.

    `resources` has the URI of each schema with `$id` by pointer, `anchors` the pointer of each anchor by resource and
    name, `names` the pointer of the first anchor of each name. `recursive` has the targets of `$recursiveRef`. If
    `marked` is false, the file has none of these.
    """

    address: str
    source: Source
    label: str
    uri: str
    marked: bool
    resources: dict[str, str] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    recursive: set[str] = field(default_factory=set)

    @property
    def root(self) -> Json:
        """The parsed tree of the file."""
        return self.source.root

    def origin(self, pointer: str) -> Origin:
        """Return the origin of the value at a pointer."""
        return Origin(pointer, self.label)

    def resource(self, pointer: str) -> str:
        """Return the pointer of the resource around a pointer: the nearest schema with `$id`, or the whole file."""
        if not self.resources:
            return ""
        while pointer and pointer not in self.resources:
            pointer = pointer.rpartition("/")[0]
        return pointer

    def recursion(self, pointer: str) -> str | None:
        """Return the nearest enclosing schema with `$recursiveAnchor` (JSON Schema 2019-09, 8.2.4.2), or None."""
        while self.recursive and pointer not in self.recursive:
            if not pointer:
                return None
            pointer = pointer.rpartition("/")[0]
        return pointer if self.recursive else None


def index_file(address: str, source: Source, *, main: bool) -> File:
    """Return a file with its schemas that have addresses indexed."""
    path = quote(address.encode("utf-8", "surrogateescape"))
    uri = address if "://" in address else f"file:///{path.removeprefix('/')}"
    file = File(address, source, "" if main else source.name, uri, _MARKS.search(source.text) is not None)
    if file.marked:
        root = source.root
        self_uri = root.get("$self") if isinstance(root, dict) else None
        if isinstance(self_uri, str):
            file.uri = resolve_uri(file.uri, self_uri)
            file.resources[""] = file.uri
        _index(file, root, "", "", file.uri)
    return file


def resolve_uri(base: str, uri: str) -> str:
    """Resolve a URI against another, without its fragment (RFC 3986, section 5); return an invalid URI as it is."""
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
    base, resource = _index_names(file, node, pointer, resource, base)
    for key, inner in node.items():
        if key not in DATA and not key.startswith("x-") and isinstance(inner, (dict, list)):
            _index(file, inner, f"{pointer}/{escape(key)}", resource, base)


def _index_names(file: File, node: dict[str, Json], pointer: str, resource: str, base: str) -> tuple[str, str]:
    """Add the names by which a schema can be referred to; return its base URI and its resource."""
    name = node.get("$id")
    anchors = [node.get("$anchor"), node.get("$dynamicAnchor")]
    if isinstance(name, str) and name.startswith("#"):
        anchors.insert(0, name[1:])
    elif isinstance(name, str):
        base, resource = resolve_uri(base, name), pointer
        file.resources[pointer] = base
    if node.get("$recursiveAnchor") is True:
        file.recursive.add(pointer)
    for anchor in anchors:
        if isinstance(anchor, str):
            file.anchors.setdefault((resource, anchor), pointer)
            file.names.setdefault(anchor, pointer)
    return base, resource
