"""From the raw document to the intermediate representation: lenient, total, one operation at a time.

An operation that cannot be served is skipped with a diagnostic while the rest go on.
"""

from __future__ import annotations

from dataclasses import dataclass

from aqlgen.build.bodies import build_body, build_responses
from aqlgen.build.context import Context, SkipError, items, text
from aqlgen.build.parameters import build_parameters
from aqlgen.build.security import build_requirements, build_schemes, build_servers
from aqlgen.build.typed import INFO, OPERATION, InvalidObjectError
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Document, Json, Operation, Origin, Tag
from aqlgen.positions import escape
from aqlgen.resolve import Resolver, UnresolvedError

__all__ = ["Built", "Skipped", "build"]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
SERVED = frozenset(METHODS) - {"trace"}


@dataclass(frozen=True, slots=True)
class Skipped:
    """An operation that cannot be served, and why."""

    method: str
    path: str
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class Built:
    """The document, what had to be skipped, and everything found on the way."""

    document: Document
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]


def build(resolver: Resolver, openapi: str) -> Built:
    """Build the document of a resolver's root; `openapi` is `3.0` or `3.1`. Never raises for what a document holds."""
    root = resolver.root
    context = Context(resolver, openapi)
    components = root.get("components")
    schemes = build_schemes(context, components.get("securitySchemes") if isinstance(components, dict) else None)
    known = frozenset(scheme.name for scheme in schemes)
    title, version, description = _info(context, root.get("info"))
    operations: list[Operation] = []
    skipped: list[Skipped] = []
    for path, method, item, raw, pointer in _operations(context):
        try:
            operations.append(_operation(context, path, method, item, raw, pointer, known))
        except SkipError as skip:
            skipped.append(Skipped(method, path, skip.diagnostic))
    document = Document(
        openapi=openapi,
        title=title,
        version=version,
        description=description,
        servers=build_servers(root.get("servers")),
        security=build_requirements(context, root.get("security"), known, "/security") or (),
        schemes=schemes,
        tags=_tags(root.get("tags")),
        operations=tuple(operations),
    )
    return Built(document, tuple(skipped), tuple(context.diagnostics))


def _tags(raw: Json) -> tuple[Tag, ...]:
    return tuple(
        Tag(text(tag.get("name")), text(tag.get("description")))
        for tag in (raw if isinstance(raw, list) else ())
        if isinstance(tag, dict)
    )


def _info(context: Context, raw: Json) -> tuple[str, str, str]:
    try:
        info = context.view(INFO, raw, "/info")
    except InvalidObjectError:
        context.warn("invalid-component", "the document has no usable info", "/info")
        return "", "", ""
    return text(info.title), text(info.version), text(info.description)


def _operations(context: Context) -> list[tuple[str, str, Json, Json, str]]:
    """Give (path, method, path item, raw operation, pointer) of every operation, in document order."""
    found = []
    for path, raw_item in items(context.resolver.root.get("paths")):
        pointer = f"/paths/{escape(path)}"
        try:
            item, where = context.resolver.follow(raw_item, pointer)
        except UnresolvedError as error:
            code = "external-reference" if error.external else "unresolved-reference"
            context.warn(code, f"the path {path!r} cannot be read: {error}", pointer)
            continue
        for key, raw in items(item):
            if key.lower() in METHODS and raw is not None:
                found.append((path, key.lower(), item, raw, f"{where}/{key}"))
    return found


def _operation(
    context: Context, path: str, method: str, item: Json, raw: Json, pointer: str, known: frozenset[str]
) -> Operation:
    if method not in SERVED:
        message = f"{method.upper()} {path} is skipped: the method is never served"
        raise SkipError(Diagnostic("operation-skipped", Severity.WARNING, message, pointer=pointer))
    if not path.startswith("/"):
        message = f"{method.upper()} {path} is skipped: a path begins with /"
        raise SkipError(Diagnostic("operation-skipped", Severity.WARNING, message, pointer=pointer))
    try:
        model = context.view(OPERATION, raw, pointer)
    except InvalidObjectError as error:
        message = f"{method.upper()} {path} is not usable: {error}"
        raise SkipError(Diagnostic("invalid-operation", Severity.WARNING, message, pointer=pointer)) from None
    servers = raw.get("servers") if isinstance(raw.get("servers"), list) else item.get("servers")
    return Operation(
        method=method,
        path=path,
        operation_id=text(model.operationId) or None,
        summary=text(model.summary) or text(item.get("summary")),
        description=text(model.description) or text(item.get("description")),
        tags=tuple(model.tags or ()),
        parameters=build_parameters(context, item, raw, path, pointer),
        body=build_body(context, raw.get("requestBody"), f"{pointer}/requestBody"),
        responses=build_responses(context, raw.get("responses"), f"{pointer}/responses"),
        security=build_requirements(context, raw.get("security"), known, f"{pointer}/security"),
        servers=build_servers(servers),
        deprecated=model.deprecated,
        extensions={key: value for key, value in raw.items() if key.startswith("x-")},
        origin=Origin(pointer),
    )
