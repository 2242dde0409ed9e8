"""What only schemas have: addresses of their own, dynamic references, and mappings that name schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aqlgen.document.link.dynamic import place_of
from aqlgen.document.link.kinds import KINDS
from aqlgen.document.link.references import Failure, Spot
from aqlgen.ir import Json

if TYPE_CHECKING:
    from aqlgen.document.link.walk import At, Walk

_ADDRESSES: Final = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"})
_SUFFIXES: Final = (".json", ".yaml", ".yml")


def without_addresses(walk: Walk, value: dict[str, Json], at: At) -> dict[str, Json]:
    """Give a schema whose name no longer matters, since all that refer to it now point to its place in the bundle."""
    if not any(isinstance(value.get(key), (str, bool)) for key in _ADDRESSES):
        return value
    made = {key: inner for key, inner in value.items() if key not in _ADDRESSES}
    walk.origins.carry(value, made)
    asked = value.get("$dynamicRef", value.get("$recursiveRef"))
    if not isinstance(asked, str):
        return made
    if "$dynamicRef" in value:
        bound = place_of(at.scope or (), asked.rpartition("#")[2])
    else:
        anchor = at.file.recursion(at.pointer)
        bound = None if anchor is None else (at.file.address, anchor)
    found = walk.references.at(*bound) if bound else walk.references.resolve(asked, at.file, at.pointer)
    if isinstance(found, Failure):
        walk.tell(found, at.step("$dynamicRef" if "$dynamicRef" in value else "$recursiveRef"))
        return made
    holder = made
    if "$ref" in made:
        holder = {}
        made["allOf"] = [*(made["allOf"] if isinstance(made.get("allOf"), list) else ()), holder]
    walk.parts.point(holder, "$ref", walk.references.settle(found), KINDS["schema"], at.scope or ())
    return made


def discriminator(walk: Walk, value: Json, at: At) -> Json:
    """Let the references in a mapping point into the bundle; names of schemas stay (OpenAPI 3.1.1, 4.8.25)."""
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(mapping, dict):
        return value
    made = dict(mapping)
    for name, meant in mapping.items():
        if isinstance(meant, str) and ("/" in meant or "#" in meant or meant.endswith(_SUFFIXES)):
            found = walk.references.resolve(meant, at.file, at.pointer)
            if isinstance(found, Spot):
                walk.parts.point(made, name, walk.references.settle(found), KINDS["schema"], ())
            elif not meant.startswith("#"):
                walk.tell(found, at.step("mapping").step(name))
    return {**value, "mapping": made}
