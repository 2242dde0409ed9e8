"""Parameters, schemas of their values, and request bodies of Swagger 2.0 (Parameter Object), and their content types.

`consumes` and `produces` say what content types an operation has (Operation Object).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aqlgen.document.upgrade.context import Upgrade
from aqlgen.ir import Json
from aqlgen.runtime.wire import FORM, JSON, media_type

MULTIPART: Final = "multipart/form-data"


def types(raw: Json) -> tuple[str, ...]:
    """Return the content types of a list, each once."""
    listed = raw if isinstance(raw, list) else [raw]
    return tuple(
        dict.fromkeys(
            content_type.strip() for content_type in listed if isinstance(content_type, str) and content_type.strip()
        )
    )


def operation_types(up: Upgrade, operation: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Return the content types of an operation: its own list, else the document's. Empty if neither is stated."""
    return types((operation if key in operation else up.root).get(key))


def forms(content_types: tuple[str, ...], *, files: bool) -> tuple[str, ...]:
    """Return the content types in which a form can be sent; files can only be sent in a multipart form."""
    named = [content_type for content_type in content_types if media_type(content_type) in (FORM, MULTIPART)]
    if files:
        return tuple(content_type for content_type in named if media_type(content_type) == MULTIPART) or (MULTIPART,)
    return tuple(named) or (FORM,)


SCHEMA: Final = (
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "x-nullable",
)
"""Keywords that 2.0 has in the parameter, and 3.0 in its schema."""

SEPARATED: Final = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
"""Styles of OpenAPI 3, and `tabDelimited` of aqlgen; the adapter also writes them in paths and headers."""
MOVED_KEYS: Final = frozenset({*SCHEMA, "collectionFormat", "schema", "x-example"})


def parameter(context: Upgrade, node: Json, pointer: str) -> Json:
    """Return a parameter that is not a body. An unreadable one stays as it is: the build stage reports it."""
    if not isinstance(node, dict) or "$ref" in node:
        return node
    return context.once(node, (), lambda: _parameter(context, node, pointer))


def _parameter(context: Upgrade, node: dict[str, Json], pointer: str) -> dict[str, Json]:
    new: dict[str, Json] = {key: value for key, value in node.items() if key not in MOVED_KEYS}
    context.origins.carry(node, new)
    context.place(new, "schema", value_schema(context, node), pointer)
    if "x-example" in node and "example" not in node:
        context.place(new, "example", node["x-example"], f"{pointer}/x-example")
    if node.get("in") == "path":
        new["required"] = True
    if node.get("type") == "array":
        new |= array_style(context, node, pointer)
    return new


def value_schema(context: Upgrade, node: Mapping[str, Json]) -> Json:
    """Return the schema of a value that 2.0 describes without one; a schema that is there nevertheless wins."""
    if isinstance(node.get("schema"), dict):
        return context.schemas.convert(node["schema"])
    raw = {key: node[key] for key in SCHEMA if key in node}
    items = raw.get("items")
    if isinstance(items, dict):
        raw["items"] = _items(items)
    elif raw.get("type") == "array":
        raw["items"] = {}
    return context.schemas.convert(raw)


def _items(items: dict[str, Json]) -> dict[str, Json]:
    """Return the schema of items; arrays within an array have no separator in OpenAPI 3, and are sent as JSON."""
    new = {key: value for key, value in items.items() if key != "collectionFormat"}
    return {**new, "items": _items(new["items"])} if isinstance(new.get("items"), dict) else new


def array_style(context: Upgrade, node: Mapping[str, Json], pointer: str) -> dict[str, Json]:
    """Return `style` and `explode` for a `collectionFormat`; commas are the default."""
    form = node.get("collectionFormat", "csv")
    form = form if isinstance(form, str) else repr(form)
    if form in SEPARATED:
        return {"style": SEPARATED[form], "explode": False}
    pairs = node.get("in") in ("query", "formData")
    if form != "csv" and not (pairs and form == "multi"):
        message = f"{node.get('name')!r} has the collectionFormat {form!r}, which there is not here; commas are used"
        context.warn("no-equivalent", message, f"{pointer}/collectionFormat")
    return {"style": "form", "explode": form == "multi"} if pairs else {}


Placed = tuple[Mapping[str, Json], str]
"""A parameter and the pointer where it stands."""

NOT_OF_A_FIELD: Final = frozenset({*MOVED_KEYS, "name", "in", "required", "allowEmptyValue"})


def request_body(
    context: Upgrade, node: Mapping[str, Json], pointer: str, consumes: tuple[str, ...]
) -> dict[str, Json]:
    """Return the request body for a parameter in `body`."""
    new = {key: value for key, value in node.items() if key in ("description", "required") or key.startswith("x-")}
    examples = new.pop("x-examples", None)
    content: dict[str, Json] = {}
    for kind in consumes or (JSON,):
        media: dict[str, Json] = {}
        if "schema" in node:
            context.place(media, "schema", context.schemas.convert(node["schema"]), f"{pointer}/schema")
        if isinstance(examples, dict) and kind in examples:
            media["example"] = examples[kind]
        elif "x-example" in new:
            media["example"] = new["x-example"]
        content[kind] = media
    new.pop("x-example", None)
    new["content"] = content
    return new


def form_body(context: Upgrade, fields: Sequence[Placed], consumes: tuple[str, ...]) -> dict[str, Json]:
    """Return the request body for parameters in `formData`: one object with a property for each field."""
    properties: dict[str, Json] = {}
    encoding: dict[str, Json] = {}
    required: list[str] = []
    for node, pointer in fields:
        name = str(node.get("name", ""))
        context.place(properties, name, _property(context, node), pointer)
        if node.get("required") is True:
            required.append(name)
        if node.get("type") == "array":
            style = array_style(context, node, pointer)
            if style != {"style": "form", "explode": True}:
                encoding[name] = style
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    media: dict[str, Json] = {"schema": schema}
    if encoding:
        media["encoding"] = encoding
    files = any(node.get("type") == "file" for node, _ in fields)
    body: dict[str, Json] = {"content": dict.fromkeys(forms(consumes, files=files), media)}
    return {**body, "required": True} if required else body


def _property(context: Upgrade, node: Mapping[str, Json]) -> Json:
    schema = value_schema(context, node)
    about = {key: value for key, value in node.items() if key not in NOT_OF_A_FIELD}
    if "x-example" in node:
        about.setdefault("example", node["x-example"])
    return {**schema, **about} if isinstance(schema, dict) else schema


def is_form(content_types: tuple[str, ...]) -> bool:
    """Return True if an operation declares that it takes forms."""
    return any(
        media_type(content_type) == MULTIPART or "form-urlencoded" in content_type.lower()
        for content_type in content_types
    )
