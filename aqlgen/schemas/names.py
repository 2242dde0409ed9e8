"""Names of types: the API's own where they are identifiers, otherwise made of their words, unique in the adapter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

from aqlgen.words import pascal, split

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
MAX_LENGTH = 64

PROTOCOL_TYPES = frozenset(
    {
        "SemanticCategory",
        "OperationInput",
        "OperationResult",
        "OperationSuccess",
        "OperationFailure",
        "EndpointPermissions",
        "FieldSelection",
        "PageInfo",
        "AutonomyDirective",
        "AgentNotification",
        "SafetyLoopExecution",
        "SafetyLoopConfirmation",
    }
)
"""Types of the protocol itself, which no type of an API may hide (R-INT-5)."""

SCALARS = frozenset({"string", "integer", "number", "boolean", "array", "object", "null", "any", "none"})


def type_name(text: str) -> str:
    """Give a type's name for any text; `Type` when nothing in it can be used."""
    if IDENTIFIER.fullmatch(text):
        name = text
    else:
        name = pascal(split(text)) or "Type"
        name = name if name[0].isalpha() else f"Type{name}"
    if name in PROTOCOL_TYPES or name in SCALARS:
        name = f"Api{name[0].upper()}{name[1:]}"
    return cut(name)


def cut(name: str) -> str:
    """Keep a name within 64 characters; what is cut off is stood for by eight digits of its hash."""
    if len(name) <= MAX_LENGTH:
        return name
    return f"{name[: MAX_LENGTH - 9]}_{sha256(name.encode()).hexdigest()[:8]}"


def component_names(components: Iterable[str]) -> Mapping[str, str]:
    """Give the type name of each component schema; those whose names fold to one are told apart by a hash."""
    found = {component: type_name(component) for component in components}
    counts = Counter(found.values())
    return {
        component: name
        if counts[name] == 1 or name == component
        else cut(f"{name}_{sha256(component.encode()).hexdigest()[:4]}")
        for component, name in found.items()
    }
