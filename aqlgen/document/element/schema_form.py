"""The form of the generator document (2.1): `schema_version`, `adapter`, `endpoints`, and types by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from aqlgen.document.element.auth import read_auth
from aqlgen.document.element.model import Element, ElementOperation, ElementParameter
from aqlgen.document.element.operations import (
    DANGERS,
    FAMILIES,
    Names,
    built_parameter,
    operation,
    read_base_url,
    read_title,
    read_version,
)
from aqlgen.document.element.reader import Field, Node, Reader
from aqlgen.document.element.requests import METHODS, read_path
from aqlgen.document.element.types import CONSTRAINTS, reference
from aqlgen.ir import Json
from aqlgen.words import snake

__all__ = ["read_schema"]

VERSIONS: Final = ("1.0",)
_ROOT: Final[Mapping[str, Field]] = {
    "schema_version": Field(required=True, suggestion='Write `schema_version: "1.0"`.'),
    "adapter": Field("object", required=True, suggestion="Write `adapter:` with name, version and target_api."),
    "auth": Field("object"),
    "endpoints": Field("object", required=True, suggestion="Write the operations by family: `endpoints: {read: …}`."),
    "types": Field("array"),
}
_ADAPTER: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Write the name of the API, such as `name: github_api`."),
    "display_name": Field(required=True, suggestion="Write `display_name: GitHub API`."),
    "version": Field(required=True, suggestion='Write `version: "1.0.0"`.'),
    "description": Field(required=True, suggestion="Describe the adapter: `description: …`."),
    "target_api": Field("object", required=True, suggestion="Write `target_api:` with name and base_url."),
}
_TARGET: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Write the name of the API: `name: GitHub REST API`."),
    "base_url": Field(required=True, suggestion="Write the address of the API: `base_url: https://api.example.com`."),
    "version": Field(),
}
_FAMILIES: Final[Mapping[str, Field]] = {family: Field("array") for family in FAMILIES}
_OPERATION: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Name it for agents: `name: get_user`."),
    "description": Field(required=True, suggestion="Describe it: `description: …`."),
    "params": Field("array", required=True, suggestion="Write `params: []` if it has none."),
    "returns": Field("", required=True, suggestion="Write `returns: object`."),
    "danger_level": Field(values=DANGERS),
    "http": Field("object"),
}
_HTTP: Final[Mapping[str, Field]] = {
    "method": Field(required=True, values=METHODS),
    "path": Field(required=True, suggestion="Write the path below base_url: `path: /users/{user_id}`."),
}
_PARAMETER: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Write `name: user_id`."),
    "type": Field("", required=True, suggestion="Write `type: string`."),
    "required": Field("boolean", required=True, suggestion="Write `required: true` or `required: false`."),
    **CONSTRAINTS,
}
_TYPE: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Write `name: Repository`."),
    "fields": Field("array", required=True, suggestion="Write `fields:` and each field behind `- `."),
}
_ADAPTER_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}[a-z0-9]")
_SNAKE: Final = re.compile(r"[a-z_][a-z0-9_]{0,199}")
_TYPE_NAME: Final = re.compile(r"[A-Za-z]\w{0,199}", re.ASCII)


def read_schema(reader: Reader, root: Mapping[str, Json]) -> Element | None:
    """Return the element, None where not even its outline can be read."""
    members = reader.fields(Node(root), _ROOT)
    _check_form(reader, members.get("schema_version"))
    adapter = reader.fields(members["adapter"], _ADAPTER) if "adapter" in members else {}
    target = reader.fields(adapter["target_api"], _TARGET) if "target_api" in adapter else {}
    if "name" in adapter and not _ADAPTER_NAME.fullmatch(adapter["name"].value):
        close = snake(adapter["name"].value[:64])
        hint = f"Write `name: {close}`." if _ADAPTER_NAME.fullmatch(close) else "Write it as in `name: github_api`."
        reader.bad_name(adapter["name"], adapter["name"].value, "snake_case, 2 to 64 characters", hint)
    read_version(reader, adapter.get("version"))
    types = _types(reader, members.get("types"))
    name = reader.text(adapter, "name").replace("_", "-")
    return Element(
        name=name,
        title=reader.text(adapter, "display_name") or read_title(name),
        version=reader.text(target, "version") or reader.text(adapter, "version"),
        description=reader.text(adapter, "description"),
        base_url=read_base_url(reader, target.get("base_url")),
        auth=read_auth(reader, members.get("auth"), name),
        operations=tuple(_operations(reader, members.get("endpoints"), types)),
        types=types,
    )


def _check_form(reader: Reader, node: Node | None) -> None:
    """Report a version of the form that is not read."""
    if node is not None and node.value not in VERSIONS:
        message = f"{node.path} {reader.shown(node.value)} is not read"
        hint = f'Write `schema_version: "{VERSIONS[-1]}"`, and compare the file with that version of the document.'
        reader.report("schema-version-unsupported", node, message, expected=" or ".join(VERSIONS), suggestion=hint)


def _types(reader: Reader, node: Node | None) -> dict[str, Mapping[str, Json]]:
    """Return the named types as JSON Schemas."""
    listed = []
    names: dict[str, str] = {}
    for item in () if node is None else node.items():
        members = reader.fields(item, _TYPE)
        named = members.get("name")
        if named is None:
            continue
        if not _TYPE_NAME.fullmatch(named.value):
            reader.bad_name(named, named.value, "letters, digits and _", "Write it as in `name: Repository`.")
        elif named.value in names:
            message = f"the type {named.value} is defined already, at {names[named.value]}"
            reader.report("schema-duplicate-name", named, message, expected="a unique name", suggestion="Rename it.")
        else:
            names[named.value] = named.path
            listed.append((named.value, members.get("fields")))
    return {name: _type(reader, fields, names) for name, fields in listed}


def _type(reader: Reader, node: Node | None, types: Collection[str]) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    required = []
    for field in _parameters(reader, node, types, is_operation=False):
        about = {"description": field.description} if field.description else {}
        schema["properties"][field.name] = {**field.schema, **about}
        required += [field.name] if field.required else []
    return {**schema, "required": required} if required else schema


def _operations(reader: Reader, node: Node | None, types: Collection[str]) -> list[ElementOperation]:
    names = Names()
    operations = []
    for family, listed in ({} if node is None else reader.fields(node, _FAMILIES)).items():
        for item in listed.items():
            built = _operation(reader, item, family, names, types)
            operations += [built] if built is not None else []
    return operations


def _operation(
    reader: Reader, node: Node, family: str, names: Names, types: Collection[str]
) -> ElementOperation | None:
    members = reader.fields(node, _OPERATION)
    is_named = "name" in members and names.take(reader, members["name"], family)
    parameters = _parameters(reader, members.get("params"), types, is_operation=True)
    returns = reference(reader, members["returns"], types) if "returns" in members else {}
    if "http" not in members:
        if is_named and "http" not in node.value:
            hint = "Write `http: {method: GET, path: /…}`, or it is left out of the adapter."
            reader.unused(node, f"{node.path} does not define its request", hint)
        return None
    http = reader.fields(members["http"], _HTTP)
    if not is_named or "method" not in http or "path" not in http or not reader.is_readable(http["path"]):
        return None
    request = read_path(reader, http["path"], http["method"].value, http["path"].value)
    if request is None:
        return None
    return operation(reader, node, members, request, parameters, family=family, returns=returns)


def _parameters(
    reader: Reader, node: Node | None, types: Collection[str], *, is_operation: bool
) -> list[ElementParameter]:
    """Return the parameters of an operation, or the fields of a type, whose names are the API's own."""
    parameters: list[ElementParameter] = []
    seen: dict[str, str] = {}
    for item in () if node is None else node.items():
        members = reader.fields(item, _PARAMETER)
        named = members.get("name")
        schema = reference(reader, members["type"], types) if "type" in members else {}
        if named is None:
            continue
        name = named.value
        if is_operation and not _SNAKE.fullmatch(name):
            reader.bad_name(named, name, "snake_case", f"Write `{snake(name[:200]) or 'user_name'}`.")
        elif not name.strip() or not name.isprintable():
            reader.bad_name(named, name, "visible characters", "Write it as the API does.")
        elif name in seen:
            message = f"the parameter {reader.shown(name)} is defined already, at {seen[name]}"
            reader.report("schema-duplicate-name", named, message, expected="a unique name", suggestion="Rename it.")
        else:
            seen[name] = named.path
            if "type" in members:
                parameters.append(built_parameter(reader, item, name, members, schema))
    return parameters
