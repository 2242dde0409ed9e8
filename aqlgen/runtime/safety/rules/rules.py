"""The owner's rules about operations: which of them an operation may meet, and which a call does meet.

What an operation has to do with a rule is found when the adapter starts, so that the others pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...quota.limits import Pattern
from ...settings.load import ConfigError
from ...table import Attribute, Row, Table
from ...text import did_you_mean
from .operators import ABOUT_LISTS, IF_MISSING, OPERATORS, Truth, all_of, any_of
from .values import (
    HIDDEN,
    MISSING,
    Place,
    Sent,
    Spellings,
    field_names,
    is_open,
    is_text,
    patched,
    places_of,
    spelled,
    spoken_parameters,
)

if TYPE_CHECKING:
    from ...settings.config import Config
    from ...wire import ApiRequest

_MOST_UNTOLD = 20


class Condition(NamedTuple):
    """The tests of a value, by the dotted path to it."""

    path: tuple[str, ...]
    tests: Mapping[str, Any]

    def truth(self, place: ConditionPlaces, params: Mapping[str, Any], sent: Sent | None, *, strictly: bool) -> Truth:
        """Return whether all tests hold of what a call sends: `strictly` of every value, otherwise of one."""
        return all_of(
            self._test(name, expected, place, params, sent, strictly) for name, expected in self.tests.items()
        )

    def _test(
        self,
        name: str,
        expected: Any,
        where: ConditionPlaces,
        params: Mapping[str, Any],
        sent: Sent | None,
        strictly: bool,
    ) -> Truth:
        values = where.values(params, sent, of_lists=name in ABOUT_LISTS)
        values = (values or [MISSING]) if name == "given" else where.with_defaults(values)
        truths = (_truth(name, value, expected) for value in values)
        return all_of(truths) if strictly and values else any_of(truths)


class ConditionPlaces(NamedTuple):
    """Where the field of a condition may stand in an operation, and its names in the request that is sent."""

    places: tuple[Place, ...]
    names: tuple[Spellings, ...]

    def values(self, params: Mapping[str, Any], sent: Sent | None, *, of_lists: bool) -> list[Any]:
        """Return the values of a call there: in its parameters, in its patches, and in its request."""
        values = [value for place in self.places for value in place.values(params, of_lists=of_lists)]
        for place in self.places:
            if place.within and place.parameter in params:
                values += patched(params[place.parameter], place.within, of_lists=of_lists)
        if sent is not None:
            values += sent.values(self.names, values, of_lists=of_lists)
        return values

    def with_defaults(self, values: list[Any]) -> list[Any]:
        """Return values with what is declared for those that are left out."""
        defaults = [default for place in self.places for default in place.defaults]
        if defaults and (not values or MISSING in values):
            return [*(value for value in values if value is not MISSING), *defaults]
        return values or [MISSING] * any(place.declared for place in self.places)


def _truth(name: str, value: Any, expected: Any) -> Truth:
    if value is HIDDEN:
        return None
    if name == "given":
        return (value is not MISSING) is expected
    return IF_MISSING.get(name) if value is MISSING else OPERATORS[name](value, expected)


class MetRule(NamedTuple):
    """A rule that a call meets. `exact` says that it names the operation itself."""

    id: str
    action: str
    reason: str
    exact: bool


class Rule:
    """One rule of the settings."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.id: str = settings["id"]
        self.action: str = settings["action"]
        self.reason: str = settings.get("reason", "")
        self.names = tuple((text, Pattern(text)) for text in settings.get("operations", ()))
        self.tags = frozenset(text.casefold() for text in settings.get("tags", ()))
        self.families = frozenset(settings.get("families", ()))
        self.levels = frozenset(settings.get("danger", ()))
        when = settings.get("when", {})
        self.conditions = tuple(Condition(tuple(path.split(".")), tests) for path, tests in when.items())

    def selects(self, name: str, family: str, values: tuple[Any, ...]) -> bool:
        """Return True for an operation that the rule is about; the values are those of `_ATTRIBUTES`."""
        aliases, method, path, danger, tags, api = values
        names = (name, *(alias.name for alias in aliases))
        return (
            (
                not self.names
                or any(pattern.fits(each, method, path, api) for _, pattern in self.names for each in names)
            )
            and (not self.tags or any(tag.casefold() in self.tags for tag in tags))
            and (not self.families or family in self.families)
            and (not self.levels or danger in self.levels)
        )

    def names_exactly(self, row: Row) -> bool:
        """Return True if it has the name of an operation, or its method and path, without any `*`."""
        names = {row.name, row.key, *(alias.name for alias in row.aliases)}
        return any("*" not in text and text.lower() in {name.lower() for name in names} for text, _ in self.names)

    def met(self, places: Sequence[ConditionPlaces], params: Mapping[str, Any], sent: Sent | None) -> bool:
        """Return True for a call that meets the conditions, or, unless the rule allows, one that may meet them."""
        strictly = self.action == "allow"
        truths = (
            condition.truth(places[index], params, sent, strictly=strictly)
            for index, condition in enumerate(self.conditions)
        )
        truth = all_of(truths)
        return truth is True if strictly else truth is not False


_ATTRIBUTES: tuple[Attribute, ...] = ("aliases", "method", "path", "danger", "tags", "api")


class Rules:
    """The rules of an adapter, by the operations that each may touch."""

    def __init__(self, config: Config, table: Table) -> None:
        self._table = table
        self._rules = [Rule(settings) for settings in config.policy_rules]
        self._by_name: dict[str, list[Rule]] = {}
        self._resolved: dict[str, list[tuple[Rule, tuple[ConditionPlaces, ...], bool]]] = {}
        self.untold: list[str] = []
        """Which conditions no call of an operation can show, so that each of its calls counts against the rule."""
        for name, family, values in table.values(*_ATTRIBUTES):
            rules = [rule for rule in self._rules if rule.selects(name, family, values)]
            if any(rule.conditions for rule in rules):
                rules = self._conditional(rules, name, table.raw(family)[name])
            if rules:
                self._by_name[name] = rules

    def _conditional(self, rules: Sequence[Rule], name: str, entry: Mapping[str, Any]) -> list[Rule]:
        """Return the rules whose conditions calls of an operation may meet, and note what cannot be told of them."""
        parameters, has_body = spoken_parameters(entry)
        rules = [
            rule
            for rule in rules
            if has_body or all(spelled(condition.path[0]) in parameters for condition in rule.conditions)
        ]
        if is_text(entry):
            self.untold += (text for rule in rules for text in _untold(rule, name, parameters))
        return rules

    @property
    def names(self) -> frozenset[str]:
        """The operations whose calls may meet a rule."""
        return frozenset(self._by_name)

    def met(self, row: Row, params: Mapping[str, Any], build: Callable[[], ApiRequest]) -> list[MetRule]:
        """Return the rules that a call meets, whose request `build` makes. It is made for conditions alone."""
        values = {**row.fixed_values, **params} if row.fixed_values else params
        rules = self._of(row)
        sent = Sent.of(build) if any(rule.conditions for rule, _, _ in rules) else None
        return [
            MetRule(rule.id, rule.action, rule.reason, exact)
            for rule, places, exact in rules
            if rule.met(places, values, sent)
        ]

    def usual(self, row: Row) -> tuple[list[MetRule], list[MetRule]]:
        """Return the rules that every call of an operation meets, and those that some may meet."""
        always: list[MetRule] = []
        sometimes: list[MetRule] = []
        for rule, _, exact in self._of(row):
            kind = sometimes if rule.conditions else always
            kind.append(MetRule(rule.id, rule.action, rule.reason, exact))
        return always, sometimes

    def _of(self, row: Row) -> list[tuple[Rule, tuple[ConditionPlaces, ...], bool]]:
        known = self._resolved.get(row.cache_key)
        if known is None:
            known = self._resolved[row.cache_key] = list(self._resolve(row))
        return known

    def _resolve(self, row: Row) -> Iterator[tuple[Rule, tuple[ConditionPlaces, ...], bool]]:
        for rule in self._by_name.get(row.name, ()):
            paths = [condition.path for condition in rule.conditions]
            places = [places_of(row, path, self._table.types) for path in paths]
            if all(places):
                named = (
                    ConditionPlaces(spots, field_names(row, path, spots))
                    for spots, path in zip(places, paths, strict=True)
                )
                yield rule, tuple(named), rule.names_exactly(row)

    def problems(self) -> Iterator[str]:
        """Yield the problems of rules that fit no operation, or name no parameter."""
        operations = list(self._table.values(*_ATTRIBUTES))
        for position, rule in enumerate(self._rules, 1):
            where = f"rule {position} ('{rule.id}')"
            yield from (f"{where}: {problem}" for problem in self._unfitting(rule, operations))
            concerned = [name for name, rules in self._by_name.items() if rule in rules]
            for condition in rule.conditions:
                if not any(self._leads(name, condition) for name in concerned):
                    path = ".".join(condition.path)
                    yield f"{where}: no operation that it is about has a parameter '{path}'"

    def _unfitting(self, rule: Rule, operations: Sequence[tuple[str, str, tuple[Any, ...]]]) -> Iterator[str]:
        for text, pattern in rule.names:
            if not any(
                pattern.fits(each, values[1], values[2], values[5])
                for name, _, values in operations
                for each in (name, *(alias.name for alias in values[0]))
            ):
                note = " (steps of workflows are decided one by one)" if text in self._table.workflows else ""
                hint = did_you_mean(text, (name for name, _, _ in operations))
                yield f"'{text}' fits no operation{note}{hint and '. '}{hint}"
        tags = {tag.casefold() for _, _, values in operations for tag in values[4]}
        for tag in sorted(rule.tags - tags):
            hint = did_you_mean(tag, tags)
            yield f"no operation has the tag '{tag}'{hint and '. '}{hint}"
        if not any(rule.selects(name, family, values) for name, family, values in operations):
            yield "no operation is all that it asks for"

    def _leads(self, name: str, condition: Condition) -> bool:
        row = self._table.find(name)
        if row is None:
            return False
        places = places_of(row, condition.path, self._table.types)
        return any(place.declared for place in places) or (bool(places) and is_open(row, self._table.types))


def check_rules(config: Config, table: Table) -> list[str]:
    """Return the conditions that no call can be tested for.

    Raises ConfigError for a rule that fits no operation, or speaks of a parameter that none has.
    """
    if not config.policy_rules:
        return []
    rules = Rules(config, table)
    problem = next(rules.problems(), None)
    if problem is not None:
        raise ConfigError(f"{config.place('policy_rules', 'policy.rules')}: {problem}")
    return rules.untold[:_MOST_UNTOLD]


def _untold(rule: Rule, name: str, parameters: frozenset[str]) -> Iterator[str]:
    effect = "is never allowed by it" if rule.action == "allow" else f"counts as one that meets it ({rule.action})"
    for condition in rule.conditions:
        if spelled(condition.path[0]) not in parameters:
            path = ".".join(condition.path)
            yield f"rule '{rule.id}': '{path}' cannot be told in the body of {name}, a text: each call {effect}"
