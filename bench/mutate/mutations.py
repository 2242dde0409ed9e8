"""Mutations of API documents: by their structure, and by their text. Each is a pure function of a random generator."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

Json = Any

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query", "GET", "purge")
HOSTILE = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "a\nb\r\nc",
    "\u202egnp.exe\u2066",
    "\u200b\u200d\ufeff",
    "\ud800",
    "é" * 300,
    "名前",
    "a" * 70_000,
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "/etc/passwd",
    "C:\\x",
    "\\\\host\\share",
    "~/.ssh/id_rsa",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x",
    "con",
    "__init__",
    "__class__",
    "constructor",
    "None",
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "NaN",
    "{{ 7*7 }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}",
    "[[ package ]]",
    "${HOME}",
    "$(touch owned)",
    "`touch owned`",
    '"""\nimport os\nos.system("touch owned")\n"""',
    "'; DROP TABLE x; --",
    "<script>alert(1)</script>",
    "| a | b |\n|---|---|",
    "](javascript:alert(1))",
    "```\n# owned\n",
    "---\nowned: true\n...",
    "&a *a !!python/object:os.system",
    "%s%s%n{0}{x!r}",
    "%00%2e%2e%2f",
    "a/b~c~1~0%25",
    "{id}",
    "{",
    "}",
    "}{",
    "{a}{b}{a}",
    "{{}}",
    "?a=b#c",
    "application/json; charset=x; q=\x01",
    "*/*",
    "text/*",
)
REFERENCES: tuple[Any, ...] = (
    "#",
    "#/",
    "#/nowhere",
    "#/components/schemas",
    "#/paths",
    "#/components/schemas/",
    "#/%ZZ",
    "#/~2",
    "#anchor",
    "",
    "x.yaml",
    "./x.yaml#/a",
    "../../../../../../../../../../etc/passwd",
    "../secret.yaml",
    "/etc/passwd#/x",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x.yaml#/a",
    "https://[::1]:9/",
    "//host/x",
    "http://[",
    "C:\\windows\\win.ini",
    "urn:a:b",
    "a\x00b.yaml",
    "x.yaml#" + "/a" * 3000,
    "../" * 4000,
    5,
    None,
    [],
    {},
    True,
    "%2e%2e/%2e%2e/etc/passwd",
    "..%2fsecret.yaml",
    "document.json",
    "document.yaml#/paths",
)
PATTERNS = (
    "(a+)+$",
    "^(a|a)*$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x+x+)+y",
    "(.*a){25}",
    "a{1000}{1000}{1000}",
    "a{0,100000}",
    "(?:(?:(?:(?:a{50}){50}){50}){50})",
    "[",
    "(",
    "\\",
    "(?P<a>",
    "(?<=a)b",
    "(?R)",
    "\\1",
    "\\p{L}+",
    "\\u{110000}",
    "[\ud800-\udfff]",
    "(?i)(?x) a",
    "^" + "(" * 500 + ")" * 500 + "$",
    "[a-" * 50,
    "\\d{15,1000}$",
)
NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64 + 1, -(2**70), 10**400, 1e308, 5e-324, 1.5, -0.0, 1e22, 123456789.123456789)
KEYWORDS = (
    "type", "properties", "items", "required", "enum", "const", "default", "example", "examples", "allOf", "oneOf",
    "anyOf", "not", "if", "then", "else", "$ref", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$defs",
    "definitions", "$schema", "$comment", "discriminator", "nullable", "readOnly", "writeOnly", "format", "pattern",
    "minimum", "maximum", "exclusiveMinimum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
    "uniqueItems", "contains", "prefixItems", "patternProperties", "additionalProperties", "unevaluatedProperties",
    "propertyNames", "dependentRequired", "dependentSchemas", "minProperties", "contentMediaType", "contentSchema",
    "name", "in", "style", "explode", "schema", "content", "parameters", "requestBody", "responses", "security",
    "servers", "tags", "operationId", "summary", "description", "deprecated", "headers", "encoding", "callbacks",
    "links", "components", "paths", "info", "openapi", "swagger", "host", "basePath", "schemes", "consumes", "produces",
    "collectionFormat", "url", "variables", "webhooks", "x-internal", "externalDocs", "200", "default", "2XX", "999",
    "application/json", "itemSchema", "additionalOperations", "mapping", "propertyName", "scopes", "flows", "$self",
    *METHODS,
)  # fmt: skip
TYPES = ("string", "number", "integer", "boolean", "array", "object", "null", "file", "any", "", 3, None)
STYLES = ("form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "x", 1)
PLACES = ("query", "path", "header", "cookie", "body", "formData", "querystring", "nowhere", 1)


MOST = 1_000_000
"""How many values a mutant may have: repeated repetition would fill any memory."""


class TooManyError(Exception):
    """A document has grown past the limit."""


def containers(root: Json) -> list[tuple[Json, str | int, Json]]:
    """Return every value below the root as (container, key, value). Raises TooManyError past the limit."""
    values: list[tuple[Json, str | int, Json]] = []
    stack = [root]
    while stack:
        if len(values) > MOST:
            raise TooManyError
        node = stack.pop()
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            values.append((node, key, value))
            if isinstance(value, (dict, list)):
                stack.append(value)
    return values


def some_value(random: Random) -> Json:
    """Return a value of any kind, mostly an odd one."""
    return random.choice((
        lambda: random.choice(HOSTILE),
        lambda: random.choice(NUMBERS),
        lambda: random.choice((None, True, False, [], {}, [[]], [{}], {"": {}}, [None], "x")),
        lambda: random.choice(TYPES),
        lambda: {"$ref": random.choice(REFERENCES)},
        lambda: {"type": random.choice(TYPES), "pattern": random.choice(PATTERNS)},
        lambda: {random.choice(KEYWORDS): some_value(random) for _ in range(random.randrange(4))},
        lambda: [some_value(random) for _ in range(random.randrange(4))],
    ))()  # fmt: skip


def nested(random: Random, value: Json, depth: int) -> Json:
    """Wrap a value in many levels of schemas or lists."""
    for _ in range(depth):
        value = random.choice(({"properties": {"a": value}}, {"items": value}, {"allOf": [value]}, [value]))
    return value


def renamed(node: dict[str, Json], key: str, new: str) -> None:
    """Rename a member, at its place."""
    members = list(node.items())
    node.clear()
    node.update((new if name == key else name, value) for name, value in members)


class Mutator:
    """A source of changes to a tree in place; `others` are documents from which parts are taken."""

    def __init__(self, random: Random, root: dict[str, Json], others: Callable[[], Json]) -> None:
        self.random, self.root, self.others = random, root, others
        self.widened = self.deepened = False

    def mutate(self) -> None:
        """Make one change."""
        places = containers(self.root)
        if not places:
            return
        change = self.random.choice((
            self.delete, self.delete, self.duplicate, self.swap, self.replace, self.replace, self.splice, self.refer,
            self.refer, self.cycle, self.cycle, self.hostile_text, self.hostile_text, self.hostile_key, self.number,
            self.deepen, self.widen, self.pattern, self.keyword, self.keyword, self.keyword, self.fitting,
        ))  # fmt: skip
        change(places)

    def pick(self, places: list[Any]) -> tuple[Json, Any, Json]:
        """Pick a place: near the root as often as anywhere."""
        if self.random.random() < 0.4:
            node: Json = self.root
            while True:
                keys = list(node) if isinstance(node, dict) else range(len(node))
                key = self.random.choice(list(keys))
                value = node[key]
                if not isinstance(value, (dict, list)) or not value or self.random.random() < 0.25:
                    return node, key, value
                node = value
        return self.random.choice(places)

    def delete(self, places: list[Any]) -> None:
        """Take something away."""
        node, key, _ = self.pick(places)
        del node[key]

    def duplicate(self, places: list[Any]) -> None:
        """Repeat a member under other names, or an item."""
        node, key, value = self.pick(places)
        text = json.dumps(value)
        count = min(self.random.choice((1, 1, 2, 40)), 200_000 // len(text) + 1)
        copies = [json.loads(text) for _ in range(count)]
        if isinstance(node, list):
            node.extend(copies)
        else:
            for number, copy in enumerate(copies):
                node[self.random.choice((f"{key}{number}", f"{key}/", key.upper(), f"{key}_", f" {key}"))] = copy

    def swap(self, places: list[Any]) -> None:
        """Exchange two parts."""
        (left, first, a), (right, second, b) = self.pick(places), self.pick(places)
        left[first], right[second] = json.loads(json.dumps(b)), json.loads(json.dumps(a))

    def replace(self, places: list[Any]) -> None:
        """Put something odd in place of a part."""
        node, key, _ = self.pick(places)
        node[key] = some_value(self.random)

    def splice(self, places: list[Any]) -> None:
        """Put a part of another document in place of a part."""
        node, key, _ = self.pick(places)
        parts = containers(self.others())
        node[key] = json.loads(json.dumps(self.random.choice(parts)[2])) if parts else None

    def refer(self, places: list[Any]) -> None:
        """Point a reference elsewhere, or put one in place of a part."""
        references = [place for place in places if place[1] == "$ref"]
        node, key, _ = self.random.choice(references) if references else self.pick(places)
        node[key] = self.random.choice(REFERENCES) if key == "$ref" else {"$ref": self.random.choice(REFERENCES)}

    def cycle(self, places: list[Any]) -> None:
        """Point a reference to what contains it, or to any other place of the document."""
        trail: list[str] = []
        node: Json = self.root
        while isinstance(node, (dict, list)) and node:
            key = self.random.choice(list(node) if isinstance(node, dict) else list(range(len(node))))
            trail.append(str(key).replace("~", "~0").replace("/", "~1"))
            node, holder = node[key], node
        reference = "#" + "".join(f"/{part}" for part in trail[: self.random.randint(0, len(trail))])
        if self.random.random() < 0.5 and trail:
            holder[key] = {"$ref": reference}
        else:
            node, key, _ = self.pick(places)
            node[key] = {"$ref": reference}

    def hostile_text(self, places: list[Any]) -> None:
        """Change a text."""
        texts = [place for place in places if isinstance(place[2], str)]
        node, key, value = self.random.choice(texts or places)
        text = self.random.choice(HOSTILE)
        node[key] = text if self.random.random() < 0.6 else f"{value}{text}"

    def hostile_key(self, places: list[Any]) -> None:
        """Change the name of a member."""
        members = [place for place in places if isinstance(place[0], dict)]
        if members:
            node, key, _ = self.random.choice(members)
            renamed(node, key, self.random.choice((*HOSTILE, *KEYWORDS)))

    def number(self, places: list[Any]) -> None:
        """Change a number."""
        numbers = [place for place in places if isinstance(place[2], (int, float))]
        node, key, _ = self.random.choice(numbers or places)
        node[key] = self.random.choice(NUMBERS)

    def deepen(self, places: list[Any]) -> None:
        """Wrap a part in many levels."""
        if self.deepened:  # once: what nests more deeply than this cannot be written as JSON
            return
        self.deepened = True
        node, key, value = self.pick(places)
        node[key] = nested(self.random, value, self.random.choice((3, 20, 60, 120, 180)))

    def widen(self, places: list[Any]) -> None:
        """Repeat a part many times."""
        node, key, value = self.pick(places)
        if self.widened:  # once: what is repeated in what is repeated fills any memory
            return
        self.widened = True
        count = min(self.random.choice((50, 300, 3000)), 500_000 // len(json.dumps(value)) + 1)
        node[key] = [value] * count if self.random.random() < 0.5 else {f"k{number}": value for number in range(count)}

    def pattern(self, places: list[Any]) -> None:
        """Set a regular expression in a schema."""
        schemas = [
            value for _, _, value in places if isinstance(value, dict) and ("type" in value or "schema" in value)
        ]
        if schemas:
            schema = self.random.choice(schemas)
            schema = schema["schema"] if isinstance(schema.get("schema"), dict) else schema
            schema["pattern"] = self.random.choice(PATTERNS)
            schema["type"] = "string"

    def keyword(self, places: list[Any]) -> None:
        """Add a member that the specifications know, with any value."""
        objects = [value for _, _, value in places if isinstance(value, dict)]
        node = self.random.choice(objects or [self.root])
        node[self.random.choice(KEYWORDS)] = some_value(self.random)

    def fitting(self, places: list[Any]) -> None:
        """Change a value to another one that the same keyword may have."""
        fits = {
            "type": TYPES,
            "style": STYLES,
            "in": PLACES,
            "$ref": REFERENCES,
            "format": ("date", "byte", "binary", 1),
        }
        keywords = [place for place in places if place[1] in fits]
        if keywords:
            node, key, _ = self.random.choice(keywords)
            node[key] = self.random.choice(fits[key])


def broken_text(random: Random, data: bytes) -> bytes:
    """Damage a text: cut, flip, insert, repeat, reorder, encode otherwise."""
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(data) + 1)
        to = min(len(data), at + random.choice((1, 1, 5, 80, 1000)))
        kind = random.randrange(9)
        if kind == 0:
            data = data[:at]
        elif kind == 1 and data:
            index = min(at, len(data) - 1)
            data = data[:index] + bytes([data[index] ^ (1 << random.randrange(8))]) + data[index + 1 :]
        elif kind == 2:
            piece = random.choice(
                (b"\x00", b"\xff", b"\t", b"{", b"[" * 500, b"- " * 300, b"\xef\xbb\xbf", b"&a ", b"*a", b"<<: ", b"#")
            )
            data = data[:at] + piece + data[at:]
        elif kind == 3:
            data = data[:at] + data[to:]
        elif kind == 4:
            data = data[:at] + data[at:to] * random.choice((2, 30)) + data[to:]
        elif kind == 5:
            lines = data.split(b"\n")
            first, second = random.randrange(len(lines)), random.randrange(len(lines))
            lines[first], lines[second] = lines[second], lines[first]
            data = b"\n".join(lines)
        elif kind == 6:
            data = data.decode("utf-8", "replace").encode(
                random.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig")), "replace"
            )
        elif kind == 7:
            data = data.replace(
                random.choice((b'"', b":", b"\n", b"  ", b",")),
                random.choice((b"", b"'", b"\t", b"\r", b"\n")),
                random.choice((1, 3, -1)),
            )
        else:
            data = data[:at] + random.choice(HOSTILE).encode("utf-8", "surrogatepass") + data[at:]
    return data
