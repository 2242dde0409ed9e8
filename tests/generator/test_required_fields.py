"""What introspection calls required: a call with exactly that is accepted, and lacks nothing that it may not give."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.runtime.client import Api
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter
from tests.cases import each
from tests.examples import examples
from tests.generator.commands import Tabulation, posting, tabulate
from tests.runtime.api.hand_made import Recorder

Json = dict[str, Any]

ID: Json = {"type": "string", "readOnly": True}
TEXT: Json = {"type": "string"}
A_RECORD: Json = {"type": "object", "properties": {"id": ID, "content": TEXT}, "required": ["content"]}
MX_RECORD: Json = {
    "type": "object",
    "properties": {"id": ID, "priority": {"type": "integer"}},
    "required": ["priority"],
}


def validated(table: Tabulation, folder: Path, params: Json, name: str = "create_thing") -> Json:
    """Return the parameters of a call as its validation gives them. Raises Failure."""
    (folder / "adapter.json").write_text(table.texts["adapter.json"], encoding="utf-8")
    row = table.table.find(name)
    assert row is not None
    return Api(Adapter.load(folder), table.table, Recorder(), Config(), environ={}).validate(row, params)


def required_of(table: Tabulation, name: str = "create_thing") -> list[str]:
    return [parameter["name"] for parameter in table.details(name)["parameters"] if parameter["required"]]


@each(
    ("schema", "params", "required"),
    [
        ({"required": ["id"], "oneOf": [A_RECORD, MX_RECORD]}, {"content": "1.2.3.4"}, []),
        ({"required": ["id"], "anyOf": [A_RECORD, {"properties": {"id": TEXT}}]}, {"content": "1"}, []),
        ({"properties": {"id": ID, "name": TEXT}, "anyOf": [{"required": ["id", "name"]}]}, {"name": "n"}, ["name"]),
        (
            {"properties": {"id": ID}, "oneOf": [{"properties": {"name": TEXT}, "required": ["id", "name"]}, A_RECORD]},
            {"name": "n"},
            [],
        ),
    ],
)
def test_no_request_lacks_a_field_that_only_the_server_sets(
    schema: Json, params: Json, required: list[str], tmp_path: Path
) -> None:
    table = tabulate(tmp_path, posting({"type": "object", **schema}))
    assert required_of(table) == required
    assert validated(table, tmp_path, params) == params


def test_what_each_alternative_of_an_alternative_requires_is_required(tmp_path: Path) -> None:
    fields = {"name": TEXT, "a": TEXT, "b": TEXT}
    inner = {"properties": fields, "anyOf": [{"required": ["name", field]} for field in ("a", "b")]}
    table = tabulate(tmp_path, posting({"oneOf": [inner, {"properties": fields, "required": ["name"]}]}))
    assert required_of(table) == ["name"]


def test_the_fields_of_a_body_that_may_be_null_are_told_as_of_any_other(tmp_path: Path) -> None:
    needs = [{"required": ["name"]}, {"required": ["a"]}]
    body = {"type": ["object", "null"], "properties": {"name": TEXT, "a": TEXT}, "anyOf": needs}
    assert tabulate(tmp_path, posting(body)).details("create_thing")["description"].endswith("Give one of: name; or a.")


def test_an_alternative_that_a_closed_object_admits_no_field_for_is_not_told(tmp_path: Path) -> None:
    needs = [{"required": ["a"]}, {"required": ["other"]}]
    body = {"type": "object", "properties": {"name": TEXT, "a": TEXT}, "additionalProperties": False, "anyOf": needs}
    assert tabulate(tmp_path, posting(body)).details("create_thing")["description"].endswith("Give one of: a.")


WIRES = ("id", "petName", "kind")


def fields() -> st.SearchStrategy[Json]:
    return st.dictionaries(st.sampled_from(WIRES), st.sampled_from([TEXT, ID]), max_size=3)


def objects(depth: int) -> st.SearchStrategy[Json]:
    """Objects whose alternatives and parts declare and require fields apart from one another."""
    parts = st.lists(objects(depth - 1), min_size=1, max_size=3) if depth else st.just([])

    def built(properties: Json, required: list[str], key: str, branches: list[Json]) -> Json:
        schema: Json = {"type": "object"}
        schema |= {"properties": properties} if properties else {}
        schema |= {"required": required} if required else {}
        return schema | ({key: branches} if branches else {})

    names = st.lists(st.sampled_from(WIRES), unique=True)
    return st.builds(built, fields(), names, st.sampled_from(["oneOf", "anyOf", "allOf"]), parts)


@given(objects(2))
@settings(max_examples=examples(400))
def test_nothing_is_demanded_that_no_parameter_gives(schema: Json) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        table = tabulate(
            Path(scratch), posting({**schema, "properties": {"other": TEXT, "id": ID, **schema.get("properties", {})}})
        )
        row = table.table.find("create_thing")
        assert row is not None
        offered = {name: "text" for name, parameter in row.parameters.items() if parameter.location == "body"}
        assert validated(table, Path(scratch), offered) == offered
