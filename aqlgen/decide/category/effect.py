"""The category by effect, where structure says more than the words that name an operation (R-NAME-1).

What carries other operations is an EXECUTE: its effect is theirs.
The tool of CREATE says that it destroys nothing. So what may overwrite what is there is an UPDATE, whatever it is
called: what saves or upserts, and a PUT that sends the thing that its path identifies. The name stays as people say it.
"""

from __future__ import annotations

from dataclasses import replace

from aqlgen.decide.decision import Category, Reason
from aqlgen.decide.facts import Facts

__all__ = ["by_effect"]


def by_effect(facts: Facts, category: Category, reason: Reason) -> tuple[Category, Reason]:
    """Return the category by what an operation can do, with the reason."""
    note = _overwrites(facts) if category is Category.CREATE else ""
    if note:
        return Category.UPDATE, replace(reason, note=f"{reason.note}, but {note}")
    if category in (Category.CREATE, Category.READ) and facts.carrying is not None and facts.carrying.is_batch:
        return Category.EXECUTE, replace(reason, note=f"{reason.note}, but {facts.carrying.note}")
    return category, reason


def _overwrites(facts: Facts) -> str:
    """Return why what is created may replace what is there, "" where nothing says so."""
    verbs = (facts.named_verb or facts.summary_verb, facts.action_verb)
    words = {verb.word for verb in verbs if verb is not None}
    if "upsert" in words:
        return "an upsert changes an existing resource"
    if _only_creates(facts):
        return ""
    if "save" in words:
        return "the saved resource may exist"
    sends = facts.operation.body is not None and bool(facts.operation.body.media)
    return "a PUT of one thing replaces it" if facts.method == "PUT" and facts.shape.item and sends else ""


def _only_creates(facts: Facts) -> bool:
    """Return True if every success has made something new (201); a PUT has to refuse what is there, too (409)."""
    statuses = {response.status for response in facts.operation.responses}
    successes = {status for status in statuses if status.startswith("2") or status == "default"}
    return successes == {"201"} and (facts.method != "PUT" or "409" in statuses)
