from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aqlgen.ir import Document, Operation, Origin

NOWHERE = Origin("")


def operation(key: str, operation_id: str | None = None, **rest: Any) -> Operation:
    """Make an operation from `METHOD /path`."""
    method, path = key.split(" ", 1)
    fields: dict[str, Any] = {
        "summary": "",
        "description": "",
        "tags": (),
        "parameters": (),
        "body": None,
        "responses": (),
        "security": None,
        "servers": (),
        "deprecated": False,
        "extensions": {},
    }
    return Operation(method.lower(), path, operation_id, **(fields | rest), origin=NOWHERE)


def document(*operations: Operation) -> Document:
    return Document("3.1.0", "", "", "", (), (), (), (), operations)


@pytest.fixture
def make() -> Callable[..., Operation]:
    return operation
