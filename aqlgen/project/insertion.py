"""Adding entries to the text of an overrides file; every other byte of it stays as the user wrote it.

Values are written on one line, so that YAML reads the same value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import yaml

from aqlgen.decide.overrides import nested_fields
from aqlgen.diagnostics.plain import escaped
from aqlgen.document.yaml_events import SafeLoader
from aqlgen.ir import Json

__all__ = ["InsertionError", "flow", "insert"]

_STEP: Final = 2
_DEEP: Final = 3
"""The level from which on mappings are on one line, as in `petId: {name: pet}`."""


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


def block(path: Sequence[str], value: Json, indent: int, end: str, level: int = 0) -> str:
    """Write a value under its keys, one a line, the deep ones on one line; `level` is that of the first key."""
    lines = []
    for depth, key in enumerate(path):
        pad = " " * (indent + depth * _STEP)
        rest = path[depth + 1 :]
        if rest and level + depth + 1 < _DEEP:
            lines.append(f"{pad}{_key(key)}:")
            continue
        for part in reversed(rest):
            value = {part: value}
        lines.append(f"{pad}{_key(key)}: {flow(value)}")
        break
    return end.join(lines) + end


def _key(key: str) -> str:
    """Write a key of a line of its own, where braces need no quotes."""
    text = str(yaml.dump(key, Dumper=_Dumper, width=float("inf"), allow_unicode=True)).removesuffix("...\n").strip()
    return text if escaped(text) == text else flow(key)


_Path: TypeAlias = tuple[str, ...]
_MARK: Final = "\ufeff"
_ALIAS: Final = re.compile(r"\s*:\s*\*[^\s,\[\]{}]+")


class InsertionError(ValueError):
    """An entry cannot be added to the text without changing something else in it."""


def insert(text: str, entries: Mapping[str, Mapping[str, Json]]) -> str:
    """Add entries to the text of an overrides file, by `METHOD /path`; existing values are replaced.

    Comments, order, style and line ends stay. Raises InsertionError, with the key, where that is not possible.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(_MARK)
    for path, value in _leaves(entries):
        text = _put(text, path, value)
    return mark + text


def _leaves(entries: Mapping[str, Mapping[str, Json]]) -> Iterator[tuple[_Path, Json]]:
    for key, entry in entries.items():
        for field, value in entry.items():
            if field not in nested_fields():
                yield (key, field), value
                continue
            for name, inner in value.items():
                if field == "body":
                    yield (key, field, name), inner
                else:
                    yield from (((key, field, name, part), leaf) for part, leaf in inner.items())


def _put(text: str, path: _Path, value: Json) -> str:
    root = _compose(text)
    before = _data(root)
    expected = _merged(before, path, _data(_compose(flow(value)), whole=True))
    if before == expected:
        return text
    new = _placed(text, root, path, value)
    if _data(_compose(new)) != expected:
        raise InsertionError(path[0])
    return new


def _placed(text: str, root: yaml.Node | None, path: _Path, value: Json) -> str:
    """Return the text with a value in it, below the deepest of its keys that exists already."""
    if root is None or (isinstance(root, yaml.ScalarNode) and not root.value):
        return _appended(text, path, value, 0)
    node, done, key = root, 0, None
    while done < len(path):
        if not isinstance(node, yaml.MappingNode):
            raise InsertionError(path[0])
        pair = next((pair for pair in node.value if _is(pair[0], path[done], top=not done)), None)
        if pair is None:
            break
        (key, node), done = pair, done + 1
    if done == len(path):
        return _replaced(text, node, value)
    if not isinstance(node, yaml.MappingNode):
        raise InsertionError(path[0])
    if node.flow_style:
        return _inserted_flow(text, node, path[done:], value)
    if key is None:
        return _appended(text, path, value, node.start_mark.column)
    return _inserted_block(text, node, path[done:], value, done)


def _is(node: yaml.Node, key: str, *, top: bool) -> bool:
    """Return True if a node is a key; that of an operation may have its method in lower case."""
    if not isinstance(node, yaml.ScalarNode):
        return False
    return key in (node.value, _spelled(node.value)) if top else key == node.value


def _spelled(key: str) -> str:
    """Return the key of an operation with its method in capitals, behind the name of its API if there is one."""
    written, _, path = key.partition(" ")
    api, colon, method = written.rpartition(":")
    return f"{api}{colon}{method.upper()} {path.strip()}"


def _appended(text: str, path: _Path, value: Json, indent: int) -> str:
    end = _line_end(text)
    gap = end if text and not text.endswith(("\n", "\r")) else ""
    return text + gap + block(path, value, indent, end)


def _inserted_block(text: str, node: yaml.MappingNode, path: _Path, value: Json, level: int) -> str:
    end, place = _line_end(text), _content_end(text, node)
    if place and text[place - 1] not in "\r\n":
        while place < len(text) and text[place] not in "\r\n":
            place += 1
        if place == len(text):
            text, place = text + end, place + len(end)
        else:
            place += 2 if text.startswith("\r\n", place) else 1
    return text[:place] + block(path, value, node.start_mark.column, end, level) + text[place:]


def _inserted_flow(text: str, node: yaml.MappingNode, path: _Path, value: Json) -> str:
    for part in reversed(path[1:]):
        value = {part: value}
    new = f"{flow(path[0])}: {flow(value)}"
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


def _merged(data: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    known = data if isinstance(data, dict) else {}
    keys = (key for key in known if isinstance(key, str))
    first = next((key for key in keys if path[0] in (key, _folded(key))), path[0])
    return {**known, first: _merged(known.get(first), path[1:], value)}


def _folded(key: str) -> str:
    return _spelled(key) if key.partition(" ")[2].strip().startswith("/") else key
