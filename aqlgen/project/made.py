"""What a project is made by and from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from aqlgen.ir import Json

__all__ = ["Made"]


@dataclass(frozen=True, slots=True)
class Made:
    """The version of aqlgen, the release of the templates ("" for none), the hash of the input ("" for not known)."""

    aqlgen: str
    templates: str
    input: str

    @classmethod
    def of(cls, provenance: Mapping[str, Json], templates: str) -> Self:
        """Read it from a record of generation, but for the release of the templates."""
        generator, given = provenance.get("generator"), provenance.get("input")
        version = generator.get("version") if isinstance(generator, dict) else None
        return cls(str(version or ""), templates, str(given.get("hash", "")) if isinstance(given, dict) else "")

    def as_json(self) -> dict[str, Json]:
        """Give it as data."""
        return {"aqlgen": self.aqlgen, "templates": self.templates, "input": self.input}
