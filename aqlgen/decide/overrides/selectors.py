"""Keys that select operations: an operation, a pattern of paths, a name or a tag; and what the owner accepts by them.

| key | selects |
|---|---|
| `GET /pets/{petId}` | that operation |
| `operation:delete_pet`, `operation:delete_*` | by the name that agents use or the operationId |
| `GET /v1/*`, `* /admin/**` | by method and path: `*` is a segment or a part of one, `**` any number of segments |
| `tag:pets`, `tag:admin *` | by tag |
| `api:crm` | every operation of one of several APIs |
| `crm:GET /pets/{petId}`, `crm:tag:pets` | as behind the API's name, in that API alone |

The most exact key wins. A row of the table is more exact than the rows below it, except the last; in a row a key
without a pattern is more exact than one with, and one with an API's name than the same without. Of two patterns in a
row the more exact has more characters written out; else fewer `**`, else more segments, else fewer `*` within segments,
else a method instead of `*`; else it is the later one. So a pattern that selects a part of what another selects, is the
more exact one.

The entries of `adapter: {accept: […]}` are what the owner has looked at, and agrees with:
adapter:
  accept: ["rule:post-on-item", "POST /v1/charges/*", "operation:get_account", "tag:reports"]

An entry changes no decision: it says that a person agrees, so that the operation needs no review any more. It holds for
what it selects, whatever the document has later, so the broader the entry, the less it settles:

- `rule:NAME` settles what the rule decided with little evidence, where none speaks against it;
- a pattern or a tag settles also what other evidence contradicts;
- one operation's `METHOD /path` or `operation:NAME`, by the name that agents use, settles also the document's claims
  that are not believed, and texts that read as instructions to a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Final, TypeAlias

from aqlgen.decide.decision import Concern, Decision, Doubt, Place
from aqlgen.ir import Operation

Rank: TypeAlias = tuple[int, ...]
"""The exactness of a selector: of two, the greater is the more exact."""

_STAR: Final = re.compile(r"\*+")


class Kind(IntEnum):
    """The kind of name that a selector matches; the greater is the more exact."""

    API = 0
    TAG = 1
    PATH = 2
    OPERATION = 3


_RULE: Final = "rule:"
_PREFIXES: Final = {"operation:": Kind.OPERATION, "tag:": Kind.TAG, "api:": Kind.API}
_API: Final = re.compile(r"([a-z][a-z0-9]{0,23}):")


@dataclass(frozen=True)
class Selector:
    """A selector of operations. `text` is a path, a name, a tag or an API, with its wildcards.

    `method` is for paths alone; `api` narrows it to one of several APIs.
    """

    kind: Kind
    text: str
    method: str = ""
    api: str = ""

    @property
    def key(self) -> str:
        """The selector as it is written in its usual form, which is the key of the operation if it is exact."""
        inner = f"{self.method} {self.text}" if self.kind is Kind.PATH else f"{self.kind.name.lower()}:{self.text}"
        return f"{self.api}:{inner}" if self.api else inner

    @property
    def is_pattern(self) -> bool:
        """True if the selector has a wildcard."""
        return "*" in self.text or self.method == "*"

    @cached_property
    def rank(self) -> Rank:
        """The order of exactness, as the module describes it."""
        if not self.is_pattern:
            return (len(Kind) + 1 if self.kind is Kind.PATH else self.kind, 1, bool(self.api))
        segments = _segments(self.text) if self.kind is Kind.PATH else [_STAR.sub("*", self.text)]
        parts = [segment for segment in segments if segment.strip("*")]
        written = sum(len(segment.replace("*", "")) for segment in parts)
        stars = sum(segment.count("*") for segment in parts)
        return (self.kind, 0, written, -segments.count("**"), len(segments), -stars, self.method != "*", bool(self.api))

    def matches(self, operation: Operation, names: Sequence[str] = ()) -> bool:
        """Return True if the selector selects an operation, whose names for agents are `names`."""
        if self.api and self.api != operation.api:
            return False
        match self.kind:
            case Kind.API:
                return bool(operation.api) and self._fits(operation.api)
            case Kind.TAG:
                return any(self._fits(tag) for tag in operation.tags)
            case Kind.OPERATION:
                return any(self._fits(name) for name in (*names, operation.operation_id) if name)
            case Kind.PATH:
                return self.key == operation.key or (
                    self.method in ("*", operation.method.upper()) and self._fits(operation.path)
                )

    def _fits(self, text: str) -> bool:
        return text == self.text or ("*" in self.text and self._pattern.fullmatch(text) is not None)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        if self.kind is not Kind.PATH:
            return re.compile(_expression(self.text, ".*"), re.DOTALL)
        return re.compile("".join(map(_segment_expression, _segments(self.text))), re.DOTALL)


def parse_selector(key: str) -> Selector | None:
    """Return the selector that a key is, None if it is of no such form."""
    key = key.strip()
    api = _API.match(key)
    if api is not None and f"{api[1]}:" not in (*_PREFIXES, _RULE):
        inner = parse_selector(key[api.end() :])
        return None if inner is None or inner.api or inner.kind is Kind.API else replace(inner, api=api[1])
    for prefix, kind in _PREFIXES.items():
        if key.startswith(prefix):
            text = key.removeprefix(prefix).strip()
            return Selector(kind, text) if text else None
    method, slash, path = key.partition("/")
    if not slash or ":" in method or method[-1:].strip() or len(method.split()) > 1:
        return None
    return Selector(Kind.PATH, f"/{path.strip()}", method.strip().upper())


def _segments(path: str) -> list[str]:
    """Return the segments of a pattern, in the one order that a run of wildcards can have: `*` before one `**`."""
    segments: list[str] = []
    for segment in path.split("/")[1:]:
        last = segments[-1] if segments else ""
        if segment == "*" and last == "**":
            segments.insert(-1, segment)
        elif segment != "**" or last != "**":
            segments.append(segment if segment == "**" else _STAR.sub("*", segment))
    return segments


def _segment_expression(segment: str) -> str:
    if segment == "**":
        return "(?:/[^/]*)*"
    return "/[^/]+" if segment == "*" else f"/{_expression(segment, '[^/]*')}"


def _expression(text: str, wildcard: str) -> str:
    return wildcard.join(map(re.escape, _STAR.split(text)))


@dataclass(frozen=True, slots=True)
class AcceptEntry:
    """An entry as it was written: a rule, or a selector of operations."""

    text: str
    place: Place = (0, 0)
    rule: str = ""
    selector: Selector | None = None

    def settles(self, decision: Decision, concern: Concern) -> bool:
        """Return True if the entry settles a concern about an operation."""
        if self.selector is None:
            return concern.doubt is Doubt.WEAK and concern.rule == self.rule
        if concern.doubt is Doubt.CLAIMED and not self._names(decision):
            return False
        return self.selector.matches(decision.operation, (decision.name,))

    def _names(self, decision: Decision) -> bool:
        """Return True if this is the operation's own entry. An operationId, which the document gives, is not enough."""
        selector = self.selector
        if selector is None or selector.is_pattern:
            return False
        return selector.kind is Kind.PATH or (selector.kind is Kind.OPERATION and selector.text == decision.name)


def parse_entry(text: str, place: Place = (0, 0)) -> AcceptEntry | None:
    """Return the entry that a text is, None if it is of no such form."""
    text = text.strip()
    if text.startswith(_RULE):
        rule = text.removeprefix(_RULE).strip()
        return AcceptEntry(text, place, rule) if rule else None
    selector = parse_selector(text)
    return AcceptEntry(text, place, selector=selector) if selector else None


def is_broad(entry: str) -> bool:
    """Return True if an entry also accepts operations that the document does not have yet."""
    parsed = parse_entry(entry)
    if parsed is None or parsed.selector is None:
        return True
    return parsed.selector.is_pattern or parsed.selector.kind in (Kind.API, Kind.TAG)
