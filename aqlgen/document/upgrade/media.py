"""Content types: what `consumes` and `produces` mean for an operation (Swagger 2.0, Operation Object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.document.upgrade.context import Upgrade
from aqlgen.ir import Json
from aqlgen.runtime.media import FORM, media_type

MULTIPART: Final = "multipart/form-data"


def types(raw: Json) -> tuple[str, ...]:
    """Return the content types of a list, each once."""
    listed = raw if isinstance(raw, list) else [raw]
    return tuple(
        dict.fromkeys(
            content_type.strip() for content_type in listed if isinstance(content_type, str) and content_type.strip()
        )
    )


def default_types(up: Upgrade, key: str) -> tuple[str, ...]:
    """Return the content types that the document states for all operations."""
    return types(up.root.get(key))


def operation_types(up: Upgrade, operation: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Return the content types of an operation: its own list, else the document's. Empty if neither is stated."""
    return types(operation[key]) if key in operation else default_types(up, key)


def forms(content_types: tuple[str, ...], *, files: bool) -> tuple[str, ...]:
    """Return the content types in which a form can be sent; files can only be sent in a multipart form."""
    named = [content_type for content_type in content_types if media_type(content_type) in (FORM, MULTIPART)]
    if files:
        return tuple(content_type for content_type in named if media_type(content_type) == MULTIPART) or (MULTIPART,)
    return tuple(named) or (FORM,)
