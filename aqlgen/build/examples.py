"""Examples that a document gives for a parameter or a body (OpenAPI 3.1.1, 4.8.19)."""

from __future__ import annotations

from aqlgen.build.context import Context
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import MISSING, Json


def example_of(context: Context, node: Json) -> Json:
    """Give the `example`, or the value of the first of the `examples`, of an object; MISSING when there is none.

    A value that is only given as it stands on the wire (`serializedValue`) or elsewhere (`externalValue`) is none.
    """
    if not isinstance(node, dict):
        return MISSING
    if "example" in node:
        return node["example"]
    examples = node.get("examples")
    for name, raw in examples.items() if isinstance(examples, dict) else ():
        try:
            example, _ = context.resolver.follow(raw, f"/examples/{name}")
        except UnresolvedError:
            continue
        for key in ("value", "dataValue") if isinstance(example, dict) else ():
            if key in example:
                return example[key]
    return MISSING
