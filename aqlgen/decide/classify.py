"""The category of an operation (R-NAME-1): ordered rules with names, pure functions; the first that knows decides.

What a rule decides is then weighed against everything else that speaks: a name, a path or a summary that contradicts
lowers the confidence, and so does silence where only the path was heard, so that a reviewer sees the doubtful ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from aqlgen.decisions import REVIEW_THRESHOLD, Category, Reason

from . import methods, posting
from .facts import Facts
from .methods import Verdict
from .neighbours import Neighbours
from .storing import doubted
from .verbs import Verb

__all__ = ["RULES", "classify"]

_CONTRADICTED: Final = 0.65
_DOUBTED: Final = 0.68
_UNHEARD: Final = 0.68
_CHANGING: Final = frozenset({Category.CREATE, Category.UPDATE, Category.EXECUTE})
"""Among these a summary mostly tells the same in other words (createSpeech: "Generates audio"); 1 in 9 does not."""
_WANTING: Final = {"action-on-resource": 1, "put-method": 0, "post-on-collection": 0}
"""Rules that want somebody besides the path, with how many verbs they hear themselves.

Measured where neither a name nor a summary has a verb, they err in 6 to 13 of 100 operations, else in 1.
"""
_SILENT: Final = frozenset({"put-method", "post-on-collection", "method-only"})
"""Rules that know the method and the path alone. Where neighbours confirm them, they err in 3 of 100."""
_CONFIRMED: Final = 0.8
_PLAIN: Final = frozenset(
    "create add new insert upload import update set rename move rotate delete remove revoke search query get list"
    " cancel approve restart retry".split()
)
"""Verbs that can mean one category only, wherever they stand."""
_DECLARED: Final = frozenset({"declared", "read-only"})
"""Rules whose READ the document itself states."""
_FIRM: Final = frozenset({"declared", "read-only", "safe-method", "told-action", "twilio-path"})
"""Rules that nothing contradicts."""


def classify(facts: Facts, neighbours: Neighbours) -> tuple[Category, Reason]:
    """Give the category with the rule that decided it; `neighbours` only confirm it."""
    for name, rule in RULES:
        verdict = rule(facts)
        if verdict is not None:
            doubt = doubted(facts, verdict[2]) if verdict[0] is Category.READ and name not in _DECLARED else None
            verdict = doubt or verdict
            category, evidence, confidence, note = verdict
            if name not in _FIRM and doubt is None:
                confidence, note = _weigh(facts, name, verdict, neighbours)
            return category, Reason(name, evidence, confidence, note)
    raise AssertionError("the last rule knows every operation")


def _weigh(facts: Facts, rule: str, verdict: Verdict, neighbours: Neighbours) -> tuple[float, str]:
    """Lower the confidence where others contradict, or where nobody else speaks."""
    category, _, confidence, note = verdict
    spoken = posting.witnesses(facts)
    against = [(where, verb) for where, verb in spoken if verb.category is not category and not _is_vague(verb)]
    agreeing = sum(verb.category is category for _, verb in spoken)
    if against and agreeing < 2 and confidence >= REVIEW_THRESHOLD and rule not in ("delete-method", "patch-method"):
        where, verb = against[0]
        if where == "its summary" and {category, verb.category} <= _CHANGING:
            return min(confidence, _DOUBTED), f"{note}, though {where} says {verb.word}"
        return _CONTRADICTED, f"{note}, but {where} says {verb.word}"
    if rule in _SILENT and not spoken and not facts.named and neighbours.confirm(facts, category):
        return max(confidence, _CONFIRMED), f"{note}, where GET reads the same"
    if (
        rule in _WANTING
        and len(spoken) <= _WANTING[rule]
        and not facts.named
        and not (facts.action and (facts.shape.item or facts.action.word in _PLAIN))
    ):
        return min(confidence, _UNHEARD), f"{note}, and nothing else speaks"
    return confidence, note


def _is_vague(verb: Verb) -> bool:
    """Whether a verb only repeats the method, or says so little that it contradicts nothing."""
    return verb.word in ("post", "put", "get", "set", "make", "do", "perform", "run", "allow")


RULES: Final[tuple[tuple[str, Callable[[Facts], Verdict | None]], ...]] = (
    ("declared", methods.stated),
    ("read-only", methods.read_only),
    ("procedure-verb", methods.procedure),
    ("safe-method", methods.safe),
    ("delete-method", methods.delete),
    ("patch-method", methods.patch),
    ("action-on-resource", posting.action),
    ("put-method", methods.put),
    ("named-verb", posting.called),
    ("search-noun", posting.search),
    ("summary-verb", posting.summary),
    ("told-action", posting.told),
    ("weak-verb", posting.weakly_called),
    ("twilio-path", posting.twilio),
    ("accepted-only", posting.accepted),
    ("settings-noun", posting.settings),
    ("post-on-item", posting.on_item),
    ("post-on-collection", posting.collection),
    ("method-only", posting.method_only),
)
"""Rules in order of trust. Each gives category, evidence, confidence and a note, or None where it does not apply."""
