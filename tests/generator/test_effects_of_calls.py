"""Effects as an agent meets them: a document becomes an adapter, a call reaches the API or is held back before."""

from __future__ import annotations

import json
from pathlib import Path

from aqlgen.runtime.table import Table
from tests.generator.agents import ID, adapter, operation


def test_money_in_a_form_is_asked_about(tmp_path: Path) -> None:
    """R-SAFE-1"""
    amount = {"type": "object", "properties": {"amount": {"type": "integer"}, "currency": {"type": "string"}}}
    form = operation("PostTransfers", amount, "application/x-www-form-urlencoded")
    agent = adapter(tmp_path, {"/transfers": {"post": form}})
    (name,) = agent.table.rows
    assert agent.call(name, amount=100, currency="eur") == "CONFIRMATION_REQUIRED"


def test_a_read_only_adapter_serves_what_method_or_owner_makes_a_read(tmp_path: Path) -> None:
    """R-TRUST-6"""
    paths = {
        "/events/{id}/read": {"parameters": [ID], "post": operation("readEvent", summary="Read an event")},
        "/items/search": {"post": operation("searchItems", summary="Search items")},
        "/items/query": {"post": operation("queryItems", summary="Query items")},
        "/items": {"get": operation("listItems")},
        "/server/gc": {"get": operation("getServerGc", summary="Trigger garbage collection")},
        "/counter": {"get": operation("counter", description="Resets the counter of the server.")},
        "/library/scan": {"get": operation(description="This endpoint also sends a report to the owner.")},
    }
    overrides = "POST /items/search: {category: READ}\n"
    agent = adapter(tmp_path, paths, overrides=overrides, read_only=True)
    called = {f"{row['method']} {row['path']}": agent.call(name, id="7") if "{id}" in row["path"] else agent.call(name)
              for name, row in agent.table.rows.items()}  # fmt: skip
    assert {key for key, outcome in called.items() if outcome == "sent"} == {"GET /items", "POST /items/search"}
    assert set(called.values()) == {"sent", "PERMISSION_DENIED"}


def test_what_saves_is_no_create_and_keeps_what_is_there(tmp_path: Path) -> None:
    """R-NAME-1, R-UPD-2: an upsert is merged; what there is one of and cannot be read is asked about."""
    thing = {"type": "object", "properties": {"text": {"type": "string"}, "owner": {"type": "string"}}}
    answer = {"200": {"description": "ok", "content": {"application/json": {"schema": thing}}}}
    paths = {
        "/files/{id}": {
            "parameters": [ID],
            "get": operation("getFile") | {"responses": answer},
            "put": operation("saveFile", thing) | {"responses": answer},
        },
        "/users/{id}/avatar": {"parameters": [ID], "put": operation("uploadAvatar", thing)},
        "/blobs/{id}": {"parameters": [ID], "put": operation("uploadBlob", {}, "application/octet-stream")},
    }
    agent = adapter(tmp_path, paths)
    agent.server.thing = b'{"text": "old", "owner": "ann"}'
    upload = next(name for name, row in agent.table.rows.items() if row["path"].endswith("avatar"))
    assert agent.call(upload, id="7", text="x") == "CONFIRMATION_REQUIRED"
    assert agent.call("upload_blob", id="7", input="eA==") == "CONFIRMATION_REQUIRED"
    assert agent.call("save_file", id="7", input={"text": "new"}) == "sent"
    written = next(request for request in agent.server.arrived if request.url.endswith("/files/7") and request.content)
    assert json.loads(written.content or b"") == {"text": "new", "owner": "ann"}
    families = dict(Table(tmp_path / "package").names())
    assert families == {"save_file": "update", "upload_blob": "update", "get_file": "read", upload: "create"}
