"""The names that fit an operation, best first (R-NAME-2, R-NAME-3), each a pure function of the one operation.

Only the prefix that a whole API shares is looked at besides, so that what else the document holds renames an operation
only where two names meet; then the candidates grow by parents, by the API's own verb, by what an item is found by, and
end in one that is always free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from aqlgen.decisions import Category, Evidence, Reason
from aqlgen.words import singular, split

from .facts import Facts
from .nouns import Chain, chain, join
from .spelling import fit, hashed
from .wording import PREPOSITIONS, Verbs, acting, choose_verb, numbered, word

__all__ = ["Names", "name"]


@dataclass(frozen=True)
class Names:
    """Candidates, best first. `rank` says how good the operation's claim to the first is; higher is better."""

    base: tuple[str, ...]
    verb: str
    resource: str
    reason: Reason
    rank: tuple[int, ...]
    more: Callable[[], tuple[str, ...]]

    @cached_property
    def best(self) -> str:
        """The first candidate, the one that nearly every operation gets."""
        return fit(self.base) or self.candidates[0]

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """All of them; worked out only for those whose first is wanted by another."""
        return self.more()


def name(facts: Facts, category: Category, scope: int) -> Names:
    """Give the candidates for an operation; `scope` is how many nouns at the path's start say nothing in this API."""
    links = chain(facts, scope)
    verbs = choose_verb(facts, category, links)
    given = facts.operation.extensions.get("x-mcpaql-name")
    if isinstance(given, str) and (words := split(given)):
        reason = Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-name")
        verb, resource, omitted = words[0], "_".join(words[1:]) or words[0], 0
    else:
        chosen = word(facts, category, links, verbs)
        reason, omitted = chosen.reason, chosen.omitted
        words = join(chosen.lead, chosen.thing)
        verb = chosen.lead[-1]
        resource = _resource(chosen.thing, links) or verb
    more = partial(_candidates, facts, words, links, verbs)
    return Names(words, verb, resource, reason, _rank(facts, links, omitted, verb), more)


def _resource(thing: tuple[str, ...], links: Chain) -> str:
    """Give the noun for one, without what follows a preposition."""
    if not thing:
        return ""
    for index, each in enumerate(thing):
        if index and each in PREPOSITIONS and each != "of":
            thing = thing[:index]
            break
    if thing[:1] == ("my",) and len(thing) > 1:
        thing = thing[1:]
    return "_".join(thing if links.mass else (*thing[:-1], singular(thing[-1])))


def _candidates(facts: Facts, base: tuple[str, ...], links: Chain, verbs: Verbs) -> tuple[str, ...]:
    """Write the candidates out: the base, longer ones, and one that only this operation's key can give."""
    shown, own = verbs.shown, verbs.own
    said = facts.phrase.words if facts.phrase else ()
    qualifier = (*facts.shape.qualifier, *links.by)
    if facts.shape.action:
        lead, thing = acting(facts, links, shown, whole=True)
        full = join(lead, thing)
        longer = [base, (*base, *qualifier), full, (*full, *qualifier)]
    else:
        tail = numbered(facts, links, links.full, shown)
        full = join((shown,), (*tail, *qualifier))
        longer = [base, (own, *base[1:]) if base[:1] == (shown,) else ()]
        longer.append(join((shown,), numbered(facts, links, links.wider, shown)) if links.nouns else ())
        longer += [full, join((own,), (*tail, *qualifier)), join((shown,), links.raw) if links.bent else ()]
    longer.append(said if len(said) < 8 and said[:1] in ((shown,), (own,), base[:1]) else ())
    longer.append((*full, "by", *links.parameters) if links.parameters and not qualifier else ())
    residue = facts.shape.residue
    longer.append((*full, *(each for each in residue if each not in ("api", "apis", "rest"))))
    longer.append((*full, *residue))
    longer.append(said)
    longer.append((facts.method.lower(), *split(facts.operation.path)))
    names = [spelled for words in longer if words and (spelled := fit(words))]
    names.append(hashed(base, facts.operation.key))
    return tuple(dict.fromkeys(names))


def _rank(facts: Facts, links: Chain, omitted: int, verb: str) -> tuple[int, ...]:
    """Say how good a claim to its name an operation has: it leaves out little, and its method is the usual one."""
    order = ("PATCH", "PUT", "POST") if verb == "update" else ("GET", "POST", "PUT", "PATCH", "DELETE")
    if "?" in facts.operation.path:
        omitted += len(facts.shape.residue)
    omitted += bool(links.by and facts.shape.action)
    unusual = order.index(facts.method) if facts.method in order else len(order)
    return (
        -omitted,
        -len(links.nouns),
        -unusual,
        -int(links.bent),
        -len(links.nouns[-1].parameters) if links.nouns else 0,
    )
