"""The root object of Swagger 2.0 as that of OpenAPI 3.0: servers, paths and components."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.positions import Origins, escape
from aqlgen.document.upgrade.context import Upgrade
from aqlgen.document.upgrade.paths import paths
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
    """Return the schemas and the security schemes. Schemas that stand elsewhere and are referred to come last.

    Shared parameters, bodies and responses become parts of the operations that refer to them.
    """
    components: dict[str, Json] = {}

    def move(section: str, name: str, value: Json, pointer: str) -> None:
        context.place(components.setdefault(section, {}), name, value, pointer)

    for name, schema in _entries(context.root, "definitions"):
        move("schemas", name, context.schemas.convert(schema), f"/definitions/{escape(name)}")
    for name, raw in _entries(context.root, "securityDefinitions"):
        node, pointer = context.follow(raw, f"/securityDefinitions/{escape(name)}")
        move("securitySchemes", name, scheme(node), pointer)
    for name, (schema, pointer) in context.schemas.lifted.items():
        move("schemas", name, schema, pointer)
    return components


def _entries(root: dict[str, Json], key: str) -> Iterable[tuple[str, Json]]:
    mapping = root.get(key)
    return mapping.items() if isinstance(mapping, dict) else ()
