"""The names that fit an operation, best first (R-NAME-2, R-NAME-3), each a pure function of the one operation.

Nothing of the other operations is looked at, so that what else the document holds renames an operation only where two
names meet; then the candidates grow by parents, by the API's own verb, by what an item is found by, and end in one that
is always free.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from aqlgen.decisions import Category, Evidence, Reason
from aqlgen.words import plural, singular, split

from .chain import PREPOSITIONS, Chain, join
from .choice import Verbs, choose_verb
from .facts import Facts
from .marks import marks
from .reading import chain
from .spelling import fit, hashed
from .vocabulary import Vocabulary
from .wording import acting, numbered, word

__all__ = ["Names", "name"]


@dataclass(frozen=True)
class Names:
    """Candidates, best first.

    `twin` is what the operation is but for the version of the API that it is in, and `version` that.
    """

    base: tuple[str, ...]
    verb: str
    resource: str
    reason: Reason
    claim: Callable[[], tuple[int, ...]]
    twin: tuple[object, ...]
    version: tuple[str, ...]
    more: Callable[[bool], tuple[str, ...]]

    @cached_property
    def best(self) -> str:
        """The first candidate, the one that nearly every operation gets."""
        return fit(self.base) or self.candidates(versioned=False)[0]

    @cached_property
    def rank(self) -> tuple[int, ...]:
        """How good the operation's claim to its first candidate is; higher is better."""
        return self.claim()

    def candidates(self, *, versioned: bool) -> tuple[str, ...]:
        """All of them, with the version soon or late; worked out only where the first is wanted by another."""
        return self._versioned if versioned else self._plain

    @cached_property
    def _versioned(self) -> tuple[str, ...]:
        return self.more(True)

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return self.more(False)


def name(facts: Facts, category: Category, vocabulary: Vocabulary) -> Names:
    """Give the candidates for an operation; `vocabulary` tells which words the document runs together."""
    links = chain(facts, vocabulary)
    verbs = choose_verb(facts, category, links)
    given = facts.operation.extensions.get("x-mcpaql-name")
    if isinstance(given, str) and (words := split(given)):
        reason = Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-name")
        verb, resource, omitted = words[0], "_".join(words[1:]) or words[0], 0
    else:
        chosen = word(facts, category, links, verbs)
        reason, omitted = chosen.reason, chosen.omitted
        words = join(chosen.lead, chosen.thing)
        verb = "_".join(chosen.lead)
        resource = _resource(chosen.thing, links) or verb
    version = tuple(each for each in facts.shape.residue if re.match(r"v?\d", each))
    twin = (facts.method, links.nouns, facts.shape.action, facts.shape.qualifier, facts.shape.marks)
    more = partial(_candidates, facts, category, words, links, verbs, version)
    return Names(words, verb, resource, reason, partial(_rank, facts, links, omitted, verb), twin, version, more)


def _resource(thing: tuple[str, ...], links: Chain) -> str:
    """Give the noun for one, without what follows a preposition that is no part of the path's own noun."""
    last = links.nouns[-1].words if links.nouns else ()
    own = next((at + len(last) for at in range(len(thing)) if last and _same(thing[at : at + len(last)], last)), 0)
    for index, each in enumerate(thing):
        if index >= max(own, 1) and each in PREPOSITIONS and each != "of":
            thing = thing[:index]
            break
    if thing[:1] == ("my",) and len(thing) > 1:
        thing = thing[1:]
    if not thing:
        return ""
    return "_".join(thing if links.mass else (*thing[:-1], singular(thing[-1])))


def _same(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return [singular(word) for word in some] == [singular(word) for word in others]


def _candidates(
    facts: Facts,
    category: Category,
    base: tuple[str, ...],
    links: Chain,
    verbs: Verbs,
    version: tuple[str, ...],
    versioned: bool,
) -> tuple[str, ...]:
    """Write the candidates out: the base, longer ones, and one that only this operation's key can give."""
    shown, own = verbs.shown, verbs.own
    marked = marks(facts, links, category)
    item = bool(links.nouns) and bool(links.nouns[-1].parameters)
    longer = [base]
    if facts.shape.action:
        lead, thing = acting(facts, links, verbs, whole=True)
        full = join(lead, (*thing, *marked))
    else:
        full = join((shown,), (*numbered(facts, links, links.full, shown), *marked))
        wider = numbered(facts, links, links.wider, shown) if links.nouns else ()
        changing = base[:1] == (shown,) and shown != own and facts.method not in ("GET", "HEAD", "POST")
        longer += [(own, *base[1:]) if changing else (), (shown, *wider, *marked) if wider else ()]
        if (
            base[:1] == ("get",)
            and facts.method == "GET"
            and links.nouns
            and not item
            and len(base) > 1
            and not marked
            and not links.mass
        ):
            longer.append(("get" if facts.many is False else "list", *base[1:-1], plural(base[-1])))
    around = (*full[:1], *links.area, *full[1:])
    numbers = [(*base, *version), (*full, *version), (*around, *version)]
    longer += [*(numbers if versioned else ()), full, around]
    if base[:1] == ("list",) and not links.within:
        longer.append(("list", "all", *base[1:]))
    if not facts.shape.action and links.raw != links.full:
        raw = links.raw if shown == "list" or not item else (*links.raw[:-1], singular(links.raw[-1]))
        longer.append((shown, *raw, *marked))
    said = (*facts.phrase.lead, *facts.phrase.object) if facts.phrase else ()
    longer.append(said if 1 < len(said) < 7 and said[:1] in (base[:1], (own,)) else ())
    longer.append((*full, "by", *links.parameters) if item and "by" not in marked else ())
    longer.append((own, *full[1:]) if not facts.shape.action and own not in ("post", "put") else ())
    longer.append((*full, "via", facts.method.lower()))
    longer += numbers
    longer.append((*around, *(each for each in facts.shape.residue if each not in ("api", "apis", "rest"))))
    longer.append((*around, *facts.shape.residue))
    plainly = [each for each in split(facts.operation.path) if each not in facts.shape.residue]
    lead = tuple(shown.split("_"))
    apart = [each for each in plainly if each not in lead]
    method = facts.method.lower()
    longer += [(*lead, *apart), (*lead, *plainly), (method, *plainly), (method, *split(facts.operation.path))]
    names = [spelled for words in longer if words and (spelled := fit(words))]
    names.append(hashed(base, facts.operation.key))
    return tuple(dict.fromkeys(names))


def _rank(facts: Facts, links: Chain, omitted: int, verb: str) -> tuple[int, ...]:
    """Say how good a claim to its name an operation has: it leaves out little, and its method is the usual one."""
    order = ("PATCH", "PUT", "POST") if verb == "update" else ("GET", "POST", "PUT", "PATCH", "DELETE")
    unusual = order.index(facts.method) if facts.method in order else len(order)
    return (
        -int(facts.operation.deprecated),
        int(links.itself) if verb == "get" else 0,
        -omitted,
        -len(links.nouns),
        -unusual,
        -len(links.nouns[-1].parameters) if links.nouns else 0,
        sum(len(noun.parameters) for noun in links.nouns),
        -int(links.raw != links.full),
        *_age(facts),
    )


def _age(facts: Facts) -> tuple[int, ...]:
    """Rank by version, the oldest first, so that a new one beside it renames nothing."""
    numbers = [int(digits[:9]) for word in facts.shape.residue for digits in re.findall(r"\d+", word)]
    return tuple(-number for number in (*numbers, 0, 0, 0)[:3])
