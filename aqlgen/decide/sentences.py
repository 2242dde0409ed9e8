"""The sentences that a document says of an operation: those that say that nothing brings back what was done, and acts.

"Deletes all messages", "this call sends an email" and "existing entries are removed" are acts of the operation; "to
delete one, use …" and "if it is closed" are not. A clause that denies ("does not delete") is an act that is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from aqlgen.ir import Operation
from aqlgen.runtime.text import without_unseen
from aqlgen.schemas.descriptions import SENTENCE_END, paragraphs, prose
from aqlgen.words import singular

_MOST: Final = 20_000
"""Characters of a text that are read."""
_QUOTED: Final = 160
_EMPHASIS: Final = re.compile(r"[*_`~](?:[*_`~]{0,2}(?=\S)|(?<=\S.)[*_`~]{0,2})")

_APOSTROPHES: Final = str.maketrans("\u2019\u2018\u02bc", "'''")

_UNDO: Final = r"(?:be )?(?:un(?:done|deleted|do(?:ing)?)|re(?:versed|verted|covered)|rolled back|taken back)"
_BACK: Final = r"re(?:stored|trieved|called|instated|activated|opened)"
_NEVER: Final = r"(?:can(?:no| no|'|)t|could(?: not|n't)|may not|will not|won't|(?:is|are) not able to|never|no longer)"
_LOSE: Final = (
    "(?:delet|remov|eras|destroy|wip|purg|clos|cancel|revok|disabl|deactivat|terminat|los|ban(?!k)|block|discard|drop"
    "|overwrit|expir|end(?!p)|delist|redact|anonymi|suspend|void|lock|kill|releas|clear)"
)
_FINAL: Final = (
    "(?:irreversible|irrevocable|unrecoverable|irrecoverable|irretrievable|non-?reversible|not reversible"
    "|not recoverable|not undoable)"
)
_PHRASES: Final = re.compile(
    "|".join(
        (
            rf"\b{_NEVER} (?:\w+ ){{0,2}}?{_UNDO}\b",
            rf"\b(?:it|this|that|they|these|data|deleted \w+|removed \w+|which) {_NEVER} (?:be )?{_BACK}\b",
            rf"\b(?:delet|remov|eras|destroy|clos|lost|purg|terminat)\w* .{{0,80}}{_NEVER} (?:be )?{_BACK}\b",
            rf"\b(?:is|are|it's|be|an?|this|and|deletion|action|operation|change) (?:\w+ ){{0,2}}?{_FINAL}\b",
            r"\byou (?:will|may) lose\b|\bwill be (?:permanently )?lost\b",
            r"\b(?:irreversibly|irrevocably|irretrievably|unrecoverably)\b",
            rf"\bpermanently,? (?:and \w+ly )?{_LOSE}\w*",
            rf"\b{_LOSE}\w* (?:\S+ ){{0,8}}?(?:permanently|for good|forever)\b",
            r"\b(?:permanent|irreversible|irrevocable) (?:data )?(?:deletion|removal|loss|erasure|closure)\b",
            r"\b(?:no|not any|without any) (?:way|possibility|means|option) (?:to|of) (?:undo|recover|restor|rever)\w*",
            r"\b(?:there is|there's|with) no (?:undo|going back|recovery|way back)\b",
            r"\b(?:action|deletion|operation|change|this|it|which|that|deactivation|removal) (?:is|are) permanent\b",
        )
    )
)
"""In folded text: `re.IGNORECASE` would take five times as long."""
_NOT: Final = re.compile(
    r"\b(?:not|n't|never|without|instead of|rather than|unlike|no longer|neither|nor|isn't|avoid\w*|prevent\w*)"
    r" (?:be |being |an? |the |any |it |them |to |this )*(?:\w+ )?$",
    re.IGNORECASE,
)
"""Words that negate the phrase behind them."""
_ELSEWHERE: Final = re.compile(
    r"^(?:(?:in order )?to (?:\w+ )?permanently|unlike|if you (?:want|need|wish|would like) to|for (?:a )?permanent)\b"
    r"|^use .{0,80} to permanently\b|^see\b|\bwas permanently\b|\bbeen permanently\b",
    re.IGNORECASE,
)
"""Sentences about another operation, or about what has been before."""


def sentences(operation: Operation, *, with_answers: bool = True) -> tuple[str, ...]:
    """Return the sentences of the summary, the description and the successes, as plain words in one line each."""
    answers = operation.responses if with_answers else ()
    successes = tuple(answer.description for answer in answers if answer.status.startswith("2"))
    return tuple(chain.from_iterable(map(_sentences, (operation.summary, operation.description, *successes))))


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[str, ...]:
    parts = [part for paragraph in paragraphs(text[:_MOST]) for part in SENTENCE_END.split(paragraph)]
    plain = (prose(without_unseen(part.lstrip("-*+| "))).translate(_APOSTROPHES) for part in parts)
    return tuple(words for text in plain if (words := _EMPHASIS.sub("", text)))


def irreversible(operation: Operation) -> str:
    """Return the sentence that says that what is done cannot be undone, "" without one."""
    for sentence in sentences(operation):
        place = final_words(sentence)
        if place is not None:
            return quoted(sentence, place)
    return ""


def final_words(sentence: str) -> int | None:
    """Return where a sentence says that what is done cannot be undone, None if it does not."""
    for match in _PHRASES.finditer(_folded(sentence)):
        negated = _NOT.search(sentence[max(0, match.start() - 40) : match.start()])
        if not negated and not _ELSEWHERE.search(sentence):
            return match.start()
    return None


def _folded(text: str) -> str:
    """Return the text without differences of case, each character at its place."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(char.casefold() if len(char.casefold()) == 1 else char for char in text)


def quoted(sentence: str, at: int = 0) -> str:
    """Return a sentence of the document, cut around the place that matters."""
    if len(sentence) <= _QUOTED:
        return sentence
    start = max(0, min(at - _QUOTED // 3, len(sentence) - _QUOTED))
    head, tail = "…" if start else "", "…" if start + _QUOTED < len(sentence) else ""
    return f"{head}{sentence[start : start + _QUOTED].strip()}{tail}"


Words: TypeAlias = tuple[str, ...]

_MOST_SENTENCES: Final = 12
_LONGEST: Final = 600
_PATH: Final = re.compile(r"\S{0,80}/\S*")
_OBJECT: Final = 7
"""The most words of a clause behind its verb that are read."""
_CLAUSES: Final = re.compile(r"\s\(|[,;:()\u2013\u2014]\s|\s(?:and|or|but|then|which|that|while|so)\s")
_OPENING: Final = re.compile(
    r"(?:(?:this|(?:the|an?)(?= users?| end ?point| operation| method| call| api| request| function| resource| action)"
    r"|that|it|you can|use|calling|used|allows?|lets?|enables?|you|users?|to|will|can|may|also|immediately|permanently"
    r"|irreversibly|simply|please|directly|automatically|be|end ?point|operation|method|call|api|request|function"
    r"|resource|action|route|command)\s+)*"
)
"""Words before the verb of a clause that say no more than that the operation does it."""
_PASSIVE: Final = re.compile(
    r"(?=[abgi])(?<!must )(?<!should )(?<!have to )(?<!need to )\b(?:is|are|be|gets?|being)\s+"
    r"(?:(?!not\b)\w+ly\s+|then\s+|also\s+|all\s+)?(?!empty\b)([a-z]+(?<!ing))\b"
)
_DENIAL: Final = re.compile(
    r"\b(?:not|n't|never|without|no longer|cannot|neither|nor|instead of|rather than|no|nothing|none)\b|n't\b"
)
_NO_ACT: Final = re.compile(
    r"^(?:because|to|if|when|once|after|before|unless|until|see|note|for|use the|in order|returns?|was|has)\b"
)
"""Beginnings of clauses about a case, or about another operation."""
_CASE: Final = re.compile(r"\b(?:if|whether|when|once|until|unless|after|before|because|who)\b")
_NO_CLAUSES: Final = re.compile(r"\s\|\s|\bdeprecat|\bdiscontinu|\bsunset\b|\bclosing down\b|\bremoved in the future\b")
"""Signs of a row of a table, and of sentences about the end of the operation, or of a field."""
_DETERMINERS: Final = frozenset("a an the this that these those all any every each your its their one".split())


@dataclass(frozen=True, slots=True)
class Act:
    """A verb with its object, and the words that say so."""

    verbs: frozenset[str]
    """The forms that the verb may have: of "erased" both `erase` and `eras`."""
    object: Words
    """In the singular."""
    says: str
    kind: str = "structure"
    is_denied: bool = False


def base_forms(word: str) -> frozenset[str]:
    """Return the possible base forms of an inflected verb: deletes, deleted, cancelled."""
    forms = {word}
    if word.endswith("s"):
        forms |= {word[:-1], word[:-2]}
    if word.endswith("ies"):
        forms |= {word[:-3] + "y"}
    for ending in ("ed", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            forms |= {stem, f"{stem}e"}
            if stem[-1] == stem[-2]:
                forms.add(stem[:-1])
    return frozenset(forms)


def clauses(operation: Operation) -> tuple[Act, ...]:
    """Return the acts that the texts of an operation tell of."""
    return _acts(operation.summary, sentences(operation, with_answers=False)[:_MOST_SENTENCES])


@lru_cache(maxsize=4096)
def _acts(summary: str, texts: tuple[str, ...]) -> tuple[Act, ...]:
    parts = (
        (sentence, clause)
        for sentence, folded in zip(texts, map(str.lower, texts), strict=True)
        if (sentence == summary or not _NO_ACT.match(folded)) and not _NO_CLAUSES.search(folded)
        for clause in _CLAUSES.split(_PATH.sub("", folded[:_LONGEST]) if "/" in folded else folded[:_LONGEST])
    )
    return tuple(act for sentence, clause in parts for act in _acts_of(clause, f"“{quoted(sentence)}”"))


def _acts_of(clause: str, says: str) -> Iterator[Act]:
    """Yield the act that a clause begins with, and those that are said in the passive."""
    denial = _DENIAL.search(clause)
    words = re.findall(r"[a-z]+", clause[_opening(clause, denial) :])
    if len(words) > 1 and not (words[0].endswith("ing") and words[1] not in _DETERMINERS):
        object_ = tuple(map(singular, words[1 : _OBJECT + 1]))
        yield Act(base_forms(words[0]), object_, says, "sentence", denial is not None)
    passives = () if _NO_ACT.match(clause) else _PASSIVE.finditer(clause, 1)  # "get unread items" is no passive
    for match in passives:
        if _CASE.search(clause, 0, match.start()) or " if " in clause:
            return
        before = tuple(map(singular, re.findall(r"[a-z]+", clause[: match.start()])[-_OBJECT:]))
        yield Act(base_forms(match[1]), before, says, "sentence", denial is not None)


def _opening(clause: str, denial: re.Match[str] | None) -> int:
    """Return where the verb of a clause stands, behind its denial."""
    start = denial.end() if denial is not None and denial.start() < 60 else 0
    start += len(clause[start:]) - len(clause[start:].lstrip())
    match = _OPENING.match(clause, start)
    return match.end() if match is not None else start
