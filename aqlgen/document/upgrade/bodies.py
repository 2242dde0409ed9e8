"""Request bodies: a parameter in `body`, or all those in `formData` (Swagger 2.0, Parameter Object)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aqlgen.document.upgrade.context import Upgrade
from aqlgen.document.upgrade.media import MULTIPART, forms
from aqlgen.document.upgrade.parameters import GONE, array_style, value_schema
from aqlgen.ir import Json
from aqlgen.runtime.media import JSON, media_type

Placed = tuple[Mapping[str, Json], str]
"""A parameter and the pointer where it stands."""

NOT_OF_A_FIELD: Final = frozenset({*GONE, "name", "in", "required", "allowEmptyValue"})


def request_body(up: Upgrade, node: Mapping[str, Json], pointer: str, consumes: tuple[str, ...]) -> dict[str, Json]:
    """Give the request body that a parameter in `body` stands for."""
    new = {key: value for key, value in node.items() if key in ("description", "required") or key.startswith("x-")}
    examples = new.pop("x-examples", None)
    content: dict[str, Json] = {}
    for kind in consumes or (JSON,):
        media: dict[str, Json] = {}
        if "schema" in node:
            up.place(media, "schema", up.schemas.convert(node["schema"]), f"{pointer}/schema")
        if isinstance(examples, dict) and kind in examples:
            media["example"] = examples[kind]
        elif "x-example" in new:
            media["example"] = new["x-example"]
        content[kind] = media
    new.pop("x-example", None)
    new["content"] = content
    return new


def form_body(up: Upgrade, fields: Sequence[Placed], consumes: tuple[str, ...]) -> dict[str, Json]:
    """Give the request body that parameters in `formData` stand for: one object, a property a field."""
    properties: dict[str, Json] = {}
    encoding: dict[str, Json] = {}
    required: list[str] = []
    for node, pointer in fields:
        name = str(node.get("name", ""))
        up.place(properties, name, _property(up, node, pointer), pointer)
        if node.get("required") is True:
            required.append(name)
        if node.get("type") == "array":
            style = array_style(up, node, pointer)
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


def _property(up: Upgrade, node: Mapping[str, Json], pointer: str) -> Json:
    schema = value_schema(up, node, pointer)
    about = {key: value for key, value in node.items() if key not in NOT_OF_A_FIELD}
    if "x-example" in node:
        about.setdefault("example", node["x-example"])
    return {**schema, **about} if isinstance(schema, dict) else schema


def is_form(content_types: tuple[str, ...]) -> bool:
    """Whether an operation says that it takes forms."""
    return any(media_type(one) == MULTIPART or "form-urlencoded" in one.lower() for one in content_types)
