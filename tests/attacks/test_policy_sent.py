"""Attacks on the owner's rules by what is sent: patches, merged bodies, defaults, forms, and the API's own names."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.safety.rules.rules import check_rules
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.wire import ApiResponse
from tests.cases import each
from tests.documents import FLAG, INTEGER, TEXT, list_of, object_of, parameter, replies
from tests.generator.agents import Agent, adapter, operation
from tests.in_process import query_of

SHOWN = {"type": "string", "enum": ["public", "private", "team"]}
OPTIONS = object_of(admin=FLAG, name=TEXT) | {"additionalProperties": True}
REPO = object_of(
    id={**TEXT, "readOnly": True},
    name=TEXT,
    visibility=SHOWN,
    size=INTEGER,
    colour={"type": ["string", "null"]},
    labels=list_of(TEXT),
    options=OPTIONS,
)
STEP = object_of("op", "path", op=TEXT, path=TEXT, value={}, **{"from": TEXT}) | {"additionalProperties": True}
DEFAULTED = object_of(**{**REPO["properties"], "visibility": {**SHOWN, "default": "public"}})
OPTIONED = object_of(name=TEXT, admin={"type": "boolean", "default": True})
UPLOAD = object_of(**REPO["properties"], file={**TEXT, "format": "binary"})
FREE = {"type": "object", "additionalProperties": True}
LINKED = replies(list_of(object_of(id=TEXT)))
LINKED["200"]["headers"] = {"Link": {"schema": TEXT}}
OPERATIONS = {
    "POST /repos": operation("createRepo", DEFAULTED),
    "GET /repos": operation("listRepos"),
    "GET /linked": operation("listLinked", parameters=[parameter("per_page", schema=INTEGER)], responses=LINKED),
    "GET /shown/{visibility}": operation("listShown", responses=replies(list_of(object_of(id=TEXT)))),
    "GET /repos/{id}": operation("getRepo", responses=replies(REPO)),
    "PUT /repos/{id}": operation("replaceRepo", REPO, responses=replies(REPO)),
    "PATCH /patched/{id}": operation("patchRepo", list_of(STEP), "application/json-patch+json"),
    "PATCH /merged/{id}": operation("mergeRepo", REPO | FREE, "application/merge-patch+json"),
    "PATCH /users/{id}": operation("changeUser", object_of(schemas=list_of(TEXT), Operations=list_of(STEP))),
    "POST /bulk": operation("createRepos", list_of(DEFAULTED)),
    "POST /either": operation("createEither", object_of(options={"anyOf": [TEXT, OPTIONED]})),
    "POST /forms": operation("submitRepo", REPO, "application/x-www-form-urlencoded"),
    "POST /uploads": operation("uploadRepo", UPLOAD, "multipart/form-data"),
    "POST /notes": operation("createNote", TEXT, "text/plain"),
    "POST /open": operation("openRepo", FREE),
    "POST /exports": operation("startExport", responses=replies(None, "202", "Location")),
    "POST /search": operation(
        "sendRepo",
        parameters=[
            parameter("visibility"),
            parameter("more", schema={"type": "object", "additionalProperties": TEXT}),
        ],
    ),
}
HELD = {"id": "1", "name": "a", "visibility": "private", "size": 5, "labels": [], "options": {}}
RULES: list[dict[str, Any]] = [
    {"visibility": {"equals": "public"}},
    {"options.admin": {"equals": True}},
    {"size": {"above": 100, "given": True}},
    {"labels": {"items_above": 2, "given": True}},
    {"colour": {"given": False}},
    {"labels": {"given": True}},
]


def refusing(folder: Path, when: dict[str, Any], action: str = "deny", **more: Any) -> Agent:
    rule = {"id": "hidden", "operations": ["*"], "when": when, "action": action}
    agent = adapter(folder, OPERATIONS, policy="open", policy_rules=(rule,), **more)
    agent.server.give = lambda _: HELD
    return agent


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return refusing(tmp_path_factory.mktemp("sent"), RULES[0])


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> list[Agent]:
    return [refusing(tmp_path_factory.mktemp(f"rule{number}"), rule) for number, rule in enumerate(RULES)]


def step(op: str, path: Any = ..., **more: Any) -> dict[str, Any]:
    return {"op": op, **({} if path is ... else {"path": path}), **more}


STEPS: list[Any] = [
    step("add", "/visibility", value="public"), step("replace", "/visibility", value="public"),
    step("REPLACE", "/visibility", value="public"), step("Add", "/Visibility", value="PUBLIC"),
    step("replace", "/visibility", value=" public"), step("replace", "/visibility", value=["public"]),
    step("replace", "/visibility", value=None), step("replace", "/visibility"),
    step("test", "/visibility", value="public"), step("set", "/visibility", value="public"),
    step("merge", "/visibility", value="private"), step("remove", "/visibility"),
    step("move", "/visibility", **{"from": "/name"}), step("copy", "/visibility", **{"from": "/options/name"}),
    step("move", "/name", **{"from": "/visibility"}), step("copy", "", **{"from": "/options"}),
    step("move", "", **{"from": "/draft"}), step("replace", "", value={"visibility": "public"}),
    step("add", "", value={"Visibility": "public"}), step("replace", "#/visibility", value="public"),
    step("replace", "#/visi%62ility", value="public"), step("replace", "/visi%62ility", value="public"),
    step("replace", "visibility", value="public"), step("replace", "$.visibility", value="public"),
    step("replace", "urn:ietf:params:scim:schemas:core:2.0:Repo:visibility", value="public"),
    step("replace", "/visibility/", value="public"), step("replace", "//visibility", value="public"),
    step("replace", "/visibility/0", value="public"), step("replace", "/visibility/-", value="public"),
    step("add", "/visibility/mode", value="x"),
    {"op": "replace", "path": "/name", "Path": "/visibility", "value": "public"},
    {"op": "add", "path": "/visibility", "value": "private", "VALUE": "public"},
    {"op": "add", "Op": "move", "path": "/visibility", "from": "/name", "value": "private"},
]  # fmt: skip
UNTOUCHED = [
    step("replace", "/visibility", value="private"), step("replace", "/name", value="public"),
    step("copy", "/name", **{"from": "/visibility"}), step("replace", "", value={"name": "public"}),
    step("remove", "/name"), step("add", "/labels/-", value="visibility"),
    step("replace", "/options/name", value="public"),
]  # fmt: skip


DENIED = "PERMISSION_DENIED"


@each("item", STEPS)
def test_no_operation_of_a_patch_does_what_a_rule_denies(agent: Agent, item: dict[str, Any]) -> None:
    """R-SAFE-1: where it cannot be told, the rule counts as met."""
    honest = step("replace", "/name", value="b")
    for items in ([item], [honest, item], [item, honest]):
        assert agent.call("patch_patched", patched_id="1", input=items) == DENIED
        assert agent.call("update_user", user_id="1", input={"operations": items}) == DENIED
        assert agent.call("open_repo", body={"changes": {"all": items}}) == DENIED


@each("item", UNTOUCHED)
def test_a_patch_that_surely_does_not_do_it_is_sent(agent: Agent, item: dict[str, Any]) -> None:
    assert agent.call("patch_patched", patched_id="1", input=[item]) == "sent"
    assert agent.call("update_user", user_id="1", input={"operations": [item]}) == "sent"


OTHERS: list[tuple[int, str, dict[str, Any]]] = [
    (0, "patch_patched", {"patched_id": "1", "input": {"visibility": "public"}}),
    (0, "patch_patched", {"patched_id": "1", "input": '[{"op": "add", "path": "/visibility", "value": "public"}]'}),
    (0, "patch_patched", {"patched_id": "1", "input": [[step("add", "/visibility", value="public")]]}),
    (0, "merge_repo", {"merged_id": "1", "visibility": "public"}),
    (0, "merge_repo", {"merged_id": "1", "additional_properties": {"Visibility": "public"}}),
    (0, "merge_repo", {"merged_id": "1", "additional_properties": {"visi_bility": "public"}}),
    (0, "replace_repo", {"repo_id": "1", "input": {"visibility": "public"}}),
    (0, "replace_repo", {"repo_id": "1", "input": {"Visibility": "public"}}),
    (0, "replace_repo", {"repo_id": "1", "input": '{"visibility": "public"}'}), (0, "create_repo", {"name": "a"}),
    (0, "create_repo", {"name": "a", "visibility": "public"}), (0, "create_bulk", {"body": [{"name": "a"}]}),
    (0, "create_bulk", {"body": [{"name": "a", "visibility": "private"}, {"name": "b"}]}),
    (1, "create_either", {"options": {"name": "a"}}),
    (0, "submit_repo", {"visibility": "public"}), (0, "upload_repo", {"visibility": "public"}),
    (0, "open_repo", {"body": {"visibility": "public"}}), (0, "open_repo", {"body": {"VISIBILITY": ["public"]}}),
    (0, "open_repo", {"body": {"visibility": None}}), (0, "send_repo", {"visibility": "public"}),
    (0, "send_repo", {"more": {"visibility": "public"}}),
    (0, "send_repo", {"visibility": "private", "more": {"visibility": "public"}}),
    (0, "send_repo", {"more": {"visibility[0]": "public"}}),
    (0, "send_repo", {"visibility": "private", "more": {"visibility.0": "public"}}),
    (1, "send_repo", {"more": {"options[0][admin]": "true"}}), (1, "send_repo", {"more": {"options.0.admin": "1"}}),
    (1, "patch_patched", {"patched_id": "1", "input": [step("add", "/options/admin", value=True)]}),
    (1, "patch_patched", {"patched_id": "1", "input": [step("add", "/options", value={"admin": "yes"})]}),
    (1, "patch_patched", {"patched_id": "1", "input": [step("copy", "/options", **{"from": "/labels"})]}),
    (1, "merge_repo", {"merged_id": "1", "options": {"admin": True}}),
    (1, "merge_repo", {"merged_id": "1", "additional_properties": {"options.admin": True}}),
    (1, "submit_repo", {"options": {"admin": True}}),
    (1, "replace_repo", {"repo_id": "1", "input": {"options": {"ADMIN": 1}}}),
    (2, "patch_patched", {"patched_id": "1", "input": [step("replace", "/size", value="1e3")]}),
    (2, "patch_patched", {"patched_id": "1", "input": [step("inc", "/size", value=1)]}),
    (2, "replace_repo", {"repo_id": "1", "input": {"size": 101}}),
    (3, "patch_patched", {"patched_id": "1", "input": [step("add", "/labels/-", value="c")]}),
    (3, "patch_patched", {"patched_id": "1", "input": [step("add", "/labels/0", value="c")]}),
    (3, "patch_patched", {"patched_id": "1", "input": [step("replace", "/labels", value=["a", "b", "c"])]}),
    (3, "replace_repo", {"repo_id": "1", "input": {"labels": ["a", "b", "c"]}}), (4, "create_repo", {"colour": None}),
    (4, "create_bulk", {"body": [{"colour": "red"}, {"name": "b"}]}),
    (4, "merge_repo", {"merged_id": "1", "colour": None}),
    (4, "patch_patched", {"patched_id": "1", "input": [step("remove", "/colour")]}), (5, "create_repo", {"labels": []}),
    (5, "replace_repo", {"repo_id": "1", "input": {"labels": []}}),
    (5, "patch_patched", {"patched_id": "1", "input": [step("replace", "/labels", value=[])]}),
]  # fmt: skip


@each(("number", "name", "params"), OTHERS)
def test_no_form_of_a_body_and_no_default_does_what_a_rule_denies(
    agents: list[Agent], number: int, name: str, params: dict[str, Any]
) -> None:
    """R-SAFE-1"""
    assert agents[number].call(name, **params) in (DENIED, "VALIDATION_INVALID_TYPE", "VALIDATION_UNKNOWN_FIELD")


def test_what_an_update_reads_and_sends_back_is_decided_about_too(tmp_path: Path) -> None:
    """R-SAFE-1: nothing is written; naming the field in the call is how it is asked about or let through."""
    for action in ("deny", "confirm"):
        agent = refusing(tmp_path / action, RULES[0], action)
        agent.server.give = lambda _: {**HELD, "visibility": "public"}
        for change in ({"name": "b"}, {"size": 6}, {"options": {"admin": False}}):
            assert agent.outcome("replace_repo", repo_id="1", input=change) == DENIED
        assert {request.method for request in agent.server.sent} == {"GET"}
        assert agent.call("replace_repo", repo_id="1", input={"name": "b", "visibility": "team"}) == "sent"


SIZED = [parameter("offset", schema=INTEGER), parameter("limit", schema={**INTEGER, "default": 5, "maximum": 100})]
USERS = replies(object_of(results=list_of(object_of(id=INTEGER)), total=INTEGER))
LARGE: list[dict[str, Any]] = [{name: 50} for name in ("limit", "first", "last")]
LARGE += [{"where": {"id": 1}}, {"order_by": "id"}, {"aggregate": {"sum": "id"}}]


def test_no_page_is_larger_than_a_rule_allows(tmp_path: Path) -> None:
    """R-SAFE-1: a call that names the API's own parameter can be confirmed; the adapter adds no page to it."""
    for action in ("deny", "confirm"):
        rule = {"id": "small", "operations": ["list_users"], "when": {"limit": {"above": 10}}, "action": action}
        paths = {"GET /users": operation("listUsers", parameters=SIZED, responses=USERS)}
        agent = adapter(tmp_path / action, paths, policy="open", policy_rules=(rule,))
        agent.server.give = lambda _: {"results": [{"id": number} for number in range(5)], "total": 200}
        outcomes = [agent.outcome("list_users", **params) for params in LARGE]
        assert outcomes == [DENIED if action == "deny" else "CONFIRMATION_REQUIRED", *[DENIED] * 5]
        assert agent.call("list_users", first=5) == agent.call("list_users") == "sent"
        assert all(int(query_of(request).get("limit", 5)) <= 10 for request in agent.server.sent)
    question = asyncio.run(agent.dispatcher.handle(None, {"operation": "list_users", "params": {"limit": 50}}))
    token = question["error"]["details"]["confirmation_token"]
    assert agent.call("list_users", limit=50, confirmation_token=token) == "sent"


LINKS = [
    "shown/x",
    "/v1//Shown/public",
    "/v1/linked/%2e%2e/shown/x",
    "/v1/%73hown/x",
    "/v1/shown;a/x",
    "/v1/shown/y?z=1",
    "/v1/linked/..;/shown/x",
    "/v1/linked/%252e%252e/shown/x",
    "/v1/linked/．．/shown/x",
    "/v1/linked/..%09/shown/x",
]


@each("target", LINKS)
def test_no_link_to_a_next_page_reads_what_a_rule_holds_back(agent: Agent, target: str) -> None:
    for link, pages in ((target, 1), ("/v1/repos?page=2", 2), ("?page=2", 2)):
        agent.server.sent.clear()
        agent.server.give = lambda _, link=link: ([{"id": "1"}] * 9, {"link": f'<{link}>; rel="next"'})
        agent.outcome("list_linked", where={"id": {"eq": "2"}})
        assert len(agent.server.sent) == pages
    agent.server.give = lambda _: HELD


REDIRECTS = [
    ("merge_repo", "merged_id", "v1/merged/1/", True), ("merge_repo", "merged_id", "v2/merged/1", True),
    ("merge_repo", "merged_id", "v1/merged/2", False), ("merge_repo", "merged_id", "v1/Patched/1", False),
    ("get_repo", "repo_id", "v1/repos/2", True), ("get_repo", "repo_id", "v1/shown/x", False),
    ("get_repo", "repo_id", "v1/repos/..;/shown/x", False), ("merge_repo", "merged_id", "v1/x/..%00/Patched/1", False),
]  # fmt: skip


@each(("name", "place", "target", "is_followed"), REDIRECTS)
def test_no_redirect_leads_to_what_was_not_admitted(
    agent: Agent, name: str, place: str, target: str, *, is_followed: bool
) -> None:
    assert agent.call(name, **{place: "1"}) == "sent"
    sent = agent.server.sent[-1]
    assert sent.follows(replace(sent, url=f"https://api.example/{target}")) is is_followed


@each(("place", "outcome"), [("elsewhere/5", "sent"), ("Shown/x", DENIED), ("shown/x?y=1", DENIED)])
def test_no_address_of_work_reads_what_a_rule_holds_back(agent: Agent, place: str, outcome: str) -> None:
    agent.server.give = lambda _: ApiResponse(202, {"location": place}, b"")
    begun = asyncio.run(agent.dispatcher.handle(None, {"operation": "start_export"}))
    agent.server.give = lambda _: HELD
    assert agent.call("get_execution_status", execution_id=begun["data"]["execution_id"]) == outcome
    if outcome == "sent":
        sent = agent.server.sent[-1]
        assert not sent.follows(replace(sent, url="https://api.example/v1/shown/x"))


def test_a_condition_that_no_call_can_show_is_said_and_counts_as_met(agent: Agent) -> None:
    """R-SAFE-1: an adapter says so at its start, and `doctor`."""
    assert agent.call("create_note", body="public or not") == DENIED
    rule = {"id": "hidden", "operations": ["*"], "when": RULES[0], "action": "deny"}
    assert check_rules(Config(policy_rules=(rule,)), agent.dispatcher.table) == [
        "rule 'hidden': 'visibility' cannot be told in the body of create_note, a text: each call counts as one that "
        "meets it (deny)"
    ]


HONEST: list[tuple[int, str, dict[str, Any]]] = [
    (0, "create_repo", {"name": "a", "visibility": "private"}),
    (0, "create_bulk", {"body": [{"visibility": "private"}, {"visibility": "team"}]}),
    (0, "merge_repo", {"merged_id": "1", "name": "public"}),
    (0, "replace_repo", {"repo_id": "1", "input": {"name": "public"}}), (0, "submit_repo", {"visibility": "private"}),
    (0, "upload_repo", {"name": "public"}), (0, "send_repo", {"visibility": "private", "more": {"kind[0]": "public"}}),
    (0, "patch_patched", {"patched_id": "1", "input": {"name": "public"}}),
    (1, "create_repo", {"options": {"admin": False}}),
    (2, "patch_patched", {"patched_id": "1", "input": [step("replace", "/size", value=100)]}),
    (3, "patch_patched", {"patched_id": "1", "input": [step("replace", "/labels", value=["a", "b"])]}),
    (4, "create_bulk", {"body": [{"colour": "red"}, {"colour": ""}]}), (5, "create_repo", {"name": "a"}),
]  # fmt: skip


@each(("number", "name", "params"), HONEST)
def test_what_does_not_do_it_is_sent_in_every_form(
    agents: list[Agent], number: int, name: str, params: dict[str, Any]
) -> None:
    assert agents[number].call(name, **params) == "sent"
