"""Updates at a server that remembers: what else they change, what they create, and what a patch lacks (R-UPD-2)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local import Answer, Asked, Running, serving

from tests.documents import INTEGER, TEXT, body_of, object_of, replies
from tests.generator.commands import api, tabulate

COMPUTED = {**INTEGER, "readOnly": True}
PLACE = object_of("zip", zip=TEXT, street=TEXT)
META = object_of(mode=TEXT, ttl=INTEGER)
TASK = object_of("name", name=TEXT, project=TEXT, size=INTEGER)
ZONE = object_of("kind", kind=TEXT, account=TEXT, serial=INTEGER, edits=COMPUTED, meta=META)
SEEN = object_of("kind", **ZONE["properties"], seen=INTEGER)
USER = object_of("name", "email", name=TEXT, email=TEXT, bio=TEXT, home=PLACE)
UNTOUCHED = "If `project` is not present, it is set to `null`. Any other fields not specified will be left untouched."


def reading(schema: Any, *headers: str) -> dict[str, Any]:
    return {"responses": replies(schema, "200", *headers)}


def writing(schema: Any, answer: Any, *statuses: str, **more: Any) -> dict[str, Any]:
    (response,) = replies(answer).values()
    return {"requestBody": body_of(schema), "responses": dict.fromkeys(statuses or ("200",), response), **more}


OPERATIONS = {
    "GET /tasks/{id}": reading(TASK),
    "PUT /tasks/{id}": writing(TASK, TASK, description=UNTOUCHED),
    "GET /zones/{id}": reading(SEEN),
    "PUT /zones/{id}": writing(ZONE, SEEN),
    "GET /notes/{id}": reading(TASK),
    "PUT /notes/{id}": writing(TASK, TASK, "200", "201"),
    "GET /pages/{id}": reading(TASK, "ETag"),
    "PUT /pages/{id}": writing(TASK, TASK, "200", "201"),
    "GET /users/{id}": reading(USER),
    "PATCH /users/{id}": writing(USER, USER),
    "PUT /rooms/{uuid}": writing(TASK, TASK),
    "GET /rooms/{name}": reading(TASK),
}


class Remembering:
    """An API whose PUT replaces the whole, and whose zones have more than was written; `failing` fails reads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.failing = False
        self.things: dict[str, dict[str, Any]] = {
            "/tasks/7": {"name": "a", "project": "p", "size": 1},
            "/zones/7": {"kind": "native", "account": "x", "serial": 1, "edits": 1, "meta": {"mode": "on"}, "seen": 1},
            "/users/7": {"name": "a", "email": "a@b", "bio": "x", "home": {"zip": "1", "street": "s"}},
            "/rooms/u-7": {"name": "blue", "project": "p", "size": 1},
        }

    def answer(self, request: Asked) -> Answer:
        with self.lock:
            thing, body = self.things.get(request.path), json.loads(request.body or b"{}")
            if request.method == "GET":
                if self.failing and any(other.method == "PUT" for other in self.asked):
                    return Answer({"message": "down"}, 400)
                return Answer({"message": "no such thing"}, 404) if thing is None else Answer(thing)
            if request.method == "PATCH":
                if not {"name", "email"} <= body.keys() or "zip" not in body.get("home", {"zip": 1}):
                    return Answer({"errors": [{"field": "email", "message": "is required"}]}, 422)
                self.things[request.path] = {**(thing or {}), **body}
                return Answer(self.things[request.path])
            if request.headers.get("if-none-match") == "*" and thing is not None:
                return Answer({"message": "exists"}, 412)
            if request.path.startswith("/zones/") and thing is not None:
                meta = {"ttl": 60, **body.get("meta", {})}
                counted = {key: thing[key] + 1 for key in ("serial", "edits", "seen")}
                body = {**body, "meta": meta, **counted}
            self.things[request.path] = body
            return Answer(body, 201 if thing is None else 200)

    asked: list[Asked]


class Agent:
    """Calls of an adapter of the API."""

    def __init__(self, folder: Path, url: str, remembering: Remembering, asked: list[Asked]) -> None:
        self.folder, self.url, self.api, self.asked = folder, url, remembering, asked

    def update(self, name: str, change: dict[str, Any], **params: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the answer, and the methods of the requests behind it."""
        running = Running(self.folder, {"MCP_AQL_BASE_URL": self.url})
        before = len(self.asked)
        answer = running.run(running.call(name, input=change, **params))
        return answer, [request.method for request in self.asked[before:]]

    @property
    def body(self) -> Any:
        """The body of the last write."""
        return json.loads(next(each.body for each in reversed(self.asked) if each.method != "GET"))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tabulate(tmp_path_factory.mktemp("document"), api(OPERATIONS)).write(tmp_path_factory.mktemp("package"))


@pytest.fixture
def agent(package: Path) -> Iterator[Agent]:
    remembering = Remembering()
    with serving(remembering.answer) as local:
        remembering.asked = local.asked
        yield Agent(package, local.url, remembering, local.asked)


def test_what_a_text_calls_untouched_is_written_back_since_the_server_resets_it(agent: Agent) -> None:
    """R-UPD-2"""
    answer, methods = agent.update("update_task", {"size": 2}, id="7")
    assert answer["success"], answer
    assert "warnings" not in answer
    assert agent.api.things["/tasks/7"] == {"name": "a", "project": "p", "size": 2}
    assert methods == ["GET", "GET", "PUT", "GET"]


def test_what_an_update_changes_without_naming_it_is_a_warning_of_the_fields_that_a_request_can_hold(
    agent: Agent,
) -> None:
    """R-UPD-2"""
    answer, _ = agent.update("update_zone", {"account": "y"}, id="7")
    assert answer["success"], answer
    (warning,) = answer["warnings"]
    assert warning["code"] == "VALIDATION_FIELDS_CHANGED_WARNING"
    assert warning["details"]["fields"] == ["input.serial", "input.meta.ttl"]
    assert "60" not in json.dumps(warning)
    assert "edits" not in agent.body
    answer, _ = agent.update("update_zone", {"serial": 9, "meta": {"ttl": 5}}, id="7")
    assert "warnings" not in answer


def test_a_write_stands_though_it_cannot_be_read_again_and_says_so(agent: Agent) -> None:
    """R-UPD-2"""
    agent.api.failing = True
    answer, methods = agent.update("update_task", {"size": 2}, id="7")
    assert answer["success"], answer
    assert answer["data"]["size"] == 2
    (warning,) = answer["warnings"]
    assert warning["code"] == "VALIDATION_UPDATE_NOT_VERIFIED_WARNING"
    assert methods == ["GET", "GET", "PUT", "GET"]


@pytest.mark.parametrize("kind", ["note", "page"], ids=["without ETags", "with ETags"])
def test_a_put_that_creates_does_so_where_there_is_nothing_and_asks_for_what_is_required(
    agent: Agent, kind: str
) -> None:
    """R-UPD-2"""
    answer, methods = agent.update(f"update_{kind}", {"size": 2}, id="1")
    assert answer["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert answer["error"]["details"]["missing_params"] == ["input.name"]
    assert f"This '{kind}' does not exist yet" in answer["error"]["message"]
    assert methods == ["GET"]
    answer, methods = agent.update(f"update_{kind}", {"size": 2, "name": "b"}, id="1")
    assert answer["success"], answer
    assert [warning["code"] for warning in answer["warnings"]] == ["VALIDATION_CREATED_WARNING"]
    assert agent.api.things[f"/{kind}s/1"] == {"size": 2, "name": "b"}
    assert methods == (["GET", "PUT"] if kind == "page" else ["GET", "GET", "PUT"])
    assert agent.asked[-1].headers.get("if-none-match") == ("*" if kind == "page" else None)
    answer, _ = agent.update(f"update_{kind}", {"size": 3}, id="1")
    assert agent.api.things[f"/{kind}s/1"] == {"size": 3, "name": "b"}


def test_nothing_is_created_for_a_caller_who_knows_a_version_or_by_an_update_that_does_not_create(
    agent: Agent,
) -> None:
    """R-UPD-2"""
    for name, params in (("update_task", {}), ("update_page", {"if_match": '"v1"'})):
        answer, methods = agent.update(name, {"size": 2, "name": "b"}, id="1", **params)
        assert answer["error"]["code"] == "NOT_FOUND_RESOURCE"
        assert methods == ["GET"]


def test_a_patch_is_sent_with_the_required_fields_that_it_lacks_and_with_nothing_else(agent: Agent) -> None:
    """R-UPD-2"""
    answer, methods = agent.update("update_user", {"bio": "y"}, id="7")
    assert answer["success"], answer
    assert (agent.body, methods) == ({"bio": "y", "name": "a", "email": "a@b"}, ["GET", "PATCH"])
    agent.update("update_user", {"name": "c", "email": "d", "home": {"street": "t"}}, id="7")
    assert agent.body == {"name": "c", "email": "d", "home": {"street": "t", "zip": "1"}}
    _, methods = agent.update("update_user", {"name": "c", "email": "d"}, id="7")
    assert methods == ["PATCH"]
    answer, methods = agent.update("update_user", {"bio": "y"}, id="7", dry_run=True)
    assert answer["data"]["reads_first"]["url"].endswith("/users/7")


def test_a_patch_whose_resource_cannot_be_read_goes_as_it_is(agent: Agent) -> None:
    """R-UPD-2"""
    del agent.api.things["/users/7"]
    answer, methods = agent.update("update_user", {"bio": "y"}, id="7")
    assert answer["error"]["details"]["param_name"] == "input.email"
    assert (agent.body, methods) == ({"bio": "y"}, ["GET", "PATCH"])


def test_what_is_read_by_another_identifier_is_not_read_first(agent: Agent) -> None:
    """R-UPD-2"""
    answer, methods = agent.update("update_room", {"name": "red"}, uuid="u-7")
    assert answer["success"], answer
    assert methods == ["PUT"]
    (warning,) = answer["warnings"]
    assert warning["code"] == "VALIDATION_FIELDS_REPLACED_WARNING"
    assert warning["details"]["fields"] == ["project", "size"]
