"""A reviewer sees how dangerous an operation is, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.server.mcp import build_server
from tests.generator.commands import api, tabulate


def test_every_row_says_why_it_has_its_level_of_danger(tmp_path: Path) -> None:
    """R-SAFE-1"""
    delete = {"responses": {"204": {"description": "gone"}}}
    item = {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}}
    document = api({"/pets": {"delete": delete}, "/pets/{petId}": {"parameters": [item], "delete": delete}})
    table = tabulate(tmp_path, document)
    dangers = {row["path"]: (row["danger"], row["danger_reason"]) for row in table.rows.values()}
    assert dangers["/pets/{petId}"] == ("destructive", "category: DELETE")
    assert dangers["/pets"] == ("dangerous", "whole-collection: DELETE on a collection")
    assert "dangerous (DELETE on a collection)" in table.page


def test_a_row_has_its_tags_and_says_if_it_moves_money_whatever_its_danger_is(tmp_path: Path) -> None:
    """R-SAFE-1: what the owner's rules and `policy.money` go by."""
    answer = {"responses": {"200": {"description": "done"}}}
    paths = {
        "/payouts": {"post": {"operationId": "createPayout", "tags": ["Money", "Money", "", "Out"], **answer}},
        "/pets": {"post": {"operationId": "createPet", **answer}},
    }
    overrides = "POST /payouts: {danger: reversible}\n"
    rows = tabulate(tmp_path, api(paths), overrides=overrides).rows
    payout, pet = rows["create_payout"], rows["create_pet"]
    assert (payout["tags"], payout["effects"], payout["danger"]) == (["Money", "Out"], ["money"], "reversible")
    assert "asked" not in payout, "the owner has said how dangerous it is"
    assert "tags" not in pet
    assert (pet["effects"], pet["asked"]) == (["unknown"], "first")


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_generated_adapter_goes_by_patterns_of_names_and_by_the_owners_levels(tmp_path: Path, era: str) -> None:
    """R-SAFE-1: danger levels 7.1 MUST 1, 7.2 SHOULD 1 and 4, as a client meets them."""
    done = {"responses": {"204": {"description": "done"}}}
    item = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    paths = {
        "/databases/{id}": {"parameters": [item], "post": {"operationId": "dropDatabase", **done}},
        "/caches/{id}": {"parameters": [item], "post": {"operationId": "purgeLogs", **done}},
        "/pets": {"post": {"operationId": "createPet", **done}},
        "/drafts/{id}": {"parameters": [item], "delete": {"operationId": "deleteDraft", **done}},
    }
    overrides = "DELETE /drafts/{id}: {danger: reversible}\n"
    tabulation = tabulate(tmp_path, api(paths, servers=[{"url": "https://shop.example"}]), overrides=overrides)
    package = tmp_path / "package"
    for path, text in tabulation.texts.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8")
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
    assert levels["create_pet"] == levels["delete_draft"] == ("reversible", "allow")
