"""Values for parameters, generated only from what introspection says about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aqlgen.table.sample_scalars import matching_text

FORMATS = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "P1D",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/a",
    "url": "https://example.com/a",
    "uri-reference": "/a",
    "byte": "ZXhhbXBsZQ==",
    "binary": "ZXhhbXBsZQ==",
    "decimal": "1.5",
    "int64": "12",
    "int32": "12",
    "regex": "a.c",
    "json-pointer": "/a",
}
SCALARS = ("string", "integer", "number", "boolean", "object", "array", "any", "null")
COUNTED = re.compile(r"Items: (\d+) (?:or more|to (\d+))")
STEP = re.compile(r"A multiple of ([\d.]+)\.")
BOUND = re.compile(r"(Above|Below) (-?[\d.]+)\.")
ALTERNATIVES = re.compile(r"(?:The rest is o|O)ne of: (.+?)\.(?: [A-Z]|$)", re.DOTALL)
EVERY = re.compile(r"(?:Every value is|Keys of any other name hold) (.+?)\.(?: |$)")
ARRAY = re.compile(r"array of (.+)")
DISCRIMINATOR = re.compile(r"Told apart by (\S+): ([^.]*)")
DETAILED_SCALAR = re.compile(r"(string|integer|number|boolean) \((.+)\)", re.DOTALL)
RANGE = re.compile(r"(?:(-?[\d.]+) (?:to (-?[\d.]+)|or more)|up to (-?[\d.]+))")
DEEPEST = 5


class Values:
    """A generator of values; `types` are the details of the types by name, each read at its first use."""

    def __init__(self, types: Mapping[str, Mapping[str, Any]], *, everything: bool) -> None:
        self._types = types
        self._everything = everything

    def of(self, info: Mapping[str, Any], depth: int = 0) -> Any:
        """Return a value for a ParameterInfo or FieldInfo."""
        if info.get("enum"):
            return info["enum"][0]
        description, kind = str(info.get("description", "")), info["type"]
        if kind not in SCALARS:
            return self._named(kind, depth)
        if kind == "any":
            return self._any(info, description, depth)
        if kind == "array":
            return self._array(info, description, depth)
        if kind == "object":
            match = EVERY.search(description)
            return {"key": self._phrase(match[1], depth + 1)} if match and depth < DEEPEST else {}
        return _scalar(info, kind, description)

    def _any(self, info: Mapping[str, Any], description: str, depth: int) -> Any:
        if "default" in info:
            return info["default"]
        match = ALTERNATIVES.search(description)
        return self._phrase(match[1], depth) if match else _scalar(info, "string", description)

    def _array(self, info: Mapping[str, Any], description: str, depth: int) -> list[Any]:
        match = COUNTED.search(description)
        least = int(match[1]) if match else 0
        most = int(match[2]) if match and match[2] else least + 1
        if depth >= DEEPEST * (2 if least else 1):
            return []
        item = self.of(info.get("items", {"type": "string"}), depth + 1)
        count = max(least, min(1, most))
        if count > 1 and "No item twice" in description:
            options = info.get("items", {}).get("enum")
            return options[:count] if options else [_other(item, index) for index in range(count)]
        return [item] * count

    def _phrase(self, text: str, depth: int) -> Any:
        """Return a value for the first of the alternatives that a sentence names."""
        first = _first(text)
        if first[:1] in "'\"":
            return first.strip("'\"")
        scalar = DETAILED_SCALAR.fullmatch(first)
        if scalar:
            return _of_words(scalar[1], scalar[2])
        first = first.split(" or ")[0].strip()
        listed = ARRAY.fullmatch(first)
        if listed:
            return [] if depth >= DEEPEST else [self._phrase(listed[1], depth + 1)]
        word = first.split(" ")[0]
        if word in SCALARS:
            return (
                {} if word == "object" else None if word == "null" else [] if word == "array" else _scalar({}, word, "")
            )
        plain = {"text": "string", "integers": "integer", "strings": "string", "numbers": "number"}.get(word)
        return _scalar({}, plain, "") if plain else self._named(word, depth)

    def _named(self, name: str, depth: int) -> Any:
        details = self._types.get(name)
        if details is None:
            return "example"
        if str(details.get("description", "")).startswith("A file: its bytes"):
            return FORMATS["byte"]
        if details["kind"] == "enum":
            return details["values"][0]
        description = str(details.get("description", ""))
        if details["kind"] == "object":
            return self._object(details, description, depth)
        if details["kind"] == "union":
            if depth >= DEEPEST * 2:
                return {}
            members = details["members"]
            chosen = next((member for member in members if member not in SCALARS), members[0])
            if chosen in SCALARS and (rest := ALTERNATIVES.search(description)):
                return self._phrase(rest[1], depth + 1)
            return _discriminated(self._phrase(chosen, depth + 1), chosen, description)
        match = re.search(r"(?:^|\. )(Array of [^.]+|String[^.]*|Integer[^.]*|Number[^.]*|Boolean[^.]*)\.", description)
        chosen = re.search(r"One of ([^,.]+)", description)
        if chosen and not match:
            return _literal(chosen[1].strip())
        return (
            self._phrase(match[1][0].lower() + match[1][1:], depth + 1) if match else _scalar({}, "string", description)
        )

    def _object(self, details: Mapping[str, Any], description: str, depth: int) -> Any:
        fields = details.get("fields", ())
        wanted = [item for item in fields if item["required"] or (self._everything and depth < 2)]
        value = {
            item["name"]: self.of(item, depth + 1)
            for item in wanted
            if "Read-only." not in str(item.get("description", "")) and (item["required"] or depth < DEEPEST)
        }
        for name in needed(description, value):
            value |= {item["name"]: self.of(item, depth + 1) for item in fields if item["name"] == name}
        for name in excluded(description):
            value.pop(name, None)
        rest = ALTERNATIVES.search(description)
        if rest and depth < DEEPEST:
            more = _discriminated(self._phrase(rest[1], depth + 1), rest[1].split(", ")[0], description)
            value = {**more, **value} if isinstance(more, dict) else value
        match = EVERY.search(description)
        if not fields and match and depth < DEEPEST:
            value["key"] = self._phrase(match[1], depth + 1)
        return value


def needed(description: str, value: Mapping[str, Any]) -> list[str]:
    """Return the fields of the first choice, where one of several has to be made and none is yet."""
    match = re.search(r"Needs (.+?)\.(?: [A-Z]|$)", description)
    choices = [choice.split(" and ") for choice in match[1].split(", or ")] if match else []
    return [] if not choices or any(set(choice) <= value.keys() for choice in choices) else choices[0]


def excluded(description: str) -> list[str]:
    """Return the fields that must not be there beside the first of those that exclude one another."""
    match = re.search(r"(?:^|\. )Not (.+?) together\.(?: [A-Z]|$)", description)
    return match[1].split(" and ")[1:] if match else []


def _discriminated(value: Any, member: str, description: str) -> Any:
    """Return an alternative the value of the field that tells it from the others."""
    field = DISCRIMINATOR.search(description)
    if field and isinstance(value, dict):
        for meaning in field[2].split(", "):
            name, _, target = meaning.rpartition(" is ")
            if target == member:
                return {**value, field[1]: name.strip("'\"`")}
    return value


def _first(text: str) -> str:
    """Return the first of the alternatives that commas part; those within brackets part nothing."""
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth and text.startswith(", ", index):
            return text[:index].strip()
    return text.strip()


def _of_words(kind: str, words: str) -> Any:
    """Return a scalar of which a few words are told: its values, its range, its pattern, or its format."""
    if words[:1] in "'\"" or " | " in words:
        return _literal(words.split(" | ")[0])
    bounds = RANGE.fullmatch(words)
    if bounds:
        named = {"minimum": bounds[1], "maximum": bounds[2] or bounds[3]}
        return _scalar({key: float(bound) for key, bound in named.items() if bound is not None}, kind, "")
    if words.startswith("pattern "):
        return _scalar({"pattern": words.removeprefix("pattern ")}, kind, "")
    return _scalar({"format": words}, kind, "")


def _literal(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text.strip("'\"`")


def _other(value: Any, index: int) -> Any:
    if not index or isinstance(value, bool | dict | list) or value is None:
        return value
    return value + index if isinstance(value, int | float) else f"{value}{index}"


def _scalar(info: Mapping[str, Any], kind: str, description: str) -> Any:
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return _number(info, kind, description)
    if info.get("pattern"):
        wanted = info.get("minLength", 0)
        candidates = [
            candidate for more in range(65) if (candidate := matching_text(info["pattern"], more)) is not None
        ]
        if candidates:
            return next((candidate for candidate in candidates if len(candidate) >= wanted), candidates[-1])
    if info.get("format") in FORMATS:
        return FORMATS[info["format"]]
    least, most = info.get("minLength", 0), info.get("maxLength")
    text = "example" + "x" * max(0, least - 7)
    return text if most is None else text[:most]


def _number(info: Mapping[str, Any], kind: str, description: str) -> Any:
    low, high = info.get("minimum"), info.get("maximum")
    for word, bound in BOUND.findall(description):
        if word == "Above":
            low = float(bound) + 1
        else:
            high = float(bound) - 1
    value = low if low is not None else min(1, high) if high is not None else 1
    if high is not None and value > high:
        value = high
    step = STEP.search(description)
    if step and float(step[1]):
        each = float(step[1])
        value = each * max(1, -(-value // each))
    return int(value) if kind == "integer" or float(value).is_integer() else value
