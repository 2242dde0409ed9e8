"""Repairs of a call that is not valid, and the call that was probably meant (R-REQ-4).

Performed, with a warning, is what can mean one thing only: a scalar of another type, JSON text, one value for a list,
the case of an enumeration or of a name, parameters wrapped in `params`. Whatever else makes the call valid is
proposed in `details.try`. What follows sees the repaired call: the gatekeeper, the audit log, the dry run and the API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from typing import Any, NamedTuple

from ..exact_json import write_json
from ..redaction import is_credential_header
from ..schema import MISSING, Types, at
from ..table import Row
from ..text import leaks, letters, line, visible
from .coercions import same, structured, written
from .leaves import Leaves
from .problems import near_name
from .value_problems import place_of
from .walk import Allowed, Change, Place, Reading, TooMuch, Walk, least

_MOST, _MOST_LOOSE, _MOST_HOMES = 100, 50, 8
_LONGEST_VALUE, _LONGEST_PLACE, _LONGEST_REQUEST = 60, 120, 4000
_WRAPPERS = frozenset({"params", "arguments", "input"})
"""The names under which the protocol and MCP themselves put parameters."""


class Repaired(NamedTuple):
    """A change of a call: the parameter or field, and a sentence about it."""

    param_name: str
    message: str


@dataclass(frozen=True, slots=True)
class Repair:
    """The repairs of one operation's calls.

    `homes` are the fields of the parameters that are objects of the body, `spellings` the parameters by their letters.
    `passes` says whether a reading is valid, `renamed` returns parameters under the agent's names, `respell` gives
    misspelt keys the names that they can only mean. With `partial`, `input` may lack fields.
    """

    types: Types
    row: Row
    leaves: Leaves
    homes: Mapping[str, Collection[str]]
    spellings: Mapping[str, Sequence[str]]
    passes: Callable[[Reading], bool]
    renamed: Callable[[Mapping[str, Any]], dict[str, Any]]
    respell: Callable[[Reading], None]
    partial: bool
    sensitive: Collection[str]

    def read(self, start: Reading, allowed: Allowed) -> Reading:
        """Return the parameters as they are read. Raises TooMuch."""
        walk = Walk(self.types, self.leaves, allowed)
        reading = Reading(dict(start.value), dict(start.changes))
        drops = allowed is Allowed.LIKELY
        for _ in range(2):
            reading.faults = []
            if allowed is not Allowed.NOTHING:
                self.respell(reading)
            for name, value in list(reading.value.items()):
                parameter = self.row.parameters[name]
                child = walk.read(value, parameter.schema, partial=self.partial and name == "input")
                if value is None and child.faults and drops and not parameter.required:
                    reading.value = {key: item for key, item in reading.value.items() if key != name}
                    reading.note((name,), Change(None, MISSING))
                else:
                    reading.put(name, child)
            renamed = self.renamed(reading.value)  # JSON text may have the API's names
            if same(renamed, reading.value):
                break
            reading.value = renamed
        reading.unchecked = walk.unchecked
        return reading

    def unwrapped(self, known: Mapping[str, Any], unknown: Mapping[str, Any]) -> tuple[Reading, dict[str, Any]]:
        """Return the parameters with those out of `params`, and what is still unknown."""
        reading, rest = Reading(dict(known)), {}
        for wrapper, value in unknown.items():
            content = _object(value) if letters(wrapper) in _WRAPPERS else None
            names = {key: self._spelled(key) for key in content or ()}
            taken = {*reading.value, None}
            if not content or len(set(names.values())) < len(names) or not taken.isdisjoint(names.values()):
                rest[wrapper] = value
                continue
            for key, name in names.items():
                _put(reading, (str(name),), content[key], (wrapper, key))
        return reading, rest

    def is_ambiguous(self, params: Mapping[str, Any]) -> bool:
        """Return True if a parameter of a wrapper's name holds nothing but names of parameters."""
        return any(
            name != "input"
            and letters(name) in _WRAPPERS
            and isinstance(value, dict)
            and bool(value)
            and all(key not in self.homes.get(name, ()) and self._spelled(key) not in (None, name) for key in value)
            for name, value in params.items()
        )

    def proposed(self, known: Mapping[str, Any], unknown: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request that was probably meant, as details; none where there is more than one, or a secret."""
        readings = []
        for start in self._arrangements(known, unknown):
            try:
                reading = self.read(start, Allowed.LIKELY)
                if not reading.faults and self.passes(reading):
                    readings.append(reading)
            except TooMuch:
                return {}
        meant = least(readings)
        if meant is None or not meant.changes or any(starmap(self._hides, meant.value.items())):
            return {}
        request = {"operation": self.row.name, "params": meant.value}
        return {"try": request} if len(json.dumps(request, ensure_ascii=False)) <= _LONGEST_REQUEST else {}

    # Where a value may belong

    def _arrangements(self, known: Mapping[str, Any], unknown: Mapping[str, Any]) -> Iterator[Reading]:
        """Yield the parameters with each value in a place that its name fits."""
        if not unknown and not self.is_ambiguous(known):
            yield Reading(dict(known))
        for home in (None, *islice(self.homes, _MOST_HOMES)):
            start = Reading(dict(known))
            loose = list(self._loose(start, unknown))
            if not (loose or start.changes) or len(loose) > _MOST_LOOSE:
                continue
            if all(self._place(start, name, value, source, home) for name, value, source in loose):
                yield start

    def _loose(self, start: Reading, unknown: Mapping[str, Any]) -> Iterator[tuple[str, Any, Place]]:
        """Yield the values that stand nowhere: unknown parameters, what objects there hold, and undeclared fields."""
        for name, value in unknown.items():
            content = _object(value)
            if letters(name) == "operation" and value == self.row.name:
                continue
            if not content or any(name in fields for fields in self.homes.values()):
                yield name, value, (name,)
            else:
                yield from ((key, inner, (name, key)) for key, inner in content.items())
        for home, fields in self.homes.items():
            content = _object(start.value.get(home))
            if content and fields:
                yield from self._misplaced(start, home, content, {letters(field) for field in fields})

    def _misplaced(
        self, start: Reading, home: str, content: Mapping[str, Any], spellings: set[str]
    ) -> Iterator[tuple[str, Any, Place]]:
        """Yield the fields of an object that are parameters beside it, taken out of it and of a frame around it."""
        if len(content) == 1 and letters(next(iter(content))) not in spellings:
            inner = _object(next(iter(content.values())))
            if inner is not None:
                start.note((home,), Change(content, inner))
                content = inner
        strange = [key for key in content if letters(key) not in spellings and self._spelled(key) not in (None, home)]
        start.value[home] = {key: value for key, value in content.items() if key not in strange}
        yield from ((key, content[key], (home, key)) for key in strange)

    def _place(self, start: Reading, name: str, value: Any, source: Place, home: str | None) -> bool:
        """Put a value where its name belongs; return False if it belongs nowhere."""
        known = [other for other in self.row.parameters if other not in self.row.hidden_parameters]
        parameter = self._spelled(name) or (near_name(name, known) if home is None else None)
        if parameter is not None and parameter not in start.value:
            return _put(start, (parameter,), value, source)
        if parameter is not None and same(start.value[parameter], value):
            return True
        wanted = letters(name)
        fields = [field for field in self.homes.get(home or "", ()) if letters(field) == wanted]
        return len(fields) == 1 and home is not None and _put(start, (home, fields[0]), value, source)

    def _spelled(self, name: str) -> str | None:
        """Return the parameter that a name is, in whatever spelling."""
        row = self.row
        if name in row.parameters:
            return name
        alike = self.spellings.get(letters(name), ())
        return row.wire_names.get(name) or (alike[0] if len(alike) == 1 else None)

    # Sentences

    def described(self, reading: Reading) -> Iterator[Repaired]:
        """Yield a sentence for each change."""
        for place, change in list(reading.changes.items())[:_MOST]:
            name = line(visible(place_of(place)), _LONGEST_PLACE)
            message = f"{name}{self._sentence(place, change, reading.value)}"
            yield Repaired(name, message if not leaks(message) else f"{line(name, 40)} was read as declared")

    def _sentence(self, place: Place, change: Change, params: Any) -> str:
        """Return the change of a value, as the end of a sentence that begins with its place."""
        came = "" if not change.moved else f" was given as {line(visible(place_of(change.moved)), _LONGEST_PLACE)}"
        if change.moved is not None and same(change.before, change.now):
            return came
        now = at(params, [*map(str, place)])
        reading = f"{_shown(change.before)} was read as {_shown(change.now if now is MISSING else now)}"
        reading = "its value was read as its type has it" if self._is_secret(place) else reading
        return f"{came}, and {reading}" if came else f": {reading}"

    def _is_secret(self, place: Place) -> bool:
        return place[0] in self.sensitive or any(is_credential_header(step) for step in place if isinstance(step, str))

    def _hides(self, name: str, value: Any) -> bool:
        """Return True if a parameter may hold a secret: a number may be a count of tokens."""
        return name in self.sensitive or (isinstance(value, str) and self._is_secret((name,)))


def _put(reading: Reading, place: tuple[str, ...], value: Any, source: Place) -> bool:
    """Place a value as a parameter, or as a field of one; return False where another stands there."""
    *homes, name = place
    target = reading.value
    for home in homes:
        inner = target.get(home, {})
        if not isinstance(inner, dict):
            return False
        target[home] = dict(inner)
        target = target[home]
    if name in target:
        return False
    target[name] = value
    reading.note(place, Change(value, value, source))
    return True


def _object(value: Any) -> dict[str, Any] | None:
    parsed = structured(value) if isinstance(value, str) else value
    return parsed if isinstance(parsed, dict) else None


def _shown(value: Any) -> str:
    text = write_json(value, json.JSONEncoder(ensure_ascii=False, default=written).encode)
    return line(visible(text), _LONGEST_VALUE)
