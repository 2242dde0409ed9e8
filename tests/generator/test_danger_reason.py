"""A reviewer sees how dangerous an operation is, and why, and what calls do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.table import Table
from tests.documents import INTEGER, TEXT, object_of, replies
from tests.generator.agents import adapter, operation
from tests.generator.commands import api, tabulate


def test_every_row_says_why_it_has_its_level_of_danger(tmp_path: Path) -> None:
    """R-SAFE-1"""
    delete = {"responses": replies(status="204")}
    table = tabulate(tmp_path, api({"DELETE /pets": delete, "DELETE /pets/{petId}": delete}))
    dangers = {row["path"]: (row["danger"], row["danger_reason"]) for row in table.rows.values()}
    assert dangers["/pets/{petId}"] == ("destructive", "category: DELETE")
    assert dangers["/pets"] == ("dangerous", "whole-collection: DELETE on a collection")
    assert "dangerous (DELETE on a collection)" in table.page


def test_a_row_has_its_tags_and_says_if_it_moves_money_whatever_its_danger_is(tmp_path: Path) -> None:
    """R-SAFE-1: what the owner's rules and `policy.money` go by."""
    operations = {
        "POST /payouts": {"operationId": "createPayout", "tags": ["Money", "Money", "", "Out"], "responses": replies()},
        "POST /pets": {"operationId": "createPet", "responses": replies()},
    }
    rows = tabulate(tmp_path, api(operations), overrides="POST /payouts: {danger: reversible}\n").rows
    payout, pet = rows["create_payout"], rows["create_pet"]
    assert (payout["tags"], payout["effects"], payout["danger"]) == (["Money", "Out"], ["money"], "reversible")
    assert "asked" not in payout, "the owner has said how dangerous it is"
    assert "tags" not in pet
    assert (pet["effects"], pet["asked"]) == (["unknown"], "first")


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_generated_adapter_goes_by_patterns_of_names_and_by_the_owners_levels(tmp_path: Path, era: str) -> None:
    """R-SAFE-1: danger levels 7.1 MUST 1, 7.2 SHOULD 1 and 4, as a client meets them."""
    called = {
        "POST /databases/{id}": "dropDatabase",
        "POST /caches/{id}": "purgeLogs",
        "POST /pets": "createPet",
        "DELETE /drafts/{id}": "deleteDraft",
    }
    operations = {key: {"operationId": name, "responses": replies(status="204")} for key, name in called.items()}
    overrides = "DELETE /drafts/{id}: {danger: reversible}\n"
    tabulation = tabulate(tmp_path, api(operations, servers=[{"url": "https://shop.example"}]), overrides=overrides)
    package = tabulation.write(tmp_path / "package")
    parts = assemble(package, environ={"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_ENDPOINT_MODE": "single"})
    async with Client(build_server(parts.dispatcher), mode=era) as client:

        async def send(operation: str, **params: str) -> Any:
            arguments = {"operation": operation, "params": params}
            return (await client.call_tool("mcp_aql", arguments)).structured_content

        dropped, purged = await send("drop_database", id="1"), await send("purge_logs", id="1")
        shown = (await send("introspect", query="danger"))["data"]["operations"]
    await parts.close()
    assert dropped["error"]["code"] == "PERMISSION_DANGER_LEVEL_DENIED"
    assert purged["error"]["code"] == "CONFIRMATION_REQUIRED"
    levels = {entry["name"]: (entry["danger"]["level"], entry["behavior"]) for entry in shown}
    assert levels["drop_database"] == ("forbidden", "deny")
    assert levels["purge_logs"] == ("dangerous", "confirm")
    assert levels["create_pet"] == ("reversible", "confirm"), "at its first use: nothing takes it back"
    assert levels["delete_draft"] == ("reversible", "allow")


def test_money_in_a_form_is_asked_about(tmp_path: Path) -> None:
    """R-SAFE-1"""
    amount = object_of(amount=INTEGER, currency=TEXT)
    form = operation("PostTransfers", amount, "application/x-www-form-urlencoded")
    agent = adapter(tmp_path, {"POST /transfers": form})
    (name,) = agent.table.rows
    assert agent.call(name, amount=100, currency="eur") == "CONFIRMATION_REQUIRED"


def test_a_read_only_adapter_serves_what_method_or_owner_makes_a_read(tmp_path: Path) -> None:
    """R-TRUST-6"""
    operations = {
        "POST /events/{id}/read": operation("readEvent", summary="Read an event"),
        "POST /items/search": operation("searchItems", summary="Search items"),
        "POST /items/query": operation("queryItems", summary="Query items"),
        "GET /items": operation("listItems"),
        "GET /server/gc": operation("getServerGc", summary="Trigger garbage collection"),
        "GET /counter": operation("counter", description="Resets the counter of the server."),
        "GET /library/scan": operation(description="This endpoint also sends a report to the owner."),
    }
    agent = adapter(tmp_path, operations, overrides="POST /items/search: {category: READ}\n", read_only=True)
    called = {f"{row['method']} {row['path']}": agent.call(name, id="7") if "{id}" in row["path"] else agent.call(name)
              for name, row in agent.table.rows.items()}  # fmt: skip
    assert {key for key, outcome in called.items() if outcome == "sent"} == {"GET /items", "POST /items/search"}
    assert set(called.values()) == {"sent", "PERMISSION_DENIED"}


def test_what_saves_is_no_create_and_keeps_what_is_there(tmp_path: Path) -> None:
    """R-NAME-1, R-UPD-2: an upsert is merged; what there is one of and cannot be read is asked about."""
    thing = object_of(text=TEXT, owner=TEXT)
    operations = {
        "GET /files/{id}": operation("getFile", responses=replies(thing)),
        "PUT /files/{id}": operation("saveFile", thing, responses=replies(thing)),
        "PUT /users/{id}/avatar": operation("uploadAvatar", thing),
        "PUT /blobs/{id}": operation("uploadBlob", {}, "application/octet-stream"),
    }
    agent = adapter(tmp_path, operations)
    agent.server.give = lambda _: {"text": "old", "owner": "ann"}
    upload = next(name for name, row in agent.table.rows.items() if row["path"].endswith("avatar"))
    assert agent.call(upload, id="7", text="x") == "CONFIRMATION_REQUIRED"
    assert agent.call("upload_blob", id="7", input="eA==") == "CONFIRMATION_REQUIRED"
    assert agent.call("save_file", id="7", input={"text": "new"}) == "sent"
    written = next(request for request in agent.server.sent if request.url.endswith("/files/7") and request.content)
    assert json.loads(written.content or b"") == {"text": "new", "owner": "ann"}
    families = dict(Table(tmp_path / "package").names())
    assert families == {"save_file": "update", "upload_blob": "update", "get_file": "read", upload: "create"}
