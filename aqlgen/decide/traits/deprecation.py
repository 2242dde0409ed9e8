"""What a document tells of a deprecated operation, in extensions (`x-sunset` and the like) and in words (R-WARN-2).

No vendor's extension is known by its whole name: the words of a key say what its value is, one level deep, and a value
that is not a date, address or name of an operation is not an answer.

The summary or description may name the replacement (warnings document, 4.2). Only a sentence that says so counts ("Use
X instead", "replaced by X", "in favour of X"). It may name the other operation by its method and path, by its path, by
its operationId, by its summary, or by a link to its page. A mention that matches no other operation, or several, does
not count, and a read is only replaced by a read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Final

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.ir import Json, Operation
from aqlgen.runtime.table import Deprecation, encode
from aqlgen.schemas import shorten
from aqlgen.words import split

from .around import Around, Subject, template

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


_MOST: Final = 5000
"""Characters of a description that are read."""
_SAYS_SO: Final = re.compile(
    r"\binstead\b|\b(?:replaced|superseded|succeeded) (?:by|with)\b|\bin favou?r of\b|\b(?:migrate|switch|move) to\b"
    r"|\bplease use\b|\bshould use\b|\bdeprecated[^\w]{1,4}use\b",
    re.IGNORECASE,
)
_NOT_SO: Final = re.compile(r"\binstead of\b|\bnot be(?:en)? replaced\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|[\r\n]+")
_LINK: Final = re.compile(r"\[([^\[\]]{1,200})\]\(([^()\s]{1,500})\)")
_METHOD_AND_PATH: Final = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE|HEAD)[\s`]{1,3}(/[^\s`'\"<>()\[\],;]{0,300})")
_PATH: Final = re.compile(r"(?<![\w/:])/[\w{}.~/-]{1,300}")
_NAME: Final = re.compile(r"[`'\"]([^`'\"\n]{2,100})[`'\"]|\b([A-Za-z]\w{3,80})\b")
_MARKS: Final = re.compile(r"[\[(]\s*deprecated\s*[\])]", re.IGNORECASE)


def successor(subject: Subject, around: Around) -> Subject | None:
    """Return the operation that the document says to use instead; None where it names none, or none surely."""
    operation = subject.operation
    text = f"{operation.summary}\n{operation.description}"[:_MOST]
    for sentence in _SENTENCE_END.split(text):
        if not _SAYS_SO.search(sentence) or _NOT_SO.search(sentence):
            continue
        for candidates in _mentioned(sentence, subject, around):
            others = [each for each in candidates if _may_replace(each, subject)]
            if len(others) == 1:
                return others[0]
    return None


def _may_replace(other: Subject, subject: Subject) -> bool:
    if other is subject or other.operation.deprecated:
        return False
    return other.category is Category.READ or subject.category is not Category.READ


def _mentioned(sentence: str, subject: Subject, around: Around) -> Iterator[list[Subject]]:
    """Yield the operations of each mention in a sentence, the most exact form first."""
    plain = _LINK.sub(lambda link: link[1], sentence)
    for method, path in _METHOD_AND_PATH.findall(plain):
        yield [each for each in _at(path, around) if each.method == method]
    for path in _PATH.findall(_METHOD_AND_PATH.sub(" ", plain)):
        there = _at(path, around)
        yield [each for each in there if each.method == subject.method] or there
    names = _names(around)
    for title, target in _LINK.findall(sentence):
        page = target.rstrip("/").rpartition("/")[2].rpartition("#")[2]
        yield names.get(_words(page), []) or names.get(_words(title), [])
    for quoted, bare in _NAME.findall(plain):
        if quoted or len(split(bare)) > 1:  # one plain word is not a name
            yield names.get(_words(quoted or bare), [])


def _at(path: str, around: Around) -> list[Subject]:
    """Return the operations at a path, which may be told with or without the base of the API's address."""
    wanted = template(path.rstrip(".:"))
    if wanted.count("/") < 1 or wanted == "/":
        return []
    exact = [each for each in around.subjects if template(each.operation.path) == wanted]
    return exact or [
        each
        for each in around.subjects
        if _ends_with(template(each.operation.path), wanted) or _ends_with(wanted, template(each.operation.path))
    ]


def _ends_with(path: str, end: str) -> bool:
    return len(end) > 1 and path.endswith(end)


def _names(around: Around) -> dict[tuple[str, ...], list[Subject]]:
    """Return the operations by the words of their operationIds and of their summaries."""

    def make() -> dict[tuple[str, ...], list[Subject]]:
        names: dict[tuple[str, ...], list[Subject]] = {}
        for each in around.subjects:
            for words in {_words(each.operation.operation_id or ""), _words(each.operation.summary)} - {()}:
                names.setdefault(words, []).append(each)
        return names

    return around.once("operations by words", make)


def _words(text: str) -> tuple[str, ...]:
    return tuple(split(_MARKS.sub("", text)))
