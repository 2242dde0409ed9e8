"""Which operations take the parameters that choose, and what writes answer unless asked (R-SEL-2, R-SEL-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import api, tabulate

TEXT = {"type": "string"}
PET = {"type": "object", "properties": {"id": TEXT, "name": TEXT, "tag": TEXT, "notes": TEXT, "owner": TEXT}}
REF = {"$ref": "#/components/schemas/Pet"}
NEW = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "tag": TEXT, "fields": TEXT}}
REPLY = {"type": "object", "properties": {"id": TEXT, "answer": TEXT}}


def operation(answer: Any, sent: Any = None, kind: str = "application/json", **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"responses": {"200": {"description": "ok", "content": {kind: {"schema": answer}}}}, **more}
    if sent is not None:
        row["requestBody"] = {"content": {"application/json": {"schema": sent}}}
    return row


def defaults(tmp_path: Path, paths: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the adapter's own parameters by operation: their defaults, by name."""
    table = tabulate(tmp_path, {**api(paths), "components": {"schemas": {"Pet": PET}}})
    return {
        name: {
            parameter: details["schema"].get("default")
            for parameter, details in row["parameters"].items()
            if details["in"] == "adapter" and parameter != "dry_run"
        }
        for name, row in table.rows.items()
    }


BY_ID = [{"name": "id", "in": "path", "required": True, "schema": TEXT}]


def test_a_write_is_brief_where_its_answer_is_what_was_sent_and_can_be_read(tmp_path: Path) -> None:
    new = {**NEW, "properties": {"name": TEXT, "tag": TEXT}}
    paths = {
        "/pets": {"get": operation({"type": "array", "items": REF}), "post": operation(REF, new)},
        "/pets/{id}": {"parameters": BY_ID, "get": operation(REF), "patch": operation(REF, new),
                       "delete": {"responses": {"204": {"description": "gone"}}}},
        "/questions": {"post": operation(REPLY, {"type": "object", "properties": {"question": TEXT}})},
    }  # fmt: skip
    assert defaults(tmp_path, paths) == {
        "list_pets": {"fields": "standard", "where": None, "order_by": None, "aggregate": None, "first": None},
        "create_pet": {"fields": "minimal"},
        "get_pet": {"fields": "full"},
        "update_pet": {"fields": "minimal"},
        "delete_pet": {},
        "create_question": {"fields": "full"},
    }


def test_an_envelope_under_the_things_name_is_seen_through(tmp_path: Path) -> None:
    wrapped = {"type": "object", "properties": {"pet": PET, "job": {"type": "object", "properties": {"id": TEXT}}}}
    new = {"type": "object", "properties": {"name": TEXT, "tag": TEXT}}
    paths = {"/pets": {"post": operation(wrapped, new)}, "/pets/{id}": {"parameters": BY_ID, "get": operation(wrapped)}}
    assert defaults(tmp_path, paths)["create_pet"] == {"fields": "minimal"}


def test_a_write_that_sends_an_envelope_is_brief_too(tmp_path: Path) -> None:
    """`{data: {…}}` goes there and comes back."""
    wrapped = {"type": "object", "properties": {"data": PET}}
    new = {"type": "object", "properties": {"data": {"type": "object", "properties": {"name": TEXT}}}}
    paths = {"/pets": {"post": operation(wrapped, new)}, "/pets/{id}": {"parameters": BY_ID, "get": operation(wrapped)}}
    assert defaults(tmp_path, paths)["create_pet"] == {"fields": "minimal"}


def test_a_map_under_the_name_of_a_payload_is_a_part_of_a_named_thing(tmp_path: Path) -> None:
    """A config map of Kubernetes has its values in `data`."""
    metadata = {"type": "object", "properties": {"name": TEXT}}
    data = {"type": "object", "additionalProperties": TEXT}
    thing = {"type": "object", "properties": {"data": data, "metadata": metadata}}
    paths = {"/maps": {"post": operation(thing, thing)}, "/maps/{id}": {"parameters": BY_ID, "get": operation(thing)}}
    assert defaults(tmp_path, paths)["create_map"] == {"fields": "minimal"}


def test_what_was_made_in_answer_to_a_write_is_given_in_full(tmp_path: Path) -> None:
    fields = {"id": TEXT, "model": TEXT, "output": {"type": "array", "items": TEXT}}
    reply = {"type": "object", "properties": fields, "required": ["id", "output"]}
    new = {"type": "object", "properties": {"model": TEXT}}
    item = {"parameters": BY_ID, "get": operation(reply), "patch": operation(reply, new)}
    chosen = defaults(tmp_path, {"/replies": {"post": operation(reply, new)}, "/replies/{id}": item})
    assert (chosen["create_reply"], chosen["update_reply"]) == ({"fields": "full"}, {"fields": "minimal"})
    job = {"/jobs": {"post": operation({**reply, "required": ["id"]}, new)}, "/jobs/{id}": item}
    assert defaults(tmp_path, job)["create_job"] == {"fields": "minimal"}


@pytest.mark.parametrize("identity", [{"name": TEXT}, {"metadata": {"type": "object", "properties": {"name": TEXT}}}])
def test_a_named_thing_that_has_one_list_is_no_list(tmp_path: Path, identity: dict[str, Any]) -> None:
    rules = {"type": "array", "items": {"type": "object", "properties": {"verb": TEXT}}}
    role = {"type": "object", "properties": {"kind": TEXT, **identity, "rules": rules}}
    roles = {"type": "object", "properties": {"kind": TEXT, "metadata": {"type": "object"}, "roles": rules}}
    chosen = defaults(
        tmp_path, {"/roles": {"get": operation(roles)}, "/roles/{id}": {"parameters": BY_ID, "get": operation(role)}}
    )
    assert "where" not in chosen["get_role"]
    assert "where" in chosen["list_roles"]


def test_the_apis_own_parameters_keep_their_names(tmp_path: Path) -> None:
    query = [{"name": name, "in": "query", "schema": TEXT} for name in ("fields", "where", "order_by", "aggregate")]
    paths = {
        "/pets": {"get": operation({"type": "array", "items": REF}, parameters=query), "post": operation(REF, NEW)},
        "/pets/{id}": {"parameters": BY_ID, "get": operation(REF)},
    }
    parameters = defaults(tmp_path, paths)
    assert parameters["list_pets"].keys() == {
        "answer_fields",
        "answer_where",
        "answer_order_by",
        "answer_aggregate",
        "first",
    }
    assert parameters["create_pet"].keys() == {"answer_fields"}


@pytest.mark.parametrize(
    ("answer", "kind", "names"),
    [
        ({"type": "object", "properties": {"data": {"type": "array", "items": REF}, "total": TEXT}}, "application/json",
         {"fields", "where", "order_by", "aggregate", "first"}),
        (REF, "application/json", {"fields"}),
        (TEXT, "text/plain", {"fields"}),
        ({"type": "integer"}, "application/json", set()),
        ({"type": "string", "format": "binary"}, "image/png", set()),
    ],
)  # fmt: skip
def test_lists_can_be_filtered_and_texts_read_in_parts(tmp_path: Path, answer: Any, kind: str, names: set[str]) -> None:
    [parameters] = defaults(tmp_path, {"/pets": {"get": operation(answer, kind=kind)}}).values()
    assert parameters.keys() == names
