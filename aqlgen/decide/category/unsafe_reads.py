"""Doubts about a READ by an unsafe method (RFC 9110, 9.2.1): taking a change for a READ is the worst error.

A verb that can only read is believed of a POST. One that may do more (analyze, scan, export, download) is believed
where a response has a body and nothing says that something is started or kept. One that reads as a GET and tells the
server something as a POST (report, load, watch) is not believed.

Effects refute a READ: what the path does, what is answered, and what the text says.
A verb of reading is a claim of the document; these are the signs that the request does something all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from aqlgen.decide.category.evidence import Verdict
from aqlgen.decide.decision import Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.verbs import ADVERBS, Verb, find_verb
from aqlgen.decide.payloads import body_fields
from aqlgen.decide.sentences import irreversible, sentences
from aqlgen.words import split

__all__ = ["COMPUTING", "Effect", "doubt_read", "text_acts"]

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


def text_acts(facts: Facts) -> Effect | None:
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
    text_acts,
)


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
