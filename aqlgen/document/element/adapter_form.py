"""The form of the element type document and of the adapter schema: `type: adapter`, operations by families."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
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
    read_maps_to,
    read_pagination_hint,
    read_title,
    read_version,
)
from aqlgen.document.element.reader import Field, Node, Reader
from aqlgen.document.element.types import CONSTRAINTS, parameter_name, text_type
from aqlgen.ir import Json

_ROOT: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Write the name of the API, such as `name: github-api`."),
    "type": Field(required=True, values=("adapter",)),
    "version": Field(required=True, suggestion='Write `version: "1.0.0"`.'),
    "description": Field(required=True, suggestion="Describe the adapter: `description: …`."),
    "target": Field("object", required=True, suggestion="Add the API's URL: `target: {base_url: https://…, …}`."),
    "auth": Field("object"),
    "operations": Field("object", required=True, suggestion="Write the operations by family: `operations: {read: …}`."),
    "trust": Field("object"),
    "rate_limits": Field("object"),
    "author": Field(),
    "tags": Field("array"),
    "triggers": Field("array"),
    "created": Field(),
    "modified": Field(),
}
_TARGET: Final[Mapping[str, Field]] = {
    "base_url": Field(required=True, suggestion="Write the address of the API: `base_url: https://api.example.com`."),
    "transport": Field(required=True, values=("http",)),
    "protocol": Field(required=True, values=("rest",)),
    "serialization": Field(required=True, values=("json", "form")),
}
_FAMILIES: Final[Mapping[str, Field]] = {family: Field("array") for family in FAMILIES}
_OPERATION: Final[Mapping[str, Field]] = {
    "name": Field(required=True, suggestion="Name it for agents: `name: get_user`."),
    "maps_to": Field(required=True, suggestion='Add its request: `maps_to: "GET /users/{user_id}"`.'),
    "description": Field(),
    "params": Field("object"),
    "response": Field("object"),
    "pagination": Field("object"),
    "supports_fields": Field("boolean"),
    "default_fields": Field("array"),
    "danger_level": Field(values=DANGERS),
    "requires_confirmation": Field("boolean"),
    "non_idempotent": Field("boolean"),
}
_PARAMETER: Final[Mapping[str, Field]] = {
    "type": Field(required=True, suggestion="Write `type: string`."),
    "required": Field("boolean"),
    **CONSTRAINTS,
}
_RESPONSE: Final = frozenset({"type", "description"})
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}[a-z0-9]")
_FORM: Final = "application/x-www-form-urlencoded"


def read_adapter(reader: Reader, root: Mapping[str, Json]) -> Element | None:
    """Return the element, None where not even its outline can be read."""
    members = reader.fields(Node(root), _ROOT)
    if "name" in members and not _NAME.fullmatch(members["name"].value):
        expected = "lower-case letters, digits and hyphens, 2 to 64, beginning with a letter"
        close = re.sub(r"[^a-z0-9]+", "-", members["name"].value.lower()[:64]).strip("-")
        hint = f"Write `name: {close}`." if _NAME.fullmatch(close) else "Write it as in `name: github-api`."
        reader.bad_name(members["name"], members["name"].value, expected, hint)
    for key, where in (("rate_limits", "[quota] in adapter.toml"), ("trust", "`aqlgen check --promote`")):
        if key in members:
            reader.unused(members[key], f"{key} is not carried over", f"The adapter has it from {where}.")
    target = reader.fields(members["target"], _TARGET) if "target" in members else {}
    is_form = reader.text(target, "serialization") == "form"
    base_url = read_base_url(reader, target.get("base_url"))
    read_version(reader, members.get("version"))
    auth = read_auth(reader, members.get("auth"), reader.text(members, "name"))
    operations = list(_operations(reader, members.get("operations"), is_form=is_form))
    name = reader.text(members, "name")
    return Element(
        name=name,
        title=read_title(name),
        version=reader.text(members, "version"),
        description=reader.text(members, "description"),
        base_url=base_url,
        auth=auth,
        operations=tuple(operations),
    )


def _operations(reader: Reader, node: Node | None, *, is_form: bool) -> list[ElementOperation]:
    names = Names()
    operations = []
    for family, listed in ({} if node is None else reader.fields(node, _FAMILIES)).items():
        for item in listed.items():
            built = _operation(reader, item, family, names, is_form=is_form)
            operations += [built] if built is not None else []
    return operations


def _operation(reader: Reader, node: Node, family: str, names: Names, *, is_form: bool) -> ElementOperation | None:
    members = reader.fields(node, _OPERATION)
    is_named = "name" in members and names.take(reader, members["name"], family)
    parameters = _parameters(reader, members.get("params"))
    returns = _returns(reader, members.get("response"))
    if "default_fields" in members:
        reader.unused(
            members["default_fields"], "default_fields is not used", "Agents choose by `fields`; leave it out."
        )
    request = read_maps_to(reader, members["maps_to"]) if "maps_to" in members else None
    if request is None or not is_named:
        return None
    if "pagination" in members:
        hint = read_pagination_hint(reader, members["pagination"], parameters, returns)
        request = replace(request, pagination=hint)
    if is_form:
        request = replace(request, content_type=_FORM)
    return operation(reader, node, members, request, parameters, family=family, returns=returns)


def _parameters(reader: Reader, node: Node | None) -> list[ElementParameter]:
    parameters = []
    for name, member in () if node is None else node.members():
        members = reader.fields(member, _PARAMETER)
        if parameter_name(reader, member, name) and "type" in members:
            schema = text_type(reader, members["type"])
            parameters.append(built_parameter(reader, member, name, members, schema))
    return parameters


def _returns(reader: Reader, node: Node | None) -> dict[str, Json] | None:
    """Return the schema of the answer, None for one without a body; a name of a type tells no shape."""
    if node is None:
        return {}
    for key in node.value:
        if key not in _RESPONSE:
            member = node.member(key)
            reader.unused(member, f"{member.path} is not used", "Only type and description of a response are.")
    if "type" not in node.value:
        return {}
    kind = node.member("type")
    if not reader.is_of(kind, "string"):
        return {}
    return None if kind.value == "none" else text_type(reader, kind)
