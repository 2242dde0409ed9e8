"""The answer to a write: no secret that a read gives again, but what no read gives, and what an update changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.documents import FLAG, INTEGER, TEXT, body_of, list_of, object_of, ref, replies
from tests.generator.commands import api, tabulate
from tests.in_process import StandIn, dispatcher_of

KEY = {
    "id": INTEGER,
    "name": TEXT,
    "active": FLAG,
    "algorithm": TEXT,
    "bits": INTEGER,
    "note": TEXT,
    "labels": object_of(team=TEXT, site=TEXT),
    "privatekey": TEXT,
}
MADE = {"ds": list_of(TEXT), "client_secret": TEXT}
LONG = "word " * 300
ANSWER = {
    "id": 7,
    "name": "k",
    "active": True,
    "algorithm": "ECDSA",
    "bits": 256,
    "note": LONG,
    "labels": {"team": "red", "site": "north"},
    "privatekey": "PRIVATE",
}


DOCUMENT = api(
    {
        "POST /keys": {"requestBody": body_of(ref("Key")), "responses": replies(ref("MadeKey"), "201")},
        "GET /keys": {"responses": replies(list_of(ref("Key")))},
        "GET /keys/{id}": {"responses": replies(ref("Key"))},
        "PATCH /keys/{id}": {"requestBody": body_of(ref("Key")), "responses": replies(ref("Key"))},
        "PATCH /framed/{id}": {"requestBody": body_of(object_of(key=ref("Key"))), "responses": replies(ref("Key"))},
        "GET /framed/{id}": {"responses": replies(ref("Key"))},
    },
    components={"schemas": {"Key": object_of(**KEY), "MadeKey": object_of(**KEY, **MADE)}},
)


class Adapted:
    """The adapter of an API that answers each write with a key."""

    def __init__(self, package: Path) -> None:
        self.answer: dict[str, Any] = {}
        self._dispatcher = dispatcher_of(package, StandIn(lambda _request: self.answer))

    def call(self, family: str, operation: str, answer: dict[str, Any], **params: Any) -> Any:
        self.answer = answer
        return asyncio.run(self._dispatcher.handle(family, {"operation": operation, "params": params}))


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Adapted:
    folder = tmp_path_factory.mktemp("keys")
    writes = ("POST /keys", "PATCH /keys/{id}", "PATCH /framed/{id}")
    overrides = "\n".join(f"{write}: {{danger: reversible}}" for write in writes)
    return Adapted(tabulate(folder, DOCUMENT, overrides=overrides).write(folder / "package"))


def test_what_no_read_gives_again_is_shown_and_a_secret_that_one_gives_is_not(keys: Adapted) -> None:
    """R-SEL-2: what was made would be lost otherwise, a secret of it too."""
    created = {**ANSWER, "ds": ["1 13 2 AB"], "client_secret": "ONCE"}
    answer = keys.call("create", "create_key", created, name="k")
    assert answer["data"] == {"id": 7, "name": "k", "active": True, "ds": ["1 13 2 AB"], "client_secret": "ONCE"}
    assert keys.call("create", "create_key", created, name="k", fields=["privatekey"])["data"] == {
        "privatekey": "PRIVATE"
    }
    assert keys.call("create", "create_key", created, name="k", fields="full")["data"] == created


def test_a_small_answer_is_whole_but_for_the_secret_that_a_read_gives(keys: Adapted) -> None:
    """R-SEL-2"""
    small = {**ANSWER, "note": "short", "client_secret": "ONCE"}
    answer = keys.call("create", "create_key", small, name="k")
    assert answer["data"] == {name: value for name, value in small.items() if name != "privatekey"}
    assert "minimal" in answer["_meta"]["fields"]


def test_an_update_shows_the_fields_that_it_changed(keys: Adapted) -> None:
    """R-SEL-2: and of an object those that were named; never a secret that a read gives."""
    changes = {"bits": 512, "labels": {"team": "blue"}, "privatekey": "OTHER"}
    changed = {**ANSWER, "bits": 512, "labels": {"team": "blue", "site": "north"}, "privatekey": "OTHER"}
    answer = keys.call("update", "update_key", changed, key_id=7, input=changes)
    assert answer["data"] == {"id": 7, "name": "k", "active": True, "bits": 512, "labels": {"team": "blue"}}
    framed = keys.call("update", "update_framed", changed, framed_id=7, input={"key": changes})
    assert framed["data"] == answer["data"]
