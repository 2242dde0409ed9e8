"""What a document tells of a deprecated operation, in extensions (`x-sunset` and the like) and in words (R-WARN-2).

No vendor's extension is known by its whole name: the words of a key say what its value is, one level deep, and a value
that is not a date, address or name of an operation is not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from aqlgen.decide.decision import Evidence, Reason, Trait
from aqlgen.ir import Json, Operation
from aqlgen.runtime.table import Deprecation, encode
from aqlgen.schemas import shorten
from aqlgen.words import split

from .around import Around, Subject
from .successor import successor

__all__ = ["deprecation"]

REMOVAL = frozenset({"sunset", "removal", "removed", "eol"})
REPLACEMENT = frozenset({"replacement", "replaced", "successor", "superseded", "alternative"})
ABOUT = frozenset({"deprecation", "deprecated", "sunset"})
LINK = frozenset({"link", "url", "uri", "docs", "documentation", "guide"})
MAX_TEXT = 200


def deprecation(subject: Subject, around: Around) -> Trait[Deprecation] | None:
    """Return `replacement`, `removal_date` and `migration_guide`, as far as they are told; None where it is not old."""
    flagged, deprecation = _told(subject.operation, around)
    if not flagged and deprecation.removal_date is None:
        return None
    if deprecation.replacement is None:
        other = successor(subject, around)
        deprecation = replace(deprecation, replacement=None if other is None else other.name)
    rule = "deprecated" if subject.operation.deprecated else "extension"
    return Trait(deprecation, Reason(rule, Evidence.METADATA, 1.0, ", ".join(encode(deprecation))))


def _told(operation: Operation, around: Around) -> tuple[bool, Deprecation]:
    deprecation = Deprecation()
    flagged = operation.deprecated
    for words, value in _extensions(operation.extensions):
        flagged |= words == {"deprecated"} and value is True
        if words & REMOVAL and (day := _day(value)):
            deprecation = replace(deprecation, removal_date=deprecation.removal_date or day)
        elif words & REPLACEMENT and isinstance(value, str) and value.strip():
            text = value.strip()
            operation_name = around.names.get(text, shorten(text, MAX_TEXT))
            deprecation = replace(deprecation, replacement=deprecation.replacement or operation_name)
        elif ("migration" in words or (words & ABOUT and words & LINK)) and _is_url(value):
            deprecation = replace(deprecation, migration_guide=deprecation.migration_guide or str(value))
    return flagged, deprecation


def _extensions(extensions: Mapping[str, Json]) -> Iterator[tuple[set[str], Json]]:
    """Yield every value with the words of its key; of an object its entries, with the words of both keys."""
    for key, value in extensions.items():
        words = set(split(key.removeprefix("x-")))
        if isinstance(value, Mapping):
            for inner, inner_value in value.items():
                yield words | set(split(str(inner))), inner_value
        else:
            yield words, value


def _day(value: Json) -> str | None:
    """Read a date, alone or before a time."""
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value.strip()[:10]).isoformat()
    except ValueError:
        return None


def _is_url(value: Json) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT and bool(re.fullmatch(r"https?://[^\s<>\"]+", value))
