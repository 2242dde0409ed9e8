"""Reading the values of an adapter element: every finding with path, expected, actual and a suggestion, all at once.

The codes are those of the protocol in lower case: `schema-missing-field`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from json import dumps
from typing import Any, Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import escape
from aqlgen.document.read.limits import MOST_FINDINGS
from aqlgen.ir import Json
from aqlgen.runtime.text import has_unseen

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
}
_LONGEST: Final = 80
_PLAIN: Final = re.compile(r"[\w$-]{1,100}")
_WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class TooManyError(Exception):
    """There are more findings than anybody reads."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the element, with its JSON pointer and its path: `operations.read[0].name`."""

    value: Any
    pointer: str = ""
    path: str = ""

    def member(self, key: str) -> Node:
        """Return the value of a key."""
        shown = key if _PLAIN.fullmatch(key) else f"[{dumps(key)}]"
        dot = "." if self.path and not shown.startswith("[") else ""
        return Node(self.value[key], f"{self.pointer}/{escape(key)}", f"{self.path}{dot}{shown}")

    def members(self) -> Iterator[tuple[str, Node]]:
        """Yield the members of an object by key."""
        for key in self.value:
            yield key, self.member(key)

    def items(self) -> Iterator[Node]:
        """Yield the items of a list."""
        for index, value in enumerate(self.value):
            yield Node(value, f"{self.pointer}/{index}", f"{self.path}[{index}]")


@dataclass(frozen=True, slots=True)
class Field:
    """A key that an object may have: the type of its value ("" for any), and whether it must be there."""

    kind: str = "string"
    required: bool = False
    suggestion: str = ""
    """The text to write where it is missing."""
    values: tuple[str, ...] = ()
    """All texts that it can be."""


def type_name(value: Json) -> str:
    """Return the name of a value's JSON type."""
    return "null" if value is None else next(name for name in _TYPES if _is(value, name))


@dataclass(slots=True)
class Reader:
    """The findings about one element."""

    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """True if a finding is an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def report(
        self,
        code: str,
        node: Node,
        message: str,
        *,
        expected: str = "",
        actual: str | None = None,
        suggestion: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Add a finding; `actual` is the value itself unless given. Raises TooManyError."""
        shown = self.shown(node.value) if actual is None else actual
        self.findings.append(
            Diagnostic(
                code,
                severity,
                message,
                pointer=node.pointer,
                help=suggestion,
                path=node.path,
                expected=expected,
                actual=shown,
            )
        )
        if len(self.findings) >= MOST_FINDINGS:
            raise TooManyError

    def unused(self, node: Node, message: str, suggestion: str = "") -> None:
        """Add a warning about what the element says and the adapter does not do."""
        self.report("schema-not-used", node, message, suggestion=suggestion, severity=Severity.WARNING)

    @staticmethod
    def shown(value: Json) -> str:
        """Return a value for a message, its beginning if it is long."""
        if isinstance(value, dict | list):
            return type_name(value)
        text = dumps(value[: _LONGEST + 1] if isinstance(value, str) else value, ensure_ascii=False)
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"

    def wrong_type(self, node: Node, expected: str, suggestion: str = "") -> None:
        """Report a value of another type than expected."""
        actual = type_name(node.value)
        name = node.path or "the element"
        message = f"{name} must be {expected}, and is {actual}"
        self.report(
            "schema-invalid-type",
            node,
            message,
            expected=expected,
            actual=actual if isinstance(node.value, dict | list) or node.value is None else self.shown(node.value),
            suggestion=suggestion or _respelled(node, expected),
        )

    def is_of(self, node: Node, kind: str, suggestion: str = "") -> bool:
        """Return True if a value is of a type; report it otherwise."""
        if not kind or _is(node.value, kind):
            return True
        self.wrong_type(node, kind, suggestion)
        return False

    def fields(self, node: Node, known: Mapping[str, Field]) -> dict[str, Node]:
        """Return the members of an object that can be used, by key; report all others, and those that are missing."""
        if not self.is_of(node, "object", "Write `key: value`, one a line."):
            return {}
        members: dict[str, Node] = {}
        for key in node.value:
            member = node.member(key)
            rule = known.get(key)
            if rule is None:
                self._unknown(node, member, key, known)
            elif self.is_of(member, rule.kind) and self._is_one_of(member, rule.values):
                members[key] = member
        for key, rule in known.items():
            if rule.required and key not in node.value:
                self.missing(node, key, rule)
        return members

    def missing(self, node: Node, key: str, rule: Field) -> None:
        """Report a required key that is not there."""
        path = f"{node.path}.{key}" if node.path else key
        expected = " or ".join(rule.values) or rule.kind
        self.report(
            "schema-missing-field",
            Node(None, node.pointer, path),
            f"the required field {path} is missing",
            expected=expected,
            actual="nothing",
            suggestion=rule.suggestion or f"Write `{key}: {rule.values[0] if rule.values else '…'}`.",
        )

    def _unknown(self, node: Node, member: Node, key: str, known: Mapping[str, Field]) -> None:
        close = get_close_matches(key[:_LONGEST], known, n=1)
        where = f"{node.path} has" if node.path else "the element has"
        hint = f"Did you mean `{close[0]}`?" if close else f"It takes {', '.join(known)}."
        message = f"{where} no field {self.shown(key)}"
        expected = ", ".join(known)
        self.report("schema-unknown-field", member, message, expected=expected, actual=key[:_LONGEST], suggestion=hint)

    def _is_one_of(self, node: Node, values: tuple[str, ...]) -> bool:
        if not values or node.value in values:
            return True
        self.not_one_of(node, values)
        return False

    def not_one_of(self, node: Node, values: tuple[str, ...]) -> None:
        """Report a text that is none of the values."""
        close = get_close_matches(str(node.value)[:_LONGEST].lower(), values, n=1)
        message = f"{node.path} must be one of {', '.join(values)}, and is {self.shown(node.value)}"
        hint = f"Write `{close[0] if close else values[0]}`."
        self.report("schema-invalid-value", node, message, expected=" or ".join(values), suggestion=hint)

    def bad_value(self, node: Node, expected: str, suggestion: str = "") -> None:
        """Report a value of the right type that cannot be used."""
        message = f"{node.path} must be {expected}, and is {self.shown(node.value)}"
        self.report("schema-invalid-value", node, message, expected=expected, suggestion=suggestion)

    def bad_name(self, node: Node, name: str, expected: str, suggestion: str) -> None:
        """Report a name that is not spelled as it must be."""
        message = f"the name {self.shown(name)} must be {expected}"
        actual = self.shown(name)
        self.report("schema-invalid-name", node, message, expected=expected, actual=actual, suggestion=suggestion)

    def text(self, members: Mapping[str, Node], key: str) -> str:
        """Return the text of a member, "" if it is not there."""
        node = members.get(key)
        return node.value if node is not None else ""

    def is_readable(self, node: Node) -> bool:
        """Return True if a text that becomes a name, a path or an address has no hidden character."""
        if not has_unseen(node.value) and "\n" not in node.value and "\t" not in node.value:
            return True
        self.bad_value(node, "one line without hidden or control characters", "Write it again by hand.")
        return False


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _respelled(node: Node, expected: str) -> str:
    """Return the value as it would be right, if it is only written as another type; else an example."""
    key = node.path.rpartition(".")[2]
    value = node.value
    if expected == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return f'Quote it: `{key}: "{value}"`.'
    if isinstance(value, str) and expected == "boolean" and value.lower() in _WORDS:
        return f"Write `{key}: {str(_WORDS[value.lower()]).lower()}`, without quotes."
    if isinstance(value, str) and expected in ("integer", "number") and re.fullmatch(r"-?\d{1,15}", value):
        return f"Write `{key}: {value}`, without quotes."
    if expected == "array":
        return f"Write `{key}:` and each item on a separate line after `- `."
    examples: Mapping[str, str] = {
        "string": '"text"',
        "boolean": "true",
        "integer": "1",
        "number": "1.5",
        "object": "{}",
    }
    return f"Write `{key}: {examples.get(expected, '…')}`."
