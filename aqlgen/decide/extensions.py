"""Vendor extensions of an operation: its category, its name in an SDK, whether it only reads.

The extensions read are our own `x-mcpaql-*` and those of SDK and documentation generators: Kubernetes, Azure
(`x-ms-*`), Speakeasy, Fern, and any name in the style of `x-…-method-name`.
"""

from __future__ import annotations

import re
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.ir import Operation
from aqlgen.words import split

_NAMING: Final = re.compile(
    r"x-(?:[a-z0-9]+-)*(?:method-?name|operation-?name|function-?name|name-override|client-name|stainless-name)",
    re.IGNORECASE,
)
_KUBERNETES: Final = {
    **dict.fromkeys(("get", "list", "watch", "watchlist"), Category.READ),
    "post": Category.CREATE,
    **dict.fromkeys(("put", "patch"), Category.UPDATE),
    **dict.fromkeys(("delete", "deletecollection"), Category.DELETE),
    "connect": Category.EXECUTE,
}
_ENTITY: Final = re.compile(r"#(create|read|update|delete|list)\b", re.IGNORECASE)


def category(operation: Operation) -> tuple[Category, float, str] | None:
    """Return the category that an extension states, with its confidence and the words that state it."""
    extensions = operation.extensions
    declared = extensions.get("x-mcpaql-category")
    if isinstance(declared, str) and declared.upper() in Category.__members__:
        return Category(declared.upper()), 1.0, "x-mcpaql-category"
    action = extensions.get("x-kubernetes-action")
    if isinstance(action, str) and action in _KUBERNETES:
        return _KUBERNETES[action], 0.98, f"x-kubernetes-action: {action}"
    entity = extensions.get("x-speakeasy-entity-operation")
    if entity is not None and (words := {word.upper() for word in _ENTITY.findall(str(entity))}):
        if len(words) == 1:
            word = words.pop()
            return Category("READ" if word == "LIST" else word), 0.95, f"x-speakeasy-entity-operation: {word.lower()}"
        if words == {"CREATE", "UPDATE"}:
            return Category.CREATE, 0.95, "x-speakeasy-entity-operation: create and update"
    return None


def hidden(operation: Operation) -> bool:
    """Return True if the document hides the operation from agents."""
    return operation.extensions.get("x-mcpaql-hidden") is True


def reads(operation: Operation) -> str | None:
    """Return the extension that says that an operation only reads, whatever its method: read-only, or with pages."""
    for key, value in operation.extensions.items():
        if not value:
            continue
        if key in ("x-readonly", "x-read-only", "x-ms-pageable") or "pagination" in key:
            return key
    return None


def method_name(operation: Operation) -> str | None:
    """Return the name of the operation's method in an SDK, None if no extension has one."""
    for key, value in operation.extensions.items():
        if isinstance(value, str) and "name" in key.lower() and _NAMING.fullmatch(key) and split(value):
            return value
    return None
