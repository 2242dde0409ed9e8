"""What can change for an agent: every rule with its title, its words and what it means, in the order of a reader.

`[is|are]` in a form is written for one subject or several; `{}` is a text of the API, `{*}` a list of such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from aqlgen.compare.model import Direction, Level

__all__ = ["ORDER", "RULES", "Rule"]

B, A, C = Level.BREAKING, Level.ATTENTION, Level.COMPATIBLE


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of change. Rules about values have words and a level for each direction in which they are felt."""

    title: str
    form: str = ""
    level: Level = C
    given: tuple[str, Level] | None = None
    """Words and level for what an agent gives; None when it does not feel it there."""
    answered: tuple[str, Level] | None = None
    """Words and level for what an agent is given."""
    both: str = ""
    """Words for what is given and answered alike; its level is the worse of both."""

    def felt(self, directions: frozenset[Direction]) -> tuple[str, Level] | None:
        """Give words and level for a change of values in these directions; None when no agent feels it."""
        given = self.given if directions - {Direction.OUTPUT} else None
        answered = self.answered if Direction.OUTPUT in directions else None
        if given is None or answered is None:
            return given or answered
        return self.both or given[0], min(given[1], answered[1], key=lambda level: level.rank)


_RULES: Final[dict[str, Rule]] = {
    # Operations: they go, they come, they mean something else
    "name-reused": Rule("A name means another operation", "a name that calls {} now, and called {} before", B),
    "operation-removed": Rule("An operation is gone", "removed", B),
    "operation-renamed": Rule("An operation has another name", "renamed, now {}", B),
    "operation-alias": Rule("An operation has another name and keeps its old one", "renamed, now {}; {}", A),
    "alias-removed": Rule("An operation no longer answers to an old name", "no longer [answers|answer] to {}", B),
    "category-changed": Rule("An operation belongs to another tool", "now [belongs|belong] to {}, not to {}", B),
    "operation-forbidden": Rule("An operation is refused", "forbidden now, and refused", B),
    "paging-changed": Rule("An operation answers page by page, or no longer", "{}", B),
    "update-replaces": Rule("An update replaces", "[replaces|replace] the whole now: what is left out is lost", B),
    "body-reshaped": Rule("What is sent stands elsewhere", "{}", B),
    "answer-removed": Rule("Nothing is answered", "[answers|answer] with nothing now", B),
    "field-case-changed": Rule("Fields are spelled otherwise", "all fields are spelled in {} now, not in {}", B),
    # Parameters and fields
    "parameter-removed": Rule("A parameter is gone", "[is|are] gone", B),
    "parameter-renamed": Rule("A parameter has another name", "[is|are] named {} now", B),
    "parameter-required": Rule("A parameter must be given", "must be given now", B),
    "required-parameter-added": Rule("A parameter is new and must be given", "[is|are] new and must be given", B),
    "field-removed": Rule(
        "A field is gone",
        given=("[is|are] no longer taken", B),
        answered=("[is|are] no longer answered", B),
        both="[is|are] gone",
    ),
    "field-renamed": Rule(
        "A field has another name", given=("[is|are] named {} now", B), answered=("[is|are] named {} now", B)
    ),
    "field-required": Rule("A field must be given", given=("must be given now", B)),
    "required-field-added": Rule("A field is new and must be given", given=("[is|are] new and must be given", B)),
    "type-replaced": Rule(
        "Something else altogether", given=("[takes|take] {} now, not {}", B), answered=("[is|are] {} now, not {}", B)
    ),
    "type-changed": Rule(
        "A value is of another type", given=("[is|are] {} now, not {}", B), answered=("[is|are] {} now, not {}", B)
    ),
    "type-narrowed": Rule("A value is of fewer types", given=("must be {} now, not {}", B)),
    "type-widened": Rule("A value is of more types", given=("may also be {}", C), answered=("may also be {}", B)),
    "fields-closed": Rule("No further fields are taken", given=("no longer [takes|take] undeclared fields", B)),
    "values-removed": Rule(
        "Values are no longer taken", given=("no longer [takes|take] {*}", B), both="no longer [takes|take] {*}"
    ),
    "values-limited": Rule("Only some values are taken", given=("[takes|take] only {*} now", B)),
    "alternative-removed": Rule("An alternative is no longer taken", given=("no longer [takes|take] {*}", B)),
    "null-refused": Rule("Null is no longer taken", given=("no longer [takes|take] null", B)),
    "limit-tightened": Rule("A limit is tighter", given=("must be {} now", B)),
    "pattern-changed": Rule("A pattern must be matched", given=("must match {} now", B)),
    "format-required": Rule("A format is demanded", given=("must be written as {} now", B)),
    # What a person should have seen
    "operation-added-grave": Rule("A new operation destroys or endangers", "new operation[|s] in {}, and {}", A),
    "confirmation-asked": Rule("A confirmation is asked", "[asks|ask] for a confirmation now: {}", A),
    "confirmation-dropped": Rule("No confirmation is asked any more", "no longer [asks|ask] for a confirmation: {}", A),
    "update-merges": Rule("An update merges", "[changes|change] only what is sent now", A),
    "operation-deprecated": Rule("An operation is deprecated", "deprecated{}", A),
    "removal-announced": Rule("An operation has a date of removal", "to be removed on {}", A),
    "scopes-needed": Rule("More scopes are needed", "[needs|need] the scopes {*} now", A),
    "credentials-needed": Rule("Other credentials are needed", "[needs|need] {} now", A),
    "credentials-changed": Rule("A credential changed", "{}", A),
    "server-changed": Rule("Calls go to another server", "[goes|go] to {} now, not to {}", A),
    "adapter-renamed": Rule("The adapter has another name", "the adapter is named {} now, not {}", A),
    "field-deprecated": Rule(
        "A parameter or a field is deprecated", given=("[is|are] deprecated", A), answered=("[is|are] deprecated", A)
    ),
    "default-changed": Rule("A default is another", given=("[means|mean] {} now when left out, not {}", A)),
    "operation-added": Rule("An operation is new", "new operation[|s] in {}", C),
    "parameter-added": Rule("A parameter is new", "[is|are] new", C),
    "field-added": Rule("A field is new", given=("[is|are] new", C), answered=("[is|are] new", C)),
    "values-added": Rule(
        "There are more values",
        given=("also [takes|take] {*}", C),
        answered=("may also be {*}", A),
        both="may also be {*}",
    ),
    "values-freed": Rule("Any value", given=("[takes|take] any value now", C), answered=("may be any value now", A)),
    "alternative-added": Rule(
        "There are more alternatives",
        given=("also [takes|take] {*}", C),
        answered=("may also be {*}", A),
        both="may also be {*}",
    ),
    "fields-untold": Rule("Fields are no longer declared", answered=("[is|are] an object of undeclared fields now", A)),
    "null-answered": Rule("Null may be answered", answered=("may be null now", A)),
    "field-optional": Rule(
        "A field may be missing",
        given=("may be left out now", C),
        answered=("may be missing now", A),
        both="may be left out or missing now",
    ),
    "format-changed": Rule(
        "A format is another", given=("[is|are] {} now, not {}", A), answered=("[is|are] {} now, not {}", A)
    ),
    "rules-changed": Rule("Other rules between values", given=("[is|are] bound by other rules now", A)),
    "checks-changed": Rule("Other rules between parameters", "other rules bind the parameters to one another now", A),
    # Nothing that worked is any different
    "danger-raised": Rule("More dangerous", "{} now, not {}", C),
    "danger-lowered": Rule("Less dangerous", "{} now, not {}", C),
    "goes-on": Rule("Goes on after it answers", "{}", C),
    "parameter-optional": Rule("A parameter may be left out", "may be left out now", C),
    "parameter-respelled": Rule(
        "A parameter is spelled otherwise", "[is|are] spelled {} now; the old spelling is taken too", C
    ),
    "fields-told": Rule(
        "Fields are declared",
        given=("[declares|declare] its fields now", C),
        answered=("[declares|declare] its fields now", C),
    ),
    "fields-open": Rule("Further fields are taken", given=("[takes|take] undeclared fields too", C)),
    "null-taken": Rule("Null is taken", given=("also [takes|take] null", C)),
    "limit-loosened": Rule("A limit is looser", given=("may be {} now", C)),
    "limit-removed": Rule("A limit is gone", given=("need not be {} any more", C)),
    "pattern-removed": Rule("A pattern is gone", given=("may be any text now", C)),
    "default-told": Rule("A default is told, or no longer", given=("{}", C)),
    "credentials-unneeded": Rule("No credentials are needed", "[needs|need] no credentials any more", C),
    "answer-added": Rule("More is answered", "[answers|answer] with a value now", C),
    "no-longer-deprecated": Rule("No longer deprecated", "no longer deprecated", C),
    "address-changed": Rule("Other addresses of the API are called", "[calls|call] {} now instead of {}", C),
    "confirmation-reworded": Rule("Confirmations say something else", "[asks|ask] for confirmation in other words", C),
    "types-reworded": Rule("Descriptions of types are reworded", "types described in other words: {*}", C),
    "reworded": Rule("Descriptions are reworded", "described in other words", C),
}

RULES: Final[Mapping[str, Rule]] = MappingProxyType(_RULES)

ORDER: Final[Mapping[str, int]] = MappingProxyType({name: index for index, name in enumerate(_RULES)})
"""Rules in the order in which a reader wants them."""
