"""Which component schemas hold read-only properties, directly or through a reference.

Such a schema gets a second type for requests, without them, so that no agent is offered a field that it cannot set.
"""

from __future__ import annotations

from aqlgen.document.positions import unescape
from aqlgen.ir import Json

PREFIX = "#/components/schemas/"
HOLDING = frozenset({dict, list})


def with_read_only(components: Json) -> frozenset[str]:
    """Give the names of those component schemas. Linear in the size of the schemas."""
    if not isinstance(components, dict):
        return frozenset()
    direct: set[str] = set()
    users: dict[str, set[str]] = {}
    for name, schema in components.items():
        stack: list[Json] = [schema] if isinstance(schema, dict) else []
        while stack:
            node = stack.pop()
            if isinstance(node, dict):
                if node.get("readOnly") is True:
                    direct.add(name)
                reference = node.get("$ref")
                if isinstance(reference, str) and reference.startswith(PREFIX):
                    component = reference[len(PREFIX) :].partition("/")[0]
                    users.setdefault(unescape(component), set()).add(name)
                stack += [value for value in node.values() if value.__class__ in HOLDING]
            elif isinstance(node, list):
                stack.extend(node)
    found = set(direct)
    waiting = list(direct)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return frozenset(found)
