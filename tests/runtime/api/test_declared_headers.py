"""Headers of answers that the document declares come back in `_meta`."""

from __future__ import annotations

from typing import Any

import pytest

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.wire import ApiResponse

from .hand_made import Make, Recorder, operation

pytestmark = pytest.mark.anyio
MADE = {"201": {"content_type": "application/json", "schema": {}, "headers": ["Location", "X-Total-Count"]}}


@pytest.mark.parametrize("more", [{}, {"parameters": {"dry_run": {"in": "adapter", "schema": {"type": "boolean"}}}}])
async def test_declared_headers_are_told_with_credentials_masked(package: Make, more: dict[str, Any]) -> None:
    headers = {"content-type": "application/json", "location": "/pets/1?key=s3cret-key", "x-other": "no"}
    recorder = Recorder(ApiResponse(201, headers, b'{"id": 1}'))
    row = operation("POST", responses=MADE, security=[["key"]], **more)
    pets = package({"op": row}, family="create", transport=recorder, environ={"PETS_KEY": "s3cret-key"}, **KEYED)
    dispatcher = Dispatcher(pets.adapter, pets.table, pets.api, Config())
    answer = await dispatcher.handle("create", {"operation": "op", "params": {}})
    assert answer["data"] == {"id": 1}
    assert answer["_meta"]["headers"] == {"Location": "/pets/1?key=***"}


async def test_an_answer_without_them_tells_none(package: Make) -> None:
    recorder = Recorder(ApiResponse(201, {"content-type": "application/json"}, b'{"id": 1}'))
    pets = package({"op": operation("POST", responses=MADE)}, family="create", transport=recorder)
    answer = await Dispatcher(pets.adapter, pets.table, pets.api, Config()).handle("create", {"operation": "op"})
    assert "_meta" not in answer


KEYED = {
    "adapter": {
        "security_schemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["PETS_KEY"]}}
    }
}
