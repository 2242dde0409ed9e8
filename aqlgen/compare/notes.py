"""What was found of operations themselves, and of the adapter: collected, then told once for all operations alike."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from aqlgen.compare.model import Change, Level
from aqlgen.compare.rules import RULES

__all__ = ["Notes"]

Key = tuple[str, str, tuple[str, ...], tuple[str, ...], Level]


@dataclass(slots=True)
class Notes:
    """Findings by what they say."""

    _found: dict[Key, set[str]] = field(default_factory=lambda: defaultdict(set))

    def tell(
        self,
        rule: str,
        operation: str = "",
        *values: str,
        form: str = "",
        listed: tuple[str, ...] = (),
        level: Level | None = None,
    ) -> None:
        """Note a finding; `form` says it instead of the rule's own words, and `level` how bad it is here."""
        key = (rule, form or RULES[rule].form, values, listed, level or RULES[rule].level)
        self._found[key].update((operation,) if operation else ())

    def changes(self) -> list[Change]:
        """Give a change for everything that was found."""
        return [
            Change(rule, level, form, values, listed, operations=tuple(sorted(operations)))
            for (rule, form, values, listed, level), operations in self._found.items()
        ]
