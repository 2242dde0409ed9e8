"""The verb of an operation's name: the one that people used or the path ends in, or the category's own (R-NAME-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.noun import MOVING, is_plural
from aqlgen.decide.naming.number import answers_many
from aqlgen.decide.naming.verbs import CANONICAL, ONE_THING, Verb
from aqlgen.words import split

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
_SENTENCE: Final = 120
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


def choose_verb(facts: Facts, category: Category, chain: NounChain) -> ChosenVerb:
    """Choose the verb: the one people used or the path ends in, where it fits the category; else the canonical one."""
    if facts.method in _BY_METHOD:
        verb = _BY_METHOD[facts.method]
        return ChosenVerb(verb, verb, acting=False, rule="method")
    verbs = _Verbs(facts, category, chain)
    fitting = ((rule, words) for rule in VERB_RULES if (words := rule.apply(verbs)) is not None)
    rule, (shown, api_verb) = next(fitting)  # the last rule knows every category
    acting = verbs.acting
    if shown == api_verb == "update":
        api_verb = _UPDATES.get(facts.method, api_verb)
    if category is Category.READ and shown in ("get", "list"):
        many, number_rule = _lists(verbs)
        return ChosenVerb("list" if many else "get", api_verb, acting, number_rule)
    return ChosenVerb(shown, api_verb, acting, rule.name)


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
        verb, opposite = self.heard, {"add": Category.DELETE, "remove": Category.CREATE}
        if verb is None or verb.word not in opposite:
            return False
        return self.category not in (Category.READ, opposite[verb.word])

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
        action = self.facts.action_verb
        alone = action is not None and action.strong and (self.heard is None or self.heard.word == action.word)
        alone &= verb.category is not Category.READ or self.facts.method == "POST" or self.category is Category.EXECUTE
        return verb.category is self.category or alone or is_shown_anyway(self.facts, self.category, verb)

    @cached_property
    def acts(self) -> bool:
        """True if the path's verb is meant rather than people's."""
        words, phrase = self.facts.shape.action, self.facts.phrase
        if self.action is None or self.named is None or phrase is None:
            return self.action is not None
        return self.named.word in GENERIC and (len(words) < 2 or phrase.object[-len(words) :] != words)

    @property
    def unknown_action(self) -> bool:
        """True if the path ends in an action of which no verb is known."""
        action = bool(self.facts.shape.action) and self.facts.action_verb is None
        return action and self.category is Category.EXECUTE

    @property
    def acting(self) -> bool:
        return self.acts or self.unknown_action


def _marks_item(verbs: _Verbs) -> tuple[str, str] | None:
    """Mark an item: PUT or POST of `/messages/{id}/read`."""
    facts = verbs.facts
    marked = facts.shape.action in (("read",), ("unread",)) and facts.method in ("PUT", "POST")
    return _same("mark") if marked and verbs.category is Category.UPDATE and facts.named_verb is None else None


def _action_of_path(verbs: _Verbs) -> tuple[str, str] | None:
    return _shown(verbs, verbs.action) if verbs.acts and verbs.action else None


def _verb_of_people(verbs: _Verbs) -> tuple[str, str] | None:
    return _shown(verbs, verbs.named) if verbs.named else None


def _unknown_action(verbs: _Verbs) -> tuple[str, str] | None:
    """Take the first word of the path's action for a verb, though it is none that is known."""
    return _same(verbs.facts.shape.action[0]) if verbs.unknown_action else None


def _spoken_action(verbs: _Verbs) -> tuple[str, str] | None:
    spoken = verbs.facts.spoken_action
    writes = verbs.category in (Category.EXECUTE, Category.UPDATE)
    return _same(spoken[0]) if spoken and writes else None


def _verb_of_summary(verbs: _Verbs) -> tuple[str, str] | None:
    """Take the summary's verb if nobody gave the operation a name, and it says more than the category."""
    facts, category, verb = verbs.facts, verbs.category, verbs.facts.summary_verb
    if facts.named_verb is not None or verb is None:
        return None
    if verb.category is not category and not (facts.method == "POST" and is_shown_anyway(facts, category, verb)):
        return None
    summary = split(facts.operation.summary[:_SENTENCE])
    if verb.word in ("add", "remove") and len(verbs.chain.groups) > 1 and not MOVING.isdisjoint(summary):
        return _same(verb.word)
    word = CANONICAL.get(verb.word, verb.word)
    return None if word in GENERIC and category is not Category.EXECUTE else _same(word)


def _verb_of_category(verbs: _Verbs) -> tuple[str, str]:
    return _same(_DEFAULT[verbs.category])


VERB_RULES: Final = (
    VerbRule("marked-item", _marks_item),
    VerbRule("path-action", _action_of_path),
    VerbRule("described-verb", _verb_of_people),
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
    facts, chain = verbs.facts, verbs.chain
    joins = facts.method in ("PUT", "DELETE") and len(chain.groups) > 1 and verbs.joining and not verbs.acting
    joins |= verbs.action == verb and verb.word in _JOINING and chain.within  # `/lists/{id}/add`
    queries = verb.category is Category.READ and verbs.category is Category.EXECUTE  # the `index` of a POST
    posts = verb.word == "post" and bool(facts.shape.action)
    alone = not chain.nouns and not (facts.phrase and facts.phrase.object)  # `write`, not `update`
    kept = joins or queries or posts or alone or (facts.method, verb.word) in DISTINCT
    return verb.word if kept else CANONICAL.get(verb.word, verb.word), verb.word


def _lists(verbs: _Verbs) -> tuple[bool, str]:
    """Return True for list, False for get, with the name of the rule that says so."""
    action = CANONICAL.get(verbs.action.word, verbs.action.word) if verbs.action else ""
    facts, chain = verbs.facts, verbs.chain
    if action == "list" and (facts.answers_list is not False or facts.named_verb is None):
        return True, "path-lists"
    if action == "get" and chain.nouns:
        counted = not chain.nouns[-1].parameters and is_plural(chain.nouns[-1].words) and not chain.mass
        return counted and facts.answers_list is True, "path-gets"
    if any(verb is not None and verb.word in ONE_THING for verb in (verbs.action, verbs.named)):
        return False, "one-thing"
    return answers_many(facts, chain)


def heard_verb(facts: Facts, chain: NounChain) -> Verb | None:
    """Return the verb that people used; None where their words are a noun of the path (`seal-status`, `usage`)."""
    verb, phrase = facts.named_verb, facts.phrase
    if verb is None or phrase is None:
        return None
    nouns = [noun.words for noun in chain.nouns]
    if phrase.words in nouns and len(phrase.words) > 1 and not (verb.strong and facts.method == "POST"):
        return None
    if not verb.strong and (verb.word,) in nouns:
        called = facts.method == "POST" and phrase.namespace and not phrase.object  # calendar.events.watch
        return verb if called and nouns[-1] == (verb.word,) else None
    return verb


def is_shown_anyway(facts: Facts, category: Category, verb: Verb) -> bool:
    """Return True if a verb is shown though the category is another: on a GET, or where a POST does more than read."""
    noun = verb.category is Category.CREATE and not verb.strong  # requestUsers of a GET
    if facts.method == "GET" and CANONICAL.get(verb.word, verb.word) not in GENERIC and not noun:
        return True  # the reviewer has to look (`testRule`)
    posted = verb.category is Category.READ and category is Category.EXECUTE and verb.word not in GENERIC
    verbs = (facts.named_verb, facts.action_verb)
    return posted and not any(each is not None and each.category is category for each in verbs)
