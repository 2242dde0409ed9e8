"""The evaluation of a reported step: its risk, and five stages (specification, 8.7.2; R-LOOP-3).

The stages are the step limit, the previous outcome, the patterns, the safety tier and the risk tolerance, in this
order; the first that pauses or stops ends the evaluation. Two rules decide what the document leaves open:

- What is approved in advance (`auto_approve`) goes on up to the tier `confirm`; what belongs to `verify` or
  `danger_zone` does not. Of an operation of this adapter the pattern has to match the name, not the hint.
- A person's confirmation stands for the stages and tiers up to `confirm`; only a verification stands for all of them.

The risk is from 0 to 100, with the points that make it (danger levels, 8.1, 8.3). The base is the highest of: the
operations that would run, by their danger; operations of this adapter that the hint names; dangerous words of the hint.
So what an agent says can raise the risk of what it reports, and never lower it. Repetition and earlier grave actions of
the execution add to it, up to the end of the tier `verify`: they never block.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from ...hooks import Step, StepVerdict
from .executions import THRESHOLDS, Profile, StepApproval
from .lookalikes import normalized

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


_Outcome: TypeAlias = Literal["continue", "confirm", "verify", "block"]
STEP_LIMIT = "Step limit exceeded"


class Past(NamedTuple):
    """What an execution has done: steps without a person, the same action before, grave actions."""

    taken: int = 0
    repeated: int = 0
    grave: int = 0


def weigh(step: Step, mentioned: Sequence[tuple[str, str]], past: Past) -> Risk:
    """Return the risk of a step."""
    return risk_of(step.action, step.operations, mentioned, past.repeated, past.grave)


def evaluate(
    step: Step,
    risk: Risk,
    past: Past,
    profile: Profile,
    approval: StepApproval | None = None,
    mentioned: Sequence[tuple[str, str]] = (),
) -> StepVerdict:
    """Evaluate a step that an agent is about to take; `mentioned` are operations that its hint names."""

    def verdict(outcome: _Outcome, factors: Sequence[str], reason: str | None = None) -> StepVerdict:
        return StepVerdict(outcome, risk.score, risk.tier, tuple(factors), reason)

    if approval is not None and approval.verified:
        return verdict("continue", [approval.by])
    factors = [] if approval is None else [approval.by]
    if approval is None:
        paused = _of_progress(step, past, profile, factors)
        if paused is not None:
            return verdict("confirm", factors, paused)
    names = _names(step, mentioned)
    pattern = _first_match(names, profile.deny, within=True)
    if pattern is not None:
        factors.append(f"Pattern match: '{pattern}' is denied")
        return verdict("block", [*factors, *risk.factors], "Action is denied until a person verifies it")
    if approval is None:
        pattern = _first_match(names, profile.requires_approval, within=True)
        if pattern is not None:
            factors.append(f"Pattern match: '{pattern}' requires approval")
            return verdict("confirm", [*factors, *risk.factors], "Action requires approval")
    in_advance = _in_advance(step, profile)
    if approval is None:
        factors.append(f"Pattern match: '{in_advance}' is approved" if in_advance else "Pattern match: none")
    if risk.tier == "danger_zone":
        return verdict("block", [*factors, *risk.factors], f"Risk {risk.score} of 100 blocks the agent")
    if risk.tier == "verify":
        return verdict("verify", [*factors, *risk.factors], f"Risk {risk.score} of 100 needs a person's verification")
    if approval is not None:
        return verdict("continue", factors)
    factors += risk.factors
    if in_advance:
        return verdict("continue", factors)
    return _of_tolerance(verdict("continue", factors), profile)


def _names(step: Step, mentioned: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names for the patterns that hold back: the hint, the names in it, and the operations."""
    known = (normalized(name) for name, _ in (*step.operations, *mentioned))
    return list(dict.fromkeys([normalized(step.action), *known, *names_of(step.action)]))


def _of_progress(step: Step, past: Past, profile: Profile, factors: list[str]) -> str | None:
    """Return why the first two stages pause, None if they do not; their factors are added."""
    most = profile.max_autonomous_steps
    if past.taken >= most:
        factors.append(f"Step limit: {past.taken} of {most} steps were taken without a person")
        return STEP_LIMIT
    factors.append(f"Step limit: step {past.taken + 1} of {most}")
    if step.outcome == "failure":
        factors.append("Previous outcome: failure")
        return "The previous step failed"
    if step.outcome is not None:
        factors.append(f"Previous outcome: {step.outcome}")
    return None


def _of_tolerance(verdict: StepVerdict, profile: Profile) -> StepVerdict:
    """Apply the tolerance: `conservative` pauses earlier, `aggressive` does not pause in the tier `confirm`."""
    threshold = THRESHOLDS[profile.risk_tolerance]
    if verdict.tier == "confirm" and (profile.risk_tolerance != "aggressive" or verdict.risk > threshold):
        return verdict._replace(outcome="confirm", reason=f"Risk {verdict.risk} of 100 needs a person's confirmation")
    factor = f"Risk tolerance: {profile.risk_tolerance}"
    if verdict.risk > threshold:
        factors = (*verdict.factors, f"{factor}, up to {threshold}")
        reason = f"Risk {verdict.risk} is above the tolerance of {threshold}"
        return verdict._replace(outcome="confirm", factors=factors, reason=reason)
    return verdict if verdict.tier == "advisory" else verdict._replace(factors=(*verdict.factors, factor))


def _in_advance(step: Step, profile: Profile) -> str | None:
    """Return the pattern that approves a step: all names of what would run, or the hint where nothing is reported."""
    if not step.operations:
        return _first_match([normalized(step.action)], profile.auto_approve)
    matches = [_first_match([normalized(name)], profile.auto_approve) for name, _ in step.operations]
    return matches[0] if all(matches) else None


def _first_match(texts: Sequence[str], patterns: tuple[str, ...], *, within: bool = False) -> str | None:
    """Return the first pattern that one of the texts matches; all patterns are tried at once first.

    With `within` a pattern may begin at any word of a text: `git push*` also holds back "running git push".
    """
    if not patterns:
        return None
    any_of = _compiled(patterns, within=within)
    matching = [text for text in texts if any_of.fullmatch(text) is not None]
    if not matching:
        return None
    return next(
        pattern
        for pattern in patterns
        if any(_compiled((pattern,), within=within).fullmatch(text) for text in matching)
    )


@lru_cache(maxsize=1024)
def _compiled(patterns: tuple[str, ...], *, within: bool) -> re.Pattern[str]:
    return re.compile("|".join(_translated(normalized(pattern), within=within) for pattern in patterns))


def _translated(pattern: str, *, within: bool) -> str:
    """Return a glob as an expression of linear time: what stands before its first star is sought once."""
    whole = fnmatch.translate(pattern)
    start, star, _ = pattern.partition("*")
    if not within or not start or not star or set(start) & set("?["):
        return whole
    return rf"{whole}|(?s:(?>.*?(?<![a-z0-9_]){re.escape(start)})){fnmatch.translate(pattern[len(start) :])}"
