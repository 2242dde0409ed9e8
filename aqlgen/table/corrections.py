"""The owner's corrections of a parameter or field: it is not required, has another type, or may be empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Decision, ParameterOverride
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import Json, Parameter
from aqlgen.schemas.dropped_fields import FieldDropper

CORRECTIONS: Final = frozenset({"required", "type", "allow_empty"})
"""The fields of a parameter's override that correct the document."""

_EMPTY: Final[Mapping[str, Mapping[str, Json]]] = {
    "array": {"type": "array", "maxItems": 0},
    "object": {"type": "object", "maxProperties": 0},
}
_NO_TEXT: Final[Mapping[str, Json]] = {"type": "string", "maxLength": 0}
_NONE: Final = ParameterOverride()


def corrected(decision: Decision, resolver: Resolver) -> tuple[Decision, frozenset[str]]:
    """Return a decision whose operation is as the owner says, and the fields of its body that are corrected."""
    stated = {
        key: override
        for key, override in decision.override.parameters.items()
        if not CORRECTIONS.isdisjoint(override.places)
    }
    operation = decision.operation
    if not stated:
        return decision, frozenset()
    parameters = tuple(_corrected(parameter, stated, resolver) for parameter in operation.parameters)
    wires = {parameter.name for parameter in parameters}
    overrides = {
        key.removeprefix("body:"): each for key, each in stated.items() if key.startswith("body:") or key not in wires
    }
    fields: set[str] = set()

    def field(name: str, raw: Json) -> Json:
        if name not in overrides:
            return raw
        fields.add(name)
        return _schema(raw, overrides[name], resolver)

    def optional(name: str) -> bool:
        return overrides.get(name, _NONE).required is False

    body = operation.body
    if body is not None and overrides:
        editor = FieldDropper(resolver, lambda _: False, corrected=field, optional=optional)
        media = (
            replace(part, schema=editor.without(part.schema, f"{part.origin.pointer}/schema")) for part in body.media
        )
        body = replace(body, media=tuple(media))
    return replace(decision, operation=replace(operation, parameters=parameters, body=body)), frozenset(fields)


def _corrected(parameter: Parameter, stated: Mapping[str, ParameterOverride], resolver: Resolver) -> Parameter:
    keys = (f"{parameter.location.value}:{parameter.name}", parameter.name)
    override = next((stated[key] for key in keys if key in stated), None)
    if override is None:
        return parameter
    schema = _schema(parameter.schema, override, resolver)
    required = parameter.required if override.required is None else override.required
    fixed = parameter.fixed if required == parameter.required else None
    return replace(parameter, schema=schema, required=required, fixed=fixed)


def _schema(raw: Json, override: ParameterOverride, resolver: Resolver) -> Json:
    """Return the schema of what the API takes; of another type, only its description is kept."""
    try:
        node, _ = resolver.follow(raw, "")
    except UnresolvedError:
        node = {}
    node = node if isinstance(node, dict) else {}
    if isinstance(override.type, list) and {*override.type} == {node.get("type"), "null"}:
        raw = {"anyOf": [raw, {"type": "null"}]}
    elif override.type is not None:
        raw = node = {"type": override.type} | {key: node[key] for key in ("description",) if key in node}
    return {"anyOf": [raw, _EMPTY.get(str(node.get("type")), _NO_TEXT)]} if override.allow_empty else raw
