"""Doubts about a READ by an unsafe method (RFC 9110, 9.2.1): taking a change for a READ is the worst error.

A verb of reading is a claim of the document. Effects refute it: what the path does, what is answered, and what the
clauses of the text say. A method that changes refutes it too, unless a verb of reading heads the name, and so does an
answer without a body. A weak verb, which may be a noun, is believed less.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.clauses import Act, clauses
from aqlgen.decide.decision import Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import head_size
from aqlgen.decide.naming.verbs import ADVERBS, Verb, find_verb
from aqlgen.decide.sentences import irreversible
from aqlgen.words import split

__all__ = ["COMPUTING", "Effect", "changes", "doubt_read", "text_acts"]

COMPUTING: Final = frozenset(
    "render evaluate predict detect classify convert transform translate test generate".split()
)
"""Verbs that may leave everything as it was."""
_INFORMS: Final = frozenset("report load watch index head ping".split())
"""Verbs that read as a GET; as a POST, they tell the server something or set it to work."""
_ANSWERS_BY_STATUS: Final = frozenset("check exists has is validate".split())
_CREDENTIALS: Final = frozenset({"token", "jwt", "credential"})
_FOR_THE_ANSWER: Final = frozenset(
    "preview search query estimate quote view list summary copy response request result filter report".split()
)
"""Things that are made for the answer and are not kept."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
_PARAMETER: Final = re.compile(r"\{[^{}]*\}")


class Effect(NamedTuple):
    """The category of what an operation does besides reading, and the words that say so."""

    category: Category
    note: str


def _path_acts(facts: Facts) -> Effect | None:
    """Find the verb of a change in the last fixed segment (`/direct_upload`, `/purge`), unless a READ heads it."""
    fixed = re.split(r"[/:]", _PARAMETER.sub("", facts.operation.path.split("?")[0]))
    words = next((split(part) for part in reversed(fixed) if part.strip("/:.")), ())
    head = find_verb(words[0]) if words else None
    joins = not {"and", "or"}.isdisjoint(words)
    if not words or (head is not None and head.category is Category.READ and not joins):
        return None
    is_adverb = words[0] in ADVERBS
    if facts.last_noun is not None and facts.last_noun.words == words and len(words) > 1 and not is_adverb:
        return None
    verb = _changing(words[1] if is_adverb and len(words) > 1 else words[0])
    return Effect(verb.category, f"its path says {verb.word}") if verb else None


def _changing(word: str) -> Verb | None:
    verb = find_verb(word)
    is_change = verb is not None and verb.strong and verb.category is not Category.READ and word not in COMPUTING
    return verb if is_change else None


def _issues_credential(facts: Facts) -> Effect | None:
    """Find a token that is made for the caller (`get_access_token` of `…/authenticate`, "Get an auth token for …")."""
    spoken = facts.phrase.object if facts.phrase and not facts.shape.queried else ()
    things = [spoken] if facts.named_verb and facts.named_verb.word != "list" else []
    things += [act.object[: head_size(act.object, 1)] for act in clauses(facts.operation) if "get" in act.verbs]
    thing = next((thing for thing in things if _CREDENTIALS & set(thing[-1:])), None)
    return Effect(Category.CREATE, f"it issues a {' '.join(thing)}") if thing else None


def _answers_created(facts: Facts) -> Effect | None:
    """Take 201, or the header Location, for what they say (RFC 9110, 15.3.2 and 10.2.2)."""
    good = [response for response in facts.operation.responses if response.status.startswith("2")]
    if good and all(response.status == "201" for response in good):
        return Effect(Category.CREATE, "it answers 201 alone")
    if any(header.lower() == "location" for response in good for header in response.headers):
        return Effect(Category.EXECUTE, "it answers with a Location")
    return None


def text_acts(facts: Facts) -> Effect | None:
    """Find a clause that says what the operation does: "Creates a report", "This call sends an email"."""
    for act in clauses(facts.operation):
        if changes(act) and any(form.endswith("s") and form[:-1] in act.verbs for form in act.verbs):
            return Effect(Category.EXECUTE, f"its text says {act.says}")
    return None


def changes(act: Act) -> bool:
    """Return True if an act changes something beyond its answer; sending to somebody counts as a change."""
    is_answer = "to" not in act.object and not _FOR_THE_ANSWER.isdisjoint(act.object[:5])
    return not act.is_denied and any(map(_changing, act.verbs)) and not is_answer


def _cannot_be_undone(facts: Facts) -> Effect | None:
    sentence = irreversible(facts.operation)
    return Effect(Category.EXECUTE, f"its text says “{sentence}”") if sentence else None


_SIGNS: Final[tuple[Callable[[Facts], Effect | None], ...]] = (
    _path_acts,
    _issues_credential,
    _answers_created,
    _cannot_be_undone,
    text_acts,
)


def doubt_read(facts: Facts, confidence: float, *, stated: bool = False) -> Verdict | None:
    """Return what an operation is that a rule takes for a READ; None where there is no doubt.

    `stated` are the READs that an extension states: a weak verb is enough for them.
    """
    if facts.method in _SAFE:
        return None
    verbs = _reading_verbs(facts)
    is_weak = bool(verbs) and not any(verb.strong for verb in verbs)
    word = verbs[0].word if verbs else "read"
    reading = _Reading(facts, verbs, word, confidence, is_weak and not stated)
    doubt = next((doubt for rule in _DOUBTS if (doubt := rule(reading)) is not None), None)
    if doubt is None:
        return None
    return Verdict(doubt[0], Evidence.HEURISTIC, doubt[2], f"called {reading.word}, but {doubt[1]}")


class _Reading(NamedTuple):
    """An operation that a rule takes for a READ, with the verbs that say so."""

    facts: Facts
    verbs: tuple[Verb, ...]
    word: str
    confidence: float
    is_weak: bool

    @property
    def is_silent(self) -> bool:
        """Return True if an answer without a body gives nothing that could be read."""
        return self.facts.answers_nothing and self.word not in _ANSWERS_BY_STATUS

    def answers(self, *statuses: str) -> bool:
        """Return True if one of these statuses is declared."""
        return any(response.status in statuses for response in self.facts.operation.responses)


_Doubt: TypeAlias = tuple[Category, str, float]


def _marks_read(reading: _Reading) -> _Doubt | None:
    facts = reading.facts
    last = facts.last_noun.words[-1] if facts.last_noun else ""
    is_marked = facts.shape.action == (reading.word,) == ("read",) and ":" not in facts.operation.path
    if not (is_marked and last) or last in ADVERBS:
        return None
    return Category.UPDATE, f"{facts.method} that ends in read marks items as read", 0.66


def _by_method(reading: _Reading) -> _Doubt | None:
    """Take the method at its word, unless a verb of reading heads the name and something is answered."""
    facts = reading.facts
    if facts.method not in ("PUT", "PATCH", "DELETE"):
        return None
    name = facts.sdk_name or facts.operation.operation_id or ""
    heads = (split(name)[:1], split(re.split(r"[/._]", name)[-1])[:1], facts.shape.action[:1])
    category = Category.DELETE if facts.method == "DELETE" else Category.UPDATE
    if reading.verbs and (reading.word,) in heads and not reading.is_weak and not facts.answers_nothing:
        category = Category.READ
    return category, f"sent by {facts.method}", 0.6


def _informs(reading: _Reading) -> _Doubt | None:
    if not reading.verbs or not all(verb.word in _INFORMS for verb in reading.verbs):
        return None
    return Category.EXECUTE, f"a {reading.facts.method} tells the server something", 0.68


def _answers_done(reading: _Reading) -> _Doubt | None:
    is_done = reading.is_silent and reading.answers("201", "202", "204")
    return (Category.EXECUTE, "it answers nothing that is read", 0.75) if is_done else None


def _has_sign(reading: _Reading) -> _Doubt | None:
    sign = next((sign for rule in _SIGNS if (sign := rule(reading.facts)) is not None), None)
    return None if sign is None else (sign.category, sign.note, 0.6)


def _answers_nothing(reading: _Reading) -> _Doubt | None:
    return (Category.READ, "it answers nothing", 0.75) if reading.is_silent else None


def _has_weak_verb(reading: _Reading) -> _Doubt | None:
    if not reading.is_weak:
        return None
    category = Category.EXECUTE if reading.answers("202") else Category.READ
    return category, "it may do more than read", min(reading.confidence, 0.66)


_DOUBTS: Final = (_marks_read, _by_method, _informs, _answers_done, _has_sign, _answers_nothing, _has_weak_verb)


def _reading_verbs(facts: Facts) -> tuple[Verb, ...]:
    verbs = (facts.named_verb, facts.action_verb, facts.summary_verb)
    reading = tuple(verb for verb in verbs if verb and verb.category is Category.READ)
    last = split(facts.operation.path.rsplit("/", 1)[-1])[-1:]
    return reading or tuple(
        verb for word in last if (verb := find_verb(word)) is not None and verb.category is Category.READ
    )
