"""The verb of an operation's name: the one that people used or the path ends in, or the category's own (R-NAME-2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aqlgen.decisions import Category
from aqlgen.words import singular

from .chain import Chain
from .facts import Facts
from .nouns import number
from .reading import is_participle
from .shape import is_plural
from .verbs import CANONICAL, ONE, Verb, derived

__all__ = ["GENERIC", "KEPT", "Verbs", "choose_verb", "spoken", "strays"]

_DEFAULT: Final = {
    Category.CREATE: "create",
    Category.READ: "get",
    Category.UPDATE: "update",
    Category.DELETE: "delete",
    Category.EXECUTE: "execute",
}
_OWN: Final = {"PUT": "replace", "PATCH": "patch"}
KEPT: Final = {("PUT", "replace"), ("PATCH", "patch")}
"""Verbs that people use to tell the two ways of updating apart."""
_JOINING: Final = frozenset({"add", "insert", "remove"})
GENERIC: Final = frozenset(
    "get list create update delete execute add remove set put post patch read write retrieve fetch".split()
)


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verb shown, the API's own, and whether it comes from the action at the path's end."""

    shown: str
    own: str
    acting: bool


def choose_verb(facts: Facts, category: Category, links: Chain) -> Verbs:
    """Choose the verb: the one people used or the path ends in, where it fits the category; else the canonical one."""
    if facts.method == "HEAD":
        return Verbs("check", "check", acting=False)
    if facts.method == "OPTIONS":
        return Verbs("get", "get", acting=False)
    named, action = spoken(facts, links), facts.action
    joining = named is not None and named.word in ("add", "remove") and category is not Category.READ
    alone = action is not None and action.strong and (named is None or named.word == action.word)
    if named and named.category is not category and not (joining or alone or strays(facts, category, named)):
        named = None
    if action and action.category is not category and not (alone or strays(facts, category, action)):
        action = None
    acts = action is not None and (named is None or named.word in GENERIC or _better(facts, named.word))
    acts = acts and not (named and len(facts.shape.action) > 1 and _ends(facts, facts.shape.action))
    chosen = action if acts else named
    shown = own = _DEFAULT[category]
    if (
        chosen is None
        and facts.named is None
        and facts.summary
        and (facts.summary.category is category or (facts.method == "POST" and strays(facts, category, facts.summary)))
    ):
        told = CANONICAL.get(facts.summary.word, facts.summary.word)
        reading = category is Category.READ and _repeats_noun(facts, told)
        if (told not in GENERIC or category is Category.EXECUTE) and not reading:
            shown = own = told
    if category is Category.EXECUTE and facts.told:
        shown = own = facts.told[0]
    if facts.shape.action and action is None and facts.action is None and category is Category.EXECUTE:
        shown = own = facts.shape.action[0]  # no verb that is known, but the path's end
        acts = True
    if chosen is not None:
        shown, own = CANONICAL.get(chosen.word, chosen.word), chosen.word
        if chosen.category is Category.READ and category is Category.EXECUTE:
            shown = own  # a POST that people call index, and that lists nothing
        if own == "read" and action is not None and action.word == own and facts.method == "POST":
            shown = own  # a method of its own (`:readFeatureValues`), beside the get of the same thing
        if joining and not acts and facts.method in ("PUT", "DELETE") and len(links.groups) > 1:
            shown = chosen.word
        if chosen.word == "post" and facts.shape.action:
            shown = "post"
        adding = action is not None and chosen.word == action.word and chosen.word in _JOINING and links.within
        if (facts.method, chosen.word) in KEPT or adding:
            shown = chosen.word
    if category is Category.UPDATE and _marks(facts, links):
        shown, acts = "mark", acts or facts.shape.action != ()
    if shown == own == "update":
        own = _OWN.get(facts.method, own)
    if category is Category.READ and shown in ("get", "list"):
        getting = action is not None and bool(links.nouns) and CANONICAL.get(action.word, action.word) == "get"
        one = any(verb is not None and verb.word in ONE for verb in (action, named))
        listing = action is not None and CANONICAL.get(action.word, action.word) == "list"
        if listing and named is not None and CANONICAL.get(named.word, named.word) == "get":
            listing = facts.many is True or (facts.many is None and _says_many(facts))
        shown = "list" if listing or (not (getting or one) and number(facts, links)) else "get"
    return Verbs(shown, own, acting=acts)


def _marks(facts: Facts, links: Chain) -> bool:
    """Whether an item is only marked: PUT or POST of `/messages/{id}/read`, PUT of `/messages/{id}/archived`."""
    if facts.named is not None or facts.method not in ("PUT", "POST"):
        return False
    if facts.shape.action in (("read",), ("unread",)):
        return True
    last = links.nouns[-1] if links.participle else None
    return last is not None and facts.method == "PUT" and links.within and is_participle(last.words[-1])


def _repeats_noun(facts: Facts, told: str) -> bool:
    """Whether the summary's verb only says the noun again (Recommend: `/recommendations`), or looks for one item."""
    last = facts.shape.nouns[-1] if facts.shape.nouns else None
    if last is None:
        return False
    made = derived(last.one[-1])
    same = made is not None and made.word == told and not last.parameters and is_plural(last.words)
    return same or (facts.method == "GET" and facts.shape.item and told in _LOOKING)


_LOOKING: Final = frozenset({"query", "search", "find", "lookup"})


def _says_many(facts: Facts) -> bool:
    return facts.phrase is not None and is_plural(facts.phrase.object)


def spoken(facts: Facts, links: Chain) -> Verb | None:
    """Give the verb that people used, but none where their words are a noun of the path (`seal-status`, `usage`)."""
    named = facts.named
    if named is None or facts.phrase is None:
        return None
    nouns = [noun.words for noun in links.nouns]
    noun = facts.phrase.words in nouns and len(facts.phrase.words) > 1 and not (named.strong and facts.method == "POST")
    weak = not named.strong and (named.word,) in nouns and not _heads(facts.phrase.words, nouns)
    return None if noun or weak else named


def _heads(words: tuple[str, ...], nouns: list[tuple[str, ...]]) -> bool:
    """Whether a name begins with the verb and goes on with a noun: `AbandonChannel` of `/channels/abandon/{id}`."""
    before = {singular(word) for noun in nouns[:-1] for word in noun}
    return len(words) > 1 and words[:1] == nouns[-1] and singular(words[-1]) in before


def _ends(facts: Facts, words: tuple[str, ...]) -> bool:
    return facts.phrase is not None and facts.phrase.object[-len(words) :] == words


def _better(facts: Facts, named: str) -> bool:
    """Whether the verb at the path's end, which people say too, is rather meant than another of their words."""
    action = facts.action
    told = facts.summary.word if facts.summary else ""
    return (
        action is not None
        and action.strong
        and told != named
        and action.word != named
        and action.word in (facts.phrase.words if facts.phrase else ())
    )


def strays(facts: Facts, category: Category, verb: Verb) -> bool:
    """Whether a verb is shown though the category is another: on a GET, or posted where it does more than read."""
    posted = verb.category is Category.READ and category is Category.EXECUTE and verb.word not in GENERIC
    others = (facts.named, facts.action)
    posted = posted and not any(each is not None and each.category is category for each in others)
    return posted or contrary(facts, verb.word)


def contrary(facts: Facts, verb: str) -> bool:
    """Whether a GET is called by a verb of change, which its name then shows: the reviewer has to look (`testRule`)."""
    return facts.method == "GET" and CANONICAL.get(verb, verb) not in GENERIC
