"""Adding entries to the text of an overrides file; every other byte of it stays as the user wrote it.

Values are written on one line, so that YAML reads the same value. The result is read again: where the text has a layout
in which that changes anything else, it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from aqlgen.decide.overrides.selectors import parse_selector
from aqlgen.diagnostics.plain import escaped
from aqlgen.document.yaml_events import SafeLoader
from aqlgen.ir import Json

_STEP: Final = "  "
_MARK: Final = "\ufeff"
_PLAIN_KEY: Final = re.compile(r"(?:\w+:)?[A-Z]+ /[\w/{}.-]*|[A-Za-z]\w*")
"""A key that needs no quotes on a line of its own."""
_COMMENT: Final = re.compile(r"(?:^|\s)#")


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
    options: dict[str, Any] = {"default_flow_style": True, "width": float("inf"), "sort_keys": False}
    text = str(yaml.dump([value], Dumper=_Dumper, allow_unicode=True, **options))
    if escaped(text) != text:
        text = str(yaml.dump([value], Dumper=_Dumper, **options))
    return text.strip()[1:-1].strip()


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else flow(key)


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
    before = _data(root) or {}
    known = next((known for known in before if isinstance(known, str) and key in (known, _spelled(known))), key)
    if not isinstance(before, dict) or not isinstance(before.get(known) or {}, dict):
        raise InsertionError(key)
    expected = {**before, known: {**(before.get(known) or {}), field: _data(_compose(flow(value)))}}
    if before == expected:
        return text
    new = _placed(text, root, known, field, value)
    if _data(_compose(new)) != expected:
        raise InsertionError(key)
    return new


def _placed(text: str, root: yaml.Node | None, key: str, field: str, value: Json) -> str:
    """Return the text with a value in it: in the place of an earlier one, else first in its entry, else at the end."""
    end = "\r\n" if "\r\n" in text else "\n"
    pairs, column = (root.value, root.start_mark.column) if isinstance(root, yaml.MappingNode) else ((), 0)
    entry = next((inner for name, inner in pairs if name.value == key), None)
    line = f"{_key(field)}: {flow(value)}"
    if entry is not None and not isinstance(entry, yaml.MappingNode):  # the key of an entry that is still empty
        return _replaced(text, entry, {field: value})
    if entry is None:
        gap = "" if not text or text.endswith(("\n", "\r")) else end
        return f"{text}{gap}{' ' * column}{_key(key)}:{end}{' ' * column}{_STEP}{line}{end}"
    known = next((inner for name, inner in entry.value if name.value == field), None)
    if known is not None:
        return _replaced(text, known, value)
    start = entry.start_mark.index
    if entry.flow_style:
        return f"{text[: start + 1]}{flow({field: value})[1:-1]}{', ' if entry.value else ''}{text[start + 1 :]}"
    return f"{text[:start]}{line}{end}{' ' * entry.start_mark.column}{text[start:]}"


def _replaced(text: str, node: yaml.Node, value: Json) -> str:
    start, last = node.start_mark.index, node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:  # its mark is behind comments
        inner = last.value[-1]
        last = inner[1] if isinstance(inner, tuple) else inner
    old = text[start : last.end_mark.index].rstrip("\r\n")
    is_quoted = isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')
    if not is_quoted and _COMMENT.search(old):
        raise InsertionError(old)  # a comment would go with it
    return f"{text[:start]}{'' if old else ' '}{flow(value)}{text[start + len(old) :]}"


def _spelled(key: str) -> str:
    """Return the key of an operation in its usual form, any other key as it is."""
    selector = parse_selector(key)
    return key if selector is None else selector.key


def _compose(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=SafeLoader)
    except yaml.YAMLError as error:
        raise InsertionError(str(error)) from None


def _data(node: yaml.Node | None) -> Any:
    """Return the content of a node for comparison: scalars with their types, mappings by the text of their keys."""
    if isinstance(node, yaml.MappingNode):
        return {getattr(key, "value", None): _data(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_data(member) for member in node.value]
    return None if node is None or (isinstance(node, yaml.ScalarNode) and not node.value) else (node.tag, node.value)
