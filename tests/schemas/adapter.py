"""A schema of a document and its form in an adapter, both as validators of the API's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.resolve import Resolver
from aqlgen.runtime.schema.field_names import Names
from aqlgen.runtime.table import Table
from aqlgen.schemas import Place, Types


@dataclass(frozen=True)
class Adapter:
    """A written schema with its types; `unresolved` says which references lead nowhere."""

    schema: dict[str, Any]
    types: dict[str, Any]
    findings: list[Diagnostic]
    unresolved: list[str]

    def agents(self, value: Any) -> Any:
        """Return a value of the API under the agent's names."""
        table = Table(Path())
        table.__dict__["types"] = self.types
        return Names(table).to_agent(value, self.schema)

    def admits(self, value: Any) -> bool:
        """Return True if the adapter accepts a value of the API under the agent's names."""
        document = {**self.schema, "types": self.types}
        return jsonschema_rs.Draft202012Validator(document, validate_formats=True).is_valid(self.agents(value))


def adapted(
    schema: Any,
    components: Mapping[str, Any] | None = None,
    *,
    openapi: str = "3.1",
    preserve: bool = False,
    request: bool = False,
) -> Adapter:
    """Return the adapter's form of a schema, as a field called `thing`."""
    root = {"openapi": openapi, "components": {"schemas": dict(components or {})}, "x-schema": schema}
    unresolved: list[str] = []
    types = Types(
        Resolver(root), preserve=preserve, unresolved=lambda error: unresolved.append(str(error)), openapi=openapi
    )
    written = types.schema(schema, Place(request=request, hint="Thing"))
    return Adapter(written, types.finish(), types.diagnostics(), unresolved)
