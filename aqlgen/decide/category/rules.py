"""The category rules (R-NAME-1): an ordered table; the first rule that knows the operation decides.

The verdict is then weighed against all other evidence: a name, a path or a summary that contradicts it lowers the
confidence, and so does silence where only the path spoke, so that a reviewer sees the doubtful ones.

What carries other operations is an EXECUTE: its effect is theirs. The tool of CREATE says that it destroys nothing. So
an operation that may overwrite a resource is an UPDATE under any name: one that saves or upserts, and a PUT of the
resource that its path identifies. The name stays as people say it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.decide.category import method_rules
from aqlgen.decide.category.evidence import Siblings, Verdict, witnesses
from aqlgen.decide.category.reads import doubt_read
from aqlgen.decide.decision import REVIEW_THRESHOLD, Category, Doubt, Reason
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.verbs import Verb


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule: `apply` returns its verdict, None where it does not apply."""

    name: str
    apply: Callable[[Facts], Verdict | None]
    firm: bool = False
    """Nothing contradicts it: its confidence stays."""
    judges_effect: bool = False
    """It has weighed the verbs against the method itself: they do not contradict it."""
    path_only: bool = False
    """It knows method and path alone. Where siblings confirm it, it errs in 3 of 100 operations."""
    wants_witness: int | None = None
    """It needs a verb besides those it reads itself, whose number this is; None where it does not.

    Measured where neither a name nor a summary has a verb, such rules err in 6 to 13 of 100 operations, else in 1.
    """


RULES: Final = (
    Rule("declared", method_rules.stated, firm=True),
    Rule("read-only", method_rules.read_only, firm=True),
    Rule("procedure-verb", method_rules.procedure),
    Rule("safe-method", method_rules.safe, firm=True),
    Rule("custom-method", method_rules.custom, firm=True),
    Rule("delete-method", method_rules.delete, judges_effect=True),
    Rule("patch-method", method_rules.patch, judges_effect=True),
    Rule("action-on-resource", method_rules.action, wants_witness=1),
    Rule("put-method", method_rules.put, path_only=True, wants_witness=0),
    Rule("named-verb", method_rules.named),
    Rule("summary-verb", method_rules.summary),
    Rule("described-action", method_rules.spoken_action, firm=True),
    Rule("weak-verb", method_rules.weakly_named),
    Rule("post-on-item", method_rules.on_item),
    Rule("post-on-collection", method_rules.collection, path_only=True, wants_witness=0),
    Rule("method-only", method_rules.method_only, path_only=True),
)
"""The rules in order of trust; the last one knows every operation."""

_CONTRADICTED: Final = 0.65
_CLAIMED: Final = 0.6
"""The most confidence in a category where an extension of the document claims a milder one."""
_CONTRADICTED_BY_SUMMARY: Final = 0.68
_SILENT: Final = 0.68
_CONFIRMED: Final = 0.8
_CHANGING: Final = frozenset({Category.CREATE, Category.UPDATE, Category.EXECUTE})
"""Between these a summary mostly says the same in other words (createSpeech: "Generates audio"); 1 in 9 does not."""
_UNAMBIGUOUS: Final = frozenset(
    "create add new insert upload import update set rename move rotate delete remove revoke search query get list"
    " cancel approve restart retry".split()
)
"""Verbs that have one category only, wherever they stand."""
_VAGUE: Final = frozenset("post put get set make do perform run allow".split())
"""Verbs that only repeat the method, or say so little that they contradict nothing."""


def classify(facts: Facts, siblings: Siblings) -> tuple[Category, Reason]:
    """Return the category with the rule that decided it; `siblings` only confirm it."""
    for rule in RULES:
        verdict = rule.apply(facts)
        if verdict is None:
            continue
        doubt = doubt_read(facts) if verdict.category is Category.READ else None
        if doubt is not None:
            verdict = doubt._replace(doubt=Doubt.CONTRADICTED)
        elif not rule.firm:
            verdict = _weigh(facts, rule, verdict, siblings)
        verdict = _answered(facts, verdict)
        return verdict.category, Reason(rule.name, *verdict[1:])
    raise AssertionError("the last rule knows every operation")


def _answered(facts: Facts, verdict: Verdict) -> Verdict:
    """Lower the confidence where an extension claims what is not believed, so that a person reads both."""
    claim = method_rules.doubted_claim(facts)
    if not claim:
        return verdict
    confidence, note = min(verdict.confidence, _CLAIMED), f"{verdict.note}; {claim}"
    return verdict._replace(confidence=confidence, note=note, doubt=Doubt.CLAIMED)


def _weigh(facts: Facts, rule: Rule, verdict: Verdict, siblings: Siblings) -> Verdict:
    """Lower the confidence where a witness contradicts, or where there is no witness."""
    verbs = witnesses(facts)
    contrary = _contradiction(rule, verdict, verbs)
    if contrary is not None:
        return contrary
    silent = not verbs and not facts.named_verb
    if rule.path_only and silent and siblings.confirm(facts, verdict.category):
        note = f"{verdict.note}, while GET reads the same"
        return verdict._replace(confidence=max(verdict.confidence, _CONFIRMED), note=note)
    if rule.wants_witness is not None and len(verbs) <= rule.wants_witness and not _speaks_for_itself(facts):
        note = f"{verdict.note}, without other evidence"
        return verdict._replace(confidence=min(verdict.confidence, _SILENT), note=note)
    return verdict


def _contradiction(rule: Rule, verdict: Verdict, verbs: tuple[tuple[str, Verb], ...]) -> Verdict | None:
    """Return the verdict as the first contrary verb leaves it; None where none counts."""
    category, _, confidence, note, _ = verdict
    contrary = [(place, verb) for place, verb in verbs if verb.category is not category and verb.word not in _VAGUE]
    agreeing = sum(verb.category is category for _, verb in verbs)
    if not contrary or agreeing >= 2 or confidence < REVIEW_THRESHOLD or rule.judges_effect:
        return None
    (place, verb), against = contrary[0], Doubt.CONTRADICTED
    if place == "its summary" and {category, verb.category} <= _CHANGING:
        note = f"{note}, but {place} says {verb.word}"
        return verdict._replace(confidence=min(confidence, _CONTRADICTED_BY_SUMMARY), note=note, doubt=against)
    return verdict._replace(confidence=_CONTRADICTED, note=f"{note}, but {place} says {verb.word}", doubt=against)


def _speaks_for_itself(facts: Facts) -> bool:
    """Return True if a name has a verb, or the path ends in an action that can hardly be anything else."""
    action = facts.action_verb
    return bool(facts.named_verb) or (action is not None and (facts.shape.item or action.word in _UNAMBIGUOUS))


def by_effect(facts: Facts, siblings: Siblings, category: Category, reason: Reason) -> tuple[Category, Reason]:
    """Return the category, corrected by the effect of the operation, with the reason."""
    note = _overwrites(facts) if category is Category.CREATE else ""
    if siblings.read_what_it_puts(facts) and (
        category is Category.EXECUTE or (category is Category.CREATE and not _only_creates(facts))
    ):
        note = "its PUT replaces what a GET of the path reads"
    if note:
        return Category.UPDATE, replace(reason, note=f"{reason.note}, but {note}")
    if category in (Category.CREATE, Category.READ) and facts.carrying is not None and facts.carrying.is_batch:
        return Category.EXECUTE, replace(reason, note=f"{reason.note}, but {facts.carrying.note}")
    return category, reason


def _overwrites(facts: Facts) -> str:
    """Return why a create may replace an existing resource, "" without a sign of it."""
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
