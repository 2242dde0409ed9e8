"""Names of fields where the document leaves a body open, and the API's own spelling in questions (R-SEL-1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.documents import INTEGER, TEXT, list_of, object_of, ref, replies
from tests.generator.commands import api, tabulate
from tests.in_process import StandIn, dispatcher_of

pytestmark = pytest.mark.anyio

FREE = {"type": "object"}
MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"


POD = object_of(
    podName=TEXT,
    labels={"type": "object", "additionalProperties": TEXT},
    spec=object_of(
        restartCount=INTEGER,
        containers=list_of(object_of(imagePullPolicy=TEXT, env=FREE)),
        byZone={"type": "object", "additionalProperties": object_of(hostPort=INTEGER)},
        parent=ref("Pod"),
    ),
)
OWN = {
    "podName": "a",
    "labels": {"app_name": "x", "appName": "y"},
    "spec": {
        "restartCount": 3,
        "containers": [{"imagePullPolicy": "Always", "env": {"MY_VAR": 1, "my_var": 2, "restart_count": 3}}],
        "byZone": {"zone_one": {"hostPort": 1}},
        "parent": {"podName": "b"},
    },
}
READ = {
    "pod_name": "a",
    "labels": {"app_name": "x", "appName": "y"},
    "spec": {
        "restart_count": 3,
        "containers": [{"image_pull_policy": "Always", "env": {"MY_VAR": 1, "my_var": 2, "restart_count": 3}}],
        "by_zone": {"zone_one": {"host_port": 1}},
        "parent": {"pod_name": "b"},
    },
}


def document(
    bodies: Mapping[str, Any], *, method: str = "patch", wrapped: str = "", reads: bool = True, answers: bool = True
) -> dict[str, Any]:
    """Return a document of pods that are read, listed and, with these bodies, written."""
    pod = ref("Pod")
    answer = object_of(**{wrapped: pod}) if wrapped else pod
    written = {
        "operationId": "createPod" if method == "post" else "updatePod",
        "requestBody": {"required": True, "content": {kind: {"schema": body} for kind, body in bodies.items()}},
        "responses": replies(answer) if answers else replies(status="204"),
    }
    operations: dict[str, Any] = {f"{method} {'/pods' if method == 'post' else '/pods/{id}'}": written}
    if reads:
        operations["GET /pods/{id}"] = {"operationId": "getPod", "responses": replies(answer)}
        operations["GET /pods"] = {"operationId": "listPods", "responses": replies(list_of(pod))}
    return api(operations, "3.0.3", components={"schemas": {"Pod": POD}})


class Pods:
    """An adapter of a document; its API gives the answer, a list of it for the list, and keeps what was sent."""

    def __init__(self, folder: Path, spec: Mapping[str, Any], answer: Any = OWN) -> None:
        table = tabulate(folder, spec)
        self.rows, self.answer = table.rows, answer
        self.api = StandIn(lambda request: [self.answer] if request.url.endswith("/pods") else self.answer)
        self.dispatcher = dispatcher_of(table.write(folder / "package"), self.api, policy="open")

    async def call(self, operation: str, **params: Any) -> dict[str, Any]:
        return await self.dispatcher.handle(None, {"operation": operation, "params": params})

    async def sent(self, operation: str, **params: Any) -> Any:
        """Return the body that a call sends."""
        answer = await self.call(operation, **params)
        assert answer["success"], answer
        return json.loads(self.api.sent[-1].content or b"null")


UPDATES: list[tuple[str, dict[str, Any]]] = [
    ("merge patch", document({MERGE: FREE})),
    ("without a type", document({MERGE: {}})),
    ("by its own answer", document({MERGE: FREE}, reads=False)),
    ("by what reads it", document({MERGE: FREE}, answers=False)),
    ("in an envelope", document({MERGE: FREE}, wrapped="data")),
    ("replaced", document({"application/json": FREE}, method="put", reads=False)),
]


@pytest.mark.parametrize(("title", "spec"), UPDATES, ids=[row[0] for row in UPDATES])
async def test_what_was_renamed_in_an_answer_is_renamed_back_in_an_open_update(
    tmp_path: Path, title: str, spec: dict[str, Any]
) -> None:
    """R-SEL-1"""
    pods = Pods(tmp_path, spec)
    for spelling in (READ, OWN):
        assert await pods.sent("update_pod", id="1", input=spelling) == OWN, title
    other = {"unknown_field": 1, "spec": {"otherField": {"restart_count": 1}}, "labels": None}
    assert await pods.sent("update_pod", id="1", input=other) == other, title


async def test_the_fields_of_an_envelope_are_renamed_within_it_too(tmp_path: Path) -> None:
    pods = Pods(tmp_path, document({MERGE: FREE}, wrapped="data"))
    assert await pods.sent("update_pod", id="1", input={"data": READ}) == {"data": OWN}


@pytest.mark.parametrize(
    "schema", [FREE, {"type": "object", "additionalProperties": True}], ids=["open", "of anything"]
)
async def test_a_filter_in_the_query_has_the_names_of_the_things_that_it_is_about(tmp_path: Path, schema: Any) -> None:
    """R-SEL-1: a condition on a field that the API does not know matches nothing, or all."""
    spec = document({MERGE: FREE})
    where = {"name": "where", "in": "query", "content": {"application/json": {"schema": schema}}}
    spec["paths"]["/pods/count"] = {
        "get": {"operationId": "countPods", "parameters": [where], "responses": replies(object_of(count=INTEGER))}
    }
    pods = Pods(tmp_path, spec, {"count": 1})
    name = next(name for name, row in pods.rows.items() if row["path"] == "/pods/count")
    for key in ("pod_name", "podName", "other_name"):
        assert (await pods.call(name, where={key: "a"}))["success"]
    wheres = [json.loads(unquote(request.url.partition("where=")[2])) for request in pods.api.sent]
    assert wheres == [{"podName": "a"}, {"podName": "a"}, {"other_name": "a"}]


PARTS: list[tuple[str, Any, Any, Any]] = [
    ("an object within it", object_of(spec=FREE), {"spec": READ["spec"]}, {"spec": OWN["spec"]}),
    (
        "the items of a list",
        object_of(spec=object_of(containers=list_of(FREE))),
        {"spec": {"containers": READ["spec"]["containers"]}},
        {"spec": {"containers": OWN["spec"]["containers"]}},
    ),
    (
        "a field beside renamed ones",
        object_of(podName=TEXT, spec=FREE),
        {"pod_name": "a", "spec": READ["spec"]},
        {"podName": "a", "spec": OWN["spec"]},
    ),
    (
        "a map is none",
        object_of(labels={"type": "object", "additionalProperties": TEXT}),
        *[{"labels": OWN["labels"]}] * 2,
    ),
    (
        "a map of anything is none",
        object_of(spec={"type": "object", "additionalProperties": True}),
        *[{"spec": {"restart_count": 1}}] * 2,
    ),
]


@pytest.mark.parametrize(("title", "body", "value", "sent"), PARTS, ids=[row[0] for row in PARTS])
async def test_what_a_body_leaves_open_within_it_is_renamed_back(
    tmp_path: Path, title: str, body: Any, value: Any, sent: Any
) -> None:
    """R-SEL-1"""
    assert await Pods(tmp_path, document({MERGE: body})).sent("update_pod", id="1", input=value) == sent, title
    pods = Pods(tmp_path, document({"application/json": body}, method="post"))
    assert await pods.sent("create_pod", **value) == sent, title


@pytest.mark.parametrize("answers", [True, False])
async def test_an_open_body_that_creates_has_the_names_of_what_is_answered_or_read(
    tmp_path: Path, answers: bool
) -> None:
    """R-SEL-1"""
    pods = Pods(tmp_path, document({"application/json": FREE}, method="post", answers=answers))
    assert await pods.sent("create_pod", body=READ) == OWN
    assert await pods.sent("create_pod", body=OWN) == OWN


OPERATIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"op": "replace", "path": "/spec/containers/0/image_pull_policy", "value": "Never"},
        {"op": "replace", "path": "/spec/containers/0/imagePullPolicy", "value": "Never"},
    ),
    (
        {"op": "add", "path": "/spec/containers/-", "value": READ["spec"]["containers"][0]},
        {"op": "add", "path": "/spec/containers/-", "value": OWN["spec"]["containers"][0]},
    ),
    (
        {"op": "move", "from": "/pod_name", "path": "/spec/parent/pod_name"},
        {"op": "move", "from": "/podName", "path": "/spec/parent/podName"},
    ),
    (
        {"op": "add", "path": "/spec/by_zone/a~1b~0c/host_port", "value": 1},
        {"op": "add", "path": "/spec/byZone/a~1b~0c/hostPort", "value": 1},
    ),
    ({"op": "replace", "path": "", "value": READ}, {"op": "replace", "path": "", "value": OWN}),
    *[
        (operation, operation)
        for operation in (
            {"op": "add", "path": "/labels/app_name", "value": "z"},
            {"op": "replace", "path": "/spec/restartCount", "value": 4},
            {"op": "remove", "path": "/unknown_field/restart_count"},
            {"op": "remove", "path": "pod_name"},
            {"op": "remove", "path": "/odd~2step"},
        )
    ],
]


async def test_a_json_patch_has_the_api_s_names_in_its_paths_and_values(tmp_path: Path) -> None:
    """R-SEL-1"""
    bodies = ({PATCH: FREE, MERGE: FREE}, {PATCH: list_of(FREE)}, {PATCH: POD, MERGE: POD})
    for index, body in enumerate(bodies):
        folder = tmp_path / str(index)
        folder.mkdir()
        pods = Pods(folder, document(body))
        sent = await pods.sent("update_pod", id="1", input=[named for named, _ in OPERATIONS])
        for operation, (named, expected) in zip(sent, OPERATIONS, strict=True):
            assert operation == expected, (index, named)


async def test_the_type_that_an_open_body_has_is_described_and_not_copied(tmp_path: Path) -> None:
    pods = Pods(tmp_path, document({MERGE: FREE}))
    parameter = pods.rows["update_pod"]["parameters"]["input"]
    assert parameter["schema"] == {"type": "object", "x-named-as": {"": {"$ref": "#/types/Pod"}}}
    answer = await pods.call("introspect", query="operations", name="update_pod")
    described = {item["name"]: item for item in answer["data"]["operation"]["parameters"]}
    assert "Has the fields of Pod." in described["input"]["description"]


async def test_nothing_is_told_where_nothing_is_renamed(tmp_path: Path) -> None:
    spec = document({MERGE: FREE})
    spec["components"]["schemas"]["Pod"] = object_of(name=TEXT, spec=object_of(count=INTEGER))
    rows = tabulate(tmp_path, spec).rows
    assert rows["update_pod"]["parameters"]["input"]["schema"] == {"type": "object"}


# The API's own spelling in questions about answers


async def test_fields_are_chosen_by_either_spelling(tmp_path: Path) -> None:
    """R-SEL-1, R-SEL-2"""
    pods = Pods(tmp_path, document({MERGE: FREE}))
    for paths in (["podName", "spec.containers.imagePullPolicy"], ["pod_name", "spec.containers.image_pull_policy"]):
        answer = await pods.call("get_pod", id="1", fields=paths)
        assert answer["data"] == {"pod_name": "a", "spec": {"containers": [{"image_pull_policy": "Always"}]}}, paths
    answer = await pods.call("get_pod", id="1", fields=["spec.byZone.zone_one.hostPort"])
    assert answer["data"] == {"spec": {"by_zone": {"zone_one": {"host_port": 1}}}}
    pods = Pods(tmp_path, document({MERGE: FREE}, wrapped="theData"), {"theData": OWN})
    answer = await pods.call("get_pod", id="1", fields=["theData.podName"])
    assert answer["data"] == {"the_data": {"pod_name": "a"}}


QUESTIONS: list[tuple[dict[str, Any], Any]] = [
    ({"where": {"podName": "a"}}, 1),
    ({"where": {"pod_name": "a", "spec.restartCount": {"gt": 2}}}, 1),
    ({"where": {"spec.restartCount": {"gt": 2}, "spec.restart_count": {"gt": 5}}}, 0),
    ({"where": {"spec.containers.imagePullPolicy": "Never"}}, 0),
    ({"where": {"labels.appName": "y"}}, 1),
    ({"where": {"labels.app_name": "y"}}, 0),
    ({"aggregate": {"sum": "spec.restartCount"}}, {"result": 3}),
    ({"aggregate": {"by": {"group_by": "podName", "max": "spec.restartCount"}}}, {"by": {"a": 3}}),
]


async def test_lists_are_asked_by_either_spelling(tmp_path: Path) -> None:
    """R-SEL-1, R-SEL-4"""
    pods = Pods(tmp_path, document({MERGE: FREE}))
    for question, expected in QUESTIONS:
        answer = await pods.call("list_pods", **question)
        assert answer["success"], question
        assert not answer.get("warnings"), question
        data = answer["data"]
        result = data["aggregations"] if "aggregate" in question else len(data)
        assert result == expected, question


async def test_plans_refer_to_fields_by_either_spelling(tmp_path: Path) -> None:
    """R-SEL-1, R-STEP-1"""
    pods = Pods(tmp_path, document({MERGE: FREE}))
    find = {"id": "find", "operation": "list_pods"}
    conditions = {"where": {"spec.restartCount": {"gt": 2}}}
    steps: list[dict[str, Any]] = [
        find | conditions | {"fields": ["podName"]},
        {
            "id": "change",
            "operation": "update_pod",
            "foreach": {"$ref": "find.items"},
            "where": {"podName": "a"},
            "params": {"id": {"$ref": "item.podName"}, "input": {"pod_name": {"$ref": "find[0].spec.restartCount"}}},
        },
        {
            "operation": "update_pod",
            "foreach": {"$ref": "find[0].spec.containers"},
            "where": {"imagePullPolicy": "Never"},
            "params": {"id": "none", "input": {}},
        },
    ]
    answer = await pods.call("run_steps", steps=steps)
    assert answer["success"], answer
    assert answer["data"]["steps"][0]["data"] == [{"pod_name": "a"}]
    assert [request.url.rpartition("/pods")[2] for request in pods.api.sent] == ["", "/a"]
    assert json.loads(pods.api.sent[-1].content or b"") == {"podName": 3}
