"""One schema node of OpenAPI 3.0 or 3.1, as JSON Schema 2020-12 says it; what lies within stays as it is.

OpenAPI 3.0's own keywords (nullable, boolean exclusiveMinimum, example) are translated, values that no validator could
use are dropped, and every keyword that is not carried further disappears here (OpenAPI 3.1.1, 4.8.24).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from aqlgen.ir import Json

TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})

NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
BOUNDS = frozenset((*NUMBERS, *COUNTS))
BRANCHES = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
KEPT = ("default", "const", "uniqueItems", "contentEncoding", "contentMediaType")
MAPS = ("properties", "patternProperties")
SCHEMAS = ("items", "additionalProperties", "not", "propertyNames")

MAX_DESCRIPTION = 300
MAX_EXAMPLE = 100


LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
TAG = re.compile(
    r"</?(?:a|b|br|code|dd|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|table|tbody|td|th|thead|tr|u|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """Give what a description says in words, in one line: without addresses of links and HTML tags."""
    if "](" in text:
        text = LINK.sub(r"\1", text)
    if "<" in text:
        text = TAG.sub(" ", text)
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """Cut the prose of a text to `limit` characters: after a sentence when one ends late enough, else after a word."""
    text = prose(text)
    if len(text) <= limit:
        return text
    head = text[:limit]
    stop = head.rfind(". ")
    if stop > limit // 3:
        return head[: stop + 1]
    return head[: max(head.rfind(" "), limit // 2)].rstrip(",;: ") + " …"


def normalise(raw: Mapping[str, Json]) -> dict[str, Json]:
    """Give one node in dialect 2020-12. `oneOf` becomes `anyOf`: overlapping branches are common and harmless."""
    node: dict[str, Json] = {}
    types = _types(raw.get("type"))
    nullable = raw.get("nullable") is True
    if nullable and types:
        types = types if "null" in types else [*types, "null"]
    if types:
        node["type"] = types[0] if len(types) == 1 else types
    keys = raw.keys()
    if not keys.isdisjoint(BOUNDS):
        _numbers(raw, node)
    for key in KEPT:
        if key in raw:
            node[key] = raw[key]
    _texts(raw, node)
    _enum(raw, node, nullable=nullable or "null" in types)
    if not keys.isdisjoint(BRANCHES):
        _branches(raw, node)
    for key in MAPS:
        if isinstance(raw.get(key), dict) and raw[key]:
            node[key] = {name: one for name, one in raw[key].items() if isinstance(one, dict | bool)}
    for key in SCHEMAS:
        if isinstance(raw.get(key), dict | bool):
            node[key] = raw[key]
    required = raw.get("required")
    if isinstance(required, list):
        names = dict.fromkeys(one for one in required if isinstance(one, str))
        if names:
            node["required"] = list(names)
    if nullable and not types and ("allOf" in node or "anyOf" in node):
        node["nullable"] = True
    return node


def _types(raw: Json) -> list[str]:
    listed = raw if isinstance(raw, list) else [raw]
    return [one for one in dict.fromkeys(listed) if isinstance(one, str) and one in TYPES]


def _numbers(raw: Mapping[str, Json], node: dict[str, Json]) -> None:
    for key in NUMBERS:
        value = raw.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and (key != "multipleOf" or value > 0):
            node[key] = value
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if raw.get(flag) is True and bound in node:
            node[flag] = node.pop(bound)
    for key in COUNTS:
        value = raw.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            node[key] = value


def _texts(raw: Mapping[str, Json], node: dict[str, Json]) -> None:
    for key in ("pattern", "format"):
        if isinstance(raw.get(key), str) and raw[key]:
            node[key] = raw[key]
    if isinstance(raw.get("description"), str) and raw["description"].strip():
        node["description"] = shorten(raw["description"], MAX_DESCRIPTION)
    for key in ("deprecated", "readOnly", "writeOnly"):
        if raw.get(key) is True:
            node[key] = True
    examples = (
        raw["examples"] if isinstance(raw.get("examples"), list) else [raw["example"]] if "example" in raw else []
    )
    short = [one for one in examples if isinstance(one, str | int | float) and len(str(one)) <= MAX_EXAMPLE]
    if short:
        node["examples"] = short[:1]


def _branches(raw: Mapping[str, Json], node: dict[str, Json]) -> None:
    def listed(key: str) -> list[Json]:
        found = raw.get(key)
        return [one for one in found if isinstance(one, dict | bool)] if isinstance(found, list) else []

    first, *others = [one for one in (listed("anyOf"), listed("oneOf")) if one] or [[]]
    together = [*listed("allOf"), *({"anyOf": one} for one in others)]
    for key, found in (("allOf", together), ("anyOf", first), ("prefixItems", listed("prefixItems"))):
        if found:
            node[key] = found


def _enum(raw: Mapping[str, Json], node: dict[str, Json], *, nullable: bool) -> None:
    values = raw.get("enum")
    if not isinstance(values, list) or not values:
        return
    unique = (
        [value for index, value in enumerate(values) if value not in values[:index]] if len(values) < 50 else values
    )
    if nullable and None not in unique:
        unique = [*unique, None]
    node["enum"] = unique
