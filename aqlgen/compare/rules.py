"""The table of rules: every kind of change with its title, its wording and its level, in the order of the report.

`[is|are]` in a wording is for one subject or several; `{}` is a text of the API, `{*}` a list of such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from aqlgen.compare.model import Direction, Level

Effect = tuple[str, Level]
"""The wording of a change, and what it means for an agent."""

BREAKING, ATTENTION, TEXTS, COMPATIBLE = Level


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of change. Rules about schemas have an effect for each direction of the values instead of one for all."""

    title: str
    wording: str = ""
    level: Level = COMPATIBLE
    section: str = ""
    """The heading before all others under which changes by this rule stand; "" for that of their level."""
    on_input: Effect | None = None
    """The effect on values that an agent sends; None if it has none there."""
    on_output: Effect | None = None
    """The effect on values that an agent receives."""
    on_both: str = ""
    """The wording for values that are both sent and received; the level is the worse of both."""

    def effect(self, directions: frozenset[Direction]) -> Effect | None:
        """Return the effect on values that go in these directions; None if no agent notices the change."""
        if self.wording:
            return self.wording, self.level
        sent = self.on_input if directions - {Direction.OUTPUT} else None
        received = self.on_output if Direction.OUTPUT in directions else None
        if sent is None or received is None:
            return sent or received
        return self.on_both or sent[0], min(sent[1], received[1], key=lambda level: level.rank)


HOSTS: Final = "Credentials and hosts"

_RULES: Final[dict[str, Rule]] = {
    # Where requests and credentials go
    "server-changed": Rule(
        "Calls go to another server", "credentials would go to {} now, not to {}", BREAKING, section=HOSTS
    ),
    "token-url-changed": Rule(
        "Tokens come from another address",
        "credentials would go to {} now, not to {}, for tokens of {}",
        BREAKING,
        section=HOSTS,
    ),
    "authorization-url-changed": Rule(
        "People log in elsewhere",
        "credentials would go to {} now, not to {}, by people who log in for {}",
        BREAKING,
        section=HOSTS,
    ),
    "credentials-needed": Rule("Other credentials are needed", "[needs|need] {} now", BREAKING, section=HOSTS),
    "scopes-needed": Rule("More scopes are needed", "[needs|need] the scopes {*} now", BREAKING, section=HOSTS),
    "host-added": Rule("A host is new", "credentials would go to {} now: {}", BREAKING, section=HOSTS),
    "host-refused": Rule(
        "A host is not accepted",
        "nothing is sent to {} until you accept {} under `hosts` of overrides.yaml",
        BREAKING,
        section=HOSTS,
    ),
    "host-accepted": Rule(
        "The owner accepts a host",
        "requests and credentials may go to {} now, by overrides.yaml",
        ATTENTION,
        section=HOSTS,
    ),
    "host-removed": Rule("A host is gone", "nothing goes to {} any more", COMPATIBLE, section=HOSTS),
    # Operations and the adapter
    "name-reused": Rule("A name means another operation", "a name that calls {} now, and called {} before", BREAKING),
    "operation-removed": Rule("An operation is gone", "removed", BREAKING),
    "operation-renamed": Rule("An operation has another name", "renamed, now {}", BREAKING),
    "operation-alias": Rule("An operation has another name and keeps its old one", "renamed, now {}; {}", ATTENTION),
    "alias-removed": Rule(
        "An operation no longer answers to an old name", "no longer [answers|answer] to {}", BREAKING
    ),
    "category-changed": Rule("An operation belongs to another tool", "now [belongs|belong] to {}, not to {}", BREAKING),
    "operation-forbidden": Rule("An operation is refused", "forbidden now, and refused", BREAKING),
    "paging-changed": Rule("An operation answers page by page, or no longer", "{}", BREAKING),
    "update-replaces": Rule(
        "An update replaces the whole", "now [replaces|replace] the whole resource: omitted fields are lost", BREAKING
    ),
    "body-reshaped": Rule("A body is passed in another way", "{}", BREAKING),
    "workflow-changed": Rule(
        "A workflow has other inputs or outputs", "[has|have] other inputs or outputs now", BREAKING
    ),
    "answer-removed": Rule("Nothing is answered", "[answers|answer] with nothing now", BREAKING),
    "field-case-changed": Rule("Fields are spelled otherwise", "all fields are spelled in {} now, not in {}", BREAKING),
    # Parameters and fields
    "parameter-removed": Rule("A parameter is gone", "[is|are] gone", BREAKING),
    "parameter-renamed": Rule("A parameter has another name", "[is|are] named {} now", BREAKING),
    "parameter-required": Rule("A parameter must be given", "must be given now", BREAKING),
    "required-parameter-added": Rule(
        "A parameter is new and must be given", "[is|are] new and must be given", BREAKING
    ),
    "field-removed": Rule(
        "A field is gone",
        on_input=("[is|are] no longer taken", BREAKING),
        on_output=("[is|are] no longer answered", BREAKING),
        on_both="[is|are] gone",
    ),
    "field-renamed": Rule(
        "A field has another name",
        on_input=("[is|are] named {} now", BREAKING),
        on_output=("[is|are] named {} now", BREAKING),
    ),
    "field-required": Rule("A field must be given", on_input=("must be given now", BREAKING)),
    "required-field-added": Rule(
        "A field is new and must be given", on_input=("[is|are] new and must be given", BREAKING)
    ),
    "type-changed": Rule(
        "A value is of another type",
        on_input=("[is|are] {} now, not {}", BREAKING),
        on_output=("[is|are] {} now, not {}", BREAKING),
    ),
    "type-narrowed": Rule("A value is of fewer types", on_input=("must be {} now, not {}", BREAKING)),
    "type-widened": Rule(
        "A value is of more types", on_input=("may also be {}", COMPATIBLE), on_output=("may also be {}", BREAKING)
    ),
    "fields-closed": Rule(
        "No further fields are taken", on_input=("no longer [takes|take] undeclared fields", BREAKING)
    ),
    "values-removed": Rule(
        "Values are no longer taken",
        on_input=("no longer [takes|take] {*}", BREAKING),
        on_output=("no longer [lists|list] {*}", TEXTS),
        on_both="no longer [takes|take] {*}",
    ),
    "values-limited": Rule(
        "Only some values are taken",
        on_input=("[takes|take] only {*} now", BREAKING),
        on_output=("[lists|list] {*} now", TEXTS),
    ),
    "alternative-removed": Rule("An alternative is no longer taken", on_input=("no longer [takes|take] {*}", BREAKING)),
    "null-refused": Rule("Null is no longer taken", on_input=("no longer [takes|take] null", BREAKING)),
    "limit-tightened": Rule("A limit is tighter", on_input=("must be {} now", BREAKING)),
    "pattern-changed": Rule("A pattern must be matched", on_input=("must match {} now", BREAKING)),
    "format-required": Rule("A format is demanded", on_input=("must be written as {} now", BREAKING)),
    # What a person should see, and what is new
    "operation-added-grave": Rule(
        "A new operation destroys or endangers", "new operation[|s] in {}, and {}", ATTENTION
    ),
    "danger-raised": Rule("An operation is more dangerous", "{} now, not {}", ATTENTION),
    "accepted-unseen": Rule(
        "A new operation is accepted by a pattern, before anybody looked at it",
        "new, and accepted unseen by {} in overrides.yaml",
        ATTENTION,
    ),
    "workflow-steps": Rule("A workflow runs other steps", "[runs|run] other steps now", ATTENTION),
    "confirmation-asked": Rule("A confirmation is asked", "[asks|ask] for a confirmation now: {}", ATTENTION),
    "confirmation-dropped": Rule(
        "No confirmation is asked any more", "no longer [asks|ask] for a confirmation: {}", ATTENTION
    ),
    "update-merges": Rule("An update merges", "now [changes|change] only the sent fields", ATTENTION),
    "operation-deprecated": Rule("An operation is deprecated", "deprecated{}", ATTENTION),
    "removal-announced": Rule("An operation has a date of removal", "to be removed on {}", ATTENTION),
    "credentials-changed": Rule("A credential changed", "{}", ATTENTION, section=HOSTS),
    "constant-changed": Rule("A constant of requests changed", "[sends|send] {} as {} now, not as {}", ATTENTION),
    "adapter-renamed": Rule("The adapter has another name", "the adapter is named {} now, not {}", ATTENTION),
    "field-deprecated": Rule(
        "A parameter or a field is deprecated",
        on_input=("[is|are] deprecated", ATTENTION),
        on_output=("[is|are] deprecated", ATTENTION),
    ),
    "default-changed": Rule(
        "A default is another",
        on_input=("[has|have] the default {} now, not {}", ATTENTION),
        on_output=("[has|have] the default {} now, not {}", TEXTS),
    ),
    "operation-added": Rule("An operation is new", "new operation[|s] in {}", COMPATIBLE),
    "parameter-added": Rule("A parameter is new", "[is|are] new", COMPATIBLE),
    "field-added": Rule(
        "A field is new", on_input=("[is|are] new", COMPATIBLE), on_output=("[is|are] new", COMPATIBLE)
    ),
    "values-added": Rule(
        "There are more values",
        on_input=("also [takes|take] {*}", TEXTS),
        on_output=("may also be {*}", ATTENTION),
        on_both="may also be {*}",
    ),
    "values-freed": Rule(
        "Any value is allowed",
        on_input=("[takes|take] any value now", COMPATIBLE),
        on_output=("may be any value now", ATTENTION),
    ),
    "alternative-added": Rule(
        "There are more alternatives",
        on_input=("also [takes|take] {*}", COMPATIBLE),
        on_output=("may also be {*}", ATTENTION),
        on_both="may also be {*}",
    ),
    "fields-untold": Rule(
        "Fields are no longer declared", on_output=("[is|are] an object of undeclared fields now", ATTENTION)
    ),
    "null-answered": Rule("Null may be answered", on_output=("may be null now", ATTENTION)),
    "field-optional": Rule(
        "A field may be missing",
        on_input=("may be left out now", COMPATIBLE),
        on_output=("may be missing now", ATTENTION),
        on_both="may be left out or missing now",
    ),
    "format-changed": Rule(
        "A format is another",
        on_input=("[is|are] {} now, not {}", ATTENTION),
        on_output=("[is|are] {} now, not {}", ATTENTION),
    ),
    "rules-changed": Rule("Other rules between values", on_input=("[is|are] bound by other rules now", ATTENTION)),
    "checks-changed": Rule(
        "Other rules between parameters", "other rules bind the parameters to one another now", ATTENTION
    ),
    # Texts that agents read
    "default-told": Rule("A default is documented, or no longer", on_input=("{}", TEXTS), on_output=("{}", TEXTS)),
    "text-changed": Rule("A text is another", "{}", TEXTS),
    "text-added": Rule("A text is new", "{}", TEXTS),
    "text-removed": Rule("A text is gone", "{}", TEXTS),
    # What leaves everything that worked as it was
    "danger-lowered": Rule("An operation is less dangerous", "{} now, not {}", COMPATIBLE),
    "goes-on": Rule("An operation goes on after it answers, or no longer", "{}", COMPATIBLE),
    "parameter-optional": Rule("A parameter may be left out", "may be left out now", COMPATIBLE),
    "parameter-respelled": Rule(
        "A parameter is spelled otherwise", "[is|are] spelled {} now; the old spelling is taken too", COMPATIBLE
    ),
    "fields-told": Rule(
        "Fields are declared",
        on_input=("[declares|declare] its fields now", COMPATIBLE),
        on_output=("[declares|declare] its fields now", COMPATIBLE),
    ),
    "fields-open": Rule("Further fields are taken", on_input=("[takes|take] undeclared fields too", COMPATIBLE)),
    "null-taken": Rule("Null is taken", on_input=("also [takes|take] null", COMPATIBLE)),
    "limit-loosened": Rule("A limit is looser", on_input=("may be {} now", COMPATIBLE)),
    "limit-removed": Rule("A limit is gone", on_input=("need not be {} any more", COMPATIBLE)),
    "pattern-removed": Rule("A pattern is gone", on_input=("may be any text now", COMPATIBLE)),
    "credentials-unneeded": Rule("No credentials are needed", "[needs|need] no credentials any more", COMPATIBLE),
    "answer-added": Rule("More is answered", "[answers|answer] with a value now", COMPATIBLE),
    "no-longer-deprecated": Rule("An operation is no longer deprecated", "no longer deprecated", COMPATIBLE),
    "address-changed": Rule("Other addresses of the API are called", "[calls|call] {} now instead of {}", COMPATIBLE),
    "confirmation-reworded": Rule(
        "Confirmations say something else", "[asks|ask] for confirmation in other words", COMPATIBLE
    ),
}

RULES: Final[Mapping[str, Rule]] = MappingProxyType(_RULES)

ORDER: Final[Mapping[str, int]] = MappingProxyType({name: index for index, name in enumerate(_RULES)})
"""The position of each rule in the report."""
