"""Operations and documents for the tests of the decide stage, from as little as `METHOD /path`."""

from __future__ import annotations

from typing import Any

from aqlgen.decide.decision import Decision
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.stage import decide
from aqlgen.ir import Document, MediaType, Operation, Origin, Response

NOWHERE = Origin("")


def operation(key: str, operation_id: str | None = None, **rest: Any) -> Operation:
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


def answer(status: str, schema: Any = None) -> Response:
    media = (MediaType("application/json", schema, None, NOWHERE),) if schema is not None else ()
    return Response(status, "", media, (), NOWHERE)


def document(*operations: Operation) -> Document:
    return Document("3.1", "", "", "", (), (), (), (), operations)


def decided(*operations: Operation, overrides: Overrides | None = None) -> tuple[Decision, ...]:
    return decide(document(*operations), overrides or Overrides())


def decide_one(key: str, operation_id: str | None = None, **rest: Any) -> Decision:
    return decided(operation(key, operation_id, **rest))[0]


def names(*keys: str | tuple[str, str]) -> dict[str, str]:
    api = [operation(key) if isinstance(key, str) else operation(*key) for key in keys]
    return {decision.operation.key: decision.name for decision in decided(*api)}
