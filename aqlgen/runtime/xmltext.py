# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A body as XML, by the schema's own hints (OpenAPI 3.1.1, XML Object; `nodeType` of 3.2).

`hints` is a tree beside the schema: `root` is the body's node and `types` holds the nodes that others name by `type`. A
node tells name, prefix, namespace, attribute, wrapped or kind (text, cdata, none), the nodes of its `properties` and of
its `items`; what it does not tell is written under its own name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .errors import Code, Failure
from .styles import text

__all__ = ["xml_text"]

Node = Mapping[str, Any]
_NAME = re.compile(r"[^\W\d][\w.-]*(?::[^\W\d][\w.-]*)?")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EMPTY: Node = {}


def xml_text(value: Any, hints: Mapping[str, Any]) -> str:
    """Give the document. Raises Failure for what XML cannot hold."""
    written = _Writing(hints.get("types", {})).element(hints["root"].get("name", "root"), value, hints["root"])
    return f'<?xml version="1.0" encoding="UTF-8"?>{"".join(written)}'


class _Writing:
    def __init__(self, types: Mapping[str, Node]) -> None:
        self._types = types

    def element(self, name: str, value: Any, node: Node) -> Iterator[str]:
        """Write one value as an element of that name, an array as it is wrapped, null not at all."""
        node = self._known(node)
        if value is None:
            return
        if isinstance(value, list | tuple):
            yield from self._array(name, value, node)
            return
        if node.get("kind") == "none":
            yield from self._content(value, node)
            return
        own = _named(node.get("name", name), node)
        content = "".join(self._content(value, node))
        start = f"<{own}{_namespace(node)}{''.join(self._attributes(value, node))}"
        yield f"{start}>{content}</{own}>" if content else f"{start}/>"

    def _array(self, name: str, values: list[Any] | tuple[Any, ...], node: Node) -> Iterator[str]:
        item = self._known(node.get("items", _EMPTY))
        if not node.get("wrapped"):
            for one in values:
                yield from self.element(item.get("name", name), one, item)
            return
        outer = node.get("name", name)
        own = _named(outer, node)
        inner = "".join(part for one in values for part in self.element(item.get("name", outer), one, item))
        yield f"<{own}{_namespace(node)}>{inner}</{own}>" if inner else f"<{own}{_namespace(node)}/>"

    def _content(self, value: Any, node: Node) -> Iterator[str]:
        if not isinstance(value, Mapping):
            yield _cdata(value) if node.get("kind") == "cdata" else _escaped(text(value))
            return
        properties = node.get("properties", _EMPTY)
        for key, one in value.items():
            inner = self._known(properties.get(key, _EMPTY))
            kind = inner.get("kind")
            if inner.get("attribute") or one is None:
                continue
            if kind in ("text", "cdata") and "name" not in inner and not isinstance(one, Mapping | list | tuple):
                yield _cdata(one) if kind == "cdata" else _escaped(text(one))
            else:
                yield from self.element(key, one, inner)

    def _attributes(self, value: Any, node: Node) -> Iterator[str]:
        properties = node.get("properties", _EMPTY)
        for key, one in value.items() if isinstance(value, Mapping) else ():
            inner = self._known(properties.get(key, _EMPTY))
            if inner.get("attribute") and one is not None:
                name, written = _named(inner.get("name", key), inner), _escaped(text(one)).replace('"', "&quot;")
                for character in "\t\n":
                    written = written.replace(character, f"&#{ord(character)};")
                yield f'{_namespace(inner)} {name}="{written}"'

    def _known(self, node: Node) -> Node:
        """Give a node with what the type that it names tells, its own first."""
        for _ in range(16):
            if "type" not in node:
                break
            named = self._types.get(node["type"], _EMPTY)
            node = {**named, **{key: value for key, value in node.items() if key != "type"}}
        return node


def _named(name: str, node: Node) -> str:
    own = f"{node['prefix']}:{name}" if node.get("prefix") else name
    if not _NAME.fullmatch(own):
        raise Failure(
            Code.INVALID_VALUE, f"The body is sent as XML, in which '{name[:64]}' cannot be an element's name"
        )
    return own


def _namespace(node: Node) -> str:
    if not node.get("namespace"):
        return ""
    prefix = f":{node['prefix']}" if node.get("prefix") else ""
    return f' xmlns{prefix}="{_escaped(node["namespace"]).replace(chr(34), "&quot;")}"'


def _escaped(text: str) -> str:
    if _FORBIDDEN.search(text):
        raise Failure(Code.INVALID_VALUE, "The body is sent as XML, which holds no control characters")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _cdata(value: Any) -> str:
    written = text(value)
    _escaped(written)
    return "<![CDATA[" + written.replace("]]>", "]]]]><![CDATA[>") + "]]>"
