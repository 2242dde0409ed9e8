# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An XML answer as data, by its schema's hints (OpenAPI 3.1, XML Object; 3.2, nodeType).

No document type is accepted, so that no entity can be declared: neither bombs nor files of the machine get in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from .shapes import Shape, referred, shape_of
from .table import JsonSchema, Table

__all__ = ["Unreadable", "data_of"]

_DEEPEST = 100
_MOST = 500_000
_SPACES = " \t\r\n"


class Unreadable(Exception):
    """The content is no XML, or more of it than is read."""


@dataclass(slots=True)
class _Element:
    """An element by its local name; `attributes` are those that are no namespace's."""

    name: str
    attributes: dict[str, str]
    nil: bool
    children: list[_Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def data_of(text: str, schema: JsonSchema, table: Table) -> Any:
    """Give the data under the agent's names. What the schema does not declare is passed on. Raises Unreadable."""
    root = _parsed(text)
    shape = _shape(table, schema)
    if "string" in _types(table, schema) and not (shape.properties or shape.items or shape.extra):
        return text  # a document that is meant to be read as it is
    return _value(root, schema, table)


def _parsed(text: str) -> _Element:
    top = _Element("", {}, nil=False)
    stack = [top]
    count = 0

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal count
        count += 1 + len(attributes)
        if len(stack) > _DEEPEST or count > _MOST:
            raise Unreadable
        plain = {key: value for key, value in attributes.items() if not key.startswith(("xmlns", "xsi:", "xml:"))}
        nil = attributes.get("xsi:nil") in ("true", "1")
        element = _Element(_local(name), {_local(key): value for key, value in plain.items()}, nil)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def refuse(*_: object) -> None:
        raise Unreadable

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda data: stack[-1].texts.append(data)
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.lstrip("\ufeff" + _SPACES), True)
    except (expat.ExpatError, ValueError):
        raise Unreadable from None
    return top.children[0]


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _value(element: _Element, schema: Any, table: Table) -> Any:
    if element.nil:
        return None
    if not isinstance(schema, Mapping) or not schema:
        return _generic(element)
    shape = _shape(table, schema)
    if shape.properties:
        return _object(element, shape, table)
    if shape.items:
        return [_value(one, shape.items[0], table) for one in element.children]
    return _generic(element) if element.children or shape.extra else _scalar(element.text, _types(table, schema))


def _object(element: _Element, shape: Shape, table: Table) -> dict[str, Any]:
    data: dict[str, Any] = {}
    attributes = dict(element.attributes)
    children = list(element.children)
    for agent, (wire, schema) in shape.properties.items():
        hints = _hints(table, schema)
        name = _local(str(hints.get("name") or wire))
        node_type = hints.get("nodeType")
        if hints.get("attribute") is True or node_type == "attribute":
            if name in attributes:
                data[agent] = _scalar(attributes.pop(name), _types(table, schema))
            continue
        if node_type in ("text", "cdata"):
            data[agent] = _scalar(element.text, _types(table, schema))
            continue
        inner = _shape(table, schema)
        if inner.items and not inner.properties:
            wrapped = hints.get("wrapped") is True or node_type == "element"
            found = _listed(children, {name, _local(wire)}, inner.items[0], table, wrapped=wrapped)
            if found is not None:
                data[agent] = found
            continue
        same = _taken(children, {name, _local(wire)})
        if same:
            values = [_value(one, schema, table) for one in same]
            data[agent] = values[0] if len(values) == 1 else values
    for key, value in (*attributes.items(), *_grouped(children)):
        data.setdefault(key, value)
    return data


def _listed(
    children: list[_Element], names: set[str], items: JsonSchema, table: Table, *, wrapped: bool
) -> list[Any] | None:
    """Give the items of an array, in an element around them or each by itself; None when there is no trace of it."""
    hints = _hints(table, items)
    own = _local(str(hints["name"])) if hints.get("name") else None
    if wrapped:
        around = _taken(children, names)
        return [_value(one, items, table) for outer in around for one in outer.children] if around else None
    found = _taken(children, {own} if own else names) or _taken(children, names)
    if not found:
        return None
    if len(found) == 1 and found[0].name != own and _wraps(found[0], own, items, table):
        found = found[0].children
    return [_value(one, items, table) for one in found]


def _wraps(element: _Element, own: str | None, items: JsonSchema, table: Table) -> bool:
    """Whether a lone element holds the items, though the document does not say that they are wrapped."""
    inner = {one.name for one in element.children}
    return len(inner) == 1 and (inner == {own} or not _shape(table, items).properties)


def _taken(children: list[_Element], names: set[str]) -> list[_Element]:
    """Take the elements of these names away, and give them."""
    found = [one for one in children if one.name in names]
    if found:
        children[:] = [one for one in children if one.name not in names]
    return found


def _generic(element: _Element) -> Any:
    """Give an element that no schema tells of: its text, or an object of what is in it."""
    if not element.children and not element.attributes:
        return element.text
    data: dict[str, Any] = {**element.attributes, **dict(_grouped(element.children))}
    text = element.text.strip(_SPACES)
    if text:
        data.setdefault("_text", text)
    return data


def _grouped(children: list[_Element]) -> Iterator[tuple[str, Any]]:
    groups: dict[str, list[_Element]] = {}
    for one in children:
        groups.setdefault(one.name, []).append(one)
    for name, same in groups.items():
        values = [None if one.nil else _generic(one) for one in same]
        yield name, values[0] if len(values) == 1 else values


def _scalar(text: str, types: set[str]) -> Any:
    bare = text.strip(_SPACES)
    if "boolean" in types and bare in ("true", "false", "1", "0"):
        return bare in ("true", "1")
    if types & {"integer", "number"} and "string" not in types:
        try:
            number = float(bare)
            return int(bare) if "integer" in types or bare.lstrip("+-").isdigit() else number
        except ValueError:
            pass
    return None if not bare and "null" in types else text


def _shape(table: Table, schema: JsonSchema) -> Shape:
    """Give the shape of a schema; of alternatives, all that any of them declares."""
    shape = shape_of(table, schema)
    for one in shape.alternatives:
        inner = shape_of(table, one)
        shape.properties = {**inner.properties, **shape.properties}
        shape.items += inner.items
    return shape


def _types(table: Table, schema: JsonSchema) -> set[str]:
    found: set[str] = set()
    for one in (schema, *schema.get("anyOf", ())):
        target = _target(table, one)
        told = target.get("type", ())
        found.update([told] if isinstance(told, str) else told)
    return found


def _target(table: Table, schema: JsonSchema) -> JsonSchema:
    name = referred(schema)
    return schema if name is None else table.types.get(name, {})


def _hints(table: Table, schema: JsonSchema) -> Mapping[str, Any]:
    """Give the XML hints of a schema, those beside a reference before those of what it refers to."""
    parts = [one for one in schema.get("anyOf", ()) if isinstance(one, Mapping) and "$ref" in one]
    target = _target(table, parts[0] if len(parts) == 1 else schema)
    own, beyond = schema.get("xml"), target.get("xml")
    hints: dict[str, Any] = dict(beyond) if isinstance(beyond, Mapping) else {}
    return hints | (dict(own) if isinstance(own, Mapping) else {})
