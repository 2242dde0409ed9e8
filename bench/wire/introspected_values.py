"""Values for parameters, made of what introspection says of them and of nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aqlgen.table.matching import matching

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
TOLD = re.compile(r"Told apart by (\S+): ([^.]*)")
TOLD_SCALAR = re.compile(r"(string|integer|number|boolean) \((.+)\)", re.DOTALL)
RANGE = re.compile(r"(?:(-?[\d.]+) (?:to (-?[\d.]+)|or more)|up to (-?[\d.]+))")
DEEPEST = 5


class Values:
    """Makes values; `types` are the details of the types by name, each asked for at its first use."""

    def __init__(self, types: Mapping[str, Mapping[str, Any]], *, everything: bool) -> None:
        self._types = types
        self._everything = everything

    def of(self, info: Mapping[str, Any], depth: int = 0) -> Any:
        """Give a value for a ParameterInfo or FieldInfo."""
        if info.get("enum"):
            return info["enum"][0]
        said, kind = str(info.get("description", "")), info["type"]
        if kind not in SCALARS:
            return self._named(kind, depth)
        if kind == "any":
            return self._any(info, said, depth)
        if kind == "array":
            return self._array(info, said, depth)
        if kind == "object":
            found = EVERY.search(said)
            return {"key": self._phrase(found[1], depth + 1)} if found and depth < DEEPEST else {}
        return _scalar(info, kind, said)

    def _any(self, info: Mapping[str, Any], said: str, depth: int) -> Any:
        if "default" in info:
            return info["default"]
        found = ALTERNATIVES.search(said)
        return self._phrase(found[1], depth) if found else _scalar(info, "string", said)

    def _array(self, info: Mapping[str, Any], said: str, depth: int) -> list[Any]:
        found = COUNTED.search(said)
        least = int(found[1]) if found else 0
        most = int(found[2]) if found and found[2] else least + 1
        if depth >= DEEPEST * (2 if least else 1):
            return []
        one = self.of(info.get("items", {"type": "string"}), depth + 1)
        count = max(least, min(1, most))
        if count > 1 and "No item twice" in said:
            options = info.get("items", {}).get("enum")
            return options[:count] if options else [_other(one, index) for index in range(count)]
        return [one] * count

    def _phrase(self, text: str, depth: int) -> Any:
        """Give a value for the first of the alternatives that a sentence names."""
        first = _first(text)
        if first[:1] in "'\"":
            return first.strip("'\"")
        told = TOLD_SCALAR.fullmatch(first)
        if told:
            return _of_words(told[1], told[2])
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
        said = str(details.get("description", ""))
        if details["kind"] == "object":
            return self._object(details, said, depth)
        if details["kind"] == "union":
            if depth >= DEEPEST * 2:
                return {}
            members = details["members"]
            chosen = next((one for one in members if one not in SCALARS), members[0])
            if chosen in SCALARS and (rest := ALTERNATIVES.search(said)):
                return self._phrase(rest[1], depth + 1)
            return _told(self._phrase(chosen, depth + 1), chosen, said)
        found = re.search(r"(?:^|\. )(Array of [^.]+|String[^.]*|Integer[^.]*|Number[^.]*|Boolean[^.]*)\.", said)
        chosen = re.search(r"One of ([^,.]+)", said)
        if chosen and not found:
            return _literal(chosen[1].strip())
        return self._phrase(found[1][0].lower() + found[1][1:], depth + 1) if found else _scalar({}, "string", said)

    def _object(self, details: Mapping[str, Any], said: str, depth: int) -> Any:
        fields = details.get("fields", ())
        wanted = [one for one in fields if one["required"] or (self._everything and depth < 2)]
        made = {
            one["name"]: self.of(one, depth + 1)
            for one in wanted
            if "Read-only." not in str(one.get("description", "")) and (one["required"] or depth < DEEPEST)
        }
        for name in needed(said, made):
            made |= {one["name"]: self.of(one, depth + 1) for one in fields if one["name"] == name}
        for name in excluded(said):
            made.pop(name, None)
        rest = ALTERNATIVES.search(said)
        if rest and depth < DEEPEST:
            more = _told(self._phrase(rest[1], depth + 1), rest[1].split(", ")[0], said)
            made = {**more, **made} if isinstance(more, dict) else made
        found = EVERY.search(said)
        if not fields and found and depth < DEEPEST:
            made["key"] = self._phrase(found[1], depth + 1)
        return made


def needed(said: str, made: Mapping[str, Any]) -> list[str]:
    """Give the fields of the first choice, where one of several has to be made and none is yet."""
    found = re.search(r"Needs (.+?)\.(?: [A-Z]|$)", said)
    choices = [one.split(" and ") for one in found[1].split(", or ")] if found else []
    return [] if not choices or any(set(one) <= made.keys() for one in choices) else choices[0]


def excluded(said: str) -> list[str]:
    """Give the fields that must not be there beside the first of those that exclude one another."""
    found = re.search(r"(?:^|\. )Not (.+?) together\.(?: [A-Z]|$)", said)
    return found[1].split(" and ")[1:] if found else []


def _told(value: Any, member: str, said: str) -> Any:
    """Give an alternative the value of the field that tells it from the others."""
    field = TOLD.search(said)
    if field and isinstance(value, dict):
        for meaning in field[2].split(", "):
            name, _, target = meaning.rpartition(" is ")
            if target == member:
                return {**value, field[1]: name.strip("'\"`")}
    return value


def _first(text: str) -> str:
    """Give the first of the alternatives that commas part; those within brackets part nothing."""
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth and text.startswith(", ", index):
            return text[:index].strip()
    return text.strip()


def _of_words(kind: str, told: str) -> Any:
    """Give a scalar of which a few words are told: its values, its range, its pattern, or its format."""
    if told[:1] in "'\"" or " | " in told:
        return _literal(told.split(" | ")[0])
    bounds = RANGE.fullmatch(told)
    if bounds:
        named = {"minimum": bounds[1], "maximum": bounds[2] or bounds[3]}
        return _scalar({key: float(one) for key, one in named.items() if one is not None}, kind, "")
    if told.startswith("pattern "):
        return _scalar({"pattern": told.removeprefix("pattern ")}, kind, "")
    return _scalar({"format": told}, kind, "")


def _literal(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text.strip("'\"`")


def _other(value: Any, index: int) -> Any:
    if not index or isinstance(value, bool | dict | list) or value is None:
        return value
    return value + index if isinstance(value, int | float) else f"{value}{index}"


def _scalar(info: Mapping[str, Any], kind: str, said: str) -> Any:
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return _number(info, kind, said)
    if info.get("pattern"):
        wanted = info.get("minLength", 0)
        made = [one for more in range(65) if (one := matching(info["pattern"], more)) is not None]
        if made:
            return next((one for one in made if len(one) >= wanted), made[-1])
    if info.get("format") in FORMATS:
        return FORMATS[info["format"]]
    least, most = info.get("minLength", 0), info.get("maxLength")
    text = "example" + "x" * max(0, least - 7)
    return text if most is None else text[:most]


def _number(info: Mapping[str, Any], kind: str, said: str) -> Any:
    low, high = info.get("minimum"), info.get("maximum")
    for word, bound in BOUND.findall(said):
        if word == "Above":
            low = float(bound) + 1
        else:
            high = float(bound) - 1
    value = low if low is not None else min(1, high) if high is not None else 1
    if high is not None and value > high:
        value = high
    step = STEP.search(said)
    if step and float(step[1]):
        each = float(step[1])
        value = each * max(1, -(-value // each))
    return int(value) if kind == "integer" or float(value).is_integer() else value
