"""Content types: what `consumes` and `produces` mean for an operation (Swagger 2.0, Operation Object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.document.upgrade.context import Upgrade
from aqlgen.ir import Json
from aqlgen.runtime.media import FORM, media_type

MULTIPART: Final = "multipart/form-data"


def types(raw: Json) -> tuple[str, ...]:
    """Give the content types of a list, each once."""
    listed = raw if isinstance(raw, list) else [raw]
    return tuple(dict.fromkeys(one.strip() for one in listed if isinstance(one, str) and one.strip()))


def default_types(up: Upgrade, key: str) -> tuple[str, ...]:
    """Give what the document says for all operations."""
    return types(up.root.get(key))


def operation_types(up: Upgrade, operation: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Give what holds for one operation: its own list, else the document's. Empty when nobody says anything."""
    return types(operation[key]) if key in operation else default_types(up, key)


def forms(content_types: tuple[str, ...], *, files: bool) -> tuple[str, ...]:
    """Give the content types in which a form can be sent; files travel in a multipart form only."""
    named = [one for one in content_types if media_type(one) in (FORM, MULTIPART)]
    if files:
        return tuple(one for one in named if media_type(one) == MULTIPART) or (MULTIPART,)
    return tuple(named) or (FORM,)
