"""Request bodies and responses (OpenAPI 3.1.1, 4.8.13 to 4.8.17)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from aqlgen.build.context import Context, SkipError, entries, example_of, text
from aqlgen.build.models import REQUEST_BODY, RESPONSE, InvalidObjectError
from aqlgen.document.positions import escape
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Body, Json, MediaType, Origin, Response
from aqlgen.runtime.encode import overrides_method
from aqlgen.runtime.wire import FORM, JSON, OCTETS, admits_json, is_json, is_multipart, is_text, is_xml
from aqlgen.schemas.dropped_fields import FieldDropper

NESTING = 5
"""How deep the parts of a schema are searched for fields."""

STATUS = re.compile(r"[1-5](\d\d|XX)|DEFAULT")


def build_body(context: Context, raw: Json, pointer: str) -> Body | None:
    """Return the request body, None if there is none. Raises SkipError if it cannot be read."""
    if raw is None:
        return None
    try:
        node, origin = context.resolver.follow(raw, pointer)
        members = context.validate(REQUEST_BODY, node, origin)
        stated = build_media(context, node, origin)
    except UnresolvedError as error:
        code = "external-reference" if error.external else "unresolved-reference"
        message = f"the request body cannot be read: {error}"
        raise SkipError(code, message, pointer) from None
    except InvalidObjectError as error:
        message = f"the request body is not usable: {error}"
        raise SkipError("invalid-operation", message, pointer) from None

    def report(name: str, place: str) -> None:
        message = f"the field {name!r} is left out: the API would read it as another method"
        context.warn("framing-parameter", message, place)

    dropper = FieldDropper(context.resolver, overrides_method, report)
    media = tuple(
        replace(part, schema=dropper.without(part.schema, f"{part.origin.pointer}/schema")) for part in stated
    )
    if not media:
        return None
    media = _with_json(context, media)
    required = members["required"] if isinstance(node.get("required"), bool) else None
    return Body(required, text(members.get("description")), media, Origin(origin))


def _with_json(context: Context, media: tuple[MediaType, ...]) -> tuple[MediaType, ...]:
    """Return the representations with one of JSON where each type says nothing of how its object is written.

    A mail API lists every `message/…` with an object of named fields: such an object is no mail, and JSON is what its
    server reads. A file may be sent still where the document offers one.
    """
    objects = [part for part in media if _holds_fields(context, part.schema)]
    if not objects or any(_is_encoded(part.content_type) for part in media):
        return media
    first = objects[0]
    message = f"an object cannot be written as {first.content_type}; it is sent as {JSON}"
    context.note("mistaken-media-type", message, first.origin.pointer)
    files = (part for part in media if part.content_type == OCTETS)
    return (replace(first, content_type=JSON, written=JSON), *files)


def _is_encoded(kind: str) -> bool:
    """Return True for a type that says how the fields of an object are written; XML is data in two families alone."""
    if is_xml(kind):
        return kind.startswith(("application/", "text/"))
    is_notation = is_text(f"application/{kind.partition('/')[2]}")  # YAML, a table, a script
    return admits_json(kind) or kind == FORM or is_multipart(kind) or is_notation


def _holds_fields(context: Context, raw: Json) -> bool:
    """Return True for a schema of an object with named fields, or of a list of these, none of which is bytes."""
    level, seen = [raw], set[int]()
    for _ in range(NESTING):
        inner: list[Json] = []
        for schema in level:
            try:
                target, _pointer = context.resolver.follow(schema, "")
            except UnresolvedError:
                continue
            if not isinstance(target, dict) or id(target) in seen:
                continue
            seen.add(id(target))
            properties = target.get("properties")
            if not isinstance(properties, dict) or not properties:
                lists = (target.get(key) for key in ("allOf", "anyOf", "oneOf"))
                inner += [part for parts in lists if isinstance(parts, list) for part in parts]
                inner.append(target.get("items"))
            elif not any(isinstance(field, dict) and field.get("format") == "binary" for field in properties.values()):
                return True
        level = inner
    return False


def build_responses(context: Context, operation: Json, pointer: str) -> tuple[Response, ...]:
    """Return the readable responses in document order; warn of the others."""
    responses = []
    for key, value in entries(context.get_object(operation, "responses", pointer)):
        status, where = key.strip().upper(), f"{pointer}/responses/{escape(key)}"
        if not STATUS.fullmatch(status):
            context.warn("invalid-component", f"{key!r} is not a status code, a range such as 2XX, or default", where)
            continue
        status = "default" if status == "DEFAULT" else status
        try:
            responses.append(context.once(value, partial(_response, context, value, status, where), status))
        except (UnresolvedError, InvalidObjectError) as error:
            context.warn("invalid-component", f"the response {key} is left out: {error}", where)
    return tuple(responses)


def _response(context: Context, raw: Json, status: str, pointer: str) -> Response:
    """Return a response. Raises UnresolvedError, InvalidObjectError."""
    node, origin = context.resolver.follow(raw, pointer)
    members = context.validate(RESPONSE, node, origin)
    media = build_media(context, node, origin)
    declared = node.get("headers")
    headers = tuple(declared) if isinstance(declared, dict) else ()
    return Response(status, text(members.get("description")), media, headers, Origin(origin))


def build_media(context: Context, node: Json, pointer: str) -> tuple[MediaType, ...]:
    """Return the representations in `content`, in document order, with types in lower case without parameters.

    Raises UnresolvedError.
    """
    media_types = []
    content = context.get_object(node, "content", pointer)
    content, pointer = context.resolver.follow(content, f"{pointer}/content")  # as some bundlers share it
    for key, value in content.items() if isinstance(content, dict) else ():
        where = f"{pointer}/{escape(key)}"
        try:
            media, origin = context.resolver.follow(value, where)
        except UnresolvedError as error:
            context.warn("invalid-component", f"the content type {key!r} is left out: {error}", where)
            continue
        if isinstance(media, dict):
            encoding = media.get("encoding")
            kind, written = _mended(context, key, where, content)
            media_types.append(
                MediaType(
                    content_type=kind,
                    schema=_schema(context, media, origin),
                    example=example_of(context, media),
                    origin=Origin(origin),
                    encoding=encoding if isinstance(encoding, dict) else {},
                    written=written,
                )
            )
    return tuple(media_types)


def _mended(context: Context, key: str, where: str, content: Mapping[str, Json]) -> tuple[str, str]:
    """Return a media type and how it is sent; one that no registry knows becomes the one that it plainly means."""
    kind = key.split(";")[0].strip().lower()
    meant = meant_by(kind)
    if meant == kind or (is_json(kind) and meant in content):
        return kind, key.strip()
    stays = is_json(kind)
    action = f"read as {meant}, and sent unchanged" if stays else f"taken as {meant}"
    context.note("mistaken-media-type", f"no registry knows the media type {kind!r}; it is {action}", where)
    return (kind, key.strip()) if stays else (meant, ";".join((meant, *key.split(";")[1:])))


def _schema(context: Context, media: Json, pointer: str) -> Json:
    """Return the schema of a media type; for a stream, that of the list of its items (OpenAPI 3.2.0, 4.14.2)."""
    item = media.get("itemSchema")
    item_list = {"type": "array", "items": item} if isinstance(item, dict | bool) else None
    return context.schema(media, pointer, item_list)


# Media types that no registry knows (`multipart/form`, `json`). A type is mended only if it consists of nothing but the
# words of one known type and of fillers: any other word, as in `application/vnd.shop.form`, makes it somebody's own.

MULTIPART: Final = "multipart/form-data"
XML: Final = "application/xml"

LONGEST: Final = 60
_WORD: Final = re.compile(r"multi|part|form|data|url|encod(?:ed|ing|e)|json|xml|x|www|application|text|type|content")
_SEPARATORS: Final = frozenset("/-_.+ ")
_URLENCODED: Final = frozenset({"url", "encode", "encoded", "encoding"})
_FILLERS: Final = frozenset({"x", "www", "application", "text", "type", "content"})


@lru_cache(maxsize=256)
def meant_by(content_type: str) -> str:
    """Return the known media type that a type in lower case plainly means, else the type itself."""
    if content_type in (FORM, MULTIPART, JSON, XML) or len(content_type) > LONGEST:
        return content_type
    words = _words(content_type) - _FILLERS
    if words == {"json"}:
        return JSON
    if words == {"xml"}:
        return content_type if is_xml(content_type) else XML
    coded, divided = bool(words & _URLENCODED), bool(words & {"multi", "part", "data"})
    if not (words & {"form", "url"} and words <= {"form", "data", "multi", "part", *_URLENCODED}):
        return content_type
    return content_type if coded and divided else MULTIPART if divided else FORM


def _words(content_type: str) -> frozenset[str]:
    """Return the known words that a type is made of; none if there is any other in it."""
    words: set[str] = set()
    start = 0
    while start < len(content_type):
        if content_type[start] in _SEPARATORS:
            start += 1
            continue
        match = _WORD.match(content_type, start)
        if match is None:
            return frozenset()
        words.add(match[0])
        start = match.end()
    return frozenset(words)
