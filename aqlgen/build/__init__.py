"""The intermediate representation, built from the assembled document: lenient, total, operation by operation.

In: a `Resolver` of the tree, and its OpenAPI version. Out: `Built`, with the `Document` of `aqlgen.ir`, the skipped
operations and diagnostics. An operation that cannot be served is skipped with a diagnostic while the rest continue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.build.bodies import build_body, build_responses
from aqlgen.build.context import Context, SkipError, entries, text
from aqlgen.build.models import INFO, OPERATION, InvalidObjectError
from aqlgen.build.operations import RawOperation, operations
from aqlgen.build.parameters import apply_content_type, build_parameters
from aqlgen.build.security import build_requirements, build_schemes, build_scopes, build_servers
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.plain import few
from aqlgen.diagnostics.progress import counted
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Json, Operation, Origin, Response, Tag
from aqlgen.words import is_english


@dataclass(frozen=True, slots=True)
class Skipped:
    """An operation that cannot be served, with the reason."""

    method: str
    path: str
    diagnostic: Diagnostic
    api: str = ""

    @property
    def key(self) -> str:
        """The operation's identity: `METHOD /path`, or `NAME:METHOD /path`."""
        key = f"{self.method.upper()} {self.path}"
        return f"{self.api}:{key}" if self.api else key

    def as_json(self) -> dict[str, Json]:
        """Return the entry of JSON output."""
        diagnostic = self.diagnostic
        return {
            "method": self.method.upper(),
            "path": self.path,
            **({"api": self.api} if self.api else {}),
            "code": diagnostic.code,
            "message": diagnostic.message,
        }


@dataclass(frozen=True, slots=True)
class Built:
    """The document, the skipped operations, and all diagnostics, with what it was built from."""

    document: Document
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    resolver: Resolver
    schemes: Mapping[str, Json]
    """The owner's security schemes."""
    api: str


def build(resolver: Resolver, openapi: str, schemes: Mapping[str, Json] | None = None, *, api: str = "") -> Built:
    """Build the document of a resolver's root, of version `openapi`. Never raises because of its content.

    `schemes` are Security Scheme Objects of the owner, which win over the document's. `api` is the name of the API
    where an adapter has several.
    """
    root = resolver.root
    context = Context(resolver, openapi)
    components = root.get("components")
    declared = components.get("securitySchemes") if isinstance(components, dict) else None
    all_schemes = build_schemes(context, {**dict(entries(declared)), **(schemes or {})})
    known = frozenset(scheme.name for scheme in all_schemes)
    title, version, description = _info(context, root.get("info"))
    served: list[Operation] = []
    skipped: list[Skipped] = []
    for raw_operation in counted("building", list(operations(context))):
        try:
            served.append(_operation(context, raw_operation, known, api))
        except SkipError as skip:
            skipped.append(Skipped(raw_operation.method, raw_operation.path, skip.diagnostic, api))
    _duplicates(context, served)
    if not is_english(operation.opening for operation in served):
        context.warn(
            "other-language", "the texts are not in English, so each write is asked about at its first call", "/paths"
        )
    document = Document(
        openapi=openapi,
        title=title,
        version=version,
        description=description,
        servers=build_servers(root.get("servers")),
        security=build_requirements(context, root.get("security"), known, "/security") or (),
        schemes=all_schemes,
        tags=tuple(
            Tag(text(tag.get("name")), text(tag.get("description")) or text(tag.get("summary")))
            for tag in (root["tags"] if isinstance(root.get("tags"), list) else ())
            if isinstance(tag, dict)
        ),
        operations=tuple(served),
        scopes=build_scopes(root.get("security"), known),
    )
    return Built(document, tuple(skipped), tuple(context.diagnostics), resolver, schemes or {}, api)


def _info(context: Context, raw: Json) -> tuple[str, str, str]:
    written = raw if isinstance(raw, dict) else {}
    # without quotes, YAML reads a number: `version: 1.0`
    numbers = {key: str(written[key]) for key in ("title", "version") if type(written.get(key)) in (int, float)}
    for key, value in numbers.items():
        message = f"the {key} is the number {raw[key]}; read as the text “{value}”"
        context.note("version-not-text", message, f"/info/{key}", help=f'Write {key}: "{value}".')
    try:
        info = context.validate(INFO, {**raw, **numbers} if numbers else raw, "/info")
    except InvalidObjectError:
        context.warn("invalid-component", "the document has no usable info", "/info")
        return "", "", ""
    return text(info.get("title")), text(info.get("version")), text(info.get("description"))


def _duplicates(context: Context, served: list[Operation]) -> None:
    """Warn of each operationId that several operations share, in whatever spelling; their names become unique."""
    users: dict[str, list[Operation]] = {}
    for operation in served:
        if operation.operation_id is not None:
            users.setdefault(operation.id_as_name or operation.operation_id, []).append(operation)
    for using in users.values():
        if len(using) > 1:
            spellings = " and ".join(sorted({repr(operation.operation_id) for operation in using})[:3])
            keys = few([operation.key for operation in using], 3)
            message = f"the operationId {spellings} is given to {len(using)} operations: {keys}"
            context.warn("duplicate-operation-id", message, f"{using[1].origin.pointer}/operationId")


_INBOUND: Final = re.compile(
    r"\bthis (?:web ?hook|callback)(?: \w{1,20}){0,2} (?:is|will be|gets)"
    r" (?:invoked|called|triggered|sent|fired|delivered|posted)\b",
    re.IGNORECASE,
)
"""What a document says of a request that the API makes; one that registers a webhook speaks of "a" or "the" webhook."""
_MOST_READ: Final = 2000


def _refuse_other_directions(key: str, texts: str, responses: tuple[Response, ...], pointer: str) -> None:
    """Raise SkipError for a request that the API makes, and for one that only leads out of HTTP (RFC 9110, 15.2.2)."""
    if inbound := _INBOUND.search(texts):
        message = f"{key} is skipped: the API calls it, and no client ({inbound[0]!r})"
        raise SkipError("inbound-webhook", message, pointer)
    statuses = {response.status for response in responses}
    if "101" in statuses and not any(status.startswith(("2", "3")) for status in statuses):
        message = f"{key} is skipped: it leaves HTTP (101 Switching Protocols, as a WebSocket does)"
        raise SkipError("operation-skipped", message, pointer)


def _operation(context: Context, raw_operation: RawOperation, known: frozenset[str], api: str) -> Operation:
    method, path, raw, pointer = raw_operation.method, raw_operation.path, raw_operation.raw, raw_operation.pointer
    item = raw_operation.item
    if raw_operation.refusal:
        message = f"{method.upper()} {path} is skipped: {raw_operation.refusal}"
        raise SkipError("operation-skipped", message, pointer)
    try:
        members = context.validate(OPERATION, raw, pointer)
    except InvalidObjectError as error:
        message = f"{method.upper()} {path} is not usable: {error}"
        raise SkipError("invalid-operation", message, pointer) from None
    summary, description = (text(members.get(key)) or text(item.get(key)) for key in ("summary", "description"))
    responses = build_responses(context, raw, pointer)
    _refuse_other_directions(f"{method.upper()} {path}", f"{summary}\n{description[:_MOST_READ]}", responses, pointer)
    servers = raw.get("servers") if isinstance(raw.get("servers"), list) else item.get("servers")
    parameters = build_parameters(context, raw_operation)
    body = build_body(context, raw.get("requestBody"), f"{pointer}/requestBody")
    if body is not None and body.required is None and method in ("get", "head"):  # RFC 9110, 9.3.1: of no meaning
        body = replace(body, required=False)
    parameters, body = apply_content_type(parameters, body)
    return Operation(
        method=method,
        path=path,
        operation_id=text(members.get("operationId")) or None,
        summary=summary,
        description=description,
        tags=tuple(members.get("tags") or ()),
        parameters=parameters,
        body=body,
        responses=responses,
        security=build_requirements(context, raw.get("security"), known, f"{pointer}/security"),
        servers=build_servers(servers, context.resolver.root.get("servers")),
        deprecated=members.get("deprecated", False),
        extensions={key: value for key, value in raw.items() if key.startswith("x-")},
        origin=Origin(pointer),
        scopes=build_scopes(raw.get("security"), known),
        api=api,
    )
