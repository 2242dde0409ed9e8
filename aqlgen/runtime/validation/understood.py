# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A call that is not valid, understood where it can mean one thing only (R-REQ-4), and what is said of that.

Values are read first (`understanding`), then other places for what stands in a wrong one are tried (`placement`). A
reading counts only if the whole call is valid by it. What follows sees nothing else: the gatekeeper, the audit log, the
dry run and the API. If there is no reading that is sure, the refusal holds the request that was probably meant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..exact_json import with_floats, write_json
from ..redaction import is_credential_header
from ..schema.reader import MISSING, Types, is_object
from ..table import JsonSchema, Row
from ..text import leaks, letters, line, visible
from .placement import placements
from .problems import Problem, near_name
from .readings import Change, Outcome, Place, admitted_types, least, written
from .understanding import WRAPPERS, Reader, is_divided
from .value_problems import lacks_only

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

__all__ = ["Interpreter", "Understood"]

_MOST = 100
_MOST_UNKNOWN = 50
_LONGEST_VALUE, _LONGEST_PLACE, _LONGEST_REQUEST = 60, 120, 4000
_MILD = frozenset({"safe", "reversible"})


Twice: TypeAlias = Sequence[tuple[str, str]]
"""The parameters that are given twice, each with the other spelling, which counts as unknown."""


class Understood(NamedTuple):
    """A change of a call: the parameter or field, and a sentence about it."""

    param_name: str
    message: str


class Checks(NamedTuple):
    """What the validation of one operation knows: errors and problems of parameters, and how names are read."""

    fields: Mapping[str, Collection[str]]
    validator_of: Callable[[JsonSchema], Draft202012Validator | None]
    errors: Callable[[Any], Iterable[ValidationError]]
    problems: Callable[[Mapping[str, Any], Mapping[str, Any], Twice], list[Problem]]
    renamed: Callable[[Any], Any]
    respelled: Callable[[Outcome], None]
    partial: bool
    sensitive: Collection[str]


class Interpreter:
    """Understands the calls of one operation."""

    def __init__(self, types: Types, row: Row, checks: Checks) -> None:
        self._types = types
        self._row = row
        self._checks = checks
        self._root: JsonSchema = {"properties": {name: item.schema for name, item in row.parameters.items()}}
        spellings: dict[str, list[str]] = {}
        for name in row.parameters:
            spellings.setdefault(letters(name), []).append(name)
        self._spellings = {spelling: names[0] for spelling, names in spellings.items() if len(names) == 1}
        self._commas = frozenset(
            name
            for name, item in row.parameters.items()
            if is_divided(item.description)
            or (not item.explode and item.style in ("form", "simple") and item.location in ("query", "path", "header"))
        )

    def understand(self, known: Mapping[str, Any], unknown: Mapping[str, Any], *, sure: bool = True) -> Outcome | None:
        """Return the one reading of a call by which it is valid, or None."""
        if not unknown:
            outcome = self._read(Outcome(dict(known)), sure=sure)
            if self._valid(outcome):
                return None if any(self._wraps(name, value) for name, value in known.items()) else outcome
        outcomes = []
        known, unknown = self._without_wrappers(known, unknown)
        if len(unknown) > _MOST_UNKNOWN:
            return None
        named = self._spelled if sure else self._near
        for placement in placements(self._row, known, unknown, self._checks.fields, self._spelled, named):
            outcome = self._read(placement, sure=sure)
            if self._valid(outcome):
                outcomes.append(outcome)
        return least(outcomes)

    def _wraps(self, name: str, value: Any) -> bool:
        """Return True if a parameter of a wrapper's name holds undeclared fields that are all names of parameters."""
        fields = self._checks.fields.get(name, ())
        return (
            letters(name) in WRAPPERS
            and isinstance(value, dict)
            and bool(value)
            and all(key not in fields and self._spelled(key) not in (None, name) for key in value)
        )

    def _without_wrappers(
        self, known: Mapping[str, Any], unknown: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Count parameters that cannot be objects as unknown, where they hold one and have a wrapper's name."""
        wrappers = {
            name: value
            for name, value in known.items()
            if isinstance(value, dict)
            and letters(name) in WRAPPERS
            and "object" not in admitted_types(self._row.parameters[name].schema, self._types)
        }
        if not wrappers:
            return known, unknown
        return {name: value for name, value in known.items() if name not in wrappers}, {**unknown, **wrappers}

    def remaining(
        self, known: Mapping[str, Any], unknown: Mapping[str, Any], twice: Twice
    ) -> tuple[list[Problem], dict[str, Any]]:
        """Return what is wrong beside what is understood, and the request that was probably meant, as details."""
        partial = self._read(Outcome(dict(known)), sure=True)
        spellings = {spelling for _, spelling in twice}
        strange = {name: value for name, value in unknown.items() if name not in spellings}
        problems = self._checks.problems(partial.value, strange, twice)
        meant = self.understand(known, unknown, sure=False)
        if meant is None or not meant.changes or any(starmap(self._hides, meant.value.items())):
            return problems, {}
        request = {"operation": self._row.name, "params": meant.value}
        short = len(json.dumps(request, ensure_ascii=False)) <= _LONGEST_REQUEST
        return problems, {"try": request} if short else {}

    def described(self, outcome: Outcome) -> Iterator[Understood]:
        """Yield a sentence for each change."""
        for place, change in list(outcome.changes.items())[:_MOST]:
            name = line(visible(_dotted(place)), _LONGEST_PLACE)
            message = f"{name}{self._sentence(place, change, outcome.value)}"
            yield Understood(name, message if not leaks(message) else f"{line(name, 40)} was read as it is declared")

    def _read(self, outcome: Outcome, *, sure: bool) -> Outcome:
        """Return the parameters with their values as they are understood."""
        self._add_empty_body(outcome)
        self._checks.respelled(outcome)
        checks, row = self._checks, self._row
        reader = Reader(
            self._types,
            self._errors_of,
            lambda error, place: checks.partial and lacks_only(error, place),
            drops=row.family == "read",
            reads=row.family == "read",
            sure=sure,
            commas=self._commas,
        )
        result = reader.read(outcome.value, self._root, checks.errors, renamed=checks.renamed)
        for place, change in result.changes.items():
            outcome.note(place, change)
        outcome.value, outcome.complete = result.value, result.complete
        return outcome

    def _valid(self, outcome: Outcome) -> bool:
        return outcome.complete and not self._checks.problems(outcome.value, {}, ())

    def _errors_of(self, schema: JsonSchema) -> Callable[[Any], Iterable[ValidationError]] | None:
        validator = self._checks.validator_of(schema)
        return None if validator is None else lambda value: validator.iter_errors(with_floats(value))

    def _spelled(self, name: str) -> str | None:
        """Return the parameter that a name is, in whatever spelling."""
        row = self._row
        return name if name in row.parameters else row.wire_names.get(name) or self._spellings.get(letters(name))

    def _near(self, name: str) -> str | None:
        """Return the parameter that a name is, or the one with a name like it."""
        valid = [name for name in self._row.parameters if name not in self._row.hidden_parameters]
        return self._spelled(name) or near_name(name, valid)

    def _add_empty_body(self, outcome: Outcome) -> None:
        """Add the empty object as a required body that is not given, if the call is mild and no update."""
        row, body = self._row, self._row.body
        name = None if body is None or body.shape != "whole" else body.parameter
        if name is None or name in outcome.value or row.family in ("update", "delete") or row.danger not in _MILD:
            return
        parameter = row.parameters.get(name)
        if parameter is None or not parameter.required or not is_object(parameter.schema, self._types):
            return
        if admitted_types(parameter.schema, self._types) <= {"object", "null"}:  # a file can be a text, too
            outcome.value[name] = {}
            outcome.note((name,), Change(MISSING, {}, ("empty",)))

    def _is_secret(self, place: Place) -> bool:
        return place[0] in self._checks.sensitive or any(
            is_credential_header(step) for step in place if isinstance(step, str)
        )

    def _hides(self, name: str, value: Any) -> bool:
        """Return True if a parameter may hold a secret: a number may be a count of tokens."""
        return name in self._checks.sensitive or (isinstance(value, str) and self._is_secret((name,)))

    def _sentence(self, place: Place, change: Change, params: Any) -> str:
        """Return what became of a value, as the end of a sentence that begins with its place."""
        now = _at(params, place, change.now)
        if "empty" in change.kinds:
            return ": {} was sent, since nothing was given"
        if now is MISSING:
            return f": {'null' if change.before is None else 'it'} was left out"
        came = "" if change.moved is None else f" was given as {line(visible(_dotted(change.moved)), _LONGEST_PLACE)}"
        if change.kinds in (("moved",), ("renamed",)):
            return came
        joint = ": " if not came else ", and "
        if self._is_secret(place):
            return f"{came}{joint}its value was read as its type has it"
        return f"{came}{joint}{_shown(change.before)} was read as {_shown(now)}"


def _dotted(place: Sequence[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return text.removeprefix(".")


def _shown(value: Any) -> str:
    text = write_json(value, json.JSONEncoder(ensure_ascii=False, default=written).encode)
    return line(visible(text), _LONGEST_VALUE)


def _at(value: Any, place: Place, default: Any) -> Any:
    if default is MISSING:
        return MISSING
    for step in place:
        if isinstance(value, list):
            value = value[step] if isinstance(step, int) and step < len(value) else default
        else:
            value = value.get(step, default) if isinstance(value, dict) else default
    return value
