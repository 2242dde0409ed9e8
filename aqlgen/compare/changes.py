"""All changes between two adapters, the worst first, as text for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.compare.model import Change, Level, Writer, limit_per_rule
from aqlgen.compare.rules import HOSTS, RULES
from aqlgen.compare.surface import Surface
from aqlgen.diagnostics.plain import counted, plain
from aqlgen.ir import Json
from aqlgen.render.operations_md import code
from aqlgen.runtime.text import visible

_NOTHING: Final = "Nothing changed for an agent."
_HEADINGS: Final = {
    Level.BREAKING: "Breaking",
    Level.ATTENTION: "To look at",
    Level.TEXTS: "Texts that agents read",
    Level.COMPATIBLE: "Compatible",
}
_MAX_TEXT: Final = 100
"""Characters of a text of the API."""

_TEXT_RULES: Final = frozenset({"text-changed", "text-added", "text-removed"})
"""Rules whose last two values are the old and the new text."""
_MAX_SIDE: Final = 400
"""Characters of an old or new text, around the first difference."""

_NAMES_MATTER: Final = frozenset(
    {"operation-removed", "operation-added", "operation-added-grave", "operation-deprecated"}
)
"""Rules whose changes say nothing but the names of the operations, so that more of the names are shown."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed for an agent from one adapter to the other; false if nothing did."""

    old: Surface
    new: Surface
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def breaking(self) -> bool:
        """True if something that worked for an agent no longer does."""
        return any(change.level is Level.BREAKING for change in self.changes)

    def of(self, level: Level) -> tuple[Change, ...]:
        """Return the changes of one level."""
        return tuple(change for change in self.changes if change.level is level)

    def in_section(self, section: str, level: Level | None = None) -> tuple[Change, ...]:
        """Return the changes under a heading of their own; those of a level under no such heading for ""."""
        changes = self.changes if level is None else self.of(level)
        return tuple(change for change in changes if RULES[change.rule].section == section)

    def as_json(self) -> dict[str, Json]:
        """Return every change as data."""
        return {
            "breaking": self.breaking,
            "counts": {level.value: len(self.of(level)) for level in Level},
            "from": _side(self.old),
            "to": _side(self.new),
            "changes": [_entry(change) for change in self.changes],
        }

    def as_text(self, *, show_all: bool = False) -> str:
        """Return the lines for a terminal, without a line end at the end; long lists are cut unless `every`."""
        return _text(self, show_all=show_all)

    def as_markdown(self) -> str:
        """Return the text for a pull request, under 60,000 bytes; what had to be cut is counted."""
        return _markdown(self)


def _side(side: Surface) -> dict[str, Json]:
    return {"api_version": side.version, "operations": len(side.operations)}


def _entry(change: Change) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "rule": change.rule,
        "level": change.level.value,
        "title": RULES[change.rule].title,
        "message": Writer(lambda text: f"`{text}`").sentence(change),
        "operations": list(change.operations),
    }
    if change.rule in _TEXT_RULES:
        entry |= {"before": change.values[-2], "now": change.values[-1]}
    if RULES[change.rule].section:
        entry["section"] = RULES[change.rule].section.lower()
    if change.places:
        fields = [field for field in change.fields if field]
        places = [{"kind": place.kind, "name": place.name, "path": place.path_text} for place in change.places]
        entry |= {"fields": fields, "places": places, "directions": [way.value for way in change.directions]}
    return entry


def _sides(change: Change) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of a change of texts, both from a little before they differ."""
    if change.rule not in _TEXT_RULES:
        return
    before, now = (plain(text) for text in change.values[-2:])
    common = next((at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new), 0)
    start = max(0, common - _MAX_SIDE // 4) if max(len(before), len(now)) > _MAX_SIDE else 0
    for label, text in (("before", before), ("now", now)):
        part = text[start:]
        part = part if len(part) <= _MAX_SIDE else f"{part[: _MAX_SIDE - 1]}…"
        yield label, f"…{part}" if start and part else part


def _operations(names: Sequence[str], limit: int, write: Callable[[str], str]) -> str:
    """Return all names, or their number and the first `limit` of them (0: all)."""
    if limit and len(names) > limit + 1:
        return f"{counted(len(names), 'operation')}, {', '.join(map(write, names[:limit]))} …"
    return ", ".join(map(write, names))


# Text for a terminal

_TEXT_PER_RULE: Final = {Level.BREAKING: 30, Level.ATTENTION: 8, Level.TEXTS: 8, Level.COMPATIBLE: 8}
"""How many changes of one rule are shown."""
_TEXT_ITEMS: Final = 6
_TEXT_FEW_NAMES, _TEXT_MORE_NAMES = 4, 24
_TEXT_WIDTH: Final = 100


def _text(changes: Changes, *, show_all: bool) -> str:
    if not changes:
        return _NOTHING
    breaking, attention, texts, compatible = (len(changes.of(level)) for level in Level)
    wording = f" {texts:,} of texts," if texts else ""
    lines = [f"{counted(breaking, 'breaking change')}, {attention:,} to look at,{wording} {compatible:,} compatible:"]
    lines += _text_section(HOSTS, changes.in_section(HOSTS), _TEXT_PER_RULE[Level.BREAKING], show_all=show_all)
    for level in Level:
        members = changes.in_section("", level)
        lines += _text_section(_HEADINGS[level], members, _TEXT_PER_RULE[level], show_all=show_all)
    return "\n".join(lines)


def _text_section(heading: str, members: Sequence[Change], per_rule: int, *, show_all: bool) -> Iterator[str]:
    """Yield a heading with its changes; nothing if there are none."""
    if not members:
        return
    yield from ("", heading)
    shown = limit_per_rule(members, len(members) if show_all else per_rule)
    for change, left_out in shown:
        yield from _text_lines(change, show_all=show_all)
        if left_out:
            yield f"  … and {left_out:,} more: {RULES[change.rule].title.lower()}"
    if len(shown) < len(members):
        yield "  (-v shows all)"


def _text_lines(change: Change, *, show_all: bool) -> Iterator[str]:
    writer = Writer(lambda text: f"`{visible(plain(text, _MAX_TEXT))}`", 0 if show_all else _TEXT_ITEMS)
    sentence = writer.sentence(change)
    limit = 0 if show_all else _TEXT_MORE_NAMES if change.rule in _NAMES_MATTER else _TEXT_FEW_NAMES
    names = _operations(change.operations, limit, visible)
    if not names:
        yield f"  {sentence}"
    elif len(sentence) + len(names) < _TEXT_WIDTH:
        yield f"  {sentence}: {names}"
    else:
        yield f"  {sentence}:"
        yield f"      {names}"
    for label, side in _sides(change):
        yield f"      {label:<6}  {visible(side) or '(nothing)'}"


# Markdown for a pull request

_MARKDOWN_SIZE: Final = 60_000
"""Bytes of the whole text: GitHub takes 65,536 characters."""
_MARKDOWN_TAIL: Final = 400
"""Bytes that are kept free for the lines that say what was cut."""
_MARKDOWN_OPEN: Final = {Level.BREAKING: 60, Level.ATTENTION: 30, Level.TEXTS: 30, Level.COMPATIBLE: 8}
"""Up to how many changes a level is not folded away."""
_MARKDOWN_PER_RULE: Final = {Level.BREAKING: 100, Level.ATTENTION: 20, Level.TEXTS: 100, Level.COMPATIBLE: 20}
_MARKDOWN_ITEMS: Final = 8
_MARKDOWN_FEW_NAMES, _MARKDOWN_MORE_NAMES = 5, 40


def _markdown(changes: Changes) -> str:
    if not changes:
        return f"{_NOTHING}\n"
    hosts = changes.in_section(HOSTS)
    text = _markdown_section(HOSTS, Level.BREAKING, hosts, _MARKDOWN_SIZE // 2).lstrip("\n") + "\n" if hosts else ""
    text += _markdown_summary(changes)
    for level in Level:
        members = changes.in_section("", level)
        if members:
            text += _markdown_section(_HEADINGS[level], level, members, _MARKDOWN_SIZE - len(text.encode()))
    return text


def _markdown_summary(changes: Changes) -> str:
    sides = changes.old, changes.new
    versions = [code(plain(side.version, _MAX_TEXT)) if plain(side.version) else "–" for side in sides]
    numbers = [f"{len(side.operations):,}" for side in sides]
    rows = [("", "before", "now"), ("---", "---", "---"), ("operations", *numbers)]
    if versions[0] != versions[1]:
        rows.append(("version of the API", *versions))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    counts = ((len(changes.of(level)), _HEADINGS[level].lower()) for level in Level)
    summary = ", ".join(f"**{number:,}** {heading}" for number, heading in counts if number)
    return f"{table}\n\nFor an agent: {summary}.\n"


def _markdown_section(title: str, level: Level, changes: Sequence[Change], room: int) -> str:
    """Return the changes under a heading, folded away when they are many, and no more than there is room for."""
    heading = f"{title} ({len(changes):,})"
    is_folded = len(changes) > _MARKDOWN_OPEN[level]
    before = f"\n<details><summary>{heading}</summary>\n\n" if is_folded else f"\n### {heading}\n\n"
    after = "\n</details>\n" if is_folded else ""
    room -= len((before + after).encode()) + _MARKDOWN_TAIL
    shown = limit_per_rule(changes, _MARKDOWN_PER_RULE[level])
    lines = _fitting((_markdown_lines(change, left_out) for change, left_out in shown), room)
    if len(lines) < len(shown):
        lines.append("- … and more\n")
    if len(lines) < len(changes):
        lines.append("\n`aqlgen diff --output-format json` has all of them.\n")
    return before + "".join(lines) + after if room > 0 else ""


def _markdown_lines(change: Change, left_out: int) -> str:
    sentence = Writer(_markdown_code, _MARKDOWN_ITEMS).sentence(change)
    limit = _MARKDOWN_MORE_NAMES if change.rule in _NAMES_MATTER else _MARKDOWN_FEW_NAMES
    names = _operations(change.operations, limit, _markdown_code)
    more = f"- … and {left_out:,} more: {RULES[change.rule].title.lower()}\n" if left_out else ""
    sides = "".join(f"  - {label}: {_markdown_code(side, _MAX_SIDE)}\n" for label, side in _sides(change))
    return f"- {sentence}: {names}\n{sides}{more}" if names else f"- {sentence}\n{sides}{more}"


def _markdown_code(text: str, most: int = _MAX_TEXT) -> str:
    return code(plain(text, most), cell=False) if plain(text) else "“”"


def _fitting(lines: Iterable[str], room: int) -> list[str]:
    """Return as many lines as there is room for, in bytes."""
    fitting: list[str] = []
    for line in lines:
        room -= len(line.encode())
        if room < 0:
            break
        fitting.append(line)
    return fitting
