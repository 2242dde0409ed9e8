"""Parameters of an operation, matched with the placeholders in its path (OpenAPI 3.1.1, 4.8.8, 4.8.9 and 4.8.12).

Parameters of an operation override those of its path item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from aqlgen.build.context import Context, SkipError, example_of, text
from aqlgen.build.models import PARAMETER, InvalidObjectError
from aqlgen.build.operations import HEADER_NAME, RawOperation
from aqlgen.document.positions import escape
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Body, Json, Location, Origin, Parameter
from aqlgen.runtime.encode import is_framing, overrides_method
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.wire import FORM, OCTETS, is_json

IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that the specification ignores, because body and security define them.

A required one with a single possible value is sent nevertheless: servers that declare it need it. So is a Content-Type
that declares the type of a binary body. An Authorization tells which credential the operation wants
(`decide/credentials`), and is not a parameter in the end.
"""

_USUAL_STYLES = {Location.QUERY: "form", Location.COOKIE: "form"}
VISIBLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?")


def build_parameters(context: Context, operation: RawOperation) -> tuple[Parameter, ...]:
    """Return the parameters that apply, in document order. Raises SkipError if a required one is unusable."""
    parameters: dict[tuple[Location, str], Parameter] = {}
    for owner, where in ((operation.item, operation.item_pointer), (operation.raw, operation.pointer)):
        declared_here: set[tuple[Location, str]] = set()
        for index, raw in enumerate(context.get_list(owner, "parameters", where)):
            read = partial(_parameter, context, raw, operation, f"{where}/parameters/{index}")
            parameter = read() if operation.queried else context.once(raw, read, "parameter")
            if parameter is None:
                continue
            key = parameter.key
            if key in declared_here and parameters[key] != replace(parameter, origin=parameters[key].origin):
                message = f"the parameter {parameter.name!r} in {key[0].value} is declared twice; the last one counts"
                context.warn("bad-parameter", message, f"{where}/parameters/{index}")
            declared_here.add(key)
            parameters[key] = parameter
    for name in operation.queried.values():
        if (Location.QUERY, name) not in parameters:
            undeclared = replace(_undeclared(name, operation.pointer), location=Location.QUERY, style="form")
            parameters[Location.QUERY, name] = undeclared
    return match_path(context, parameters, operation.path, operation.pointer)


def _parameter(context: Context, raw: Json, operation: RawOperation, pointer: str) -> Parameter | None:
    read = _read(context, raw, operation, pointer)
    if read is None:
        return None
    location, node, members, origin = read
    name, required = members["name"], members.get("required", False)
    schema, content_type, media = _schema(context, node, origin)
    if _is_reserved(context, location, name, origin, required=required):
        return None
    fixed = _fixed(location, name, schema, required=required)
    ignored = location is Location.HEADER and name.lower() in IGNORED_HEADERS
    if ignored and fixed is None and name.lower() != "authorization":
        return None
    style = members.get("style") or _USUAL_STYLES.get(location, "simple")
    explode = members.get("explode")
    encoding = media.get("encoding") if isinstance(media, dict) else None
    return Parameter(
        name=name,
        location=location,
        required=required or location is Location.PATH,
        schema=schema,
        description=text(members.get("description")),
        deprecated=members.get("deprecated", False),
        style=style,
        explode=style in ("form", "cookie") if explode is None else explode,
        allow_reserved=members.get("allowReserved", False),
        content_type=content_type or (FORM if location is Location.QUERYSTRING else None),
        example=example_of(context, media if media is not None else node),
        origin=Origin(origin),
        fixed=fixed,
        encoding=encoding if isinstance(encoding, dict) else {},
    )


def _read(
    context: Context, raw: Json, operation: RawOperation, pointer: str
) -> tuple[Location, dict[str, Json], dict[str, Json], str] | None:
    """Return the location of a parameter, its node, its members and its pointer; None for one that is left out."""
    required = isinstance(raw, dict) and raw.get("required") is True
    try:
        node, origin = context.resolver.follow(raw, pointer)
    except UnresolvedError as error:
        code = "external-reference" if error.external else "unresolved-reference"
        _unusable(context, code, f"the parameter cannot be read: {error}", pointer, required=required)
        return None
    try:
        location, written = _location(context, node, operation, origin)
        return location, node, context.validate(PARAMETER, written, origin), origin
    except InvalidObjectError as error:
        required = required or (isinstance(node, dict) and node.get("required") is True)
        _unusable(context, "bad-parameter", f"{_named(node)} is not usable: {error}", origin, required=required)
        return None


def _is_reserved(context: Context, location: Location, name: str, pointer: str, *, required: bool) -> bool:
    """Return True, after a warning, for a parameter that no request can have or that is the adapter's own.

    Raises SkipError if it is required and no request can have it.
    """
    if location is Location.HEADER and not HEADER_NAME.fullmatch(name):
        message = f"the parameter {name!r} is not usable: HTTP allows no such name of a header"
        _unusable(context, "bad-parameter", message, pointer, required=required)
        return True
    if _is_framing(location, name):
        message = f"the parameter {name!r} is left out: by it a request is framed or routed, which is the adapter's own"
        context.warn("framing-parameter", message, pointer)
        return True
    return False


def _fixed(location: Location, name: str, schema: Json, *, required: bool) -> str | None:
    """Return the one value that is sent without being asked for, None for a parameter that agents give."""
    if location not in (Location.HEADER, Location.QUERY):
        return None
    is_single, header = _one_value(schema), name.lower() if location is Location.HEADER else ""
    if header in IGNORED_HEADERS and header != "authorization":
        return _only_value(schema) if required or (header == "content-type" and is_single) else None
    return _only_value(schema) if required and is_single else None


def _is_framing(location: Location, name: str) -> bool:
    if location is Location.HEADER:
        return is_framing(name)
    return location in (Location.QUERY, Location.COOKIE) and overrides_method(name)


def _location(context: Context, node: Json, operation: RawOperation, pointer: str) -> tuple[Location, Json]:
    """Return the location of a parameter, and the parameter as the models accept it. Raises InvalidObjectError."""
    raw = node.get("in") if isinstance(node, dict) else None
    if raw is None and isinstance(node, dict):
        raw = "path" if f"{{{node.get('name')}}}" in operation.path else "query"
    if not isinstance(raw, str):
        return Location.QUERY, node  # what is wrong is said where it is validated
    known = {member.value for member in Location} - ({"querystring"} if context.openapi != "3.2" else set())
    written = raw.lower()
    if written not in known:
        raise InvalidObjectError(f"it is in {raw!r}, which OpenAPI {context.openapi} does not have")
    if written != node.get("in"):
        place = f"is in {raw!r}" if "in" in node else "has no `in`"
        context.warn("bad-parameter", f"{_named(node)} {place}; it is read as in {written!r}", pointer)
    if written == "path" and node.get("name") in operation.queried:
        return Location.QUERY, {**node, "in": "query", "name": operation.queried[node["name"]]}
    return Location(written), {**node, "in": "query" if written == "querystring" else written}


def _named(node: Json) -> str:
    name = node.get("name") if isinstance(node, dict) else None
    return f"the parameter {name!r}" if isinstance(name, str) else "the parameter"


def _schema(context: Context, node: Json, pointer: str) -> tuple[Json, str | None, Json]:
    for content_type, raw in context.get_object(node, "content", pointer).items():
        try:
            media, where = context.resolver.follow(raw, f"{pointer}/content/{escape(content_type)}")
        except UnresolvedError:
            media, where = None, pointer
        schema = context.schema(media, where)
        if is_json(content_type) and _is_text(context, schema):
            message = f"{_named(node)} is a text, and is sent without the quotes of {content_type}"
            context.note("mistaken-media-type", message, where)
            return schema, None, media
        return schema, content_type, media
    return context.schema(node, pointer), None, None


def _is_text(context: Context, schema: Json) -> bool:
    """Return True for a schema of texts alone."""
    try:
        target, _pointer = context.resolver.follow(schema, "")
    except UnresolvedError:
        return False
    return isinstance(target, dict) and target.get("type") in ("string", ["string"])


def apply_content_type(
    parameters: tuple[Parameter, ...], body: Body | None
) -> tuple[tuple[Parameter, ...], Body | None]:
    """Apply a Content-Type parameter with a single value to a binary body that declares no exact type.

    Swagger 2.0 does not ignore this parameter: `application/x-tar` where the operation consumes octet-stream.
    """
    content_types = [
        parameter
        for parameter in parameters
        if parameter.name.lower() == "content-type" and parameter.location is Location.HEADER
    ]
    content_type = content_types[0].fixed if content_types else None
    if content_type is None:
        return parameters, body
    if body is not None and [media.content_type for media in body.media] in ([OCTETS], ["*/*"]):
        plain = content_type.partition(";")[0].strip().lower()
        body = replace(body, media=(replace(body.media[0], content_type=plain, written=content_type),))
    return tuple(parameter for parameter in parameters if parameter not in content_types or parameter.required), body


def _one_value(schema: Json) -> bool:
    options = schema.get("enum") if isinstance(schema, dict) else None
    return isinstance(schema, dict) and ("const" in schema or (isinstance(options, list) and len(options) == 1))


def _only_value(schema: Json) -> str | None:
    """Return the only or default value of a parameter, None if the document does not declare it."""
    if not isinstance(schema, dict):
        return None
    options = schema.get("enum")
    default = schema.get("default", options[0] if isinstance(options, list) and len(options) == 1 else None)
    value = schema.get("const", default)
    return value if isinstance(value, str) and VISIBLE.fullmatch(value) else None


def _unusable(context: Context, code: str, message: str, pointer: str, *, required: bool) -> None:
    if required:
        raise SkipError(code, message, pointer)
    context.warn(code, f"{message}; it is left out", pointer)


def match_path(
    context: Context, parameters: Mapping[tuple[Location, str], Parameter], path: str, pointer: str
) -> tuple[Parameter, ...]:
    """Return the parameters matched with the path: spelled as in its template, exactly one for each placeholder."""
    used = tuple(dict.fromkeys(placeholders(path)))
    undeclared = {_fold(name): name for name in used if (Location.PATH, name) not in parameters}
    matched: list[Parameter] = []
    for (location, name), parameter in parameters.items():
        if location is not Location.PATH or name in used:
            matched.append(parameter)
        elif (spelling := undeclared.pop(_fold(name), None)) is not None:
            message = f"the parameter {name!r} is spelled {{{spelling}}} in the path {path}; that counts"
            context.warn("bad-parameter", message, parameter.origin.pointer)
            matched.append(replace(parameter, name=spelling))
        else:
            message = f"the path {path} has no {{{name}}}; the parameter {name!r} is left out"
            context.warn("bad-parameter", message, parameter.origin.pointer)
    for name in undeclared.values():
        message = f"the path {path} has {{{name}}}, which no parameter declares; it is taken as a string"
        context.warn("bad-parameter", message, pointer, help=f"Declare {name!r} with `in: path`.")
        matched.append(_undeclared(name, pointer))
    return tuple(matched)


def _fold(name: str) -> str:
    """Return a name in lower case without punctuation, to compare its spellings."""
    return re.sub(r"[\W_]+", "", name).lower() or name


def _undeclared(name: str, pointer: str) -> Parameter:
    return Parameter(name, Location.PATH, True, {"type": "string"}, origin=Origin(pointer))
