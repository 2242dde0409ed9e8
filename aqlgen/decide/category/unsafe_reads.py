"""Doubts about a READ by an unsafe method (RFC 9110, 9.2.1): taking a change for a READ is the worst error.

A verb that can only read is believed of a POST. One that may do more (analyze, scan, export, download) is believed
where a response has a body and nothing says that something is started or kept. One that reads as a GET and tells the
server something as a POST (report, load, watch) is not believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.category.read_effects import effect
from aqlgen.decide.decision import Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.verbs import ADVERBS, Verb, find_verb
from aqlgen.decide.payloads import body_fields
from aqlgen.words import split

__all__ = ["doubt_read"]

_READS: Final = frozenset(
    "get list retrieve fetch read describe find search query lookup show view count browse enumerate preview inspect"
    " introspect explain compare diff suggest tail aggregate estimate summarize peek exists has is check calculate"
    " compute validate lint reveal autocomplete ls parse tokenize decode obtain match history status usage stats"
    " details all info recommend scroll".split()
)
"""Verbs that can only read."""
_INFORMS: Final = frozenset("report load watch index head ping".split())
"""Verbs that read as a GET; as a POST, they tell the server something or set it to work."""

_ANSWERS_BY_STATUS: Final = frozenset("check exists has is validate".split())
_DECISION_FIELDS: Final = frozenset(
    "state status approve approved approval reject rejected decision verdict resolution".split()
)
_CHANGES: Final = re.compile(
    r"\b(?:creat|stor|start|begin|trigger|queu|enqueu|schedul|send|submit|approv|reject|register|sav|initiat|generat|log"
    r"|sign)(?:e|es|s|ing|ed)?\s+(?:in|a|an|the|your|new)\b",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(r"\b(?:log|sign)[ -]?(?:in|on)\b", re.IGNORECASE)
_RECALCULATES: Final = re.compile(r"^\(?re\)?-?(?:calculat|comput|index|build|pars)", re.IGNORECASE)
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim that an operation reads: the verbs of reading that it rests on, and its confidence."""

    facts: Facts
    verbs: tuple[Verb, ...]
    confidence: float

    @property
    def word(self) -> str:
        return self.verbs[0].word if self.verbs else "read"

    @property
    def sure(self) -> bool:
        return not self.verbs or any(verb.word in _READS for verb in self.verbs)

    @property
    def silent(self) -> bool:
        """Return True if a success has no body, though the verb asks for one."""
        return self.facts.answers_nothing and self.word not in _ANSWERS_BY_STATUS

    @property
    def text(self) -> str:
        return f"{self.facts.operation.summary}. {self.facts.operation.description[:300]}"


def doubt_read(facts: Facts, confidence: float, *, stated: bool = False) -> Verdict | None:
    """Return what an operation is that a rule takes for a READ; None where there is no doubt.

    `stated` are the READs that an extension states: it is believed of a verb that may do more than read.
    """
    if facts.method in _SAFE:
        return None
    claim = _Claim(facts, _reading_verbs(facts), confidence)
    for doubt in (*_REFUTATIONS, *(_CERTAINTIES if claim.sure or stated else _SUSPICIONS)):
        verdict = doubt(claim)
        if verdict is not None:
            return verdict
    return None


def _reading_verbs(facts: Facts) -> tuple[Verb, ...]:
    verbs = (facts.named_verb, facts.action_verb, facts.summary_verb)
    reading = tuple(verb for verb in verbs if verb and verb.category is Category.READ)
    if reading:
        return reading
    last = split(facts.operation.path.rsplit("/", 1)[-1])
    return tuple(verb for word in last[-1:] if (verb := find_verb(word)) and verb.category is Category.READ)


def _marks_as_read(claim: _Claim) -> Verdict | None:
    """Doubt a path that ends in `read` and marks what it names; not where many are asked for (`/batch/read`)."""
    facts = claim.facts
    named = facts.named_verb.word if facts.named_verb else "read"
    if facts.shape.action != ("read",) or named != "read" or facts.last_noun is None:
        return None
    if facts.last_noun.words[-1] in ADVERBS or ":" in facts.operation.path:
        return None
    note = f"{facts.method} that ends in read marks what was read"
    return Verdict(Category.UPDATE, Evidence.HEURISTIC, 0.66, note)


def _writes_by_method(claim: _Claim) -> Verdict | None:
    """Take a PUT, PATCH or DELETE for what its method says, unless a sure verb of reading is at its head."""
    facts = claim.facts
    if facts.method not in ("PUT", "PATCH", "DELETE"):
        return None
    name = facts.sdk_name or facts.operation.operation_id or ""
    heads = {split(name)[:1], split(re.split(r"[/._]", name)[-1])[:1], facts.shape.action[:1]}
    if claim.sure and claim.verbs and (claim.word,) in heads and not facts.answers_nothing:
        return Verdict(Category.READ, Evidence.HEURISTIC, 0.6, f"{facts.method}, but called {claim.word}")
    category = Category.DELETE if facts.method == "DELETE" else Category.UPDATE
    return Verdict(category, Evidence.HEURISTIC, 0.6, f"{facts.method}, though called {claim.word}")


def _informs_server(claim: _Claim) -> Verdict | None:
    if not claim.verbs or not all(verb.word in _INFORMS for verb in claim.verbs):
        return None
    note = f"{claim.facts.method} called {claim.word} tells the server something"
    return Verdict(Category.EXECUTE, Evidence.RULE, 0.68, note)


def _does_again(claim: _Claim) -> Verdict | None:
    if not _RECALCULATES.match(claim.facts.operation.summary):
        return None
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.66, "its summary says that something is done again")


def _answers_without_body(claim: _Claim) -> Verdict | None:
    responses = claim.facts.operation.responses
    silent = [answer.status for answer in responses if answer.status in ("201", "202", "204") and not answer.media]
    if not silent or not claim.silent:
        return None
    note = f"called {claim.word}, but answers {silent[0]} with nothing read"
    return Verdict(Category.EXECUTE, Evidence.RULE, 0.75, note)


def _validates_and_more(claim: _Claim) -> Verdict | None:
    if claim.word != "validate":
        return None
    if not _CHANGES.search(claim.text) and not _LOGIN.search(claim.facts.operation.summary):
        return None
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.66, "called validate, but more is told of it")


def _reads_nothing(claim: _Claim) -> Verdict | None:
    if not claim.silent:
        return None
    return Verdict(Category.READ, Evidence.HEURISTIC, 0.75, f"called {claim.word}, but answers nothing")


def _has_effect(claim: _Claim) -> Verdict | None:
    sign = effect(claim.facts)
    if sign is None:
        return None
    return Verdict(sign.category, Evidence.HEURISTIC, 0.6, f"called {claim.word}, but {sign.note}")


def _starts_or_keeps(claim: _Claim) -> Verdict | None:
    accepted = any(response.status == "202" for response in claim.facts.operation.responses)
    if not accepted and not _CHANGES.search(claim.text):
        return None
    note = f"called {claim.word}, but starts or keeps something"
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.66, note)


def _sends_decision(claim: _Claim) -> Verdict | None:
    if not _DECISION_FIELDS & body_fields(claim.facts.operation, claim.facts.resolver).keys():
        return None
    return Verdict(Category.EXECUTE, Evidence.HEURISTIC, 0.66, f"called {claim.word}, but sends a decision")


def _may_do_more(claim: _Claim) -> Verdict | None:
    note = f"called {claim.word}, which may do more than read"
    return Verdict(Category.READ, Evidence.HEURISTIC, min(claim.confidence, 0.68), note)


_Doubt: TypeAlias = Callable[[_Claim], Verdict | None]
_REFUTATIONS: Final[tuple[_Doubt, ...]] = (
    _marks_as_read,
    _writes_by_method,
    _informs_server,
    _does_again,
    _answers_without_body,
    _validates_and_more,
    _has_effect,
)
"""Doubts about any verb, in order."""
_CERTAINTIES: Final[tuple[_Doubt, ...]] = (_reads_nothing,)
"""Doubts about a verb that can only read."""
_SUSPICIONS: Final[tuple[_Doubt, ...]] = (_starts_or_keeps, _sends_decision, _may_do_more)
"""Doubts about every other verb; the last one always applies."""
