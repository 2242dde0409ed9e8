"""The sentences that a document says of an operation, and those that say that nothing brings back what was done."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Final

from aqlgen.ir import Operation
from aqlgen.runtime.text import without_unseen
from aqlgen.schemas.descriptions import SENTENCE_END, paragraphs, prose

__all__ = ["final_words", "irreversible", "quoted", "sentences"]

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
    return tuple(words for part in parts if (words := _words(part)))


def _words(text: str) -> str:
    text = prose(without_unseen(text.lstrip("-*+| "))).translate(_APOSTROPHES)
    return _EMPHASIS.sub("", text)


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
