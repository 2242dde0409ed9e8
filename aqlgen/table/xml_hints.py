"""The XML form of a body: the `xml` hints of its schema, as a tree of their own (OpenAPI 3.1.1, XML Object).

The adapter names and validates fields by the schema, and writes them by this tree, which has the API's names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json

Follow = Callable[[Json], tuple[Json, str]]
Node = dict[str, Json]

TEXTS: Final = ("name", "prefix", "namespace")
KINDS: Final = ("text", "cdata", "none")
MAX_DEPTH: Final = 40


def xml_hints(raw: Json, follow: Follow) -> Node:
    """Return the tree of a body's schema: `root`, and the `types` it refers to. `follow` returns (schema, pointer)."""
    reader = _Reader(follow)
    root = reader.node(raw, 0)
    named = root.pop("type", None)
    if named is not None:  # the root's own element takes the name of its component
        root = {"name": named, **reader.types.get(named, {}), **root}
    used = reader.types
    return {"root": root, "types": used} if used else {"root": root}


class _Reader:
    def __init__(self, follow: Follow) -> None:
        self._follow = follow
        self._known: dict[str, str] = {}
        self.types: dict[str, Node] = {}

    def node(self, raw: Json, depth: int) -> Node:
        """Return the node of a schema; a reference has its `type`, and the keywords beside it."""
        if not isinstance(raw, dict) or depth > MAX_DEPTH:
            return {}
        node: Node = {}
        if isinstance(raw.get("$ref"), str):
            name = self._type(raw["$ref"], depth)
            if name is not None:
                node["type"] = name
        for branch in (*_list(raw, "allOf"), *_list(raw, "oneOf"), *_list(raw, "anyOf")):
            node = _joined(self._whole(self.node(branch, depth + 1)), node)
        properties = raw.get("properties")
        if isinstance(properties, dict):
            nodes = {key: child for key, schema in properties.items() if (child := self.node(schema, depth + 1))}
            node = _joined(node, {"properties": nodes} if nodes else {})
        if isinstance(raw.get("items"), dict):
            items = self.node(raw["items"], depth + 1)
            node |= {"items": items} if items else {}
        return node | _hints(raw.get("xml"), array="items" in raw)

    def _type(self, reference: str, depth: int) -> str | None:
        try:
            target, pointer = self._follow({"$ref": reference})
        except UnresolvedError:
            return None
        if pointer not in self._known:
            name = pointer.rsplit("/", 1)[-1]
            while name in self.types:
                name += "_"
            self._known[pointer] = name
            self.types[name] = {}
            self.types[name] = self.node(target, depth + 1)
        return self._known[pointer]

    def _whole(self, node: Node) -> Node:
        """Return a branch with the hints of its type, except its name, which is not that of the whole."""
        named = self.types.get(str(node.get("type")), {})
        return {key: value for key, value in {**named, **node}.items() if key not in ("type", *TEXTS)}


def _joined(first: Node, second: Node) -> Node:
    properties = {**first.get("properties", {}), **second.get("properties", {})}
    return {**first, **second, **({"properties": properties} if properties else {})}


def _hints(hints: Json, *, array: bool) -> Node:
    if not isinstance(hints, Mapping):
        return {}
    node: Node = {key: hints[key] for key in TEXTS if isinstance(hints.get(key), str) and hints[key]}
    kind = hints.get("nodeType")
    if hints.get("attribute") is True or kind == "attribute":
        node["attribute"] = True
    if hints.get("wrapped") is True or (array and kind == "element"):  # an array has no element of its own else
        node["wrapped"] = True
    return node | ({"kind": kind} if kind in KINDS else {})


def _list(raw: Mapping[str, Json], key: str) -> list[Json]:
    value = raw.get(key)
    return value if isinstance(value, list) else []
