"""All that changed between two adapters, worst first, and its three forms."""

from __future__ import annotations

from dataclasses import dataclass

from aqlgen.compare.markdown import as_markdown
from aqlgen.compare.model import Change, Level
from aqlgen.compare.rules import RULES
from aqlgen.compare.surface import Surface
from aqlgen.compare.text import as_text
from aqlgen.compare.wording import Words
from aqlgen.ir import Json

__all__ = ["Changes"]


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed for an agent from one adapter to the other; empty when nothing did."""

    old: Surface
    new: Surface
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def breaking(self) -> bool:
        """Whether something that worked for an agent does not any more."""
        return any(one.level is Level.BREAKING for one in self.changes)

    def of(self, level: Level) -> tuple[Change, ...]:
        """Give the changes of one level."""
        return tuple(one for one in self.changes if one.level is level)

    def as_json(self) -> dict[str, Json]:
        """Give every change as data."""
        return {
            "breaking": self.breaking,
            "counts": {level.value: len(self.of(level)) for level in Level},
            "from": _side(self.old),
            "to": _side(self.new),
            "changes": [_entry(one) for one in self.changes],
        }

    def as_text(self, *, every: bool = False) -> str:
        """Give what a terminal shows, with no line end at the end; long lists are counted unless `every`."""
        return as_text(self, every=every)

    def as_markdown(self) -> str:
        """Give the text of a pull request, under 60,000 bytes."""
        return as_markdown(self)


_WORDS = Words(lambda text: f"`{text}`")


def _side(side: Surface) -> dict[str, Json]:
    return {"api_version": side.version, "operations": len(side.operations)}


def _entry(change: Change) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "rule": change.rule,
        "level": change.level.value,
        "title": RULES[change.rule].title,
        "message": _WORDS.sentence(change),
        "operations": list(change.operations),
    }
    if change.holders:
        fields = [one for one in change.leaves if one]
        places = [{"kind": one.kind, "name": one.name, "path": one.way} for one in change.holders]
        entry |= {"fields": fields, "places": places, "directions": [one.value for one in change.directions]}
    return entry
