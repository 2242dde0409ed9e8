"""Nodes of YAML read strictly: each function gives a value, or None and a finding at the node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, TypeVar

import yaml

from aqlgen.decisions import Category, Danger, Place
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import MISSING, Json
from aqlgen.words import snake

from ..spelling import LIMIT, RESERVED, is_valid
from .findings import finding, nearest

__all__ = ["Reader", "place"]

_DEPTH: Final = 40
_MOST: Final = 10_000
_TAG: Final = "tag:yaml.org,2002:"
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PARAMETER: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_OWN: Final = frozenset({"input", "operation", "params"})
"""Names of parameters that the protocol gives a meaning of its own."""

_Choice = TypeVar("_Choice", Category, Danger)


def place(node: yaml.Node) -> Place:
    """Give the line and the column of a node, from 1."""
    return node.start_mark.line + 1, node.start_mark.column + 1


class Reader:
    """Collects what is wrong in `found`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Diagnostic] = []
        self._read = 0

    def say(self, where: Place, message: str, help: str = "") -> None:
        """Note a finding."""
        self.found.append(finding(self.file, where, message, help))

    def members(self, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node, Place]]:
        """Give key, value and the key's place of each entry of a mapping."""
        if not isinstance(node, yaml.MappingNode):
            self.say(place(node), f"{what} must be a mapping", "Write `key: value`, one a line.")
            return
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.say(place(key), f"a key of {what} must be text", "Quote it if it is meant so.")
            elif key.value in seen:
                self.say(place(key), f"`{key.value}` stands here twice", "Keep one of them.")
            else:
                seen.add(key.value)
                yield key.value, value, place(key)

    def known(self, node: yaml.Node, what: str, keys: Iterable[str]) -> dict[str, yaml.Node]:
        """Give the entries of a mapping that has these keys and no others."""
        allowed = tuple(keys)
        found: dict[str, yaml.Node] = {}
        for key, value, where in self.members(node, what):
            if key in allowed:
                found[key] = value
            else:
                self.say(where, f"{what} has no `{key}`", nearest(key, allowed, "field"))
        return found

    def items(self, node: yaml.Node | None, what: str, help: str) -> Iterator[yaml.Node]:
        """Give the entries of a list."""
        if isinstance(node, yaml.SequenceNode):
            yield from node.value
        elif node is not None:
            self.say(place(node), f"`{what}` must be a list", help)

    def text(self, node: yaml.Node | None, what: str) -> str | None:
        """Give a text that says something."""
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}str" and node.value.strip():
            return str(node.value).strip()
        self.say(place(node), f"the {what} must be text", f'Write `{what}: "some words"`, or leave the line out.')
        return None

    def flag(self, node: yaml.Node | None, what: str) -> bool | None:
        """Give true or false."""
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}bool":
            return str(node.value).lower() in ("true", "yes", "on")
        self.say(place(node), f"`{what}` must be true or false", f"Write `{what}: true`.")
        return None

    def number(self, node: yaml.Node | None, what: str) -> int | None:
        """Give a whole number above zero."""
        if node is None:
            return None
        value = self.value(node)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.say(place(node), f"`{what}` must be a whole number above 0", f"Write `{what}: 100`.")
        return None

    def day(self, node: yaml.Node | None, what: str) -> date | None:
        """Give a day of the calendar."""
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode) and _DAY.fullmatch(node.value):
            try:
                return date.fromisoformat(node.value)
            except ValueError:
                pass  # such as the 31st of April
        self.say(place(node), f"`{what}` must be a day", f"Write `{what}: 2030-12-31`.")
        return None

    def choice(self, node: yaml.Node | None, kind: type[_Choice]) -> _Choice | None:
        """Give the member of an enumeration, however its letters are cased."""
        what = kind.__name__.lower()
        text = self.text(node, what)
        if node is None or text is None:
            return None
        for member in kind:
            if member.value.lower() == text.lower():
                return member
        self.say(place(node), f"`{text}` is no {what}", nearest(text, [member.value for member in kind], what))
        return None

    def one_of(self, node: yaml.Node | None, what: str, values: Iterable[str]) -> str | None:
        """Give one of some words."""
        text = self.text(node, what)
        if node is None or text is None:
            return None
        known = tuple(values)
        if text in known:
            return text
        self.say(place(node), f"`{text}` is no {what}", nearest(text, known, what))
        return None

    def name(self, node: yaml.Node | None) -> str | None:
        """Give an operation's name; "" for one that cannot be used."""
        name = self.text(node, "name")
        if node is None or name is None:
            return None
        if name in RESERVED:
            self.say(place(node), f"the name `{name}` is reserved by the protocol", "Choose another name.")
        elif not is_valid(name):
            better = snake(name)[:LIMIT].rstrip("_")
            instead = f"Did you mean `{better}`?" if is_valid(better) and better not in RESERVED else ""
            rule = f"an operation's name is lower-case words joined by _, at most {LIMIT} characters, and no keyword"
            self.say(place(node), f"`{name}` cannot be a name: {rule}", instead)
        else:
            return name
        return None

    def parameter_name(self, node: yaml.Node | None) -> str | None:
        """Give a parameter's name."""
        name = self.text(node, "name")
        if node is None or name is None:
            return None
        if name in _OWN:
            self.say(place(node), f"the name `{name}` is reserved by the protocol", "Choose another name.")
        elif not _PARAMETER.fullmatch(name):
            better = snake(name)[:LIMIT].rstrip("_")
            instead = f"Did you mean `{better}`?" if _PARAMETER.fullmatch(better) and better not in _OWN else ""
            self.say(place(node), f"`{name}` cannot be a name: lower-case words joined by _, at most {LIMIT}", instead)
        else:
            return name
        return None

    def value(self, node: yaml.Node | None, depth: int = 0) -> Json:
        """Give any JSON value; MISSING for what is none."""
        if node is None:
            return MISSING
        self._read += 1
        if depth > _DEPTH or self._read > _MOST:
            self.say(place(node), "the value is too large or nested too deeply", "Shorten it.")
            return MISSING
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, depth + 1) for one in node.value]
        if isinstance(node, yaml.MappingNode):
            return {key: self.value(one, depth + 1) for key, one, _ in self.members(node, "the value")}
        return _scalar(node)


def _scalar(node: yaml.Node) -> Json:
    """Give the value of a scalar; dates and the like are the text that they are written as."""
    text, kind = str(node.value), node.tag.removeprefix(_TAG)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0)
        if kind == "float":
            number = float(text.replace("_", ""))
            return number if number == number and abs(number) != float("inf") else text
    except ValueError:
        return text
    return text
