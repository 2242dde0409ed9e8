"""Effects that refute a READ by an unsafe method: what the path does, what is answered, and what the text says.

A verb of reading is a claim of the document; these are the signs that the request does something all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.verbs import ADVERBS, Verb, find_verb
from aqlgen.decide.sentences import irreversible, sentences
from aqlgen.words import split

__all__ = ["COMPUTING", "Effect", "effect"]

COMPUTING: Final = frozenset(
    "render evaluate predict detect classify convert transform translate test generate".split()
)
"""Verbs that may leave everything as it was."""


class Effect(NamedTuple):
    """The category of what an operation does besides reading, and the words that say so."""

    category: Category
    note: str


_PARAMETER: Final = re.compile(r"\{[^{}]*\}")
_ISSUING: Final = frozenset("get obtain fetch retrieve return exchange".split())
"""Verbs that are said of a token that is made for the caller."""
_CREDENTIALS: Final = frozenset({"token", "jwt", "credential"})
_ABOUT: Final = frozenset("by of for from with via using in on to and".split())
_PREVIEWS: Final = frozenset(
    "preview previews search query estimate quote view list summary copy response request result results".split()
)
"""Things that are made for the answer and are not kept."""
_DOING: Final = re.compile(
    r"(?:(?:this|the) (?:end ?point|operation|method|call|api|request) )?(?:also |then |will |and |,)*"
    r"(creates?|sends?|uploads?|issues?|stores?|saves?|deletes?|removes?|updates?|modifies|modify|starts?|initiates?"
    r"|enqueues?|registers?|publish(?:es)?|cancels?|revokes?|charges?|refunds?|transfers?|grants?|triggers?|disables?)"
    r" (?:\w+ ){0,3}",
    re.IGNORECASE,
)
_TOKENS: Final = re.compile(
    r"\b(?:gets?|obtains?|issues?|generates?|returns?|creates?|retrieves?|exchanges?)\s{1,4}(?:(?:an?|the|new|short-lived)\s{1,4}){0,4}+"
    r"(?:[a-z-]{1,40} ){0,2}?(?:access|identity|bearer|refresh|session|auth|api) ?(?:token|session)\b",
    re.IGNORECASE,
)
_PROCEDURE_READS: Final = frozenset(
    "get list search query lookup find read describe introspect fetch check validate".split()
)


def effect(facts: Facts) -> Effect | None:
    """Return the first sign that an operation by an unsafe method does more than read; None without one."""
    return next((sign for rule in _SIGNS if (sign := rule(facts)) is not None), None)


def _path_acts(facts: Facts) -> Effect | None:
    """Find the verb of a change in the last fixed segment (`/direct_upload`, `/purge`), unless a READ heads it."""
    words = _last_words(facts)
    if not words or ((head := find_verb(words[0])) and head.category is Category.READ and not _joins(words)):
        return None
    if facts.last_noun is not None and facts.last_noun.words == words and len(words) > 1 and words[0] not in ADVERBS:
        return None
    verb = _change(words)
    return Effect(verb.category, f"its path says {verb.word}") if verb else None


def _change(words: tuple[str, ...]) -> Verb | None:
    for word in words[:1] if words[0] not in ADVERBS else words[1:2]:
        verb = find_verb(word)
        if verb and verb.strong and verb.category is not Category.READ and verb.word not in COMPUTING:
            return verb
    return None


def _joins(words: tuple[str, ...]) -> bool:
    return "and" in words or "or" in words


def _last_words(facts: Facts) -> tuple[str, ...]:
    path = _PARAMETER.sub("", facts.operation.path.split("?")[0])
    fixed = [part for part in re.split(r"[/:]", path) if part.strip("/:.")]
    return split(fixed[-1]) if fixed else ()


def _issues_credential(facts: Facts) -> Effect | None:
    """Find a token or session that is made for the caller (`get_access_token` of `…/authenticate`)."""
    words = _last_words(facts)
    if facts.shape.queried or (words and (words[-1] in _PROCEDURE_READS or words[0] in _PROCEDURE_READS)):
        return None
    named = facts.named_verb
    spoken = facts.phrase.object if facts.phrase else ()
    thing = next((spoken[:at] for at, word in enumerate(spoken) if word in _ABOUT and at), spoken)
    if named and named.word in _ISSUING and thing and thing[-1].removesuffix("s") in _CREDENTIALS:
        return Effect(Category.CREATE, f"what it gets is a {' '.join(thing)}, which is issued")
    match = _TOKENS.search(f"{facts.operation.summary}. {facts.operation.description[:400]}")
    return Effect(Category.CREATE, f"its text says “{' '.join(match[0].split())}”") if match else None


def _answers_created(facts: Facts) -> Effect | None:
    """Take 201, or the header Location, for what they say (RFC 9110, 15.3.2 and 10.2.2)."""
    good = [response for response in facts.operation.responses if response.status.startswith("2")]
    if good and all(response.status == "201" for response in good):
        return Effect(Category.CREATE, "it answers 201 alone")
    if any(header.lower() == "location" for response in good for header in response.headers):
        return Effect(Category.EXECUTE, "it answers with a Location")
    return None


def _text_acts(facts: Facts) -> Effect | None:
    """Find a sentence that begins with what the operation does: "Creates a report", "This call sends an email"."""
    for sentence in sentences(facts.operation)[:4]:
        match = _DOING.match(sentence)
        if match is None:
            continue
        verb = match[1].lower()
        objects = set(split(sentence[len(match[0]) - len(match[0].split(match[1], 1)[1]) :][:80])[:5])
        third = verb.endswith("s") or match.start(1) > 0
        if third and not objects & _PREVIEWS:
            return Effect(Category.EXECUTE, f"its text says “{sentence[:100]}”")
    return None


def _cannot_be_undone(facts: Facts) -> Effect | None:
    sentence = irreversible(facts.operation)
    return Effect(Category.EXECUTE, f"its text says “{sentence}”") if sentence else None


_SIGNS: Final[tuple[Callable[[Facts], Effect | None], ...]] = (
    _path_acts,
    _issues_credential,
    _answers_created,
    _cannot_be_undone,
    _text_acts,
)
