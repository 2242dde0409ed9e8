"""Names and parameters that other tools and APIs use lead to the operation that was meant, and to no other write."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from api.hand_made import make_package, operation

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.validation.problems import near_params, unknown_problem
from tests.cases import each

pytestmark = pytest.mark.anyio


def _row(method: str, path: str, summary: str, **more: Any) -> dict[str, Any]:
    wires = path.replace("}", "{").split("{")[1::2]
    places = {name: {"in": "path", "required": True, "schema": {"type": "string"}} for name in wires}
    queries = {name: {"in": "query", "schema": {"type": "string"}} for name in more.pop("query", ())}
    return operation(method, path, summary=summary, parameters=places | queries, **more)


READS = {
    "get_signed_in_user": _row("GET", "/user", "Get the authenticated user", resource="user"),
    "get_menu": _row("GET", "/menu", "Get the menu", resource="menu"),
    "list_boats": _row("GET", "/boats", "List all boats", resource="boat", query=["colour", "first", "after"]),
    "list_harbour_boats": _row("GET", "/harbours/{harbour}/boats", "List the boats of a harbour", query=["colour"]),
    "get_boat": _row("GET", "/harbours/{harbour}/boats/{boat}", "Get a boat", resource="boat"),
    "get_sail_map": _row("GET", "/maps/{id}", "Get a map", resource="sail_map"),
}
READS["list_harbours"] = _row("GET", "/harbours", "Get several harbours", resource="harbour")
READS["list_harbour_docks"] = _row("GET", "/harbours/{harbour}/docks", "Docks of a harbour", resource="dock")
READS["list_anchors"] = _row("GET", "/anchors/{anchorId}/list", "Get the list of an anchor", resource="list")
READS["list_anchors_via_get"] = _row("GET", "/lists/{listId}/anchors", "Get anchors", resource="anchor")
READS["list_boat_sketches"] = _row("GET", "/boats/{boat}/sketches", "List sketches", resource="boat_sketch")
READS["get_mast"] = _row("GET", "/masts/{mastId}", "Get a mast", resource="mast")
READS["search"] = _row("GET", "/search", "Search anything", query=["q", "type"])
READS["search"]["parameters"]["type"]["schema"]["enum"] = ["jetty", "rope"]
READS["get_oar"] = _row("GET", "/oars/{oar}", "Get an oar", resource="oar")
READS["list_user_oars"] = _row("GET", "/users/{user}/oars", "List oars", resource="oar")
READS["list_cranes"] = _row("GET", "/cranes", "List the cranes", resource="crane")
DELETES = {
    "delete_boat_protection": _row(
        "DELETE", "/boats/{boat}/protection", "Delete boat protection", resource="boat_protection"
    ),
    "delete_mooring": _row("DELETE", "/harbours/{harbour}/moorings/{mooring}", "Delete a mooring", resource="mooring"),
    "delete_harbour_moorings": _row(
        "DELETE", "/harbours/{harbour}/moorings", "Delete the moorings", resource="mooring"
    ),
}
DELETES["delete_crane"] = _row("DELETE", "/cranes/{crane}", "Delete a crane", resource="crane")
UPDATES = {
    "patch_crane": _row("PATCH", "/cranes/{crane}", "Change a crane", resource="crane"),
}
UPDATES["set_crane_state"] = _row("PUT", "/cranes/{crane}/state", "Set a state", resource="crane_state")
UPDATES["set_crane_state"]["parameters"]["action"] = {"in": "body", "schema": {"enum": ["lock", "open", "unlock"]}}
UPDATES["patch_crane"]["parameters"]["is_paused"] = {"in": "body", "schema": {"type": "boolean"}}
EXECUTES = {
    "start_winch_service": _row("POST", "/winches/{winch}/service", "Oil the winch", resource="service"),
    "run_crane": _row("POST", "/cranes/{crane}/run", "Run a crane", resource="crane"),
    "raise_boat_masts": _row("POST", "/boats/{boat}/raiseMasts", "Raise all masts of a boat", resource="mast"),
    "lift_boat": _row("POST", "/boats/{boat}/lift", "Lift a boat", resource="boat"),
}
EXECUTES["lift_boat"]["description"] = "Lift a boat. Use it to move a boat to its winter place."
EXECUTES["approve_repair_order"] = _row("POST", "/repairs/{repair}/approval", "Approve it", resource="repair_order")
CREATES = {
    "create_boat_sketch": _row("POST", "/boats/{boat}/sketches", "Draw a boat", resource="boat_sketch"),
}
for thing, needed in (("category", "name"), ("label", "label")):
    CREATES[f"store_{thing}"] = _row("POST", f"/{thing}", f"Store a new {thing}", resource=thing)
    CREATES[f"store_{thing}"]["parameters"][needed] = {"in": "body", "required": True, "schema": {"type": "string"}}
EXECUTES["logout_pilot"] = _row("POST", "/auth/logout", "End a watch", resource="auth")
EXECUTES["merge_pilot"] = _row("POST", "/pilots/{pilot}/merge", "Merge two pilots", resource="pilot")
READS["list_crew_photos"] = _row("GET", "/crew/photos", "List crew photos", resource="crew_photo")
READS["list_gulls"] = _row("GET", "/gulls", "List gulls", resource="gull")
DELETES["delete_gull"] = _row("DELETE", "/gulls/{gull}", "Delete a gull", resource="gull")
DELETES["delete_crew_photo"] = _row("DELETE", "/crew/photo", "Delete the crew photo", resource="crew_photo")
CREATES["create_gull"] = _row("POST", "/gulls", "Create a gull", resource="gull")
UPDATES["update_gull"] = _row("PUT", "/gulls/{gull}", "Update a gull", resource="gull")
UPDATES["count_gulls"] = _row("PUT", "/gulls/count", "Count the gulls again", resource="gull")
UPDATES["create_oars"] = _row("PUT", "/oars", "Creates oars", resource="oar")


@pytest.fixture
def harbour(tmp_path: Path) -> Dispatcher:
    make_package(tmp_path, READS)
    tables = {"read": READS, "create": CREATES, "update": UPDATES, "delete": DELETES, "execute": EXECUTES}
    for family, rows in tables.items():
        (tmp_path / "operations" / f"{family}.json").write_text(json.dumps(rows))
    settings = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_AUDIT_PATH": "off", "MCP_AQL_POLICY": "open"}
    return assemble(tmp_path, environ=settings, mock=True).dispatcher


@pytest.mark.parametrize(
    ("family", "name", "params", "first"),
    [
        (None, "get_me", [], "get_signed_in_user"),
        (None, "get_boats", [], "list_boats"),
        (None, "get_boats", ["harbour"], "list_harbour_boats"),
        (None, "fetch_boat", [], "get_boat"),
        (None, "show_sailmap", ["id"], "get_sail_map"),
        (None, "remove_mooring", ["harbour", "mooring"], "delete_mooring"),
        (None, "moorings_delete", ["harbour", "name"], "delete_mooring"),
        (None, "remove_moorings", ["harbour"], "delete_harbour_moorings"),
        (None, "acme_list_harbours", [], "list_harbours"),  # a vendor's name; no synonym where the word is there
        (None, "get_anchors_by_list_id", ["listId"], "list_anchors_via_get"),
        ("update", "pause_crane", ["craneId"], "patch_crane"),  # a field switches it
        ("execute", "lock_crane", ["crane"], "set_crane_state"),  # a value of its field
        ("execute", "run_idling_crane", ["crane"], "run_crane"),  # in which state it is
        ("execute", "start_crane", ["craneNumber", "speed"], "run_crane"),  # one of two is the one that it needs
        ("execute", "sketch_boat", ["boat"], "create_boat_sketch"),  # what a create makes, as a verb
        ("execute", "approve_ro", ["repair"], "approve_repair_order"),  # the initials of its thing
        ("execute", "oil_winch", ["winch"], "start_winch_service"),  # so begins its summary
        ("execute", "move_boat", ["boat"], "lift_boat"),  # so says its description
        ("delete", "crane", ["crane"], "delete_crane"),  # the tool says what is done
        ("delete", "kick_crane", ["crane"], "delete_crane"),  # as the tool, a verb that ends
        ("create", "boat_sketch", ["boat"], "create_boat_sketch"),
        ("create", "send_boat_sketch", ["boat"], "create_boat_sketch"),  # all parameters are its own
        ("create", "create_oar", [], "create_oars"),  # several are made where all would not be changed
        ("create", "add_label", ["name"], "store_label"),  # it needs one that is not given: that is the other
        ("read", "search_ropes", ["q"], "search"),  # a kind that it lists
        ("read", "get_my_oars", [], "list_user_oars"),
        ("read", "list_boat_drafts", ["boat"], "list_boat_sketches"),  # each with its own word for the same
    ],
)
async def test_words_parameters_tool_and_texts_find_the_operation(
    harbour: Dispatcher, family: str | None, name: str, params: list[str], first: str
) -> None:
    """R-ENV-5"""
    answer = await harbour.handle(family, {"operation": name, "params": dict.fromkeys(params, "x")})
    assert answer["error"]["details"]["available"][0] == first, answer["error"]["message"]


@pytest.mark.parametrize(
    ("family", "name", "params"),
    [
        (None, "delete_boat", ["harbour", "boat"]),  # not the protection of the boat
        (None, "sell_boat", ["boat"]),  # no operation sells
        (None, "delete_pictures", []),  # not the photo of the crew
        (None, "trigger_crane", ["engine", "fuel", "ref"]),  # the verb of another thing
        (None, "raise_mast", ["mastId"]),  # all of them are raised, where the name has one
        ("update", "patch_brand", ["crane"]),  # two letters of a short word are no slip
        ("update", "polish_crane", ["crane"]),  # an unknown word may be the verb
        ("create", "open_crane", ["crane"]),  # a value says what an update does, not what is created
        ("delete", "launch_crane", ["crane"]),  # the tool does something else
        ("create", "add_owner_to_boat_sketch", ["boat"]),  # the sketch is what something is added to
    ],
)
async def test_no_write_stands_first_that_the_name_does_not_ask_for(
    harbour: Dispatcher, family: str | None, name: str, params: list[str]
) -> None:
    error = (await harbour.handle(family, {"operation": name, "params": dict.fromkeys(params, "x")}))["error"]
    assert error["details"]["available"][0] in READS
    assert "Did you mean" not in error["message"]


@each(("name", "near"), [("merge_gulls", "merge_pilot"), ("sign_out", "logout_pilot")])
async def test_what_a_search_for_an_unknown_name_finds_first_is_among_the_nearest(
    harbour: Dispatcher, name: str, near: str
) -> None:
    """R-ENV-5: operations of the same verb stand beside those of the same thing; a verb may be of two words."""
    details = (await harbour.handle(None, {"operation": name, "params": {}}))["error"]["details"]
    assert near in details["available"]


async def test_without_a_read_no_write_is_proposed_that_the_name_does_not_ask_for(tmp_path: Path) -> None:
    row = _row("POST", "/accounts", "Create an account", resource="account")
    make_package(tmp_path, {"create_account": row}, family="create")
    settings = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_AUDIT_PATH": "off", "MCP_AQL_POLICY": "open"}
    adapter = assemble(tmp_path, environ=settings, mock=True).dispatcher
    error = (await adapter.handle("create", {"operation": "create_new_project", "params": {"name": "x"}}))["error"]
    assert "create_account" not in error["details"].get("available", [])


@each(
    ("name", "valid", "near"),
    [
        ("limit", ["first", "after"], ["first"]),
        ("page_size", ["first", "after"], ["first"]),
        ("repository", ["owner", "repo"], ["repo"]),
        ("selector", ["field_selector", "label_selector", "pretty"], ["field_selector", "label_selector"]),
        ("to", ["token", "total"], []),
    ],
)
def test_a_parameter_from_elsewhere_is_answered_with_the_nearest_ones(
    name: str, valid: list[str], near: list[str]
) -> None:
    """R-ENV-5"""
    assert near_params(name, valid) == near


def test_a_name_near_a_hidden_parameter_is_answered_with_what_stands_for_it() -> None:
    """R-ENV-5"""
    row: Any = SimpleNamespace(name="list_boats", parameters={"first": {}, "limit": {}}, hidden_parameters={"limit"})
    assert unknown_problem(row, ["limt"]).message.endswith(" Did you mean 'first' for 'limt'?")


async def test_a_parameter_of_another_read_of_the_same_things_or_none_names_that_read(harbour: Dispatcher) -> None:
    """R-ENV-5"""
    call = {"operation": "list_boats", "params": {"harbour": "x"}}
    assert "Operation 'list_harbour_boats' has 'harbour'." in (await harbour.handle("read", call))["error"]["message"]
    message = (await harbour.handle("read", {"operation": "get_boat", "params": {"harbour": "x"}}))["error"]["message"]
    assert message == "Missing required parameter 'boat' (string). For all of them: list_harbour_boats"


@pytest.mark.parametrize("params", [{"mooring": "x"}, {"mooring": "x", "harbour": "h", "boat": "b"}])
async def test_a_parameter_of_another_write_names_no_other_write(harbour: Dispatcher, params: dict[str, Any]) -> None:
    message = (await harbour.handle(None, {"operation": "delete_harbour_moorings", "params": params}))["error"]
    assert "delete_mooring'" not in str(message)


@pytest.mark.parametrize(
    "params",
    [
        {"operation": "get_boat"},
        {"name": "get_boat"},
        {"query": "operations", "operation": "get_boat"},
    ],
)
async def test_introspect_describes_what_is_named_however_it_is_named(
    harbour: Dispatcher, params: dict[str, Any]
) -> None:
    """R-REQ-2"""
    data = (await harbour.handle("read", {"operation": "introspect", "params": params}))["data"]
    assert "get_boat" in {data.get("operation", {}).get("name"), *(item["name"] for item in data.get("operations", ()))}
