"""Request bodies and responses (OpenAPI 3.1.1, 4.8.13 to 4.8.17)."""

from __future__ import annotations

import re

from aqlgen.build.context import Context, SkipError, items, text
from aqlgen.build.examples import example_of
from aqlgen.build.typed import REQUEST_BODY, RESPONSE, InvalidObjectError
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Body, Json, MediaType, Origin, Response
from aqlgen.positions import escape
from aqlgen.resolve import UnresolvedError

STATUS = re.compile(r"[1-5](\d\d|XX)|default")


def build_body(context: Context, raw: Json, pointer: str) -> Body | None:
    """Give the request body, None where there is none. Raises SkipError when it cannot be read."""
    if raw is None:
        return None
    try:
        node, origin = context.resolver.follow(raw, pointer)
        model = context.view(REQUEST_BODY, node, origin)
    except UnresolvedError as error:
        code = "external-reference" if error.external else "unresolved-reference"
        message = f"the request body cannot be read: {error}"
        raise SkipError(Diagnostic(code, Severity.WARNING, message, pointer=pointer)) from None
    except InvalidObjectError as error:
        message = f"the request body is not usable: {error}"
        raise SkipError(Diagnostic("invalid-operation", Severity.WARNING, message, pointer=pointer)) from None
    media = build_media(context, node.get("content"), f"{origin}/content")
    if not media:
        return None
    required = model.required if isinstance(node.get("required"), bool) else None
    return Body(required, text(model.description), media, Origin(origin))


def build_responses(context: Context, raw: Json, pointer: str) -> tuple[Response, ...]:
    """Give the responses that can be read, in document order; the others are left out with a warning."""
    found = []
    for key, value in items(raw):
        status, where = key.upper() if key != "default" else key, f"{pointer}/{escape(key)}"
        if not STATUS.fullmatch(status):
            context.warn("invalid-component", f"{key!r} is not a status code, a range such as 2XX, or default", where)
            continue
        try:
            node, origin = context.resolver.follow(value, where)
            model = context.view(RESPONSE, node, origin)
        except (UnresolvedError, InvalidObjectError) as error:
            context.warn("invalid-component", f"the response {key} is left out: {error}", where)
            continue
        media = build_media(context, node.get("content"), f"{origin}/content")
        headers = tuple(name for name, _ in items(node.get("headers")))
        found.append(Response(status, text(model.description), media, headers, Origin(origin)))
    return tuple(found)


def build_media(context: Context, raw: Json, pointer: str) -> tuple[MediaType, ...]:
    """Give the representations in `content`, in document order, their types in lower case without parameters."""
    return tuple(
        MediaType(
            content_type=key.split(";")[0].strip().lower(),
            schema=value.get("schema") if isinstance(value.get("schema"), dict | bool) else None,
            example=example_of(context, value),
            origin=Origin(f"{pointer}/{escape(key)}"),
        )
        for key, value in items(raw)
        if isinstance(value, dict)
    )
