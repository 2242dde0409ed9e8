"""References within a document: a cached resolver of JSON pointers (RFC 6901), which inlines nothing."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import unquote

from aqlgen.document.positions import split
from aqlgen.ir import Json

T = TypeVar("T")

MAX_CHAIN = 50
"""How many references may follow one another before they count as a cycle."""


class UnresolvedError(Exception):
    """A reference leads nowhere, in a circle, or outside the document (then `external` is true)."""

    def __init__(self, reference: str, message: str, *, external: bool = False) -> None:
        super().__init__(message)
        self.reference = reference
        self.external = external


class Resolver:
    """The references of one document, each looked up once."""

    def __init__(self, root: dict[str, Json]) -> None:
        self.root = root
        self._cache: dict[str, Json] = {}

    def lookup(self, reference: str) -> Json:
        """Return the value that `reference` (`#/…`) points to. Raises UnresolvedError."""
        try:
            return self._cache[reference]
        except TypeError:
            raise UnresolvedError(repr(reference), "a $ref must be a string") from None
        except KeyError:
            target = self._cache[reference] = self._walk(reference)
            return target

    def _walk(self, reference: str) -> Json:
        if not isinstance(reference, str):
            raise UnresolvedError(repr(reference), "a $ref must be a string")
        if not reference.startswith("#"):
            raise UnresolvedError(reference, f"the reference {reference!r} leaves the document", external=True)
        node: Json = self.root
        for key in split(reference[1:]):
            if isinstance(node, dict) and key not in node and "%" in key:
                key = unquote(key)
            try:
                node = node[int(key)] if isinstance(node, list) else node[key]
            except (KeyError, IndexError, ValueError, TypeError):
                raise UnresolvedError(reference, f"the reference {reference!r} leads nowhere") from None
        return node

    def follow(self, node: Json, pointer: str) -> tuple[Json, str]:
        """Follow `$ref` from `node` (at `pointer`) and return the target with its pointer.

        Raises UnresolvedError if a reference leads nowhere, outside or in a circle.
        """
        chain: list[str] = []
        while isinstance(node, dict) and "$ref" in node:
            reference = node["$ref"]
            if reference in chain or len(chain) == MAX_CHAIN:
                circle = " → ".join(step.rsplit("/", 1)[-1] for step in [*chain[-4:], reference])
                raise UnresolvedError(reference, f"the reference {reference!r} leads in a circle: {circle}")
            node = self.lookup(reference)
            pointer = reference[1:]
            chain.append(reference)
        return node, pointer
