# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The risk of an action, from 0 to 100, with the points that make it (specification, 8.7.2; danger levels, 8.1, 8.3).

The base is the highest of: the operations that would run, by their danger; operations of this adapter that the hint
names; dangerous words of the hint. So what an agent says can raise the risk of what it reports, and never lower it.
Repetition and earlier grave actions of the execution add to it, up to the end of the tier `verify`: they never block.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .lookalikes import normalized

__all__ = ["GRAVE", "TIERS", "Risk", "names_of", "risk_of", "tier_of", "words_of"]

TIERS: Sequence[tuple[int, str]] = ((30, "advisory"), (60, "confirm"), (85, "verify"), (100, "danger_zone"))
"""The highest risk of each tier."""
GRAVE = 41
"""The risk of a destructive operation, from which on actions count as grave."""

_BASES: Mapping[str, int] = {"safe": 5, "reversible": 20, "destructive": 45, "dangerous": 65, "forbidden": 90}
_UNKNOWN_DANGER = 65
_UNKNOWN_ACTION = 20
_READS = 5
_HIGHEST_ESCALATED = 85
_REPEATED = ((20, 20), (6, 10))
"""From which repetition on how many points are added."""
_CUMULATIVE, _EACH, _MOST_CUMULATIVE = 3, 5, 20

_READING = re.compile(r"(?:calling |running )?(?:read|list|get|search|count|check|introspect|show|look|find|view)")
_CHANGING = re.compile(
    r"\b(?:writ|creat|updat|chang|delet|remov|drop|send|execut|run|post|put|patch|deploy|push|install|kill|stop)"
)

_NAMES: Sequence[tuple[tuple[str, ...], tuple[str, ...], int]] = (
    (("drop_", "truncate_", "reset_", "destroy_", "wipe_", "delete_all"), ("_production",), 90),
    (("force_", "override_", "bypass_", "purge_", "bulk_delete"), ("_permanently", "_without_backup"), 65),
    (("delete_", "remove_", "revoke_", "cancel_", "archive_", "disable_", "overwrite_"), (), 45),
)
"""Beginnings and ends of the names of operations that stand for danger (danger levels document, 6)."""

_WORDS: Sequence[tuple[re.Pattern[str], int]] = (
    (re.compile(r"\brm [^|;&]{0,40}-(?:\w{0,8}r\w{0,8}f|\w{0,8}f\w{0,8}r|-?recursive)"), 90),
    (re.compile(r"\b(?:mkfs|fdisk|wipefs|shred)\b|\bdd [^|;&]{0,60}of=|> ?/dev/(?:sd|nvme|disk)"), 90),
    (re.compile(r":\(\) ?\{"), 90),
    (
        re.compile(
            r"\b(?:drop|dropp|delet|truncat|wip|destroy|eras|reset)(?:s|e|es|ed|ing)?[ -](?:\w{1,20} ){0,3}"
            r"(?:table|database|schema|collection|index|bucket|disk|volume|cluster|production|environment|backup)"
        ),
        90,
    ),
    (re.compile(r"\b(?:delet|remov|eras|wip|destroy|purg)(?:s|e|es|ed|ing)?[ -](?:\w{1,20} ){0,2}(?:all|every)"), 90),
    (re.compile(r"\bgit push [^|;&]{0,80}(?:--force|-f\b|--mirror|--delete)|\bforce[- ]push"), 65),
    (re.compile(r"\bgit (?:reset [^|;&]{0,40}--hard|clean [^|;&]{0,20}-\w{0,4}f|filter-branch)"), 65),
    (re.compile(r"\b(?:curl|wget)\b[^|;&]{0,200}\| ?(?:sudo )?(?:ba|z|k|da)?sh\b"), 70),
    (re.compile(r"\bchmod [^|;&]{0,20}(?:777|a\+rwx)|\b(?:shutdown|reboot|halt|poweroff)\b"), 65),
    (re.compile(r"\b(?:wip|destroy|purg|eras|truncat|obliterat)(?:s|e|es|ed|ing)?\b"), 65),
    (
        re.compile(r"\b(?:disabl|bypass|overrid)(?:s|e|es|ed|ing)? (?:\w{1,20} ){0,3}(?:safety|security|audit|check)"),
        65,
    ),
    (re.compile(r"\b(?:permanently|irreversibl[ey]|without (?:a )?backup|factory reset)\b"), 65),
    (re.compile(r"\b(?:delet|remov|revok|overwrit)(?:s|e|es|ed|ing)?\b|\bsudo\b|\bkill(?:all)? |\brm "), 45),
    (re.compile(r"\b(?:deploy|transfer|pay|refund|publish|grant)(?:s|ed|ing|ment)?\b"), 45),
)
"""What a hint in prose or of a shell stands for."""


class Risk(NamedTuple):
    """A risk with the points that make it; `base` is without repetition and earlier actions."""

    score: int
    base: int
    factors: tuple[str, ...]

    @property
    def tier(self) -> str:
        """The safety tier."""
        return tier_of(self.score)


def tier_of(score: int) -> str:
    """Return the safety tier of a risk."""
    return next((tier for highest, tier in TIERS if score <= highest), TIERS[-1][1])


def words_of(hint: str) -> list[str]:
    """Return the words of a hint that could be names of operations, as they are normalized.

    Of a name that is qualified by its server (`mcp__files__drop_table`) the parts are words, too, and of one in camel
    case (`dropTable`) its form with underscores.
    """
    words = [word for text in _texts_of(hint) for word in re.findall(r"[a-z0-9_]+", text)]
    return words + _unqualified(words)


def names_of(hint: str) -> list[str]:
    """Return the names in a hint, as patterns match them: `drop_table` of `dropTable` and `drop-table`, too."""
    names = [name.replace("-", "_") for text in _texts_of(hint) for name in re.findall(r"[a-z0-9_-]+", text)]
    return [name for name in dict.fromkeys((*names, *_unqualified(names))) if "_" in name]


def _texts_of(hint: str) -> list[str]:
    """Return a hint as it is normalized, and with an underscore at each hump of a word, if it has any."""
    divided = "".join(
        f"_{after}" if after.isupper() and (before.islower() or before.isdigit()) else after
        for before, after in itertools.pairwise(f" {hint}")
    )
    return list(dict.fromkeys((normalized(hint), normalized(divided))))


def _unqualified(words: Sequence[str]) -> list[str]:
    """Return the parts of words that clients qualify with the server's name."""
    return [part for word in words if "__" in word for part in word.split("__") if part]


def risk_of(
    hint: str,
    operations: Sequence[tuple[str, str]],
    mentioned: Sequence[tuple[str, str]],
    repeated: int,
    grave: int,
) -> Risk:
    """Return the risk of an action.

    `operations` would run, `mentioned` are named in the hint: (name, danger). `repeated` is how often the execution has
    taken the same action before, `grave` how many grave actions it has taken.
    """
    bases = [(_base(danger), f"{danger} operation {name}") for name, danger in operations]
    bases += [(_base(danger), f"{danger} operation {name} named in the hint") for name, danger in mentioned]
    bases += _of_words(hint)
    if not operations:
        bases.append(_of_unknown(hint))
    base, reason = max(bases, key=lambda entry: entry[0])
    factors, score = [f"{reason}: {base}"], base
    if base >= _UNKNOWN_ACTION:
        for points, text in _escalations(repeated, grave):
            if score < _HIGHEST_ESCALATED:
                added = min(points, _HIGHEST_ESCALATED - score)
                score += added
                factors.append(f"+{added} {text}")
    return Risk(score, base, (*factors, f"Risk {score} of 100: {tier_of(score)}"))


def _base(danger: str) -> int:
    return _BASES.get(danger, _UNKNOWN_DANGER)


def _of_words(hint: str) -> Iterable[tuple[int, str]]:
    """Yield the dangerous names and words of a hint."""
    text = normalized(hint)
    for name in names_of(hint):
        points = next((points for first, last, points in _NAMES if name.startswith(first) or name.endswith(last)), 0)
        if points:
            yield points, f"'{name[:60]}' in the hint"
    for pattern, points in _WORDS:
        match = pattern.search(text)
        if match is not None:
            yield points, f"'{match[0][:60].strip()}' in the hint"


def _of_unknown(hint: str) -> tuple[int, str]:
    text = normalized(hint)
    if _READING.match(text) and not _CHANGING.search(text):
        return _READS, "a reading action"
    return _UNKNOWN_ACTION, "an action of which nothing dangerous is known"


def _escalations(repeated: int, grave: int) -> Iterable[tuple[int, str]]:
    points = next((points for least, points in _REPEATED if repeated + 1 >= least), 0)
    if points:
        yield points, f"repeated {repeated + 1} times in this execution"
    points = min(_MOST_CUMULATIVE, grave // _CUMULATIVE * _EACH)
    if points:
        yield points, f"after {grave} grave actions in this execution"
