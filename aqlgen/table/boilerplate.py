"""Sentences that many operations of a document repeat: they say nothing of one, and are left out of descriptions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from aqlgen.decide.sentences import final_words
from aqlgen.schemas.descriptions import prose, sentences

__all__ = ["Boilerplate"]

LEAST_OPERATIONS = 10
LEAST_SHARE = 0.02
"""A sentence is boilerplate that so many operations say, and at least this share of all."""
KEPT = re.compile(r"\binstead\b", re.IGNORECASE)
"""Words of sentences that lead on to another operation, which stay."""


class Boilerplate:
    """The repeated sentences of a document; `descriptions` are those of all its operations."""

    def __init__(self, descriptions: Iterable[str]) -> None:
        texts = list(descriptions)
        counts = Counter(sentence for text in texts for sentence in dict.fromkeys(sentences(text)))
        least = max(LEAST_OPERATIONS, LEAST_SHARE * len(texts))
        self._repeated = frozenset(
            sentence
            for sentence, count in counts.items()
            if count >= least and not KEPT.search(sentence) and final_words(sentence) is None
        )

    def without(self, text: str) -> str:
        """Return a description without boilerplate; its first sentence, which says what it does, stays."""
        parts = sentences(text)
        kept = [part for index, part in enumerate(parts) if not index or part not in self._repeated]
        return " ".join(kept) or prose(text)
