"""The structure that proves that a removal can be put back: the request beside it that adds the same again.

A removal that unlinks what lives on elsewhere, or that sends what the addition sends, loses nothing that its caller
does not know: `unassign_form` beside `assign_form`, `DELETE /groups/{id}/pets/{petId}` beside a PUT without a body. A
DELETE of the thing itself is not among these removals, even if a POST creates a new thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.inverses import may_undo, undoes
from aqlgen.decide.effects.reading import Finding, Reading
from aqlgen.decide.payloads import body_objects
from aqlgen.decide.sentences import Words
from aqlgen.words import singular, split

_ID: Final = ("id",)
_IDENTIFYING: Final = frozenset({_ID, ("uuid",), ("slug",), ("name",)})
_MOST_NAMED: Final = 3
"""The most fields by which a request names what it adds or removes; more of them describe it."""
_KIND: Final = frozenset({("type",)})
_CHANGING: Final = frozenset("update edit change modify patch replace".split())
"""Verbs by which a document says that a request changes an item that is there, and adds none."""


def adder(removal: Reading) -> Reading | None:
    """Return the request that adds again what an operation removes; None where none proves it."""
    if removal.category is not Category.DELETE and removal.facts.method != "DELETE":
        return None
    adders: dict[str, Reading | None] = removal.around.once("adders", dict)
    key = removal.facts.operation.key
    if key not in adders:
        adders[key] = next(filter(partial(_adds_again, removal), _beside(removal)), None)
    return adders[key]


def removing(reading: Reading) -> Finding | None:
    """Find a DELETE that the document calls something else, unless a request beside it sets again what it removes."""
    if reading.facts.method != "DELETE":
        return None
    is_link = reading.category is not Category.DELETE and any(_sets(other, reading) for other in reading.beside)
    return None if is_link or adder(reading) is not None else Finding(Effect.ENDS, Danger.DESTRUCTIVE, "DELETE")


def _sets(other: Reading, removal: Reading) -> bool:
    """Return True if a request sends no more than the removal does, and the id of what was removed."""
    is_setting = other.facts.method in ("PUT", "POST") and other.category not in (Category.READ, Category.DELETE)
    return is_setting and other.fields.keys() <= removal.fields.keys() | {_ID, removal.thing}


def _beside(removal: Reading) -> list[Reading]:
    """Return the operations that may add what one removes: of its path, or with a verb that may be its inverse."""
    additions: Mapping[str, list[Reading]] = removal.around.once("additions", lambda: _additions(removal))
    folder, _, end = _place(removal).rpartition("/")
    paths = {removal.template, _place(removal), f"{folder}/*" if may_undo(split(end)[:1]) else ""}
    return [other for path in sorted(paths) for other in additions.get(path, ())]


def _place(removal: Reading) -> str:
    """Return the path of an operation without the parameter at its end."""
    return removal.template.removesuffix("/{}") or removal.template


def _adds_again(removal: Reading, other: Reading) -> bool:
    place = _place(removal)
    if other.template == removal.template:
        sent = _sent(removal)
        is_same = 0 < len(sent) <= _MOST_NAMED and other.verb_words.isdisjoint(_CHANGING) and _sent(other) == sent
        return is_same or (other.facts.operation.body is None and _is_link(removal) and not _is_made(removal))
    if other.template == place:
        if not _is_link(removal) or not (key := _key(other, removal)):
            return False
        more = _sent(other) - key - _KIND
        return not more or (_ID not in key and _shows(removal, more))
    return _is_inverse(other, removal) and _shows(removal, _sent(other) - _sent(removal) - _key(other, removal))


def _is_made(removal: Reading) -> bool:
    """Return True if a POST makes what the path ends in."""
    return any(each.method == "POST" for each in removal.around.of_template(_place(removal)))


def _additions(reading: Reading) -> Mapping[str, list[Reading]]:
    """Return the operations that may add something, by their paths, and by the folder of what they act on."""
    additions: Mapping[str, list[Reading]] = defaultdict(list)
    for other in reading.others.values():
        is_adding = other.facts.method in ("PUT", "POST") and other.category not in (Category.READ, Category.DELETE)
        if is_adding and other.said_verbs.isdisjoint(_CHANGING):
            additions[other.template].append(other)
            additions[f"{_place(other).rpartition('/')[0]}/*"].append(other)
    return additions


def _sent(reading: Reading) -> frozenset[Words]:
    """Return the fields of the request, without an envelope around them."""
    least = 0 if 0 in reading.fields.values() else min(reading.fields.values(), default=0)
    return frozenset(name for name, depth in reading.fields.items() if depth >= least and name)


def _key(other: Reading, removal: Reading) -> frozenset[Words]:
    """Return the fields of a request that say which thing it adds: `id`, or what the removal's path calls it."""
    path = removal.facts.operation.path.rstrip("/")
    words = tuple(map(singular, split(path.rpartition("{")[2]))) if path.endswith("}") else ()
    known = {_ID, words if words[1:] and words[-1:] in _IDENTIFYING else _ID} if words else frozenset()
    named: dict[str, Mapping[Words, set[Words]]] = other.around.once("named", dict)
    operation = other.facts.operation.key
    if operation not in named:
        named[operation] = _named(other)
    return frozenset().union(*(named[operation].get(name, ()) for name in known))


def _named(reading: Reading) -> Mapping[Words, set[Words]]:
    """Return the names of the fields at any depth without their last words, by the singular words of the whole name."""
    schemas, named = reading.around.schemas, defaultdict[Words, set[Words]](set)
    for _, schema in body_objects(reading.facts.operation, schemas):
        for name in map(split, schemas.properties(schema)):
            named[tuple(map(singular, name))].add(name[: max(1, len(name) - 1)])
    return named


def _is_link(removal: Reading) -> bool:
    """Return True if the path ends in an item within another one, which has a path of fewer items, too."""
    collection, _, rest = removal.template.rpartition("/{}")
    if rest or "{}" not in collection:
        return False
    homes: Mapping[str, int] = removal.around.once("homes", lambda: _homes(removal))
    noun = collection.rpartition("/")[2]
    return homes.get(noun, removal.template.count("{}")) < removal.template.count("{}")


def _homes(reading: Reading) -> Mapping[str, int]:
    """Return how many parameters the shortest path of an item has that a GET shows, by its collection's name."""
    homes: dict[str, int] = {}
    for other in reading.others.values():
        collection, _, rest = other.template.rpartition("/{}")
        if other.facts.method == "GET" and not rest and collection:
            noun, many = collection.rpartition("/")[2], other.template.count("{}")
            homes[noun] = min(many, homes.get(noun, many))
    return homes


def _is_inverse(other: Reading, removal: Reading) -> bool:
    """Return True if the paths differ in verbs that take each other back (`assign-pet` and `unassign-pet/{id}`)."""
    ends = (split(each.template.removesuffix("/{}").rpartition("/")[2]) for each in (other, removal))
    (first, *rest), (second, *others) = (end or ("",) for end in ends)
    return rest == others and undoes(first, second)


def _shows(reading: Reading, names: frozenset[Words]) -> bool:
    """Return True if a GET of the path or of the paths around shows some fields, so that they are known."""
    return not names or any({"_".join(name) for name in names} <= other.answered for other in _readers(reading))


def _readers(reading: Reading) -> Iterator[Reading]:
    """Yield each GET of the path, and of the paths around."""
    place = reading.template
    while place:
        yield from (
            reading.others[each.operation.key] for each in reading.around.of_template(place) if each.method == "GET"
        )
        place = place.rpartition("/")[0]
