"""The names that fit an operation, best first (R-NAME-2): verb and resource, from its path and from what people called it.

The path gives the nouns, the operationId the verb and the evidence of which nouns are needed: `issues/list-comments-for-repo`
on `/repos/{owner}/{repo}/issues/comments` keeps repo, issue and comment. Every candidate is a pure function of the one operation
(and of the prefix that a whole API shares), so that what else the document holds renames it only where two names meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aqlgen.decisions import Category, Evidence, Reason
from aqlgen.words import plural, singular, split

from .facts import Facts
from .nouns import Chain, chain, evidenced, join, nearest, number
from .spelling import fit, hashed
from .verbs import CANONICAL, find

__all__ = ["Names", "name"]


@dataclass(frozen=True, slots=True)
class Names:
    """Candidates from the best to the one that is always free; `omitted` nouns of the path are not in the first."""

    candidates: tuple[str, ...]
    verb: str
    resource: str
    reason: Reason
    rank: tuple[int, ...]


_DEFAULT: Final = {
    Category.CREATE: "create",
    Category.READ: "get",
    Category.UPDATE: "update",
    Category.DELETE: "delete",
    Category.EXECUTE: "execute",
}
_OWN: Final = {"PUT": "replace", "PATCH": "patch"}
_PREPOSITIONS: Final = frozenset("by for from to with as on in of at into over via using".split())
_GENERIC: Final = frozenset("get list create update delete add remove set put post patch read write retrieve fetch".split())


def name(facts: Facts, category: Category, scope: int) -> Names:
    """Give the candidates for an operation; `scope` is how many nouns at the path's start say nothing in this API."""
    given = facts.operation.extensions.get("x-mcpaql-name")
    links = chain(facts, scope)
    verb, own, rule = _verb(facts, category, links)
    if isinstance(given, str) and split(given):
        reason = Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-name")
        words = split(given)
        return Names(_all(facts, words, links, verb, own), words[0], "_".join(words[1:]) or words[0], reason, _rank(facts, links, 0, verb))
    phrased = _from_phrase(facts, category, links, rule)
    if phrased is not None:
        lead, thing = phrased
        reason = Reason("people's words", Evidence.RULE, 0.85, f"operationId {facts.operation.operation_id}")
        omitted = 0
    elif facts.shape.action:
        lead, thing = _from_action(facts, links, verb)
        reason = Reason("action and item", Evidence.RULE, 0.85, "the path ends in an action")
        omitted = 0
    elif links.nouns:
        (thing, omitted), reason = _from_path(facts, links, verb), _why(facts, links)
        lead = (*links.adverb, *(facts.phrase.lead if facts.phrase and facts.named and facts.named.word == verb else (verb,)))
    else:
        words = facts.phrase.object if facts.phrase else ()
        lead, thing, omitted = (verb,), words or ("root",), 0
        reason = Reason("no noun in the path", Evidence.HEURISTIC, 0.6 if words else 0.5)
    base = join(lead, thing)
    resource = _resource(thing, links)
    return Names(_all(facts, base, links, verb, own), lead[-1], resource, reason, _rank(facts, links, omitted, verb))


def _verb(facts: Facts, category: Category, links: Chain) -> tuple[str, str, str]:
    """Choose the verb: (the verb shown, the API's own verb, where it comes from)."""
    named, action = facts.named, facts.action
    if named and named.category is not category and not (named.word in ("add", "remove") and category is not Category.READ):
        named = None
    if action and action.category is not category:
        action = None
    chosen, source = (action, "action") if action and (named is None or named.word in _GENERIC) else (named, "named")
    if facts.method == "HEAD":
        return "check", "check", "method"
    if chosen is None:
        verb, own, source = _DEFAULT[category], _DEFAULT[category], "method"
    else:
        verb, own = CANONICAL.get(chosen.word, chosen.word), chosen.word
        if chosen.word in ("add", "remove") and facts.method in ("PUT", "DELETE") and len(links.groups) > 1:
            verb = chosen.word
        if chosen.word == "post" and facts.shape.action:
            verb = "post"
        if own == verb:
            own = verb
    if verb == own == "update":
        own = _OWN.get(facts.method, own)
    if category is Category.READ and verb in ("get", "list"):
        verb = "list" if not (action and action.word == "get") and number(facts, links) else "get"
    return verb, own, source


def _from_phrase(
    facts: Facts, category: Category, links: Chain, source: str
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Take people's words whole where their verb says more than the canonical ones, or where the path has no noun to offer."""
    said = facts.phrase
    if said is None or said.verb is None or source == "action":
        return None
    telling = CANONICAL.get(said.verb.word, said.verb.word) not in _DEFAULT.values() and said.verb.word not in _GENERIC
    telling = telling and said.verb.word != "list" and said.verb.category is category
    if telling and not facts.shape.action and links.nouns and evidenced(facts, links) and not links.participle:
        return None
    if facts.action and facts.action.word == said.verb.word and not said.object:
        return None
    wanting = not links.nouns or (links.participle and not links.settled) or facts.shape.procedure
    if not telling and not (wanting and said.object and said.verb.category is category):
        return None
    thing = said.object
    if thing[-3:-2] in (("for",), ("by",), ("of",)) and thing[-2:] == ("authenticated", "user") and len(thing) > 3:
        thing = thing[:-3]
    if len(thing) > 7:
        return None
    parents = [noun.one for noun in links.nouns if noun.parameters]
    spaces = tuple(singular(word) for word in said.namespace[-1:])
    if not thing:
        thing = links.nouns[-1].one if links.nouns and not spaces else spaces
        if not thing:
            return None
    elif thing[0] in _PREPOSITIONS and spaces:
        thing = (*spaces, *thing)
    elif spaces and spaces in parents and not set(spaces) & {singular(word) for word in thing}:
        thing = (*spaces, *thing)
    lead = said.lead if telling else (_canonical(facts, said.verb.word, thing),)
    return lead, thing


def _canonical(facts: Facts, word: str, thing: tuple[str, ...]) -> str:
    verb = CANONICAL.get(word, word)
    if verb not in ("get", "list") or word == "list":
        return verb
    noun = next((thing[i - 1] for i, w in enumerate(thing) if i and w in _PREPOSITIONS), thing[-1])
    return "list" if singular(noun) != noun else "get"


def _from_action(facts: Facts, links: Chain, verb: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name an action by the item it acts on: `/threads/{id}/runs/{id}/submit_tool_outputs` is submit_run_tool_outputs."""
    words = facts.shape.action
    found = facts.action
    used = _used(words, found.word if found else "")
    lead, rest = (*words[: used - 1], verb), words[used:]
    lead = tuple(word for word in lead if word) or (verb,)
    last = links.nouns[-1] if links.nouns else None
    if last is None:
        return lead, rest
    known = find(verb)
    whole = not last.parameters and known is not None and known.category is Category.READ and not (rest and rest[0] != "by")
    noun = last.words if whole or (links.mass and not last.parameters) else last.one
    before = () if last.parameters or rest else tuple(nearest(links)[: -len(last.words)])
    if links.mine:
        before = ("my", *before)
    return lead, (*before, *noun, *rest)


def _used(words: tuple[str, ...], verb: str) -> int:
    parts = verb.split("_")
    for index in range(len(words)):
        if words[index : index + len(parts)] == tuple(parts):
            return index + len(parts)
    return 3 if verb == "upsert" else min(2, len(words)) if words[:1] != (verb,) else 1


def _from_path(facts: Facts, links: Chain, verb: str) -> tuple[tuple[str, ...], int]:
    """Choose the nouns: those that people name, or the last with its nearest parent."""
    chosen = evidenced(facts, links)
    thing, kept = chosen if chosen is not None else (nearest(links), min(len(links.nouns), 2))
    thing = _numbered(facts, links, thing, verb)
    return (*thing, *facts.shape.qualifier, *links.by), len(links.nouns) - kept


def _numbered(facts: Facts, links: Chain, thing: tuple[str, ...], verb: str) -> tuple[str, ...]:
    last = thing[-1]
    known = find(verb)
    reading = known is not None and known.category is Category.READ
    if verb == "list" and not links.mass:
        return (*thing[:-1], last if singular(last) != last else plural(last))
    collection = links.nouns and not links.nouns[-1].parameters
    said = set(facts.phrase.object) if facts.phrase else set()
    if collection and (links.mass or reading or facts.method in ("PUT", "PATCH", "DELETE") or (last in said and singular(last) not in said)):
        return thing
    if links.mass:
        return thing
    noun = links.nouns[-1] if links.nouns else None
    return (*thing[:-1], noun.one[-1] if noun and noun.words[-1] == last else singular(last))


def _why(facts: Facts, links: Chain) -> Reason:
    if links.participle:
        return Reason("path with an adjective", Evidence.HEURISTIC, 0.65, f"`{'_'.join(links.nouns[-1].words)}` is no noun")
    if facts.phrase:
        return Reason("path and people's words", Evidence.RULE, 0.9)
    return Reason("path", Evidence.RULE, 0.85, "no operationId that says more")


def _resource(thing: tuple[str, ...], links: Chain) -> str:
    for index, word in enumerate(thing):
        if index and word in _PREPOSITIONS:
            thing = thing[:index]
            break
    if thing[:1] == ("my",) and len(thing) > 1:
        thing = thing[1:]
    if not thing:
        return "root"
    return "_".join(thing if links.mass else (*thing[:-1], singular(thing[-1])))


def _all(facts: Facts, base: tuple[str, ...], links: Chain, verb: str, own: str) -> tuple[str, ...]:
    """Write the candidates out, each longer than the one before, the last unique by the operation's key."""
    action = facts.shape.action
    operation = facts.operation
    rest = facts.phrase.words if facts.phrase else ()
    tail = _numbered(facts, links, links.full, verb) if links.full else ()
    head = action or (verb,)
    longer = [base]
    if not action and links.nouns and base[:1] == (verb,):
        longer.append((own, *base[1:]))
        longer.append(join((verb,), _numbered(facts, links, links.wider, verb)))
    longer.append(join(head, (*tail, *facts.shape.qualifier, *links.by)))
    if not action:
        longer.append(join((own,), (*tail, *facts.shape.qualifier, *links.by)))
    if links.bent and not action:
        longer.append(join(head, links.raw))
    longer.append(rest if rest and len(rest) < 8 and rest[0] in (verb, own, *base[:1]) else ())
    if links.parameters:
        longer.append((*join(head, tail), "by", *links.parameters))
    longer.append((*join(head, tail), *facts.shape.residue))
    longer.append(rest if rest and facts.operation.operation_id else ())
    longer.append((operation.method.lower(), *split(operation.path)))
    names = [spelled for words in longer if words and (spelled := fit(words))]
    names.append(hashed(base, operation.key))
    return tuple(dict.fromkeys(names))


def _rank(facts: Facts, links: Chain, omitted: int, verb: str) -> tuple[int, ...]:
    """Say how good a claim to its name an operation has: it leaves out little, and its method is the usual one."""
    order = ("PATCH", "PUT", "POST") if verb == "update" else ("GET", "POST", "PUT", "PATCH", "DELETE")
    if "?" in facts.operation.path:
        omitted += len(facts.shape.residue)
    parameters = sum(len(noun.parameters) for noun in links.nouns[-1:])
    return -omitted, -order.index(facts.method) if facts.method in order else -9, -int(links.bent), -parameters
