"""The words of an operation's name: its verb by category and number, its nouns from the path or from people's words.

The path gives the nouns, the operationId the verb and the evidence of which nouns are needed: with
`issues/list-comments-for-repo`, `/repos/{owner}/{repo}/issues/comments` keeps repo, issue and comment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from aqlgen.decisions import Category, Evidence, Reason
from aqlgen.words import plural, singular, split

from .chain import PREPOSITIONS, Chain, alike, join
from .choice import GENERIC, KEPT, Verbs, spoken, strays
from .facts import Facts
from .marks import marks, stage
from .nouns import fitting, names_last, nearest, parents, told
from .phrase import Phrase
from .reading import is_adjective, is_participle
from .stutter import unrepeated
from .verbs import ADVERBS, CANONICAL, ONE, find, leading

__all__ = ["Wording", "acting", "numbered", "word"]

Words: TypeAlias = tuple[str, ...]

_EMPTYING: Final = frozenset("clear empty flush prune purge truncate wipe".split())
"""Verbs that act on a whole collection."""
_TAKING_ALL: Final = frozenset("export reconcile refresh reindex reorder sync synchronize tidy".split())
"""Verbs that act on a whole collection where people say it in the plural."""
_MANY: Final = frozenset("batch bulk mass multi multiple".split())
"""Adverbs of acting on many things at once."""
_LONG: Final = 7
"""More words than these are a sentence, no name."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The verb's words and the nouns, how many nouns of the path they leave out, and where they come from."""

    lead: Words
    thing: Words
    omitted: int
    reason: Reason


def word(facts: Facts, category: Category, links: Chain, verbs: Verbs) -> Wording:
    """Choose the words of the name."""
    marked = marks(facts, links, category)
    phrased = None if verbs.acting else _said(facts, category, links)
    if phrased is not None:
        note = f"operationId {facts.operation.operation_id}"
        lead, thing = phrased
        if not links.nouns:
            thing = join(stage(facts, links), _area(facts), thing)
        tail = marked if marked[:1] != ("by",) and thing[-len(marked) :] != marked else ()
        return Wording(lead, (*thing, *tail), 0, Reason("people's words", Evidence.RULE, 0.85, note))
    if facts.shape.action:
        lead, thing = acting(facts, links, verbs)
        reason = Reason("action and item", Evidence.RULE, 0.85, "the path ends in an action")
        words = join(stage(facts, links), (*thing, *marked))
        return Wording((*(word for word in links.adverb if word not in lead), *lead), words, 0, reason)
    if links.nouns:
        thing, kept = fitting(facts, links, many=verbs.shown == "list")
        thing = unrepeated(facts, links, verbs.shown, numbered(facts, links, thing, verbs.shown))
        if verbs.own in ONE:
            thing = (*thing[:-1], singular(thing[-1]))
        lead = facts.phrase.lead if facts.phrase and facts.named and facts.named.word == verbs.shown else (verbs.shown,)
        words = join(stage(facts, links), (*thing, *marked))
        return Wording((*links.adverb, *lead), words, len(links.nouns) - kept, _why(facts, links))
    words = facts.phrase.object if facts.phrase else ()
    words = join(_area(facts), words)
    reason = Reason("no noun in the path", Evidence.HEURISTIC, 0.7 if words else 0.5)
    return Wording((verbs.shown,), (*(words or ("root",)), *marked), 0, reason)


def _area(facts: Facts) -> Words:
    """Give what a path without nouns is about: the group of `/apis/rbac.authorization.k8s.io/v1/`."""
    area = [word for word in facts.shape.residue if word.isalpha() and word not in ("api", "apis", "rest")]
    return tuple(area[:1])


def _said(facts: Facts, category: Category, links: Chain) -> tuple[Words, Words] | None:
    """Take people's words where their verb says more than the canonical ones, or where the path offers no noun."""
    said = facts.phrase
    if said is None or said.verb is None or len(said.object) > _LONG or spoken(facts, links) is None:
        return None
    if said.verb.category is not category and not strays(facts, category, said.verb):
        return None
    telling = CANONICAL.get(said.verb.word, said.verb.word) not in GENERIC and said.verb.word not in GENERIC
    bare = bool(links.nouns) and all(noun.bare for noun in links.nouns) and bool(said.object)
    on_path = (
        links.nouns
        and not bare
        and _heads_path(said, facts, links)
        and not facts.shape.action
        and not links.participle
        and names_last(facts, links)
    )
    same = facts.action is not None and facts.action.word == said.verb.word and not said.object
    if (telling and on_path) or same:
        return None
    unnamed = all(noun.bare for noun in links.nouns) or _names_bare(said, links)
    wanting = unnamed or facts.shape.procedure or _loose(said, links) or _strange(said, facts, links)
    if not telling and not (wanting and said.object):
        return None
    thing = _object(said, links)
    if not thing:
        return None
    if said.verb.word in ONE:
        thing = (*thing[:-1], singular(thing[-1]))
    kept = telling or (facts.method, said.verb.word) in KEPT
    return said.lead if kept else (_canonical(said.verb.word, thing),), thing


def _strange(said: Phrase, facts: Facts, links: Chain) -> bool:
    """Whether people speak of what the path does not: the access token of `/authn/{login}/authenticate`."""
    if facts.action is None or len(said.object) < 2 or facts.action.word == (said.verb.word if said.verb else ""):
        return False
    path = {singular(word) for noun in links.nouns for word in noun.words} | set(facts.shape.action)
    end = next((at for at, word in enumerate(said.object) if at and word in PREPOSITIONS), len(said.object))
    return not any(alike(singular(word), each) for word in said.object[:end] for each in path)


def _heads_path(said: Phrase, facts: Facts, links: Chain) -> bool:
    """Whether what people act on is a noun of the path, not what it has: the signatures of a `/sync_committees`."""
    end = next((at for at, word in enumerate(said.object) if at and word in PREPOSITIONS), len(said.object))
    head = said.object[end - 1] if said.object and said.object[0] not in PREPOSITIONS else ""
    if not head or (links.mine and singular(head) == "user"):
        return True
    known = (*split(facts.operation.path), *(word for noun in links.nouns for word in noun.words))
    return any(alike(singular(head), singular(each)) for each in known)


def _names_bare(said: Phrase, links: Chain) -> bool:
    """Whether only people name what a last noun belongs to: `/{group}/{plural}/{name}/status`."""
    *before, last = links.nouns
    more = len(said.object) > len(last.words) and said.object[-len(last.words) :] == last.one
    return bool(before) and more and all(noun.bare and noun.parameters for noun in before)


def _loose(said: Phrase, links: Chain) -> bool:
    """Whether the path ends in an adjective, and people's words are more than what it belongs to."""
    before = {word for noun in links.nouns[:-1] for word in noun.one}
    return links.participle and not links.settled and not {singular(word) for word in said.object} <= before


def _object(said: Phrase, links: Chain) -> Words:
    """Give what people say is acted on, with the item it belongs to: `pulls/request-reviewers` is pull reviewers."""
    thing = said.object
    if thing[-2:] in (("with", "id"), ("by", "id")):
        thing = thing[:-2]
    if thing[-3:-2] in (("for",), ("by",), ("of",)) and thing[-2:] == ("authenticated", "user") and len(thing) > 3:
        thing = thing[:-3]
    space = tuple(singular(each) for each in said.namespace[-1:])
    if not thing:
        return (*said.namespace[-3:-1], *space) or (links.nouns[-1].one if links.nouns else ())
    parents = [noun.one for noun in links.nouns]
    singulars = tuple(singular(each) for each in said.namespace)
    owner: Words = next((one for one in parents if space and len(one) == 1 and alike(one[0], space[0])), ())
    owner = owner or next((one for one in parents if len(one) > 1 and singulars[-len(one) :] == one), ())
    owner = owner or next((one for one in parents if space and len(one) == 2 and _is_version_of(one, space[0])), ())
    belongs = owner and not {*space, *owner} & {singular(each) for each in thing}
    if belongs:
        return (*owner, *thing)
    return (*space, *thing) if space and thing[0] in PREPOSITIONS else thing


def _is_version_of(noun: Words, word: str) -> bool:
    """Whether a noun is a word with a version behind it (`kv-v2`)."""
    return noun[0] == word and noun[1][:1] == "v" and noun[1][1:].isdigit()


def _canonical(verb: str, thing: Words) -> str:
    shown = CANONICAL.get(verb, verb)
    if shown != "get":
        return shown
    noun = next((thing[at - 1] for at, each in enumerate(thing) if at and each in PREPOSITIONS), thing[-1])
    return "list" if singular(noun) != noun else "get"


def acting(facts: Facts, links: Chain, verbs: Verbs, *, whole: bool = False) -> tuple[Words, Words]:
    """Name an action by the item it acts on: `/runs/{id}/submit_tool_outputs` is submit_run_tool_outputs.

    With `whole` every noun of the path is kept.
    """
    words, shown = facts.shape.action, verbs.shown
    found = leading(words)
    used = found[1] if found else 1
    if (
        found
        and shown not in (found[0].word, CANONICAL.get(found[0].word), "get", "list")
        and found[0].word != "upsert"
    ):
        used = 0  # people's verb is another, and the path's end a noun to it: create a schedule preview
    rest = words[used:]
    taken = len(found[0].word.split("_")) if found and found[0].word != "upsert" else used
    adverbs = tuple(each for each in words[: max(0, used - taken)] if each in ADVERBS)
    lead = (*adverbs, *shown.split("_"))
    if found and {"and", "or"} & set(words[:used]) and found[0].word != "upsert":
        lead = words[:used]  # find one and delete: both are said
    if not links.nouns:
        return lead, rest
    last = links.nouns[-1]
    known = find(shown)
    reading = known is not None and known.category is Category.READ and not (rest and rest[0] != "by")
    if found is not None and found[0].word != shown == "get":
        reading = False
    kept = not last.parameters and (reading or links.mass)
    said = facts.phrase.words if facts.phrase else ()
    whole_said = shown in _TAKING_ALL and last.words[-1] in said and last.one[-1] not in said
    emptying = (shown in _EMPTYING or whole_said) and not last.parameters
    noun = last.words if kept or emptying else last.one
    many = shown == "list" or (lead[0] in _MANY and not last.parameters and not rest)
    if many and not links.mass:
        noun = (*noun[:-1], plural(singular(noun[-1])))
    if facts.phrase and last.bare:
        noun = told(facts, links, last) or noun
    if rest and all(is_adjective((word,)) for word in rest):
        noun, rest = (*rest, *noun), ()
    if whole:
        return lead, (*links.full[: -len(last.words)], *noun, *rest)
    before = parents(facts, links)
    if not before and not last.parameters and not rest:
        before = nearest(links)[: -len(last.words)]
    return lead, (*(("my",) if links.mine and before[:1] != ("my",) else ()), *join(before, noun), *rest)


def numbered(facts: Facts, links: Chain, thing: Words, shown: str) -> Words:
    """Put the last noun in the singular or plural, as the verb and the path ask."""
    if not thing:
        return thing
    last, noun = thing[-1], links.nouns[-1] if links.nouns else None
    known = find(shown)
    if links.participle and not links.settled:
        return thing
    if shown == "list" and not links.mass:
        start = max(len(thing) - len(noun.words), 0) if noun is not None else 0
        head = next((at for at in range(start + 1, len(thing)) if thing[at] in PREPOSITIONS), len(thing)) - 1
        return (
            *thing[:head],
            thing[head] if singular(thing[head]) != thing[head] or is_participle(thing[head]) else plural(thing[head]),
            *thing[head + 1 :],
        )
    reading = known is not None and known.category is Category.READ
    said = set(facts.phrase.object) if facts.phrase else set()
    spoken_of = facts.named is not None or facts.method != "POST"  # `orders` alone is the path again
    many = last in said and singular(last) not in said and spoken_of
    if many and noun is not None and noun.parameters and last not in noun.words and singular(last) not in noun.one:
        return thing  # a noun that people put behind the path's last one: the tags of a host
    if noun is not None and not noun.parameters and plural(last) in said and last not in said and not reading:
        return (*thing[:-1], plural(last))
    whole = reading or many or facts.method in ("PUT", "PATCH", "DELETE")
    creating = known is not None and known.category is Category.CREATE
    if noun is not None and not noun.parameters and singular(last) in said and last not in said and creating:
        return (*thing[:-1], singular(last))
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
