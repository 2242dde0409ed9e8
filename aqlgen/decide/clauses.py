"""The clauses of an operation's texts as acts: what a summary or description says that a call does.

"Deletes all messages", "this call sends an email" and "existing entries are removed" are acts of the operation; "to
delete one, use …" and "if it is closed" are not. A clause that denies ("does not delete") is an act that is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from aqlgen.decide.sentences import quoted, sentences
from aqlgen.ir import Operation
from aqlgen.words import singular

__all__ = ["Act", "Words", "base_forms", "clauses"]

Words: TypeAlias = tuple[str, ...]

_MOST_SENTENCES: Final = 12
_LONGEST: Final = 600
_PATH: Final = re.compile(r"\S{0,80}/\S*")
_OBJECT: Final = 7
"""How many words of a clause behind its verb are read."""
_CLAUSES: Final = re.compile(r"[,;:()\u2013\u2014]\s|\s(?:and|or|but|then|which|that|while|so)\s")
_OPENING: Final = re.compile(
    r"(?:(?:this|the|an?|that|it|you can|use|calling|used|allows?|lets?|enables?|you|users?|to|will|can|may|also"
    r"|immediately|permanently|irreversibly|simply|please|directly|automatically|be|end ?point|operation|method|call"
    r"|api|request|function|resource|action|route|command)\s+)*"
)
"""Words before the verb of a clause that say no more than that the operation does it."""
_PASSIVE: Final = re.compile(
    r"(?=[abgi])(?<!must )(?<!should )(?<!have to )(?<!need to )\b(?:is|are|be|gets?|being)\s+"
    r"(?:(?!not\b)\w+ly\s+|then\s+|also\s+|all\s+)?([a-z]+(?<!ing))\b"
)
_DENIAL: Final = re.compile(
    r"\b(?:not|n't|never|without|no longer|cannot|neither|nor|instead of|rather than|no)\b|n't\b"
)
_ELSEWHERE: Final = re.compile(
    r"^(?:because|to|if|when|once|after|before|unless|until|see|note|for|use the|in order|returns?|was|has)\b"
)
"""Beginnings of clauses about a case, or about another operation."""
_DEPRECATION: Final = re.compile(r"\bdeprecat|\bdiscontinu|\bsunset\b|\bclosing down\b")
"""Signs of sentences about the end of the operation, or of a field."""
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
    """Return what an inflected verb may be a form of: deletes, deleted, cancelled."""
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
        if (sentence == summary or not _ELSEWHERE.match(folded)) and not _DEPRECATION.search(folded)
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
    passives = () if _ELSEWHERE.match(clause) else _PASSIVE.finditer(clause, 1)  # "get unread items" is no passive
    for match in passives:
        before = tuple(map(singular, re.findall(r"[a-z]+", clause[: match.start()])[-_OBJECT:]))
        yield Act(base_forms(match[1]), before, says, "sentence", denial is not None)


def _opening(clause: str, denial: re.Match[str] | None) -> int:
    """Return where the verb of a clause stands, behind its denial."""
    start = denial.end() if denial is not None and denial.start() < 60 else 0
    start += len(clause[start:]) - len(clause[start:].lstrip())
    match = _OPENING.match(clause, start)
    return match.end() if match is not None else start
