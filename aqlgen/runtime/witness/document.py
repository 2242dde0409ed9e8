"""An OpenAPI document, 2.0 to 3.2, as requests must follow it: operations, parameters, bodies, schemas, addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from .schemas import Schemas

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_COLLECTIONS = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited", "multi": "form"}
_SECRET = "token$|apikey|secret|password|signature|credential|accesskey|^key$|clientid$|auth$|authorization$"  # noqa: S105
_BESIDE = ("name", "in", "description", "required", "collectionFormat")
_PLACES = ("path", "query", "header", "cookie")
_ROUTING = re.compile(
    "connection|content-(encoding|length)|expect|host|http2-settings|keep-alive|te|trailers?|transfer-encoding|upgrade|via"
    "|x-.*host(-override)?|.*forward.*|.*(-|client|socket)ip(v6)?"
    "|(proxy|sec|cf|x-(envoy|original|override|remote|rewrite|script))(-.*)?"
)
"""Headers that frame or route a request (RFC 9110, 7; RFC 9112, 6): an adapter need not let a call give them."""
_METHOD = re.compile(
    r"(x[-_])?http[-_]method[-_]override|x[-_](http[-_](method|override)|method[-_]override)|_method|[$_]+httpmethod",
    re.IGNORECASE,
)
"""Names that frameworks read as another method; no call can give them."""
_JSON = ["application/json"]
_FORM, _PARTS = "application/x-www-form-urlencoded", "multipart/form-data"


def normal(name: Any) -> str:
    """Return a name without case, signs and separators, by which spellings of it are compared; `<=` is `lte`."""
    return _normal(str(name))


@lru_cache(10_000)
def _normal(name: str) -> str:
    spelled = name.replace("<=", "lte").replace(">=", "gte").replace("<", "lt").replace(">", "gt")
    return re.sub(r"[\W_]", "", spelled).lower()


def is_secret(name: str) -> bool:
    """Return True for the name of a credential."""
    return re.search(_SECRET, normal(name)) is not None


def is_filled(name: str, text: object = "") -> bool:
    """Return True for a key of repeated calls, by name or description; an adapter makes it where a call gives none."""
    return "idempoten" in normal(name) or "idempoten" in str(text).lower()


def covers(declared: str, media: str) -> bool:
    """Return True if a media type is the declared one, or of the declared range."""
    declared = re.split("[;,]", declared)[0].strip()
    return declared in (media, "*/*") or (declared.endswith("/*") and media.startswith(declared[:-1]))


@dataclass(slots=True)
class Parameter:
    """A parameter as it is sent, `is_json` if its value is written as JSON, with override and description."""

    name: str
    place: str
    required: bool
    schema: Any
    style: str
    explode: bool
    is_json: bool
    owner: Mapping[str, Any]
    text: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Place and name, which no other parameter has."""
        return self.place, self.name

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
    """An operation of the document with the owner's word on it. `pointer` leads to it in the document.

    `security` has the alternatives of schemes, and is None where neither document nor owner says anything. `address` is
    the URL before the path, "" if the document does not say it. `body_required` is None where it does not say that.
    """

    document: Document = field(repr=False)
    path: str
    method: str
    raw: Mapping[str, Any] = field(repr=False)
    pointer: str
    parameters: tuple[Parameter, ...]
    bodies: Mapping[str, Body]
    body_required: bool | None
    security: tuple[Mapping[str, Any], ...] | None
    address: str
    owner: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The operation as `METHOD /path`, behind the name of its API where there are several."""
        return f"{self.document.api}:{self.method} {self.path}".removeprefix(":")

    @property
    def has_items(self) -> bool:
        """True for the path of a collection: a path of one item is below it."""
        items = re.compile(rf"{re.escape(self.path)}/{{[^{{}}/]*}}")
        return any(items.fullmatch(each.path) for each in self.document.operations)

    @cached_property
    def template(self) -> str:
        """The path without its variables' names, which another operation may share."""
        return re.sub(r"\{[^{}]*\}", "{}", re.split("[?#]", self.path)[0])

    @property
    def is_shared(self) -> bool:
        """True if another operation has the same method and path: a request does not say which of them it is."""
        return self.document.counts[self.method, self.template] > 1

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The paths below the address, as they are sent."""
        return re.compile(re.escape(quote(self.template, safe="{}/%:@!$&'()*+,;=~")).replace(r"\{\}", "([^/]+?)"))

    @cached_property
    def variables(self) -> list[str]:
        """The names of the variables of the path, in order."""
        return re.findall(r"\{([^{}]+)\}", re.split("[?#]", self.path)[0])

    @cached_property
    def fixed_query(self) -> list[tuple[str, str]]:
        """The pairs of the query that are a part of the path, without those whose value is a variable."""
        pairs = parse_qsl(self.path.partition("#")[0].partition("?")[2], keep_blank_values=True)
        return [(name, value) for name, value in pairs if "{" not in value]

    def is_with_key(self, name: str) -> bool:
        """Return True for a header that is a key, or begins as one of the operation does: `App-Id` with `App-Key`."""
        headers = [each.name for each in self.parameters if each.place == "header" and not is_filled(each.name)]
        keys = [each for each in headers if normal(each).endswith("key") or is_secret(each)]
        stem, *stems = (re.sub(r"[-_][^-_]+$", "", each) for each in (name, *keys))  # without the last word
        return name in keys or stem in {*stems} - {"X", "x"}

    def is_loose(self, form: Parameter) -> bool:
        """Return True for an object whose properties are pairs of their own."""
        is_form = form.style == "form" and form.explode and not form.is_json
        return is_form and form.place in ("query", "body") and "object" in self.document.kinds(form.schema)

    def is_spread(self, form: Parameter) -> bool:
        """Return True for an object of which each property has a pair: an empty one has none."""
        return form.style == "deepObject" or self.is_loose(form)

    def names_beside(self, parameter: Parameter) -> set[str]:
        """Return the names that other parameters of the same place are sent by."""
        others = [each for each in self.parameters if each.place == parameter.place and each is not parameter]
        spread = [self.document.properties(each.schema) if self.is_loose(each) else [each.name] for each in others]
        return {name for names in spread for name in names}

    def owned(self, place: str, name: str) -> dict[str, Any]:
        """Return the owner's override of a parameter or field."""
        return _owned(self.owner, place, name)

    def body(self, media: str) -> Body | None:
        """Return the body of a media type, also by a wildcard; that of JSON, or the first, for an unknown one."""
        order = sorted(self.bodies, key=lambda name: (not covers(name, media), "json" not in name))
        return self.bodies[order[0]] if order else None

    @cached_property
    def answers(self) -> list[tuple[str, str, Any, Any]]:
        """Status, media type, schema and headers of every answer that the document has, those of JSON first."""
        at, answers = self.document.at, []
        for status, response in at(self.raw, "responses").items():
            for kind, media in (at(response, "content") or {"": {}}).items():
                answers.append((str(status), str(kind).lower(), at(media, "schema"), at(response, "headers")))
        return sorted(answers, key=lambda each: (each[0], "json" not in each[1]))

    @cached_property
    def successes(self) -> list[tuple[str, str, Any, Any]]:
        """The answers that are successes: the default where there is no other."""
        good = [each for each in self.answers if each[0][:1] == "2"]
        return good or [each for each in self.answers if each[0] == "default"]

    @property
    def success(self) -> tuple[str, str, Any, Any]:
        """Status, media type, schema and headers of the first success that the document has."""
        return next(iter(self.successes), ("200", "", {}, {}))


class Document(Schemas):
    """A document, read leniently: invalid operations, parameters and schemas are left out."""

    def __init__(self, root: Mapping[str, Any], owner: Any, api: str = "", file: str = "openapi/openapi.yaml") -> None:
        super().__init__(_without_method(root))
        self.api, self.file, self._owner, self._word = api, file, owner, owner.of_api(api)
        self.headers = frozenset(name.lower() for name in self._word.get("headers") or {})
        schemes = {**self.at(root, "components", "securitySchemes"), **self.at(root, "securityDefinitions"),
                   **(self._word.get("security_schemes") or {})}  # fmt: skip
        self.schemes = {name: _scheme(self.deref(scheme)) for name, scheme in schemes.items()}
        self.operations = tuple(
            self._operation(path, method, self.at(item), raw)
            for path, item in self.at(self.root, "paths").items()
            for method, raw in self.at(item).items()
            if method in METHODS and isinstance(raw, dict)
        )
        self.counts = Counter((each.method, each.template) for each in self.operations)

    @cached_property
    def secrets(self) -> frozenset[tuple[str, str]]:
        """The keys that schemes or parameters declare: operations that state no security may be sent them, too."""
        declared = {(each.place, each.name.lower()) for operation in self.operations for each in operation.parameters
                if is_secret(each.name) or (each.place == "header" and operation.is_with_key(each.name))}  # fmt: skip
        keys = {(str(each.get("in")), str(each.get("name")).lower()) for each in self.schemes.values()}
        return frozenset(declared | keys)

    @cached_property
    def whole(self) -> dict[tuple[str, str], Any]:
        """The variables that a path has as whole numbers, or a read of it in a form; another may have any text."""
        return {(operation.path, each.name): each.schema for operation in self.operations
                for each in operation.parameters
                if each.place == "path" and (self.kinds(each.schema) == {"integer"} or (
                    operation.method == "GET" and "format" in self.at(each.schema)))}  # fmt: skip

    def _operation(self, path: str, method: str, item: Any, raw: Any) -> Operation:
        names = [str(raw.get("operationId") or ""), f"{method.upper()} {path}"]
        words = {"api": [self.api], "tag": list(map(str, raw.get("tags") or ())), "path": [path], "operation": names}
        word = self._owner.of(words, method.upper())
        listed = [*(item.get("parameters") or ()), *(raw.get("parameters") or ())]
        raw = {"security": self.root.get("security") or self._word.get("security"), **item, **raw, **word}
        declared = self._declared(path, listed)
        if "swagger" in self.root:
            raw = self._upgraded(raw, declared)
        options, bodies = raw["security"], self._bodies(raw, declared)
        return Operation(
            self, path, method.upper(), raw, f"/paths/{path.replace('~', '~0').replace('/', '~1')}/{method}",
            tuple(self._parameter(each, word) for each in declared.values() if each["in"] in _PLACES),
            bodies, self.at(raw, "requestBody").get("required", False if method in ("get", "head") else None),
            None if options is None else tuple(each if isinstance(each, dict) else {each: []} for each in options),
            self.address(raw.get("servers") or []), word,
        )  # fmt: skip

    def _declared(self, path: str, listed: list[Any]) -> dict[Any, Any]:
        """Return the parameters by place and name, without those of another path; an undeclared variable is a text."""
        texts = {("path", name): {"name": name, "in": "path", "schema": {"type": "string"}, "type": "string"}
                 for name in re.findall(r"\{([^{}]+)\}", re.split("[?#]", path)[0])}  # fmt: skip
        return texts | {(each["in"], each["name"].lower() if each["in"] == "header" else each["name"]): each
                for each in map(self.deref, listed) if {"in", "name"} <= each.keys()
                and (each["in"] != "path" or f"{{{each['name']}" in path)}  # fmt: skip

    def _bodies(self, raw: Mapping[str, Any], declared: dict[Any, Any]) -> dict[str, Body]:
        """Return the body of each media type, and take the header that says it from the parameters."""
        content = self.at(raw, "requestBody", "content")
        media = {kind.lower(): self.deref(each) for kind, each in content.items()}
        bodies = {kind: Body(each.get("schema", {}), self.at(each, "encoding")) for kind, each in media.items()}
        stated = self.at(declared.pop(("header", "content-type"), {}), "schema")
        for kind in stated.get("enum") or () if bodies else ():  # a header may say it
            bodies.setdefault(str(kind).lower(), next(iter(bodies.values())))
        return bodies

    def _parameter(self, raw: Mapping[str, Any], word: Mapping[str, Any]) -> Parameter:
        name, place = raw["name"], raw["in"]
        owner = _owned(word, place, name)
        media = next(iter((raw.get("content") or {}).values()), None)
        style = raw.get("style") or ("form" if place in ("query", "cookie") else "simple")
        required = raw.get("required") is True or place == "path"
        if place == "header" and self._is_own(name.lower()):
            required, owner = False, {"hidden": True}
        schema = {"type": owner["type"]} if "type" in owner else (media or raw).get("schema", {})
        if "default" in owner:
            schema = {**self.at(schema), "default": owner["default"]}
        if raw.get("examples"):
            schema = {"examples": [self.at(each).get("value") for each in raw["examples"].values()], **self.at(schema)}
        return Parameter(
            name, place, required and owner.get("required") is not False and not {"value", "default"} & owner.keys(),
            schema, style, raw.get("explode", style in ("form", "deepObject")), media is not None, owner,
            str(raw.get("description") or ""),
        )  # fmt: skip

    def _is_own(self, header: str) -> bool:
        """Return True for a header that is the adapter's or the owner's business."""
        is_routing = _ROUTING.fullmatch(header.replace("_", "-")) is not None
        return is_routing or header in self.headers | {"accept", "authorization"}

    def _upgraded(self, raw: Mapping[str, Any], declared: dict[Any, Any]) -> dict[str, Any]:
        """Return an operation of Swagger 2.0 as one of OpenAPI 3, and change its parameters to those."""
        kinds, produces = (raw.get(word) or self.root.get(word) or _JSON for word in ("consumes", "produces"))
        for key, each in declared.items():
            collection = each.get("collectionFormat", "csv")
            schema = {word: value for word, value in each.items() if word not in _BESIDE}
            style = _COLLECTIONS.get(collection, "form" if key[0] == "query" else "simple")
            declared[key] = {"schema": schema, **each, "style": style, "explode": collection == "multi"}
        body: dict[str, Any] = next((each for (place, _), each in declared.items() if place == "body"), {})
        fields = {name: each for (place, name), each in declared.items() if place == "formData"}
        if fields:
            form = _PARTS if any(each.get("type") == "file" for each in fields.values()) else _FORM
            kinds, body = [kind for kind in kinds if "form" in kind] or [form], _form(fields)
        responses = {status: self.deref(each) for status, each in self.at(raw, "responses").items()}
        return {
            **raw, "requestBody": {**body, "content": dict.fromkeys(kinds if body else (), body)},
            "responses": {status: {**each, "content": dict.fromkeys(self._answered(each, produces), each)}
                          for status, each in responses.items()},
        }  # fmt: skip

    def _answered(self, response: Mapping[str, Any], produces: list[str]) -> list[str]:
        """Return the content types of an answer of Swagger 2.0; a file is no JSON, whatever else is."""
        if self.at(response, "schema").get("type") == "file":
            return [kind for kind in produces if "json" not in kind] or ["application/octet-stream"]
        return produces if "schema" in response else []

    def address(self, servers: Any) -> str:
        """Return the URL before the paths: of these servers, else of the document's own."""
        root = self.root
        if "swagger" in root:
            schemes = root.get("schemes") or ["https"]
            base = f"{'https' if 'https' in schemes else schemes[0]}://{root['host']}" if root.get("host") else ""
            return first_address([{"url": f"{base}{root.get('basePath') or ''}"}])
        known = root.get("servers") or ()
        servers = [
            next((each | server for each in known if each.get("url") == server.get("url")), server)
            for server in servers
        ]
        return first_address(servers, first_address(known))

    @property
    def base_path(self) -> str:
        """The path of the first server, which stands before all paths; "" for none."""
        path = urlsplit(self.address([])).path.strip("/")
        return f"/{path}" if path and "{" not in path else ""


def _without_method(node: Any) -> Any:
    """Return a node of a document without parameters, fields and headers that replace the method."""
    if isinstance(node, dict):
        return {name: _without_method(each) for name, each in node.items() if not _METHOD.fullmatch(str(name))}
    if isinstance(node, list):
        pairs = ((each, each.get("name") if isinstance(each, dict) else each) for each in node)
        return [_without_method(each) for each, name in pairs if not _METHOD.fullmatch(str(name))]
    return node


def _scheme(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scheme without the words of another type; of `Authorization: Bearer` the name ends before the colon."""
    words = {"apiKey": ("in", "name"), "http": ("scheme",)}.get(str(stated.get("type")), ())
    kept = {word: each for word, each in stated.items() if word in words or word not in ("in", "name", "scheme")}
    return {**kept, **({"name": str(kept["name"]).partition(":")[0]} if kept.get("in") == "header" else {})}


def _form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that has fields of a form of Swagger 2.0."""
    names = [name for name, each in fields.items() if each.get("required") is True]
    properties = {name: each["schema"] for name, each in fields.items()}
    schema = {"type": "object", "properties": properties, "required": names}
    return {"required": bool(names) or None, "schema": schema, "encoding": fields}


def _owned(word: Mapping[str, Any], place: str, name: str) -> dict[str, Any]:
    changes = word.get("parameters") or {}
    return {**(changes.get(name) or {}), **(changes.get(f"{place}:{name}") or {})}


def first_address(servers: Any, base: str = "") -> str:
    """Return the address of the first server, by https where the same is among them as it is written.

    The case of a host does not matter (RFC 3986, 3.2.2): it is sent in lower case.
    """
    urls = [str(server.get("url")) for server in servers]
    secure = urls[0].replace("http:", "https:", 1) if urls else ""
    stated = _url(servers[urls.index(secure) if secure in urls else 0]) if urls else ""
    address = urljoin(base, stated).partition("?")[0].rstrip("/")
    address = re.sub(r"^https?://[^/]*", lambda match: match[0].lower(), address)
    return re.sub(r"^(https://[^/]*):443(?=/|$)|^(http://[^/]*):80(?=/|$)", r"\1\2", address)


def _url(server: Mapping[str, Any]) -> str:
    url = str(server.get("url", ""))
    for name, variable in (server.get("variables") or {}).items():
        url = url.replace(f"{{{name}}}", str(variable.get("default", f"{{{name}}}")))
    return url
