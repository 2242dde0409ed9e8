"""The cost of validating one value against types that refer to one another as branches of the same value.

A validator follows every path through `allOf` and `anyOf`, so branches that refer to branches can make billions of
paths, or circles. No API intends that: references over the limit, and those that close a circle, are not validated.
"""

from __future__ import annotations

from collections.abc import Iterator

from aqlgen.ir import Json

MAX_WEIGHT = 20_000
"""How many schemas may apply to one value, counting each path to a schema."""

Written = dict[str, Json]


def limit_cost(types: dict[str, Written]) -> None:
    """Remove references that cost too much from finished types, in place."""
    weights: dict[str, int] = {}
    for start in types:
        if start in weights:
            continue
        path: list[tuple[str, list[Written]]] = [(start, list(branches(types[start])))]
        pending = [list(path[0][1])]
        on_path = {start}
        while path:
            name, edges = path[-1]
            if not pending[-1]:
                weights[name] = _weight(edges, weights)
                on_path.discard(name)
                path.pop()
                pending.pop()
                continue
            edge = pending[-1].pop()
            target = _target(edge)
            if target in on_path:
                del edge["$ref"]
            elif target in types and target not in weights:
                path.append((target, list(branches(types[target]))))
                pending.append(list(path[-1][1]))
                on_path.add(target)


def _weight(edges: list[Written], weights: dict[str, int]) -> int:
    """Return the weight of one type with its references; remove the heaviest until it is within the limit."""
    references = sorted((weights.get(_target(edge), 1), index) for index, edge in enumerate(edges) if "$ref" in edge)
    total = 1 + len(edges) + sum(weight for weight, _ in references)
    while total > MAX_WEIGHT and references:
        weight, index = references.pop()
        del edges[index]["$ref"]
        total -= weight
    return total


def _target(edge: Written) -> str:
    return str(edge.get("$ref", "")).rsplit("/", 1)[-1]


def branches(schema: Written) -> Iterator[Written]:
    """Yield each schema within a schema that describes the same value and refers to a type."""
    stack: list[Json] = [schema]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        if "$ref" in node:
            yield node
        for key in ("allOf", "anyOf"):
            stack.extend(node.get(key, ()))
