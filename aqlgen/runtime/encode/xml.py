"""A body as XML, by the hints of its schema (OpenAPI 3.1, XML Object; `nodeType` of 3.2).

`hints` is a tree beside the schema: `root` is the body's node and `types` holds the nodes that others name by `type`.
A node has name, prefix, namespace, attribute, wrapped or kind (text, cdata, none), the nodes of its `properties` and of
its `items`; a value without a node is written under its own name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import Code, Failure
from .styles import wire_text

Node = Mapping[str, Any]
_NAME = re.compile(r"[^\W\d][\w.-]*(?::[^\W\d][\w.-]*)?")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_HINTS: Node = {}


def encode_xml(value: Any, hints: Mapping[str, Any]) -> str:
    """Return a value as an XML document. Raises Failure for what XML cannot hold."""
    root = _Writer(hints.get("types", {})).element(hints["root"].get("name", "root"), value, hints["root"])
    return f'<?xml version="1.0" encoding="UTF-8"?>{"".join(root)}'


class _Writer:
    def __init__(self, types: Mapping[str, Node]) -> None:
        self._types = types

    def element(self, name: str, value: Any, node: Node) -> Iterator[str]:
        """Yield one value as an element of that name, an array as it is wrapped, null not at all."""
        node = self._resolved(node)
        if value is None:
            return
        if isinstance(value, list | tuple):
            yield from self._array(name, value, node)
            return
        if node.get("kind") == "none":
            yield from self._content(value, node)
            return
        tag = _tag(node.get("name", name), node)
        yield _element(tag, (*_namespace(node), *self._attributes(value, node)), "".join(self._content(value, node)))

    def _array(self, name: str, values: list[Any] | tuple[Any, ...], node: Node) -> Iterator[str]:
        item_node = self._resolved(node.get("items", _NO_HINTS))
        if not node.get("wrapped"):
            for item in values:
                yield from self.element(item_node.get("name", name), item, item_node)
            return
        outer = node.get("name", name)
        tag = _tag(outer, node)
        inner = "".join(part for item in values for part in self.element(item_node.get("name", outer), item, item_node))
        yield _element(tag, _namespace(node), inner)

    def _content(self, value: Any, node: Node) -> Iterator[str]:
        if not isinstance(value, Mapping):
            yield _cdata(value) if node.get("kind") == "cdata" else _escaped(wire_text(value))
            return
        properties = node.get("properties", _NO_HINTS)
        for key, item in value.items():
            item_node = self._resolved(properties.get(key, _NO_HINTS))
            kind = item_node.get("kind")
            if item_node.get("attribute") or item is None:
                continue
            if kind in ("text", "cdata") and "name" not in item_node and not isinstance(item, Mapping | list | tuple):
                yield _cdata(item) if kind == "cdata" else _escaped(wire_text(item))
            else:
                yield from self.element(key, item, item_node)

    def _attributes(self, value: Any, node: Node) -> Iterator[tuple[str, str]]:
        properties = node.get("properties", _NO_HINTS)
        for key, item in value.items() if isinstance(value, Mapping) else ():
            item_node = self._resolved(properties.get(key, _NO_HINTS))
            if item_node.get("attribute") and item is not None:
                yield from _namespace(item_node)
                yield _tag(item_node.get("name", key), item_node), wire_text(item)

    def _resolved(self, node: Node) -> Node:
        """Return a node with the hints of the type that it names, its own hints first."""
        for _ in range(16):
            if "type" not in node:
                break
            named = self._types.get(node["type"], _NO_HINTS)
            node = {**named, **{key: value for key, value in node.items() if key != "type"}}
        return node


def _tag(name: str, node: Node) -> str:
    tag = f"{node['prefix']}:{name}" if node.get("prefix") else name
    if not _NAME.fullmatch(tag):
        raise Failure(
            Code.INVALID_VALUE, f"The body is sent as XML, in which '{name[:64]}' cannot be an element's name"
        )
    return tag


def _namespace(node: Node) -> tuple[tuple[str, str], ...]:
    """Return the declaration of a node's namespace as an attribute."""
    prefix = f":{node['prefix']}" if node.get("prefix") else ""
    return ((f"xmlns{prefix}", node["namespace"]),) if node.get("namespace") else ()


def _element(tag: str, attributes: Iterable[tuple[str, str]], content: str) -> str:
    """Return an element with its attributes; of two of one name the first, such as a namespace that both declare."""
    texts: dict[str, str] = {}
    for name, text in attributes:
        quoted = _escaped(text).replace('"', "&quot;").replace("\t", "&#9;").replace("\n", "&#10;")
        texts.setdefault(name, f' {name}="{quoted}"')
    start = f"<{tag}{''.join(texts.values())}"
    return f"{start}>{content}</{tag}>" if content else f"{start}/>"


def _escaped(text: str) -> str:
    if _FORBIDDEN.search(text):
        raise Failure(Code.INVALID_VALUE, "The body is sent as XML, which holds no control characters")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _cdata(value: Any) -> str:
    text = wire_text(value)
    _escaped(text)
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"
