"""One operation as the rules of effects read it: its acts, what it acts on, and the fields that it sends.

An act is a verb with its object. Acts come from the operation's names, from its path, and from the clauses of its
texts that say what a call does. A clause that denies ("does not delete the data") is an act that is denied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import head_size
from aqlgen.decide.payloads import body_objects
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.sentences import Act, Words, clauses
from aqlgen.decide.traits.around import Around, Subject, template
from aqlgen.ir import Json, Location
from aqlgen.words import singular, split

__all__ = ["Finding", "Reading", "Words", "answer_fields", "head"]

_MOST_FIELDS: Final = 400
_MOST_WITHIN: Final = 200
"""How many fields are looked at within one field of an answer."""
_MOST_ANSWERED: Final = 2000
"""The most fields of an answer that count."""
_IDENTIFYING: Final = frozenset({"id", "ids", "name", "names", "list"})
_NEAR: Final = 1
_FRAMES: Final = frozenset("request instance instruction application entry binding mapping assignment batch".split())
"""Nouns that only frame the one before them."""


class Finding(NamedTuple):
    """An effect, the level of danger that it stands for, and what says so."""

    effect: Effect
    level: Danger
    says: str
    kind: str = "structure"


@dataclass(frozen=True)
class Reading:
    """An operation with its category and name, and the document around it."""

    facts: Facts
    category: Category
    name: str
    document_name: str
    """The name from the document; a name that the owner chose says nothing about an effect."""
    subject: Subject
    around: Around
    lists: Mapping[str, bool | None] = field(default_factory=dict)
    """Whether a GET answers with a list, by path."""
    is_doubted: bool = False
    """Whether a person should look at its category."""
    loss: str = ""
    """What a replacement may lose, "" where nothing is lost or the operation replaces nothing."""
    others: Mapping[str, Reading] = field(default_factory=dict, repr=False)
    """The readings of all operations, by key."""

    @cached_property
    def template(self) -> str:
        """The path without the names of its parameters."""
        return template(self.facts.operation.path)

    @cached_property
    def path_nouns(self) -> tuple[Words, ...]:
        """The words of the nouns of the path."""
        return tuple(noun.words for noun in self.facts.shape.nouns)

    @cached_property
    def path_things(self) -> tuple[str, ...]:
        """The heads of the nouns of the path, in the singular."""
        return tuple(singular(head(noun.words)) for noun in self.facts.shape.nouns)

    @cached_property
    def words(self) -> Words:
        """The words of the name by the document."""
        return tuple(self.document_name.split("_"))

    @cached_property
    def names(self) -> tuple[Words, ...]:
        """The words of every name: its own, the operationId's, an SDK's, and the path's action with what it acts on."""
        facts = self.facts
        names: list[Words] = [self.words]
        if facts.phrase:
            verb = (facts.named_verb.word,) if facts.named_verb else ()
            names.append((*verb, *(facts.phrase.object or self.thing)))
        if facts.shape.action:
            noun = facts.last_noun.words if facts.last_noun and len(facts.shape.action) == 1 else ()
            names.append((*facts.shape.action, *noun))
        return tuple(dict.fromkeys(name for name in names if name))

    @cached_property
    def thing(self) -> Words:
        """The words for what it acts on, in the singular: those of the path's last noun, or of the name's object."""
        last = self.facts.last_noun
        words = last.words if last else self.facts.phrase.object if self.facts.phrase else self.words[1:]
        return tuple(map(singular, words[: head_size(words, 1)]))

    @cached_property
    def part(self) -> Words:
        """The part of one item that the path ends in, in the singular; () where it is an item, or not within one."""
        *before, last = self.facts.shape.nouns or (None,)
        if last is None:
            return ()
        words = self.facts.shape.action[1:] if last.parameters else last.words
        within = bool(last.parameters) or any(noun is not None and noun.parameters for noun in before)
        return tuple(singular(word) for word in words[: head_size(words, 0)]) if within else ()

    @cached_property
    def object(self) -> Words:
        """The object of the name that people gave it, in the singular."""
        words = self.facts.phrase.object if self.facts.phrase else self.words[1:]
        return tuple(map(singular, words[: head_size(words, 1)]))

    @cached_property
    def noun(self) -> str:
        """The noun of what it acts on."""
        return head(self.thing)

    @cached_property
    def heads(self) -> frozenset[str]:
        """The nouns of its thing and of its name's object; for a thing written as one word, also its last."""
        spelled = tuple(map(singular, self.words[1:]))  # the `admin_user` of `/adminusers`
        noun = spelled[-1:] if "".join(spelled) == self.noun else ()
        return frozenset({*noun, self.noun, head(self.object)})

    @cached_property
    def said_verbs(self) -> frozenset[str]:
        """The verbs by which the document names the operation."""
        verbs = (self.facts.action_verb, self.facts.named_verb, self.facts.summary_verb)
        return frozenset({verb.word for verb in verbs if verb is not None} | {name[0] for name in self.names[1:]})

    @cached_property
    def verb_words(self) -> frozenset[str]:
        """The verbs of the document and of the adapter's own name."""
        return self.said_verbs | {*self.words[:1]}

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """The acts that the names and the texts tell of."""
        named = (
            Act(frozenset(name[:1]), tuple(map(singular, name[1:])), f"its name says {' '.join(name)}")
            for name in self.names
        )
        return (*named, *clauses(self.facts.operation))

    @cached_property
    def fields(self) -> Mapping[Words, int]:
        """The fields of its request in words: of every media type, else of the query.

        Each has its depth below the nearest object of several fields: what has a single one around it is an envelope.
        """
        operation, schemas = self.facts.operation, self.around.schemas
        objects = [
            (pointer.count("/"), schemas.sent(schemas.properties(schema)))
            for pointer, schema in body_objects(operation, schemas)
        ]
        nearest = next((depth for depth, names in objects if len(names) > 1), 0)
        fields: dict[Words, int] = {}
        for depth, names in objects:
            if len(fields) < _MOST_FIELDS:
                for name in names:
                    fields.setdefault(_named(name), depth - nearest)
        if operation.body is not None or self.facts.method == "GET":
            return fields
        return {_named(each.name): 0 for each in operation.parameters if each.location is Location.QUERY}

    @property
    def beside(self) -> list[Reading]:
        """The operations of its path, and of the path around."""
        paths = self.template, self.template.rpartition("/")[0]
        return [self.others[each.operation.key] for path in paths for each in self.around.of_template(path)]

    @property
    def answered(self) -> frozenset[str]:
        """The fields of its answer, in snake case."""
        return self.around.schemas.once("answered", self.subject.answer, self._answered)

    def _answered(self) -> frozenset[str]:
        names = islice(answer_fields(self.subject.answer, self.around.schemas), _MOST_ANSWERED)
        return frozenset("_".join(split(name)) for name in dict.fromkeys(names))

    @property
    def shown(self) -> frozenset[str]:
        """The fields of its answer, each once more without its last word."""
        return self.around.schemas.once("shown", self.subject.answer, self._shown)

    def _shown(self) -> frozenset[str]:
        return self.answered | {name.rpartition("_")[0] for name in self.answered}

    @cached_property
    def _near(self) -> Mapping[str, str]:
        """The fields not far from the root, by their last words in the singular."""
        near: dict[str, str] = {}
        for name, depth in self.fields.items():
            if name and depth <= _NEAR:
                near.setdefault(singular(name[-1]), "_".join(name))
        return near

    def sends(self, words: frozenset[str]) -> str:
        """Return the first field, not far from the root, that is called by one of the words; "" where there is none."""
        for word, name in self._near.items():
            if word in words:
                return name
        return ""


def head(words: Words) -> str:
    """Return the noun that an object is about: the last before a preposition, or before a word such as `request`."""
    words = words[: head_size(words, 0)]
    while len(words) > 1 and words[-1] in _FRAMES:
        words = words[:-1]
    return words[-1] if words else ""


def answer_fields(schema: Json, schemas: Schemas, depth: int = 3) -> Iterator[str]:
    """Yield the names of the fields of an answer and of what it holds."""
    items = schemas.items(schema)
    for part in (schema,) if items is None else (schema, items):
        for name, inner in schemas.properties(part).items():
            yield name
            if depth:
                yield from schemas.once(f"fields-{depth}", inner, partial(_inner, inner, schemas, depth - 1))


def _inner(schema: Json, schemas: Schemas, depth: int) -> tuple[str, ...]:
    return tuple(islice(answer_fields(schema, schemas, depth), _MOST_WITHIN))


def _named(name: str) -> Words:
    """Return the words of a field, without those that say that it identifies what they name."""
    words = split(name)
    return words[:-1] if words[1:] and words[-1] in _IDENTIFYING else words
