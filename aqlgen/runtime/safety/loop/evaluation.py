# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The evaluation of a reported step in five stages (specification, 8.7.2; R-LOOP-3).

The stages are the step limit, the previous outcome, the patterns, the safety tier and the risk tolerance, in this
order; the first that pauses or stops ends the evaluation. Two rules decide what the document leaves open:

- What is approved in advance (`auto_approve`) goes on up to the tier `confirm`; what belongs to `verify` or
  `danger_zone` does not. Of an operation of this adapter the pattern has to match the name, not the hint.
- A person's confirmation stands for the stages and tiers up to `confirm`; only a verification stands for all of them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from ...hooks import Step, StepVerdict
from .executions import THRESHOLDS, Profile, StepApproval
from .lookalikes import normalized
from .risk import Risk, names_of, risk_of

__all__ = ["STEP_LIMIT", "Past", "evaluate", "weigh"]

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
    """Return what the patterns that hold back are matched against: the hint, the names in it, and what would run."""
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
