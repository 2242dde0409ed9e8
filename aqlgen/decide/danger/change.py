"""An operation as the rules of danger see it: its words, from wherever they come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import head_size
from aqlgen.decide.naming.verbs import Verb
from aqlgen.decide.payloads import body_fields
from aqlgen.ir import Json
from aqlgen.words import singular, split

__all__ = ["Change"]


@dataclass(frozen=True)
class Change:
    """An operation with its category and name; `lists` tells of paths whether a GET of them answers with a list."""

    facts: Facts
    category: Category
    name: str
    lists: Mapping[str, bool | None]
    loss: str = ""
    """What a replacement may lose, "" where nothing is lost or the operation replaces nothing."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return tuple(self.name.split("_"))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The words of every name: its own, the operationId's, an SDK's, and the path's action with what it acts on."""
        facts = self.facts
        names = [self.words]
        if facts.phrase:
            names.append(
                (*((facts.named_verb.word,) if facts.named_verb else ()), *(facts.phrase.object or self.thing))
            )
        if facts.shape.action:
            noun = facts.last_noun.words if facts.last_noun and len(facts.shape.action) == 1 else ()
            names.append((*facts.shape.action, *noun))
        return tuple(dict.fromkeys(name for name in names if name))

    @cached_property
    def verbs(self) -> tuple[Verb, ...]:
        """The verbs of its path, its names and its summary, the surest first."""
        facts = self.facts
        verbs = (facts.action_verb, facts.named_verb, facts.summary_verb)
        return tuple(verb for verb in verbs if verb is not None)

    @cached_property
    def verb_words(self) -> frozenset[str]:
        """The words with which what it does is said."""
        words = {verb.word for verb in self.verbs}
        return frozenset({*words, *self.words[:1], *(self.facts.shape.action[:1] or ())})

    @cached_property
    def thing(self) -> tuple[str, ...]:
        """The words for what it acts on, in the singular: those of the path's last noun."""
        last = self.facts.last_noun
        return tuple(singular(word) for word in last.words) if last else ()

    @cached_property
    def part(self) -> tuple[str, ...]:
        """The part of one item that the path ends in, in the singular; () where it is an item, or not within one."""
        *before, last = self.facts.shape.nouns or (None,)
        if last is None:
            return ()
        words = self.facts.shape.action[1:] if last.parameters else last.words
        within = bool(last.parameters) or any(noun is not None and noun.parameters for noun in before)
        return tuple(singular(word) for word in words[: head_size(words, 0)]) if within else ()

    @cached_property
    def nouns(self) -> frozenset[str]:
        """All words of the name and of the path's nouns, in the singular."""
        path = (word for noun in self.facts.shape.nouns for word in noun.words)
        return frozenset(singular(word) for word in (*self.words, *path))

    @cached_property
    def fields(self) -> Mapping[str, Json]:
        """The properties of its request body, by their names in words joined by `_`."""
        declared = body_fields(self.facts.operation, self.facts.resolver)
        return {"_".join(split(name)): schema for name, schema in declared.items()}
