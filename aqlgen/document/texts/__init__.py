"""The texts of the assembled document made fit for agents and reviewers: what is not seen is taken out, once, here.

In: the tree. Out: the same tree with other texts, the diagnostics, and the texts that read as instructions to a model.
Values that are sent (names, enumerations, defaults, examples) stay exactly as they are: where they hold characters that
are not seen there is a diagnostic, and every JSON of aqlgen and of its adapters writes those as escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.link.objects import DATA, OBJECT_TYPES, ObjectType
from aqlgen.document.positions import CONTAINERS, At, Origins, pointer_to
from aqlgen.document.texts.instructions import Instruction, instruction_in
from aqlgen.ir import Json
from aqlgen.runtime.text import has_unseen, visible, without_unseen

_MAX_QUOTE: Final = 120
_WORD: Final = 12
"""Characters from which on a value is long enough to instruct."""
_MARKS: Final = frozenset("\xad\u200d\ufe0e\ufe0f\ufeff")
"""Unseen characters that editors and emoji bring, of which nothing needs to be said."""


@dataclass(frozen=True, slots=True)
class InstructionText:
    """A text or a value that reads as an instruction to a model, with its JSON pointer in the tree."""

    pointer: str
    instruction: Instruction


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The tree with clean texts, what there is to say of them, and what reads as an instruction."""

    root: dict[str, Json]
    diagnostics: tuple[Diagnostic, ...]
    instructions: tuple[InstructionText, ...]


def clean_texts(root: dict[str, Json], origins: Origins) -> Cleaned:
    """Clean the texts of a tree of OpenAPI 3.x; `origins` learns of what is new."""
    cleaner = _Cleaner()
    tree = Walk(cleaner.clean, cleaner.look, origins).document(root)
    return Cleaned(tree, tuple(cleaner.diagnostics), tuple(cleaner.instructions))


class _Cleaner:
    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.instructions: list[InstructionText] = []
        self._plain: set[str] = set()
        """The texts that stay as they are, and of which there is nothing to say: many are in a document often."""

    def clean(self, text: str, at: At) -> str:
        """Return a text as it is shown."""
        if text in self._plain:
            return text
        known = len(self.diagnostics)
        seen = without_unseen(text)
        shown = seen
        if "<" in seen or "]" in seen or "{%" in seen:
            from aqlgen.document.texts.markup import rendered  # its many expressions take time to compile

            markup = rendered(seen)
            shown = markup.text
            if markup.hidden:
                self._report_hidden(markup.hidden, at)
        if seen != text and "\r" not in text:
            self._report_unseen(text, at)
        self._judge(seen, at)
        if shown != text:
            return shown
        if len(self.diagnostics) == known:
            self._plain.add(text)
        return text

    def look(self, value: str, at: At) -> bool:
        """Look at a value that stays as it is, and return True if there is something to say of it."""
        known = len(self.diagnostics)
        if not (value.isascii() and value.isprintable()) and has_unseen(value):
            message = f"the value {_quoted(value)} has characters that are not seen; it is sent with them"
            advice = "Keep them if they are intended; agents see them as escapes."
            self._warn("unseen-characters", message, at, advice)
        if len(value) >= _WORD and (" " in value or "_" in value or not value.isascii() or len(value) >= 40):
            self._judge(value.replace("_", " "), at)
        return len(self.diagnostics) > known

    def _judge(self, text: str, at: At) -> None:
        instruction = instruction_in(text)
        if instruction is None:
            return
        place = pointer_to(at)
        self.instructions.append(InstructionText(place, instruction))
        message = (
            f"the {_key(at)} reads as an instruction to a model ({'; '.join(instruction.rules)}):"
            f" {_quoted(instruction.quote)}"
        )
        advice = "Read the whole text. An overlay or `description` in overrides.yaml gives agents other words."
        self._warn("instruction-in-text", message, at, advice)

    def _report_hidden(self, hidden: list[str], at: At) -> None:
        """Report words that a person who reads the text does not see; an image or a mere title says little."""
        words = [part for part in hidden if not part.startswith("![") and not part.lower().startswith("<img")]
        if words:
            message = f"the {_key(at)} has a part that is not shown to people; it is taken out: {_quoted(words[0])}"
            self.diagnostics.append(Diagnostic("hidden-text", Severity.NOTE, message, pointer=pointer_to(at)))

    def _report_unseen(self, text: str, at: At) -> None:
        rest = "".join(character for character in text if character not in _MARKS)
        if without_unseen(rest) != rest or len(text) - len(rest) > 20 + len(text) // 10:
            message = f"the {_key(at)} has characters that are not seen; they are taken out: {_quoted(text)}"
            self.diagnostics.append(Diagnostic("unseen-characters", Severity.NOTE, message, pointer=pointer_to(at)))

    def _warn(self, code: str, message: str, at: At, advice: str) -> None:
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, message, pointer=pointer_to(at), help=advice))


def _key(at: At) -> str:
    while at is not None and str(at[1]).isdecimal():  # an item of a list
        at = at[0]
    return str(at[1]) if at is not None else "document"


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f"“{visible(text if len(text) <= _MAX_QUOTE else text[: _MAX_QUOTE - 1] + '…')}”"


_TEXTS: Final = frozenset({"title", "summary", "description"})
_LOOSE_TEXTS: Final = _TEXTS | {"name", "version", "termsOfService", "email"}
"""Texts of the info, its contact and its licence, of tags, servers and links to more documents."""
_VALUES: Final = DATA | {"value", "dataValue"}
_MAY_TELL: Final = re.compile("(?i)replac|success|supersed|alternativ|migrat|sunset|deprecat|remov|eol")
"""Names of what agents are told from extensions; others hold samples of code and the like."""
_NAMED: Final = frozenset({"properties", "patternProperties"})


@dataclass(frozen=True, slots=True)
class Walk:
    """Walks a tree; `clean` gives a text in its new form, `look` sees a value that must stay as it is.

    `look` returns False for a value of which there is nothing to say; it sees each of those once.
    """

    clean: Callable[[str, At], str]
    look: Callable[[str, At], bool]
    origins: Origins
    _harmless: set[str] = field(default_factory=set, init=False)

    def document(self, root: dict[str, Json]) -> dict[str, Json]:
        """Return the tree with its texts in their new form; what has none is the same object."""
        changed: dict[str, Json] = self._object(root, OBJECT_TYPES["openapi"], None)
        return changed

    def _walk(self, value: Json, kind: ObjectType, at: At) -> Json:
        if isinstance(value, dict):
            return self._object(value, kind, at)
        if isinstance(value, list) and kind.items:
            return self._list(value, OBJECT_TYPES[kind.items], at)
        return value

    def _list(self, value: list[Json], kind: ObjectType, at: At) -> list[Json]:
        changed: list[Json] | None = None
        for index, item in enumerate(value):
            new: Json = item
            if isinstance(item, (dict, list)):
                new = self._walk(item, kind, (at, index))
            elif isinstance(item, str) and kind.name == "loose":  # tags of an operation
                new = self.clean(item, (at, index))
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[index] = new
        if changed is None:
            return value
        self.origins.carry(value, changed)
        return changed

    def _object(self, value: dict[str, Json], kind: ObjectType, at: At) -> dict[str, Json]:
        texts = (_LOOSE_TEXTS if kind.name == "loose" else _TEXTS) if kind.texts else ()
        changed: dict[str, Json] | None = None
        for key, member in value.items():
            new: Json = member
            if member.__class__ is str:
                if key in texts:
                    new = self.clean(member, (at, key))
                elif key in _VALUES or (key == "name" and kind.name == "parameter"):
                    self._look(member, (at, key))
                elif key.startswith("x-") and kind.name == "operation":
                    new = self._extension(member, (at, key))
            elif member.__class__ in CONTAINERS:
                new = self._member(key, member, kind, at)
            if new is not member:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        if changed is None:
            return value
        self.origins.carry(value, changed)
        return changed

    def _member(self, key: str, member: Json, kind: ObjectType, at: At) -> Json:
        within = (at, key)
        if key.startswith("x-") and kind.texts:
            return self._extension(member, within) if kind.name == "operation" else member
        name = kind.fields.get(key) or kind.entries
        if name:
            is_named = key in _NAMED and kind.name == "schema" and isinstance(member, dict)
            for property_name in member if is_named and not self._harmless.issuperset(member) else ():
                self._look(property_name, (within, property_name))
            return self._walk(member, OBJECT_TYPES[name], within)
        if key in _VALUES:
            for text, place in _strings(member, within, self._harmless):
                self._look(text, place)
        return member

    def _look(self, value: str, at: At) -> None:
        if value not in self._harmless and not self.look(value, at):
            self._harmless.add(value)

    def _extension(self, value: Json, at: tuple[At, str | int], depth: int = 0) -> Json:
        """Clean what an extension of an operation tells of its end: a text, or the texts of an object."""
        if isinstance(value, str) and _MAY_TELL.search(str(at[1])):
            return self.clean(value, at)
        if isinstance(value, dict) and not depth:
            new = {key: self._extension(item, (at, str(key)), depth + 1) for key, item in value.items()}
            return value if all(new[key] is item for key, item in value.items()) else new
        return value


def _strings(value: Json, at: At, known: Collection[str]) -> Iterator[tuple[str, At]]:
    """Yield the texts in a value, keys of objects included, except for known ones."""
    stack: list[tuple[Json, At]] = [(value, at)]
    while stack:
        item, place = stack.pop()
        if isinstance(item, str):
            yield item, place
            continue
        for key, inner in item.items() if isinstance(item, dict) else enumerate(item):
            if inner.__class__ in CONTAINERS or (inner.__class__ is str and inner not in known):
                stack.append((inner, (place, key)))
        yield from ((key, (place, key)) for key in item if key not in known) if isinstance(item, dict) else ()
