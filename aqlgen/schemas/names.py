"""Names that agents see, of types and of fields.

A type keeps the API's name where that is an identifier; otherwise its name is made of the words. Field names are
snake_case both ways, exact and free of collisions (R-SEL-1); every schema that declares fields of a value counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from aqlgen.ir import Json
from aqlgen.schemas.all_of import Node
from aqlgen.schemas.views import Views
from aqlgen.words import pascal, snake, split

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
        "WhereCondition",
        "AggregateRequest",
        "AutonomyDirective",
        "AgentNotification",
        "SafetyLoopExecution",
        "SafetyLoopConfirmation",
        "SafetyLoopVerification",
    }
)
"""Types of the protocol, which no type of an API may hide (R-INT-5)."""

SCALARS = frozenset({"string", "integer", "number", "boolean", "array", "object", "null", "any", "none"})


def type_name(text: str) -> str:
    """Return a type name for any text; `Type` if nothing in it can be used."""
    if IDENTIFIER.fullmatch(text):
        name = text
    else:
        name = pascal(split(text)) or "Type"
        name = name if name[0].isalpha() else f"Type{name}"
    if name in PROTOCOL_TYPES or name in SCALARS:
        name = f"Api{name[0].upper()}{name[1:]}"
    return cut(name)


def cut(name: str) -> str:
    """Return a name of at most 64 characters; eight digits of its hash replace what is cut off."""
    if len(name) <= MAX_LENGTH:
        return name
    return f"{name[: MAX_LENGTH - 9]}_{sha256(name.encode()).hexdigest()[:8]}"


def component_names(components: Iterable[str], taken: Collection[str] = (), owner: str = "") -> Mapping[str, str]:
    """Return the type name of each component schema; a hash distinguishes components with equal names.

    What is `taken` by types of other APIs gets the `owner` before it.
    """
    names = {component: type_name(component) for component in components}
    names = {component: f"{owner}{name}" if name in taken else name for component, name in names.items()}
    names = {component: cut(name) for component, name in names.items()}
    counts = Counter(names.values())
    return {
        component: name
        if counts[name] == 1 or name == component
        else cut(f"{name}_{sha256(component.encode()).hexdigest()[:4]}")
        for component, name in names.items()
    }


SNAKE = re.compile(r"[a-z][a-z0-9_]*")
WORDS = re.compile(r"[A-Za-z][A-Za-z0-9_. -]*")


def field_name(wire: str) -> str:
    """Return the snake_case of a property's name; a name that is not made of words keeps its spelling."""
    if SNAKE.fullmatch(wire) or not WORDS.fullmatch(wire):
        return wire
    return snake(wire) or wire


def field_names(wires: Iterable[str], *, preserve: bool) -> dict[str, str]:
    """Return the agent's name of each property; properties with equal snake_case keep their own spelling."""
    properties = list(wires)
    if preserve:
        return {wire: wire for wire in properties}
    folded = {wire: field_name(wire) for wire in properties}
    counts = Counter(folded.values())
    return {wire: name if counts[name] == 1 else wire for wire, name in folded.items()}


class Spelling:
    """The agent's names of the fields that schemas declare; with `preserve` they are the API's names."""

    def __init__(self, views: Views, *, preserve: bool) -> None:
        self._views = views
        self._preserve = preserve
        self._own: dict[int, tuple[Node, dict[str, str]]] = {}
        self._of: dict[tuple[int, ...], tuple[object, Mapping[str, str] | None]] = {}

    def declared(self, node: Node) -> dict[str, str]:
        """Return the names of the properties of one node, including those that it only requires."""
        if "properties" not in node:
            return {}
        known = self._own.get(id(node))
        if known is None:
            wires = dict.fromkeys((*node["properties"], *node.get("required", ())))
            known = self._own[id(node)] = (node, field_names(wires, preserve=self._preserve))
        return known[1]

    def names_of(self, schemas: Sequence[Json]) -> Mapping[str, str] | None:
        """Return the names of all fields that schemas of one value declare; None if two of them differ."""
        key = tuple(map(id, schemas))
        if key not in self._of:
            self._of[key] = (schemas, self._names(schemas))
        return self._of[key][1]

    def _names(self, schemas: Sequence[Json]) -> Mapping[str, str] | None:
        before = self._of.get(tuple(map(id, schemas[:-1])))  # mostly one schema joins those that are around it
        if before is not None and before[1] is None:
            return None
        known: Mapping[str, str] = {} if before is None else before[1] or {}
        added: dict[str, str] = {}
        for raw in schemas if before is None else schemas[-1:]:
            for node in self._views.same_value(raw):
                for wire, name in self.declared(node).items():
                    if (known.get(wire) or added.setdefault(wire, name)) != name:
                        return None
        return {**known, **added} if added else known  # an alternative mostly adds nothing to its union
