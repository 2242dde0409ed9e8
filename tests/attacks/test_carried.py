"""Operations that carry others: a batch of requests, or an action that each call chooses, told or hidden (R-SAFE-1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.documents import TEXT, list_of, object_of, parameter, replies
from tests.generator.agents import Agent, adapter, operation

ASKED, REFUSED = "CONFIRMATION_REQUIRED", "PERMISSION_DENIED"
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
FREE = {"type": "object", "additionalProperties": True}
BUCKETS = {
    "GET /buckets": operation("listBuckets"),
    "POST /buckets": operation("createBucket", {"type": "object"}),
    "GET /buckets/{id}": operation("getBucket"),
    "DELETE /buckets/{id}": operation("deleteBucket"),
    "POST /payouts": operation("createPayout", {"type": "object"}),
    "POST /databases/{id}": operation("dropDatabase"),
}


def requests() -> dict[str, Any]:
    return object_of(requests=list_of(object_of(method=TEXT, path=TEXT, headers=FREE, body={}) | FREE)) | FREE


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    paths = {**BUCKETS, "POST /batch": operation("runBatch", requests())}
    return adapter(tmp_path_factory.mktemp("batch"), paths)


def batch(agent: Agent, *items: Any, **more: Any) -> str:
    return agent.call("run_batch", requests=list(items), **more)


def test_a_batch_is_as_dangerous_as_the_worst_that_it_carries_and_no_create(agent: Agent) -> None:
    row = agent.table.rows["run_batch"]
    assert (row["danger"], row["carries"]["danger"]) == ("dangerous", "reversible")
    assert row["danger_reason"] == "carries-operations: /requests/*/method says an HTTP method, and path its path"
    assert dict(agent.dispatcher.table.names())["run_batch"] == "execute"


@each(
    "item",
    [
        {"method": "GET", "path": "/buckets"},
        {"method": "GET", "path": "/buckets/7?limit=3"},
        {"method": "get", "path": "/v1/buckets"},
        {"method": "HEAD", "path": "/elsewhere"},
        {"method": "POST", "path": "/buckets", "body": {"name": "delete"}},
        {"method": "POST", "path": "v1/buckets", "headers": {"Accept": "text/plain"}},
    ],
)
def test_a_batch_that_surely_only_reads_and_creates_runs_unasked(agent: Agent, item: dict[str, Any]) -> None:
    assert batch(agent, item, {"method": "GET", "path": "/buckets/1"}) == "sent"


ATTACKS: list[Any] = [
    {"method": "DELETE", "path": "/buckets/1"},
    {"method": "delete", "path": "/buckets/1"},
    {"method": " DELETE", "path": "/buckets/1"},
    {"method": "DELETE ", "path": "/v1/buckets/1"},
    {"method": "DEL\u0415TE", "path": "/buckets/1"},
    {"method": "PO\ufb05", "path": "/buckets"},
    {"method": "DELETE", "path": "/elsewhere/1"},
    {"method": "PUT", "path": "/elsewhere/1"},
    {"method": "POST", "path": "/elsewhere"},
    {"method": "POST", "path": "/admin/buckets"},
    {"method": "POST", "path": "/BUCKETS"},
    {"method": "POST", "path": "/buckets/../buckets/1"},
    {"method": "GET", "path": "/x/../buckets/1"},
    {"method": "GET", "path": "/%64elete"},
    {"method": "GET", "path": "/buckets//1"},
    {"method": "GET", "path": "/buckets\\1"},
    {"method": "GET", "path": "//evil.example/buckets"},
    {"method": "GET", "path": "https://api.example/v1/buckets"},
    {"method": "GET", "path": "/buckets HTTP/1.1\r\nX-HTTP-Method-Override: DELETE"},
    {"method": "GET", "path": "/buckets/1?_method=DELETE"},
    {"method": "GET", "path": "/buckets/1?%5Fmethod=DELETE"},
    {"method": "GET", "path": "/buckets/1", "METHOD": "DELETE"},
    {"method": "GET", "path": "/buckets/1", "_method": "DELETE"},
    {"method": "GET", "path": "/buckets/1", "Path": "/buckets/2"},
    {"method": "GET", "path": "/buckets/1", "headers": {"X-HTTP-Method-Override": "DELETE"}},
    {"method": "GET", "path": "/buckets/1", "headers": {"x-http-method": "DELETE"}},
    {"method": "GET", "path": "/buckets/1", "headers": {"X-Method-Override": "DELETE"}},
    {"method": "GET", "path": "/buckets/1", "headers": {"X-Original-URL": "/admin/wipe"}},
    {"method": "GET", "path": "/buckets/1", "headers": "Accept: */*\r\nX-HTTP-Method: DELETE"},
    {"method": "POST", "path": "/buckets", "body": {"_method": "delete"}},
    {"method": "POST", "path": "/buckets", "body": "name=a&_method=delete"},
    {"method": "POST", "path": "/buckets", "body": [[[{"a": {"x_http_method_override": "DELETE"}}]]]},
    {"method": "POST", "path": "/batch", "body": {"requests": [{"method": "DELETE", "path": "/buckets/1"}]}},
    {"method": "POST", "path": "/payouts"},
    {"path": "/buckets/1"},
    {"METHOD": "DELETE", "path": "/buckets/1"},
    {"verb": "DELETE", "path": "/buckets/1"},
    {"method": "GET"},
    {"method": None, "path": "/buckets/1"},
    {"method": "TRACE", "path": "/buckets/1"},
    {},
]


@each("item", ATTACKS)
def test_what_deletes_or_cannot_be_told_in_a_batch_is_asked_about(agent: Agent, item: Any) -> None:
    """R-SAFE-1"""
    innocent = {"method": "GET", "path": "/buckets"}
    outcomes = {batch(agent, item), batch(agent, innocent, item), batch(agent, item, innocent)}
    assert outcomes <= {ASKED, "VALIDATION_INVALID_TYPE"}


@each("name", ["Requests", "REQUESTS", "re_quests", "re-quests"])
def test_a_second_list_of_nearly_the_same_name_is_asked_about(tmp_path: Path, name: str) -> None:
    agent = adapter(tmp_path, {"POST /batch": operation("runBatch", object_of(data=requests()))})
    harmless = {"requests": [{"method": "GET", "path": "/buckets"}]}
    assert agent.call("run_batch", data=harmless) == "sent"
    assert agent.call("run_batch", data={**harmless, name: [{"method": "DELETE", "path": "/buckets/1"}]}) == ASKED
    assert agent.call("run_batch", data={name: [{"method": "DELETE", "path": "/buckets/1"}]}) == ASKED


def test_a_batch_of_nothing_and_one_of_too_much_are_asked_about(agent: Agent) -> None:
    assert batch(agent) == ASKED
    assert batch(agent, *({"method": "GET", "path": f"/buckets/{number}"} for number in range(90))) == "sent"
    assert batch(agent, *({"method": "GET", "path": f"/buckets/{number}"} for number in range(110))) == ASKED


def test_a_batch_carries_nothing_that_is_refused_alone(agent: Agent) -> None:
    assert agent.call("drop_database", id="1") == "PERMISSION_DANGER_LEVEL_DENIED"
    assert batch(agent, {"method": "POST", "path": "/databases/1"}) == "PERMISSION_DANGER_LEVEL_DENIED"


@each("form", ["/buckets/1", "/v1/buckets/1", "/BUCKETS/1", "/api/buckets/1", "/buckets/1?x=1"])
def test_no_rule_of_the_owner_is_got_round_by_a_batch(tmp_path: Path, form: str) -> None:
    """Under policy open nothing else would hold the call."""
    paths = {**BUCKETS, "POST /batch": operation("runBatch", requests())}
    rules = ({"id": "no-deleting", "action": "deny", "families": ["delete"]},)
    agent = adapter(tmp_path, paths, policy="open", policy_rules=rules)
    assert agent.call("delete_bucket", id="1") == REFUSED
    assert batch(agent, {"method": "DELETE", "path": form}) == REFUSED
    assert batch(agent, {"method": "GET", "path": "/buckets"}, {"method": "DELETE", "path": form}) == REFUSED
    assert batch(agent, {"method": "DELETE", "path": "/%62uckets/1"}) == ASKED
    assert batch(agent, {"method": "POST", "path": "/buckets"}) == "sent"


def test_the_owner_may_say_that_a_batch_is_harmless_and_what_it_carries_stays_what_it_is(tmp_path: Path) -> None:
    paths = {**BUCKETS, "POST /batch": operation("runBatch", requests())}
    agent = adapter(tmp_path, paths, overrides="POST /batch: {danger: reversible}\n")
    assert batch(agent, {"method": "POST", "path": "/elsewhere"}) == "sent"
    assert batch(agent, {"method": "DELETE", "path": "/buckets/1"}) == ASKED


ACTIONS = object_of(
    "actions",
    actions=list_of(
        {
            "oneOf": [
                object_of("action", action={"const": kind}, entities=list_of({})) | FREE
                for kind in ("create", "update", "delete")
            ]
        }
    ),
)
SETS = object_of(create=list_of({}), update=list_of({}), delete=list_of({}))


def test_the_action_that_a_call_chooses_decides(tmp_path: Path) -> None:
    """R-SAFE-1"""
    kinds, ops, states = (
        ["reboot", "power_off", "destroy"],
        ["start", "stop", "delete"],
        ["running", "paused", "terminated"],
    )
    form = "application/x-www-form-urlencoded"
    change = parameter("action", schema={"enum": ["resize", "erase"]})
    operations = {
        "PATCH /variables": operation("bulkVariables", ACTIONS),
        "POST /products/all": operation("changeProducts", SETS),
        "POST /servers/{id}/actions": operation("doServerAction", object_of(type={"enum": kinds})),
        "POST /machines/{id}": operation("operateMachine", object_of(op={"enum": ops}), form),
        "POST /disks/{id}/change": operation("changeDisk", parameters=[change]),
        "PATCH /jobs/{id}": operation("updateJob", object_of(title=TEXT, run_status={"enum": states})),
    }
    agent = adapter(tmp_path, operations)
    names = {row["path"]: name for name, row in agent.table.rows.items()}
    variables, products, machine, disk, job = (
        names[path] for path in ("/variables", "/products/all", "/machines/{id}", "/disks/{id}/change", "/jobs/{id}")
    )
    assert {agent.danger(name) for name in (variables, products, machine, disk, job)} == {"destructive"}

    def change(*actions: Any) -> str:
        return agent.call(variables, input={"actions": list(actions)})

    create, delete = {"action": "create", "entities": [{"action": "delete"}]}, {"action": "delete", "entities": [1]}
    assert change(create) == change(create, {"action": "update"}) == "sent"
    assert {change(delete), change(create, delete), change()} == {ASKED}
    assert change({**create, "Action": "delete"}) == ASKED
    assert agent.call(products, input={"create": [1], "update": [2]}) == "sent"
    assert agent.call(products, input={"create": [1], "delete": []}) == "sent"
    assert agent.call(products, input={"create": [1], "delete": [2]}) == ASKED
    calls = {op: agent.call(machine, id="1", input={"op": op}) for op in ("start", "delete")}
    assert calls == {"start": "sent", "delete": ASKED}
    assert agent.call(disk, id="1", action="resize") == "sent"
    assert agent.call(disk, id="1", action="erase") == ASKED
    states = [agent.call(job, id="1", input=value) for value in ({"title": "x"}, {"run_status": "paused"})]
    assert states == ["sent", "sent"]
    assert agent.call(job, id="1", input={"run_status": "terminated"}) == ASKED


PATCH = list_of(object_of("op", "path", op={"enum": ["add", "remove", "replace"]}, path=TEXT, value={}))


@each("media", ["application/json", "application/json-patch+json"])
def test_a_patch_of_one_resource_is_an_ordinary_update(tmp_path: Path, media: str) -> None:
    """What JSON Patch removes is part of the resource that the path names."""
    row = adapter(tmp_path, {"PATCH /pets/{id}": operation("patchPet", PATCH, media)}).table.rows["patch_pet"]
    assert row["danger"] == "reversible"
    assert "carries" not in row


@each("field, stored, code", [
    ("hook", {"method": "DELETE", "url": "/pets/1"}, ""),
    ("op", "delete", "PERMISSION_DANGER_LEVEL_DENIED"),
    ("op", "start", ""),
])  # fmt: skip
def test_an_update_writes_back_what_is_stored_and_chooses_nothing_by_it(
    tmp_path: Path, field: str, stored: Any, code: str
) -> None:
    """A description of one request is data of the thing; an action that only the API's answer chose is not made."""
    fields = {
        "hook": object_of(method={"enum": METHODS}, url=TEXT),
        "op": {"enum": ["start", "delete"], "default": "start"},
    }
    thing = object_of(name=TEXT, **{field: fields[field]})
    get = operation("getThing", responses=replies(thing))
    put = operation("updateThing", thing, responses=replies(thing))
    agent = adapter(tmp_path, {"GET /things/{id}": get, "PUT /things/{id}": put})
    agent.server.give = lambda _: {"name": "old", field: stored}
    assert agent.outcome("update_thing", id="7", input={"name": "new"}) == code
    assert any(request.method == "PUT" for request in agent.server.sent) is (code == "")


@each("path, media, schema", [
    ("/$batch", "multipart/mixed", object_of(part=TEXT)),
    ("/v1/$batch", "application/json", {"type": "object"}),
    ("/_bulk", "application/x-ndjson", {"type": "string"}),
    ("/docs/bulk", "application/json", {}),
    ("/carry", "application/http", {"type": "string"}),
])  # fmt: skip
def test_a_batch_that_the_document_does_not_describe_is_asked_about(
    tmp_path: Path, path: str, media: str, schema: Any
) -> None:
    agent = adapter(tmp_path, {f"POST {path}": operation("", schema, media)})
    (name,) = agent.table.rows
    assert agent.danger(name) == "dangerous"
    assert dict(agent.dispatcher.table.names())[name] == "execute"


def test_a_batch_with_a_described_body_that_carries_nothing_is_what_it_was(tmp_path: Path) -> None:
    things = object_of(items=list_of({"type": "object"}))
    agent = adapter(tmp_path, {"POST /things/batch": operation("createThings", things)})
    assert [row["danger"] for row in agent.table.rows.values()] == ["reversible"]
