# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An OpenAPI document, 2.0 to 3.2, as requests must follow it: operations, parameters, bodies, schemas, addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from .schemas import Schemas, without_place

__all__ = ["Body", "Document", "Operation", "Parameter", "covers", "is_filled", "is_secret", "normal"]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_STYLES = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
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
        return re.compile(re.escape(self.template).replace(r"\{\}", "([^/]+?)") + "/?")

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
        answers: list[tuple[tuple[bool, int], int, Any, Any, Any]] = []
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
                answers.append(((status == "default", number), number, kinds[0], media.get("schema", {}), response))
        if not answers:
            return 200, "", {}, {}
        _, number, kind, schema, best = min(answers, key=lambda each: each[0])
        return number, str(kind), schema, deref(best.get("headers")) or {}


class Document(Schemas):
    """A document, read leniently: what is no operation, no parameter or no schema is left aside."""

    def __init__(self, root: Mapping[str, Any], owner: Any, api: str = "", file: str = "openapi/openapi.yaml") -> None:
        super().__init__(root)
        self.api, self.file = api, file
        word = owner.of_api(api)
        self.headers = frozenset(name.lower() for name in word.get("headers") or {})
        schemes = self.components.get("securitySchemes") or root.get("securityDefinitions") or {}
        self.schemes = {
            name: self.deref(scheme) for name, scheme in {**schemes, **(word.get("security_schemes") or {})}.items()
        }
        self._security = word.get("security")
        operations = list(self._operations(owner))
        whole = {(each.path, variable.name): variable.schema for each in operations for variable in each.parameters
                 if variable.place == "path" and self.kinds(variable.schema) == {"integer"}}  # fmt: skip
        self.operations = tuple(_agreed(each, whole) for each in operations)
        counts = Counter((each.method, each.template) for each in self.operations)
        self.shared = {key for key, count in counts.items() if count > 1}

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
        declared: dict[tuple[str, str], Any] = {}
        for parameter in map(self.deref, [*(item.get("parameters") or []), *(raw.get("parameters") or [])]):
            if isinstance(parameter, dict) and isinstance(parameter.get("name"), str) and "in" in parameter:
                name = parameter["name"].lower() if parameter["in"] == "header" else parameter["name"]
                declared[name, parameter["in"]] = parameter
        parameters = [self._parameter(each, word, pointer) for each in declared.values()]
        bodies, body_required = self._bodies(raw, list(declared.values()))
        parameter = declared.get(("content-type", "header")) or {}  # it has no effect, and may name the types
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
        ignored = place == "header" and name.lower() == "content-type"
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
        if place == "header" and name.lower() in ("accept", "authorization"):
            required, owner = False, {"hidden": True}
        return Parameter(name, place, required, schema, style, bool(explode), media, f"{pointer}/parameters", owner)

    def _bodies(self, raw: Mapping[str, Any], declared: list[Any]) -> tuple[dict[str, Body], bool]:
        if not self.is_swagger:
            body = self.deref(raw.get("requestBody")) or {}
            content = {kind.lower(): self.deref(media) or {} for kind, media in (body.get("content") or {}).items()}
            bodies = {
                kind: Body(media.get("schema", {}), media.get("encoding") or {}) for kind, media in content.items()
            }
            return bodies, body.get("required") is True
        kinds = raw.get("consumes") or self.root.get("consumes") or ["application/json"]
        form = [each for each in declared if each["in"] == "formData"]
        whole = next((each for each in declared if each["in"] == "body"), None)
        if whole is not None or not form:
            required = whole is not None and whole.get("required") is True
            return ({kind: Body(whole.get("schema", {})) for kind in kinds} if whole is not None else {}), required
        schema = {"type": "object", "properties": {each["name"]: without_place(each) for each in form}}
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
        stated = next((url(server) for server in servers if isinstance(server, dict)), "")
        return (urljoin(first, stated) if stated else first).partition("?")[0].rstrip("/")

    @property
    def base_path(self) -> str:
        """The path of the first server, which stands before all paths; "" for none."""
        path = urlsplit(self._address([])).path.strip("/")
        return f"/{path}" if path and "{" not in path else ""


def _agreed(operation: Operation, whole: Mapping[tuple[str, str], Any]) -> Operation:
    """Return an operation whose variables are whole numbers where another operation of the path says so."""
    parameters = [
        replace(each, schema=whole[operation.path, each.name]) if (operation.path, each.name) in whole else each
        for each in operation.parameters
    ]
    return replace(operation, parameters=tuple(parameters))


def covers(declared: str, media: str) -> bool:
    """Return True if a media type is the declared one, or of the declared range."""
    declared = declared.partition(";")[0].strip()
    return declared in (media, "*/*") or (declared.endswith("/*") and media.startswith(declared[:-1]))
