"""A value for a finished schema, from its own examples where they fit, else made up: small, valid, always the same."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import rstr

from aqlgen.ir import Json

FORMATS: Mapping[str, str] = {
    "date-time": "2026-01-15T10:30:00Z",
    "date": "2026-01-15",
    "time": "10:30:00Z",
    "duration": "P1D",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ip": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/example",
    "iri-reference": "/example",
    "uri-template": "/example/{id}",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "json-pointer": "/example",
    "relative-json-pointer": "0",
    "regex": "^a",
    "byte": "aGVsbG8=",
    "binary": "aGVsbG8=",
}
MAX_DEPTH = 8
VARIANTS = 4


class ValueMaker:
    """Makes values for schemas of one adapter; `types` are its finished types by name."""

    def __init__(self, types: Mapping[str, Mapping[str, Json]]) -> None:
        self._types = types

    def candidates(self, schema: Mapping[str, Json], least: int = 0) -> Iterator[Json]:
        """Give values to try, the best first: by the schema's own examples, then without, then other alternatives.

        An object has at least `least` of its properties, where it has so many.
        """
        for variant in range(VARIANTS):
            yield _Making(self._types, variant, least).make(schema, 0)


@dataclass(frozen=True, slots=True)
class _Making:
    """One way to make values: variant 0 trusts examples and takes first alternatives, the others vary."""

    types: Mapping[str, Mapping[str, Json]]
    variant: int
    least: int

    def make(self, schema: Mapping[str, Json], depth: int) -> Json:
        if "$ref" in schema:
            return self.make(self.types.get(schema["$ref"].rsplit("/", 1)[-1], {}), depth + 1)
        for key in ("const", "default"):
            if schema.get(key) is not None and (key == "const" or self.variant == 0):
                return schema[key]
        if schema.get("examples") and self.variant == 0:
            return schema["examples"][0]
        if schema.get("enum"):
            return schema["enum"][0]
        if schema.get("anyOf") and "properties" not in schema:
            return self.make(self._choose(schema["anyOf"]), depth + 1)
        kind = schema.get("type")
        kind = next((one for one in kind if one != "null"), "null") if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema or "allOf" in schema:
            return self._object(schema, depth)
        if kind == "array" or "items" in schema:
            return self._array(schema, depth)
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        if kind == "boolean":
            return True
        return None if kind == "null" else _string(schema)

    def _choose(self, branches: list[Mapping[str, Json]]) -> Mapping[str, Json]:
        simple = [one for one in branches if one.get("type") in ("string", "integer", "number", "boolean")]
        return simple[0] if simple and self.variant == 0 else branches[self.variant % len(branches)]

    def _object(self, schema: Mapping[str, Json], depth: int) -> Json:
        made: dict[str, Json] = {}
        properties: dict[str, Json] = dict(schema.get("properties", {}))
        required = list(schema.get("required", ()))
        for part in (*schema.get("allOf", ()), *([self._choose(schema["anyOf"])] if schema.get("anyOf") else ())):
            if "$ref" not in part and not ("type" in part or "anyOf" in part or "allOf" in part):
                properties |= part.get("properties", {})
                required += part.get("required", ())
            elif isinstance(value := self.make(part, depth + 1), dict):
                made.update(value)
        if depth > MAX_DEPTH:
            return made
        more = max(self.variant, self.least if depth <= 1 else 0)
        wanted = max(schema.get("minProperties", 0), more if not required and properties else 0)
        for name in dict.fromkeys([*required, *list(properties)[:wanted]]):
            made[name] = self.make(properties.get(name, {}), depth + 1)
        if not properties and len(made) < wanted:
            rest = schema.get("additionalProperties")
            made["key"] = self.make(rest if isinstance(rest, Mapping) else {}, depth + 1)
        return made

    def _array(self, schema: Mapping[str, Json], depth: int) -> Json:
        fixed = [self.make(one, depth + 1) for one in schema.get("prefixItems", ())]
        items = schema.get("items")
        if not isinstance(items, Mapping) or depth > MAX_DEPTH:
            return fixed
        wanted = max(schema.get("minItems", 0), 1)
        value = self.make(items, depth + 1)
        if wanted > 1 and schema.get("uniqueItems") is True:
            return fixed or [
                items["enum"][index % len(items["enum"])] if "enum" in items else _other(value, index)
                for index in range(wanted)
            ]
        return fixed or [value] * wanted


def _other(value: Json, index: int) -> Json:
    """Give another value of the same kind for each index."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + index
    return f"{value}{index}" if isinstance(value, str) and index else value


def _number(schema: Mapping[str, Json], *, whole: bool) -> Json:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    value: float = 1
    if low is not None and value <= low:
        value = low + (1 if "exclusiveMinimum" in schema else 0)
    if high is not None and value > high:
        value = high - (1 if "exclusiveMaximum" in schema else 0)
    step = schema.get("multipleOf")
    if step and value % step:
        value = step * max(1, -(-value // step))
    return int(value) if whole or value == int(value) else value


def _string(schema: Mapping[str, Json]) -> str:
    low, high = schema.get("minLength", 0), schema.get("maxLength", 10**6)
    if schema.get("pattern"):
        return _matching(str(schema["pattern"]), low, high)
    if schema.get("contentEncoding") == "base64":
        return FORMATS["byte"]
    known = FORMATS.get(str(schema.get("format")))
    if known is not None:
        return known
    text = "example" * (int(low) // 7 + 1)
    return text[: max(low, 7) if max(low, 7) <= high else high]


def _matching(pattern: str, low: int, high: int) -> str:
    """Give a string that matches a pattern, of a fitting length where a few tries find one."""
    found: str = ""
    for seed in range(6):
        try:
            found = str(rstr.Rstr(random.Random(seed)).xeger(pattern))  # noqa: S311
        except Exception:  # noqa: BLE001 - the library raises what `re` raises, and more, on patterns of other dialects
            return "example"
        if low <= len(found) <= high:
            break
    return found
