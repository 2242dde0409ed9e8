"""What overrides say of parameters, bodies and examples, applied where the table knows them.

An override that fits none of the operations that it is for is unmatched; what fits but cannot be done is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aqlgen.decide.overrides import finding, nearest, unmatched
from aqlgen.decisions import Decision, ParameterOverride, Place
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import MISSING, Json
from aqlgen.runtime.table import Parameter
from aqlgen.schemas.types import Types
from aqlgen.table.bodies import sendable
from aqlgen.table.examples import ExampleMaker

__all__ = ["Overruled"]

PLACES = ("path", "query", "header", "cookie", "body")


class Overruled:
    """Applies the overrides of an adapter; `file` is where they were read from."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._matched: set[Place] = set()
        self._unmatched: dict[Place, Diagnostic] = {}
        self._bad: dict[tuple[Place, str], Diagnostic] = {}

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        """What is wrong, in the order of the file."""
        every = (*self._unmatched.values(), *self._bad.values())
        return tuple(sorted(every, key=lambda one: (one.line, one.column)))

    def content_type(self, decision: Decision, types: Types) -> str | None:
        """Give the content type that the user chose for the body, if the operation takes it."""
        wanted, body = decision.override.content_type, decision.operation.body
        if wanted is None:
            return None
        place = decision.override.places["content_type"]
        offered = sendable(body, types) if body is not None else []
        if wanted in offered:
            self._fits(place)
            return wanted
        has = f"no body of type `{wanted}` that can be sent" if offered else "no body"
        hint = nearest(wanted, offered, "content type") if offered else "Leave the line out."
        self._misses(place, f"{decision.operation.key} has {has}", hint)
        return None

    def parameters(self, decision: Decision, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
        """Give the parameters as the user wants them; names that are not the user's make way for those that are."""
        given: dict[int, ParameterOverride] = {}
        for key, override in decision.override.parameters.items():
            index = self._find(decision, key, override.place, parameters)
            if index is not None:
                given[index] = override
        self._paging(decision, parameters)
        if not given:
            return tuple(parameters)
        named = self._named(given, parameters)
        taken = set(named.values())
        found = []
        for index, parameter in enumerate(parameters):
            name = named.get(index) or _aside(parameter.name, parameter.location, taken)
            taken.add(name)
            one = replace(parameter, name=name)
            if index in given:
                if given[index].hidden and not self._hidable(given[index], parameter):
                    continue
                one = self._changed(one, given[index])
            found.append(one)
        return tuple(found)

    def given(
        self, decision: Decision, parameters: Sequence[Parameter], maker: ExampleMaker
    ) -> tuple[Mapping[str, Json] | None, Mapping[str, Json]]:
        """Give the user's own example call, None when there is none, and the user's examples of single parameters."""
        singles = {}
        for key, override in decision.override.parameters.items():
            if override.example is not MISSING:
                index = _match(key, parameters)
                if len(index) == 1 and self._valid(
                    maker, parameters[index[0]], override.example, override.places["example"]
                ):
                    singles[parameters[index[0]].name] = override.example
        call = decision.override.example
        if call is None:
            return None, singles
        return (call if self._callable(decision, parameters, call, maker) else None), singles

    def _callable(
        self, decision: Decision, parameters: Sequence[Parameter], call: Mapping[str, Json], maker: ExampleMaker
    ) -> bool:
        place, by_name = decision.override.places["example"], {one.name: one for one in parameters}
        count = len(self._bad)
        for name, value in call.items():
            if name not in by_name:
                self._wrong(place, f"the example has no parameter `{name}`", nearest(name, by_name, "parameter"))
            else:
                self._valid(maker, by_name[name], value, place)
        lacking = [one.name for one in parameters if one.required and one.name not in call]
        if lacking:
            self._wrong(place, f"the example lacks `{'`, `'.join(lacking)}`", "Each required parameter needs a value.")
        return len(self._bad) == count

    def _valid(self, maker: ExampleMaker, parameter: Parameter, value: Json, place: Place) -> bool:
        problem = maker.problem(parameter.schema, value)
        if problem is None:
            return True
        self._wrong(place, f"the example of `{parameter.name}` does not fit: {problem}", "Give a value that is valid.")
        return False

    def _find(self, decision: Decision, key: str, place: Place, parameters: Sequence[Parameter]) -> int | None:
        matches = _match(key, parameters)
        if len(matches) == 1:
            self._fits(place)
            return matches[0]
        if matches:
            ways = " or ".join(f"`{_where(parameters[one])}:{parameters[one].wire}`" for one in matches)
            self._wrong(place, f"`{key}` stands for several parameters of {decision.operation.key}", f"Write {ways}.")
            return None
        wires = {one.wire: None for one in parameters}
        hint = nearest(key, wires, "parameter")
        if any(one.wire == "input" and one.location == "body" for one in parameters):
            hint += " The fields of an update's body are those of `input`."
        self._misses(place, f"{decision.operation.key} has no parameter `{key}`", hint)
        return None

    def _named(self, given: Mapping[int, ParameterOverride], parameters: Sequence[Parameter]) -> dict[int, str]:
        found: dict[int, str] = {}
        owners: dict[str, str] = {}
        for index, override in given.items():
            parameter = parameters[index]
            if override.name is None:
                continue
            place = override.places["name"]
            if parameter.location == "body_rest" or (parameter.location == "body" and parameter.wire in WHOLE):
                if override.name != parameter.name:
                    self._wrong(place, f"`{parameter.name}` stands for the body and keeps its name", "Leave it out.")
                continue
            owner = owners.setdefault(override.name, parameter.wire)
            if owner != parameter.wire:
                self._wrong(
                    place,
                    f"the name `{override.name}` is taken by the parameter `{owner}`",
                    "Give each parameter its own name.",
                )
                continue
            found[index] = override.name
        return found

    def _hidable(self, override: ParameterOverride, parameter: Parameter) -> bool:
        if parameter.required:
            message = f"`{parameter.wire}` is required and cannot be hidden"
            self._wrong(override.places["hidden"], message, "Hide the operation, or describe the parameter.")
        return parameter.required

    def _changed(self, parameter: Parameter, override: ParameterOverride) -> Parameter:
        changes: dict[str, Any] = {}
        if override.description is not None:
            changes["description"] = override.description
        if override.sensitive is not None:
            changes["sensitive"] = override.sensitive
        if override.example is not MISSING:
            changes["schema"] = {**parameter.schema, "examples": [override.example]}
        return replace(parameter, **changes)

    def _paging(self, decision: Decision, parameters: Sequence[Parameter]) -> None:
        """Check that the parameters that page are the operation's."""
        stated = decision.override.pagination
        if not stated or stated.within is not None:
            return
        place = decision.override.places["pagination"]
        own = stated.location or "query"
        wires = {one.wire: None for one in parameters if _where(one) == own}
        for _, wire in stated.roles:
            if wire not in wires:
                message = f"{decision.operation.key} has no parameter `{wire}` in its {own}"
                self._misses(place, message, nearest(wire, wires, "parameter"))
                return
        self._fits(place)

    def _fits(self, place: Place) -> None:
        self._matched.add(place)
        self._unmatched.pop(place, None)

    def _misses(self, place: Place, message: str, help: str) -> None:
        if place not in self._matched:
            self._unmatched.setdefault(place, unmatched(self._file, place, message, help))

    def _wrong(self, place: Place, message: str, help: str) -> None:
        self._bad.setdefault((place, message), finding(self._file, place, message, help))


WHOLE = frozenset({"input", "body"})
"""How a body that is one parameter is called."""


def _where(parameter: Parameter) -> str:
    return parameter.location.split("_")[0]


def _match(key: str, parameters: Sequence[Parameter]) -> list[int]:
    """Give the parameters of a wire name, bare or behind its place."""
    found = [index for index, one in enumerate(parameters) if one.wire == key]
    place, colon, wire = key.partition(":")
    if found or not colon or place not in PLACES:
        return found
    return [index for index, one in enumerate(parameters) if one.wire == wire and _where(one) == place]


def _aside(name: str, location: str, taken: set[str]) -> str:
    """Give a name that is not taken, by saying where the parameter travels."""
    while name in taken:
        name = f"{location.split('_')[0]}_{name}"
    return name
