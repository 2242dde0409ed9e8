"""Examples that a document gives for a parameter or a body (OpenAPI 3.1.1, 4.8.19)."""

from __future__ import annotations

from aqlgen.build.context import Context, items
from aqlgen.ir import MISSING, Json
from aqlgen.resolve import UnresolvedError


def example_of(context: Context, node: Json) -> Json:
    """Give the `example`, or the value of the first of the `examples`, of an object; MISSING when there is none."""
    if not isinstance(node, dict):
        return MISSING
    if "example" in node:
        return node["example"]
    for name, raw in items(node.get("examples")):
        try:
            example, _ = context.resolver.follow(raw, f"/examples/{name}")
        except UnresolvedError:
            continue
        if isinstance(example, dict) and "value" in example:
            return example["value"]
    return MISSING
