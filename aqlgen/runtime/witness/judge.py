# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The judge of a recorded request: its operation of the document, what it carries, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from .document import Body, Document, Operation, Parameter, covers, is_secret
from .samples import ABSENT

__all__ = ["Finding", "Grade", "Judgement", "Request", "judge"]

_TRANSPORT = frozenset((
    "host", "content-length", "content-type", "accept", "accept-encoding", "accept-language", "connection",
    "user-agent", "transfer-encoding", "if-match", "if-none-match", "idempotency-key", "traceparent", "prefer",
    "cookie",
))  # fmt: skip
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


class Grade(StrEnum):
    """How grave a finding is: the first two fail a check."""

    BROKEN = "broken"
    """Every call does something else than the document has."""
    WRONG = "wrong"
    """Some calls do, or agents are shown something else."""
    LOOK = "look"
    """A person should look at it: the rules of the document do not settle it."""
    DOCUMENT = "document"
    """The document says something that cannot be held against the adapter."""


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

    The values are decoded; those of a body are under `("body", "")` as a whole, a form's as an object.
    """

    operation: Operation | None = None
    values: dict[tuple[str, str], Any] = field(default_factory=dict)
    problems: list[tuple[Grade, str]] = field(default_factory=list)


def judge(documents: Iterable[Document], request: Request, base: str | Mapping[str, str] = "") -> Judgement:
    """Judge a request by the documents; `base` is the address that the adapter was given for all, or for each API."""
    match = _found(documents, request, base)
    if match is None:
        path = urlsplit(request.url).path
        return Judgement(problems=[(Grade.BROKEN, f"{request.method} {path} is in no path of the document")])
    operation, texts = match
    return _Reading(operation, request, texts).judgement


def _found(
    documents: Iterable[Document], request: Request, base: str | Mapping[str, str]
) -> tuple[Operation, tuple[str, ...]] | None:
    """Return the operation whose path is the most exact one, with the texts of its variables."""
    address, query = (
        request.url.partition("?")[0],
        dict(parse_qsl(request.url.partition("?")[2], keep_blank_values=True)),
    )
    fits: list[tuple[tuple[int, int], int, Operation, tuple[str, ...]]] = []
    for document in documents:
        stated = (base if isinstance(base, str) else base.get(document.api, "")).rstrip("/")
        for operation in document.operations:
            prefix = stated or operation.address
            if operation.method != request.method or not address.startswith(prefix):
                continue
            match = operation.pattern.fullmatch(address[len(prefix) :])
            if match is not None and all(query.get(name) == value for name, value in operation.fixed_query):
                rank = (-len(operation.template), len(operation.variables))
                fits.append((rank, len(fits), operation, match.groups()))
    best = min(fits, default=None, key=lambda each: each[:2])
    return None if best is None else (best[2], best[3])


class _Reading:
    """One request, read by the rules of its operation."""

    def __init__(self, operation: Operation, request: Request, path: tuple[str, ...]) -> None:
        self.operation, self.document, self.request = operation, operation.document, request
        self.judgement = Judgement(operation)
        self._headers = {name.lower(): value for name, value in request.headers}
        self._query = parse_qsl(request.url.partition("?")[2], keep_blank_values=True)
        pairs = (pair.strip().partition("=") for pair in self._headers.get("cookie", "").split(";"))
        self._cookies = [(unquote(name), unquote(value)) for name, _, value in pairs if name]
        self._path = dict(zip(operation.variables, path, strict=False))
        self._used = {name for name, _ in operation.fixed_query}
        self._secure()
        loose = [each for each in operation.parameters if self._is_loose(each)]
        for parameter in (*(each for each in operation.parameters if each not in loose), *loose):
            self._parameter(parameter)
        self._undeclared(bool(loose))
        self._accepted()
        self._body()

    def _say(self, text: str, grade: Grade = Grade.WRONG) -> None:
        self.judgement.problems.append((grade, text))

    def _is_loose(self, parameter: Parameter) -> bool:
        """Return True for an object whose properties are pairs of their own."""
        return (parameter.place == "query" and parameter.style == "form" and parameter.explode
                and not parameter.media and "object" in self.document.kinds(parameter.schema))  # fmt: skip

    # Credentials

    def _secure(self) -> None:
        options = self.operation.security or ()
        places = [self._placed(scheme) for option in options for scheme in option]
        lacking = [[scheme for scheme in option if not self._placed(scheme)[2]] for option in options]
        if lacking and all(lacking):
            missing = dict.fromkeys(scheme for option in lacking for scheme in option)
            self._say(f"no credential of {', '.join(missing)} is sent", Grade.BROKEN)
        self._credentials = {(place, name) for place, name, _ in places}
        self._used |= {name for place, name in self._credentials if place == "query"}
        if "authorization" in self._headers and ("header", "authorization") not in self._credentials:
            known = any(each.name.lower() == "authorization" for each in self.operation.parameters)
            stated = self.operation.security is not None
            if stated and not known and "authorization" not in self.document.headers:
                self._say("a credential is sent that the document does not ask for")

    def _placed(self, name: str) -> tuple[str, str, bool]:
        """Return place and name of a scheme's credential, and whether the request has it."""
        scheme = self.document.schemes.get(name) or {}
        kind, way = scheme.get("type"), str(scheme.get("scheme", "")).lower()
        if kind == "apiKey":
            place, key = str(scheme.get("in")), str(scheme.get("name"))
            key = key.lower() if place == "header" else key
            names = {"header": self._headers, "query": dict(self._query), "cookie": dict(self._cookies)}.get(place)
            return place, key, names is None or key in names
        sent = self._headers.get("authorization", "").lower()
        if kind == "basic" or way == "basic":
            return "header", "authorization", sent.startswith("basic ")
        if kind in ("oauth2", "openIdConnect") or way == "bearer":
            return "header", "authorization", sent.startswith("bearer ")
        return "header", "authorization", kind != "http" or bool(sent)

    # Parameters

    def _parameter(self, parameter: Parameter) -> None:
        name, schema = parameter.name, parameter.schema
        key = name.lower() if parameter.place == "header" else name
        if (parameter.place, key) in self._credentials or key == "accept":
            return
        value = getattr(self, f"_of_{parameter.place}")(parameter)
        if value is ABSENT:
            is_empty = self._is_loose(parameter) and not self.document.problems(schema, {})
            if parameter.required and not parameter.is_secret and not is_empty:
                self._say(f"{parameter.place} {name} is missing", Grade.BROKEN)
            return
        if isinstance(value, list) and len(value) == 1 and self.document.problems(schema, value):
            value = value[0]  # of an alternative that is no list
        self.judgement.values[parameter.place, name] = value
        for problem in self.document.problems(schema, value):
            self._say(f"{parameter.place} {name}{problem}")

    def _of_path(self, parameter: Parameter) -> Any:
        text = self._path.get(parameter.name)
        if text is None:
            return ABSENT
        mark = {"label": ".", "matrix": ";"}.get(parameter.style, "")
        if not text.startswith(mark):
            self._say(f"path {parameter.name} is sent as {text[:40]!r}, its style is {parameter.style}")
        if mark == ";":
            text = text.replace(f";{parameter.name}=", ",").removeprefix(",")
        text = text.removeprefix(mark)
        return self._split(parameter.schema, unquote(text), "." if mark == "." and parameter.explode else ",")

    def _of_query(self, parameter: Parameter) -> Any:
        if parameter.media:
            text = dict(self._query).get(parameter.name)
            self._used.add(parameter.name)
            return ABSENT if text is None else _json(text)
        pairs = [(name, value) for name, value in self._query if ("query", name) not in self._credentials]
        return self._form(parameter.name, parameter.schema, parameter.style, pairs, explode=parameter.explode)

    def _of_header(self, parameter: Parameter) -> Any:
        text = self._headers.get(parameter.name.lower())
        if text is None:
            return ABSENT
        return _json(text) if parameter.media else self._split(parameter.schema, text.replace(", ", ","), ",")

    def _of_cookie(self, parameter: Parameter) -> Any:
        return self._form(parameter.name, parameter.schema, parameter.style, self._cookies, explode=parameter.explode)

    def _form(self, name: str, schema: Any, style: str, pairs: list[tuple[str, str]], *, explode: bool) -> Any:
        """Return the value of a parameter or form field among pairs of texts."""
        document, kinds = self.document, self.document.kinds(schema)
        texts = [value for key, value in pairs if key in (name, f"{name}[]")]
        deep = [(key, value) for key, value in pairs if key.startswith(f"{name}[") and key != f"{name}[]"]
        if deep and (style == "deepObject" or not texts):
            self._used.update(key for key, _ in deep)
            return self._nested(schema, [(key.replace("]", "").split("[")[1:], value) for key, value in deep])
        if "object" in kinds and style == "form" and explode and not texts:
            known = document.properties(schema)
            free = not known or any(part.get("additionalProperties") for part in document.parts(schema))
            inner = {key: value for key, value in pairs if key in known or (free and key not in self._used)}
            self._used.update(inner)
            return {key: self._typed(known.get(key, {}), value) for key, value in inner.items()} or ABSENT
        if not texts:
            return ABSENT
        self._used.update((name, f"{name}[]"))
        if style == "deepObject" and kinds == {"object"}:
            self._say(f"{name} is sent as {texts[0][:40]!r}, its style is deepObject")
        if len(texts) > 1 and not explode:
            self._say(f"{name} is repeated, it is not exploded")
        separator = _SEPARATORS.get(style, ",")
        if "array" in kinds and (explode or len(texts) > 1) and texts[0][:1] != "[":
            return [self._typed(document.items(schema), text) for text in texts]
        return self._split(schema, texts[0], separator)

    def _nested(self, schema: Any, pairs: list[tuple[list[str], str]]) -> Any:
        """Return the value of pairs with the same steps before them."""
        document = self.document
        if not pairs[0][0]:
            texts = [value for _, value in pairs]
            many = "array" in document.kinds(schema) and "string" not in document.kinds(schema)
            return (
                [self._typed(document.items(schema), text) for text in texts]
                if many
                else self._typed(schema, texts[-1])
            )
        groups: dict[str, list[tuple[list[str], str]]] = {}
        for number, (steps, value) in enumerate(pairs):
            key = steps[0] if steps else ""
            groups.setdefault(key or f"{number}", []).append((steps[1:], value))
        if "array" in document.kinds(schema) and all(key.isdecimal() for key in groups):
            return [self._nested(document.items(schema), group) for group in groups.values()]
        known = document.properties(schema)
        rest: Any = next((part["additionalProperties"] for part in document.parts(schema)
                     if isinstance(part.get("additionalProperties"), dict)), {})  # fmt: skip
        return {key: self._nested(known.get(key, rest), group) for key, group in groups.items()}

    def _split(self, schema: Any, text: str, separator: str) -> Any:
        """Return the value of one text: a list or object of texts between separators, or a scalar."""
        document, kinds = self.document, self.document.kinds(schema)
        if "array" in kinds and text[:1] != "[" and not ("string" in kinds and separator not in text):
            return [self._typed(document.items(schema), each) for each in (text.split(separator) if text else [])]
        if "object" in kinds and "string" not in kinds and text[:1] != "{":
            known, parts = document.properties(schema), text.split(separator)
            if all("=" in part for part in parts):
                parts = [each for part in parts for each in part.split("=", 1)]
            return {
                key: self._typed(known.get(key, {}), each) for key, each in zip(parts[::2], parts[1::2], strict=False)
            }
        return self._typed(schema, text)

    def _typed(self, schema: Any, text: str) -> Any:
        """Return a text as the schema's type, if it is one."""
        kinds = self.document.kinds(schema)
        if "boolean" in kinds and text in ("true", "false"):
            return text == "true"
        if kinds & {"integer", "number"} and type(_json(text)) in (int, float):
            return _json(text)
        if "null" in kinds and "string" not in kinds and text in ("", "null"):
            return None
        return _json(text) if kinds & {"object", "array"} and text[:1] in "[{" else text

    def _undeclared(self, loose: bool) -> None:
        if not loose:
            for name in dict.fromkeys(name for name, _ in self._query if name not in self._used):
                self._say(f"query {name} is not in the document", Grade.BROKEN)
        known = {each.name.lower() for each in self.operation.parameters if each.place == "header"}
        known |= {name for place, name in self._credentials if place == "header"} | self.document.headers
        for name in self._headers.keys() - known - _TRANSPORT - {"authorization"}:
            self._say(f"header {name} is not in the document")

    def _accepted(self) -> None:
        """See that what the request accepts is among what the operation answers."""
        wanted = [each.partition(";")[0].strip().lower() for each in self._headers.get("accept", "*/*").split(",")]
        kinds = {kind.partition(";")[0].strip() for kind in self.operation.answered}
        is_stated = any(each.name.lower() == "accept" for each in self.operation.parameters)
        served = any(covers(each, kind) or covers(kind, each) for each in wanted for kind in kinds)
        if kinds and not served and not is_stated and "accept" not in self.document.headers:
            self._say(f"it accepts {', '.join(wanted)}, the document has {', '.join(sorted(kinds))}")

    # Body

    def _body(self) -> None:
        operation, content = self.operation, self.request.content
        kind = self._headers.get("content-type", "")
        media = kind.partition(";")[0].strip().lower()
        if not content and not (operation.bodies and media):
            if operation.body_required:
                self._say(f"the body is missing; it is {', '.join(operation.bodies)}", Grade.BROKEN)
            return
        fits = [name for name in operation.bodies if covers(name, media)]
        if not fits:
            kinds = ", ".join(operation.bodies) or "none"
            grade = Grade.LOOK if media == "application/octet-stream" and "/*" in kinds else Grade.BROKEN
            self._say(f"the body is {media or 'of no type'}, the document has {kinds}", grade)
            self.judgement.values["body", ""] = content.decode("latin-1")
            return
        body = operation.bodies[fits[0]]
        if media.endswith("json"):
            value = _json(content.decode("utf-8", "replace"))
        elif media == "application/x-www-form-urlencoded":
            value = self._fields(body, parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
        elif media == "multipart/form-data":
            value = self._multipart(body, kind)
        else:
            self.judgement.values["body", ""] = content.decode("utf-8", "replace")
            return
        self.judgement.values["body", ""] = value
        for problem in self.document.problems(body.schema, value):
            if not problem.endswith(" is a required property") or not is_secret(problem.rpartition(' "')[2][:-22]):
                self._say(f"body{problem}")

    def _fields(self, body: Body, pairs: list[tuple[str, str]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self._used, outside = set(), self._used
        for name, schema in self.document.properties(body.schema).items():
            encoding = body.encoding.get(name) or {}
            style, explode = encoding.get("style", "form"), encoding.get("explode", True)
            if "object" in self.document.kinds(schema) and "style" not in encoding:
                explode = False
            value = self._form(name, schema, style, pairs, explode=bool(explode))
            if value is not ABSENT:
                fields[name] = value
        unknown = {name: value for name, value in pairs if name not in self._used}
        self._used = outside
        return {**fields, **unknown}

    def _multipart(self, body: Body, kind: str) -> Any:
        message = BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + self.request.content)
        known, fields = self.document.properties(body.schema), dict[str, Any]()
        parts: Any = message.get_payload() if message.is_multipart() else ()
        for part in parts:
            name = str(part.get_param("name", "", "content-disposition"))
            schema = known.get(name, known.get(name.removesuffix("[]"), {}))
            many = "array" in self.document.kinds(schema)
            inner = self.document.items(schema) if many else schema
            text = (part.get_payload(decode=True) or b"").decode("latin-1")
            if self._is_file(inner) is not (part.get_filename() is not None) and self._is_file(inner):
                self._say(f"part {name} is a file, and is sent as a text")
            value = text if part.get_filename() is not None else self._typed(schema if text[:1] == "[" else inner, text)
            name = name if name in known else name.removesuffix("[]")
            fields[name] = [*fields.get(name, []), value] if many and not isinstance(value, list) else value
        return fields

    def _is_file(self, schema: Any) -> bool:
        return any(part.get("format") == "binary" or part.get("type") == "file" or "contentMediaType" in part
                   for part in self.document.parts(schema))  # fmt: skip


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
