"""Values of the document's schemas: what a call gives, and what the API answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .document import Document
from .schemas import compiles

ABSENT: Any = object()  # the value of what cannot be sampled, or is not there
_TEXTS = {
    "date": "2026-03-{:02}", "date-time": "2026-03-{:02}T09:30:00Z", "time": "09:30:{:02}Z", "duration": "P{}D",
    "email": "ada{}@example.com", "uri": "https://example.com/{}", "url": "https://example.com/{}",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66af{:02}", "ipv4": "192.0.2.{}", "ipv6": "2001:db8::{}",
    "hostname": "host{}.example.com", "byte": "aGVsbG8=", "binary": "aGVsbG8=",
}  # fmt: skip
_GUESSES = ("a", "A", "1", "abc", "ABC", "1234", "abc-1", "a1b2c3d4", "2026-03-01")
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_DYNAMIC = ("$recursiveRef", "$dynamicRef")  # which lead to a schema of whoever refers
_PARTS = ("allOf", "oneOf", "anyOf", "properties", "required")
_ORDER = ("object", "array", "string", "integer", "number", "boolean")
_SIGNS = ("", ' "b" c', "&=/?#+%\\")  # what texts end with, by the turn: it must be encoded, wherever it is sent
SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
LONGEST = 300
_DEEPEST = 4
_MOST_STEPS = 1000  # values and the parts of their schemas
_LEADS = frozenset(("http", "url", "uri"))


def sample(document: Document, schema: Any, turn: int = 0, *, name: str = "", answers: bool = False) -> Any:
    """Return a value of a schema, ABSENT if none is known that is valid; `turn` chooses among the possible ones.

    The more steps a sample takes, the fewer levels of it have optional properties.
    """
    schema, value, mark = document.deref(schema), ABSENT, "writeOnly" if answers else "readOnly"
    key = id(schema), turn, name, mark
    if key not in document.samples:
        for levels in range(_DEEPEST, -1, -1):
            left = iter(range(_MOST_STEPS))
            value = _Sampler(document, turn, mark, levels, left).value(schema, name)
            if next(left, None) is not None:
                break
        is_valid = value is ABSENT or answers or not document.problems(schema, value)
        document.samples[key] = schema, value if is_valid else ABSENT
    return document.samples[key][1]


def apart(value: Any, style: str) -> Any:
    """Return a list or an object of a style without what separates its items within them."""
    separator = SEPARATORS.get(style)
    if separator is None or not isinstance(value, list | dict):
        return value
    items = {key: each.replace(separator, "-") if isinstance(each, str) else each for key, each in _entries(value)}
    return items if isinstance(value, dict) else [*items.values()]


def _entries(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else enumerate(value)


class _Sampler:
    """Makes one value of each schema, without the properties that have a mark, while `left` counts on.

    Optional properties are in the first `levels` of a value.
    """

    def __init__(self, document: Document, turn: int, beside: str, levels: int, left: Iterator[int]) -> None:
        self._document, self._turn, self._beside, self._levels, self._left = document, turn, beside, levels, left

    def value(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        """Return a value, ABSENT if none is known."""
        schema = self._whole(schema)
        if next(self._left, None) is None:
            return ABSENT
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list):
            members = [each for each in schema["enum"] if each is not None]
            return members[self._turn % len(members)] if members else None
        kinds = self._document.kinds(schema) - {"null"}
        kind = "object" if "properties" in schema else next((each for each in _ORDER if each in kinds), "string")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind == "boolean":
            return self._turn % 2 == 0
        guesses = self._texts(schema, name) if kind == "string" else self._numbers(schema)
        valid = (each for each in guesses if not (each is None or self._document.problems(schema, each)))
        return next(valid, ABSENT)

    def _whole(self, schema: Any) -> Mapping[str, Any]:
        schema = self._document.deref(schema)
        key, known = (id(schema), self._turn), self._document.flat
        if key in known:
            return known[key][1]
        whole = self._flat(schema)
        if next(self._left, None) is not None:
            known[key] = schema, whole
        return whole

    def _flat(self, schema: Any, depth: int = 0, *, is_part: bool = False) -> Mapping[str, Any]:
        """Return a schema with the properties of its parts, and of one of its alternatives; a part has no subtypes."""
        schema = self._document.deref(schema)
        if not isinstance(schema, dict) or depth > 2 * _DEEPEST or next(self._left, None) is None:
            return {}
        parts, subtypes = schema.get("allOf") or (), [] if is_part else self._document.subtypes(schema)
        is_base = not self._document.joins(schema)
        known = [schema, *(self._flat(part, depth + 1, is_part=is_base) for part in parts)]
        known += [self._flat(part, depth + 1) for part in self._chosen(schema, subtypes)]
        if len(known) == 1:
            return schema
        whole = {key: value for part in known for key, value in part.items() if key not in _PARTS}
        properties = self._document.properties({**schema, "oneOf": (), "anyOf": (), "allOf": known[1:]})
        required = [name for part in known for name in part.get("required") or ()]
        return {**whole, **({"properties": properties, "required": required} if properties or required else {})}

    def _chosen(self, schema: Mapping[str, Any], subtypes: list[Any]) -> Iterator[Any]:
        """Yield one of the alternatives of each list."""
        for listed in (schema.get("oneOf"), schema.get("anyOf"), subtypes):
            options = [each for each in listed or () if self._document.kinds(each) != {"null"}
                       and (not isinstance(each, dict) or each.keys().isdisjoint(_DYNAMIC))]  # fmt: skip
            if options:
                yield self._told_apart(schema, options[self._turn % len(options)])

    def _told_apart(self, schema: Mapping[str, Any], chosen: Any) -> Any:
        """Return an alternative with the value by which it is known (OpenAPI, Discriminator Object)."""
        inherited = self._document.discriminators.get(id(schema), {})
        discriminator, reference = schema.get("discriminator") or inherited, str(chosen.get("$ref", ""))
        discriminator = {"propertyName": discriminator} if isinstance(discriminator, str) else discriminator
        field, last = str(discriminator.get("propertyName")), reference.rpartition("/")[2]
        names = {str(target): key for key, target in (discriminator.get("mapping") or {}).items()}
        stated = self._document.at(chosen).get("x-discriminator-value", last)
        value, whole = names.get(reference, names.get(last, stated)), {**schema, "allOf": [chosen]}
        tag = self._document.properties({**whole, "oneOf": [], "anyOf": []}).get(field, {})
        if not reference or field not in self._document.properties(whole) or self._document.problems(tag, value):
            return chosen  # which says itself what it is known by
        return {"allOf": [chosen, {"properties": {field: {"const": value}}}]}

    def _object(self, schema: Mapping[str, Any], depth: int) -> Any:
        required, properties = schema.get("required") or (), schema.get("properties") or {}
        value: dict[str, Any] = {name: "x" for name in required if name not in properties}
        for name, each in properties.items():
            is_near = depth < (10 if name in required else self._levels)
            if is_near and not self._document.is_marked(each, self._beside):
                value[name] = self.value(each, name, depth + 1)
        extra = schema.get("additionalProperties")
        if not value and isinstance(extra, dict) and depth < self._levels:
            value["key"] = self.value(extra, "key", depth + 1)
        return {name: each for name, each in value.items() if each is not ABSENT}

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 99))
        count = 0 if depth > self._levels else max(least, min(most, 2 if self._turn % 3 else 1))
        turns = range(self._turn, self._turn + min(count, 20))
        samplers = [_Sampler(self._document, turn, self._beside, self._levels, self._left) for turn in turns]
        items = [each.value(schema.get("items", {}), name, depth + 1) for each in samplers]
        return list({json.dumps(each, default=str): each for each in items}.values()) if ABSENT not in items else ABSENT

    def _numbers(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        known = [schema[word] for word in BOUNDS if type(schema.get(word)) in (int, float)]
        bounds = [each for each in known if abs(each) < 2**53]
        step, at = schema.get("multipleOf") or 1, self._turn % max(1, len(bounds))
        first = [*bounds[at:], *bounds] if self._turn or "minimum" in schema else []
        half = [7.5] if schema.get("type") == "number" and self._turn % 2 else []
        for each in (*half, *first, 7 + self._turn, 7, *bounds, *(each + sign for each in bounds for sign in (1, -1))):
            for value in (each, math.ceil(each / step) * step):
                yield int(value) if float(value).is_integer() else value

    def _texts(self, schema: Mapping[str, Any], name: str) -> Iterator[Any]:
        if "pattern" in schema and not compiles(str(schema["pattern"])):  # nothing is known to be valid
            return
        stated = f"{str(schema.get('example'))[:4]} {str(schema.get('description'))[:40]}".lower()  # "A URL that …"
        words = re.findall(r"[a-z]++", stated)[:4] if self._beside == "writeOnly" else []
        form = "uri" if _LEADS.intersection(words) else str(schema.get("format", ""))
        form = "binary" if schema.get("type") == "file" or "contentMediaType" in schema else form
        if form in _TEXTS and "pattern" not in schema:
            yield _TEXTS[form].format(self._turn % 9 + 1)
        least, most = int(schema.get("minLength") or 0), int(schema.get("maxLength") or LONGEST)
        sign = _SIGNS[self._turn % 3] if self._beside == "readOnly" else ""
        text = f"{re.sub('[^a-z]', '', name.lower()) or 'text'}-{self._turn + 1}{sign}"
        longest = most if most < LONGEST and self._turn % 3 == 1 else least
        examples: Any = schema.get("examples")
        examples = examples if isinstance(examples, list) else []
        yield from (text.ljust(longest, "x")[:most], schema.get("example"), schema.get("default"), *examples, *_GUESSES)
