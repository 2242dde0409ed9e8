# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The pipeline that judges an intended action (specification, 8.7.2): step limit, previous outcome, patterns.

The stages stand in this order, and the first that pauses ends the evaluation. The safety tiers and the risk tolerance
(stages 4 and 5) are optional and come with out-of-band verification.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from .profiles import Profile

__all__ = ["STEP_LIMIT", "Verdict", "evaluate", "plain"]

STEP_LIMIT = "Step limit exceeded"


class Verdict(NamedTuple):
    """Whether the agent may go on, why, and, when it may not, the reason in a few words."""

    go: bool
    factors: tuple[str, ...]
    reason: str | None = None


def evaluate(action: str, outcome: str | None, taken: int, profile: Profile) -> Verdict:
    """Judge an action that the agent is about to take; `taken` counts the steps that it took by itself so far."""
    most = profile.max_autonomous_steps
    if taken >= most:
        return Verdict(False, (f"Step limit: {taken} of {most} steps were taken without a person",), STEP_LIMIT)
    factors = [f"Step limit: step {taken + 1} of {most}"]
    if outcome == "failure":
        return Verdict(False, (*factors, "Previous outcome: failure"), "The previous step failed")
    if outcome is not None:
        factors.append(f"Previous outcome: {outcome}")
    text = plain(action)
    found = _first(text, profile.requires_approval)
    if found is not None:
        return Verdict(False, (*factors, f"Pattern match: '{found}' requires approval"), "Action requires approval")
    found = _first(text, profile.auto_approve)
    factors.append(f"Pattern match: '{found}' is approved" if found is not None else "Pattern match: none")
    return Verdict(True, tuple(factors))


def plain(action: str) -> str:
    """Give an action as patterns see it: case, width and spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", action).casefold().split())


def _first(text: str, patterns: tuple[str, ...]) -> str | None:
    return next((one for one in patterns if _compiled(one).fullmatch(text) is not None), None)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(plain(pattern)))
