"""Images and other files stand beside the answer, as blocks of MCP, and the answer says what there is."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.wire import ApiResponse

from .hand_made import STRING, Recorder, json_answer, make_package, operation

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ["auto", "legacy"])]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
ZIP = b"PK\x03\x04" + bytes(range(256))
BYTES = {"type": "string", "format": "byte", "contentEncoding": "base64"}
IMAGES = {"type": "object", "properties": {"id": STRING, "image": BYTES}}


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def serve(folder: Path, answer: ApiResponse, schema: Any = None, **settings: Any) -> Dispatcher:
    """Return an adapter of one read, whose API always gives this answer."""
    entry: dict[str, Any] = {"content_type": answer.headers.get("content-type", "image/png")}
    rows = {"get_op": operation(responses={"200": {**entry, **({} if schema is None else {"schema": schema})}})}
    environ = {"P_KEY": "hunter2-secret-of-many-letters"}
    adapter = {
        "security_schemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}},
        "security": [["key"]],
    }
    package = make_package(folder, rows, transport=Recorder(answer), environ=environ, adapter=adapter)
    return Dispatcher(package.adapter, package.table, package.api, Config(**settings))


async def call(dispatcher: Dispatcher, era: str, arguments: Mapping[str, Any] | None = None) -> tuple[Any, list[Any]]:
    """Return the envelope, as a client reads it from the text alone, and the blocks beside it."""
    async with Client(build_server(dispatcher), mode=era) as client:
        result = await client.call_tool("mcp_aql_read", dict(arguments or {"operation": "get_op"}))
    text, *blocks = result.content
    assert text.type == "text"
    assert json.loads(text.text) == result.structured_content
    return result.structured_content, blocks


def file_answer(content: bytes, kind: str, name: str = "") -> ApiResponse:
    headers = {"content-type": kind}
    if name:
        headers["content-disposition"] = f'attachment; filename="{name}"'
    return ApiResponse(200, headers, content)


async def test_an_image_is_a_block_beside_the_answer(tmp_path: Path, era: str) -> None:
    """R-ENV-3."""
    envelope, (image,) = await call(serve(tmp_path, file_answer(PNG, "image/png", "a b.png")), era)
    assert (image.type, image.data, image.mime_type) == ("image", b64(PNG), "image/png")
    data = envelope["data"]
    assert data.pop("note").startswith("The image is in that block")
    assert data == {"mime_type": "image/png", "size": len(PNG), "filename": "a b.png", "content_block": 1}
    assert "warnings" not in envelope


async def test_an_image_is_known_by_its_bytes_whatever_it_is_called(tmp_path: Path, era: str) -> None:
    _, (image,) = await call(serve(tmp_path, file_answer(PNG, "application/octet-stream")), era)
    assert (image.type, image.mime_type) == ("image", "image/png")
    _, (other,) = await call(serve(tmp_path, file_answer(ZIP, "image/png")), era)
    assert other.type == "resource"


async def test_another_file_is_an_embedded_resource(tmp_path: Path, era: str) -> None:
    envelope, (block,) = await call(serve(tmp_path, file_answer(ZIP, "application/zip", "ä b.zip")), era)
    assert block.type == "resource"
    assert (block.resource.blob, block.resource.mime_type) == (b64(ZIP), "application/zip")
    assert str(block.resource.uri) == "attachment:///1/%C3%A4%20b.zip"
    assert envelope["data"]["content_block"] == 1
    assert b64(ZIP) not in json.dumps(envelope)


async def test_a_file_that_is_too_large_is_told_and_how_to_get_it(tmp_path: Path, era: str) -> None:
    answer = file_answer(PNG, "image/png")
    envelope, blocks = await call(serve(tmp_path, answer, files_max_attached=100), era)
    assert blocks == []
    assert envelope["data"]["size"] == len(PNG)
    assert "files.folder" in envelope["data"]["note"]
    envelope, blocks = await call(serve(tmp_path, answer, files_max_attached=0), era)
    assert blocks == []
    assert envelope["data"] == {"content": b64(PNG), "encoding": "base64", "mime_type": "image/png"}


async def test_images_within_json_stand_beside_it_too(tmp_path: Path, era: str) -> None:
    schema = {"type": "array", "items": IMAGES}
    body = [{"id": "1", "image": b64(PNG)}, {"id": "2", "image": b64(b"text")}, {"id": "3", "image": b64(b"\xff")}]
    envelope, (image,) = await call(serve(tmp_path, json_answer(body), schema), era)
    assert image.data == b64(PNG)
    first, second, third = envelope["data"]
    assert first["id"] == "1"
    assert first["image"]["content_block"] == 1
    assert second["image"] == {"text": "text", "was": "base64"}
    assert third["image"] == b64(b"\xff")


async def test_each_call_of_a_batch_has_its_blocks(tmp_path: Path, era: str) -> None:
    """R-BAT-1."""
    arguments = {"operations": [{"operation": "get_op"}, {"operation": "nonsense"}, {"operation": "get_op"}]}
    envelope, blocks = await call(serve(tmp_path, file_answer(PNG, "image/png")), era, arguments)
    results = [entry["result"] for entry in envelope["results"]]
    assert [results[0]["data"]["content_block"], results[2]["data"]["content_block"]] == [1, 2]
    assert [block.type for block in blocks] == ["image", "image"]


async def test_no_block_holds_a_credential(tmp_path: Path, era: str) -> None:
    content = PNG + b"hunter2-secret-of-many-letters"
    _, (image,) = await call(serve(tmp_path, file_answer(content, "image/png")), era)
    assert b"hunter2" not in base64.b64decode(image.data)


async def test_plain_json_has_no_block_beside_it(tmp_path: Path, era: str) -> None:
    body = {"content": b64(PNG), "encoding": "none", "mime_type": "image/png"}
    envelope, blocks = await call(serve(tmp_path, json_answer(body), {"type": "object"}), era)
    assert blocks == []
    assert envelope["data"] == body
