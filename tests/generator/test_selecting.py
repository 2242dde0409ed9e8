"""Which operations take the parameters that choose, and what writes answer unless asked (R-SEL-2, R-SEL-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.documents import INTEGER, JSON, TEXT, list_of, object_of, parameter, ref, replies
from tests.generator.commands import api, tabulate

PET = object_of(id=TEXT, name=TEXT, tag=TEXT, notes=TEXT, owner=TEXT)
NEW = object_of("name", name=TEXT, tag=TEXT, fields=TEXT)
NAMED = object_of(name=TEXT, tag=TEXT)


def operation(answer: Any, sent: Any = None, kind: str = JSON, **more: Any) -> dict[str, Any]:
    row = {"responses": {"200": {"description": "ok", "content": {kind: {"schema": answer}}}}, **more}
    return row | ({} if sent is None else {"requestBody": {"content": {JSON: {"schema": sent}}}})


def made_and_read(thing: str, answer: Any, sent: Any) -> dict[str, Any]:
    """Return what creates a thing, and what reads it."""
    return {f"POST /{thing}s": operation(answer, sent), f"GET /{thing}s/{{id}}": operation(answer)}


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


def test_a_write_is_brief_where_its_answer_is_what_was_sent_and_can_be_read(tmp_path: Path) -> None:
    new = object_of("name", name=TEXT, tag=TEXT)
    operations = {
        "GET /pets": operation(list_of(ref("Pet"))),
        "POST /pets": operation(ref("Pet"), new),
        "GET /pets/{id}": operation(ref("Pet")),
        "PATCH /pets/{id}": operation(ref("Pet"), new),
        "DELETE /pets/{id}": {"responses": replies(status="204")},
        "POST /questions": operation(object_of(id=TEXT, answer=TEXT), object_of(question=TEXT)),
    }
    assert defaults(tmp_path, operations) == {
        "list_pets": {"fields": "standard", "where": None, "order_by": None, "aggregate": None, "first": None},
        "create_pet": {"fields": "minimal"},
        "get_pet": {"fields": "full"},
        "update_pet": {"fields": "minimal"},
        "delete_pet": {},
        "create_question": {"fields": "full"},
    }


def test_an_envelope_under_the_things_name_is_seen_through(tmp_path: Path) -> None:
    wrapped = object_of(pet=PET, job=object_of(id=TEXT))
    assert defaults(tmp_path, made_and_read("pet", wrapped, NAMED))["create_pet"] == {"fields": "minimal"}


def test_a_write_that_sends_an_envelope_is_brief_too(tmp_path: Path) -> None:
    """`{data: {…}}` goes there and comes back."""
    operations = made_and_read("pet", object_of(data=PET), object_of(data=object_of(name=TEXT)))
    assert defaults(tmp_path, operations)["create_pet"] == {"fields": "minimal"}


def test_a_map_under_the_name_of_a_payload_is_a_part_of_a_named_thing(tmp_path: Path) -> None:
    """A config map of Kubernetes has its values in `data`."""
    thing = object_of(data={"type": "object", "additionalProperties": TEXT}, metadata=object_of(name=TEXT))
    assert defaults(tmp_path, made_and_read("map", thing, thing))["create_map"] == {"fields": "minimal"}


def test_what_was_made_in_answer_to_a_write_is_given_in_full(tmp_path: Path) -> None:
    reply, new = object_of("id", "output", id=TEXT, model=TEXT, output=list_of(TEXT)), object_of(model=TEXT)
    item = {"get": operation(reply), "patch": operation(reply, new), "parameters": [parameter("id", "path")]}
    chosen = defaults(tmp_path, {"POST /replies": operation(reply, new), "/replies/{id}": item})
    assert (chosen["create_reply"], chosen["update_reply"]) == ({"fields": "full"}, {"fields": "minimal"})
    job = {"POST /jobs": operation({**reply, "required": ["id"]}, new), "/jobs/{id}": item}
    assert defaults(tmp_path, job)["create_job"] == {"fields": "minimal"}


@pytest.mark.parametrize("identity", [{"name": TEXT}, {"metadata": object_of(name=TEXT)}])
def test_a_named_thing_that_has_one_list_is_no_list(tmp_path: Path, identity: dict[str, Any]) -> None:
    rules = list_of(object_of(verb=TEXT))
    role = object_of(kind=TEXT, **identity, rules=rules)
    roles = object_of(kind=TEXT, metadata={"type": "object"}, roles=rules)
    chosen = defaults(tmp_path, {"GET /roles": operation(roles), "GET /roles/{id}": operation(role)})
    assert "where" not in chosen["get_role"]
    assert "where" in chosen["list_roles"]


def test_the_apis_own_parameters_keep_their_names(tmp_path: Path) -> None:
    query = [parameter(name) for name in ("fields", "where", "order_by", "aggregate")]
    listing = {"GET /pets": operation(list_of(ref("Pet")), parameters=query)}
    parameters = defaults(tmp_path, listing | made_and_read("pet", ref("Pet"), NEW))
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
        (object_of(data=list_of(ref("Pet")), total=TEXT), JSON,
         {"fields", "where", "order_by", "aggregate", "first"}),
        (ref("Pet"), JSON, {"fields"}),
        (TEXT, "text/plain", {"fields"}),
        (INTEGER, JSON, set()),
        ({"type": "string", "format": "binary"}, "image/png", set()),
    ],
)  # fmt: skip
def test_lists_can_be_filtered_and_texts_read_in_parts(tmp_path: Path, answer: Any, kind: str, names: set[str]) -> None:
    [parameters] = defaults(tmp_path, {"GET /pets": operation(answer, kind=kind)}).values()
    assert parameters.keys() == names
