"""The words of an operation's name: its verb by category and number, its nouns from the path or from people's words.

The path gives the nouns, the operationId the verb and the evidence of which nouns are needed: with
`issues/list-comments-for-repo`, `/repos/{owner}/{repo}/issues/comments` keeps repo, issue and comment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from aqlgen.decisions import Category, Evidence, Reason
from aqlgen.words import plural, singular

from .facts import Facts
from .nouns import Chain, evidenced, names_last, nearest, number
from .phrase import Phrase
from .verbs import CANONICAL, find, leading

__all__ = ["PREPOSITIONS", "Verbs", "Wording", "acting", "choose_verb", "numbered", "word"]

Words: TypeAlias = tuple[str, ...]

_DEFAULT: Final = {
    Category.CREATE: "create",
    Category.READ: "get",
    Category.UPDATE: "update",
    Category.DELETE: "delete",
    Category.EXECUTE: "execute",
}
_OWN: Final = {"PUT": "replace", "PATCH": "patch"}
_GENERIC: Final = frozenset(
    "get list create update delete execute add remove set put post patch read write retrieve fetch".split()
)
_LONG: Final = 7
"""More words than these are a sentence, no name."""

PREPOSITIONS: Final = frozenset("by for from to with as on in of at into over via using".split())


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verb shown, the API's own, and whether it comes from the action at the path's end."""

    shown: str
    own: str
    acting: bool


@dataclass(frozen=True, slots=True)
class Wording:
    """The verb's words and the nouns, how many nouns of the path they leave out, and where they come from."""

    lead: Words
    thing: Words
    omitted: int
    reason: Reason


def choose_verb(facts: Facts, category: Category, links: Chain) -> Verbs:
    """Choose the verb: the one people used or the path ends in, where it fits the category; else the canonical one."""
    if facts.method == "HEAD":
        return Verbs("check", "check", acting=False)
    named, action = facts.named, facts.action
    joining = named is not None and named.word in ("add", "remove") and category is not Category.READ
    if named and named.category is not category and not joining and not _contrary(facts, named.word):
        named = None
    if action and action.category is not category:
        action = None
    acts = action is not None and (named is None or named.word in _GENERIC)
    chosen = action if acts else named
    shown = own = _DEFAULT[category]
    if chosen is None and category is Category.EXECUTE and facts.summary and facts.summary.category is category:
        shown = own = CANONICAL.get(facts.summary.word, facts.summary.word)
    if chosen is not None:
        shown, own = CANONICAL.get(chosen.word, chosen.word), chosen.word
        if joining and not acts and facts.method in ("PUT", "DELETE") and len(links.groups) > 1:
            shown = chosen.word
        if chosen.word == "post" and facts.shape.action:
            shown = "post"
    if shown == own == "update":
        own = _OWN.get(facts.method, own)
    if category is Category.READ and shown in ("get", "list"):
        getting = action is not None and bool(links.nouns) and CANONICAL.get(action.word, action.word) == "get"
        shown = "list" if not getting and number(facts, links) else "get"
    return Verbs(shown, own, acting=acts)


def _contrary(facts: Facts, verb: str) -> bool:
    """Whether a GET is called by a verb of change, which its name then shows: the reviewer has to look (`testRule`)."""
    return facts.method == "GET" and CANONICAL.get(verb, verb) not in _GENERIC


def word(facts: Facts, category: Category, links: Chain, verbs: Verbs) -> Wording:
    """Choose the words of the name."""
    phrased = None if verbs.acting else _said(facts, category, links)
    if phrased is not None:
        note = f"operationId {facts.operation.operation_id}"
        return Wording(*phrased, 0, Reason("people's words", Evidence.RULE, 0.85, note))
    if facts.shape.action:
        lead, thing = acting(facts, links, verbs.shown)
        return Wording(lead, thing, 0, Reason("action and item", Evidence.RULE, 0.85, "the path ends in an action"))
    if links.nouns:
        chosen = evidenced(facts, links)
        thing, kept = chosen if chosen is not None else (nearest(links), min(len(links.nouns), 2))
        thing = (*numbered(facts, links, thing, verbs.shown), *facts.shape.qualifier, *links.by)
        lead = facts.phrase.lead if facts.phrase and facts.named and facts.named.word == verbs.shown else (verbs.shown,)
        return Wording((*links.adverb, *lead), thing, len(links.nouns) - kept, _why(facts, links))
    words = facts.phrase.object if facts.phrase else ()
    reason = Reason("no noun in the path", Evidence.HEURISTIC, 0.7 if words else 0.5)
    return Wording((verbs.shown,), words or ("root",), 0, reason)


def _said(facts: Facts, category: Category, links: Chain) -> tuple[Words, Words] | None:
    """Take people's words where their verb says more than the canonical ones, or where the path offers no noun."""
    said = facts.phrase
    if said is None or said.verb is None or len(said.object) > _LONG:
        return None
    if said.verb.category is not category and not _contrary(facts, said.verb.word):
        return None
    telling = CANONICAL.get(said.verb.word, said.verb.word) not in _GENERIC and said.verb.word not in _GENERIC
    on_path = links.nouns and not facts.shape.action and not links.participle and names_last(facts, links)
    same = facts.action is not None and facts.action.word == said.verb.word and not said.object
    if (telling and on_path) or same:
        return None
    wanting = not links.nouns or (links.participle and not links.settled) or facts.shape.procedure
    if not telling and not (wanting and said.object):
        return None
    thing = _object(said, links)
    if not thing:
        return None
    return said.lead if telling else (_canonical(said.verb.word, thing),), thing


def _object(said: Phrase, links: Chain) -> Words:
    """Give what people say is acted on, with the item it belongs to: `pulls/request-reviewers` is pull reviewers."""
    thing = said.object
    if thing[-3:-2] in (("for",), ("by",), ("of",)) and thing[-2:] == ("authenticated", "user") and len(thing) > 3:
        thing = thing[:-3]
    space = tuple(singular(each) for each in said.namespace[-1:])
    if not thing:
        return (*said.namespace[-3:-1], *space) or (links.nouns[-1].one if links.nouns else ())
    parents = [noun.one for noun in links.nouns if noun.parameters]
    belongs = space in parents and not set(space) & {singular(each) for each in thing}
    return (*space, *thing) if space and (thing[0] in PREPOSITIONS or belongs) else thing


def _canonical(verb: str, thing: Words) -> str:
    shown = CANONICAL.get(verb, verb)
    if shown != "get":
        return shown
    noun = next((thing[at - 1] for at, each in enumerate(thing) if at and each in PREPOSITIONS), thing[-1])
    return "list" if singular(noun) != noun else "get"


def acting(facts: Facts, links: Chain, shown: str, *, whole: bool = False) -> tuple[Words, Words]:
    """Name an action by the item it acts on: `/runs/{id}/submit_tool_outputs` is submit_run_tool_outputs.

    With `whole` every noun of the path is kept.
    """
    words = facts.shape.action
    found = leading(words)
    used = found[1] if found else 1
    rest = words[used:]
    taken = len(found[0].word.split("_")) if found and found[0].word != "upsert" else used
    lead = (*words[: max(0, used - taken)], *shown.split("_"))
    if not links.nouns:
        return lead, rest
    last = links.nouns[-1]
    known = find(shown)
    reading = known is not None and known.category is Category.READ and not (rest and rest[0] != "by")
    if found is not None and found[0].word != shown == "get":
        reading = False
    kept = not last.parameters and (reading or links.mass)
    noun = last.words if kept else last.one
    if whole:
        return lead, (*links.full[: -len(last.words)], *noun, *rest)
    before = () if last.parameters or rest else nearest(links)[: -len(last.words)]
    return lead, (*(("my",) if links.mine and before[:1] != ("my",) else ()), *before, *noun, *rest)


def numbered(facts: Facts, links: Chain, thing: Words, shown: str) -> Words:
    """Put the last noun in the singular or plural, as the verb and the path ask."""
    if not thing:
        return thing
    last, noun = thing[-1], links.nouns[-1] if links.nouns else None
    known = find(shown)
    if shown == "list" and not links.mass:
        return (*thing[:-1], last if singular(last) != last else plural(last))
    said = set(facts.phrase.object) if facts.phrase else set()
    many = last in said and singular(last) not in said
    reading = known is not None and known.category is Category.READ
    whole = reading or many or facts.method in ("PUT", "PATCH", "DELETE")
    if links.mass or (noun is not None and not noun.parameters and whole):
        return thing
    return (*thing[:-1], noun.one[-1] if noun is not None and noun.words[-1] == last else singular(last))


def _why(facts: Facts, links: Chain) -> Reason:
    if links.participle and not links.settled:
        note = f"`{'_'.join(links.nouns[-1].words)}` is no noun"
        return Reason("path with an adjective", Evidence.HEURISTIC, 0.65, note)
    if facts.phrase:
        return Reason("path and people's words", Evidence.RULE, 0.9)
    return Reason("path", Evidence.RULE, 0.85, "no operationId that says more")
