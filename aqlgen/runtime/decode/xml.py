"""An XML response as data, by the hints of its schema (OpenAPI 3.1, XML Object; 3.2, nodeType).

No document type is accepted, so that no entity can be declared: neither bombs nor files of the machine get in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from ..exact_json import read_float
from ..schema import Shape, Types, as_schema, declared_types, resolve, union_of
from ..table import JsonSchema, Table

_MAX_DEPTH = 100
_MAX_NODES = 500_000
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)\.\d++", re.ASCII)
_SPACES = " \t\r\n"


class UnreadableXmlError(Exception):
    """The content is not XML, or more of it than is read."""


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


def read_xml(text: str, schema: JsonSchema, table: Table) -> Any:
    """Return the data under the agent's names; undeclared elements are passed on. Raises UnreadableXmlError."""
    root, shapes = _parse(text), _Shapes(table.types)
    shape = shapes.of(schema)
    if "string" in _types(shapes, schema) and not (shape.properties or shape.items or shape.extra):
        return text  # a document that is meant to be read as it is
    return _value(root, schema, shapes)


def read_undeclared_xml(text: str) -> Any:
    """Return the data of a document without a schema. Raises UnreadableXmlError."""
    return _generic(_parse(text))


def _parse(text: str) -> _Element:
    top = _Element("", {}, nil=False)
    stack = [top]
    count = 0

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal count
        count += 1 + len(attributes)
        if len(stack) > _MAX_DEPTH or count > _MAX_NODES:
            raise UnreadableXmlError
        plain = {key: value for key, value in attributes.items() if not key.startswith(("xmlns", "xsi:", "xml:"))}
        nil = attributes.get("xsi:nil") in ("true", "1")
        element = _Element(_local(name), {_local(key): value for key, value in plain.items()}, nil)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def refuse(*_: object) -> None:
        raise UnreadableXmlError

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: stack[-1].texts.append(text)
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.lstrip("\ufeff" + _SPACES), True)
    except (expat.ExpatError, ValueError):
        raise UnreadableXmlError from None
    return top.children[0]


class _Shapes:
    """The types of an adapter, and the shapes of the schemas that were met, which stay, so that their ids do."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self._shapes: dict[int, tuple[JsonSchema, Shape]] = {}

    def of(self, schema: JsonSchema) -> Shape:
        """Return the shape of a schema with all alternatives."""
        if id(schema) not in self._shapes:
            self._shapes[id(schema)] = schema, union_of(self.types, schema)
        return self._shapes[id(schema)][1]


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _value(element: _Element, schema: Any, shapes: _Shapes) -> Any:
    if element.nil:
        return None
    if not isinstance(schema, Mapping) or not schema:
        return _generic(element)
    shape = shapes.of(schema)
    if shape.properties:
        return _object(element, shape, shapes)
    if shape.items:
        return [_value(child, shape.items[0], shapes) for child in element.children]
    return _generic(element) if element.children or shape.extra else _scalar(element.text, _types(shapes, schema))


def _object(element: _Element, shape: Shape, shapes: _Shapes) -> dict[str, Any]:
    data: dict[str, Any] = {}
    attributes = dict(element.attributes)
    children = _by_name(element.children)
    for agent_name, (wire, schema) in shape.properties.items():
        hints = _hints(shapes, schema)
        name = _local(str(hints.get("name") or wire))
        if hints.get("attribute") is True or hints.get("nodeType") == "attribute":
            if name in attributes:
                data[agent_name] = _scalar(attributes.pop(name), _types(shapes, schema))
            continue
        wrapped = hints.get("wrapped") is True or hints.get("nodeType") == "element"
        for value in _elements(children, {name, _local(wire)}, schema, shapes, wrapped=wrapped):
            data[agent_name] = value
    for key, value in (*attributes.items(), *_values(children)):
        data.setdefault(key, value)
    return data


def _elements(
    children: dict[str, list[_Element]], names: set[str], schema: JsonSchema, shapes: _Shapes, *, wrapped: bool
) -> Iterator[Any]:
    """Yield the value of the elements of these names, nothing when there is no trace of it."""
    inner = shapes.of(schema)
    if inner.items and not inner.properties:
        items = _array(children, names, inner.items[0], shapes, wrapped=wrapped)
        yield from () if items is None else (items,)
        return
    values = [_value(child, schema, shapes) for child in _take(children, names)]
    if values:
        yield values[0] if len(values) == 1 else values


def _array(
    children: dict[str, list[_Element]], names: set[str], items: JsonSchema, shapes: _Shapes, *, wrapped: bool
) -> list[Any] | None:
    """Return the items of an array, in an element around them or each by itself; None when there is no trace of it."""
    hints = _hints(shapes, items)
    item_name = _local(str(hints["name"])) if hints.get("name") else None
    if wrapped:
        wrappers = _take(children, names)
        return (
            [_value(child, items, shapes) for wrapper in wrappers for child in wrapper.children] if wrappers else None
        )
    elements = _take(children, {item_name} if item_name else names) or _take(children, names)
    if not elements:
        return None
    if len(elements) == 1 and elements[0].name != item_name and _wraps(elements[0], item_name, items, shapes):
        elements = elements[0].children
    return [_value(element, items, shapes) for element in elements]


def _wraps(element: _Element, item_name: str | None, items: JsonSchema, shapes: _Shapes) -> bool:
    """Return True if a lone element holds the items, though the document does not say that they are wrapped."""
    inner_names = {child.name for child in element.children}
    return len(inner_names) == 1 and (inner_names == {item_name} or not shapes.of(items).properties)


def _take(children: dict[str, list[_Element]], names: set[str]) -> list[_Element]:
    """Remove the elements of these names from the children, and return them."""
    return [child for name in sorted(names & children.keys()) for child in children.pop(name)]


def _generic(element: _Element) -> Any:
    """Return an element without a schema: its text, or an object of its attributes and children, and `_text`."""
    if not element.children and not element.attributes:
        return element.text
    data: dict[str, Any] = {**element.attributes, **dict(_values(_by_name(element.children)))}
    text = element.text.strip(_SPACES)
    if text:
        data.setdefault("_text", text)
    return data


def _by_name(children: list[_Element]) -> dict[str, list[_Element]]:
    groups: dict[str, list[_Element]] = {}
    for child in children:
        groups.setdefault(child.name, []).append(child)
    return groups


def _values(groups: Mapping[str, list[_Element]]) -> Iterator[tuple[str, Any]]:
    for name, elements in groups.items():
        values = [None if element.nil else _generic(element) for element in elements]
        yield name, values[0] if len(values) == 1 else values


def _scalar(text: str, types: set[str]) -> Any:
    bare = text.strip(_SPACES)
    if "boolean" in types and bare in ("true", "false", "1", "0"):
        return bare in ("true", "1")
    if types & {"integer", "number"} and "string" not in types and "_" not in bare:  # which Python reads over
        try:
            if "integer" in types or bare.lstrip("+-").isdigit():
                return int(bare)
            number = read_float(bare) if _NUMBER.fullmatch(bare) else float(bare)
            if math.isfinite(number):  # JSON has no NaN and INF
                return number
        except ValueError:
            pass
    return None if not bare and "null" in types else text


def _types(shapes: _Shapes, schema: JsonSchema) -> set[str]:
    branches = (schema, *schema.get("anyOf", ()))
    return {name for branch in branches for name in declared_types(resolve(branch, shapes.types))}


def _hints(shapes: _Shapes, schema: JsonSchema) -> Mapping[str, Any]:
    """Return the XML hints of a schema, those beside a reference before those of its target."""
    references = [branch for branch in schema.get("anyOf", ()) if isinstance(branch, Mapping) and "$ref" in branch]
    target = resolve(references[0] if len(references) == 1 else schema, shapes.types)
    return {**as_schema(target.get("xml")), **as_schema(schema.get("xml"))}
