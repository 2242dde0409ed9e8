"""Parameters of an operation, path-level ones overridden by operation-level ones (OpenAPI 3.1.1, 4.8.9 and 4.8.12)."""

from __future__ import annotations

import re

from aqlgen.build.context import Context, SkipError, items, text
from aqlgen.build.examples import example_of
from aqlgen.build.typed import PARAMETER, InvalidObjectError
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import MISSING, Json, Location, Origin, Parameter
from aqlgen.resolve import UnresolvedError

IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that the specification says to ignore: they belong to the body and to security."""

TEMPLATE = re.compile(r"\{([^{}]*)\}")


def build_parameters(context: Context, item: Json, operation: Json, path: str, pointer: str) -> tuple[Parameter, ...]:
    """Give the parameters that apply, in document order; raises SkipError when one that is required is unusable."""
    found: dict[tuple[str, Location], Parameter] = {}
    for owner, where in ((item, pointer.rsplit("/", 1)[0]), (operation, pointer)):
        declared = owner.get("parameters")
        for index, raw in enumerate(declared if isinstance(declared, list) else ()):
            parameter = _parameter(context, raw, f"{where}/parameters/{index}")
            if parameter is not None:
                found[parameter.name, parameter.location] = parameter
    return _with_undeclared(context, found, path, pointer)


def _parameter(context: Context, raw: Json, pointer: str) -> Parameter | None:
    required = isinstance(raw, dict) and raw.get("required") is True
    try:
        node, origin = context.resolver.follow(raw, pointer)
        model = context.view(PARAMETER, node, origin)
    except UnresolvedError as error:
        code = "external-reference" if error.external else "unresolved-reference"
        _unusable(context, code, f"the parameter cannot be read: {error}", pointer, required=required)
        return None
    except InvalidObjectError as error:
        _unusable(context, "bad-parameter", f"the parameter is not usable: {error}", pointer, required=required)
        return None
    location = Location(model.param_in.value)
    if location is Location.HEADER and model.name.lower() in IGNORED_HEADERS:
        return None
    schema, content_type, media = _schema(node)
    style = model.style or ("form" if location in (Location.QUERY, Location.COOKIE) else "simple")
    return Parameter(
        name=model.name,
        location=location,
        required=model.required or location is Location.PATH,
        schema=schema,
        description=text(model.description),
        deprecated=model.deprecated,
        style=style,
        explode=(style == "form") if model.explode is None else model.explode,
        allow_reserved=bool(getattr(model, "allowReserved", False)),
        content_type=content_type,
        example=example_of(context, media if media is not None else node),
        origin=Origin(origin),
    )


def _schema(node: Json) -> tuple[Json, str | None, Json]:
    for content_type, media in items(node.get("content")):
        schema = media.get("schema") if isinstance(media, dict) else None
        return (schema if isinstance(schema, dict | bool) else True), content_type, media
    schema = node.get("schema")
    return (schema if isinstance(schema, dict | bool) else True), None, None


def _unusable(context: Context, code: str, message: str, pointer: str, *, required: bool) -> None:
    if required:
        raise SkipError(Diagnostic(code, Severity.WARNING, message, pointer=pointer))
    context.warn(code, f"{message}; it is left out", pointer)


def _with_undeclared(
    context: Context, found: dict[tuple[str, Location], Parameter], path: str, pointer: str
) -> tuple[Parameter, ...]:
    """Add the path parameters that the template uses and nobody declares, and drop those that it does not use."""
    used = TEMPLATE.findall(path)
    for name in used:
        if (name, Location.PATH) not in found:
            message = f"the path parameter {name!r} is not declared; it is taken as a string"
            context.warn("bad-parameter", message, pointer, help=f"Declare {name!r} with `in: path`.")
            found[name, Location.PATH] = Parameter(
                name=name,
                location=Location.PATH,
                required=True,
                schema={"type": "string"},
                description="",
                deprecated=False,
                style="simple",
                explode=False,
                allow_reserved=False,
                content_type=None,
                example=MISSING,
                origin=Origin(pointer),
            )
    kept = []
    for (name, location), parameter in found.items():
        if location is Location.PATH and name not in used:
            context.warn(
                "bad-parameter", f"the path has no {{{name}}}; the parameter is left out", parameter.origin.pointer
            )
        else:
            kept.append(parameter)
    return tuple(kept)
