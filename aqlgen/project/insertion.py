"""Adding entries to the text of an overrides file; every other byte of it stays as the user wrote it.

Values are written on one line, so that YAML reads the same value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from aqlgen.diagnostics.plain import escaped
from aqlgen.document.yaml_events import SafeLoader
from aqlgen.ir import Json

_STEP: Final = "  "


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines in quotes, never as blocks."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - its name is the library's
        """Write a repeated value each time."""
        return True


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if text != " ".join(text.split()) else None)


_Dumper.add_representer(str, _text)


def flow(value: Json) -> str:
    """Write a value on one line, so that it can stand within braces too."""
    for unicode in (True, False):
        text = str(
            yaml.dump(
                [value],
                Dumper=_Dumper,
                default_flow_style=True,
                width=float("inf"),
                allow_unicode=unicode,
                sort_keys=False,
            )
        )
        if escaped(text) == text:
            break
    return text.strip()[1:-1].strip()


def _key(key: str) -> str:
    """Write a key of a line of its own, where braces need no quotes."""
    text = str(yaml.dump(key, Dumper=_Dumper, width=float("inf"), allow_unicode=True)).removesuffix("...\n").strip()
    return text if escaped(text) == text else flow(key)


_MARK: Final = "\ufeff"
_ALIAS: Final = re.compile(r"\s*:\s*\*[^\s,\[\]{}]+")


class InsertionError(ValueError):
    """An entry cannot be added to the text without changing something else in it."""


def insert(text: str, entries: Mapping[str, Mapping[str, Json]]) -> str:
    """Add fields to the entries of an overrides file, by `METHOD /path`; existing values are replaced.

    Comments, order, style and line ends stay. Raises InsertionError, with the key, where that is not possible.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(_MARK)
    for key, entry in entries.items():
        for field, value in entry.items():
            text = _put(text, key, field, value)
    return mark + text


def _put(text: str, key: str, field: str, value: Json) -> str:
    root = _compose(text)
    before = _data(root)
    same = (known for known in before if isinstance(known, str) and key in (known, _folded(known)))
    known = next(same, key) if isinstance(before, dict) else key
    if not isinstance(before, dict) or not isinstance(before.get(known, {}), dict):
        raise InsertionError(key)
    expected = {**before, known: {**before.get(known, {}), field: _data(_compose(flow(value)), whole=True)}}
    if before == expected:
        return text
    new = _placed(text, root, key, field, value)
    if _data(_compose(new)) != expected:
        raise InsertionError(key)
    return new


def _placed(text: str, root: yaml.Node | None, key: str, field: str, value: Json) -> str:
    """Return the text with a value in it, below its keys as far as they exist already."""
    if not isinstance(root, yaml.MappingNode):  # there is no entry yet
        return _appended(text, key, field, value, "")
    entry = next((pair[1] for pair in root.value if key in (pair[0].value, _folded(str(pair[0].value)))), None)
    if entry is None and not root.flow_style:
        return _appended(text, key, field, value, " " * root.start_mark.column)
    if entry is None:
        return _inserted_flow(text, root, {key: {field: value}})
    known = next((pair[1] for pair in entry.value if pair[0].value == field), None)
    if known is not None:
        return _replaced(text, known, value)
    return _inserted_flow(text, entry, {field: value}) if entry.flow_style else _inserted(text, entry, field, value)


def _spelled(key: str) -> str:
    """Return the key of an operation with its method in capitals, behind the name of its API if there is one."""
    written, _, path = key.partition(" ")
    api, colon, method = written.rpartition(":")
    return f"{api}{colon}{method.upper()} {path.strip()}"


def _folded(key: str) -> str:
    return _spelled(key) if key.partition(" ")[2].strip().startswith("/") else key


def _appended(text: str, key: str, field: str, value: Json, indent: str) -> str:
    end = _line_end(text)
    gap = end if text and not text.endswith(("\n", "\r")) else ""
    lines = (f"{indent}{_key(key)}:", f"{indent}{_STEP}{_key(field)}: {flow(value)}", "")
    return text + gap + end.join(lines)


def _inserted(text: str, node: yaml.MappingNode, field: str, value: Json) -> str:
    end, place = _line_end(text), _content_end(text, node)
    if place and text[place - 1] not in "\r\n":
        while place < len(text) and text[place] not in "\r\n":
            place += 1
        if place == len(text):
            text, place = text + end, place + len(end)
        else:
            place += 2 if text.startswith("\r\n", place) else 1
    return f"{text[:place]}{' ' * node.start_mark.column}{_key(field)}: {flow(value)}{end}{text[place:]}"


def _inserted_flow(text: str, node: yaml.MappingNode, member: Json) -> str:
    new = flow(member)[1:-1]
    if not node.value:
        place = node.start_mark.index + 1
        return text[:place] + new + text[place:]
    place = _end_of(text, *node.value[-1])
    return f"{text[:place]}, {new}{text[place:]}"


def _replaced(text: str, node: yaml.Node, value: Json) -> str:
    start, end = node.start_mark.index, _content_end(text, node)
    old = text[start:end].rstrip("\r\n")
    if "#" in _around(text, start, end, node):
        raise InsertionError(old)  # a comment would go with it
    gap = "" if old else " "
    return text[:start] + gap + flow(value) + text[start + len(old) :]


def _content_end(text: str, node: yaml.Node) -> int:
    """Return the offset behind the last character of a node; the mark of a block may be behind comments after it."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end_of(text, *node.value[-1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _content_end(text, node.value[-1])
    return int(node.end_mark.index)


def _end_of(text: str, key: yaml.Node, value: yaml.Node) -> int:
    """Return the offset behind a value; the node of an alias is at its anchor."""
    if value.start_mark.index >= key.end_mark.index:
        return _content_end(text, value)
    alias = _ALIAS.match(text, key.end_mark.index)
    return alias.end() if alias else key.end_mark.index


def _around(text: str, start: int, end: int, node: yaml.Node) -> str:
    """Return the parts of a node's text outside of values, where comments can be."""
    if isinstance(node, yaml.ScalarNode):
        return text[start:end].split("\n")[0] if node.style in ("|", ">") else ""
    pieces, place = "", start
    for scalar in _scalars(node):
        first, last = scalar.start_mark.index, scalar.end_mark.index
        if place <= first:
            pieces += text[place:first] + _around(text, first, last, scalar)
            place = last
    return pieces + text[place:end]


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    for member in node.value if isinstance(node, yaml.CollectionNode) else ():
        for inner in member if isinstance(member, tuple) else (member,):
            if isinstance(inner, yaml.ScalarNode):
                yield inner
            else:
                yield from _scalars(inner)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _compose(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=SafeLoader)
    except yaml.YAMLError as error:
        raise InsertionError(str(error)) from None


def _data(node: yaml.Node | None, *, whole: bool = False) -> Any:
    """Return the content of a node for comparison: scalars with their types, mappings by the text of their keys.

    An empty file is an empty mapping; `whole` is for a value.
    """
    if not whole and (node is None or (isinstance(node, yaml.ScalarNode) and not node.value)):
        return {}
    if node is None:
        return None
    if isinstance(node, yaml.MappingNode):
        return {getattr(key, "value", None): _data(value, whole=True) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_data(member, whole=True) for member in node.value]
    return (node.tag, node.value)
