"""Category rules for POST and for actions: the method leaves the category open; names, summaries and paths decide.

Each is a pure function of an operation's facts and returns a verdict, or None where it does not apply (R-NAME-1).
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.decision import Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import Noun, is_plural
from aqlgen.words import split

__all__ = [
    "action",
    "collection",
    "method_only",
    "named",
    "on_item",
    "spoken_action",
    "summary",
    "weakly_named",
]

_GENERIC: Final = frozenset("post put create update patch set add write".split())
_ITSELF: Final = frozenset("id ids sid key name slug uuid guid code number ref value handle uri url".split())
"""Words of a parameter that identifies an item without naming its kind."""


def action(facts: Facts) -> Verdict | None:
    """Read an action at the path's end (`…/cancel`), unless people gave the operation a verb that says more."""
    verb, named = facts.action_verb, facts.named_verb
    if verb is None or facts.method not in ("POST", "PUT"):
        return None
    if named and named.strong and named.word not in _GENERIC:
        return None
    if named and named.word in ("create", "add", "update", "set") and verb.category is Category.READ:
        return None
    if not (verb.strong or named or facts.shape.item):
        return None
    if facts.shape.action == ("read",) and facts.shape.item:
        return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, f"{facts.method} that marks items as read")
    return Verdict(verb.category, Evidence.RULE, 0.93 if verb.strong else 0.75, f"the path ends in {verb.word}")


def named(facts: Facts) -> Verdict | None:
    """Believe the verb that people used; `post` and `put` at its head only repeat the method."""
    verb = facts.named_verb
    if verb is None or not verb.strong or verb.word in ("post", "put"):
        return None
    return Verdict(verb.category, Evidence.RULE, 0.93, f"called {verb.word}")


def weakly_named(facts: Facts) -> Verdict | None:
    """Believe a verb that may be a noun, where nothing stronger speaks; the summary may confirm it."""
    verb = facts.named_verb
    if verb is None or verb.word in ("post", "put"):
        return None
    if split(facts.operation.summary[:60])[:1] == (verb.word,):
        return Verdict(verb.category, Evidence.RULE, 0.85, f"called {verb.word}, by its name and its summary")
    return Verdict(verb.category, Evidence.HEURISTIC, 0.66, f"called {verb.word}")


def summary(facts: Facts) -> Verdict | None:
    """Believe the verb at the head of the summary."""
    verb, last = facts.summary_verb, facts.last_noun
    if verb is None:
        return None
    adding = last is not None and not last.parameters and is_plural(last.words) and not facts.shape.action
    if adding and verb.category not in (Category.CREATE, Category.READ):
        note = f"its summary has {verb.word}, though it is POST on a collection"
        return Verdict(verb.category, Evidence.HEURISTIC, 0.68, note)
    return Verdict(verb.category, Evidence.RULE, 0.8, f"its summary has {verb.word}")


def spoken_action(facts: Facts) -> Verdict | None:
    """Take a path's end for an action if the name or the summary begins with it (`…/stage`, "Stages a release")."""
    if facts.spoken_action is None:
        return None
    word, category = facts.spoken_action
    return Verdict(category, Evidence.HEURISTIC, 0.72, f"its path and its name have {word}")


def on_item(facts: Facts) -> Verdict | None:
    """Take a POST on one item for its UPDATE; where the path ends in the owner of the new thing, for a CREATE."""
    last = facts.last_noun
    if not last or not last.parameters or last.words in last.parameters or facts.shape.action:
        return None
    if _is_foreign(last):
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.6, f"POST beside a {' '.join(last.parameters[-1])}")
    return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, "POST on one item")


def _is_foreign(noun: Noun) -> bool:
    """Return True if the last parameter names something else than the noun before it (`/policies/{projectId}`)."""
    kind = [word for word in noun.parameters[-1] if word not in _ITSELF]
    return bool(kind) and not set(kind) & {*noun.words, *noun.one}


def collection(facts: Facts) -> Verdict | None:
    """Take a POST on a collection for a CREATE."""
    last = facts.last_noun
    if not last or not is_plural(last.words):
        return None
    return Verdict(Category.CREATE, Evidence.RULE, 0.85, "POST on a collection")


def method_only(facts: Facts) -> Verdict:
    """Decide what no other rule decides."""
    verb = facts.action_verb
    if facts.shape.action and (verb is None or facts.shape.item):
        category = verb.category if verb else Category.EXECUTE
        return Verdict(category, Evidence.HEURISTIC, 0.6, f"the path ends in {facts.shape.action[0]}")
    if facts.shape.nouns or verb:
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.6, f"{facts.method} with no verb")
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.5, f"{facts.method} with no verb and no noun")
