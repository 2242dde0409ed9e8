"""The verb of an operation's name: the one that people used or the path ends in, or the category's own (R-NAME-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.chain import is_participle
from aqlgen.decide.naming.noun import Words, is_plural, singulars
from aqlgen.decide.naming.number import answers_many
from aqlgen.decide.naming.verbs import CANONICAL, ONE_THING, Verb, derived_verb
from aqlgen.words import singular

__all__ = [
    "DISTINCT",
    "GENERIC",
    "VERB_RULES",
    "ChosenVerb",
    "VerbRule",
    "choose_verb",
    "heard_verb",
    "is_shown_anyway",
]

_DEFAULT: Final = {
    Category.CREATE: "create",
    Category.READ: "get",
    Category.UPDATE: "update",
    Category.DELETE: "delete",
    Category.EXECUTE: "execute",
}
_BY_METHOD: Final = {"HEAD": "check", "OPTIONS": "get"}
_UPDATES: Final = {"PUT": "replace", "PATCH": "patch"}
DISTINCT: Final = {("PUT", "replace"), ("PATCH", "patch")}
"""Verbs by which people tell the two ways of updating apart."""
_JOINING: Final = frozenset({"add", "insert", "remove"})
_LOOKING: Final = frozenset({"query", "search", "find", "lookup"})
GENERIC: Final = frozenset(
    "get list create update delete execute add remove set put post patch read write retrieve fetch".split()
)
"""Verbs that say no more than the category."""


@dataclass(frozen=True, slots=True)
class ChosenVerb:
    """The verb of the name, and the API's word for it; `acting` if it comes from the action at the path's end.

    `rule` names the rule that chose it: a verb rule, or for get and list the one that told one thing from many.
    """

    shown: str
    api_verb: str
    acting: bool
    rule: str


class VerbRule(NamedTuple):
    """A named rule: `apply` returns the verb shown and the API's own one, None where it does not apply."""

    name: str
    apply: Callable[[_Verbs], tuple[str, str] | None]
    acting: bool = False
    """Its verb stands for the action at the path's end, if there is one."""


def choose_verb(facts: Facts, category: Category, chain: NounChain) -> ChosenVerb:
    """Choose the verb: the one people used or the path ends in, where it fits the category; else the canonical one."""
    if facts.method in _BY_METHOD:
        verb = _BY_METHOD[facts.method]
        return ChosenVerb(verb, verb, acting=False, rule="method")
    verbs = _Verbs(facts, category, chain)
    rule, shown, api_verb = _first(VERB_RULES, verbs)
    acting = verbs.acting or (rule.acting and bool(facts.shape.action))
    if shown == api_verb == "update":
        api_verb = _UPDATES.get(facts.method, api_verb)
    if category is Category.READ and shown in ("get", "list"):
        many, number_rule = _lists(verbs)
        return ChosenVerb("list" if many else "get", api_verb, acting, number_rule)
    return ChosenVerb(shown, api_verb, acting, rule.name)


def _first(rules: tuple[VerbRule, ...], verbs: _Verbs) -> tuple[VerbRule, str, str]:
    for rule in rules:
        words = rule.apply(verbs)
        if words is not None:
            return rule, *words
    raise AssertionError("the last rule knows every category")


@dataclass(frozen=True)
class _Verbs:
    """The verbs that an operation may be called by: those of its name and of its path that fit its category."""

    facts: Facts
    category: Category
    chain: NounChain

    @cached_property
    def heard(self) -> Verb | None:
        return heard_verb(self.facts, self.chain)

    @property
    def joining(self) -> bool:
        """True if people add or remove, which may create or delete a membership only."""
        verb = self.heard
        return verb is not None and verb.word in ("add", "remove") and self.category is not Category.READ

    @property
    def alone(self) -> bool:
        """True if the path's strong verb is the only one."""
        verb = self.facts.action_verb
        return verb is not None and verb.strong and (self.heard is None or self.heard.word == verb.word)

    @cached_property
    def named(self) -> Verb | None:
        """The verb that people used, if it fits."""
        return self.heard if self.heard and (self.joining or self._fits(self.heard)) else None

    @cached_property
    def action(self) -> Verb | None:
        """The verb at the path's end, if it fits."""
        verb = self.facts.action_verb
        return verb if verb and self._fits(verb) else None

    def _fits(self, verb: Verb) -> bool:
        return verb.category is self.category or self.alone or is_shown_anyway(self.facts, self.category, verb)

    @cached_property
    def acts(self) -> bool:
        """True if the path's verb is meant rather than people's."""
        if self.action is None:
            return False
        if self.named is None:
            return True
        if self.named.word not in GENERIC and not _means_action(self.facts, self.named.word):
            return False
        words = self.facts.shape.action
        phrase = self.facts.phrase
        return len(words) < 2 or phrase is None or phrase.object[-len(words) :] != words

    @property
    def unknown_action(self) -> bool:
        """True if the path ends in an action of which no verb is known."""
        action = bool(self.facts.shape.action) and self.facts.action_verb is None
        return action and self.category is Category.EXECUTE

    @property
    def acting(self) -> bool:
        return self.acts or self.unknown_action


def _marks_item(verbs: _Verbs) -> tuple[str, str] | None:
    """Mark an item: PUT or POST of `/messages/{id}/read`, PUT of `/messages/{id}/archived`."""
    facts, chain = verbs.facts, verbs.chain
    if verbs.category is not Category.UPDATE or facts.named_verb is not None or facts.method not in ("PUT", "POST"):
        return None
    participle = chain.participle and facts.method == "PUT" and chain.within and is_participle(chain.last[0])
    if facts.shape.action not in (("read",), ("unread",)) and not participle:
        return None
    _, _, api_verb = _first(VERB_RULES[1:], verbs)
    return "mark", api_verb


def _action_of_path(verbs: _Verbs) -> tuple[str, str] | None:
    return _shown(verbs, verbs.action) if verbs.acts and verbs.action else None


def _verb_of_people(verbs: _Verbs) -> tuple[str, str] | None:
    return _shown(verbs, verbs.named) if verbs.named else None


def _unknown_action(verbs: _Verbs) -> tuple[str, str] | None:
    """Take the first word of the path's action for a verb, though it is none that is known."""
    return _same(verbs.facts.shape.action[0]) if verbs.unknown_action else None


def _spoken_action(verbs: _Verbs) -> tuple[str, str] | None:
    spoken = verbs.facts.spoken_action
    return _same(spoken[0]) if spoken and verbs.category is Category.EXECUTE else None


def _verb_of_summary(verbs: _Verbs) -> tuple[str, str] | None:
    """Take the summary's verb if nobody gave the operation a name, and it says more than the category."""
    facts, category, verb = verbs.facts, verbs.category, verbs.facts.summary_verb
    if facts.named_verb is not None or verb is None:
        return None
    if verb.category is not category and not (facts.method == "POST" and is_shown_anyway(facts, category, verb)):
        return None
    word = CANONICAL.get(verb.word, verb.word)
    if word in GENERIC and category is not Category.EXECUTE:
        return None
    return None if category is Category.READ and _repeats_noun(facts, word) else _same(word)


def _verb_of_category(verbs: _Verbs) -> tuple[str, str]:
    return _same(_DEFAULT[verbs.category])


VERB_RULES: Final = (
    VerbRule("marked-item", _marks_item, acting=True),
    VerbRule("path-action", _action_of_path),
    VerbRule("people's-verb", _verb_of_people),
    VerbRule("unknown-action", _unknown_action),
    VerbRule("spoken-action", _spoken_action),
    VerbRule("summary-verb", _verb_of_summary),
    VerbRule("category", _verb_of_category),
)
"""The rules in order of trust; the last one knows every operation."""


def _same(word: str) -> tuple[str, str]:
    return word, word


def _shown(verbs: _Verbs, verb: Verb) -> tuple[str, str]:
    """Return the canonical verb, or the verb itself where it means more, and the verb itself."""
    kept = any(keeps(verbs, verb) for keeps in _KEEPING)
    return verb.word if kept else CANONICAL.get(verb.word, verb.word), verb.word


def _reads_nothing(verbs: _Verbs, verb: Verb) -> bool:
    """Keep the `index` of a POST that lists nothing."""
    return verb.category is Category.READ and verbs.category is Category.EXECUTE


def _reads_by_action(verbs: _Verbs, verb: Verb) -> bool:
    """Keep the `read` of a method of its own (`:readFeatureValues`) beside the get of the same thing."""
    action = verbs.action is not None and verbs.action.word == "read"
    return action and verb.word == "read" and verbs.facts.method == "POST"


def _joins_item(verbs: _Verbs, _: Verb) -> bool:
    """Keep the `add` and `remove` of a member."""
    member = verbs.facts.method in ("PUT", "DELETE") and len(verbs.chain.groups) > 1
    return verbs.joining and not verbs.acting and member


def _posts(verbs: _Verbs, verb: Verb) -> bool:
    return verb.word == "post" and bool(verbs.facts.shape.action)


def _tells_updates_apart(verbs: _Verbs, verb: Verb) -> bool:
    return (verbs.facts.method, verb.word) in DISTINCT


def _joins_by_action(verbs: _Verbs, verb: Verb) -> bool:
    """Keep the `add` of an action on an item (`/lists/{id}/add`)."""
    action = verbs.action is not None and verb.word == verbs.action.word
    return action and verb.word in _JOINING and verbs.chain.within


_KEEPING: Final[tuple[Callable[[_Verbs, Verb], bool], ...]] = (
    _reads_nothing,
    _reads_by_action,
    _joins_item,
    _posts,
    _tells_updates_apart,
    _joins_by_action,
)
"""Reasons to keep a verb that has a canonical one."""


def _lists(verbs: _Verbs) -> tuple[bool, str]:
    """Return True for list, False for get, with the name of the rule that says so."""
    action = CANONICAL.get(verbs.action.word, verbs.action.word) if verbs.action else ""
    if action == "list" and _believes_list(verbs):
        return True, "path-lists"
    if action == "get" and verbs.chain.nouns:
        last = verbs.chain.nouns[-1]
        counted = not last.parameters and is_plural(last.words) and not verbs.chain.mass
        return counted and verbs.facts.answers_list is True, "path-gets"
    if any(verb is not None and verb.word in ONE_THING for verb in (verbs.action, verbs.named)):
        return False, "one-thing"
    return answers_many(verbs.facts, verbs.chain)


def _believes_list(verbs: _Verbs) -> bool:
    """Return True unless people say get of what the path lists, and it is no list."""
    facts, named = verbs.facts, verbs.named
    if named is None or CANONICAL.get(named.word, named.word) != "get":
        return True
    if facts.answers_list is None:
        return facts.phrase is not None and is_plural(facts.phrase.object)
    return facts.answers_list


def _repeats_noun(facts: Facts, verb: str) -> bool:
    """Return True if the summary's verb only says the noun again (Recommend: `/recommendations`), or finds one item."""
    last = facts.last_noun
    if last is None:
        return False
    source = derived_verb(last.one[-1])
    same = source is not None and source.word == verb and not last.parameters and is_plural(last.words)
    return same or (facts.method == "GET" and facts.shape.item and verb in _LOOKING)


def heard_verb(facts: Facts, chain: NounChain) -> Verb | None:
    """Return the verb that people used; None where their words are a noun of the path (`seal-status`, `usage`)."""
    verb, phrase = facts.named_verb, facts.phrase
    if verb is None or phrase is None:
        return None
    nouns = [noun.words for noun in chain.nouns]
    posted = verb.strong and facts.method == "POST"
    if phrase.words in nouns and len(phrase.words) > 1 and not posted:
        return None
    if not verb.strong and (verb.word,) in nouns and not _heads_noun(phrase.words, nouns):
        called = facts.method == "POST" and phrase.namespace and not phrase.object  # calendar.events.watch
        return verb if called and nouns[-1] == (verb.word,) else None
    return verb


def _heads_noun(words: Words, nouns: list[Words]) -> bool:
    """Return True if a name begins with the verb and ends in a noun: `AbandonChannel` of `/channels/abandon/{id}`."""
    before = {word for noun in nouns[:-1] for word in singulars(noun)}
    return len(words) > 1 and words[:1] == nouns[-1] and singular(words[-1]) in before


def _means_action(facts: Facts, named: str) -> bool:
    """Return True if the verb at the path's end, which people say too, is meant rather than another of their words."""
    action = facts.action_verb
    if action is None or not action.strong or action.word == named:
        return False
    summarised = facts.summary_verb is not None and facts.summary_verb.word == named
    return not summarised and facts.phrase is not None and action.word in facts.phrase.words


def is_shown_anyway(facts: Facts, category: Category, verb: Verb) -> bool:
    """Return True if a verb is shown though the category is another: on a GET, or where a POST does more than read."""
    if facts.method == "GET" and CANONICAL.get(verb.word, verb.word) not in GENERIC:
        return True  # the reviewer has to look (`testRule`)
    posted = verb.category is Category.READ and category is Category.EXECUTE and verb.word not in GENERIC
    verbs = (facts.named_verb, facts.action_verb)
    return posted and not any(each is not None and each.category is category for each in verbs)
