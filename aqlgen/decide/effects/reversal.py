"""The structure that proves that a write can be taken back: the operation beside it that does so.

A create is taken back by an operation that deletes or cancels the same thing; what an update changes was read before by
a GET that has its fields; an action has its inverse beside it. Silence proves nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from aqlgen.decide.carried import CHOOSERS
from aqlgen.decide.decision import Category
from aqlgen.decide.effects.inverses import undoes
from aqlgen.decide.effects.reading import Reading
from aqlgen.decide.effects.removal import adder
from aqlgen.decide.naming.verbs import find_verb
from aqlgen.decide.sentences import Words
from aqlgen.runtime.text import counted
from aqlgen.runtime.wire import admits_json
from aqlgen.words import singular, split

_TAKING_BACK: Final = frozenset(
    "delete remove cancel void archive revoke destroy trash unregister deactivate terminate".split()
)
"""Acts that take back what was created."""
_SETTING: Final = frozenset("update set edit change modify patch replace configure save put write mark upsert".split())
"""Verbs of updates: what another act does may be more than the fields that it sends."""
_LEAST_READ: Final = 0.5
"""The share of the sent fields that a GET has to have; all of what a replacement may drop."""


_MOST_ALIKE: Final = 200
"""The most operations beside one, or on the same thing, that count."""


class _Change(NamedTuple):
    """An update: its path, the part of the thing around that it names, and the fields that it sends."""

    path: str
    part: str
    fields: frozenset[str]
    is_set: bool
    least: float


class Reversal:
    """The operations of a document by what they act on, each of which may take another back."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self._at: Mapping[str, list[Reading]] = defaultdict(list)
        self._beside: Mapping[tuple[str, tuple[Words, ...]], list[Reading]] = defaultdict(list)
        self._of: Mapping[Words, list[Reading]] = defaultdict(list)
        for reading in sorted(readings, key=lambda reading: reading.facts.operation.key):
            path, folder = reading.template, reading.template.rpartition("/")[0]
            if len(self._at[path]) < _MOST_ALIKE:
                self._at[path].append(reading)
            self._beside[folder, reading.path_nouns].append(reading)
            for thing in {reading.thing, reading.object} - {()}:
                self._of[thing].append(reading)

    def proof(self, reading: Reading) -> str:
        """Return the evidence that an operation can be undone; "" without any."""
        if reading.facts.operation.path.rstrip("/}").rpartition("{")[2] in CHOOSERS:
            return ""
        other = adder(reading) or (None if reading.loss else self._inverse(reading))
        verbs = filter(None, (reading.facts.action_verb, reading.facts.named_verb))
        is_made = reading.category is Category.CREATE and all(verb.category is not Category.EXECUTE for verb in verbs)
        if other is None and is_made:
            other = self._taker(reading)
        if other is not None:
            return f"{other.name} undoes it"
        return self._read_before(reading) if reading.category is Category.UPDATE else ""

    def _taker(self, reading: Reading) -> Reading | None:
        """Return the operation that deletes the created thing itself, and not its entry in another thing's list.

        `DELETE /inboxes/{id}` takes `POST /inboxes` back, `DELETE /groups/{id}/inboxes` does not. A thing made within
        an item, as by `POST /inboxes/{id}/create-token` or `/inboxes/{id}/upload`, is not that item.
        """
        words = {singular(word) for word in chain(reading.thing, reading.object, *reading.path_nouns)}
        alike = self._alike((reading.facts.shape.action and reading.part) or reading.thing, reading.object)
        others = chain(
            self._at[reading.template],
            self._at[f"{reading.template}/{{}}"],
            (other for other in alike if words.issuperset(map(singular, chain(*other.path_nouns)))),
        )
        is_within = reading.template.startswith
        known = (other for other in others if other is not reading and other.facts.method != "GET")
        takers = (other for other in known if not is_within(f"{other.template}/"))
        return next((each for each in takers if each.facts.method == "DELETE" or each.verb_words & _TAKING_BACK), None)

    def _inverse(self, reading: Reading) -> Reading | None:
        """Return the operation whose verb undoes that of this one, on its path, or beside it on the same object."""
        here, nouns = self._at[reading.template], reading.path_nouns
        beside: Iterable[Reading] = (
            self._beside[reading.template.rpartition("/")[0], nouns][:_MOST_ALIKE] if nouns else ()
        )
        for other in self._at.get(self._emptied(reading), ()):
            if other.facts.method == "DELETE":
                return other
        for other in (*here, *beside, *self._of.get(reading.object, [])[:_MOST_ALIKE]):
            is_other = other.facts.method != "GET" and (
                other.template == reading.template
                or {*reading.object} <= {*other.object}
                or {*other.object} <= {*reading.object}
            )
            if is_other and any(undoes(verb, inverse) for verb in reading.verb_words for inverse in other.verb_words):
                return other
        return None

    def _emptied(self, reading: Reading) -> str:
        """Return the path whose DELETE undoes a restoring, or the setting of what has no fields; "" where none does."""
        if "restore" in reading.verb_words and (
            (not reading.fields and any({"deletion", "deleted"} & {*act.object} for act in reading.acts))
            or any(name.startswith("deleted") for name in reading.shown)
        ):
            return reading.template.rpartition("/")[0]  # what is deleted stays
        is_set = reading.facts.method in ("PUT", "POST") and reading.facts.shape.item and not reading.fields
        return "" if not is_set or (reading.facts.method == "PUT" and _is_file(reading)) else reading.template

    def _alike(self, *things: Words) -> list[Reading]:
        """Return the operations that act on some things."""
        return [other for thing in dict.fromkeys(things) for other in self._of.get(thing, [])[:_MOST_ALIKE]]

    def _read_before(self, reading: Reading) -> str:
        """Return the GET that has the fields which an update changes, of its path or of the list around it."""
        if _is_act(reading) or _is_file(reading):
            return ""
        part = reading.facts.operation.path.rstrip("/").rpartition("/")[2]
        is_named = not reading.facts.shape.action and not part.endswith("}")
        top = frozenset("_".join(words) for words, depth in reading.fields.items() if not depth)
        is_set = reading.facts.method in ("PUT", "PATCH")
        named, least = "_".join(split(part)) if is_named else "", 1 if reading.loss else _LEAST_READ
        change = _Change(reading.template, named, top, is_set, least)
        readers = [*self._readers(reading)]
        is_stuck = _is_one_way(reading, readers)
        return next(filter(None, (self._evidence(change, other) for other in readers if not is_stuck)), "")

    def _evidence(self, change: _Change, other: Reading) -> str:
        """Return the evidence that a GET reads a change; "" where it reads too little of it."""
        known, top, part = other.shown, change.fields, change.part
        read = len(top & known)
        if other.template == change.path and not top:
            return f"{other.name} returns it"
        if top and read >= change.least * len(top) and not any(map(_deletes, top - known)):
            return f"{other.name} returns {read} of the {counted(len(top), 'changed field')}"
        is_part = part in known and (not top or (change.is_set and bool(part) and len(top) <= 1))
        return f"{other.name} returns it" if is_part else ""

    def _readers(self, reading: Reading) -> Iterator[Reading]:
        place = reading.template
        whole = self._at[place.rpartition("/")[0]]
        if not reading.loss:
            around = (*self._at[place], *whole, *self._alike(reading.thing, reading.object))
        else:  # a GET of its path does not show it; the list of the collection may, or a GET whose path has the item
            around = (*(whole if place.endswith("}") else ()), *self._at.get(f"{place}/{{}}", ()))
        return (other for other in around if other.category is Category.READ)


def _is_act(reading: Reading) -> bool:
    """Return True if an update is an act by its path or its name: it may do more than set what it sends."""
    verb = reading.facts.named_verb
    is_named = verb is not None and verb.strong and verb.category in (Category.UPDATE, Category.EXECUTE)
    return (is_named or bool(reading.facts.shape.action)) and reading.verb_words.isdisjoint(_SETTING)


def _is_file(reading: Reading) -> bool:
    """Return True if the body is a file: that a GET has something does not say that it has the old one."""
    media = reading.facts.operation.body.media if reading.facts.operation.body is not None else ()
    return bool(media) and not reading.fields and not any(admits_json(each.content_type) for each in media)


def _is_one_way(reading: Reading, readers: Iterable[Reading]) -> bool:
    """Return True if a GET may show a value of a field that an update cannot set (OPEN, where it sends LOCKED)."""
    schemas, template = reading.around.schemas, reading.template
    sent = {}
    for name, field in schemas.properties(reading.subject.body).items():
        if values := schemas.listed(field):
            sent[name] = values
    places = (template, template.rpartition("/")[0] if sent and reading.facts.shape.action else "")
    for other in readers if sent else ():
        shown = schemas.properties(other.subject.answer) if other.template in places else {}
        if any(set(schemas.listed(shown.get(name))).difference(values) for name, values in sent.items()):
            return True
    return False


def _deletes(field: str) -> bool:
    """Return True for a field that says that something is deleted (`delete_files`); no old value brings that back."""
    verb = find_verb(field.partition("_")[0])
    return verb is not None and verb.strong and verb.category is Category.DELETE
