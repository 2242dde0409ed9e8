"""Changes by methods that ought to be safe (RFC 9110, 9.2.1): `GET /users/delete/{id}`, `/logout`, `?action=delete`.

The path and the parameters are what is sent, so they count whatever the document calls the operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from aqlgen.decide.carried import CHOOSERS
from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import PREPOSITIONS, is_plural
from aqlgen.decide.naming.verbs import Verb, find_verb
from aqlgen.ir import Json, Location, Parameter
from aqlgen.words import split

__all__ = ["Act", "effect_of_safe_method"]

_CHANGES: Final = frozenset(
    "delete remove destroy purge erase wipe revoke truncate unsubscribe deregister unregister logout terminate"
    " reboot shutdown deactivate rotate uninstall kill".split()
)
"""Verbs that are hardly ever the noun of something that is read, unlike `archive`, `merge`, `reset` or `restart`."""
_LAST: Final = tuple((word,) for word in "reset restart drop flush disable suspend ban block".split())
"""Verbs that count only where the path ends in them, behind an item."""
_LEAVES: Final = (("log", "out"), ("sign", "out"), ("log", "off"), ("sign", "off"), ("signout",))
_NOUNS: Final = frozenset("status state log logs history count info list settings policy schedule protection".split())
_SEGMENTS: Final = re.compile(r"[/:#.]")
_PAIR: Final = re.compile(r"(?:^|[?&#;])([A-Za-z_.-]+)=([^&#;{}]+)")


class Act(NamedTuple):
    """The verb of what a request does, and the words that say so."""

    verb: Verb
    note: str


def effect_of_safe_method(facts: Facts) -> Act | None:
    """Return what a request by a safe method does to the server; None where it only reads."""
    path, _, query = facts.operation.path.partition("?")
    segments = [segment for segment in _SEGMENTS.split(path) if segment]
    for index, segment in enumerate(segments):
        verb = _verb(segment, segments, index)
        if verb is not None:
            return Act(verb, f"its path says {verb.word}")
    return next(_chosen(query, facts.operation.parameters), None)


def _verb(segment: str, segments: list[str], index: int) -> Verb | None:
    words = () if "{" in segment else split(segment)
    if not words:
        return None
    if words[:2] in _LEAVES:
        words = ("logout", *words[2:])
    following = segments[index + 1 :]
    behind_item = not following and "{" in segments[index - 1]
    if words[0] not in _CHANGES and not (behind_item and words in _LAST):
        return None
    if len(words) > 1 and (words[1] in PREPOSITIONS or words[-1] in _NOUNS or (is_plural(words) and words[1] != "all")):
        return None
    if any("{" not in part for part in following):
        return None  # `/delete/requests`, `/purge/{id}/status`: something is read of what was started
    return find_verb(words[0])


def _chosen(query: str, parameters: tuple[Parameter, ...]) -> Iterator[Act]:
    """Yield the verbs that a literal query or the declared values of a parameter choose."""
    pairs = [(name, value) for name, value in _PAIR.findall(f"?{query}")] if query else []
    for parameter in parameters:
        if parameter.location is Location.QUERY:
            pairs += [(parameter.name, value) for value in _values(parameter.schema)]
    for name, value in pairs:
        words = split(value[:60])
        chooses = name.lower() in CHOOSERS
        verb = find_verb(words[0]) if chooses and words else None
        if verb and (verb.category is Category.DELETE or verb.word in _CHANGES):
            yield Act(verb, f"its parameter {name} may be {value[:40]}")


def _values(schema: Json) -> list[str]:
    if not isinstance(schema, dict):
        return []
    enum = schema.get("enum")
    values = [schema.get("const"), schema.get("default"), *(enum if isinstance(enum, list) else ())]
    return [value for value in values if isinstance(value, str)]
