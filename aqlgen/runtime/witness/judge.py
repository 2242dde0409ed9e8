"""The judge of a recorded request: its operation of the document, what it carries, and what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from .document import Body, Document, Operation, Parameter, covers, is_secret
from .samples import ABSENT, SEPARATORS, sample

TRANSPORT = frozenset((
    "host", "content-length", "content-type", "content-encoding", "accept", "accept-encoding", "accept-language",
    "connection", "user-agent", "transfer-encoding", "if-match", "if-none-match", "idempotency-key", "traceparent",
    "prefer", "cookie", "authorization",
))  # fmt: skip
_WRITTEN = ("json", "form", "xml", "yaml", "/*")
"""Words of the types that say how an object is written; under any other one it is written as JSON."""
_PATCH = "application/json-patch+json"
_OPERATIONS = {"type": "array", "items": {"type": "object", "required": ["op", "path"]}}
_LACKING = '" is a required property'
_SCHEMES = {"basic": "basic ", "bearer": "bearer ", "oauth2": "bearer ", "openidconnect": "bearer "}


class Grade(StrEnum):
    """How grave a finding is: the first two fail a check."""

    BROKEN = "broken"  # every call does something else than the document has
    WRONG = "wrong"  # some calls do, or agents are shown something else
    LOOK = "look"  # a person should look at it: the rules of the document do not settle it
    DOCUMENT = "document"  # the document says something that cannot be held against the adapter


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with an operation, by the adapter's name or else by `METHOD /path`; `pointer` into the document."""

    grade: Grade
    operation: str
    text: str
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.grade}: {self.operation}: {self.text}{f'  ({self.pointer})' if self.pointer else ''}"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was sent; `url` is absolute and encoded, header names are of any case."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes = b""


@dataclass(slots=True)
class Judgement:
    """The operation that a request is of, what it carries by place and wire name, and what is wrong with it.

    `matches` are all operations whose paths the request fits. The values are decoded; those of a body are under
    `("body", "")` as a whole, a form's as an object.
    """

    request: Request
    operation: Operation | None = None
    values: dict[tuple[str, str], Any] = field(default_factory=dict)
    problems: list[tuple[Grade, str]] = field(default_factory=list)
    matches: list[Operation] = field(default_factory=list)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request, by names in lower case."""
        return {name.lower(): value for name, value in self.request.headers}

    @property
    def media(self) -> str:
        """The media type of what is sent, "" for none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def judge(documents: Iterable[Document], request: Request, base: str | Mapping[str, str] = "") -> Judgement:
    """Judge a request by the documents; `base` is the address that the adapter was given for all, or for each API."""
    address, _, query = request.url.partition("?")
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    matches = []
    for document in documents:
        stated = (base if isinstance(base, str) else base.get(document.api, "")).rstrip("/")
        for operation in (each for each in document.operations if each.method == request.method):
            prefix = stated or operation.address
            if address.startswith(prefix):
                match = operation.pattern.fullmatch(address[len(prefix) :])
                if match is not None and all(pairs.get(name) == value for name, value in operation.fixed_query):
                    matches.append((operation, match.groups()))
    if not matches:
        text = f"{request.method} {urlsplit(request.url).path} is in no path of the document"
        return Judgement(request, problems=[(Grade.BROKEN, text)])
    operation, texts = min(matches, key=lambda each: (-len(each[0].template), len(each[0].variables)))
    judgement = _Reading(operation, request, texts).judgement
    judgement.matches = [operation for operation, _ in matches]
    return judgement


class _Reading:
    """One request, read by the rules of its operation. `pairs` has names and texts by place."""

    def __init__(self, operation: Operation, request: Request, path: tuple[str, ...]) -> None:
        self.operation, self.document, self.judgement = operation, operation.document, Judgement(request, operation)
        self._headers = self.judgement.headers
        cookies = [pair.strip().partition("=") for pair in self._headers.get("cookie", "").split(";")]
        self._pairs = {
            "header": list(self._headers.items()),
            "query": parse_qsl(request.url.partition("?")[2], keep_blank_values=True),
            "cookie": [(unquote(name), unquote(value)) for name, _, value in cookies],
            "path": [(name, unquote(text)) for name, text in zip(operation.variables, path, strict=False)],
        }  # fmt: skip
        self._used = {("query", name) for name, _ in operation.fixed_query}
        self._secure()
        for parameter in sorted(
            operation.parameters, key=lambda each: (operation.is_loose(each), each.name[-1:] != "]")
        ):
            self._parameter(parameter)
        self._undeclared()
        self._body(request.content)

    def _say(self, text: str, grade: Grade = Grade.WRONG) -> None:
        self.judgement.problems.append((grade, text))

    def _secure(self) -> None:
        options = self.operation.security or ()
        placed = {name: self._placed(name) for option in options for name in option}
        missing = [name for name, (_, is_sent) in placed.items() if not is_sent]
        request = self.judgement.request
        is_other = b"client_secret" in request.url.encode() + request.content or any(  # RFC 6749, 2.3.1
            is_secret(each.name) and each.name in dict(self._pairs[each.place]) for each in self.operation.parameters
        )
        if options and all(set(option) & set(missing) for option in options) and not is_other:
            self._say(f"no credential of {', '.join(missing)} is sent", Grade.BROKEN)
        self._used |= {key for key, _ in placed.values()}
        self._uninvited({} in options)

    def _uninvited(self, is_open: bool) -> None:
        """Name a credential that the operation, which nothing but credentials opens, does not ask for."""
        known = {name for place, name in self._used if place == "header"} | self.document.headers
        known |= {each.name.lower() for each in self.operation.parameters if each.place == "header"}
        if "authorization" in self._headers.keys() - known and self.operation.security is not None and not is_open:
            self._say("a credential is sent that the document does not ask for")

    def _placed(self, name: str) -> tuple[tuple[str, str], bool]:
        """Return place and name of a scheme's credential, and whether the request has it."""
        scheme = self.document.schemes.get(name) or {}
        if scheme.get("type") == "apiKey":
            place, key = str(scheme.get("in")), str(scheme.get("name"))
            key = key.lower() if place == "header" else key
            return (place, key), key in dict(self._pairs.get(place) or {key: ""})
        start = _SCHEMES.get(str(scheme.get("scheme") or scheme.get("type")).lower(), "")
        is_other = scheme.get("type") not in ("http", "basic", "oauth2", "openIdConnect")
        sent = self._headers.get("authorization", "").lower()
        return ("header", "authorization"), is_other or (bool(sent) and sent.startswith(start))

    def _parameter(self, parameter: Parameter) -> None:
        place, name, schema = parameter.place, parameter.name, parameter.schema
        key = name.lower() if place == "header" else name
        if (place, key) in self._used or (place, key) == ("header", "accept"):
            return
        pairs = [(other, text) for other, text in self._pairs[place] if (place, other) not in self._used]
        mark = {"label": ".", "matrix": ";"}.get(parameter.style, "")
        pairs = [(other, self._unmarked(text, mark, name)) for other, text in pairs] if mark else pairs
        value, names = self._read(key, schema, parameter, pairs)
        self._used |= {(place, other) for other in names}
        if value is not ABSENT:
            self.judgement.values[parameter.key] = value
            if (place, key) != ("header", "user-agent"):  # of the adapter where a call gives none
                self._see(f"{place} {name}", schema, value)
            return
        is_empty = self.operation.is_spread(parameter) and not self.document.problems(schema, {})
        if parameter.required and not is_secret(name) and not is_empty:
            self._say(f"{place} {name} is missing", Grade.BROKEN)

    def _see(self, place: str, schema: Any, value: Any) -> None:
        for problem in self.document.problems(schema, value):
            self._say(f"{place}{problem}")

    def _unmarked(self, text: str, mark: str, name: str) -> str:
        if not text.startswith(mark):
            self._say(f"path {name} is sent as {text[:40]!r}, its style begins with {mark!r}")
        return re.sub(rf"^[.;](?:{re.escape(name)}=)?|;{re.escape(name)}=", ",", text).removeprefix(",")

    def _read(self, name: str, schema: Any, form: Parameter, pairs: list[tuple[str, str]]) -> tuple[Any, set[str]]:
        """Return the value of a parameter or form field among pairs of texts, and the names that it has there."""
        texts = [text for other, text in pairs if other in (name, f"{name}[]")]
        deep = [(other, text) for other, text in pairs if other.startswith(f"{name}[") and other != f"{name}[]"]
        if deep and (form.style == "deepObject" or not texts):
            return self._typed(schema, _nested(deep)), {other for other, _ in deep}
        if not texts:
            loose = self._loose(schema, pairs) if self.operation.is_loose(form) else {}
            return self._typed(schema, loose) if loose else ABSENT, set(loose)
        kinds = self.document.kinds(schema)
        if form.style == "deepObject" and kinds == {"object"}:
            self._say(f"{name} is sent as {texts[0][:40]!r}, its style is deepObject")
        if len(texts) > 1 and not form.explode:
            self._say(f"{name} is repeated, it is not exploded")
        values = [self._typed(schema, each) for each in _readings(texts, form, kinds)]
        values = [read_json(texts[-1]), *values] if form.is_json else values
        valid = (value for value in values if not self.document.problems(schema, value))
        return next(valid, values[0]), {name, f"{name}[]"}

    def _loose(self, schema: Any, pairs: list[tuple[str, str]]) -> dict[str, str]:
        """Return the pairs that are the properties of an object."""
        known = self.document.properties(schema)
        is_free = not known or any(part.get("additionalProperties") for part in self.document.parts(schema))
        return {other: text for other, text in pairs if is_free or other in known}

    def _typed(self, schema: Any, raw: Any) -> Any:
        """Return texts as values of the schema: each as it is where that is valid, else as JSON."""
        document = self.document
        if isinstance(raw, dict) and "array" in document.kinds(schema) and all(map(str.isdecimal, raw)):
            raw = list(raw.values())
        if isinstance(raw, list):
            return [self._typed(document.items(schema), each) for each in raw]
        if isinstance(raw, dict):
            free: Any = next((part["additionalProperties"] for part in document.parts(schema)
                         if part.get("additionalProperties")), {})  # fmt: skip
            known = document.properties(schema)
            return {key: self._typed(known.get(key, free), each) for key, each in raw.items()}
        return read_json(raw or "null") if document.problems(schema, raw) else raw

    def _undeclared(self) -> None:
        """Name what the document does not have; a key of other operations may be sent if no security is stated."""
        secrets = self.document.secrets if self.operation.security is None else ()
        if not any(map(self.operation.is_loose, self.operation.parameters)):
            for name in dict.fromkeys(name for name, _ in self._pairs["query"] if ("query", name) not in self._used):
                if ("query", name.lower()) not in secrets:
                    self._say(f"query {name} is not in the document", Grade.BROKEN)
        known = {name.lower() for place, name in self._used if place == "header"} | self.document.headers
        known |= {name for place, name in secrets if place == "header"}
        for name in self._headers.keys() - known - TRANSPORT:
            self._say(f"header {name} is not in the document")

    def _body(self, content: bytes) -> None:
        operation, media = self.operation, self.judgement.media
        if not content and not (operation.bodies and media):
            if operation.body_required:
                self._say(f"the body is missing; it is {', '.join(operation.bodies)}", Grade.BROKEN)
            return
        body = next((each for name, each in operation.bodies.items() if covers(name, media)), None)
        if body is None:
            self._of_other_type(media)
        value = self._content(body or Body({}), content)
        self.judgement.values["body", ""] = value
        if body is not None and ("json" in media or "form" in media):
            self._of_schema(body.schema, value)

    def _of_other_type(self, media: str) -> None:
        """Name the type of a body that the document has not; JSON for an object that no type says how to write."""
        bodies = self.operation.bodies
        kinds = ", ".join(bodies) or "none"
        grade = Grade.LOOK if media == "application/octet-stream" and "/*" in kinds else Grade.BROKEN
        if media == "application/json" and not any(word in kinds for word in _WRITTEN):
            is_object = any(self.document.properties(body.schema) for body in bodies.values())
            grade = Grade.DOCUMENT if is_object else grade
        self._say(f"the body is {media or 'of no type'}, the document has {kinds}", grade)

    def _of_schema(self, schema: Any, value: Any) -> None:
        """Name what is wrong with the value of a body; a schema that nothing known fits cannot be held against it.

        Operations of JSON Patch fit the type of their body (RFC 6902, 4) where the schema is that of the resource.
        """
        is_patch = self.judgement.media == _PATCH and isinstance(value, list)
        if is_patch and "array" not in self.document.kinds(schema):
            schema = _OPERATIONS
        for problem in self.document.problems(schema, value):
            start, is_lacking, _ = problem.partition(_LACKING)
            if not is_secret(start.rpartition('"')[2] if is_lacking else start.split(" ")[0]):
                is_open = sample(self.document, schema) is not ABSENT
                self._say(f"body{problem}", Grade.WRONG if is_open else Grade.DOCUMENT)

    def _content(self, body: Body, content: bytes) -> Any:
        """Return the value of a body; of what is neither JSON nor a form the text."""
        media, text = self.judgement.media, content.decode("utf-8", "replace")
        if media.endswith("json"):
            return read_json(text)
        if media == "application/x-www-form-urlencoded":
            pairs = parse_qsl(text, keep_blank_values=True)
        elif media == "multipart/form-data":
            pairs = self._parts(body, content)
        else:
            return text
        fields: dict[str, Any] = {}
        for name, schema in self.document.properties(body.schema).items():
            encoding = body.encoding.get(name) or {}
            explode = encoding.get("explode", "style" in encoding or "object" not in self.document.kinds(schema))
            is_json = "json" in str(encoding.get("contentType"))
            form = Parameter(name, "body", False, schema, encoding.get("style", "form"), explode, is_json, {})
            value, names = self._read(name, schema, form, pairs)
            pairs = [pair for pair in pairs if pair[0] not in names]
            fields |= {} if value is ABSENT else {name: value}
        return {**fields, **dict(pairs)}

    def _parts(self, body: Body, content: bytes) -> list[tuple[str, str]]:
        """Return the parts of a form as names and texts."""
        message = BytesParser().parsebytes(f"Content-Type: {self._headers['content-type']}\r\n\r\n".encode() + content)
        known, pairs = self.document.properties(body.schema), []
        for part in message.walk():
            name = str(part.get_param("name", "", "content-disposition"))
            schema = known.get(name.removesuffix("[]"), {})
            parts = (*self.document.parts(schema), *self.document.parts(self.document.items(schema)))
            is_file = any(each.get("format") == "binary" or "contentMediaType" in each for each in parts)
            if is_file and part.get_filename() is None:
                self._say(f"part {name} is a file, and is sent as a text")
            if not part.is_multipart():
                pairs.append((name, bytes(part.get_payload(decode=True) or b"").decode("latin-1")))
        return pairs


def _nested(pairs: list[tuple[str, str]]) -> Any:
    """Return the tree of texts that names such as `a[b][c]` make."""
    tree: dict[str, Any] = {}
    for number, (name, text) in enumerate(pairs):
        *steps, last = [step or f"{number}" for step in re.findall(r"\[([^][]*)\]", name)]
        at = tree
        for step in steps:
            at[step] = at = at[step] if isinstance(at.get(step), dict) else {}
        at[last] = [*at[last], text] if isinstance(at.get(last), list) else [at[last], text] if last in at else text
    return tree


def _readings(texts: list[str], form: Parameter, kinds: set[str]) -> list[Any]:
    """Return the lists, objects and texts that texts can stand for, the likeliest first."""
    separator = SEPARATORS.get(form.style, "." if form.style == "label" and form.explode else ",")
    parts = [part.strip() for part in texts[0].split(separator)] if texts[0] else []
    pairs = [each for part in parts for each in (part.split("=", 1) if form.explode else [part])]
    is_whole = len(texts) > 1 or (form.explode and form.style == "form")
    readings: list[Any] = [texts if is_whole else parts] if "array" in kinds and texts[0][:1] != "[" else []
    if "object" in kinds and "string" not in kinds and texts[0][:1] != "{":
        readings.append(dict(zip(pairs[::2], pairs[1::2], strict=False)))
    return [*readings, texts[0]]


def read_json(text: str) -> Any:
    """Return the data of a text, the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
