"""Overrides of parameters, bodies and examples, applied to the rows of the table.

An override that fits none of its operations is unmatched; one that fits but cannot be applied is an error.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from aqlgen.decide.decision import Decision, ParameterOverride, Place
from aqlgen.decide.overrides import finding, nearest, unmatched
from aqlgen.decide.traits import follows
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import MISSING, Json
from aqlgen.runtime.table import Parameter as TableParameter
from aqlgen.runtime.table import Update
from aqlgen.schemas import Types
from aqlgen.table.bodies import sendable
from aqlgen.table.corrections import CORRECTIONS
from aqlgen.table.example_calls import ExampleMaker
from aqlgen.table.parameters import paged, paging_parameters

_NONE: Final = ParameterOverride()
_PLACES: Final = ("path", "query", "header", "cookie", "body")
_NOWHERE: Final = (0, 0)
"""The place of what a hand-written adapter element says: the parameter may be one that no adapter offers."""

_WHOLE_BODY: Final = frozenset({"input", "body"})
"""Names of a body that is one parameter."""


class OverrideApplier:
    """The overrides of an adapter, applied to one operation after the other; `file` is where they were read from."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._matched: set[Place] = set()
        self._unmatched: dict[Place, Diagnostic] = {}
        self._bad: dict[tuple[Place, str], Diagnostic] = {}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings, in the order of the file."""
        findings = (*self._unmatched.values(), *self._bad.values())
        return tuple(sorted(findings, key=lambda each: (each.line, each.column)))

    def content_type(self, decision: Decision, types: Types) -> str | None:
        """Return the content type that the user chose for the body, if the operation takes it."""
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

    def parameters(
        self,
        decision: Decision,
        parameters: Sequence[TableParameter],
        adapter_parameters: Sequence[TableParameter],
        changed: frozenset[str] = frozenset(),
        corrected: frozenset[str] = frozenset(),
    ) -> tuple[tuple[TableParameter, ...], tuple[TableParameter, ...]]:
        """Return the parameters with their overrides: those that are shown, and those whose value is fixed.

        Names that the user did not choose make way for those chosen, except the `adapter_parameters`. `changed` are
        the fields of an update's body for which the user wants a default: what a call does not name is to stay as it
        is. `corrected` are those that the user corrects.
        """
        overrides: dict[int, ParameterOverride] = {}
        for key, override in decision.override.parameters.items():
            if override.places.keys() <= CORRECTIONS and key.removeprefix("body:") in corrected:
                self._fits(override.place)
                continue
            index = self._find(decision, key, override.place, parameters, changed)
            if index is not None:
                overrides[index] = override
        self._check_paging(decision, parameters)
        self._check_send(decision)
        if not overrides:
            return tuple(parameters), ()
        self._check_free(decision, overrides, parameters)
        chosen = self._chosen_names(overrides, parameters, {parameter.name for parameter in adapter_parameters})
        taken = set(chosen.values())
        shown, fixed = [], []
        for index, parameter in enumerate(parameters):
            name = chosen.get(index) or _free_name(parameter.name, parameter.location, taken)
            taken.add(name)
            renamed, override = replace(parameter, name=name), overrides.get(index, _NONE)
            changed_parameter = _overridden(renamed, override)
            self._check_path(changed_parameter, override)
            if changed_parameter.preset is not None and (override.hidden or override.value is not MISSING):
                fixed.append(changed_parameter)
            elif not override.hidden or self._must_show(parameter, override):
                shown.append(changed_parameter)
        return tuple(shown), tuple(fixed)

    def preset_fields(self, decision: Decision, parameters: Sequence[TableParameter]) -> dict[str, bool]:
        """Return the names of what may be fields of an update's body that the owner presets, and if each is fixed.

        `parameters` are all others.
        """
        wires = {parameter.wire for parameter in parameters}
        return {
            key.removeprefix("body:"): override.value is not MISSING
            for key, override in decision.override.parameters.items()
            if _preset(override) is not MISSING and (key.startswith("body:") or key not in wires)
        }

    def check_values(self, decision: Decision, parameters: Sequence[TableParameter], maker: ExampleMaker) -> None:
        """Check the values that the user has sent against the schemas of their parameters."""
        for key, override in decision.override.parameters.items():
            field = "default" if override.value is MISSING else "value"
            value = _preset(override)
            matches = _match(key, parameters) if value is not MISSING else []
            if len(matches) != 1:
                continue
            parameter, place = parameters[matches[0]], override.places[field]
            problem = "null is not sent" if value is None else maker.problem(parameter.schema, value)
            if problem is None and parameter.location == "path" and str(value) in ("", ".", ".."):
                problem = "it would lead to another path"
            if problem is not None:
                message = f"the {field} of `{parameter.name}` does not fit: {problem}"
                self._refuse(place, message, "Give a value that is valid.")

    def examples(
        self, decision: Decision, parameters: Sequence[TableParameter], maker: ExampleMaker
    ) -> tuple[Mapping[str, Json] | None, Mapping[str, Json]]:
        """Return the user's example of a call, None when there is none, and those of single parameters, by name."""
        singles = {}
        for key, override in decision.override.parameters.items():
            matches = _match(key, parameters) if override.example is not MISSING else []
            if len(matches) == 1:
                parameter = parameters[matches[0]]
                if self._is_valid(maker, parameter, override.example, override.places["example"]):
                    singles[parameter.name] = override.example
        call = decision.override.example
        works = call is not None and self._is_callable(decision, parameters, call, maker)
        return (call if works else None), singles

    def _is_callable(
        self, decision: Decision, parameters: Sequence[TableParameter], call: Mapping[str, Json], maker: ExampleMaker
    ) -> bool:
        place = decision.override.places["example"]
        by_name = {parameter.name: parameter for parameter in parameters}
        count = len(self._bad)
        for name, value in call.items():
            if name in by_name:
                self._is_valid(maker, by_name[name], value, place)
            else:
                self._refuse(place, f"the example has no parameter `{name}`", nearest(name, by_name, "parameter"))
        missing = [parameter.name for parameter in parameters if parameter.required and parameter.name not in call]
        if missing:
            message = f"the example lacks `{'`, `'.join(missing)}`"
            self._refuse(place, message, "Each required parameter needs a value.")
        return len(self._bad) == count

    def _is_valid(self, maker: ExampleMaker, parameter: TableParameter, value: Json, place: Place) -> bool:
        problem = maker.problem(parameter.schema, value)
        if problem is not None:
            message = f"the example of `{parameter.name}` does not fit: {problem}"
            self._refuse(place, message, "Give a value that is valid.")
        return problem is None

    def _find(
        self,
        decision: Decision,
        key: str,
        place: Place,
        parameters: Sequence[TableParameter],
        changed: frozenset[str],
    ) -> int | None:
        matches = _match(key, parameters)
        if len(matches) == 1:
            self._fits(place)
            return matches[0]
        if matches:
            ways = " or ".join(f"`{_place_of(parameters[index])}:{parameters[index].wire}`" for index in matches)
            self._refuse(place, f"`{key}` matches several parameters of {decision.operation.key}", f"Write {ways}.")
            return None
        if key.removeprefix("body:") in changed:
            message = f"a default of `{key}` would overwrite fields that a call of {decision.operation.key} omits"
            self._misses(
                place, message, "Leave it out: the field keeps its value. Use `value` to send one with each update."
            )
            return None
        hint = nearest(key, {parameter.wire: None for parameter in parameters}, "parameter")
        if any(parameter.wire == "input" and parameter.location == "body" for parameter in parameters):
            hint += " The fields of an update's body are those of `input`."
        self._misses(place, f"{decision.operation.key} has no parameter `{key}`", hint)
        return None

    def _check_free(
        self, decision: Decision, overrides: Mapping[int, ParameterOverride], parameters: Sequence[TableParameter]
    ) -> None:
        """Refuse values of parameters that the adapter pages by itself."""
        paging = paged(decision)
        if paging is None:
            return
        _, leading = paging_parameters(paging, parameters)
        for index, override in overrides.items():
            if parameters[index] in leading and _preset(override) is not MISSING:
                place = override.places["default" if override.value is MISSING else "value"]
                message = (
                    f"the adapter sets `{parameters[index].wire}` itself, to page through {decision.operation.key}"
                )
                self._refuse(place, message, "Leave it out, or write `pagination: false` for the operation.")

    def _chosen_names(
        self, overrides: Mapping[int, ParameterOverride], parameters: Sequence[TableParameter], reserved: Container[str]
    ) -> dict[int, str]:
        names: dict[int, str] = {}
        owners: dict[str, str] = {}
        for index, override in overrides.items():
            parameter = parameters[index]
            if override.name is None:
                continue
            place = override.places["name"]
            if parameter.location == "body_rest" or (parameter.location == "body" and parameter.wire in _WHOLE_BODY):
                if override.name != parameter.name:
                    self._refuse(place, f"`{parameter.name}` is the body and keeps its name", "Leave it out.")
                continue
            owner = owners.setdefault(override.name, parameter.wire)
            if owner == parameter.wire and override.name not in reserved:
                names[index] = override.name
            elif owner != parameter.wire or place != _NOWHERE:
                owner = "of the adapter" if override.name in reserved else f"`{owner}`"
                message = f"the name `{override.name}` is taken by the parameter {owner}"
                self._refuse(place, message, "Give each parameter its own name.")
        return names

    def _check_path(self, parameter: TableParameter, override: ParameterOverride) -> None:
        """Refuse to leave a part of the path out, or empty."""
        if parameter.location != "path":
            return
        if override.required is False and parameter.preset is None:
            message = f"`{parameter.wire}` is a part of the path, which needs a value"
            self._refuse(override.places["required"], message, "Give it a `default` or a `value`.")
        if override.allow_empty:
            message = f"`{parameter.wire}` is a part of the path, which cannot be empty"
            self._refuse(override.places["allow_empty"], message, "Leave it out.")

    def _must_show(self, parameter: TableParameter, override: ParameterOverride) -> bool:
        if parameter.required:
            message = f"`{parameter.wire}` is required and cannot be hidden"
            self._refuse(override.places["hidden"], message, "Hide the operation, or describe the parameter.")
        return parameter.required

    def _check_paging(self, decision: Decision, parameters: Sequence[TableParameter]) -> None:
        """Check that the parameters of the paging are parameters of the operation."""
        stated = decision.override.pagination
        if not stated or stated.within is not None:
            return
        place = decision.override.places["pagination"]
        where = stated.location or "query"
        wires = {parameter.wire: None for parameter in parameters if _place_of(parameter) == where}
        for _, wire in stated.roles:
            if wire not in wires:
                message = f"{decision.operation.key} has no parameter `{wire}` in its {where}"
                self._misses(place, message, nearest(wire, wires, "parameter"))
                return
        self._fits(place)

    def _check_send(self, decision: Decision) -> None:
        """Check that the operation is an update that can send what the owner says."""
        send = decision.override.send
        if send is None:
            return
        trait = next((each for each in decision.traits if isinstance(each.value, Update)), None)
        place, key = decision.override.places["send"], decision.operation.key
        if trait is None:
            self._misses(place, f"{key} is not an update with a body", "Leave it out.")
        elif not follows(trait.value, send):
            hint = "Leave it out, or let an overlay give it a GET that reads the resource by the same parameters."
            self._misses(place, f"{key} cannot send the whole: {trait.reason.note}", hint)
        else:
            self._fits(place)

    def _fits(self, place: Place) -> None:
        self._matched.add(place)
        self._unmatched.pop(place, None)

    def _misses(self, place: Place, message: str, help: str) -> None:
        if place != _NOWHERE and place not in self._matched:
            self._unmatched.setdefault(place, unmatched(self._file, place, message, help))

    def _refuse(self, place: Place, message: str, help: str) -> None:
        self._bad.setdefault((place, message), finding(self._file, place, message, help))


def _overridden(parameter: TableParameter, override: ParameterOverride) -> TableParameter:
    changes: dict[str, Any] = {}
    if override.description is not None:
        changes["description"] = override.description
    if override.sensitive is not None:
        changes["sensitive"] = override.sensitive
    if override.example is not MISSING:
        changes["schema"] = {**parameter.schema, "examples": [override.example]}
    value = _preset(override)
    if value is not MISSING:
        changes |= {"preset": value, "required": False}
        if not changes.get("sensitive", parameter.sensitive):
            changes["schema"] = {**changes.get("schema", parameter.schema), "default": value}
    return replace(parameter, **changes)


def _preset(override: ParameterOverride) -> Json:
    """Return the value that is sent without the agent's word, MISSING for none."""
    return override.default if override.value is MISSING else override.value


def _place_of(parameter: TableParameter) -> str:
    return parameter.location.split("_")[0]


def _match(key: str, parameters: Sequence[TableParameter]) -> list[int]:
    """Return the indexes of the parameters of a wire name, which may stand behind its place: `query:page`."""
    matches = [index for index, parameter in enumerate(parameters) if parameter.wire == key]
    place, colon, wire = key.partition(":")
    if matches or not colon or place not in _PLACES:
        return matches
    return [
        index for index, parameter in enumerate(parameters) if parameter.wire == wire and _place_of(parameter) == place
    ]


def _free_name(name: str, location: str, taken: set[str]) -> str:
    """Return a name that is not taken, by saying where the parameter travels."""
    while name in taken:
        name = f"{location.split('_')[0]}_{name}"
    return name
