# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An OpenAPI document, 2.0 to 3.2, as requests must follow it: operations, parameters, bodies, schemas, addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

import jsonschema_rs

__all__ = ["Body", "Document", "Operation", "Parameter", "compiles", "covers", "is_filled", "is_secret", "normal"]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_DATA = ("enum", "const")
_ANNOTATIONS = ("format", "discriminator", "example", "examples", "default", "xml", "externalDocs", "$schema", "$id",
                "id", "$anchor", "title", "description", "deprecated", "writeOnly")  # fmt: skip
_STYLES = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
_DEEPEST = 8
_SECRET = "token$|apikey|secret|password|signature|credential|accesskey|^key$|clientid$|auth$|^authorization$"  # noqa: S105


def normal(name: str) -> str:
    """Return a name without case, signs and separators, by which spellings of it are compared."""
    return re.sub(r"[\W_]", "", name).lower()


def is_secret(name: str) -> bool:
    """Return True for the name of a credential."""
    return re.search(_SECRET, normal(name)) is not None


def is_filled(name: str) -> bool:
    """Return True for the name of a key of repeated calls, which an adapter makes where a call gives none."""
    return normal(name).endswith("idempotencykey")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as it is sent. `media` is the type that its value is written in, if it has one."""

    name: str
    place: str
    required: bool = False
    schema: Any = field(default_factory=dict)
    style: str = ""
    explode: bool = False
    media: str = ""
    pointer: str = ""
    owner: Mapping[str, Any] = field(default_factory=dict)
    """The owner's override."""

    @property
    def is_secret(self) -> bool:
        """True for a parameter that may be a credential, which agents neither see nor give."""
        return is_secret(self.name)

    @property
    def shown(self) -> bool:
        """False for a parameter that the owner hid or gave a value."""
        return not self.owner.get("hidden") and "value" not in self.owner


@dataclass(frozen=True, slots=True)
class Body:
    """A body of one media type, with the encoding of its fields."""

    schema: Any
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of the document with the owner's word on it. `pointer` leads to it in the document."""

    document: Document = field(repr=False)
    path: str
    method: str
    raw: Mapping[str, Any] = field(repr=False)
    pointer: str
    parameters: tuple[Parameter, ...]
    bodies: Mapping[str, Body]
    body_required: bool
    security: tuple[Mapping[str, Any], ...] | None
    """The alternatives of schemes; None where neither document nor owner says anything."""
    address: str
    """The URL before the path, "" if the document does not say it."""
    owner: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The operation as `METHOD /path`, behind the name of its API where there are several."""
        return f"{self.document.api}:{self.method} {self.path}".removeprefix(":")

    @property
    def template(self) -> str:
        """The path without its variables' names, which another operation may share."""
        return re.sub(r"\{[^{}]*\}", "{}", self.path.partition("#")[0].partition("?")[0])

    @property
    def is_shared(self) -> bool:
        """True if another operation has the same method and path: a request does not say which of them it is."""
        return (self.method, self.template) in self.document.shared

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The paths below the address."""
        return re.compile(re.escape(self.template).replace(r"\{\}", "([^/]*?)") + "/?")

    @cached_property
    def variables(self) -> list[str]:
        """The names of the variables of the path, in order."""
        return re.findall(r"\{([^{}]+)\}", self.path.partition("#")[0].partition("?")[0])

    @cached_property
    def fixed_query(self) -> list[tuple[str, str]]:
        """The pairs of the query that are a part of the path."""
        return parse_qsl(self.path.partition("#")[0].partition("?")[2], keep_blank_values=True)

    def body(self, media: str) -> Body | None:
        """Return the body of a media type, also by a wildcard; that of JSON, or the first, for an unknown one."""
        fits = [name for name in self.bodies if covers(name, media)] or sorted(
            self.bodies, key=lambda name: "json" not in name
        )
        return self.bodies[fits[0]] if fits else None

    @property
    def answered(self) -> set[str]:
        """The media types of all answers."""
        deref, swagger = self.document.deref, self.document.root.get("produces")
        responses = [deref(each) for each in (deref(self.raw.get("responses")) or {}).values()]
        kinds = {kind.lower() for each in responses if isinstance(each, dict) for kind in each.get("content") or {}}
        return kinds or set(self.raw.get("produces") or swagger or ())

    def response(self) -> tuple[int, str, Any, Mapping[str, Any]]:
        """Return status, media type, schema and headers of the best success that the document has."""
        deref = self.document.deref
        found: list[tuple[tuple[bool, int], int, Any, Any, Any]] = []
        for status, response in (deref(self.raw.get("responses")) or {}).items():
            status, response = str(status), deref(response)
            if (status[:1] == "2" or status == "default") and isinstance(response, dict):
                content = response.get("content")
                if self.document.is_swagger and "schema" in response:
                    produces = self.raw.get("produces") or self.document.root.get("produces") or ["application/json"]
                    content = {produces[0]: {"schema": response["schema"]}}
                number = int(status) if status.isdigit() else 200
                kinds = sorted(content or {"": {}}, key=lambda kind: "json" not in kind)
                media = deref((content or {}).get(kinds[0])) or {}
                found.append(((status == "default", number), number, kinds[0], media.get("schema", {}), response))
        if not found:
            return 200, "", {}, {}
        _, number, kind, schema, best = min(found, key=lambda each: each[0])
        return number, str(kind), schema, deref(best.get("headers")) or {}


class Document:
    """A document, read leniently: what is no operation, no parameter or no schema is left aside."""

    def __init__(self, root: Mapping[str, Any], owner: Any, api: str = "", file: str = "openapi/openapi.yaml") -> None:
        self.root, self.api, self.file = root, api, file
        self.is_swagger = "swagger" in root
        self._old = str(root.get("openapi", "2")) < "3.1"
        components = root.get("components") if isinstance(root.get("components"), dict) else {}
        self._schemas = {
            "components": {"schemas": self._strict((components or {}).get("schemas") or {}, is_map=True)},
            "definitions": self._strict(root.get("definitions") or {}, is_map=True),
        }
        self._registry: Any = None
        self._validators: dict[int, tuple[Any, Any]] = {}
        word = owner.of_api(api)
        self.headers = frozenset(name.lower() for name in word.get("headers") or {})
        schemes = (components or {}).get("securitySchemes") or root.get("securityDefinitions") or {}
        self.schemes = {
            name: self.deref(scheme) for name, scheme in {**schemes, **(word.get("security_schemes") or {})}.items()
        }
        self._security = word.get("security")
        self.operations = tuple(self._operations(owner))
        counts = Counter((each.method, each.template) for each in self.operations)
        self.shared = {key for key, count in counts.items() if count > 1}

    def deref(self, node: Any) -> Any:
        """Follow the references at the top of a node; what stands beside a reference wins."""
        for _ in range(_DEEPEST * 2):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                return node
            target: Any = self.root
            for step in node["$ref"].lstrip("#").strip("/").split("/"):
                step = unquote(step).replace("~1", "/").replace("~0", "~")
                if isinstance(target, list) and step.isdigit() and int(step) < len(target):
                    target = target[int(step)]
                else:
                    target = target.get(step) if isinstance(target, dict) else None
            beside = {key: value for key, value in node.items() if key != "$ref"}
            if isinstance(target, dict) and {"name", "in"} <= target.keys():  # nothing stands beside such a reference
                beside = {}
            node = {**target, **beside} if isinstance(target, dict) else target if target is not None else beside
        return {}

    def _operations(self, owner: Any) -> Iterator[Operation]:
        for path, item in (self.root.get("paths") or {}).items():
            item = self.deref(item)
            for method, raw in (item if isinstance(item, dict) else {}).items():
                if method in METHODS and isinstance(raw, dict):
                    yield self._operation(owner, path, method, item, raw)

    def _operation(self, owner: Any, path: str, method: str, item: Any, raw: Any) -> Operation:
        pointer = f"/paths/{path.replace('~', '~0').replace('/', '~1')}/{method}"
        tags = [tag for tag in raw.get("tags") or [] if isinstance(tag, str)]
        names = [name for name in (raw.get("operationId"), f"{method.upper()} {path}") if isinstance(name, str)]
        words = {"api": [self.api], "tag": tags, "path": [path], "operation": names}
        word = owner.of(words, method.upper())
        if owner.leaves_out(words):
            word = {**word, "hidden": True}
        given: dict[tuple[str, str], Any] = {}
        for parameter in map(self.deref, [*(item.get("parameters") or []), *(raw.get("parameters") or [])]):
            if isinstance(parameter, dict) and isinstance(parameter.get("name"), str) and "in" in parameter:
                name = parameter["name"].lower() if parameter["in"] == "header" else parameter["name"]
                given[name, parameter["in"]] = parameter
        parameters = [self._parameter(each, word, pointer) for each in given.values()]
        bodies, body_required = self._bodies(raw, list(given.values()))
        parameter = given.get(("content-type", "header")) or {}  # it has no effect, and may name the types
        stated = self.deref(parameter.get("schema") or parameter)
        bodies = {**bodies, **{kind: body for kind in stated.get("enum") or () for body in list(bodies.values())[:1]}}
        security = word.get("security", raw.get("security", self.root.get("security") or self._security))
        alternatives = [each if isinstance(each, dict) else {each: []} for each in security or ()]
        servers = raw.get("servers") or item.get("servers") or []
        return Operation(
            self, path, method.upper(), raw, pointer, tuple(filter(None, parameters)), bodies, body_required,
            None if security is None else tuple(alternatives), self._address(servers), word,
        )  # fmt: skip

    def _parameter(self, raw: Mapping[str, Any], word: Mapping[str, Any], pointer: str) -> Parameter | None:
        name, place = raw["name"], raw["in"]
        ignored = place == "header" and name.lower() in ("accept", "content-type")
        if place not in ("path", "query", "header", "cookie") or ignored:
            return None
        changes = word.get("parameters") or {}
        owner = {**(changes.get(name) or {}), **(changes.get(f"{place}:{name}") or {})}
        content = raw.get("content") if isinstance(raw.get("content"), dict) else {}
        media = next(iter(content or {}), "")
        schema = (
            raw if self.is_swagger else (content[media] or {}).get("schema", {}) if content else raw.get("schema", {})
        )
        if "type" in owner:
            schema = {"type": owner["type"]}
        style = raw.get("style") or ("form" if place in ("query", "cookie") else "simple")
        explode = raw.get("explode", style in ("form", "deepObject"))
        if self.is_swagger:
            collection = raw.get("collectionFormat", "csv")
            style, explode = _STYLES.get(collection, style), collection == "multi"
        required = (raw.get("required") is True or place == "path") and owner.get("required") is not False
        required = required and not {"value", "default"} & owner.keys()
        if place == "header" and name.lower() == "authorization":
            required, owner = False, {"hidden": True}
        return Parameter(name, place, required, schema, style, bool(explode), media, f"{pointer}/parameters", owner)

    def _bodies(self, raw: Mapping[str, Any], given: list[Any]) -> tuple[dict[str, Body], bool]:
        if not self.is_swagger:
            body = self.deref(raw.get("requestBody")) or {}
            content = {kind.lower(): self.deref(media) or {} for kind, media in (body.get("content") or {}).items()}
            bodies = {
                kind: Body(media.get("schema", {}), media.get("encoding") or {}) for kind, media in content.items()
            }
            return bodies, body.get("required") is True
        kinds = raw.get("consumes") or self.root.get("consumes") or ["application/json"]
        form = [each for each in given if each["in"] == "formData"]
        whole = next((each for each in given if each["in"] == "body"), None)
        if whole is not None or not form:
            required = whole is not None and whole.get("required") is True
            return ({kind: Body(whole.get("schema", {})) for kind in kinds} if whole is not None else {}), required
        schema = {"type": "object", "properties": {each["name"]: _without(each) for each in form}}
        schema["required"] = [each["name"] for each in form if each.get("required") is True]
        encoding = {each["name"]: {"explode": each.get("collectionFormat") == "multi"} for each in form}
        kinds = [kind for kind in kinds if "form" in kind] or [
            "multipart/form-data"
            if any(each.get("type") == "file" for each in form)
            else "application/x-www-form-urlencoded"
        ]
        return {kind: Body(schema, encoding) for kind in kinds}, bool(schema["required"])

    def _address(self, servers: Any) -> str:
        def url(server: Any) -> str:
            variables = server.get("variables") or {}
            return re.sub(r"\{([^{}]+)\}", lambda match: str((variables.get(match[1]) or {}).get("default", match[0])),
                          str(server.get("url", "")))  # fmt: skip

        if self.is_swagger:
            schemes = self.root.get("schemes") or ["https"]
            scheme = "https" if "https" in schemes else schemes[0]
            base = f"{scheme}://{self.root['host']}" if self.root.get("host") else ""
            return f"{base}{self.root.get('basePath') or ''}".rstrip("/")
        first = next((url(server) for server in self.root.get("servers") or [] if isinstance(server, dict)), "")
        own = next((url(server) for server in servers if isinstance(server, dict)), "")
        return (urljoin(first, own) if own else first).partition("?")[0].rstrip("/")

    @property
    def base_path(self) -> str:
        """The path of the first server, which stands before all paths; "" for none."""
        path = urlsplit(self._address([])).path.strip("/")
        return f"/{path}" if path and "{" not in path else ""

    # Schemas

    def _strict(self, schema: Any, *, is_map: bool = False) -> Any:
        """Return a schema of any version as one of 2020-12 for requests, in which nothing read-only is required."""
        if isinstance(schema, list):
            return [self._strict(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if is_map:
            return {key: self._strict(value) for key, value in schema.items()}
        strict = {
            key: value if key in _DATA else self._strict(value, is_map=key in _MAPS)
            for key, value in schema.items()
            if key not in _ANNOTATIONS and key[:2] != "x-"
        }
        if "$ref" in strict:
            reference = str(strict["$ref"]).replace("#/", "urn:document#/", 1)
            strict = ({"nullable": strict.get("nullable")} if self._old else strict) | {"$ref": reference}
        if isinstance(strict.get("oneOf"), list):
            every = strict.get("allOf")
            strict["allOf"] = [*(every if isinstance(every, list) else []), {"anyOf": strict.pop("oneOf")}]
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(strict.get(exclusive), bool) and strict.pop(exclusive) and bound in strict:
                strict[exclusive] = strict.pop(bound)
        required, properties = strict.pop("required", None), schema.get("properties")
        if isinstance(required, list):
            known = properties if isinstance(properties, dict) else {}
            strict["required"] = sorted({each for each in required if not self.is_marked(known.get(each), "readOnly")})
        if strict.get("type") in ("file", "any", None):
            strict.pop("type", None)
        if isinstance(strict.get("pattern"), str) and not compiles(strict["pattern"]):
            del strict["pattern"]
        is_nullable = strict.pop("nullable", None) is True or schema.get("x-nullable") is True
        return {"anyOf": [{"type": "null"}, strict]} if is_nullable else strict

    def is_marked(self, schema: Any, mark: str) -> bool:
        """Return True for a property that is `readOnly` or `writeOnly`."""
        schema = self.deref(schema)
        return isinstance(schema, dict) and schema.get(mark) is True

    def problems(self, schema: Any, value: Any) -> list[str]:
        """Return what is wrong with a value; nothing for a schema that cannot be judged by."""
        known = self._validators.get(id(schema))
        if known is None:
            if self._registry is None:
                self._registry = jsonschema_rs.Registry([("urn:document", self._schemas)])
            try:
                strict = self._strict(_without(schema) if isinstance(schema, dict) else schema)
                known = schema, jsonschema_rs.Draft202012Validator(strict, registry=self._registry)
            except (ValueError, jsonschema_rs.ReferencingError):
                known = schema, None
            self._validators[id(schema)] = known
        errors = [] if known[1] is None else list(known[1].iter_errors(value))[:2]
        return [f"{''.join(f'/{step}' for step in error.instance_path)} {error.message[:140]}" for error in errors]

    def parts(self, schema: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """Yield a schema and the alternatives and parts that it is made of, references followed."""
        schema = self.deref(schema)
        if isinstance(schema, dict) and depth < _DEEPEST:
            yield schema
            for key in ("allOf", "anyOf", "oneOf"):
                for part in schema.get(key) or []:
                    yield from self.parts(part, depth + 1)

    def kinds(self, schema: Any) -> set[str]:
        """Return the JSON types that a schema allows; none: all."""
        kinds: set[str] = set()
        for part in self.parts(schema):
            kind = part.get("type")
            kinds |= {each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)} - {
                "any",
                "file",
            }
            if kind is None and "properties" in part:
                kinds.add("object")
        return kinds

    def properties(self, schema: Any) -> dict[str, Any]:
        """Return the properties of all parts of a schema."""
        return {name: each for part in self.parts(schema) for name, each in (part.get("properties") or {}).items()}

    def required(self, schema: Any, *, answers: bool = False) -> set[str]:
        """Return the properties that every value of a request must have, or every answer."""
        schema = self.deref(schema)
        parts = [schema, *map(self.deref, schema.get("allOf") or [])] if isinstance(schema, dict) else []
        names = {name for part in parts if isinstance(part.get("required"), list) for name in part["required"]}
        properties = self.properties(schema)
        hidden = "writeOnly" if answers else "readOnly"
        return {name for name in names if not self.is_marked(properties.get(name), hidden)}

    def writable(self, schema: Any) -> dict[str, Any]:
        """Return the properties that a request may carry."""
        return {name: each for name, each in self.properties(schema).items() if not self.is_marked(each, "readOnly")}

    def items(self, schema: Any) -> Any:
        """Return the schema of the items of a list."""
        return next((part["items"] for part in self.parts(schema) if "items" in part), {})


def covers(declared: str, media: str) -> bool:
    """Return True if a media type is the declared one, or of the declared range."""
    declared = declared.partition(";")[0].strip()
    return declared in (media, "*/*") or (declared.endswith("/*") and media.startswith(declared[:-1]))


def _without(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter or form field of Swagger 2.0, which stands among its other keys."""
    beside = ("name", "in", "description", "collectionFormat")
    return {
        key: each
        for key, each in parameter.items()
        if key not in beside and not (key == "required" and each in (True, False))
    }


def compiles(pattern: str) -> bool:
    """Return True if a pattern can be judged by."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except ValueError:
        return False
    return True
