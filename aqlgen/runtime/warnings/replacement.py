# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a description names as the replacement of something deprecated (warnings document, 4.2).

Only a sentence that says so counts ("Use X instead", "replaced by X", "in favour of X").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ..text import folded

__all__ = ["replacement", "sentences_of_replacement"]

_MOST: Final = 5000
"""Characters of a description that are read."""

_SAYS_SO: Final = re.compile(
    r"\binstead\b|\b(?:replaced|superseded|succeeded) (?:by|with)\b|\bin favou?r of\b|\b(?:migrate|switch|move) to\b"
    r"|\bplease use\b|\bshould use\b|\bdeprecated[^\w]{1,4}use\b",
    re.IGNORECASE,
)
_NOT_SO: Final = re.compile(r"\binstead of\b|\bnot be(?:en)? replaced\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|[\r\n]+")
_QUOTED: Final = re.compile(r"[`'\"]([^`'\"\s]{1,100})[`'\"]")
_AFTER_VERB: Final = re.compile(
    r"\b(?:use|(?:replaced|superseded|succeeded) (?:by|with)|in favou?r of|(?:migrate|switch|move) to)\s{1,3}"
    r"(?:(?:the|new|query|body|request|parameters?|field|property|attribute)\s{1,3}){0,3}"
    r"([A-Za-z_$][\w.hmB]{0,100})",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\b\w{3,100}\b")


def sentences_of_replacement(text: str) -> Iterator[str]:
    """Yield the sentences of a text that say what to use instead."""
    for sentence in _SENTENCE_END.split(text[:_MOST]):
        if _SAYS_SO.search(sentence) and not _NOT_SO.search(sentence):
            yield sentence


def replacement(description: str, names: Mapping[str, str]) -> str | None:
    """Return the name that a description says to use instead, by its spellings in `names`; None for none, or several.

    What stands in quotes is looked at first, then what a verb such as "use" leads to, then identifiers.
    """
    known = {folded(spelling): name for spelling, name in names.items()}
    for sentence in sentences_of_replacement(description):
        identifiers = filter(_is_identifier, _WORD.findall(sentence))
        for mentions in (_QUOTED.findall(sentence), _AFTER_VERB.findall(sentence), identifiers):
            mentioned = _known(mentions, known)
            if mentioned:
                return mentioned[0] if len(mentioned) == 1 else None
    return None


def _is_identifier(word: str) -> bool:
    """Return True for a word that is written as names are and as prose is not: `per_page`, `perPage`."""
    return "_" in word or not (word.islower() or word.isupper() or word.istitle())


def _known(mentions: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return the names of what is mentioned, each once."""
    names = (known.get(folded(mention.strip(".,;:"))) for mention in mentions)
    return list(dict.fromkeys(name for name in names if name is not None))
