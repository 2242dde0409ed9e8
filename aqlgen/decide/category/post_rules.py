"""Category rules for POST and for actions: the method leaves the category open; names, summaries and paths decide.

Each is a pure function of an operation's facts and returns a verdict, or None where it does not apply (R-NAME-1).
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.decision import Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import Noun, is_plural
from aqlgen.decide.naming.verbs import Verb, derived_verb
from aqlgen.words import split

__all__ = [
    "accepted",
    "action",
    "collection",
    "method_only",
    "named",
    "on_item",
    "settings",
    "spoken_action",
    "summary",
    "weakly_named",
]

_GENERIC: Final = frozenset("post put create update patch set add write".split())
_ITSELF: Final = frozenset("id ids sid key name slug uuid guid code number ref value handle uri url".split())
"""Words of a parameter that identifies an item without naming its kind."""


_JOINING: Final = frozenset({"assign", "associate", "attach", "bind", "link", "grant"})
_FETCHING: Final = frozenset({"sync", "synchronize", "pull", "poll"})
"""Verbs that bring the caller up to date as often as the server."""
_SETTINGS: Final = frozenset("preferences options config configuration permissions".split())
"""Nouns that every item has once."""
_DONE: Final = frozenset(
    "test fail ship deliver abandon invalidate advance transform crawl scrape increment decrement halt".split()
)
"""Weak verbs that no path ends in for a thing that is created, as it may in `chat` or `step`."""


def action(facts: Facts) -> Verdict | None:
    """Read an action at the path's end (`…/cancel`), unless people gave the operation a verb that says more."""
    verb, named = facts.action_verb, facts.named_verb
    if verb is None or facts.method not in ("POST", "PUT"):
        return None
    if named and named.strong and named.word not in _GENERIC:
        return None
    if named and named.word in ("create", "add", "update", "set") and verb.category is Category.READ:
        return None
    if _names_a_thing(facts) or not (verb.strong or named or facts.shape.item):
        return None
    return Verdict(verb.category, Evidence.RULE, 0.93 if verb.strong else 0.75, f"the path ends in {verb.word}")


def _names_a_thing(facts: Facts) -> bool:
    """Return True if people create what the path's end names: `createRemoveToken` of `…/remove-token` is a noun."""
    words = facts.shape.action
    if len(words) < 2 or not facts.phrase or not facts.named_verb or facts.named_verb.word not in ("create", "add"):
        return False
    return set(words) <= set(facts.phrase.object) or facts.phrase.evidence >= set(words)


def named(facts: Facts) -> Verdict | None:
    """Believe the verb that people used; `post` and `put` at its head only repeat the method."""
    verb = facts.named_verb
    if verb is None or not verb.strong or verb.word in ("post", "put"):
        return None
    doubt = _doubted_by_summary(facts, verb)
    if doubt is not None:
        return doubt
    last = facts.last_noun
    if verb.word in _JOINING and last and not last.parameters and is_plural(last.words) and not facts.action_verb:
        note = f"called {verb.word}, though it adds to a collection"
        return Verdict(verb.category, Evidence.HEURISTIC, 0.68, note)
    return Verdict(verb.category, Evidence.RULE, 0.93, f"called {verb.word}")


def _doubted_by_summary(facts: Facts, verb: Verb) -> Verdict | None:
    """Return what the summary says, where it knows better than a verb of creating on an item or of fetching."""
    other = facts.summary_verb
    if other is None:
        return None
    updating = other.category is Category.UPDATE and verb.word in ("create", "add") and facts.shape.item
    reading = other.category is Category.READ and verb.word in _FETCHING
    if not (updating or reading):
        return None
    note = f"called {verb.word}, but its summary has {other.word}"
    return Verdict(other.category, Evidence.HEURISTIC, 0.6 if updating else 0.66, note)


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


def accepted(facts: Facts) -> Verdict | None:
    """Take an operation that only answers 202 for one that starts something."""
    successes = [response.status for response in facts.operation.responses if response.status.startswith("2")]
    if successes == ["202"] and not facts.shape.item:
        return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.6, "answers 202 and nothing else")
    return None


def settings(facts: Facts) -> Verdict | None:
    """Take a POST on what every item has once (`…/preferences`) for its UPDATE."""
    last = facts.last_noun
    if last and not last.parameters and last.words[-1] in _SETTINGS and len(facts.shape.nouns) > 1:
        return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, f"POST on {last.words[-1]}")
    return None


def on_item(facts: Facts) -> Verdict | None:
    """Take a POST on one item for its UPDATE; where the path ends in the owner of the new thing, for a CREATE."""
    last = facts.last_noun
    if not last or not last.parameters or last.words in last.parameters or facts.shape.action:
        return None
    if _is_foreign(last) or _ends_in_owner(facts):
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.6, f"POST beside a {' '.join(last.parameters[-1])}")
    return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, "POST on one item")


def _ends_in_owner(facts: Facts) -> bool:
    """Return True if the path ends in the owner of the new thing (`/alerts/project/{projectId}`)."""
    *_, before, last = (None, *facts.shape.nouns)
    return before is not None and not before.parameters and is_plural(before.words) and not is_plural(last.words)


def _is_foreign(noun: Noun) -> bool:
    """Return True if the last parameter names something else than the noun before it (`/policies/{projectId}`)."""
    kind = [word for word in noun.parameters[-1] if word not in _ITSELF]
    return bool(kind) and not set(kind) & {*noun.words, *noun.one}


def collection(facts: Facts) -> Verdict | None:
    """Take a POST on a collection for a CREATE; with less confidence if a verb names the collection."""
    last = facts.last_noun
    if not last or not is_plural(last.words):
        return None
    verb = derived_verb(last.one[-1])
    if verb and verb.category is not Category.CREATE:
        note = f"POST on a collection named after {verb.word}"
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.66, note)
    return Verdict(Category.CREATE, Evidence.RULE, 0.85, "POST on a collection")


def method_only(facts: Facts) -> Verdict:
    """Decide what no other rule decides."""
    if any(response.status == "201" for response in facts.operation.responses):
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.75, "answers 201")
    verb = facts.action_verb
    acts = facts.shape.action[:1] and facts.shape.action[0] in _DONE
    if verb and (verb.strong or facts.shape.item or acts):
        return Verdict(verb.category, Evidence.HEURISTIC, 0.6, f"the path ends in {verb.word}")
    if facts.shape.action and not verb:
        return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.6, f"the path ends in {facts.shape.action[0]}")
    if facts.shape.nouns or verb:
        return Verdict(Category.CREATE, Evidence.HEURISTIC, 0.6, f"{facts.method} with no verb")
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.5, f"{facts.method} with no verb and no noun")
