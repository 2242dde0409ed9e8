"""The root object of Swagger 2.0 as that of OpenAPI 3.0: servers, paths and components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.positions import Origins, escape
from aqlgen.document.upgrade.context import Upgrade
from aqlgen.document.upgrade.parameters import default_types, parameter, request_body
from aqlgen.document.upgrade.paths import paths, response
from aqlgen.document.upgrade.servers import scheme, servers
from aqlgen.ir import Json

VERSION: Final = "3.0.4"
"""The version that an upgraded document declares."""

REPLACED = frozenset(
    {
        "swagger",
        "host",
        "basePath",
        "schemes",
        "consumes",
        "produces",
        "paths",
        "x-ms-paths",
        "x-ms-parameterized-host",
        "definitions",
        "parameters",
        "responses",
        "securityDefinitions",
    }
)


def convert(root: dict[str, Json], origins: Origins) -> tuple[dict[str, Json], tuple[Diagnostic, ...]]:
    """Return a Swagger 2.0 document as OpenAPI 3.0, with diagnostics that point into `root`."""
    context = Upgrade(root, origins)
    new: dict[str, Json] = {"openapi": VERSION}
    origins.note(new, "openapi", context.origin("/swagger"))
    new |= {key: value for key, value in root.items() if key not in REPLACED}
    origins.carry(root, new)
    new["servers"] = servers(context)
    origins.note(new, "servers", context.origin("/host" if "host" in root else ""))
    if "paths" in root or "x-ms-paths" in root:
        new["paths"] = paths(context)
        origins.carry(root, new)
    components = _components(context)
    if components:
        new["components"] = components
    return new, tuple(context.diagnostics)


def _components(context: Upgrade) -> dict[str, Json]:
    """Return the components. Schemas that stand elsewhere and are the target of a reference come last."""
    components: dict[str, Json] = {}

    def move(section: str, name: str, value: Json, pointer: str) -> None:
        context.place(components.setdefault(section, {}), name, value, pointer)

    kinds: tuple[tuple[str, str, Callable[[Json, str], Json]], ...] = (
        ("definitions", "schemas", lambda node, _: context.schemas.convert(node)),
        (
            "responses",
            "responses",
            lambda node, pointer: response(context, node, pointer, default_types(context, "produces")),
        ),
        ("securityDefinitions", "securitySchemes", lambda node, _: scheme(node)),
    )
    for source, section, convert in kinds:
        for name, raw in context.entries(source):
            pointer = f"/{source}/{escape(name)}"
            node, where = (raw, pointer) if section == "schemas" else context.follow(raw, pointer)
            move(section, name, convert(node, where), where)
    for name, raw in context.entries("parameters"):
        node, pointer = context.follow(raw, f"/parameters/{escape(name)}")
        kind = node.get("in") if isinstance(node, dict) else None
        if kind == "body":
            move(
                "requestBodies", name, request_body(context, node, pointer, default_types(context, "consumes")), pointer
            )
        elif kind != "formData":  # form fields go into the bodies of the operations that use them
            move("parameters", name, parameter(context, node, pointer), pointer)
    for name, (node, pointer) in context.schemas.lifted.items():
        move("schemas", name, node, pointer)
    return components
