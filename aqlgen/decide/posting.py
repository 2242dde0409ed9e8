"""Rules for the category of what is posted or acted on: the method leaves it open; names, summaries and paths decide.

Each is a pure function of an operation's facts, as those of `methods`.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decisions import Category, Evidence
from aqlgen.words import split

from . import declared
from .facts import Facts
from .methods import Verdict
from .shape import Noun, is_plural
from .verbs import Verb, derived

__all__ = [
    "accepted",
    "action",
    "called",
    "collection",
    "method_only",
    "on_item",
    "search",
    "settings",
    "summary",
    "told",
    "twilio",
    "weakly_called",
]

_GENERIC: Final = frozenset("post put create update patch set add write".split())
_ITSELF: Final = frozenset("id ids sid key name slug uuid guid code number ref value handle uri url".split())
"""Words of a parameter that names an item without naming its kind."""


def action(facts: Facts) -> Verdict | None:
    """Read an action at the path's end (`…/cancel`), unless people gave the operation a verb that says more."""
    verb, named = facts.action, facts.named
    if verb is None or facts.method not in ("POST", "PUT"):
        return None
    if named and named.strong and named.word not in _GENERIC:
        return None
    if named and named.word in ("create", "add", "update", "set") and verb.category is Category.READ:
        return None
    if _names_a_thing(facts) or not (verb.strong or named or facts.shape.item):
        return None
    return verb.category, Evidence.RULE, 0.93 if verb.strong else 0.75, f"the path ends in {verb.word}"


def _names_a_thing(facts: Facts) -> bool:
    """Whether people create what the path's end calls (`createRemoveToken` of `…/remove-token`): it is a noun then."""
    words = facts.shape.action
    if len(words) < 2 or not facts.phrase or not facts.named or facts.named.word not in ("create", "add"):
        return False
    return set(words) <= set(facts.phrase.object) or facts.phrase.evidence >= set(words)


def called(facts: Facts) -> Verdict | None:
    """Believe the verb that people used; `post` and `put` at its head only repeat the method."""
    verb = facts.named
    if verb is None or not verb.strong or verb.word in ("post", "put"):
        return None
    said = facts.summary
    if said and said.category is Category.UPDATE and verb.word in ("create", "add") and facts.shape.item:
        note = f"called {verb.word}, but its summary says {said.word}"
        return Category.UPDATE, Evidence.HEURISTIC, 0.6, note
    if said and said.category is Category.READ and verb.word in _FETCHING:
        note = f"called {verb.word}, but its summary says {said.word}"
        return Category.READ, Evidence.HEURISTIC, 0.66, note
    last = _last(facts)
    if verb.word in _JOINING and last and not last.parameters and is_plural(last.words) and not facts.action:
        return verb.category, Evidence.HEURISTIC, 0.68, f"called {verb.word}, though it adds to a collection"
    return verb.category, Evidence.RULE, 0.93, f"called {verb.word}"


_JOINING: Final = frozenset({"assign", "associate", "attach", "bind", "link", "grant"})
_FETCHING: Final = frozenset({"sync", "synchronize", "pull", "poll"})
"""What brings the caller up to date as often as the server."""


def weakly_called(facts: Facts) -> Verdict | None:
    """Believe a verb that might be a noun too, where nothing stronger speaks; surely, where the summary has it too."""
    verb = facts.named
    if verb is None or verb.word in ("post", "put"):
        return None
    if split(facts.operation.summary[:60])[:1] == (verb.word,):
        return verb.category, Evidence.RULE, 0.85, f"called {verb.word}, by its name and its summary"
    return verb.category, Evidence.HEURISTIC, 0.66, f"called {verb.word}"


def search(facts: Facts) -> Verdict | None:
    """Find queries by their noun: `…/search`, `…/query`."""
    last = _last(facts)
    saved = last is not None and len(last.words) > 1 and last.words[0].endswith("ed")
    if (
        last
        and not saved
        and not last.parameters
        and last.words[-1] in ("search", "query", "lookup", "queries", "searches")
    ):
        sure = 0.66 if is_plural(last.words) else 0.8
        return Category.READ, Evidence.RULE, sure, f"the path ends in {last.words[-1]}"
    return None


def summary(facts: Facts) -> Verdict | None:
    """Believe the verb at the head of the summary."""
    verb, last = facts.summary, _last(facts)
    if verb is None:
        return None
    adding = last is not None and not last.parameters and is_plural(last.words) and not facts.shape.action
    if adding and verb.category not in (Category.CREATE, Category.READ):
        note = f"its summary says {verb.word}, though it is POST on a collection"
        return verb.category, Evidence.HEURISTIC, 0.68, note
    return verb.category, Evidence.RULE, 0.8, f"its summary says {verb.word}"


def told(facts: Facts) -> Verdict | None:
    """Take a path's end for an action where the name or the summary begins with it (`…/stage`, "Stages a release")."""
    if facts.told is None:
        return None
    word, category = facts.told
    return category, Evidence.HEURISTIC, 0.72, f"its path and what people call it say {word}"


def twilio(facts: Facts) -> Verdict | None:
    """Read Twilio's kind of path: a POST on one thing changes it, on a list it adds to it."""
    one = declared.twilio_item(facts.operation, facts.resolver)
    if one is None or facts.method != "POST":
        return None
    return (Category.UPDATE if one else Category.CREATE), Evidence.METADATA, 0.95, "x-twilio: pathType"


def accepted(facts: Facts) -> Verdict | None:
    """Take an operation that only answers 202 for one that starts something."""
    answers = [response.status for response in facts.operation.responses if response.status.startswith("2")]
    if answers == ["202"] and not facts.shape.item:
        return Category.EXECUTE, Evidence.HEURISTIC, 0.6, "answers 202 and nothing else"
    return None


def settings(facts: Facts) -> Verdict | None:
    """Take a POST on what every item has once (`…/preferences`) for its UPDATE."""
    last = _last(facts)
    if last and not last.parameters and last.words[-1] in _SETTINGS and len(facts.shape.nouns) > 1:
        return Category.UPDATE, Evidence.HEURISTIC, 0.66, f"POST on {last.words[-1]}"
    return None


_SETTINGS: Final = frozenset("preferences options config configuration permissions".split())


def on_item(facts: Facts) -> Verdict | None:
    """Take a POST on one item for its UPDATE; where the path ends in what the new thing belongs to, for a CREATE."""
    last = _last(facts)
    if not last or not last.parameters or last.words in last.parameters or facts.shape.action:
        return None
    if _is_foreign(last) or _is_owner(facts):
        return Category.CREATE, Evidence.HEURISTIC, 0.6, f"POST beside a {' '.join(last.parameters[-1])}"
    return Category.UPDATE, Evidence.HEURISTIC, 0.66, "POST on one item"


def _is_owner(facts: Facts) -> bool:
    """Whether the path ends in whom the new thing belongs to (`/alerts/project/{projectId}`)."""
    *_, before, last = (None, *facts.shape.nouns)
    return before is not None and not before.parameters and is_plural(before.words) and not is_plural(last.words)


def _is_foreign(noun: Noun) -> bool:
    """Whether the last parameter names something else than the noun before it (`/policies/{projectId}`)."""
    kind = [word for word in noun.parameters[-1] if word not in _ITSELF]
    return bool(kind) and not set(kind) & {*noun.words, *noun.one}


def collection(facts: Facts) -> Verdict | None:
    """Take a POST on a collection for a CREATE; less surely, if the collection is called by what is done."""
    last = _last(facts)
    if not last or not is_plural(last.words):
        return None
    verb = derived(last.one[-1])
    if verb and verb.category is not Category.CREATE:
        return Category.CREATE, Evidence.HEURISTIC, 0.66, f"POST on a collection, whose name comes from {verb.word}"
    return Category.CREATE, Evidence.RULE, 0.85, "POST on a collection"


def method_only(facts: Facts) -> Verdict | None:
    """Decide what nothing else decides."""
    if any(response.status == "201" for response in facts.operation.responses):
        return Category.CREATE, Evidence.HEURISTIC, 0.75, "answers 201"
    if facts.action and (facts.action.strong or facts.shape.item):
        return facts.action.category, Evidence.HEURISTIC, 0.6, f"the path ends in {facts.action.word}"
    if facts.shape.action and not facts.action:
        return Category.EXECUTE, Evidence.HEURISTIC, 0.6, f"the path ends in {facts.shape.action[0]}"
    if facts.shape.nouns or facts.action:
        return Category.CREATE, Evidence.HEURISTIC, 0.6, f"{facts.method} with no verb"
    return Category.EXECUTE, Evidence.HEURISTIC, 0.5, f"{facts.method} with no verb and no noun"


def _last(facts: Facts) -> Noun | None:
    return facts.shape.nouns[-1] if facts.shape.nouns else None


def witnesses(facts: Facts) -> tuple[tuple[str, Verb], ...]:
    """Give every verb that speaks about the operation, with where it stands."""
    spoken = (("its name", facts.named), ("its path", facts.action), ("its summary", facts.summary))
    return tuple((where, verb) for where, verb in spoken if verb is not None and verb.strong)
